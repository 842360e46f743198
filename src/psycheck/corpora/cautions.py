"""Cautions: reasons why a score on a corpus may mean little, such as leaks and shortcuts, and what helps."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan

import polars as pl

from psycheck.corpora.clean import personal_in
from psycheck.corpora.columns import without_options
from psycheck.corpora.label_quality import conflicts, imbalance, learned, missing_labels
from psycheck.corpora.leaks import across_splits, label_of_author, near_copies, plain_texts
from psycheck.corpora.shortcuts import debris, keyword, word_and_length
from psycheck.corpora.signs import LIMITS, TABLE, Sign, share_sign
from psycheck.corpora.vocabulary import word_table
from psycheck.corpus import Corpus
from psycheck.finding import Finding, Interval

_PERSONAL = "personal_data"
_PERSONS = frozenset({"NAME", "EMAIL", "PHONE", "NUMBER"})
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
        where = {"audit": "compare", "part": "caution", "corpus": self.corpus, "label": self.label}
        where |= {"caution": self.name, "sentence": self.sentence, "command": self.command}
        place = {key: value for key, value in where.items() if value or key == "command"}
        return Finding("caution", self.figure, self.n, self.interval, place, {}, self.ids, ("caution",))


def warnings_of(
    corpus: Corpus, *, called: str = "", seed: int = 0, show: bool = False
) -> tuple[Caution, ...]:
    """Every caution about a corpus; `called` is what the user types for it, with options, for the commands.

    A sentence contains a word of the corpus only if the word is common (`showable`), or with `show`.
    Needs the extra 'compare' (near-duplicates, label noise); `cheap_cautions` does not.
    """
    return _cautions(corpus, called, _all_signs(corpus, seed, show=show))


def _all_signs(corpus: Corpus, seed: int, *, show: bool) -> Iterator[Sign]:
    some, copies = corpus.sample(LIMITS["all_texts"], seed), plain_texts(corpus)
    words = word_table(some)
    yield from across_splits(corpus, copies)
    yield from near_copies(corpus, copies, seed)
    few = corpus.sample(LIMITS["texts"], seed)
    kinds = personal_in(few).kinds
    persons = [i for i, id_ in enumerate(few.ids) if _PERSONS & set(kinds.get(id_, ()))]
    yield share_sign(_PERSONAL, few, persons)
    for label in corpus.labels:
        yield from word_and_length(words, label, show=show)
        yield from imbalance(corpus, label)
        yield from keyword(words, label, show=show)
        yield from debris(words, label)
        yield from conflicts(corpus, label, copies)
        yield from label_of_author(corpus, label)
        yield from learned(some, label, seed)
    yield from missing_labels(corpus)


def cheap_cautions(
    corpus: Corpus, *, called: str = "", seed: int = 0, show: bool = False
) -> tuple[Caution, ...]:
    """The cautions found within a second: authors and copies across splits, a word or the length, imbalance.

    Words and lengths are looked up in at most 5,000 texts, drawn with `seed`; splits and classes in all.
    """
    words, signs = (
        word_table(corpus.sample(LIMITS["texts"], seed)),
        [*across_splits(corpus, plain_texts(corpus))],
    )
    for label in corpus.labels:
        signs += [*word_and_length(words, label, show=show), *imbalance(corpus, label)]
    return _cautions(corpus, called, signs)


def _cautions(corpus: Corpus, called: str, signs: Iterable[Sign]) -> tuple[Caution, ...]:
    """The cautions of signs that reach their limit; one and the same command mends all that can be mended."""
    typed = called or corpus.called or corpus.name
    cautions = [caution for sign in signs if (caution := _worded(sign, corpus, typed))]
    options = dict.fromkeys(option for caution in cautions for option in caution.clean)
    if not options:
        return tuple(cautions)
    command = f"psycheck clean {typed} {' '.join(options)} --out mended.csv"
    if any(caution.name == _PERSONAL for caution in cautions):
        command += " && psycheck redact mended.csv --out redacted.csv"
    return tuple(replace(c, command=command) if c.clean or c.name == _PERSONAL else c for c in cautions)


def _worded(sign: Sign, corpus: Corpus, called: str) -> Caution | None:
    """A sign in words, with the command that helps; None if its figure does not reach its limit."""
    name, _, case = sign.name.partition(".")
    entry, figure = {**TABLE[name], **(TABLE[name][case] if case else {})}, sign.figure
    if figure.value < entry["from"]:
        return None
    hidden, what = sign.word == "" and "hidden_command" in entry, sign.what
    if sign.word is not None and "shown" in entry:
        what = entry["hidden"] if hidden else entry["shown"].format(word=sign.word)
    # The option that `train` needs where a corpus has no dev split.
    cut = "" if "dev" in corpus.strings("split") else " --dev-share 0.1"
    typed = {
        "corpus": called,
        "learned": without_options(called, _NOT_FOR_TRAIN) + cut,
        "word": shlex.quote(sign.word or ""),
        "label": shlex.quote(sign.label),
    }
    figures = {"figure": figure.value, "percent": 100 * figure.value, "n": figure.n}
    sentence = entry["sentence"].format(label=sign.label, what=what, **figures)
    clean = () if hidden else tuple(option.format_map(typed) for option in entry.get("clean", ()))
    command = entry["hidden_command"] if hidden else entry.get("command", "")
    ends = None if figure.interval is None or isnan(figure.interval[0]) else figure.interval
    advice = sentence, command.format_map(typed), sign.ids, clean
    return Caution(name, corpus.name, sign.label, figure.value, ends, figure.n, *advice)


def caution_table(cautions: Sequence[Caution]) -> pl.DataFrame:
    """Every id behind a caution, one per row, for the run folder."""
    rows = [(c.corpus, c.name, c.label, id_) for c in cautions for id_ in c.ids]
    columns = dict.fromkeys(("corpus", "caution", "label", "id"), pl.String)
    return pl.DataFrame(rows, schema=columns, orient="row")
