"""More to learn from in train and dev: sentences appended (DECK 6.3), texts swapped (gender bias 2.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
import polars as pl

from psycheck.corpora.regender import counterparts
from psycheck.corpora.shorten import Read, fit_texts
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.measures.classification import BoolArray
from psycheck.model import FloatArray, IntArray
from psycheck.text.edits import append_to_all
from psycheck.text.gender.edits import Scope, names_besides, swap
from psycheck.train.parts import DEV_NAMES
from psycheck.train.recipe import FROZEN, TFIDF, Recipe

Source = Literal["checks", "random"]
PRONOUNS = Scope()
AGAIN = "~again"  # ends the id of a text that the control repeats
NEUTRAL = Path(__file__).with_name("neutral.txt")


@dataclass(frozen=True, slots=True)
class Addition:
    """A sentence to append, the check it comes from, and whether it says that a symptom is there."""

    check: str
    sentence: str
    presence: bool


@dataclass(frozen=True, slots=True)
class Augmented:
    """The corpus and what was done to it.

    For sentences, `counts` has the texts of train and dev (`texts`), those that could be augmented
    (`eligible`), those that were (`augmented`, of which `presence` and `absence`), and those shortened before
    the sentence (`shortened`); `used` says how often each sentence was appended. For swapped counterparts it
    has the texts of train and dev before (`texts`) and after (`texts_after`), those `added`, and those that
    got none: `unchanged` ones name no gender, of `undecided` ones a word's swap cannot be decided. Of those
    added, `named_besides` name a gender by a noun or title, too, which the scope leaves. `undecided` has the
    ids of the undecided.
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

    Presence goes to texts annotated 1 and absence to texts annotated 0; texts that are not annotated or
    annotated in between are left alone. With `agreeing` off any sentence goes to any annotated text. `share`
    of the eligible texts, drawn by `seed`, is augmented; sentences take turns. `sentences` "random" appends
    neutral sentences of the same lengths to the same texts instead: a control for length and place, which
    tells what is due to the words. `read` says how far a trainer with a window reads: the text is shortened
    before its sentence so that the window keeps the sentence whole.
    """
    if not 0 < share <= 1:
        raise BadInput(f"augment: share = {share}", allowed="above 0 and up to 1")
    if not additions:
        raise BadInput("augment: no sentence to append", do="choose at least one DIR check")
    inside = _train_and_dev(corpus)
    target = corpus.targets([label])[:, 0]
    random = np.random.default_rng(seed)
    chosen: dict[int, Addition] = {}
    eligible = 0
    for split in dict.fromkeys(inside[row] for row in sorted(inside)):
        rows = np.array([row for row in sorted(inside) if inside[row] == split])
        for fit, takers in _takers(additions, target[rows], agreeing):
            mine = random.permutation(rows[takers])
            eligible += len(mine)
            # Each split and polarity begins the round at a place of its own, so that no sentence leads.
            turn = random.permutation(len(fit))
            kept = mine[: round(share * len(mine))].tolist()
            chosen |= {row: fit[turn[k % len(fit)]] for k, row in enumerate(kept)}
    said = {row: addition.sentence for row, addition in chosen.items()}
    if sentences == "random":
        said = _neutral(said, random)
    texts, shortened = _appended(corpus, said, read)
    presence = sum(addition.presence for addition in chosen.values())
    counts = {
        "texts": len(inside),
        "eligible": eligible,
        "augmented": len(said),
        "presence": presence,
        "absence": len(said) - presence,
        "shortened": shortened,
    }
    used: dict[str, int] = {}
    for sentence in said.values():
        used[sentence] = used.get(sentence, 0) + 1
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String))
    note = f"{corpus.name}: {len(said)} of {len(inside)} texts of train and dev have a sentence appended"
    return Augmented(
        replace(corpus, table=table, notes=(*corpus.notes, note)),
        MappingProxyType(counts),
        MappingProxyType(used),
    )


def with_swapped(corpus: Corpus, scope: Scope = PRONOUNS, *, control: bool = False) -> Augmented:
    """Train and dev with the gender-swapped counterpart of every text that names a gender; test stays.

    Unlike appended sentences this adds texts: the union of the original and the swapped (gender bias, section
    2.2). A counterpart has its text's annotation and split, and the id of its text with "~swapped" after it.
    Texts with a word whose swap cannot be decided get none. `control` adds the same texts again as they are:
    what the larger number of texts alone does.
    """
    inside = _train_and_dev(corpus)
    edit, texts = swap(scope), corpus.texts
    edited = {row: edit(texts[row]) for row in sorted(inside)}
    added = {row: one.text for row, one in edited.items() if one.spans and not one.undecided}
    ids = corpus.ids
    undecided = tuple(ids[row] for row, one in edited.items() if one.undecided)
    if not added and undecided:
        raise BadInput(
            f"no text of train and dev of corpus '{corpus.name}' can be swapped: of {len(undecided)} a word "
            "cannot be decided, the others name no gender",
            do="psycheck regender lists the undecided by id",
        )
    if not added:
        raise BadInput(
            f"no text of train and dev of corpus '{corpus.name}' names a gender",
            allowed="texts with he, she, him, her, his …",
            do="without gendered words there is nothing to swap and nothing to gain",
        )
    again = {row: texts[row] for row in added}
    more = counterparts(corpus.table, again, AGAIN) if control else counterparts(corpus.table, added)
    counts = {
        "texts": len(inside),
        "added": len(added),
        "texts_after": len(inside) + len(added),
        "undecided": len(undecided),
        "named_besides": sum(names_besides(texts[row], scope) for row in added),
    }
    counts["unchanged"] = counts["texts"] - counts["added"] - counts["undecided"]
    what = "repeated as they are" if control else "added with their gender swapped"
    note = f"{corpus.name}: {len(added)} of {len(inside)} texts of train and dev {what}"
    return Augmented(
        replace(corpus, table=pl.concat([corpus.table, more]), notes=(*corpus.notes, note)),
        MappingProxyType(counts),
        MappingProxyType({}),
        undecided,
    )


def reader_of(recipe: Recipe) -> Read | None:
    """How far into a text the trainer of this recipe reads; None where it has no window."""
    if recipe.start == TFIDF:
        return None
    from psycheck.models.hf_folder import load_config, load_tokenizer, window_of
    from psycheck.models.window import characters_read
    from psycheck.train.frozen import encoder_of
    from psycheck.train.start import PLAIN, start_folder

    folder = start_folder(encoder_of(recipe) if recipe.start.startswith(FROZEN) else recipe.start)
    tokenizer = load_tokenizer(folder, PLAIN)
    window = window_of(tokenizer, load_config(folder, PLAIN), recipe.max_length, where=recipe.start)

    def read(texts: Sequence[str]) -> IntArray:
        return characters_read(tokenizer, texts, window)

    return read


def _train_and_dev(corpus: Corpus) -> dict[int, str]:
    """The rows that training may see, with their split; all of them where the corpus has no splits."""
    if "split" not in corpus.table.columns or not corpus.table["split"].drop_nulls().len():
        return dict.fromkeys(range(len(corpus)), "")
    dev = next((name for name in DEV_NAMES if (corpus.table["split"] == name).any()), None)
    seen = {"train", dev} - {None}
    return {row: split for row, split in enumerate(corpus.table["split"]) if split in seen}


def _takers(
    additions: Sequence[Addition], target: FloatArray, agreeing: bool
) -> list[tuple[list[Addition], BoolArray]]:
    """Which sentences may go to which texts, (n,)."""
    if not agreeing:
        return [(list(additions), ~np.isnan(target))]
    presence = [addition for addition in additions if addition.presence]
    absence = [addition for addition in additions if not addition.presence]
    return [(fit, target == mark) for fit, mark in ((presence, 1.0), (absence, 0.0)) if fit]


def _appended(corpus: Corpus, said: Mapping[int, str], read: Read | None) -> tuple[list[str], int]:
    """All texts, those chosen with their sentence, and how many were shortened for it."""
    texts, shortened = corpus.texts, 0
    for sentence in dict.fromkeys(said.values()):
        rows = [row for row, one in said.items() if one == sentence]
        part = Corpus.of(corpus.name, [texts[row] for row in rows])
        # For training the sentence comes first, however little of the text is left.
        part, cut = fit_texts(part, [] if read is None else [read], [sentence], least=0)
        shortened += cut
        for row, text in zip(rows, append_to_all(part.fitted, sentence), strict=True):
            texts[row] = text
    return texts, shortened


def _neutral(said: Mapping[int, str], random: np.random.Generator) -> dict[int, str]:
    """Neutral sentences for the same texts: the same lengths over all, dealt out whatever the annotation.

    Were each text given the length of its own sentence, the length could give the annotation away.
    """
    pool = neutral_sentences()
    sizes = np.array([len(one.split()) for one in pool])
    lengths = random.permutation([len(sentence.split()) for sentence in said.values()])
    turns: dict[int, int] = {}
    out: dict[int, str] = {}
    for row, length in zip(said, lengths.tolist(), strict=True):
        near = np.flatnonzero(np.abs(sizes - length) == np.abs(sizes - length).min())
        turn = turns.get(length, 0)
        turns[length] = turn + 1
        out[row] = pool[near[turn % len(near)]]
    return out


@cache
def neutral_sentences() -> tuple[str, ...]:
    """Plain sentences about everyday things that say nothing of mood or health."""
    return tuple(line for line in NEUTRAL.read_text("utf-8").splitlines() if line)
