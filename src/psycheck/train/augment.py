"""Augmentation of train and dev: appended sentences (DECK 6.3), gender-swapped texts (gender bias 2.2)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from psycheck.corpora.regender import counterparts
from psycheck.corpora.shorten import Read, fit_texts
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted
from psycheck.models.hf_folder import characters_read, load_config, load_tokenizer, window_of
from psycheck.text.edits import append_to_all
from psycheck.text.gender.edits import Scope, names_besides, swap
from psycheck.train.parts import dev_name
from psycheck.train.recipe import PLAIN, Recipe, reads_window, start_folder

Source = Literal["checks", "random"]
PRONOUNS = Scope()
AGAIN = "~again"  # ends the id of a text that the control repeats
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
        raise BadInput(f"augment: share = {share}", allowed="above 0 and up to 1")
    if not additions:
        raise BadInput("augment: no sentence to append", do="select at least one DIR check")
    inside = _train_and_dev(corpus)
    target = corpus.targets([label])[:, 0]
    random = np.random.default_rng(seed)
    pools = [(list(additions), ~np.isnan(target))]
    if agreeing:
        pools = [
            ([one for one in additions if one.presence == bool(mark)], target == mark) for mark in (1, 0)
        ]
    picked: dict[int, Addition] = {}
    eligible = 0
    for split in dict.fromkeys(inside.values()):
        rows = np.array([row for row in inside if inside[row] == split])
        for pool, takers in pools:
            if not pool:
                continue
            mine = random.permutation(rows[takers[rows]])
            eligible += len(mine)
            # The order differs by split and polarity, so that no sentence is favoured.
            turn = random.permutation(len(pool))
            kept = mine[: round(share * len(mine))].tolist()
            picked |= {row: pool[turn[k % len(pool)]] for k, row in enumerate(kept)}
    appended = {row: addition.sentence for row, addition in picked.items()}
    if sentences == "random":
        appended = _neutral(appended, random)
    texts, shortened = _appended(corpus, appended, read)
    presence = sum(addition.presence for addition in picked.values())
    counts = {
        "texts": len(inside),
        "eligible": eligible,
        "augmented": len(appended),
        "presence": presence,
        "absence": len(appended) - presence,
        "shortened": shortened,
    }
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String))
    note = f"{corpus.name}: {len(appended)} of {len(inside)} texts of train and dev have a sentence appended"
    augmented = replace(corpus, table=table, notes=(*corpus.notes, note))
    return Augmented(augmented, counts, Counter(appended.values()))


def with_swapped(corpus: Corpus, scope: Scope = PRONOUNS, *, control: bool = False) -> Augmented:
    """Add the gender-swapped counterpart of every text in train and dev that names a gender; test stays.

    The result is the union of original and swapped texts (gender bias, section 2.2). A counterpart has the
    annotation and the split of its text, and its id followed by "~swapped". Texts with a word whose swap
    cannot be decided get none. `control` adds the unchanged texts again, to measure the effect of size alone.
    """
    inside = _train_and_dev(corpus)
    edit, texts, ids = swap(scope), corpus.texts, corpus.ids
    edited = {row: edit(texts[row]) for row in inside}
    added = {row: one.text for row, one in edited.items() if one.spans and not one.undecided}
    undecided = tuple(ids[row] for row, one in edited.items() if one.undecided)
    if not added:
        none = f"no text of train and dev of corpus '{corpus.name}'"
        if undecided:
            words = f"{counted(len(undecided), 'text')} with an undecidable word, the others name no gender"
            do = "psycheck regender lists the undecided texts by id"
            raise BadInput(f"{none} can be swapped: {words}", do=do)
        raise BadInput(
            f"{none} names a gender",
            allowed="texts with he, she, him, her, his …",
            do="choose another corpus: without gendered words there is nothing to swap",
        )
    more = counterparts(corpus.table, added)
    if control:
        more = counterparts(corpus.table, {row: texts[row] for row in added}, AGAIN)
    counts = {
        "texts": len(inside),
        "added": len(added),
        "texts_after": len(inside) + len(added),
        "undecided": len(undecided),
        "named_besides": sum(names_besides(texts[row], scope) for row in added),
    }
    counts["unchanged"] = counts["texts"] - counts["added"] - counts["undecided"]
    what = "repeated unchanged" if control else "added with their gender swapped"
    note = f"{corpus.name}: {len(added)} of {len(inside)} texts of train and dev {what}"
    augmented = replace(corpus, table=pl.concat([corpus.table, more]), notes=(*corpus.notes, note))
    return Augmented(augmented, counts, {}, undecided)


def reader_of(recipe: Recipe) -> Read | None:
    """How far into a text the trainer of this recipe reads; None if it has no window."""
    if not reads_window(recipe):
        return None
    folder = start_folder(recipe)
    tokenizer = load_tokenizer(folder, PLAIN)
    window = window_of(tokenizer, load_config(folder, PLAIN), recipe.max_length, where=recipe.start)
    return lambda texts: characters_read(tokenizer, texts, window)


def _train_and_dev(corpus: Corpus) -> dict[int, str]:
    """The rows of train and dev with their split; all rows if the corpus has no splits."""
    splits = corpus.strings("split")
    if not any(split is not None for split in splits):
        return dict.fromkeys(range(len(corpus)), "")
    seen = ("train", dev_name(corpus))
    return {row: split for row, split in enumerate(splits) if split is not None and split in seen}


def _appended(corpus: Corpus, sentences: Mapping[int, str], read: Read | None) -> tuple[list[str], int]:
    """All texts, with their sentence if they have one, and how many were shortened for it."""
    texts, shortened = corpus.texts, 0
    for sentence in dict.fromkeys(sentences.values()):
        rows = [row for row, one in sentences.items() if one == sentence]
        part = Corpus.of(corpus.name, [texts[row] for row in rows])
        # In training the sentence matters more than the rest of the text.
        part, cut = fit_texts(part, [] if read is None else [read], [sentence], least=0)
        shortened += cut
        for row, text in zip(rows, append_to_all(map(str.rstrip, part.fitted), sentence), strict=True):
            texts[row] = text
    return texts, shortened


def _neutral(sentences: Mapping[int, str], random: np.random.Generator) -> dict[int, str]:
    """Neutral sentences for the same texts, with the same lengths overall.

    The lengths are shuffled: with the length of its own sentence a text would reveal its annotation.
    """
    pool = neutral_sentences()
    sizes = np.array([len(one.split()) for one in pool])
    lengths = random.permutation([len(sentence.split()) for sentence in sentences.values()])
    turns: Counter[int] = Counter()
    out: dict[int, str] = {}
    for row, length in zip(sentences, lengths.tolist(), strict=True):
        near = np.flatnonzero(np.abs(sizes - length) == np.abs(sizes - length).min())
        out[row] = pool[near[turns[length] % len(near)]]
        turns[length] += 1
    return out


@cache
def neutral_sentences() -> tuple[str, ...]:
    """Sentences about everyday things that do not mention mood or health."""
    return tuple(line for line in NEUTRAL.read_text("utf-8").splitlines() if line)
