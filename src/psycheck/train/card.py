"""The files saved with the weights: training.json for programs, README.md (the model card) for people."""

import json
import math
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from psycheck.errors import UNREADABLE, BadInput
from psycheck.files.write import written
from psycheck.measures.classification import gold
from psycheck.train.figures import format_figure
from psycheck.train.parts import Part, Parts
from psycheck.train.recipe import recipe_of, used

RECORD, CARD = "training.json", "README.md"
PACKAGES = ("psycheck", "numpy", "scikit-learn", "torch", "transformers", "accelerate", "tokenizers")


def described(parts: Parts, dev_share: float) -> dict[str, Any]:
    """The training data: sizes, class counts and fingerprints, never texts."""

    def counted(part: Part) -> dict[str, Any]:
        columns = dict(zip(parts.labels, part.targets.T, strict=True))
        return {
            "n": len(part),
            "fingerprint": part.fingerprint(),
            "annotated": {name: int((~np.isnan(column)).sum()) for name, column in columns.items()},
            "positive": {name: int(gold(column).sum()) for name, column in columns.items()},
            "undecided": {name: int((column == 0.5).sum()) for name, column in columns.items()},
        }

    return {
        "corpus": parts.name,
        "fingerprint": parts.corpus,
        "train": counted(parts.train),
        "dev": counted(parts.dev),
        "left_out": parts.left_out,
        "dev_cut": dev_share,
    }


def versions() -> dict[str, str]:
    """The versions that weights may depend on."""
    found = {"python": python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write_record(record: dict[str, Any], folder: Path) -> None:
    """Write training.json and the card, each atomically."""
    plain = json.dumps(without_nan(record), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    for name, text in ((CARD, _card(record)), (RECORD, plain)):
        with written(folder / name) as part:
            part.write_text(text, "utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """Read training.json."""
    try:
        record: dict[str, Any] = json.loads((folder / RECORD).read_text("utf-8"))
        record["key"], record["labels"], record["recipe"], record["dev"]
    except UNREADABLE as error:
        raise BadInput(
            f"'{folder}' does not hold a finished training ({type(error).__name__})",
            allowed="a folder written by psycheck train",
        ) from error
    return record


def numbers(values: dict[str, float | None]) -> dict[str, float]:
    """Figures as they were before NaN became null in JSON."""
    return {name: math.nan if value is None else value for name, value in values.items()}


def _card(record: dict[str, Any]) -> str:
    from jinja2 import Environment

    def figure(figures: dict[str, float | None], name: str) -> str:
        return format_figure(numbers(figures), name) if name in figures else "–"

    template = Environment(autoescape=False).from_string(
        Path(__file__).with_name("card.md").read_text("utf-8"), globals={"figure": figure}
    )
    title = f"{', '.join(record['labels'])} from {record['trained_on']['corpus']}"
    recipe = used(recipe_of(record["recipe"]))  # older records also list values without effect
    return template.render(**{**record, "title": title, "recipe": recipe}).rstrip() + "\n"


def without_nan(value: Any) -> Any:
    """JSON has no NaN: it becomes null."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
