"""Cautions: reasons why a score on a corpus may mean little, such as leaks and shortcuts, and what helps."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan
from typing import Any

import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Interval
from psycheck.corpora.cleaning import personal_in
from psycheck.corpora.columns import as_typed, without_options
from psycheck.corpora.label_quality import conflicts, imbalance, learned, missing_labels
from psycheck.corpora.leaks import across_splits, label_of_author, near_copies, plain_texts
from psycheck.corpora.shortcuts import debris, keyword, word_and_length
from psycheck.corpora.showable_words import word_table
from psycheck.corpora.suspicious_figures import LIMITS, TABLE, Sign, share_sign

_PERSONAL = "personal_data"
# The kinds of personal data that name or reach a person; dates and places alone do not.
_PERSONS = frozenset({"NAME", "EMAIL", "PHONE", "NUMBER"})
# Options of a corpus that `psycheck train` does not have.
_NOT_FOR_TRAIN = ("--time", "--group", "--split")


@dataclass(frozen=True, slots=True)
class Caution:
    """One reason to mistrust scores on a corpus: the figure, what it means, and what to do.

    `command` is empty if no command helps; `clean` are the options of `psycheck clean` that do.
    """

    name: str
    corpus: str
    label: str
    figure: float
    interval: Interval | None
    n: int
    sentence: str
    command: str
    ids: tuple[str, ...] = ()
    clean: tuple[str, ...] = ()

    def finding(self) -> Finding:
        """The caution as a finding, for a run."""
        where = {
            "audit": "compare",
            "part": "caution",
            "corpus": self.corpus,
            "label": self.label,
            "caution": self.name,
            "sentence": self.sentence,
            "command": self.command,
        }
        # An empty command says that none helps; another empty value says nothing.
        stated = {key: value for key, value in where.items() if value or key == "command"}
        return Finding(
            measure="caution",
            value=self.figure,
            n=self.n,
            interval=self.interval,
            where=stated,
            counts={},
            examples=self.ids,
            flags=("caution",),
        )


def warnings_of(
    corpus: Corpus,
    *,
    called: str = "",
    seed: int = 0,
    show: bool = False,
) -> tuple[Caution, ...]:
    """Every caution about a corpus; `called` is what the user types for it, with options, for the commands.

    A sentence contains a word of the corpus only if the word is common (`showable`), or with `show`.
    Needs the extra 'compare' (near-duplicates, label noise); `cheap_cautions` does not.
    """
    return _cautions(corpus, called, _all_signs(corpus, seed, show=show))


def _all_signs(corpus: Corpus, seed: int, *, show: bool) -> Iterator[Sign]:
    """All signs of a corpus, those of its labels in their order."""
    # Words and doubtful labels are looked for in a sample of a very large corpus, leaks in all texts.
    sample = corpus.sample(LIMITS["all_texts"], seed)
    words = word_table(sample)
    copies = plain_texts(corpus)

    yield from across_splits(corpus, copies)
    yield from near_copies(corpus, copies, seed)
    yield _personal_sign(corpus.sample(LIMITS["texts"], seed))
    for label in corpus.labels:
        yield from word_and_length(words, label, show=show)
        yield from imbalance(corpus, label)
        yield from keyword(words, label, show=show)
        yield from debris(words, label)
        yield from conflicts(corpus, label, copies)
        yield from label_of_author(corpus, label)
        yield from learned(sample, label, seed)
    yield from missing_labels(corpus)


def _personal_sign(corpus: Corpus) -> Sign:
    """The share of texts that hold what looks like a person's name, mail, phone or number."""
    kinds_by_id = personal_in(corpus).kinds
    places = []
    for place, id_ in enumerate(corpus.ids):
        kinds = kinds_by_id.get(id_, ())
        if not _PERSONS.isdisjoint(kinds):
            places.append(place)
    return share_sign(_PERSONAL, corpus, places)


def cheap_cautions(
    corpus: Corpus,
    *,
    called: str = "",
    seed: int = 0,
    show: bool = False,
) -> tuple[Caution, ...]:
    """The cautions found within a second: authors and copies across splits, a word or the length, imbalance.

    Words and lengths are looked up in at most 5,000 texts, drawn with `seed`; splits and classes in all.
    """
    words = word_table(corpus.sample(LIMITS["texts"], seed))
    signs = [*across_splits(corpus, plain_texts(corpus))]
    for label in corpus.labels:
        signs += word_and_length(words, label, show=show)
        signs += imbalance(corpus, label)
    return _cautions(corpus, called, signs)


def _cautions(corpus: Corpus, called: str, signs: Iterable[Sign]) -> tuple[Caution, ...]:
    """The cautions of signs that reach their limit; one and the same command mends all that can be mended."""
    typed_source = as_typed(corpus.source) if corpus.source else corpus.name
    typed_name = called or typed_source
    # The option that `train` needs where a corpus has no dev split.
    dev_share = "" if "dev" in corpus.strings("split") else " --dev-share 0.1"
    typed_for_train = without_options(typed_name, _NOT_FOR_TRAIN) + dev_share

    typed = {"corpus": typed_name, "learned": typed_for_train}
    cautions = []
    for sign in signs:
        entry = _entry(sign)
        if sign.figure.value >= entry["from"]:
            caution = _caution(
                sign=sign,
                entry=entry,
                corpus=corpus.name,
                typed=typed,
            )
            cautions.append(caution)
    return _with_common_command(cautions, typed_name)


def _with_common_command(cautions: Sequence[Caution], typed_name: str) -> tuple[Caution, ...]:
    """The cautions, those that `clean` mends with one command that holds the options of all of them."""
    options = dict.fromkeys(chain.from_iterable(caution.clean for caution in cautions))
    if not options:
        return tuple(cautions)

    # One command, because each would write a file of its own with one problem mended and the others not.
    command = f"psycheck clean {typed_name} {' '.join(options)} --out mended.csv"
    if any(caution.name == _PERSONAL for caution in cautions):
        command += " && psycheck redact mended.csv --out redacted.csv"

    with_commands = []
    for caution in cautions:
        is_mended = caution.clean or caution.name == _PERSONAL
        with_commands.append(replace(caution, command=command) if is_mended else caution)
    return tuple(with_commands)


def _entry(sign: Sign) -> Mapping[str, Any]:
    """What `cautions.toml` says about a sign; a case of its own ("length.word") overrides the caution's."""
    name, _, case = sign.name.partition(".")
    entry: Mapping[str, Any] = TABLE[name]
    return {**entry, **entry[case]} if case else entry


def _caution(
    sign: Sign,
    entry: Mapping[str, Any],
    corpus: str,
    typed: Mapping[str, str],
) -> Caution:
    """A sign in words, with the command that helps; `typed` is what users type for the corpus."""
    hidden = sign.word == "" and "hidden_command" in entry
    what = sign.what
    if sign.word is not None and "shown" in entry:
        what = entry["hidden"] if hidden else entry["shown"].format(word=sign.word)

    figure = sign.figure
    sentence = entry["sentence"].format(
        label=sign.label,
        what=what,
        figure=figure.value,
        percent=100 * figure.value,
        n=figure.n,
    )

    # Commands are pasted into a shell, and a word or a label may hold anything.
    quoted = {**typed, "word": shlex.quote(sign.word or ""), "label": shlex.quote(sign.label)}
    # A hidden word cannot stand in a command: then the command is the one that shows it.
    if hidden:
        command = entry["hidden_command"]
        clean_options = ()
    else:
        command = entry.get("command", "")
        clean_options = tuple(option.format_map(quoted) for option in entry.get("clean", ()))

    unknown_interval = figure.interval is None or isnan(figure.interval[0])
    return Caution(
        name=sign.name.partition(".")[0],
        corpus=corpus,
        label=sign.label,
        figure=figure.value,
        interval=None if unknown_interval else figure.interval,
        n=figure.n,
        sentence=sentence,
        command=command.format_map(quoted),
        ids=sign.ids,
        clean=clean_options,
    )


def caution_table(cautions: Sequence[Caution]) -> pl.DataFrame:
    """Every id behind a caution, one per row, for the run folder."""
    rows = []
    for caution in cautions:
        rows += [(caution.corpus, caution.name, caution.label, id_) for id_ in caution.ids]
    columns = dict.fromkeys(("corpus", "caution", "label", "id"), pl.String)
    return pl.DataFrame(rows, schema=columns, orient="row")
