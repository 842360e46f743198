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
        self.control, self.others = np.flatnonzero(control), np.flatnonzero(~control)
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return 2 * len(self.others)

    def __iter__(self) -> Iterator[int]:
        drawn = np.random.default_rng([self.seed, self.epoch])
        rounds = -(-len(self.others) // len(self.control))
        controls = np.concatenate([drawn.permutation(self.control) for _ in range(rounds)])
        pairs = np.column_stack([drawn.permutation(self.others), controls[: len(self.others)]])
        return iter(pairs.ravel().tolist())
