"""Asking an LLM: 2,000 requests to a server with 50 ms latency, 32 at once, and what psycheck adds to that.

The server runs in a process of its own and costs little; the ideal is 2,000 / 32 × 50 ms. psycheck sends the
questions, commits every reply to a real store and reads the scores. inspect_ai and lm-eval send the same
texts to the same server in the same run, with their own logs, from an environment of their own:

    python -m venv peers && peers/bin/pip install inspect_ai==0.3.285 "lm-eval[api]==0.4.13" openai
    PEERS=peers/bin/python python benchmarks/llm.py

Without PEERS only psycheck is measured.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from timing import machine, table, verdict

REQUESTS, AT_ONCE, LATENCY, ROUNDS = 2_000, 32, 0.05, 3
IDEAL = REQUESTS / AT_ONCE * LATENCY
_USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
_TEXT = '{"depression": "yes"}'
_CHOICE = {
    "index": 0,
    "finish_reason": "stop",
    "message": {"role": "assistant", "content": _TEXT},
    "text": _TEXT,
}
_ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [_CHOICE],
    "usage": _USAGE,
}
_BODY = json.dumps(_ANSWER).encode()
_HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(_BODY)}\r\n\r\n".encode()


class _Late(asyncio.Protocol):
    """Answers every request with the same completion after the latency."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.got = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer later, if the request is complete."""
        self.got += data
        while (end := self.got.find(b"\r\n\r\n")) >= 0:
            head = self.got[:end].lower()
            _, _, length = head.partition(b"content-length:")
            size = end + 4 + int(length.split(b"\r\n", 1)[0] or 0)
            if len(self.got) < size:
                return
            self.got = self.got[size:]
            asyncio.get_running_loop().call_later(LATENCY, self.transport.write, _HEAD + _BODY)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Late, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def _serving() -> Iterator[str]:
    """The address of the server, which runs as long as the block."""
    process = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.wait()


def _texts() -> list[str]:
    from demo_texts import generate

    made = dict.fromkeys(text for seed in range(4) for text in generate("tweets", REQUESTS, seed).texts)
    return list(made)[:REQUESTS]


def _psycheck(base_url: str, texts: list[str], folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of the answers to all texts, from the store's opening to the scores."""
    from psycheck.models.opening import open_model
    from psycheck.scoring.answers import answers

    model = open_model(f"llm:m?base_url={base_url}&prompt=depression&concurrency={AT_ONCE}")
    list(model.ask(texts[:1]))  # type: ignore[attr-defined]  # imports are no part of a request
    wall, cpu = time.perf_counter(), time.process_time()
    with answers([model], [(1.0, texts)], store=folder / "store.sqlite") as found:
        scores = found.views[0].of(texts)
    taken = time.perf_counter() - wall, time.process_time() - cpu
    assert scores.shape == (REQUESTS, 1)
    assert (scores == 1).all()
    assert found.tallies[model.name].scored == REQUESTS
    return taken


_INSPECT = """
import sys, json, time
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
base_url, file, folder, at_once = sys.argv[1:]
texts = json.load(open(file))
samples = MemoryDataset([Sample(input=text, target="yes") for text in texts])
task = Task(samples, solver=generate(), scorer=includes())
def run(some):
    return eval(task, model="openai/m", model_base_url=base_url, model_args={"responses_api": False},
        limit=some, max_connections=int(at_once), max_samples=int(at_once), display="none", log_dir=folder)
run(1)
started, cpu = time.perf_counter(), time.process_time()
(log,) = run(None)
taken = time.perf_counter() - started, time.process_time() - cpu
assert log.status == "success" and log.results.completed_samples == len(texts), log.status
print(json.dumps(taken))
"""
_LM_EVAL = """
import sys, json, time, pathlib
import lm_eval
from lm_eval.tasks import TaskManager
base_url, file, folder, at_once = sys.argv[1:]
texts = json.load(open(file))
folder = pathlib.Path(folder)
def task(name, some):
    rows = folder / f"{name}.jsonl"
    rows.write_text("".join(json.dumps({"text": text, "label": "yes"}) + "\\n" for text in some))
    (folder / f"{name}.yaml").write_text(f'''
task: {name}
dataset_path: json
dataset_kwargs:
  data_files: {{test: "{rows}"}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{text}}}}"
doc_to_target: "{{{{label}}}}"
generation_kwargs: {{until: ["\\\\n\\\\n"], max_gen_toks: 64}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
''')
task("one", texts[:1]); task("all", texts)
manager = TaskManager(include_path=str(folder))
def run(name):
    return lm_eval.simple_evaluate(model="local-completions", tasks=[name], task_manager=manager,
        model_args=f"model=m,base_url={base_url}/completions,num_concurrent={at_once},"
                   "tokenizer_backend=None,tokenized_requests=False,max_retries=3",
        log_samples=True, bootstrap_iters=0)
run("one")
started, cpu = time.perf_counter(), time.process_time()
found = run("all")
taken = time.perf_counter() - started, time.process_time() - cpu
assert len(found["samples"]["all"]) == len(texts)
print(json.dumps(taken))
"""


def _peer(python: str, script: str, base_url: str, texts: list[str], folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of a peer, in its own environment; raises if it did not answer all texts."""
    file = folder / "texts.json"
    file.write_text(json.dumps(texts))
    offline = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(folder),
        "OPENAI_API_KEY": "none",
    }
    run = subprocess.run(
        [python, "-c", script, base_url, str(file), str(folder), str(AT_ONCE)],
        capture_output=True,
        text=True,
        env={**os.environ, **offline},
        check=False,
    )
    if run.returncode:
        sys.exit(run.stderr[-2_000:])
    wall, cpu = json.loads(run.stdout.strip().splitlines()[-1])
    return wall, cpu


def main() -> None:
    """Print the table."""
    python = os.environ.get("PEERS", "")
    taken: dict[str, list[tuple[float, float]]] = {"psycheck": []}
    texts = _texts()
    with _serving() as base_url:
        for k in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                taken["psycheck"].append(_psycheck(base_url, texts, Path(folder)))
            for name, script in (
                (("inspect_ai", _INSPECT), ("lm-eval", _LM_EVAL)) if python and k == 0 else ()
            ):
                with tempfile.TemporaryDirectory() as folder:
                    taken[name] = [_peer(python, script, base_url, texts, Path(folder))]
    best = {name: min(found) for name, found in taken.items()}
    print(f"\n## {REQUESTS:,} requests, {LATENCY * 1000:.0f} ms, {AT_ONCE} at once ({machine()})\n")
    rows = [
        [name, f"{wall:.2f}", f"{wall / IDEAL:.2f}", f"{(wall - IDEAL) / REQUESTS * 1000:.2f}",
         f"{cpu / REQUESTS * 1000:.2f}", f"{wall / best['psycheck'][0]:.1f}"]
        for name, (wall, cpu) in best.items()
    ]  # fmt: skip
    head = ["", "seconds", "/ ideal", "ms over the ideal per request", "CPU ms per request", "/ psycheck"]
    print(table(head, [["ideal", f"{IDEAL:.2f}", "1", "0", "", ""], *rows]))
    if not python:
        print("\ninspect_ai and lm-eval were not measured: PEERS does not name their Python.")
    wall = best["psycheck"][0]
    print("\n" + verdict("psycheck / ideal", wall / IDEAL, 1.3, at_least=False))
    print(verdict("ms over the ideal per request", (wall - IDEAL) / REQUESTS * 1000, 1.0, at_least=False))


if __name__ == "__main__":
    asyncio.run(_serve()) if sys.argv[1:] == ["serve"] else main()
