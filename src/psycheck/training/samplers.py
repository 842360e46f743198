"""The order of training texts where it is more than a shuffle."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Sampler


class Balanced(Sampler[int]):
    """Control texts and others by turns, so that each makes up half of every batch (PsySym, section 4.1).

    An epoch has every other text once and as many controls: those that it has no room for come in another
    epoch, and where they are fewer, they come more than once. Seed and epoch alone decide the order.
    """

    def __init__(self, control: NDArray[np.bool_], seed: int) -> None:
        self.control_rows = np.flatnonzero(control)
        self.other_rows = np.flatnonzero(~control)
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        # Each text that is no control comes with one control.
        return 2 * len(self.other_rows)

    def __iter__(self) -> Iterator[int]:
        # A generator of its own: a training that is resumed in this epoch draws the same order.
        random = np.random.default_rng([self.seed, self.epoch])

        # Rounded up: how often all controls are needed to match the other texts.
        other_count = len(self.other_rows)
        rounds = -(-other_count // len(self.control_rows))
        shuffled_rounds = [random.permutation(self.control_rows) for _ in range(rounds)]
        controls = np.concatenate(shuffled_rounds)[:other_count]

        shuffled_others = random.permutation(self.other_rows)
        pairs = np.column_stack([shuffled_others, controls])
        return iter(pairs.ravel().tolist())
