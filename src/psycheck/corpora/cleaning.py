"""Clean, split into sentences or redact a whole corpus, and count what each step did."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.text.clean import PRESETS, STEPS, settle, split_sentences
from psycheck.text.word_lists import patterns, read_toml

if TYPE_CHECKING:
    from psycheck.text.redact.lists import Found
    from psycheck.text.redact.recogniser import Recogniser

REDACTION_IS_AN_AID = (
    "Redaction is an aid, not a guarantee: it misses names and places. "
    "A person must look at the texts before they are shared."
)
# Fewer texts of an account say too little about it.
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
        raise BadInput(
            f"there is no preset '{preset}'",
            code="clean.unknown-preset",
            allowed=nearest(preset, PRESETS),
        )
    preset_steps = PRESETS[preset] if preset else ()
    steps = (*preset_steps, *names)

    all_steps = [*STEPS, *ACCOUNT_STEPS]
    for name in steps:
        if name not in all_steps:
            raise BadInput(
                f"there is no cleaning step '{name}'",
                code="clean.unknown-step",
                allowed=nearest(name, all_steps),
            )
    if not steps:
        raise BadInput(
            what="no cleaning step given",
            code="clean.no-step",
            allowed=nearest("", all_steps),
            do="name a step or a preset",
        )
    return tuple(dict.fromkeys(steps))


def cleaned(corpus: Corpus, steps: Sequence[str]) -> tuple[Corpus, tuple[StepCount, ...]]:
    """Apply cleaning steps by name, and count what each did, in their order.

    A text that a step leaves empty is dropped. Consecutive steps are repeated on a text until it no longer
    changes, so that cleaning twice with a preset changes nothing.
    """
    counts: list[StepCount] = []
    left_out = Counter(corpus.left_out)

    # `groupby` cuts the steps into runs of one sort, in their order: steps on texts settle together, steps
    # on accounts need all texts of an account.
    for on_texts, names in groupby(steps_of(steps), key=lambda name: name in STEPS):
        if on_texts:
            corpus, step_counts = _apply_text_steps(corpus, list(names))
        else:
            corpus, step_counts = _apply_account_steps(corpus, list(names))
        counts += step_counts

    for count in counts:
        if count.dropped:
            left_out[f"dropped by '{count.name}'"] += count.dropped
    return replace(corpus, left_out=MappingProxyType(dict(left_out))), tuple(counts)


def _apply_text_steps(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, list[StepCount]]:
    """Apply steps to each text until it no longer changes, and count what they did."""
    steps = [STEPS[name] for name in names]
    changed = Counter[int]()
    dropped = Counter[int]()
    texts: list[str | None] = []
    for text in corpus.texts:
        settled, changing_steps, dropping_step = settle(text, steps)
        texts.append(settled)
        # A text counts as changed or as dropped, not as both.
        if dropping_step is None:
            changed.update(changing_steps)
        else:
            dropped[dropping_step] += 1

    # A text is dropped by one step only: the later ones have fewer texts before them.
    counts: list[StepCount] = []
    remaining = len(corpus)
    for position, name in enumerate(names):
        before = remaining
        remaining -= dropped[position]
        counts.append(
            StepCount(
                name=name,
                texts_before=before,
                texts_after=remaining,
                changed=changed[position],
                dropped=dropped[position],
            )
        )
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String))
    return replace(corpus, table=table.filter(pl.col("text").is_not_null())), counts


def _apply_account_steps(corpus: Corpus, names: Sequence[str]) -> tuple[Corpus, list[StepCount]]:
    """Apply steps that decide by all texts of an account which of them stay."""
    counts: list[StepCount] = []
    for name in names:
        before = len(corpus)
        corpus = corpus.only(ACCOUNT_STEPS[name](corpus))
        counts.append(
            StepCount(
                name=name,
                texts_before=before,
                texts_after=len(corpus),
                changed=0,
                dropped=before - len(corpus),
            )
        )
    return corpus, counts


def into_sentences(corpus: Corpus) -> Corpus:
    """One row per sentence: text 17 becomes 17.1, 17.2 …, with the labels and groups of the whole text."""
    sentences = [split_sentences(text) for text in corpus.texts]
    table = corpus.table.with_columns(pl.Series("text", sentences, pl.List(pl.String)))
    # An empty list would explode to a row with null as its text.
    table = table.filter(pl.col("text").list.len() > 0).explode("text")

    # Sentences of one text follow each other, numbered from 1.
    number = pl.int_range(1, pl.len() + 1).over("id").cast(pl.String)
    table = table.with_columns(pl.concat_str("id", pl.lit("."), number))

    # Noted once, and only if there are labels: a label of a text need not hold for each of its sentences.
    notes = corpus.notes
    note = "Each text is one sentence with the labels of the text it comes from."
    if corpus.labels and note not in notes:
        notes = (*notes, note)
    return replace(corpus, table=table, notes=notes)


def personal_in(corpus: Corpus, recogniser: "Recogniser | None" = None) -> Redactions:
    """The personal data in the texts of a corpus, by kind and id."""
    from psycheck.text.redact.find import find_personal

    return _redactions(corpus, (find_personal(text, recogniser) for text in corpus.texts))


def redacted(corpus: Corpus, recogniser: "Recogniser | None" = None) -> tuple[Corpus, Redactions]:
    """Put placeholders in place of personal data and numbers in place of authors; report what was found.

    Authors are numbered in order of appearance, so that texts of one author stay together.
    """
    from psycheck.text.redact.find import redact

    redactions = [redact(text, recogniser) for text in corpus.texts]
    texts = [redaction.text for redaction in redactions]
    columns = [pl.Series("text", texts, pl.String)]

    # The name of an account often is the name of a person.
    if "author" in corpus.table:
        authors = _numbered_authors(corpus.table["author"].to_list())
        columns.append(pl.Series("author", authors, pl.String))

    redacted_corpus = replace(corpus, table=corpus.table.with_columns(columns))
    findings = [redaction.found for redaction in redactions]
    return redacted_corpus, _redactions(corpus, findings)


def _numbered_authors(authors: Sequence[str | None]) -> list[str | None]:
    numbered: dict[str, str] = {}
    for author in authors:
        if author is not None and author not in numbered:
            numbered[author] = f"author-{len(numbered) + 1}"
    return [None if author is None else numbered[author] for author in authors]


def _redactions(corpus: Corpus, findings: "Iterable[Sequence[Found]]") -> Redactions:
    """What was found, by kind and by the id of the text."""
    counts = Counter[str]()
    kinds_by_id: dict[str, tuple[str, ...]] = {}
    for id_, findings_in_text in zip(corpus.ids, findings, strict=True):
        kinds = [finding.kind for finding in findings_in_text]
        counts.update(kinds)
        if kinds:
            kinds_by_id[id_] = tuple(sorted(set(kinds)))
    return Redactions(
        counts=MappingProxyType(dict(sorted(counts.items()))),
        kinds=MappingProxyType(kinds_by_id),
    )


def personal_accounts(corpus: Corpus) -> list[bool]:
    """Which texts are of personal accounts, (n,), by rules of thumb (DECK 4.2 names the aim, not the means).

    An account is not personal if its name holds a word such as "news" or "bot", if one of its texts says that
    a bot wrote it, or, with five texts or more, if at least half of them promote something, or nearly all
    have a link and hardly any an "I", or more than half are the same but for numbers, links and tags. A text
    without a known author, or of an author with fewer texts, is left out if it promotes something twice over
    and has no "I".
    """
    texts = corpus.texts
    keep = [_is_personal_text(text) for text in texts]

    rows_of_author: dict[str, list[int]] = defaultdict(list)
    for row, author in enumerate(corpus.strings("author")):
        if author is not None:
            rows_of_author[author].append(row)

    for author, rows in rows_of_author.items():
        texts_of_author = [texts[row] for row in rows]
        personal = _is_personal_account(author, texts_of_author)
        # The texts of an account with few of them are judged one by one, as above.
        if personal is not None:
            for row in rows:
                keep[row] = personal
    return keep


def _is_personal_account(author: str, texts: Sequence[str]) -> bool | None:
    """Whether an account is a person's; None if its texts are too few to tell."""
    # The name, or a bot's own words, are enough however few the texts are.
    if _is_named_as_impersonal(author) or _says_it_is_a_bot(texts):
        return False
    if len(texts) < _FEWEST_TEXTS:
        return None
    return not _reads_impersonal(texts)


ACCOUNT_STEPS: Mapping[str, Callable[[Corpus], list[bool]]] = {"personal": personal_accounts}


def _is_personal_text(text: str) -> bool:
    """Whether a text by itself reads like a person's."""
    if _phrases_in(text, "bot"):
        return False
    # People use one such phrase too ("link in bio"); two without an "I" are hardly a person's.
    return _phrases_in(text, "phrases") < 2 or _FORMS["own"].search(text) is not None


def _is_named_as_impersonal(author: str) -> bool:
    words = {part.lower() for part in _FORMS["name_parts"].findall(author)}
    return not words.isdisjoint(_PROMOTION["accounts"])


def _says_it_is_a_bot(texts: Sequence[str]) -> bool:
    return any(_phrases_in(text, "bot") for text in texts)


def _reads_impersonal(texts: Sequence[str]) -> bool:
    """Whether the texts of one account read like a shop's, a news desk's or a bot's."""
    count = len(texts)
    promoting = sum(_phrases_in(text, "phrases") > 0 for text in texts)
    if promoting >= count / 2:
        return True

    with_link = sum(_FORMS["link"].search(text) is not None for text in texts)
    with_i = sum(_FORMS["own"].search(text) is not None for text in texts)
    # A news desk: links in nearly all texts, and nobody speaks of themselves.
    if with_link >= 0.8 * count and with_i <= 0.2 * count:
        return True

    # A bot writes the same text again and again, with another number, link or tag in it.
    templates: Counter[str] = Counter()
    for text in texts:
        template = _FORMS["varying"].sub(" ", text.lower())
        templates[template.strip()] += 1
    _, copies = templates.most_common(1)[0]
    return copies > count / 2


def _phrases_in(text: str, kind: str) -> int:
    """How many phrases of a kind ("phrases" that promote something, or a "bot"'s) a text holds."""
    lower = text.lower().replace("’", "'")
    return sum(phrase in lower for phrase in _PROMOTION[kind])
