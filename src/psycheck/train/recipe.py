"""What decides the weights of a model, and the recipes that have a name."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from psycheck.errors import BadInput, nearest

Criterion = Literal["dev_loss", "dev_f1"]
Padding = Literal["grouped", "fixed"]
TFIDF, FROZEN, MINILM = "tfidf+lr", "encoder+lr", "minilm"
TUNING = frozenset(  # what steers the steps of a fine-tuning; a linear baseline takes none
    {"epochs", "batch", "accumulate", "learning_rate", "weight_decay", "warmup", "patience", "padding"}
)
UNUSED = {"hf": frozenset[str](), "sklearn": TUNING | {"max_length"}, "frozen": TUNING}


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides the weights, apart from the data and the weights it starts from.

    `start` is "minilm", a model folder, a hub name, "tfidf+lr" or "encoder+lr" (frozen MiniLM vectors);
    "encoder+lr:FOLDER" freezes another encoder. No `labels` means all labels of the corpus.
    `warmup` is the share of steps over which the learning rate rises; then it falls linearly to 0.
    An update sees `batch` × `accumulate` texts. `class_weights` weighs both classes of each label alike.
    With `patience` 0 all epochs are trained and the last weights kept; with `patience` p training stops
    after p epochs without a better `criterion` on dev, and the best weights are kept.
    `dev_share` cuts dev from train when the corpus has no dev split; 0 refuses to.
    `padding` "grouped" forms batches of like lengths padded to their longest; "fixed" pads to `max_length`.
    """

    start: str = MINILM
    labels: tuple[str, ...] = ()
    epochs: float = 3
    batch: int = 16
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    warmup: float = 0.1
    max_length: int = 128
    accumulate: int = 1
    class_weights: bool = False
    patience: int = 0
    criterion: Criterion = "dev_loss"
    dev_share: float = 0.0
    padding: Padding = "grouped"
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        bounds: tuple[tuple[str, bool, str], ...] = (
            ("start", bool(self.start), "a model folder, a hub name, minilm, tfidf+lr or encoder+lr"),
            ("epochs", self.epochs > 0, "more than 0"),
            ("batch", self.batch >= 1, "1 or more"),
            ("learning_rate", self.learning_rate > 0, "more than 0"),
            ("weight_decay", self.weight_decay >= 0, "0 or more"),
            ("warmup", 0 <= self.warmup < 1, "a share of the steps: 0 up to 1"),
            ("max_length", self.max_length >= 8, "8 tokens or more"),
            ("accumulate", self.accumulate >= 1, "1 or more"),
            ("patience", self.patience >= 0, "0 (never stop early) or more epochs"),
            ("criterion", self.criterion in get_args(Criterion), ", ".join(get_args(Criterion))),
            ("dev_share", 0 <= self.dev_share <= 0.5, "0 up to 0.5"),
            ("padding", self.padding in get_args(Padding), ", ".join(get_args(Padding))),
            ("seed", 0 <= self.seed < 2**31, "0 up to 2147483647"),
        )
        for name, holds, allowed in bounds:
            if not holds:
                raise BadInput(f"recipe: {name} = {getattr(self, name)!r}", allowed=allowed)

    def as_dict(self) -> dict[str, Any]:
        """All values, plain; training.json has those that are used."""
        return {**asdict(self), "labels": list(self.labels)}

    def with_(self, **changes: Any) -> "Recipe":
        """The recipe with some values changed; an unknown name is an error."""
        return recipe_of({**self.as_dict(), **changes})


@dataclass(frozen=True, slots=True)
class Space:
    """Where a search looks: learning rate (log scale), batch sizes, whole epochs (both ends included)."""

    learning_rate: tuple[float, float] = (1e-6, 1e-4)
    batch: tuple[int, ...] = (4, 8, 16, 32, 64)
    epochs: tuple[int, int] = (1, 5)

    def __post_init__(self) -> None:
        for name in ("learning_rate", "batch", "epochs"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


def recipe_of(values: Mapping[str, Any]) -> Recipe:
    """A recipe from plain values, as they stand in a TOML or JSON file."""
    known = {field.name for field in fields(Recipe)}
    for name in values:
        if name not in known:
            raise BadInput(f"recipe: unknown key '{name}'", allowed=nearest(name, known))
    try:
        return Recipe(**values)
    except TypeError as error:
        raise BadInput("recipe: a value has the wrong type", do="see the defaults of the recipe") from error


def presets() -> tuple[str, ...]:
    """The names of the shipped recipes."""
    return tuple(_shipped()["recipe"])


def preset(name: str, **changes: Any) -> Recipe:
    """A shipped recipe by its name, with some values changed."""
    shipped = _shipped()["recipe"]
    if name not in shipped:
        raise BadInput(f"no preset '{name}'", allowed=nearest(name, shipped))
    return recipe_of({**shipped[name], **changes})


def space(name: str = "deck") -> Space:
    """The bounds of a study's search by its name."""
    shipped = _shipped()["search"]
    if name not in shipped:
        raise BadInput(f"no search space '{name}'", allowed=nearest(name, shipped))
    return Space(**shipped[name])


def with_seed(recipe: Recipe, seed: int) -> Recipe:
    """The same recipe with another seed."""
    return replace(recipe, seed=seed)


def kind_of(recipe: Recipe) -> str:
    """How the result is opened: "hf", "sklearn" or "frozen"."""
    if recipe.start == TFIDF:
        return "sklearn"
    return "frozen" if recipe.start.partition(":")[0] == FROZEN else "hf"


def unused(recipe: Recipe) -> frozenset[str]:
    """The values of a recipe that its start has no use for: nothing is tuned in a linear baseline."""
    return UNUSED[kind_of(recipe)]


def used(recipe: Recipe) -> dict[str, Any]:
    """The values that its start makes use of, plain, as they stand in training.json."""
    return {name: value for name, value in recipe.as_dict().items() if name not in unused(recipe)}


def settled(recipe: Recipe) -> Recipe:
    """The recipe with what its start does not use at the defaults: equal trainings have equal recipes."""
    return recipe_of(used(recipe))


@cache
def _shipped() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("presets.toml").read_text("utf-8"))
