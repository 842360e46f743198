"""Convolutions of several widths over the posts of a history (PsySym, section 4.3; Nguyen et al. 2022)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from psycheck.models.posts import Features

WIDTHS, FILTERS, DROPOUT = (2, 3, 4, 5, 6), 50, 0.2  # as PsySym published its code
LARGEST = 5  # values of each filter that are averaged


class PostConvolutions(nn.Module):
    """Post features (n, t, d) and which posts there are (n, t) → one logit per history, (n,).

    A window starts at every post and may reach beyond the last one, where features are 0: a history that is
    shorter than a window has one, too. Of each filter the five largest values over the windows of real posts
    are averaged, or all where there are fewer; an empty history has 0 throughout.
    """

    def __init__(self, width: int, widths: Sequence[int] = WIDTHS, filters: int = FILTERS) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.convolutions = nn.ModuleList(nn.Conv1d(width, filters, size) for size in widths)
        self.dropout = nn.Dropout(DROPOUT)
        self.out = nn.Linear(filters * len(widths), 1)

    def forward(self, posts: Tensor, there: Tensor) -> Tensor:
        """The logits, (n,)."""
        rows = (posts * there[:, :, None]).transpose(1, 2)
        pooled = []
        for width, convolution in zip(self.widths, self.convolutions, strict=True):
            reached = functional.pad(rows, (0, width - 1))
            found = functional.relu(convolution(reached)) * there[:, None, :]
            # Never below 0, which is the value of what is masked.
            largest = found.topk(min(LARGEST, found.shape[2]), dim=2).values.sum(dim=2)
            pooled.append(largest / there.sum(dim=1, keepdim=True).clamp(1, LARGEST))
        logits: Tensor = self.out(self.dropout(torch.cat(pooled, dim=1)))[:, 0]
        return logits


def padded(histories: Sequence[Features]) -> tuple[Tensor, Tensor]:
    """Features of histories, each (posts, d), as (n, t, d) and (n, t); t is at least 1."""
    longest = max(1, *(len(one) for one in histories))
    posts = np.zeros((len(histories), longest, histories[0].shape[1]), np.float32)
    there = np.zeros((len(histories), longest), np.float32)
    for row, one in enumerate(histories):
        posts[row, : len(one)], there[row, : len(one)] = one, 1
    return torch.from_numpy(posts), torch.from_numpy(there)


def probabilities(networks: Sequence[PostConvolutions], histories: Sequence[Features]) -> np.ndarray:
    """The scores of histories by one network per label, (n, k)."""
    posts, there = padded(histories)
    with torch.inference_mode():
        columns = [torch.sigmoid(network.eval()(posts, there)) for network in networks]
    return torch.stack(columns, dim=1).double().numpy()
