"""The files that psycheck ships: how many texts of each corpus, and their compressed bytes."""

import json
from pathlib import Path
from typing import Any

import zstandard

from tools.demo_corpora.domains import domain_rows
from tools.demo_corpora.people import people_rows
from tools.demo_corpora.sentences import sentence_rows

SHIPPED_SEED = 9
# Texts of each domain.
SHIPPED_N = {"tweets": 1_200, "forum": 800, "interviews": 1_200, "notes": 600}
# The corpora that follow the symptom graph: sentences, and authors of whole histories.
SHIPPED_GRAPH_N = {"sentences": 3_000, "people": 240}

_COMPRESSION_LEVEL = 19


def write_files(folder: Path) -> list[Path]:
    """Write the shipped files into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written_paths = []

    for name in (*SHIPPED_N, *SHIPPED_GRAPH_N):
        path = folder / f"{name}.jsonl.zst"
        path.write_bytes(compress_rows(shipped_rows(name)))
        written_paths.append(path)

    return written_paths


def shipped_rows(name: str) -> list[dict[str, Any]]:
    """The rows of one shipped corpus, generated anew."""
    if name == "sentences":
        return sentence_rows(SHIPPED_GRAPH_N[name], SHIPPED_SEED)
    if name == "people":
        return people_rows(SHIPPED_GRAPH_N[name], SHIPPED_SEED)
    return domain_rows(name, SHIPPED_N[name], SHIPPED_SEED)


def compress_rows(rows: list[dict[str, Any]]) -> bytes:
    """The bytes of a shipped file: one JSON object per line, compressed."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    compressor = zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL)
    return compressor.compress("".join(lines).encode())
