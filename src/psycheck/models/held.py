"""Models of other libraries as people hold them in memory; the libraries are recognised, never imported."""

import secrets
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from psycheck.core.errors import BadInput
from psycheck.core.model import Model
from psycheck.models.fingerprint import estimator_hash, state_hash

if TYPE_CHECKING:
    from psycheck.models.python_object import PythonOptions

_LEAST_LOGIT = 1e-6  # outside of 0..1 by more than this, outputs are no probabilities
_NOT_FOR_TEXTS = {
    "ZeroShotClassificationPipeline": "lambda texts: [reply['scores'][0] for reply in pipe(texts, LABELS)]",
    "TextGenerationPipeline": "a function that asks it and reads the reply",
}


def library_classes(thing: object) -> set[str]:
    """The classes of an object as "package.Class", its parents included."""
    names = set()
    for kind in type(thing).__mro__:
        package, _, _ = kind.__module__.partition(".")
        names.add(f"{package}.{kind.__name__}")
    return names


# scikit-learn ---------------------------------------------------------------------------------------------


def estimator_of(thing: Any) -> Any | None:
    """The estimator, or that of a bound `predict_proba`; None for anything else."""
    owner = getattr(thing, "__self__", None)
    is_bound = getattr(thing, "__name__", "") == "predict_proba" and hasattr(owner, "predict_proba")
    if is_bound:
        return owner
    # A pipeline that ends in an SVM has no probabilities: it is an estimator all the same.
    is_fitted_model = hasattr(thing, "predict_proba") or "sklearn.BaseEstimator" in library_classes(thing)
    if is_fitted_model and not isinstance(thing, type):
        return thing
    return None


def open_estimator(estimator: Any, options: "PythonOptions") -> Model:
    """A fitted pipeline from raw texts to probabilities."""
    from psycheck.models.sklearn_file import SklearnOptions, open_pipeline

    name = type(estimator).__name__
    mark = estimator_hash(estimator)
    return open_pipeline(
        estimator,
        SklearnOptions(
            name=options.name,
            label=options.label,
            batch=options.batch,
            positive=_class_of(estimator, options.positive),
        ),
        name=name,
        # A model without a hash is another one in each run: its scores are not reused.
        parts={"estimator": mark or secrets.token_hex(16)},
        where=name,
    )


def _class_of(estimator: Any, positive: str | None) -> str | None:
    """The positive value if the estimator has such a class: corpora name their positive values, too."""
    classes = [str(value) for value in getattr(estimator, "classes_", ())]
    return positive if positive in classes else None


# transformers ---------------------------------------------------------------------------------------------


def network_and_tokenizer_of(thing: Any) -> tuple[Any, Any] | None:
    """The classifier and tokenizer of a pipeline, of a pair, or of a network that says where it came from."""
    classes = library_classes(thing)
    if "transformers.Pipeline" in classes:
        _refuse_other_pipelines(thing)
        return thing.model, thing.tokenizer
    if isinstance(thing, tuple) and len(thing) == 2 and _is_network(thing[0]):
        return thing[0], thing[1]
    if _is_network(thing):
        return thing, _tokenizer_of(thing)
    return None


def _is_network(thing: object) -> bool:
    return "transformers.PreTrainedModel" in library_classes(thing)


def _refuse_other_pipelines(pipeline: Any) -> None:
    name = type(pipeline).__name__
    if name == "TextClassificationPipeline":
        return
    raise BadInput(
        f"a {name} does not classify texts",
        code="model.other-pipeline",
        allowed="pipeline('text-classification', …)",
        do=f"pass a function instead: {_NOT_FOR_TEXTS.get(name, 'from texts to probabilities')}",
    )


def _tokenizer_of(network: Any) -> Any:
    """The tokenizer that was saved with a network."""
    place = getattr(network.config, "_name_or_path", "")
    transformers: Any = import_module("transformers")
    try:
        return transformers.AutoTokenizer.from_pretrained(place, local_files_only=True)
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(
            "a network of transformers needs its tokenizer",
            code="model.network-without-tokenizer",
            where=type(network).__name__,
            do="pass both as a pair: (model, tokenizer), or a pipeline",
        ) from error


def open_transformer(network: Any, tokenizer: Any, options: "PythonOptions") -> Model:
    """A classifier of transformers with its tokenizer."""
    from psycheck.models.hf import open_network
    from psycheck.models.hf_folder import HfOptions

    classes = [str(name) for name in network.config.id2label.values()]
    positive = options.positive if options.positive in classes else None
    place = str(getattr(network.config, "_name_or_path", "")).rstrip("/").rpartition("/")[2]
    return open_network(
        network,
        tokenizer,
        HfOptions(
            name=options.name,
            label=options.label,
            batch=options.batch,
            positive=positive,
        ),
        name=place or type(network).__name__,
    )


# Functions of others --------------------------------------------------------------------------------------


def function_of(thing: Any) -> Callable[[Any], Any] | None:
    """What is called with texts: a network of torch, a pipeline of spaCy, a model of MLflow, or the thing."""
    classes = library_classes(thing)
    if "torch.Module" in classes:
        return _without_gradients(thing)
    if "spacy.Language" in classes:
        return lambda texts: [dict(document.cats) for document in thing.pipe(texts)]
    if callable(thing):
        function: Callable[[Any], Any] = thing
        return function
    if hasattr(thing, "predict"):
        predict: Callable[[Any], Any] = thing.predict
        return predict
    return None


def weights_of(thing: Any) -> str | None:
    """A hash of the weights of a torch network; None for anything else."""
    if "torch.Module" in library_classes(thing):
        return state_hash(thing)
    return None


def _without_gradients(network: Any) -> Callable[[Any], Any]:
    """Call a network in evaluation mode, without gradients; logits become probabilities."""
    torch: Any = import_module("torch")

    def scores(texts: Any) -> Any:
        network.eval()
        with torch.inference_mode():
            outputs = network(texts)
        outputs = getattr(outputs, "logits", outputs)
        if not hasattr(outputs, "detach"):
            return outputs

        numbers = outputs.double()
        several_classes = numbers.ndim == 2 and numbers.shape[1] > 1
        if not _holds_logits(numbers, several_classes=several_classes):
            return numbers
        if several_classes:
            return numbers.softmax(-1)
        return numbers.sigmoid()

    return scores


def _holds_logits(numbers: Any, *, several_classes: bool) -> bool:
    """Whether outputs are logits: outside of 0..1, or of several classes and not adding up to 1."""
    is_below_0 = numbers < -_LEAST_LOGIT
    is_above_1 = numbers > 1 + _LEAST_LOGIT
    if bool((is_below_0 | is_above_1).any()):
        return True
    if not several_classes:
        return False
    distances = (numbers.sum(-1) - 1).abs()
    return bool((distances > 1e-3).any())
