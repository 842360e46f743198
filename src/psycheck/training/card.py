"""The files saved with the weights: training.json for programs, README.md (the model card) for people."""

import json
import math
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from psycheck.core.errors import UNREADABLE, BadInput
from psycheck.io.writing import written
from psycheck.statistics.classification import gold
from psycheck.training.dev_figures import format_figure
from psycheck.training.parts import Part, Parts
from psycheck.training.recipe import recipe_of, used

RECORD = "training.json"
CARD = "README.md"
# Weights of the same recipe may differ in the last bits between versions of these.
PACKAGES = ("psycheck", "numpy", "scikit-learn", "torch", "transformers", "accelerate", "tokenizers")


def described(parts: Parts, dev_share: float) -> dict[str, Any]:
    """The training data: sizes, class counts and fingerprints, never texts."""

    def counted(part: Part) -> dict[str, Any]:
        annotated: dict[str, int] = {}
        positive: dict[str, int] = {}
        undecided: dict[str, int] = {}
        for label, targets in zip(parts.labels, part.targets.T, strict=True):
            is_annotated = ~np.isnan(targets)
            annotated[label] = int(is_annotated.sum())
            positive[label] = int(gold(targets).sum())
            undecided[label] = int((targets == 0.5).sum())
        return {
            "n": len(part),
            "fingerprint": part.fingerprint(),
            "annotated": annotated,
            "positive": positive,
            "undecided": undecided,
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
    installed = {"python": python_version()}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            # A linear baseline needs no torch.
            continue
    return installed


def write_record(record: dict[str, Any], folder: Path) -> None:
    """Write training.json and the card, each atomically."""
    plain = json.dumps(
        without_nan(record),
        indent=1,
        ensure_ascii=False,
        allow_nan=False,
    )
    # The record last: a folder that has it is finished.
    for name, text in ((CARD, _card(record)), (RECORD, plain + "\n")):
        with written(folder / name) as part:
            part.write_text(text, "utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """Read training.json."""
    try:
        content = (folder / RECORD).read_text("utf-8")
        record: dict[str, Any] = json.loads(content)
        # Looked up only to fail here, with a clear message, if one of them is missing.
        record["key"], record["labels"], record["recipe"], record["dev"]
    except UNREADABLE as error:
        raise BadInput(
            f"'{folder}' does not hold a finished training ({type(error).__name__})",
            code="train.unreadable-record",
            allowed="a folder written by psycheck train",
        ) from error
    return record


def numbers(values: dict[str, float | None]) -> dict[str, float]:
    """Figures as they were before NaN became null in JSON."""
    return {name: math.nan if value is None else value for name, value in values.items()}


def _card(record: dict[str, Any]) -> str:
    from jinja2 import Environment

    def figure(figures: dict[str, float | None], name: str) -> str:
        if name not in figures:
            return "–"
        return format_figure(numbers(figures), name)

    source = Path(__file__).with_name("card.md").read_text("utf-8")
    # The card is Markdown: escaping for HTML would show in it.
    environment = Environment(autoescape=False)
    template = environment.from_string(source, globals={"figure": figure})

    labels = ", ".join(record["labels"])
    title = f"{labels} from {record['trained_on']['corpus']}"
    recipe = used(recipe_of(record["recipe"]))  # older records also list values without effect
    card = template.render(**{**record, "title": title, "recipe": recipe})
    return card.rstrip() + "\n"


def without_nan(value: Any) -> Any:
    """JSON has no NaN: it becomes null."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
