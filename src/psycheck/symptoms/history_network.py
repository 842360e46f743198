"""Networks over the posts of a history: convolutions of several widths, or a transformer.

The convolutions are those of PsySym (section 4.3; Nguyen et al. 2022).
"""

from collections.abc import Iterator, Sequence

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


class Pooling(nn.Module):
    """Values over the posts (n, f, t) and which posts there are (n, t) → one vector per history, (n, f).

    "largest" is the mean of the five largest values of each filter, or of all where there are fewer; "max"
    the largest, "mean" the mean of all, "attention" the mean by weights that are learned. An empty history
    has 0 throughout. Values must not be below 0 for "largest" and "max": 0 is the value of what is masked.
    """

    def __init__(
        self,
        pool: str,
        filters: int,
    ) -> None:
        super().__init__()
        self.most = {"largest": LARGEST, "max": 1}.get(pool)
        # Only attention has weights: networks without it keep those that they had.
        self.attention = (
            nn.Conv1d(
                filters,
                1,
                1,
            )
            if pool == "attention"
            else None
        )

    def forward(
        self,
        values: Tensor,
        is_post: Tensor,
    ) -> Tensor:
        """The pooled values, (n, f)."""
        if self.attention is not None:
            weights = self.weights(values, is_post)
            return (values * weights[:, None, :]).sum(dim=2)

        masked = values * is_post[:, None, :]
        post_counts = is_post.sum(dim=1, keepdim=True)
        if self.most is None:
            return masked.sum(dim=2) / post_counts.clamp(min=1)

        # A mean over as many values as there are; an empty history must not divide by 0.
        window_count = masked.shape[2]
        largest = masked.topk(min(self.most, window_count), dim=2).values
        return largest.sum(dim=2) / post_counts.clamp(1, self.most)

    def weights(
        self,
        values: Tensor,
        is_post: Tensor,
    ) -> Tensor:
        """What attention gives each value, (n, t): 1 in all for a history, 0 for an empty one."""
        if self.attention is None:
            raise TypeError("this pooling has no attention")
        scores = self.attention(values)[:, 0, :]
        # A history without posts would divide 0 by 0: its weights are all 0 in the end.
        scores = scores.masked_fill(is_post == 0, torch.finfo(scores.dtype).min)
        weights: Tensor = torch.softmax(scores, dim=1) * is_post
        return weights


class PostConvolutions(nn.Module):
    """Post features (n, t, d) and which posts there are (n, t) → one logit per history, (n,).

    A window starts at every post and may reach beyond the last one, where features are 0: a history that is
    shorter than a window has one, too.
    """

    def __init__(
        self,
        width: int,
        widths: Sequence[int] = WIDTHS,
        filters: int = FILTERS,
        pool: str = "largest",
    ) -> None:
        super().__init__()
        self.widths = tuple(widths)
        # Each width finds courses of as many posts.
        self.convolutions = nn.ModuleList(
            nn.Conv1d(
                width,
                filters,
                size,
            )
            for size in widths
        )
        self.dropout = nn.Dropout(DROPOUT)
        self.out = nn.Linear(filters * len(widths), 1)
        # After all others: the weights of a network without attention are drawn as they always were.
        self.pooling = nn.ModuleList(Pooling(pool, filters) for _ in widths)

    def forward(
        self,
        posts: Tensor,
        is_post: Tensor,
    ) -> Tensor:
        """The logits, (n,)."""
        pooled = []
        for pooling, values in zip(
            self.pooling,
            self._values(posts, is_post),
            strict=True,
        ):
            pooled.append(pooling(values, is_post))

        hidden = self.dropout(torch.cat(pooled, dim=1))
        logits: Tensor = self.out(hidden)[:, 0]
        return logits

    def attention(
        self,
        posts: Tensor,
        is_post: Tensor,
    ) -> Tensor:
        """What attention gives each post, (n, t); a window shares its weight among the posts in it."""
        of_widths = []
        for width, pooling, values in zip(
            self.widths,
            self.pooling,
            self._values(posts, is_post),
            strict=True,
        ):
            weights = pooling.weights(values, is_post)  # type: ignore[operator]  # a Pooling
            of_widths.append(_shared(weights, is_post, width))
        return torch.stack(of_widths).mean(dim=0)

    def _values(
        self,
        posts: Tensor,
        is_post: Tensor,
    ) -> Iterator[Tensor]:
        """What the filters of each width read in the window that starts at each post, (n, f, t)."""
        # Convolutions read (n, d, t); padding rows of the batch are 0.
        features = (posts * is_post[:, :, None]).transpose(1, 2)
        for width, convolution in zip(
            self.widths,
            self.convolutions,
            strict=True,
        ):
            reaching_beyond_end = functional.pad(features, (0, width - 1))
            yield functional.relu(convolution(reaching_beyond_end))


class PostTransformer(nn.Module):
    """The same by a transformer over the posts: post vectors first, then what they say about each other.

    Places are told by sines and cosines, so that a history may be of any length.
    """

    def __init__(
        self,
        width: int,
        size: int = FILTERS,
        layers: int = 1,
        pool: str = "largest",
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(width, size)
        # Even sizes take two heads; one head fits any.
        heads = 2 if size % 2 == 0 else 1
        layer = nn.TransformerEncoderLayer(
            size,
            heads,
            2 * size,
            DROPOUT,
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(
            layer,
            layers,
            enable_nested_tensor=False,
        )
        self.pooling = Pooling(pool, size)
        self.dropout = nn.Dropout(DROPOUT)
        self.out = nn.Linear(size, 1)

    def forward(
        self,
        posts: Tensor,
        is_post: Tensor,
    ) -> Tensor:
        """The logits, (n,)."""
        values = self._values(posts, is_post)
        hidden = self.dropout(self.pooling(values, is_post))
        logits: Tensor = self.out(hidden)[:, 0]
        return logits

    def attention(
        self,
        posts: Tensor,
        is_post: Tensor,
    ) -> Tensor:
        """What attention gives each post, (n, t)."""
        return self.pooling.weights(self._values(posts, is_post), is_post)

    def _values(
        self,
        posts: Tensor,
        is_post: Tensor,
    ) -> Tensor:
        """What the transformer makes of each post, (n, f, t)."""
        embedded = self.embed(posts)
        embedded = embedded + _places(embedded.shape[1], embedded.shape[2])
        # A row without any post would attend to nothing: it attends to padding, which is pooled away.
        is_empty = is_post.sum(dim=1, keepdim=True) == 0
        is_padding = (is_post == 0) & ~is_empty

        read = self.encoder(embedded, src_key_padding_mask=is_padding)
        return functional.relu(read).transpose(1, 2)


PostNetwork = PostConvolutions | PostTransformer


def made(
    width: int,
    *,
    network: str,
    widths: Sequence[int],
    filters: int,
    layers: int,
    pool: str,
) -> PostNetwork:
    """A network with random weights for posts of so many features."""
    if network == "transformer":
        return PostTransformer(
            width,
            filters,
            layers,
            pool,
        )
    return PostConvolutions(
        width,
        widths,
        filters,
        pool,
    )


def _shared(
    weights: Tensor,
    is_post: Tensor,
    width: int,
) -> Tensor:
    """The weights of windows, (n, t), as those of posts: each in equal parts to the posts in its window."""
    posts = weights.shape[1]
    reaching_beyond_end = functional.pad(is_post, (0, width - 1))
    in_window = reaching_beyond_end.unfold(1, width, 1)
    part = weights / in_window.sum(dim=2).clamp(min=1)

    shared = torch.zeros_like(weights)
    for offset in range(min(width, posts)):
        shared[:, offset:] += part[:, : posts - offset]
    return shared * is_post


def _places(posts: int, size: int) -> Tensor:
    """Sines and cosines that tell the places of posts, (t, size)."""
    place = torch.arange(posts, dtype=torch.float32)[:, None]
    pair = torch.arange(size) // 2
    angles = place / 10_000 ** (2 * pair / size)
    is_even = torch.arange(size) % 2 == 0
    return torch.where(
        is_even,
        torch.sin(angles),
        torch.cos(angles),
    )


def padded(histories: Sequence[Features]) -> tuple[Tensor, Tensor]:
    """Features of histories, each (posts, d), as (n, t, d), and which posts exist, (n, t); t ≥ 1."""
    # A batch without any post still needs one column.
    post_counts = [len(features) for features in histories]
    longest = max(1, *post_counts)
    width = histories[0].shape[1]
    posts = np.zeros((len(histories), longest, width), np.float32)
    is_post = np.zeros((len(histories), longest), np.float32)
    for row, (features, post_count) in enumerate(
        zip(
            histories,
            post_counts,
            strict=True,
        )
    ):
        posts[row, :post_count] = features
        is_post[row, :post_count] = 1
    return torch.from_numpy(posts), torch.from_numpy(is_post)


def probabilities(networks: Sequence[PostNetwork], histories: Sequence[Features]) -> np.ndarray:
    """The scores of histories by one network per label, (n, k)."""
    posts, is_post = padded(histories)
    with torch.inference_mode():
        # `eval` switches dropout off: the same history has the same score.
        logits = [network.eval()(posts, is_post) for network in networks]
        columns = [torch.sigmoid(column) for column in logits]
        scores = torch.stack(columns, dim=1)
    return scores.double().numpy()


def attention(networks: Sequence[PostNetwork], histories: Sequence[Features]) -> list[np.ndarray]:
    """What the attention of one network per label gives the posts of each history, each (posts, k)."""
    posts, is_post = padded(histories)
    with torch.inference_mode():
        columns = [network.eval().attention(posts, is_post) for network in networks]
        weights = torch.stack(columns, dim=2).double().numpy()
    return [weights[row, : len(features)] for row, features in enumerate(histories)]
