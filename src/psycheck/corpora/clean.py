"""Cleaning, sentences and redaction of a whole corpus, with what each step did to it."""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from types import MappingProxyType
from typing import Any

import polars as pl

from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest
from psycheck.text.clean import PRESETS, STEPS, settle
from psycheck.text.redact.find import find_personal, redact
from psycheck.text.sentences import split_sentences

_FEWEST_TEXTS = 5
_OWN = re.compile(r"(?<![\w'’])(?:i|i['’](?:m|ve|d|ll)|im|ive|me|my|mine|myself)(?!\w)", re.I)
_LINK = re.compile(r"(?:https?://|www\.)\S+", re.I)
_VARYING = re.compile(r"(?:https?://|www\.)\S+|[@#]\w+|\d+|\W+", re.I)
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, slots=True)
class StepCount:
    """What one step of cleaning did: how many texts came in and went on, how many of these it changed."""

    name: str
    texts_before: int
    texts_after: int
    changed: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Redactions:
    """What redaction found: how many of each kind, and which kinds in which text, by id; never the values."""

    counts: Mapping[str, int]
    kinds: Mapping[str, tuple[str, ...]]


def steps_of(names: Iterable[str] = (), preset: str | None = None) -> tuple[str, ...]:
    """The steps of a preset and those named after it, all known, none twice."""
    if preset is not None and preset not in PRESETS:
        raise BadInput(f"there is no preset '{preset}'", allowed=nearest(preset, PRESETS))
    wanted = (*(PRESETS[preset] if preset else ()), *names)
    for name in wanted:
        if name not in STEPS and name not in ACCOUNT_STEPS:
            raise BadInput(
                f"there is no cleaning step '{name}'", allowed=nearest(name, [*STEPS, *ACCOUNT_STEPS])
            )
    if not wanted:
        raise BadInput(
            "no cleaning step is named", allowed=nearest("", [*STEPS, *ACCOUNT_STEPS]), do="name a preset"
        )
    return tuple(dict.fromkeys(wanted))


def cleaned(corpus: Corpus, steps: Sequence[str]) -> tuple[Corpus, tuple[StepCount, ...]]:
    """A corpus after some steps by name, and what each did, in their order.

    A text that a step leaves empty is dropped by it. Steps that stand together are repeated on a text until
    it no longer changes, so that cleaning what was cleaned by a preset changes nothing.
    """
    counts: list[StepCount] = []
    left_out = Counter(corpus.left_out)
    for at_once, group in groupby(steps_of(steps), key=lambda name: name in STEPS):
        names = list(group)
        if at_once:
            corpus, done = _text_steps(corpus, names)
            counts += done
        else:
            for name in names:
                keep = ACCOUNT_STEPS[name](corpus)
                before = len(corpus)
                corpus = replace(corpus, table=corpus.table.filter(pl.Series(keep, dtype=pl.Boolean)))
                counts.append(StepCount(name, before, len(corpus), 0, before - len(corpus)))
    for count in counts:
        if count.dropped:
            left_out[f"dropped by '{count.name}'"] += count.dropped
    return replace(corpus, left_out=MappingProxyType(dict(left_out))), tuple(counts)


def into_sentences(corpus: Corpus) -> Corpus:
    """One row for each sentence: text 17 becomes 17.1, 17.2 …, with all that is known of the whole text."""
    ids: list[str] = []
    texts: list[str] = []
    rows: list[int] = []
    for row, (name, text) in enumerate(zip(corpus.ids, corpus.texts, strict=True)):
        for number, sentence in enumerate(split_sentences(text), start=1):
            ids.append(f"{name}.{number}")
            texts.append(sentence)
            rows.append(row)
    table = corpus.table[rows].with_columns(
        pl.Series("id", ids, pl.String), pl.Series("text", texts, pl.String)
    )
    note = "A text is one sentence; it carries the labels of the whole text that it comes from."
    notes = corpus.notes if note in corpus.notes or not corpus.labels else (*corpus.notes, note)
    return replace(corpus, table=table, notes=notes)


def personal_in(corpus: Corpus) -> Redactions:
    """What personal data the texts of a corpus hold, by kind and id."""
    return _redactions(
        (name, [one.kind for one in find_personal(text)])
        for name, text in zip(corpus.ids, corpus.texts, strict=True)
    )


def redacted(corpus: Corpus) -> tuple[Corpus, Redactions]:
    """A corpus with placeholders for personal data, and numbers for its authors; and what was found.

    Authors are numbered in the order in which they appear, so that texts of one author stay together.
    """
    done = [redact(text) for text in corpus.texts]
    columns = [pl.Series("text", [one.text for one in done], pl.String)]
    if "author" in corpus.table:
        numbers: dict[str, str] = {}
        authors = [
            None if author is None else numbers.setdefault(author, f"author-{len(numbers) + 1}")
            for author in corpus.table["author"].to_list()
        ]
        columns.append(pl.Series("author", authors, pl.String))
    found = _redactions(zip(corpus.ids, ([f.kind for f in one.found] for one in done), strict=True))
    return replace(corpus, table=corpus.table.with_columns(columns)), found


def personal_accounts(corpus: Corpus) -> list[bool]:
    """Which texts are of personal accounts, (n,), by rules of thumb (DECK 4.2 names the aim, not the means).

    An account is not personal if its name holds a word such as "news" or "bot", if one of its texts says that
    a bot wrote it, or, with five texts or more, if at least half of them promote something, or nearly all
    have a link and hardly any an "I", or more than half are the same but for numbers, links and tags. A text
    without a known author, or of an author with fewer texts, is left out if it promotes something twice over
    and has no "I".
    """
    texts = corpus.texts
    authors = corpus.table["author"].to_list() if "author" in corpus.table else [None] * len(texts)
    rows: dict[str, list[int]] = defaultdict(list)
    for row, author in enumerate(authors):
        if author is not None:
            rows[author].append(row)
    keep = [not (_promotion(text) >= 2 and not _OWN.search(text)) and not _bot(text) for text in texts]
    for author, mine in rows.items():
        said = [texts[row] for row in mine]
        personal = not (_account_words() & {part.lower() for part in _NAME_PARTS.findall(author)})
        personal = personal and not any(_bot(text) for text in said)
        if personal and len(said) >= _FEWEST_TEXTS:
            personal = not _impersonal(said)
            for row in mine:
                keep[row] = personal
        elif not personal:
            for row in mine:
                keep[row] = False
    return keep


ACCOUNT_STEPS: Mapping[str, Callable[[Corpus], list[bool]]] = MappingProxyType(
    {"personal": personal_accounts}
)


def _text_steps(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, list[StepCount]]:
    steps = [STEPS[name] for name in names]
    changed, dropped = [0] * len(names), [0] * len(names)
    texts: list[str | None] = []
    for text in corpus.texts:
        after, touched, drop = settle(text, steps)
        texts.append(after)
        if drop is not None:
            dropped[drop] += 1
        for k in touched:
            changed[k] += drop is None
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String)).filter(
        pl.col("text").is_not_null()
    )
    counts = []
    before = len(corpus)
    for k, name in enumerate(names):
        counts.append(StepCount(name, before, before - dropped[k], changed[k], dropped[k]))
        before -= dropped[k]
    return replace(corpus, table=table), counts


def _redactions(found: Iterable[tuple[str, Sequence[str]]]) -> Redactions:
    counts: Counter[str] = Counter()
    kinds: dict[str, tuple[str, ...]] = {}
    for name, some in found:
        if some:
            counts.update(some)
            kinds[name] = tuple(sorted(set(some)))
    return Redactions(MappingProxyType(dict(sorted(counts.items()))), MappingProxyType(kinds))


def _impersonal(texts: Sequence[str]) -> bool:
    """Whether the texts of one account read like a shop's, a news desk's or a bot's."""
    promoting = sum(_promotion(text) > 0 for text in texts)
    linked = sum(_LINK.search(text) is not None for text in texts)
    own = sum(_OWN.search(text) is not None for text in texts)
    same = Counter(_VARYING.sub(" ", text.lower()).strip() for text in texts).most_common(1)[0][1]
    n = len(texts)
    return promoting >= n / 2 or (linked >= 0.8 * n and own <= 0.2 * n) or same > n / 2


def _promotion(text: str) -> int:
    low = text.lower().replace("’", "'")
    return sum(phrase in low for phrase in _promoting()["phrases"])


def _bot(text: str) -> bool:
    low = text.lower().replace("’", "'")
    return any(phrase in low for phrase in _promoting()["bot"])


@cache
def _account_words() -> frozenset[str]:
    return frozenset(_promoting()["accounts"])


@cache
def _promoting() -> dict[str, Any]:
    data = tomllib.loads(files("psycheck.text").joinpath("clean.toml").read_text("utf-8"))
    promotion: dict[str, Any] = data["promotion"]
    return promotion
