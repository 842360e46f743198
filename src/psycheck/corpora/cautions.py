"""Cautions: reasons why a score on a corpus may mean little, such as leaks and shortcuts, and what helps."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain
from math import isnan
from typing import Any

import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Interval
from psycheck.corpora.cleaning import personal_in
from psycheck.corpora.columns import as_typed, without_options
from psycheck.corpora.label_quality import conflicts, imbalance, learned, missing_labels
from psycheck.corpora.leaks import across_splits, label_of_author, near_copies, plain_texts, split_of
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.corpora.shortcuts import debris, keyword, label_of_source, word_and_length
from psycheck.corpora.showable_words import word_table
from psycheck.corpora.suspicious_figures import LIMITS, TABLE, Sign, share_sign

RESPLIT = "--resplit 6:2:2"
DROP_COPIES = "--drop-near-duplicates"
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
    # Words and doubtful labels are looked for in a sample of a very large corpus, leaks in all texts.
    sample = corpus.sample(LIMITS["all_texts"], seed)
    signs = chain(
        _signs(
            corpus,
            sample,
            seed,
            near=True,
            show=show,
        ),
        _slow_signs(corpus, sample, seed),
    )
    return _cautions(corpus, called, signs)


def cheap_cautions(
    corpus: Corpus,
    *,
    called: str = "",
    seed: int = 0,
    show: bool = False,
) -> tuple[Caution, ...]:
    """The cautions found within seconds: all but personal data and doubtful labels.

    Words and lengths are looked up in at most 5,000 texts, drawn with `seed`; leaks in all. What is not
    looked for, `not_searched` says.
    """
    signs = _signs(
        corpus,
        corpus.sample(LIMITS["texts"], seed),
        seed,
        near=not _why_no_near_copies(corpus),
        show=show,
    )
    return _cautions(corpus, called, signs)


def not_searched(corpus: Corpus) -> list[str]:
    """What `cheap_cautions` leaves out for a corpus, one note for each kind."""
    notes = []
    why = _why_no_near_copies(corpus)
    if why:
        notes.append(f"{corpus.name}: near-duplicates across splits were not looked for: {why}")
    if len(corpus) > LIMITS["texts"]:
        texts = f"{LIMITS['texts']:,} of {len(corpus):,} texts"
        notes.append(f"{corpus.name}: words and lengths that tell a label were looked for in {texts}")
    return notes


def _why_no_near_copies(corpus: Corpus) -> str:
    """Why near-duplicates are not looked for where time is short; empty if they are."""
    if split_of(corpus) is None:
        return ""
    if find_spec("rensa") is None:
        return "they need the extra 'compare'"
    if len(corpus) > LIMITS["near_texts"]:
        return f"the corpus has more than {LIMITS['near_texts']:,} texts (`psycheck compare --warn` looks)"
    return ""


def _signs(
    corpus: Corpus,
    sample: Corpus,
    seed: int,
    *,
    near: bool,
    show: bool,
) -> Iterator[Sign]:
    """The signs that are found within seconds; words are those of `sample`."""
    words = word_table(sample)
    copies = plain_texts(corpus)

    yield from across_splits(corpus, copies)
    if near:
        yield from near_copies(corpus, copies, seed)
    for label in corpus.labels:
        shortcuts = list(word_and_length(words, label, show=show))
        yield from shortcuts
        yield from imbalance(corpus, label)
        # A word that tells the label is most often the keyword, too: one caution is enough.
        if not any(sign.name == "single_word" for sign in shortcuts):
            yield from keyword(words, label, show=show)
        yield from debris(words, label)
        yield from label_of_source(corpus, label)
        yield from conflicts(corpus, label, copies)
        yield from label_of_author(corpus, label)
    yield from missing_labels(corpus)


def _slow_signs(corpus: Corpus, sample: Corpus, seed: int) -> Iterator[Sign]:
    """The signs that take minutes: names of people, and labels that a classifier doubts."""
    yield _personal_sign(corpus.sample(LIMITS["texts"], seed))
    for label in corpus.labels:
        yield from learned(sample, label, seed)


def _personal_sign(corpus: Corpus) -> Sign:
    """The share of texts that hold what looks like a person's name, mail, phone or number."""
    kinds_by_id = personal_in(corpus).kinds
    places = []
    for place, id_ in enumerate(corpus.ids):
        kinds = kinds_by_id.get(id_, ())
        if not _PERSONS.isdisjoint(kinds):
            places.append(place)
    return share_sign(_PERSONAL, corpus, places)


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

    options = dict.fromkeys(chain.from_iterable(caution.clean for caution in cautions))
    if RESPLIT in options and _repeats_texts(corpus):
        # New splits would have copies in common: one caution mended, another made.
        options[DROP_COPIES] = None
    return _with_common_command(cautions, list(options), typed_name)


def _repeats_texts(corpus: Corpus) -> bool:
    """Whether so many texts nearly repeat another that new splits would have copies in common."""
    if find_spec("rensa") is None:
        return False
    pairs = near_duplicates(corpus.texts)
    limit: float = TABLE["repeated_texts"]["from"]
    return len(pairs) >= limit * len(corpus) / 2


def _with_common_command(
    cautions: Sequence[Caution],
    options: Sequence[str],
    typed_name: str,
) -> tuple[Caution, ...]:
    """The cautions, those that `clean` mends with one command that holds the options of all of them."""
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
    quoted = {
        **typed,
        "word": shlex.quote(sign.word or ""),
        "label": shlex.quote(sign.label),
    }
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
