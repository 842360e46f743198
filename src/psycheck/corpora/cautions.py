"""Cautions: reasons why a score on a corpus may mean little, such as leaks and shortcuts."""

import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from psycheck.corpora.adversarial import cross_scores, fold_groups
from psycheck.corpora.clean import personal_in
from psycheck.corpora.columns import without_options
from psycheck.corpora.mend import even_lengths, without_word
from psycheck.corpora.near import near_duplicates
from psycheck.corpora.shortcuts import Shortcut, Words, keyword, telling_length, telling_word, word_table
from psycheck.corpora.showable import showable, showable_beginning
from psycheck.corpora.vocabulary import authors_of
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra
from psycheck.finding import Finding, Interval
from psycheck.measures.classification import auc, gold
from psycheck.measures.intervals import wilson
from psycheck.text.words import WORD, plain_text

MOST_IDS = 50
_RATES = frozenset({"single_word", "length", "missing_labels"})  # figures that are not shares of texts
_PERSONS = frozenset({"NAME", "EMAIL", "PHONE", "NUMBER"})
_HIDDEN = "(shown with --show-texts)"
_NOT_FOR_TRAIN = ("--time", "--group", "--split")


@dataclass(frozen=True, slots=True)
class Caution:
    """One reason to mistrust scores on a corpus: the figure, what it means, and what to do.

    `command` is empty if no command helps.
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

    def finding(self) -> Finding:
        """The caution as a finding, for a run."""
        where = {"audit": "compare", "part": "caution", "corpus": self.corpus, "label": self.label}
        where |= {"caution": self.name, "sentence": self.sentence, "command": self.command}
        place = {key: value for key, value in where.items() if value or key == "command"}
        return Finding("caution", self.figure, self.n, self.interval, place, {}, self.ids, ("caution",))


@dataclass(frozen=True, slots=True)
class _Look:
    """A corpus, what the user types for it, and whether its words may be shown whatever they are."""

    corpus: Corpus
    typed: str
    show: bool


def warnings_of(
    corpus: Corpus, *, called: str = "", seed: int = 0, show: bool = False
) -> tuple[Caution, ...]:
    """Every caution about a corpus; `called` is what the user types for it, with options, for the commands.

    A sentence contains a word of the corpus only if the word is common (`showable`), or with `show`.
    Needs the extra 'compare' (near-duplicates, label noise); `cheap_cautions` does not.
    """
    look = _Look(corpus, called or corpus.called or corpus.name, show)
    found = [*_splits(look), *_near(look, seed), *_persons(look, seed)]
    some = corpus.sample(int(_limits()["all_texts"]), seed)
    words = word_table(some)
    for label in corpus.labels:
        found += _label(look, label, words)
        found += _keyword(look, label, words)
        found += _noise(replace(look, corpus=some), label, seed)
        found += _missing(look, label)
    return tuple(found)


def cheap_cautions(
    corpus: Corpus, *, called: str = "", seed: int = 0, show: bool = False
) -> tuple[Caution, ...]:
    """The cautions found within a second: authors and copies across splits, a word or the length, imbalance.

    Words and lengths are looked up in at most 5,000 texts, drawn with `seed`; splits and classes in all.
    """
    look = _Look(corpus, called or corpus.called or corpus.name, show)
    words = word_table(corpus.sample(int(_limits()["texts"]), seed))
    return (*_splits(look), *(one for label in corpus.labels for one in _label(look, label, words)))


def _splits(look: _Look) -> Iterator[Caution]:
    """Authors and copies that are in more than one split."""
    if _split_of(look.corpus) is None:
        return
    if (authors := authors_of(look.corpus)) is not None:
        yield from _shared(look, "authors_across_splits", authors)
    words = pl.col("text").str.to_lowercase().str.extract_all(WORD).list.join(" ")
    yield from _shared(look, "duplicates_across_splits", look.corpus.table.select(words)["text"].to_list())


def _near(look: _Look, seed: int) -> Iterator[Caution]:
    if _split_of(look.corpus) is not None:
        texts = look.corpus.texts
        keys = [plain_text(text) for text in texts]
        yield from _shared(look, "near_duplicates_across_splits", keys, near_duplicates(texts, seed=seed))


def _shared(
    look: _Look, name: str, keys: Sequence[str | None], pairs: Sequence[tuple[int, int]] = ()
) -> Iterator[Caution]:
    """Texts outside train whose key, or a key paired with it, occurs in another split too."""
    splits = _split_of(look.corpus)
    if splits is None:
        return
    where: dict[str | None, set[str]] = {}
    for key, split in zip(keys, splits, strict=True):
        where.setdefault(key, set()).add(split)
    # A pair names one text of several copies: what holds for it holds for all of them.
    reached = {key: set(own) for key, own in where.items()}
    for a, b in pairs:
        reached[keys[a]] |= where[keys[b]]
        reached[keys[b]] |= where[keys[a]]
    # Models learn from "train", or else from the largest split.
    home = "train" if "train" in splits else Counter(splits).most_common(1)[0][0]
    outside = [i for i, split in enumerate(splits) if split != home]
    leaked = [i for i in outside if (key := keys[i]) and len(reached[key]) > 1]
    yield from _share(look, name, leaked, len(outside))


def _persons(look: _Look, seed: int) -> Iterator[Caution]:
    """Texts that hold what looks like somebody's name, mail, phone or number."""
    some = replace(look, corpus=look.corpus.sample(int(_limits()["texts"]), seed))
    kinds = personal_in(some.corpus).kinds
    places = [i for i, id_ in enumerate(some.corpus.ids) if _PERSONS & set(kinds.get(id_, ()))]
    yield from _share(some, "personal_data", places, len(some.corpus))


def _share(look: _Look, name: str, places: Sequence[int], n: int, label: str = "") -> Iterator[Caution]:
    if n and len(places) / n >= _limit(name):
        ids = look.corpus.ids
        shown = tuple(ids[i] for i in places[:MOST_IDS])
        yield _caution(look, name, len(places) / n, wilson(len(places), n), n, label, ids=shown)


def _label(look: _Look, label: str, words: Words) -> Iterator[Caution]:
    """The cheap cautions about one label."""
    least = int(_limits()["each_class"])
    word = telling_word(words, label, least)
    shown = False
    if word is not None and word.figure >= _limit("single_word"):
        shown = look.show or showable(word.word, words)
        what = f"The word '{word.word}'" if shown else f"One word {_HIDDEN}"
        yield _caution(
            look, "single_word", word.figure, word.interval, word.n, label, what=what, word=word.word * shown
        )
    else:
        word = None
    length = telling_length(words, label, least, _limit("length"))
    if length is not None:
        yield _length(look, length, label, words, word, shown=shown)
    known = look.corpus.targets([label])[:, 0]
    known = known[~np.isnan(known)]
    if len(known):
        most = max(Counter(gold(known).tolist()).values())
        if most / len(known) >= _limit("imbalance"):
            share = wilson(most, len(known))
            yield _caution(look, "imbalance", most / len(known), share, len(known), label)


def _length(
    look: _Look, found: Shortcut, label: str, words: Words, word: Shortcut | None, *, shown: bool
) -> Caution:
    """The caution about the length, with what helps: first without a word that tells the label as well."""
    least, corpus = int(_limits()["each_class"]), words.corpus
    if word is not None:
        corpus = without_word(corpus, word.word)
    case, what, typed = "", "", None if word is None else word.word * shown
    if word is not None and telling_length(word_table(corpus), label, least, _limit("length")) is None:
        case, what = "word", f"the word '{word.word}'" if shown else f"one word {_HIDDEN}"
    else:
        left = _left_when_even(corpus, label)
        if min(left) < least:
            case, what, typed = "apart", f"{sum(left):,}", None
        elif word is not None:
            case = "both"
    figures = found.figure, found.interval, found.n
    return _caution(look, "length", *figures, label, what=what, word=typed, case=case)


def _left_when_even(corpus: Corpus, label: str) -> tuple[int, int]:
    """How many texts annotated 1 and 0 are left where the classes are made even in length."""
    try:
        marks = even_lengths(corpus, label).targets([label])[:, 0]
    except BadInput:  # none
        return 0, 0
    known = marks[~np.isnan(marks)]
    ones = int(gold(known).sum())
    return ones, len(known) - ones


def _keyword(look: _Look, label: str, words: Words) -> Iterator[Caution]:
    limits = _limits()
    found = keyword(words, label, int(limits["each_class"]), int(limits["keyword_letters"]))
    if (
        found is not None
        and found.figure >= _limit("keyword_label")
        and found.elsewhere <= limits["keyword_elsewhere"]
    ):
        shown = look.show or showable_beginning(found.word, words)
        what = f"a word that begins with '{found.word}'" if shown else f"words of one beginning {_HIDDEN}"
        yield _caution(
            look,
            "keyword_label",
            found.figure,
            found.interval,
            found.n,
            label,
            what=what,
            word=found.word * shown,
        )


def _noise(look: _Look, label: str, seed: int) -> Iterator[Caution]:
    """Annotations that a cross-validated classifier doubts (confident learning, Northcutt et al. 2021)."""
    try:
        from cleanlab.filter import find_label_issues
    except ImportError as error:
        raise MissingExtra("the search for doubtful labels", "compare") from error
    targets = look.corpus.targets([label])[:, 0]
    places = np.flatnonzero(~np.isnan(targets))
    yes = gold(targets[places])
    if min(int(yes.sum()), int((~yes).sum())) < _limits()["each_class"]:
        return
    texts = [look.corpus.texts[i] for i in places]
    authors = authors_of(look.corpus)
    groups = fold_groups(texts, None if authors is None else [authors[i] for i in places])
    scores = cross_scores(texts, yes.astype(np.float64), groups, seed=seed)
    if np.isnan(scores).any() or auc(yes.astype(np.float64), scores).value < _limits()["noise_auc"]:
        return
    doubted = find_label_issues(
        labels=yes.astype(np.int64),
        pred_probs=np.column_stack([1 - scores, scores]),
        return_indices_ranked_by="self_confidence",
        n_jobs=1,
    )
    own = np.where(yes, scores, 1 - scores)
    sure = [int(places[i]) for i in doubted if own[i] < _limits()["noise_score"]]
    yield from _share(look, "label_noise", sure, len(places), label)


def _missing(look: _Look, label: str) -> Iterator[Caution]:
    """Whether a label is annotated depends on a split, a group or another label."""
    from scipy.stats.contingency import association

    absent = np.isnan(look.corpus.targets([label])[:, 0])
    if not absent.any() or absent.all():
        return
    strongest, what = 0.0, ""
    for name, values in _sorts(look.corpus, label):
        kinds, codes = np.unique(values, return_inverse=True)
        # A kind for nearly each text (a free-text group) goes along with anything.
        if not 2 <= len(kinds) <= len(values) / 5:
            continue
        table = np.zeros((2, len(kinds)), dtype=np.int64)
        np.add.at(table, (absent.astype(np.int64), codes), 1)
        if (v := float(association(table, method="cramer"))) > strongest:
            strongest, what = v, name
    if strongest >= _limit("missing_labels"):
        ids = tuple(look.corpus.ids[i] for i in np.flatnonzero(absent)[:MOST_IDS])
        yield _caution(look, "missing_labels", strongest, None, len(absent), label, what=what, ids=ids)


def _sorts(corpus: Corpus, label: str) -> Iterator[tuple[str, list[str]]]:
    """What a missing annotation may follow: the split, each group, each other label (1, 0 or missing)."""
    columns = ["split"] if "split" in corpus.table.columns else []
    for column in [*columns, *(f"group:{name}" for name in corpus.groups)]:
        yield column.removeprefix("group:"), corpus.table[column].fill_null("unknown").to_list()
    for other in corpus.labels:
        if other != label:
            marks = corpus.targets([other])[:, 0]
            yield other, ["missing" if np.isnan(mark) else str(int(mark >= 0.5)) for mark in marks]


def _split_of(corpus: Corpus) -> list[str] | None:
    """The split of each text; None where there is one split or none."""
    if "split" not in corpus.table.columns:
        return None
    splits: list[str] = corpus.table["split"].fill_null("none").to_list()
    return splits if len(set(splits)) > 1 else None


def _caution(
    look: _Look,
    name: str,
    figure: float,
    interval: Interval | None,
    n: int,
    label: str = "",
    *,
    what: str = "",
    word: str | None = None,
    ids: tuple[str, ...] = (),
    case: str = "",
) -> Caution:
    entry = {**_table()[name], **(_table()[name][case] if case else {})}
    command = entry["hidden_command"] if word == "" else entry["command"]
    words = {
        "label": label,
        "figure": f"{figure:.2f}" if name in _RATES else f"{100 * figure:.1f} %",
        "n": f"{n:,}",
        "what": what,
    }
    typed = {
        "corpus": look.typed,
        "learned": without_options(look.typed, _NOT_FOR_TRAIN) + _dev_cut(look.corpus),
        "word": shlex.quote(word or ""),
        "label": shlex.quote(label),
    }
    return Caution(
        name,
        look.corpus.name,
        label,
        figure,
        interval,
        n,
        entry["sentence"].format_map(words),
        command.format_map(typed),
        ids,
    )


def _dev_cut(corpus: Corpus) -> str:
    """The option that `train` needs where a corpus has no dev split."""
    return "" if "dev" in corpus.strings("split") else " --dev-share 0.1"


def _limit(name: str) -> float:
    return float(_table()[name]["from"])


def _limits() -> Mapping[str, float]:
    limits: Mapping[str, float] = _table()["limits"]
    return limits


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("cautions.toml").read_text("utf-8"))


def caution_table(cautions: Sequence[Caution]) -> pl.DataFrame:
    """Every id behind a caution, one per row, for the run folder."""
    rows = [(c.corpus, c.name, c.label, id_) for c in cautions for id_ in c.ids]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(("corpus", "caution", "label", "id"), pl.String), orient="row"
    )
