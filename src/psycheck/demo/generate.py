"""The demo corpora and their generator; `python -m psycheck.demo.generate OUTDIR` writes them again."""

import json
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from psycheck.corpus import Corpus
from psycheck.demo.compose import WORDS, Author, Written, compose
from psycheck.demo.distinct import NearDuplicateIndex, unseen
from psycheck.demo.people import people_rows
from psycheck.demo.sentences import corpus_of_rows, sentence_rows
from psycheck.demo.wording import bank
from psycheck.errors import BadInput, nearest

SHIPPED_N = {"tweets": 1_200, "forum": 800, "interviews": 1_200, "notes": 600}
SHIPPED_SEED = 9
# Those that follow the symptom graph: sentences, and authors of whole histories.
SHIPPED_GRAPH_N = {"sentences": 3_000, "people": 240}
DEMO = (*SHIPPED_N, *SHIPPED_GRAPH_N)
DEPRESSED = {"tweets": 0.40, "forum": 0.55, "interviews": 0.25, "notes": 0.35}
ANXIOUS = {True: 0.50, False: 0.18}
HISTORY = 0.25
NOISE = 0.04

_TEXTS_EACH = {"tweets": 4, "forum": 2, "interviews": 6, "notes": 2}
_SPLITS = ("train", "train", "test", "train", "dev", "train", "train", "test", "train", "dev")
_LEVEL = 19
_LONG = 50
_COLUMNS = ("id", "text", "author", "time", "split")
_LABELS = ("depression", "anxiety")
_GROUPS = ("gender", "subject", "source", "symptom", "status", "mentions")


def generate(domain: str, n: int, seed: int, *, association: float = 0.0) -> Corpus:
    """Write `n` synthetic texts of a domain.

    `association` plants a dependence of the author's state on gender: it is the share of women among the
    depressed minus that among the others (the phi coefficient, where the genders are balanced).
    """
    return corpus_of(domain, rows(domain, n, seed, association=association))


def rows(domain: str, n: int, seed: int, *, association: float = 0.0) -> list[dict[str, Any]]:
    """The texts with their labels and groups, in order of time."""
    if domain not in SHIPPED_N:
        raise BadInput(f"there is no demo domain '{domain}'", allowed=nearest(domain, SHIPPED_N))
    if n < 1:
        raise BadInput(f"cannot write {n} texts", allowed="1 or more")
    if not -1 <= association <= 1:
        raise BadInput(f"association {association} is out of range", allowed="-1 to 1")
    written: list[dict[str, Any]] = []
    # Long texts are never near-duplicates.
    seen, others = set[str](), NearDuplicateIndex() if WORDS[domain][0] < _LONG else None
    authors = _authors(domain, max(1, round(n / _TEXTS_EACH[domain])), seed, association)
    for author, texts in zip(authors, _counts(len(authors), n), strict=True):
        rng = Random(f"{seed}/{domain}/{author.id}")
        time = datetime(2022, 1, 3) + timedelta(days=int(rng.random() * 600))
        for _ in range(texts):
            text = unseen(partial(compose, domain, author, rng), author.split, seen, others)
            time += timedelta(days=1 + int(rng.random() * 40))
            written.append(_row(domain, author, text, _clock(domain, author, time, rng), rng))
    written.sort(key=lambda row: (row["time"], row["author"]))
    return [{"id": f"{domain}-{i:04d}", **row} for i, row in enumerate(written, start=1)]


def corpus_of(domain: str, written: list[dict[str, Any]]) -> Corpus:
    """Make a corpus from generated or shipped rows."""
    column = {name: [row[name] for row in written] for name in (*_COLUMNS, *_LABELS, *_GROUPS)}
    labels, groups = ({name: column.pop(name) for name in names} for names in (_LABELS, _GROUPS))
    return Corpus.of(domain, column.pop("text"), ids=column.pop("id"), **column, labels=labels, groups=groups)


def packed(domain: str) -> bytes:
    """The bytes of a shipped file: one JSON object per line, compressed."""
    if domain in SHIPPED_GRAPH_N:
        write_rows = sentence_rows if domain == "sentences" else people_rows
        shipped = write_rows(SHIPPED_GRAPH_N[domain], SHIPPED_SEED)
    else:
        shipped = rows(domain, SHIPPED_N[domain], SHIPPED_SEED)
    lines = (json.dumps(row, ensure_ascii=False) for row in shipped)
    return zstandard.ZstdCompressor(level=_LEVEL).compress("".join(f"{line}\n" for line in lines).encode())


def unpacked(content: bytes) -> list[dict[str, Any]]:
    """The rows of a shipped file."""
    lines = zstandard.ZstdDecompressor().decompress(content).decode().split("\n")
    return [json.loads(line) for line in lines if line]


def open_demo(name: str, split: str | None = None) -> Corpus:
    """Open a shipped corpus, whole or one split (train, dev, test) of it."""
    if name not in DEMO:
        raise BadInput(f"there is no demo corpus '{name}'", allowed=nearest(name, DEMO))
    shipped = files("psycheck.demo").joinpath("shipped", f"{name}.jsonl.zst")
    make = corpus_of_rows if name in SHIPPED_GRAPH_N else corpus_of
    corpus = replace(make(name, unpacked(shipped.read_bytes())), called=f"demo:{name}")
    return corpus if split is None else corpus.part(split)


def _authors(domain: str, count: int, seed: int, association: float) -> list[Author]:
    """Authors by quota of state and gender, which are independent unless `association` is set."""
    rng = Random(f"{seed}/{domain}/authors")
    depressed = round(DEPRESSED[domain] * count)
    cells: list[tuple[bool, str]] = []
    for state, size in ((True, depressed), (False, count - depressed)):
        women = round(size * (0.5 + (association if state else -association) / 2))
        cells += [(state, "woman")] * women + [(state, "man")] * (size - women)
    people = [(state, gender, _SPLITS[i % len(_SPLITS)]) for i, (state, gender) in enumerate(cells)]
    people.sort(key=lambda _: rng.random())
    authors = []
    for i, (state, gender, split) in enumerate(people, start=1):
        anxious, history = rng.random() < ANXIOUS[state], not state and rng.random() < HISTORY
        # Habits of writing do not depend on the state.
        habits = bank("mixture")["style"].items()
        style = {habit: shares[int(rng.random() * len(shares))] for habit, shares in habits}
        authors.append(Author(f"{domain[0]}{i:03d}", gender, state, anxious, history, split, style))
    return authors


def _counts(authors: int, n: int) -> list[int]:
    """How many texts each author writes: n in all, some authors more than others."""
    counts = [1 + (i % 3) for i in range(authors)]
    while (rest := n - sum(counts)) != 0:
        for i in range(min(abs(rest), authors)):
            counts[i] = max(0, counts[i] + (1 if rest > 0 else -1))
    return counts


def _clock(domain: str, author: Author, day: datetime, rng: Random) -> str:
    if domain in ("interviews", "notes"):
        first, hours = 8, 9
    else:
        first, hours = (0, 5) if rng.random() < (0.3 if author.depressed else 0.15) else (7, 17)
    hour, minute = first + int(rng.random() * hours), int(rng.random() * 60)
    return day.replace(hour=hour, minute=minute).isoformat(timespec="minutes")


def _row(domain: str, author: Author, written: Written, time: str, rng: Random) -> dict[str, Any]:
    mentions = list(dict.fromkeys(written.mentions))
    status = mentions[0][1] if mentions else None
    symptoms = [symptom for symptom, how in mentions if how == status]
    return {
        "text": written.text,
        "author": author.id,
        "time": time,
        "split": author.split,
        "depression": int(author.depressed != (rng.random() < NOISE)),
        "anxiety": int(author.anxious != (rng.random() < NOISE)),
        "gender": author.gender,
        "subject": written.subject,
        "source": domain,
        "symptom": ",".join(dict.fromkeys(symptoms)) or None,
        "status": status,
        "mentions": " ".join(f"{symptom}:{how}" for symptom, how in mentions) or None,
    }


def write(folder: Path) -> list[Path]:
    """Write the shipped files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {domain: folder / f"{domain}.jsonl.zst" for domain in (*SHIPPED_N, *SHIPPED_GRAPH_N)}
    for domain, path in paths.items():
        path.write_bytes(packed(domain))
    return list(paths.values())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m psycheck.demo.generate OUTDIR")
    for path in write(Path(sys.argv[1])):
        sys.stdout.write(f"{path}\n")
