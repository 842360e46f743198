"""Clean, split into sentences or redact a whole corpus, and count what each step did."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType

import polars as pl

from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest
from psycheck.text.clean import PRESETS, STEPS, settle, split_sentences
from psycheck.text.redact.find import find_personal, redact
from psycheck.text.redact.lists import Found
from psycheck.text.redact.recogniser import Recogniser
from psycheck.text.word_lists import patterns, read_toml

REDACTION_IS_AN_AID = (
    "Redaction is an aid, not a guarantee: it misses names and places. "
    "A person must look at the texts before they are shared."
)
_FEWEST_TEXTS = 5
_PROMOTION = read_toml("clean.toml")["promotion"]
_FORMS = patterns(_PROMOTION["patterns"])


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
    known = [*STEPS, *ACCOUNT_STEPS]
    for name in wanted:
        if name not in known:
            raise BadInput(f"there is no cleaning step '{name}'", allowed=nearest(name, known))
    if not wanted:
        raise BadInput("no cleaning step given", allowed=nearest("", known), do="name a step or a preset")
    return tuple(dict.fromkeys(wanted))


def cleaned(corpus: Corpus, steps: Sequence[str]) -> tuple[Corpus, tuple[StepCount, ...]]:
    """Apply cleaning steps by name, and count what each did, in their order.

    A text that a step leaves empty is dropped. Consecutive steps are repeated on a text until it no longer
    changes, so that cleaning twice with a preset changes nothing.
    """
    counts: list[StepCount] = []
    left_out = Counter(corpus.left_out)
    for at_once, names in groupby(steps_of(steps), key=lambda name: name in STEPS):
        if at_once:
            corpus = _text_steps(corpus, list(names), counts)
            continue
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
    sentences = pl.Series("text", [split_sentences(text) for text in corpus.texts], pl.List(pl.String))
    table = corpus.table.with_columns(sentences).filter(pl.col("text").list.len() > 0).explode("text")
    number = pl.int_range(1, pl.len() + 1).over("id").cast(pl.String)
    table = table.with_columns(pl.concat_str("id", pl.lit("."), number))
    note = "Each text is one sentence with the labels of the text it comes from."
    notes = corpus.notes if note in corpus.notes or not corpus.labels else (*corpus.notes, note)
    return replace(corpus, table=table, notes=notes)


def personal_in(corpus: Corpus, recogniser: Recogniser | None = None) -> Redactions:
    """The personal data in the texts of a corpus, by kind and id."""
    return _redactions(corpus, (find_personal(text, recogniser) for text in corpus.texts))


def redacted(corpus: Corpus, recogniser: Recogniser | None = None) -> tuple[Corpus, Redactions]:
    """Put placeholders in place of personal data and numbers in place of authors; report what was found.

    Authors are numbered in order of appearance, so that texts of one author stay together.
    """
    done = [redact(text, recogniser) for text in corpus.texts]
    columns = [pl.Series("text", [one.text for one in done], pl.String)]
    if "author" in corpus.table:
        numbers: dict[str, str] = {}
        authors = [
            None if author is None else numbers.setdefault(author, f"author-{len(numbers) + 1}")
            for author in corpus.table["author"].to_list()
        ]
        columns.append(pl.Series("author", authors, pl.String))
    found = _redactions(corpus, (one.found for one in done))
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
    keep = [
        not _phrases_in(text, "bot")
        and (_phrases_in(text, "phrases") < 2 or _FORMS["own"].search(text) is not None)
        for text in texts
    ]
    for author, mine in rows.items():
        own = [texts[row] for row in mine]
        words = {part.lower() for part in _FORMS["name_parts"].findall(author)}
        personal = words.isdisjoint(_PROMOTION["accounts"]) and not any(
            _phrases_in(one, "bot") for one in own
        )
        if not personal or len(own) >= _FEWEST_TEXTS:
            for row in mine:
                keep[row] = personal and not _impersonal(own)
    return keep


ACCOUNT_STEPS: Mapping[str, Callable[[Corpus], list[bool]]] = {"personal": personal_accounts}


def _text_steps(corpus: Corpus, names: Sequence[str], counts: list[StepCount]) -> Corpus:
    """Apply steps to each text until it no longer changes, and add what they did to `counts`."""
    steps = [STEPS[name] for name in names]
    changed, dropped = Counter[int](), Counter[int]()
    texts: list[str | None] = []
    for text in corpus.texts:
        after, touched, drop = settle(text, steps)
        texts.append(after)
        if drop is None:
            changed.update(touched)
        else:
            dropped[drop] += 1
    before = len(corpus)
    for k, name in enumerate(names):
        counts.append(StepCount(name, before, before - dropped[k], changed[k], dropped[k]))
        before -= dropped[k]
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String))
    return replace(corpus, table=table.filter(pl.col("text").is_not_null()))


def _redactions(corpus: Corpus, found: Iterable[Sequence[Found]]) -> Redactions:
    by_id = zip(corpus.ids, ([one.kind for one in some] for some in found), strict=True)
    kinds = {name: some for name, some in by_id if some}
    counts = Counter(kind for some in kinds.values() for kind in some)
    return Redactions(
        MappingProxyType(dict(sorted(counts.items()))),
        MappingProxyType({name: tuple(sorted(set(some))) for name, some in kinds.items()}),
    )


def _impersonal(texts: Sequence[str]) -> bool:
    """Whether the texts of one account read like a shop's, a news desk's or a bot's."""
    promoting = sum(_phrases_in(text, "phrases") > 0 for text in texts)
    linked = sum(_FORMS["link"].search(text) is not None for text in texts)
    own = sum(_FORMS["own"].search(text) is not None for text in texts)
    same = Counter(_FORMS["varying"].sub(" ", text.lower()).strip() for text in texts).most_common(1)[0][1]
    n = len(texts)
    return promoting >= n / 2 or (linked >= 0.8 * n and own <= 0.2 * n) or same > n / 2


def _phrases_in(text: str, kind: str) -> int:
    """How many phrases of a kind ("phrases" that promote something, or a "bot"'s) a text holds."""
    low = text.lower().replace("’", "'")
    return sum(phrase in low for phrase in _PROMOTION[kind])
