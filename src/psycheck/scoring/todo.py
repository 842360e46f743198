"""What an engine is still to score: the items that the store does not hold."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from psycheck.core.item import Item
from psycheck.scoring.lookup import Keys
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.score_table import Rows


class Todo(NamedTuple):
    """Items to score, their hashes, (n, 2), and stored items met just now."""

    items: list[Item]
    hashes: Keys
    met: Sequence[Item] = ()

    def take(self, rows: Rows) -> "Todo":
        """The items at these rows, in this order."""
        items = list(map(self.items.__getitem__, rows.tolist()))
        hashes = self.hashes.take(rows, axis=0)
        return Todo(items, hashes)


def unknown(view: RememberedScores, items: list[Item]) -> Todo:
    """What the store does not hold; what it holds is found by Python's hash from now on."""
    view.refresh()
    hashes = view.digests(items)
    rows = view.find(hashes)
    view.news = False

    all_items = Todo(items, hashes)
    is_stored = rows >= 0
    if not is_stored.any():
        return all_items

    stored_places = np.flatnonzero(is_stored).tolist()
    stored_items = [items[place] for place in stored_places]
    newly_met = view.meet(stored_items, rows[is_stored])

    lacking_rows = np.flatnonzero(~is_stored)
    lacking = all_items.take(lacking_rows)
    return lacking._replace(met=newly_met)
