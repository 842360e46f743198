"""The words of a bias measurement: which lists, which random words to compare with, and which are missing."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from pathlib import Path

import numpy as np

from psycheck.audits.direct_bias.embedded import Embedded, known_pairs
from psycheck.audits.direct_bias.findings import FEWEST_RANDOM, Biasing
from psycheck.audits.direct_bias.word_lists import (
    SHIPPED,
    Asked,
    AskedList,
    Drawn,
    WordList,
    common_words,
    gender,
    read_words,
    word_list,
)
from psycheck.core.errors import BadInput
from psycheck.core.model import Encoder
from psycheck.models.vectors.static import WordVectors, matched_words
from psycheck.text.gender.names import PAIRS

MATCHED = "of words of like frequency (rank in the file)"
COMMON = "of common English words, whatever the frequency of the targets"


def select_lists(
    names: Sequence[str] | None, files: Sequence[str | Path], sentence: str | None
) -> tuple[WordList, ...]:
    """The shipped lists of these names (None: all, unless there are files), then those in files."""
    if sentence is not None and not files:
        raise BadInput(
            "a sentence needs a word list of your own",
            code="bias.sentence-without-words",
            allowed="`sentence` with `words=FILE`; the shipped lists have the paper's sentence",
        )
    if names is None:
        names = () if files else SHIPPED

    selected = [word_list(name) for name in dict.fromkeys(names)]
    selected += [read_words(file, sentence=sentence) for file in files]
    _refuse_equal_names(selected)
    if not selected:
        raise BadInput(
            "no word list is named",
            code="bias.no-word-list",
            allowed=f"`lists={' or '.join(SHIPPED)}`, or `words=FILE`",
        )
    return tuple(selected)


def _refuse_equal_names(word_lists: Sequence[WordList]) -> None:
    seen: set[str] = set()
    for selected in word_lists:
        if selected.name in seen:
            raise BadInput(
                f"two word lists are called '{selected.name}'",
                code="bias.equal-list-names",
                do="rename one of the files",
            )
        seen.add(selected.name)


def draw_random_words(
    encoder: Encoder, selected: WordList, word_lists: Sequence[WordList], how: Biasing
) -> Drawn:
    """The pool of random lists: words as frequent as the targets where this is known, else common words."""
    avoided = _not_random(word_lists)
    if isinstance(encoder, WordVectors) and encoder.by_frequency:
        # A target of several words has no frequency of its own: each part is matched by itself.
        spelled = encoder.spelled([target.word for target in selected.targets])
        entries = [(part,) for parts in spelled for part in parts]
        matched = matched_words(encoder, entries, how.pool, avoided, seed=how.seed)

        # One target without a match would make the random words more frequent or rarer than the targets.
        if matched and all(matched):
            words = (word for row in matched for word in row)
            return Drawn(_shuffled(words, how.seed), f"topics {MATCHED}")

    words = (word for word in common_words() if word not in avoided)
    return Drawn(_shuffled(words, how.seed), f"topics {COMMON}")


def _not_random(word_lists: Sequence[WordList]) -> frozenset[str]:
    """Words that a random list must not have: targets and their parts, gendered words, and names."""
    target_words = {target.word.casefold() for listed in word_lists for target in listed.targets}
    target_parts = {part for word in target_words for part in word.replace("-", " ").split()}
    # The neighbours of a name are names of one gender.
    names = {name.casefold() for pair in PAIRS for name in pair}
    return frozenset(target_words | target_parts | names | gender().gendered)


def _shuffled(words: Iterable[str], seed: int) -> tuple[str, ...]:
    """Each word once, in random order."""
    # The order of a set differs from process to process; the same seed must draw the same words.
    distinct = list(dict.fromkeys(words))
    order = np.random.default_rng(seed).permutation(len(distinct))
    return tuple(distinct[i] for i in order)


def bias_notes(encoder: Encoder, request: Asked, vectors: Embedded) -> Iterator[str]:
    """Which words were missing, repeated or composed, and how random words were drawn."""
    static_vectors = encoder if isinstance(encoder, WordVectors) else None
    yield from _pair_notes(request, vectors)
    for name, asked in request.lists.items():
        for what, words in _word_notes(asked, vectors, static_vectors):
            if words:
                yield f"{name}: {len(words)} {what}: {', '.join(words)}"

        known_random_words = int(vectors.known(asked.random).sum())
        if known_random_words < FEWEST_RANDOM:
            yield (
                f"{name}: the encoder knows only {known_random_words} random words, and p needs at least "
                f"{FEWEST_RANDOM}: it is not tested"
            )

    has_vocabulary = static_vectors is not None and static_vectors.vocabulary is not None
    if static_vectors is not None and has_vocabulary and not static_vectors.by_frequency:
        yield "the file is not sorted by frequency: random lists are drawn from common English words"


def _pair_notes(request: Asked, vectors: Embedded) -> Iterator[str]:
    """Which gender pairs were left out, or do not add to the gender direction."""
    used = known_pairs(request, vectors)
    left_out = [pair for pair in request.pairs if pair not in used]
    unknown = [pair for pair in left_out if np.isnan(vectors.of(pair)).any()]
    zero = [pair for pair in left_out if pair not in unknown]
    equal = [pair for pair in used if not np.ptp(vectors.of(pair), axis=0).any()]

    pairs_by_reason = {
        "left out because a word is unknown": unknown,
        "left out because a word has a zero vector": zero,
        "whose words have the same vector and add nothing": equal,
    }
    for why, pairs in pairs_by_reason.items():
        if pairs:
            listed = ", ".join(f"{first.word} and {second.word}" for first, second in pairs)
            yield f"gender pairs {why}: {listed}"


def _word_notes(
    asked: AskedList, vectors: Embedded, static_vectors: WordVectors | None
) -> Iterator[tuple[str, list[str]]]:
    """What is to be said about words of a list, and the words that it is true of."""
    repeated = [
        f"{counted_target.word} ({counted_target.symptom or 'none'}, not {left_out.symptom or 'none'})"
        for counted_target, left_out in asked.listed.again
    ]
    yield "words are listed for two symptoms and count for the first", repeated

    words = [spoken.word for spoken in asked.own]
    rows = vectors.of(asked.own)
    unknown = [bool(np.isnan(row).any()) for row in rows]
    yield "unknown words are left out", list(compress(words, unknown))

    zero = [not row.any() for row in rows]
    yield "words with a zero vector, which has no direction, are left out", list(compress(words, zero))

    if static_vectors is not None:
        composed = [len(entries) > 1 for entries in static_vectors.spelled(words)]
        yield "words get the mean vector of their parts", list(compress(words, composed))
