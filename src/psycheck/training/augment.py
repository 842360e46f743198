"""Augmentation of train and dev: appended sentences (DECK 6.3), gender-swapped texts (gender bias 2.2)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted
from psycheck.corpora.regender import counterparts
from psycheck.corpora.shorten import Read, fit_texts
from psycheck.models.hf_folder import load_config, load_tokenizer, window_of
from psycheck.models.window import characters_read
from psycheck.statistics.classification import BoolArray
from psycheck.text.edits import append_to_all
from psycheck.text.gender.edits import Scope, names_besides, swap
from psycheck.training.parts import dev_name
from psycheck.training.recipe import PLAIN, Recipe, reads_window, start_folder

Source = Literal["checks", "random"]
PRONOUNS = Scope()
# Ends the id of a text that the control repeats.
AGAIN = "~again"
NEUTRAL = Path(__file__).with_name("neutral.txt")


@dataclass(frozen=True, slots=True)
class Addition:
    """A sentence to append, the check it comes from, and whether it states that a symptom is present."""

    check: str
    sentence: str
    presence: bool


@dataclass(frozen=True, slots=True)
class Augmented:
    """The augmented corpus and its counts.

    For sentences, `counts` has the texts of train and dev (`texts`), those that could be augmented
    (`eligible`), those that were (`augmented`, of which `presence` and `absence`) and those shortened to make
    room (`shortened`); `used` counts how often each sentence was appended. For swapped texts, it has the
    texts of train and dev before (`texts`) and after (`texts_after`), those `added`, those `unchanged`
    because they name no gender and those `undecided`, whose ids are in the attribute `undecided`. Of those
    added, `named_besides` also name a gender by a noun or title outside the scope.
    """

    corpus: Corpus
    counts: Mapping[str, int]
    used: Mapping[str, int]
    undecided: tuple[str, ...] = ()


def augmented(
    corpus: Corpus,
    additions: Sequence[Addition],
    label: str,
    *,
    share: float = 1.0,
    agreeing: bool = True,
    sentences: Source = "checks",
    read: Read | None = None,
    seed: int = 0,
) -> Augmented:
    """Append sentences to texts of train and dev, never of test; no text is added or removed.

    Sentences of presence go to texts annotated 1, those of absence to texts annotated 0; texts without an
    annotation or with one in between stay unchanged. With `agreeing` off any sentence goes to any annotated
    text. `share` is the share of the eligible texts to augment, drawn by `seed`; sentences take turns.
    `sentences` "random" is the control: neutral sentences of the same lengths go to the same texts. `read`
    tells how far a trainer with a window reads: texts are shortened so that the sentence fits.
    """
    if not 0 < share <= 1:
        raise BadInput(
            f"augment: share = {share}", code="augment.share-out-of-range", allowed="above 0 and up to 1"
        )
    if not additions:
        raise BadInput(
            "augment: no sentence to append",
            code="augment.no-sentence",
            do="select at least one DIR check",
        )
    split_of_row = _train_and_dev(corpus)
    random = np.random.default_rng(seed)
    targets = corpus.targets([label])[:, 0]
    pools = _pools(additions, targets, agreeing=agreeing)
    chosen, eligible = _assign_sentences(split_of_row, pools, share, random)

    appended = {row: addition.sentence for row, addition in chosen.items()}
    # Only the sentences differ: the control has them at the same texts, so that nothing else can matter.
    if sentences == "random":
        appended = _neutral(appended, random)
    texts, shortened = _appended(corpus, appended, read)

    presence = sum(addition.presence for addition in chosen.values())
    counts = {
        "texts": len(split_of_row),
        "eligible": eligible,
        "augmented": len(appended),
        "presence": presence,
        "absence": len(appended) - presence,
        "shortened": shortened,
    }
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String))
    augmented_share = f"{len(appended)} of {len(split_of_row)} texts"
    note = f"{corpus.name}: {augmented_share} of train and dev have a sentence appended"
    return Augmented(
        corpus=replace(corpus, table=table, notes=(*corpus.notes, note)),
        counts=counts,
        used=Counter(appended.values()),
    )


def _pools(
    additions: Sequence[Addition], targets: FloatArray, *, agreeing: bool
) -> list[tuple[list[Addition], BoolArray]]:
    """Sentences, and which texts (n,) may get one of them; targets are (n,)."""
    if not agreeing:
        return [(list(additions), ~np.isnan(targets))]
    presence = [addition for addition in additions if addition.presence]
    absence = [addition for addition in additions if not addition.presence]
    return [(presence, targets == 1), (absence, targets == 0)]


def _assign_sentences(
    split_of_row: Mapping[int, str],
    pools: Sequence[tuple[list[Addition], BoolArray]],
    share: float,
    random: np.random.Generator,
) -> tuple[dict[int, Addition], int]:
    """The sentence of each text that gets one, by row, and how many texts could have got one."""
    chosen: dict[int, Addition] = {}
    eligible = 0
    for split in dict.fromkeys(split_of_row.values()):
        rows = np.array([row for row in split_of_row if split_of_row[row] == split])
        for additions, may_get_one in pools:
            if not additions:
                continue
            eligible_rows = rows[may_get_one[rows]]
            takers = random.permutation(eligible_rows)
            eligible += len(takers)

            # The order differs by split and polarity, so that no sentence is favoured.
            turns = random.permutation(len(additions))
            augmented_count = round(share * len(takers))
            for number, row in enumerate(takers[:augmented_count].tolist()):
                turn = turns[number % len(additions)]
                chosen[row] = additions[turn]
    return chosen, eligible


def with_swapped(corpus: Corpus, scope: Scope = PRONOUNS, *, control: bool = False) -> Augmented:
    """Add the gender-swapped counterpart of every text in train and dev that names a gender; test stays.

    The result is the union of original and swapped texts (gender bias, section 2.2). A counterpart has the
    annotation and the split of its text, and its id followed by "~swapped". Texts with a word whose swap
    cannot be decided get none. `control` adds the unchanged texts again, to measure the effect of size alone.
    """
    rows = _train_and_dev(corpus)
    texts = corpus.texts
    ids = corpus.ids
    swap_words = swap(scope)
    edits = {row: swap_words(texts[row]) for row in rows}
    # A text that is swapped in part would name both genders.
    undecided: list[str] = []
    swapped: dict[int, str] = {}
    for row, edited in edits.items():
        if edited.undecided:
            undecided.append(ids[row])
        elif edited.spans:
            swapped[row] = edited.text
    if not swapped:
        raise _nothing_to_swap(corpus, len(undecided))

    if control:
        repeated = {row: texts[row] for row in swapped}
        added = counterparts(corpus.table, repeated, AGAIN)
        what = "repeated unchanged"
    else:
        added = counterparts(corpus.table, swapped)
        what = "added with their gender swapped"
    counts = {
        "texts": len(rows),
        "added": len(swapped),
        "texts_after": len(rows) + len(swapped),
        "undecided": len(undecided),
        "named_besides": sum(names_besides(texts[row], scope) for row in swapped),
        "unchanged": len(rows) - len(swapped) - len(undecided),
    }
    note = f"{corpus.name}: {len(swapped)} of {len(rows)} texts of train and dev {what}"
    table = pl.concat([corpus.table, added])
    return Augmented(
        corpus=replace(corpus, table=table, notes=(*corpus.notes, note)),
        counts=counts,
        used={},
        undecided=tuple(undecided),
    )


def _nothing_to_swap(corpus: Corpus, undecided: int) -> BadInput:
    no_text = f"no text of train and dev of corpus '{corpus.name}'"
    if undecided:
        return BadInput(
            f"{no_text} can be swapped: {counted(undecided, 'text')} with an undecidable word, "
            "the others name no gender",
            code="augment.nothing-decided",
            do="psycheck regender lists the undecided texts by id",
        )
    return BadInput(
        f"{no_text} names a gender",
        code="augment.nothing-to-swap",
        allowed="texts with he, she, him, her, his …",
        do="choose another corpus: without gendered words there is nothing to swap",
    )


def reader_of(recipe: Recipe) -> Read | None:
    """How far into a text the trainer of this recipe reads; None if it has no window."""
    if not reads_window(recipe):
        return None
    folder = start_folder(recipe)
    tokenizer = load_tokenizer(folder, PLAIN)
    config = load_config(folder, PLAIN)
    window = window_of(tokenizer, config, recipe.max_length, where=recipe.start)
    return lambda texts: characters_read(tokenizer, texts, window)


def _train_and_dev(corpus: Corpus) -> dict[int, str]:
    """The rows of train and dev with their split; all rows if the corpus has no splits."""
    splits = corpus.strings("split")
    has_splits = any(split is not None for split in splits)
    if not has_splits:
        return dict.fromkeys(range(len(corpus)), "")

    train_and_dev = ("train", dev_name(corpus))
    split_of_row: dict[int, str] = {}
    for row, split in enumerate(splits):
        if split and split in train_and_dev:
            split_of_row[row] = split
    return split_of_row


def _appended(corpus: Corpus, sentences: Mapping[int, str], read: Read | None) -> tuple[list[str], int]:
    """All texts, with their sentence if they have one, and how many were shortened for it."""
    texts = corpus.texts
    shortened = 0
    readers = [] if read is None else [read]
    # By sentence, because texts are shortened by what it takes in tokens.
    for sentence in dict.fromkeys(sentences.values()):
        rows = [row for row, row_sentence in sentences.items() if row_sentence == sentence]
        part = Corpus.of(corpus.name, [texts[row] for row in rows])

        # In training the sentence matters more than the rest of the text.
        part, shortened_here = fit_texts(part, readers, [sentence], least=0)
        shortened += shortened_here
        stripped = map(str.rstrip, part.fitted)
        appended = append_to_all(stripped, sentence)
        for row, text in zip(rows, appended, strict=True):
            texts[row] = text
    return texts, shortened


def _neutral(sentences: Mapping[int, str], random: np.random.Generator) -> dict[int, str]:
    """Neutral sentences for the same texts, with the same lengths overall.

    The lengths are shuffled: with the length of its own sentence a text would reveal its annotation.
    """
    pool = neutral_sentences()
    pool_lengths = np.array([len(sentence.split()) for sentence in pool])
    lengths_to_match = [len(sentence.split()) for sentence in sentences.values()]
    lengths = random.permutation(lengths_to_match)

    times_used: Counter[int] = Counter()
    neutral: dict[int, str] = {}
    for row, length in zip(sentences, lengths.tolist(), strict=True):
        distances = np.abs(pool_lengths - length)
        nearest = np.flatnonzero(distances == distances.min())
        # Sentences of one length take turns.
        turn = times_used[length] % len(nearest)
        neutral[row] = pool[nearest[turn]]
        times_used[length] += 1
    return neutral


@cache
def neutral_sentences() -> tuple[str, ...]:
    """Sentences about everyday things that do not mention mood or health."""
    lines = NEUTRAL.read_text("utf-8").splitlines()
    return tuple(line for line in lines if line)
