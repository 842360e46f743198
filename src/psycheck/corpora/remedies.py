"""What cautions recommend: drop near-duplicates, split again, balance lengths, remove a word."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.cleaning import StepCount
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.corpora.split import linked, split_corpus
from psycheck.statistics.classification import BoolArray, classes

SPLITS = ("train", "dev", "test")
_BINS = 20  # of length, each with about as many texts
_SHARE = re.compile(r"\d+(\.\d+)?")


def mended(
    corpus: Corpus, settings: Mapping[str, object], *, seed: int = 0
) -> tuple[Corpus, tuple[StepCount, ...]]:
    """Apply the steps that `settings` names, in the order below, and count what each did."""
    # The order matters: removing a word changes the lengths that are balanced and makes more texts alike, and
    # the splits get their shares of the texts that are left at the end.
    steps: dict[str, Callable[[Corpus, object], Corpus]] = {
        "without-word": partial(_for_each, without_word),
        "annotated": partial(_for_each, annotated),
        "balance-length": partial(_for_each, partial(even_lengths, seed=seed)),
        "drop-near-duplicates": lambda corpus, _: without_near_copies(corpus, seed=seed),
        "resplit": lambda corpus, shares: split_anew(corpus, str(shares), seed=seed),
    }
    counts = []
    for name, step in steps.items():
        setting = settings.get(name)
        if not setting:
            continue
        mended_corpus = step(corpus, setting)
        counts.append(_counted_step(name, corpus, mended_corpus))
        corpus = mended_corpus
    return corpus, tuple(counts)


def _for_each(step: Callable[[Corpus, str], Corpus], corpus: Corpus, names: object) -> Corpus:
    """Apply a step once for each word or label, or for a single one."""
    listed = names if isinstance(names, list | tuple) else [names]
    for name in listed:
        corpus = step(corpus, str(name))
    return corpus


def _counted_step(name: str, before: Corpus, after: Corpus) -> StepCount:
    """How many texts a step took, left, changed (in text or split) and dropped."""
    states_before = _states(before)
    states_after = _states(after)
    changed = sum(states_before[id_] != state for id_, state in states_after.items())
    dropped = len(before) - len(after)
    return StepCount(
        name=name,
        texts_before=len(before),
        texts_after=len(after),
        changed=changed,
        dropped=dropped,
    )


def _states(corpus: Corpus) -> dict[str, tuple[str, str | None]]:
    """The text and split of each id."""
    states = zip(corpus.texts, corpus.strings("split"), strict=True)
    return dict(zip(corpus.ids, states, strict=True))


def without_near_copies(corpus: Corpus, *, seed: int = 0) -> Corpus:
    """Keep one text of each group of near-duplicates: one outside train if there is one.

    So test sets stay comparable, and the train split no longer holds them. Needs the extra 'compare'.
    """
    keep = np.ones(len(corpus), dtype=np.bool_)
    texts = corpus.texts
    # A text without a split counts as train: it may be trained on.
    splits = corpus.strings("split")
    in_train = np.array([split in ("train", None) for split in splits], dtype=np.bool_)

    # The search compares a text with few others: what it missed can come up once copies are gone.
    while True:
        left = np.flatnonzero(keep)
        pairs = near_duplicates([texts[place] for place in left], seed=seed)
        group_of = linked(len(left), pairs)

        # The first text of each group stays; texts outside train come first (False sorts before True).
        seen_groups: set[int] = set()
        for position in np.argsort(in_train[left], kind="stable"):
            group = group_of[position]
            keep[left[position]] = group not in seen_groups
            seen_groups.add(group)

        if keep[left].all():
            return corpus.only(keep, "nearly the same as another text")


def split_anew(corpus: Corpus, shares: str, *, seed: int = 0) -> Corpus:
    """Split a corpus into train, dev and test by shares such as "6:2:2", no author in two of them."""
    parts = shares.split(":")
    if len(parts) != len(SPLITS) or not all(_SHARE.fullmatch(part) for part in parts):
        raise BadInput(
            f"'{shares}' is not a list of shares",
            code="split.unreadable-shares",
            allowed="train:dev:test, such as 6:2:2",
        )

    share_of_split = {name: float(part) for name, part in zip(SPLITS, parts, strict=True)}
    # "8:0:2" means no dev split at all; `split_corpus` refuses a share of 0.
    nonempty = {name: share for name, share in share_of_split.items() if share}
    return split_corpus(corpus, nonempty, seed=seed)


def annotated(corpus: Corpus, label: str) -> Corpus:
    """The texts annotated for a label."""
    has_label = ~np.isnan(corpus.targets([label])[:, 0])
    return corpus.only(has_label, f"not annotated for {label}")


def even_lengths(corpus: Corpus, label: str, *, seed: int = 0) -> Corpus:
    """Drop texts until the classes of a label have the same proportions at each length.

    Texts are grouped into 20 bins of length; in each, surplus texts of one class are dropped at random. Texts
    that are not annotated, or with 0.5, stay. Classes without a common length are an error.
    """
    yes, no = classes(corpus.targets([label])[:, 0])
    if not yes.any() or not no.any():
        raise BadInput(
            f"corpus '{corpus.name}' has one class of {label}",
            code="label.one-class",
            allowed="two classes",
        )

    # Bins at quantiles, so that each has enough texts; equal edges (many texts of one length) are one bin.
    words = corpus.table["text"].str.count_matches(r"\w+").to_numpy()
    quantiles = np.linspace(0, 1, _BINS + 1)[1:-1]
    edges = np.unique(np.quantile(words[yes | no], quantiles))
    bin_of_text = np.searchsorted(edges, words, side="right")

    keep = np.ones(len(corpus), dtype=np.bool_)
    class_ratio = yes.sum() / no.sum()
    random = np.random.default_rng(seed)
    for bin_number in range(len(edges) + 1):
        in_bin = bin_of_text == bin_number
        positive_rows = np.flatnonzero(yes & in_bin)
        negative_rows = np.flatnonzero(no & in_bin)
        # The smaller class of the bin, measured in texts annotated 0, decides how many stay.
        negatives_left = min(len(positive_rows) / class_ratio, len(negative_rows))
        positives_left = negatives_left * class_ratio
        surplus_positives = random.permutation(positive_rows)[round(positives_left) :]
        surplus_negatives = random.permutation(negative_rows)[round(negatives_left) :]
        keep[surplus_positives] = False
        keep[surplus_negatives] = False

    _refuse_empty_class(
        corpus=corpus,
        label=label,
        yes=keep & yes,
        no=keep & no,
    )
    return corpus.only(keep, f"too many of one class of {label} for their length")


def _refuse_empty_class(
    corpus: Corpus,
    label: str,
    yes: BoolArray,
    no: BoolArray,
) -> None:
    if not yes.any() or not no.any():
        raise BadInput(
            what=f"the classes of {label} cannot be balanced by length: their lengths do not overlap",
            code="label.lengths-apart",
            where=corpus.name,
            allowed="classes with texts of similar length",
            do="remove a word that only one class has (`without_word`), or add texts of similar length",
        )


def without_word(corpus: Corpus, word: str) -> Corpus:
    """Remove every word that begins with `word`, in any case; drop texts that become empty."""
    if not word.strip():
        raise BadInput(
            "the word to remove is blank",
            code="clean.blank-word",
            allowed="the beginning of a word",
        )

    # With one space after it, so that no double space shows where the word was.
    pattern = re.compile(rf"(?<!\w){re.escape(word)}\w*[ \t]?", re.I)
    texts = [pattern.sub("", text).strip() for text in corpus.texts]
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String))

    has_words_left = [bool(text) for text in texts]
    return replace(corpus, table=table).only(has_words_left, "no other word in them")
