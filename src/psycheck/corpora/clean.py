"""Clean, split into sentences or redact a whole corpus, and count what each step did."""

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
    """What one cleaning step did: texts before and after it, and how many it changed and dropped."""

    name: str
    texts_before: int
    texts_after: int
    changed: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Redactions:
    """What redaction found: the number of each kind, and the kinds by text id; never the values."""

    counts: Mapping[str, int]
    kinds: Mapping[str, tuple[str, ...]]


def steps_of(names: Iterable[str] = (), preset: str | None = None) -> tuple[str, ...]:
    """The steps of a preset followed by those named, checked and without duplicates."""
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
            "no cleaning step given",
            allowed=nearest("", [*STEPS, *ACCOUNT_STEPS]),
            do="name a step or a preset",
        )
    return tuple(dict.fromkeys(wanted))


def cleaned(corpus: Corpus, steps: Sequence[str]) -> tuple[Corpus, tuple[StepCount, ...]]:
    """Apply cleaning steps by name, and count what each did, in their order.

    A text that a step leaves empty is dropped. Consecutive steps are repeated on a text until it no longer
    changes, so that cleaning twice with a preset changes nothing.
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
                before = len(corpus)
                corpus = corpus.only(ACCOUNT_STEPS[name](corpus))
                counts.append(StepCount(name, before, len(corpus), 0, before - len(corpus)))
    for count in counts:
        if count.dropped:
            left_out[f"dropped by '{count.name}'"] += count.dropped
    return replace(corpus, left_out=MappingProxyType(dict(left_out))), tuple(counts)


def into_sentences(corpus: Corpus) -> Corpus:
    """One row per sentence: text 17 becomes 17.1, 17.2 …, with the labels and groups of the whole text."""
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
    note = "Each text is one sentence with the labels of the text it comes from."
    notes = corpus.notes if note in corpus.notes or not corpus.labels else (*corpus.notes, note)
    return replace(corpus, table=table, notes=notes)


def personal_in(corpus: Corpus) -> Redactions:
    """The personal data in the texts of a corpus, by kind and id."""
    return _redactions(
        (name, [one.kind for one in find_personal(text)])
        for name, text in zip(corpus.ids, corpus.texts, strict=True)
    )


def redacted(corpus: Corpus) -> tuple[Corpus, Redactions]:
    """Put placeholders in place of personal data and numbers in place of authors; report what was found.

    Authors are numbered in order of appearance, so that texts of one author stay together.
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
    rows: dict[str, list[int]] = defaultdict(list)
    for row, author in enumerate(corpus.strings("author")):
        if author is not None:
            rows[author].append(row)
    keep = [not (_promotion(text) >= 2 and not _OWN.search(text)) and not _bot(text) for text in texts]
    for author, mine in rows.items():
        own = [texts[row] for row in mine]
        words = {part.lower() for part in _NAME_PARTS.findall(author)}
        personal = not words & set(_promoting()["accounts"]) and not any(_bot(text) for text in own)
        if not personal or len(own) >= _FEWEST_TEXTS:
            for row in mine:
                keep[row] = personal and not _impersonal(own)
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
def _promoting() -> dict[str, Any]:
    data = tomllib.loads(files("psycheck.text").joinpath("clean.toml").read_text("utf-8"))
    promotion: dict[str, Any] = data["promotion"]
    return promotion
