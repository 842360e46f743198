"""Small files that unpack to much, and other ways to fill the memory: each ends early and clearly."""

import gzip
import json
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Literal

import polars as pl
import pytest
from zstandard import ZstdCompressor

from faults.attack import SECRET, posts, problem, psycheck
from process import psycheck as new_process
from psycheck.audits.direct_bias.word_lists import read_words
from psycheck.audits.plan import read_plan
from psycheck.audits.suite import read_suite
from psycheck.llm.prompts import read_prompt
from psycheck.symptoms.graph import read_graph
from refusals import refused as refused_with

WIDE = 200_000
NUMBERS = b"0.5 " * 1_500_000


def bomb(piece: bytes, times: int, head: bytes = b"") -> bytes:
    """So many copies of a piece as a zstd file of a few kilobytes."""
    packer = ZstdCompressor().compressobj()
    return b"".join(
        [
            packer.compress(head),
            *(packer.compress(piece * 1000) for _ in range(times // 1000)),
            packer.flush(),
        ]
    )


def refused(place: Path, *words: str) -> str:
    """Run a command that must end with exit code 2 and no traceback; what it says."""
    ended = psycheck(place, *words)
    assert (ended.code, problem(ended)) == (2, ""), ended.err
    return ended.err


@pytest.mark.parametrize("name", ["s.csv.zst", "s.jsonl.zst", "s.csv.gz"])
def test_a_score_file_that_unpacks_to_too_much_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCHECK_MAX_GB", "0.01")
    row, head = b'{"text": "a", "score": 0.5}\n', b""
    if "csv" in name:
        row, head = b"a,0.5\n", b"text,score\n"
    zst = name.endswith("zst")
    packed = bomb(row, 2_000_000, head) if zst else gzip.compress(head + row * 2_000_000, 1)
    (tmp_path / name).write_bytes(packed)
    said = refused(tmp_path, "score", f"scores:{name}", "demo:tweets")
    assert "the content of this file takes more than 0.01 GB" in said
    assert "PSYCHECK_MAX_GB" in said


_MEASURED = """
import resource, sys
from psycheck import open_model
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
for name in ("small", "large"):
    before, model = peak(), open_model(f"scores:{name}{sys.argv[1]}")
print(len(model.rows), peak() - before)
"""


@pytest.mark.parametrize("kind", [".csv.zst", ".parquet", pytest.param(".jsonl.gz", marks=pytest.mark.slow)])
def test_a_large_score_file_opens_in_little_memory(kind: str, tmp_path: Path) -> None:
    random = Random(0)
    texts = [random.randbytes(4_800).hex() for _ in range(30_000)]
    for name, rows in (("small", texts[:10]), ("large", texts)):
        frame, plain = pl.DataFrame({"text": rows, "score": 0.5}), tmp_path / f"{name}{kind}"
        if kind == ".parquet":
            frame.write_parquet(plain, row_group_size=5_000, compression="lz4")
        elif kind == ".csv.zst":
            with plain.open("wb") as file, ZstdCompressor(1).stream_writer(file) as packer:
                frame.write_csv(packer)
        else:
            with gzip.open(plain, "wb", 1) as gz:
                gz.write(frame.write_ndjson().encode())
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, kind], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    known, grown = done.stdout.split()
    assert int(known) == 30_000
    assert float(grown) < 100, "MB, of 290 MB of texts"


def test_a_score_file_that_grows_a_hundredfold_is_refused_at_a_quarter_of_a_gigabyte(tmp_path: Path) -> None:
    (tmp_path / "s.csv.zst").write_bytes(bomb(b"a" * 10_000 + b",0.5\n", 200_000, b"text,score\n"))
    assert "takes more than 0.25 GB" in refused(tmp_path, "score", "scores:s.csv.zst", "demo:tweets")


def test_a_dataset_folder_is_limited_by_what_it_unpacks_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCHECK_MAX_GB", "0.05")
    state = json.dumps({"_data_files": [{"filename": "data.arrow"}]})
    texts = pl.DataFrame({"text": ["a" * 1000] * 100_000})
    nothing = pl.DataFrame({"text": pl.Series([None]).new_from_index(0, 9_000_000)})
    frames: list[tuple[pl.DataFrame, Literal["zstd", "lz4", "uncompressed"]]] = [
        (texts, "zstd"),
        (texts, "lz4"),
        (texts, "uncompressed"),
        (texts.cast(pl.Categorical), "uncompressed"),
        (nothing, "uncompressed"),
    ]
    for name, (frame, compression) in zip("abcde", frames, strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "state.json").write_text(state)
        frame.write_ipc_stream(tmp_path / name / "data.arrow", compression=compression)
        assert "takes more than 0.05 GB" in refused(tmp_path, "redact", name, "--check"), name


def test_a_corpus_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCHECK_MAX_GB", "0.01")
    (tmp_path / "c.csv.zst").write_bytes(bomb(b"a\n", 100_000))
    assert "takes more than 0.01 GB" in refused(tmp_path, "redact", "c.csv.zst", "--check")


def test_a_parquet_file_is_limited_by_its_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSYCHECK_MAX_GB", "0.05")
    # A million copies of one text of 1,000 characters take a few kilobytes in the file.
    pl.DataFrame({"text": pl.Series(["a" * 1000]).new_from_index(0, 1_000_000)}).write_parquet(
        tmp_path / "c.parquet"
    )
    assert (tmp_path / "c.parquet").stat().st_size < 100_000
    assert "takes more than 0.05 GB" in refused(tmp_path, "redact", "c.parquet", "--check")


def test_vectors_and_skops_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSYCHECK_MAX_GB", "0.01")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    row = b"word 0.5 0.25 0.125\n"
    with gzip.open(tmp_path / "v.gz", "wb", 1) as file:
        file.write(row * 1_000_000)
    for name in ("v.zip", "m.skops"):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("schema.json", row * 1_000_000)
    assert "takes more than 0.01 GB" in refused(tmp_path, "bias", "vectors:v.gz")
    assert "takes more than 0.01 GB" in refused(tmp_path, "bias", "vectors:v.zip")
    assert "takes more than 0.01 GB" in refused(tmp_path, "score", "sklearn:m.skops", "demo:tweets")


def test_a_gigabyte_of_empty_lines_ends_at_the_first_of_them(tmp_path: Path) -> None:
    lines = bomb(b"\n", 1_000_000_000)
    for name in ("c.csv.zst", "c.jsonl.zst", "s.csv.zst", "s.jsonl.zst", "d.zst"):
        (tmp_path / name).write_bytes(lines)
    for words in (
        ("redact", "c.csv.zst", "--check"),
        ("redact", "c.jsonl.zst", "--check"),
        ("score", "scores:s.csv.zst", "demo:tweets"),
        ("score", "scores:s.jsonl.zst", "demo:tweets"),
        ("curate", "d.zst"),
    ):
        assert "more than 65,536 empty lines in a row" in refused(tmp_path, *words)


def test_200_000_columns_are_refused_before_they_are_compared(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(WIDE)]
    (tmp_path / "c.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    (tmp_path / "c.tsv").write_text("\t".join(names) + "\n" + "\t".join("1" for _ in names) + "\n")
    (tmp_path / "c.jsonl").write_text(json.dumps(dict.fromkeys(names, 1)) + "\n")
    for name in ("c.csv", "c.tsv", "c.jsonl"):
        assert "more than 4,000 columns" in refused(tmp_path, "redact", name, "--check")
        assert "more than 4,000 columns" in refused(tmp_path, "score", f"scores:{name}", "demo:tweets")


@pytest.mark.parametrize(
    "line", [b"word " + b"0.5 " * 1_500_000, b"1 3\nword " + b"0.5 " * 1_500_000, b"5" * 6_000_000]
)
def test_a_vector_file_of_one_long_line_is_refused(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "v.txt").write_bytes(line)
    refused(tmp_path, "bias", "vectors:v.txt")


@pytest.mark.parametrize(
    ("read", "code"),
    [
        (read_suite, "toml.not-valid"),
        (read_prompt, "toml.not-valid"),
        (read_plan, "toml.not-valid"),
        (read_graph, "toml.not-valid"),
        (read_words, "words.cannot-read"),
    ],
)
def test_64_kb_of_dots_in_a_key_are_refused_in_little_memory(
    read: Callable[[Path], object], code: str, tmp_path: Path
) -> None:
    file = tmp_path / "file.toml"
    file.write_text("a" + ".a" * 32_000 + " = 1")
    tracemalloc.start()
    with refused_with(code):
        read(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_too_little_memory_is_one_line_without_the_text(tmp_path: Path) -> None:
    (tmp_path / "greedy.py").write_text(
        "import resource\n"
        "def model(texts):\n"
        "    used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, -1))\n"
        "    return [texts[0] * 2**30 for _ in texts]\n"
    )
    rows = posts()
    lines = ["id,text,depression", *(f"{r['id']},{SECRET},{r['depression']}" for r in rows)]
    (tmp_path / "posts.csv").write_text("\n".join(lines) + "\n")
    done = new_process(tmp_path, "score", "python:greedy:model", "posts.csv")
    assert done.returncode in (2, 4), done.stderr
    assert "Traceback" not in done.stderr
    assert "Zebulonia" not in done.stderr + done.stdout
    # The allocator of Polars has a line of its own where no thread can be started any more.
    lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("<jemalloc>")]
    assert "memory" in lines[-1].casefold()
