"""Convolutions of several widths over the posts of a history (PsySym, section 4.3; Nguyen et al. 2022)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from psycheck.symptoms.post_weights import Features

# As PsySym published its code.
WIDTHS = (2, 3, 4, 5, 6)
FILTERS = 50
DROPOUT = 0.2
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
        # Each width finds courses of as many posts.
        self.convolutions = nn.ModuleList(nn.Conv1d(width, filters, size) for size in widths)
        self.dropout = nn.Dropout(DROPOUT)
        self.out = nn.Linear(filters * len(widths), 1)

    def forward(self, posts: Tensor, is_post: Tensor) -> Tensor:
        """The logits, (n,)."""
        # Convolutions read (n, d, t); padding rows of the batch are 0.
        features = (posts * is_post[:, :, None]).transpose(1, 2)
        # A mean over as many values as there are; an empty history must not divide by 0.
        counts = is_post.sum(dim=1, keepdim=True).clamp(1, LARGEST)

        pooled = []
        for width, convolution in zip(self.widths, self.convolutions, strict=True):
            reaching_beyond_end = functional.pad(features, (0, width - 1))
            values = functional.relu(convolution(reaching_beyond_end))

            # Values are never below 0, which is the value of what is masked.
            masked = values * is_post[:, None, :]
            window_count = masked.shape[2]
            largest = masked.topk(min(LARGEST, window_count), dim=2).values
            pooled.append(largest.sum(dim=2) / counts)

        hidden = self.dropout(torch.cat(pooled, dim=1))
        logits: Tensor = self.out(hidden)[:, 0]
        return logits


def padded(histories: Sequence[Features]) -> tuple[Tensor, Tensor]:
    """Features of histories, each (posts, d), as (n, t, d), and which posts exist, (n, t); t ≥ 1."""
    # A batch without any post still needs one column.
    post_counts = [len(features) for features in histories]
    longest = max(1, *post_counts)
    width = histories[0].shape[1]
    posts = np.zeros((len(histories), longest, width), np.float32)
    is_post = np.zeros((len(histories), longest), np.float32)
    for row, (features, post_count) in enumerate(zip(histories, post_counts, strict=True)):
        posts[row, :post_count] = features
        is_post[row, :post_count] = 1
    return torch.from_numpy(posts), torch.from_numpy(is_post)


def probabilities(networks: Sequence[PostConvolutions], histories: Sequence[Features]) -> np.ndarray:
    """The scores of histories by one network per label, (n, k)."""
    posts, is_post = padded(histories)
    with torch.inference_mode():
        # `eval` switches dropout off: the same history has the same score.
        logits = [network.eval()(posts, is_post) for network in networks]
        columns = [torch.sigmoid(column) for column in logits]
        scores = torch.stack(columns, dim=1)
    return scores.double().numpy()
