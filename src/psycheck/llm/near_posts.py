"""Which posts are near-duplicates, such as an edited post and its original."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import HashingVectorizer

from psycheck.text.words import shingles

# Two posts are near-duplicates if they share half of the words and word pairs of the shorter one: on four
# corpora this misses no original of a DECK edit and 1 in 1,000 of those with typos (docs/reference/llm.md).
# It bars up to 0.3 % of unrelated posts: an example is lost, while an original would give its label away.
SHARED: Final = 0.5
_SHINGLE_COLUMNS: Final = 2**22  # so many that two shingles of a pool rarely share one


def hashed_shingles(posts: Sequence[str]) -> Any:
    """Which words and word pairs each post has, (n, 2²²) of 0 and 1."""
    hashing = HashingVectorizer(
        n_features=_SHINGLE_COLUMNS,
        analyzer=shingles,
        binary=True,
        norm=None,
        alternate_sign=False,
        dtype=np.float32,
    )
    return csr_array(hashing.transform(posts))


def shared_shingles(posts: Any, known: Any) -> Any:
    """The share of the shorter one's shingles that near-duplicates have in common, (m, n) and sparse.

    Both are hashed shingles; pairs that are not near-duplicates have no entry.
    """
    # Sparse throughout: most pairs of posts share no shingle.
    common = (posts @ known.T).tocoo()
    sizes_of_posts = np.diff(posts.indptr)[common.row]
    sizes_of_known = np.diff(known.indptr)[common.col]
    shorter = np.minimum(sizes_of_posts, sizes_of_known)
    is_near = common.data >= SHARED * shorter

    shares = common.data[is_near] / shorter[is_near]
    places = (common.row[is_near], common.col[is_near])
    return csr_array((shares, places), common.shape)
