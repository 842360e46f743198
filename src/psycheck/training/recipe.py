"""Training recipes: the settings that determine the weights of a model, their start, the shipped presets."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from psycheck.core.errors import BadInput, nearest
from psycheck.io import settings as reader
from psycheck.io.settings import ABOVE_0, AT_LEAST_0, AT_LEAST_1, NOT_BLANK, Limit
from psycheck.models.fingerprint import hashed, hashed_parts
from psycheck.models.hf_folder import HfOptions, find_folder, folder_parts

Criterion = Literal["dev_loss", "dev_f1"]
Padding = Literal["grouped", "fixed"]

# Starts that are neither folders nor hub names.
MINILM = "minilm"
TFIDF = "tfidf+lr"
FROZEN = "encoder+lr"
SYMPTOMS = "symptoms+lr"
BOTH = "encoder+symptoms+lr"
HISTORY = "history"
# The learners of the gender study (section 2.2), whose grids are in learners.toml.
LEARNERS = ("svm", "forest", "mlp", "lr")
LEARNER = "learner"
OURS = (MINILM, TFIDF, FROZEN, SYMPTOMS, BOTH, HISTORY, *LEARNERS)
# Features of learners that are not the spec of an encoder.
WORDS = "tfidf"
ENCODER = "encoder"
PLAIN = HfOptions()

# Settings that older versions did not have: trainings of those versions keep their keys.
LATER = ("layers", "balanced", "symptom_task", "probe", "features")
# Settings of fine-tuning, which a linear baseline does not have.
TUNING = frozenset(
    {
        "epochs",
        "batch",
        "accumulate",
        "learning_rate",
        "weight_decay",
        "warmup",
        "patience",
        "padding",
        "layers",
        "symptom_task",
        "probe",
    }
)
# Settings that convolutions over histories do not have.
NOT_CONVOLVED = frozenset({"accumulate", "warmup", "padding", "max_length", *LATER})
# A learner is chosen by folds of train, not on dev.
NOT_LEARNED = TUNING | {"criterion", "balanced"}
FEATURES_ALONE = frozenset({"features"})


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that determines the weights, apart from the data and the initial weights.

    `start` is "minilm", a model folder, a hub name, "tfidf+lr" or "encoder+lr" (frozen MiniLM vectors);
    "encoder+lr:FOLDER" freezes another encoder. "symptoms+lr" decides from the evidence for the symptoms of
    PHQ-9 ("symptoms+lr:FOLDER" from that of a trained symptom model), "encoder+symptoms+lr" from both.
    "history:FEATURES" is a model of histories. "svm", "forest", "mlp" and "lr" are the learners of the gender
    study; their `features` are "tfidf" (the default), "encoder" (MiniLM) or the spec of an encoder, such as
    "vectors:FILE". No `labels` means all labels of the corpus.
    `warmup` is the share of steps over which the learning rate rises; then it falls linearly to 0.
    An update uses `batch` × `accumulate` texts. `class_weights` balances the classes of each label.
    With `patience` 0 all epochs are trained and the last weights kept; with `patience` p training stops
    after p epochs without a better `criterion` on dev, and the best weights are kept.
    `dev_share` is the share of train to hold out as dev when the corpus has no dev split; 0 means never.
    `padding` "grouped" forms batches of similar lengths, padded to the longest; "fixed" pads to `max_length`.
    `layers` keeps the first layers of the start only, 0 all. `balanced` fills every batch with control texts
    and others in equal numbers (of a linear baseline, both weigh the same in all); see `train.symptoms`.
    `symptom_task` is the weight of a second task in the loss: to predict the evidence for symptoms of PHQ-9.
    `probe` starts the output layer of a fine-tuned encoder from a logistic regression on what it reads before
    any training, not from random weights: with few texts or rare labels a random one hardly learns.
    """

    start: Annotated[str, NOT_BLANK] = MINILM
    labels: tuple[str, ...] = ()
    epochs: Annotated[float, ABOVE_0] = 3
    batch: Annotated[int, AT_LEAST_1] = 16
    learning_rate: Annotated[float, ABOVE_0] = 5e-5
    weight_decay: Annotated[float, AT_LEAST_0] = 0.01
    warmup: Annotated[
        float, Limit("a share of the steps: 0 or more, below 1", lambda share: 0 <= share < 1)
    ] = 0.1
    max_length: Annotated[int, Limit("8 tokens or more", lambda tokens: tokens >= 8)] = 128
    accumulate: Annotated[int, AT_LEAST_1] = 1
    class_weights: bool = False
    patience: Annotated[int, AT_LEAST_0] = 0
    criterion: Criterion = "dev_loss"
    dev_share: Annotated[float, Limit("0 to 0.5", lambda share: 0 <= share <= 0.5)] = 0.0
    padding: Padding = "grouped"
    seed: Annotated[int, Limit("0 to 2147483647", lambda seed: 0 <= seed < 2**31)] = 0
    layers: Annotated[int, AT_LEAST_0] = 0
    balanced: bool = False
    symptom_task: Annotated[float, AT_LEAST_0] = 0.0
    probe: bool = False
    features: str = ""

    def __post_init__(self) -> None:
        reader.check_values(self)

    def as_dict(self) -> dict[str, Any]:
        """All values in plain types; training.json holds those that are used.

        What older versions did not have is left out where it has no effect: keys of trainings stay the same.
        """
        values = asdict(self)
        values["labels"] = list(self.labels)
        first_version = {name: value for name, value in values.items() if name not in LATER}
        later = {name: values[name] for name in LATER if values[name]}
        return {**first_version, **later}

    def with_(self, **changes: Any) -> "Recipe":
        """A copy with some values changed; an unknown name is an error."""
        return recipe_of({**self.as_dict(), **changes})

    def with_seeds(self, seeds: int) -> "list[Recipe]":
        """Copies with this seed and the `seeds` - 1 after it."""
        if seeds < 1:
            raise BadInput(f"seeds = {seeds}", code="recipe.too-few-seeds", allowed="1 or more")
        return [replace(self, seed=self.seed + number) for number in range(seeds)]

    @property
    def short_name(self) -> str:
        """A short name for what is trained: a folder without its parents."""
        return Path(self.start).name or self.start

    @property
    def kind(self) -> str:
        """How the result is opened: "hf" (fine-tuned), "sklearn", "frozen", "learner" or "history"."""
        return kind_of(self)


@dataclass(frozen=True, slots=True)
class Space:
    """A search space: learning rate (log scale), batch sizes, epochs (both ends included).

    Without `epochs` those of the recipe stay. `batch` is the number of texts of an update, also where it is
    computed in several parts. `networks` are options of the start of a network over histories, such as
    "network=transformer&pool=attention".
    """

    learning_rate: tuple[float, ...] = (1e-6, 1e-4)
    batch: tuple[int, ...] = (4, 8, 16, 32, 64)
    epochs: tuple[int, ...] = (1, 5)
    # Not in the text of a space, by which searches of older versions are known.
    networks: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        reader.check_values(self)


def recipe_of(values: Mapping[str, Any]) -> Recipe:
    """A recipe from plain values, as in a TOML or JSON file."""
    return reader.read_settings(Recipe, values)


def presets() -> tuple[str, ...]:
    """The names of the shipped recipes."""
    return tuple(_shipped()["recipe"])


def preset(name: str, **changes: Any) -> Recipe:
    """A shipped recipe by its name, with some values changed."""
    return recipe_of({**_named("recipe", name), **changes})


def space(name: str = "deck") -> Space:
    """The search space of a study by its name."""
    return Space(**_named("search", name))


def space_of(preset: str | None) -> Space:
    """The search space of histories, or of the study that a preset is named after; else that of DECK."""
    words = (preset or "").split("-")
    if HISTORY in words:
        return space(HISTORY)
    # "angst-bert-base" is of the study "angst".
    study = words[0]
    if study in _shipped()["search"]:
        return space(study)
    return Space()


def study_recipe(study: str, start: str, **changes: Any) -> Recipe:
    """The recipe of a start in a study: the published settings of its architecture, where there are any.

    A start of another architecture has the settings that the study uses for MiniLM; a baseline has its own.
    """
    if start == MINILM or kind_of(Recipe(start=start)) == "hf":
        return preset(_study_preset(study, start), **{"start": start, **changes})
    return recipe_of({"start": start, **changes})


def _study_preset(study: str, start: str) -> str:
    """The preset of a study for a start that is fine-tuned."""
    presets_of_study = [name for name in presets() if name.startswith(f"{study}-")]
    for name in presets_of_study:
        if _named("recipe", name)["start"] == start:
            return name

    families: dict[str, str] = _named("family", study)
    architecture = _architecture(start)
    # "longformer" before "roberta": some names hold both.
    for family in sorted(families, key=len, reverse=True):
        if family in architecture:
            return families[family]
    return families[MINILM]


def _architecture(start: str) -> str:
    """What tells the architecture of a start: the configuration in its folder, or its name on a hub."""
    if start == MINILM:
        return MINILM
    config = Path(start) / "config.json"
    if config.is_file():
        return str(json.loads(config.read_text("utf-8")).get("model_type", "")).casefold()
    return start.casefold()


def preset_of(start: str) -> str | None:
    """The preset of a model of histories, whose settings are none of fine-tuning; None for another start."""
    without_options = start.partition("?")[0]
    kind, _, features = without_options.partition(":")
    if kind != HISTORY:
        return None

    # "history" alone reads symptoms.
    name_of_features = (features or "symptoms").removesuffix("+lr")
    name = f"{HISTORY}-{name_of_features}"
    return name if name in presets() else None


def kind_of(recipe: Recipe) -> str:
    """How the result is opened: "hf", "sklearn", "frozen", "learner" or "history"."""
    if recipe.start == TFIDF:
        return "sklearn"
    if recipe.start in LEARNERS:
        return LEARNER
    if recipe.start.partition(":")[0] == HISTORY:
        return HISTORY
    return "frozen" if _features(recipe) else "hf"


def unused(recipe: Recipe) -> frozenset[str]:
    """The values that have no effect for this start: a linear baseline fine-tunes nothing."""
    kind = kind_of(recipe)
    if kind == "hf":
        return FEATURES_ALONE
    if kind == LEARNER:
        if reads_window(recipe):
            return NOT_LEARNED
        return NOT_LEARNED | {"max_length"}

    without_options = recipe.start.partition("?")[0]
    is_convolved = kind == HISTORY and not without_options.endswith("+lr")
    if is_convolved:
        return NOT_CONVOLVED

    # TF–IDF and evidence read whole texts; an encoder's vectors have a window.
    if reads_window(recipe) or _features(recipe) == BOTH:
        return TUNING | FEATURES_ALONE
    return TUNING | FEATURES_ALONE | {"max_length"}


def used(recipe: Recipe) -> dict[str, Any]:
    """The values that have an effect for this start, as written to training.json."""
    without_effect = unused(recipe)
    return {name: value for name, value in recipe.as_dict().items() if name not in without_effect}


def reads_window(recipe: Recipe) -> bool:
    """Whether the model reads only the start of a long text: one that reads all its sentences does not."""
    if recipe.start in LEARNERS:
        encoder = learner_encoder(recipe)
        return encoder is not None and not encoder.startswith("vectors:")
    return recipe.start != TFIDF and _features(recipe) in ("", FROZEN)


def start_name(recipe: Recipe) -> str:
    """The model that a recipe starts from or freezes: "minilm", a folder or a hub name."""
    if recipe.start in LEARNERS:
        return (learner_encoder(recipe) or MINILM).removeprefix("hf:")
    name = recipe.start.removeprefix(_features(recipe)).removeprefix(":")
    return name or MINILM


def learner_encoder(recipe: Recipe) -> str | None:
    """The spec of the encoder that a learner learns from; None if it learns from words."""
    if recipe.features in ("", WORDS):
        return None
    spec = recipe.features.removeprefix(f"{ENCODER}:")
    if spec == ENCODER:
        return MINILM

    # The model has to find its encoder from anywhere.
    kind, colon, target = spec.rpartition(":")
    path = Path(target)
    if not path.exists():
        return spec
    return f"{kind}{colon}{path.resolve()}"


def evidence_target(recipe: Recipe) -> str | None:
    """The symptom model whose evidence is used: "" for descriptions, a folder, None for none."""
    features = _features(recipe)
    if features == SYMPTOMS:
        return recipe.start.removeprefix(SYMPTOMS).removeprefix(":")
    is_fine_tuned = not features
    has_second_task = is_fine_tuned and recipe.symptom_task > 0
    if features == BOTH or has_second_task:
        return ""
    return None


def has_vectors(recipe: Recipe) -> bool:
    """Whether an encoder's vectors are among the features."""
    return _features(recipe) in (FROZEN, BOTH)


def start_folder(recipe: Recipe) -> Path:
    """The folder of the model that a recipe starts from; a hub model is downloaded."""
    start = start_name(recipe)
    if start == MINILM:
        from psycheck.models.hf import minilm_folder

        return minilm_folder()

    # A misspelt name of ours would otherwise be looked for on the hub.
    similar_names = get_close_matches(start.casefold(), OURS, n=1, cutoff=0.6)
    if similar_names and not Path(start).exists():
        raise BadInput(
            f"unknown start '{start}'",
            code="recipe.unknown-start",
            allowed=f"did you mean '{similar_names[0]}'? "
            f"(known: {', '.join(OURS)}, a model folder, a hub name)",
        )
    return find_folder(start, PLAIN)


def start_fingerprint(recipe: Recipe) -> str:
    """A hash of what training starts from: weights, architecture and tokenizer, and the symptom model."""
    if kind_of(recipe) == HISTORY:
        from psycheck.symptoms.history_settings import history_settings

        settings = history_settings(recipe.start)
        # Words are learned from the histories alone.
        fingerprints = {} if settings.words else settings.open_features().fingerprints
        return hashed_parts(
            {
                "features": settings.features,
                "most": str(settings.most),
                **({"network": settings.shape} if settings.shape else {}),
                **fingerprints,
            }
        )
    if recipe.start == TFIDF:
        return TFIDF
    if recipe.start in LEARNERS:
        from psycheck.training.learner_models import learner_fingerprint

        return learner_fingerprint(recipe)

    encoder_fingerprints = []
    if _features(recipe) != SYMPTOMS:
        parts = folder_parts(start_folder(recipe), PLAIN)
        encoder_fingerprints.append(hashed_parts(parts))

    target = evidence_target(recipe)
    if target is None:
        return encoder_fingerprints[0]
    from psycheck.symptoms.evidence import open_evidence

    evidence = open_evidence(target)
    return hashed(*encoder_fingerprints, evidence.fingerprint)


def _features(recipe: Recipe) -> str:
    """What a logistic regression is fitted on; "" where the model is fine-tuned."""
    head = recipe.start.partition(":")[0]
    if head in (FROZEN, SYMPTOMS, BOTH):
        return head
    return ""


def _named(kind: str, name: str) -> dict[str, Any]:
    shipped = _shipped()[kind]
    if name not in shipped:
        raise BadInput(
            f"unknown {kind} '{name}'",
            code=f"recipe.unknown-{kind}",
            allowed=nearest(name, shipped),
        )
    return dict(shipped[name])


@cache
def _shipped() -> dict[str, dict[str, Any]]:
    file = Path(__file__).with_name("presets.toml")
    return tomllib.loads(file.read_text("utf-8"))
