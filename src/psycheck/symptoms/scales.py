"""Rating scales as data: their items, ranges, severity bands and cut-offs, validated when read."""

import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.io.settings import AT_LEAST_1, NOT_BLANK, Limit, read_settings, read_toml, wrong

SHIPPED: Final = Path(__file__).with_name("rating_scales")
Text = Annotated[str, NOT_BLANK]
Word = Annotated[
    str, Limit("letters, digits and _", lambda word: word.isidentifier(), "is not a single word")
]
Range = Annotated[tuple[int, ...], Limit("two integers: [lowest, highest]", lambda pair: len(pair) == 2)]
Share = Annotated[float, Limit("0 or more, below 1", lambda value: 0 <= value < 1)]


@dataclass(frozen=True, slots=True)
class ScaleItem:
    """One symptom of a scale: its name, and what it is about in our words."""

    name: Text
    about: Text


@dataclass(frozen=True, slots=True)
class Band:
    """A severity band: the totals from `totals[0]` to `totals[1]`, both included."""

    name: Text
    totals: Range


@dataclass(frozen=True, slots=True)
class Scale:
    """A rating scale.

    Each item is rated from 0 to `points[1]`; a total of at least `cutoff` makes the verdict positive. `yes`
    is what a plain "yes" counts, where items are asked as yes or no. At most the share `missing` of the items
    may be unanswered: their points are then taken to be the mean of the others.
    """

    title: Text
    condition: Word
    points: Range
    total: Range
    item: tuple[ScaleItem, ...]
    band: tuple[Band, ...]
    cutoff: Annotated[int, AT_LEAST_1]
    missing: Share
    source: Text
    cutoff_source: Text
    missing_source: Text
    yes: Annotated[int, AT_LEAST_1] | None = None
    yes_source: Text | None = None
    name: Word = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The condition, then one label per item: depression, phq9_1, phq9_2 …"""
        return (self.condition, *(f"{self.name}_{number}" for number in range(1, len(self.item) + 1)))


def shipped_scales() -> tuple[str, ...]:
    """The names of the shipped scales."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def read_scale(name_or_path: str, folder: Path | None = None) -> Scale:
    """Read a shipped scale by name, or a TOML file, relative to `folder` if that is given."""
    if name_or_path in shipped_scales():
        return _read_shipped(name_or_path)
    path = (folder or Path()) / name_or_path
    if path.suffix != ".toml":
        raise BadInput(
            f"unknown scale '{name_or_path}'",
            code="scale.unknown",
            allowed=nearest(name_or_path, shipped_scales()),
            do="name a shipped scale or a TOML file: psycheck ls scales",
        )
    return _read(path)


@cache
def _read_shipped(name: str) -> Scale:
    return _read(SHIPPED / f"{name}.toml")


def _read(path: Path) -> Scale:
    scale = read_settings(Scale, {"name": path.stem} | read_toml(path, "scale"), str(path))
    _check(scale, str(path))
    return scale


def _check(scale: Scale, place: str) -> None:
    """Refuse ranges, bands and cut-offs that contradict each other."""
    _check_items(scale, place)
    _check_total(scale, place)
    _check_cutoff(scale, place)
    _check_bands(scale, place)


def _check_items(scale: Scale, place: str) -> None:
    low, high = scale.points
    if low != 0 or high < 1:
        raise wrong(
            f"items cannot be rated from {low} to {high}",
            place,
            "points",
            allowed="[0, N] with N of 1 or more",
            code="scale.points",
        )
    if not scale.item:
        raise wrong(
            "the scale has no items", place, "item", allowed="at least one [[item]]", code="scale.no-items"
        )
    names = [item.name.casefold() for item in scale.item]
    if len(set(names)) < len(names):
        raise wrong(
            "two items have the same name",
            place,
            "item",
            allowed="a unique name for each item",
            code="scale.duplicate-items",
        )


def _check_total(scale: Scale, place: str) -> None:
    high = scale.points[1]
    most = high * len(scale.item)
    if scale.total != (0, most):
        items = counted(len(scale.item), "item")
        raise wrong(
            f"{items} of 0 to {high} points cannot sum to {list(scale.total)}",
            place,
            "total",
            allowed=f"[0, {most}]",
            code="scale.total",
        )
    if scale.yes is not None and scale.yes > high:
        raise wrong(
            f"a yes cannot count {scale.yes} points",
            place,
            "yes",
            allowed=f"1 to {high}",
            code="scale.points-of-yes",
        )


def _check_cutoff(scale: Scale, place: str) -> None:
    most = scale.total[1]
    if not 1 <= scale.cutoff <= most:
        raise wrong(
            f"cut-off {scale.cutoff} is out of range",
            place,
            "cutoff",
            allowed=f"1 to {most}",
            code="scale.cutoff",
        )


def _check_bands(scale: Scale, place: str) -> None:
    """Refuse bands that leave a total out or cover one twice."""
    start = 0
    for band in scale.band:
        first, last = band.totals
        if first != start or last < first:
            raise wrong(
                f"band '{band.name}' covers {first} to {last}",
                place,
                "band.totals",
                allowed=f"bands in order, without gap or overlap, from {start}",
                code="scale.band-out-of-order",
            )
        start = last + 1

    most = scale.total[1]
    if start != most + 1:
        raise wrong(
            f"the bands end at {start - 1}",
            place,
            "band.totals",
            allowed=f"bands that cover 0 to {most}",
            code="scale.bands-incomplete",
        )


def with_cutoff(scale: Scale, cutoff: int) -> Scale:
    """The same scale with another cut-off."""
    moved = replace(scale, cutoff=cutoff)
    _check_cutoff(moved, "")
    return moved


def total_of(scale: Scale, points: FloatArray) -> float:
    """The total of the items' points, (n,); NaN if more than the allowed share of items is NaN.

    Missing items count as the mean of the others, so the total need not be an integer.
    """
    is_missing = np.isnan(points)
    # Also where a scale allows many to be missing, a total needs at least one answer.
    if is_missing.all() or is_missing.mean() > scale.missing:
        return math.nan
    if not is_missing.any():
        return float(points.sum())
    return float(points[~is_missing].mean() * len(points))


def verdict_of(scale: Scale, total: float) -> float:
    """The total as a score: 0 at 0, exactly 0.5 at the cut-off, 1 at the highest total, linear between."""
    cutoff = scale.cutoff
    if not total >= cutoff:  # NaN stays NaN
        return 0.5 * total / cutoff
    # The cut-off may be the highest total itself: then nothing lies above it.
    above_cutoff = max(scale.total[1] - cutoff, 1)
    return 0.5 + 0.5 * (total - cutoff) / above_cutoff


def band_of(scale: Scale, total: float) -> str:
    """The severity band of a total, "" for NaN; a prorated total between two bands belongs to the lower."""
    # From the top by the lower bounds alone, since a prorated total of 9.5 is in no band of whole numbers.
    for band in reversed(scale.band):
        if total >= band.totals[0]:
            return band.name
    return ""
