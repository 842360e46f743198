"""Random words of similar frequency, from vectors whose rows are sorted by frequency."""

from collections.abc import Sequence

import numpy as np

from psycheck.models.vectors.static import WordVectors

NEAR, WIDER = 1.25, 1.6
AROUND = 250  # minimum ranks on each side: the window grows with rank, so common words have few neighbours
SHORTEST = 3


def matched_words(
    encoder: WordVectors,
    entries: Sequence[tuple[str, ...]],
    count: int,
    avoid: frozenset[str],
    *,
    seed: int = 0,
) -> list[tuple[str, ...]]:
    """For each word or phrase (a tuple of entries), `count` random ones of as many words of similar rank.

    Only plain words in lower case are drawn, none of `avoid`. If too few are within a quarter of the rank,
    the window grows. A word that is not in the file counts as its rarest.
    """
    random = np.random.default_rng(seed)
    forms = list(dict.fromkeys(form for some in entries for form in some))
    ranks = dict(zip(forms, encoder.ranks(forms), strict=True))
    plain: dict[int, bool] = {}
    made = []
    for some in entries:
        parts = [_near(encoder, ranks[form], count, avoid, random, plain) for form in some]
        made.append(tuple(" ".join(words) for words in zip(*parts, strict=True)))
    return made


def _near(
    encoder: WordVectors,
    rank: int,
    count: int,
    avoid: frozenset[str],
    random: np.random.Generator,
    plain: dict[int, bool],
) -> list[str]:
    """Draw ranks in a window until enough of them are plain words; widen the window if it is exhausted."""
    vocabulary = encoder.vocabulary
    if vocabulary is None:
        return []
    total = len(vocabulary)
    rank = rank if rank >= 0 else total - 1
    factor = NEAR
    while True:
        low = max(0, int(rank / factor) - AROUND)
        high = min(total, int(rank * factor) + AROUND + 1)
        found: list[str] = []
        for row in random.permutation(high - low)[: 40 * count]:
            word = vocabulary.word(low + int(row))
            if plain.setdefault(low + int(row), _is_plain(word)) and word not in avoid:
                found.append(word)
                if len(found) == count:
                    return found
        if low == 0 and high == total:
            # A small file: repeat words rather than return none.
            return [found[k % len(found)] for k in range(count)] if found else []
        factor *= WIDER


def _is_plain(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and word.islower()
