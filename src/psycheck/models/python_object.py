"""Models written in Python: an object with `labels` and `score`, or a function from texts to an array."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import BadInput, ModelFailure, counted, nearest
from psycheck.core.item import sizes_of
from psycheck.core.model import MOST_POSTS, Capabilities, Capable, Model, ModelKind, Replying
from psycheck.models.fingerprint import file_hash, hashed, source_hash
from psycheck.models.held import (
    estimator_of,
    function_of,
    network_and_tokenizer_of,
    open_estimator,
    open_transformer,
    weights_of,
)
from psycheck.models.label_names import ONE_LABEL
from psycheck.models.options import ModelOptions, Text
from psycheck.models.output import checked_scores
from psycheck.models.python_import import import_file, import_module, running_user_code
from psycheck.models.scoring_function import ScoringFunction

BATCH = 256
_ACCEPTED = (
    "a function of one text or of a list of texts, an object with .labels and .score(texts), a fitted"
    " pipeline of scikit-learn, a pipeline or network of transformers or torch, or a spec such as hf:FOLDER"
)
# A model that replies in words is used as it is, so these would be overlooked outside of `capabilities`.
_DECLARED = (
    "batch",
    "exclusive",
    "thresholds",
    "takes",
    "remote",
    "asks_leave",
    "trained_on",
    "parts",
    "notes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions(ModelOptions):
    """Options of a Python object.

    `folder` is searched for its module before the current folder; `positive` is the positive one of the
    classes that it names.
    """

    folder: Text | None = None
    positive: Text | None = None


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class PythonModel:
    """A wrapper around a user's function or object that checks what it returns."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    function: Callable[[list[Any]], Any] = field(repr=False)
    reader: Callable[[list[Any]], Any] | None = field(repr=False)

    def score(self, texts: Sequence[Any], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        if not texts:
            return np.empty((0, len(self.labels)))
        scores = self.function(list(texts))
        return checked_scores(scores, len(texts), self.labels, model=self.name)

    def read(self, texts: Sequence[Any], /) -> IntArray:
        """How many characters of each text are read, (n,): all of them unless the object has `read`."""
        if self.reader is None or not texts:
            return sizes_of(texts)
        reads = np.asarray(self.reader(list(texts)))
        if reads.shape != (len(texts),):
            raise ModelFailure(
                f"`read` of model '{self.name}' returned an array of shape {reads.shape}",
                code="model.read-shape",
                allowed=f"({len(texts)},): the number of characters read of each text",
            )
        return reads.astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Origin:
    """What is known of an object apart from its attributes.

    `source` is a hash of its code, None if there is none; `note` says what that hash covers.
    """

    name: str
    source: str | None
    note: str


def open_python(target: str, options: PythonOptions) -> Model:
    """Open MODULE:OBJECT or FILE.py:OBJECT; modules are searched in `folder`, then in the current folder."""
    module_name, colon, object_path = target.rpartition(":")
    if not colon or not module_name or not object_path:
        raise BadInput(
            f"'{target}' does not name a Python object",
            code="model.no-python-object",
            allowed="python:MODULE:OBJECT or python:FILE.py:OBJECT",
        )

    if module_name.endswith(".py"):
        module = import_file(Path(module_name).expanduser())
        short_name = Path(module_name).stem
    else:
        module = import_module(module_name, [Path(options.folder)] if options.folder else [])
        short_name = module_name.rpartition(".")[2]
    thing = _attribute(module, object_path, module_name=module_name, where=target)

    file = getattr(module, "__file__", None)
    object_name = object_path.rpartition(".")[2]
    origin = _Origin(
        # "model" would be the name of every other model, too.
        name=short_name if object_name == "model" else object_name,
        # The whole file: what the object calls in it counts as well.
        source=None if file is None else hashed(file_hash(Path(file)), object_path),
        note=f"the fingerprint of this model covers only the source of {Path(file or '').name}",
    )
    return _wrapped(thing, options, origin)


def _attribute(
    module: Any,
    object_path: str,
    *,
    module_name: str,
    where: str,
) -> Any:
    """The object at a dotted path in a module."""
    thing = module
    for part in object_path.split("."):
        if not hasattr(thing, part):
            public_names = [name for name in dir(thing) if not name.startswith("_")]
            raise BadInput(
                f"'{module_name}' has no '{part}'",
                code="model.no-such-object",
                where=where,
                allowed=nearest(part, public_names),
            )
        thing = getattr(thing, part)
    return thing


def wrap_object(thing: Any, options: PythonOptions) -> Model:
    """Wrap a model or function of this process; a model that replies in words is used as it is."""
    name = str(getattr(thing, "__name__", None) or type(thing).__name__)
    origin = _Origin(
        name="function" if name == "<lambda>" else name,
        source=source_hash(thing),
        note="the fingerprint of this model covers its source and the plain values that it refers to",
    )
    return _wrapped(thing, options, origin)


def _wrapped(thing: Any, options: PythonOptions, origin: _Origin) -> Model:
    """The model that a user's object, class or function is."""
    if isinstance(thing, type):
        thing = _instance(thing)
    # Before all else: such a model has `score`, too, but its replies are worth keeping.
    if isinstance(thing, Replying):
        return _checked_replying(thing, options, origin.name)
    held = _held_model(thing, options, origin)
    if held is not None:
        return held

    # From here on it is an object with `score`, or a function.
    name = options.name or _own_name(thing) or origin.name
    function = _scoring_function(thing, options, name)
    labels = _labels(thing, options, name)
    names_no_labels = options.label is None and not hasattr(thing, "labels")
    if names_no_labels and isinstance(function, ScoringFunction):
        labels = function.labels or labels
    identity = _identity(thing, origin)
    # A declared fingerprint is the user's promise; of a source, the labels decide the columns, too.
    fingerprint = identity.mark if identity.is_declared else hashed(identity.mark, *labels)
    return PythonModel(
        name=name,
        labels=labels,
        fingerprint=fingerprint,
        capabilities=_with_assumptions(_capabilities(thing, options, name, labels, identity), function),
        function=function,
        reader=getattr(thing, "read", None),
    )


def _instance(kind: type) -> Any:
    """An object of a class that the user named instead of an object."""
    do = "name an instance, or give its arguments defaults"
    with running_user_code(f"creating a {kind.__name__} without arguments", kind.__name__, do):
        return kind()


def _checked_replying(model: Replying, options: PythonOptions, name: str) -> Replying:
    """A model that replies in words, as it is; what it has to declare must be in its capabilities."""
    if options.name or options.label or options.batch:
        raise BadInput(
            f"'{name}' replies in words: its name, labels and batch are its own",
            code="model.replying-has-options",
            allowed="no option",
            do="set them on the object",
        )
    # Above all `remote`: texts must not leave the machine because it was overlooked.
    undeclared = [attribute for attribute in _DECLARED if hasattr(model, attribute)]
    if undeclared and not isinstance(model, Capable):
        raise BadInput(
            f"'{name}' has {', '.join(undeclared)}, but does not declare its capabilities",
            code="model.undeclared-capabilities",
            allowed="an attribute `capabilities` (psycheck.core.model.Capabilities)",
            do=f"set capabilities = Capabilities({', '.join(f'{attribute}=…' for attribute in undeclared)})",
        )
    return model


def _held_model(thing: Any, options: PythonOptions, origin: _Origin) -> Model | None:
    """A model of another library that has a kind of its own; None for anything else."""
    estimator = estimator_of(thing)
    if estimator is not None:
        return open_estimator(estimator, options)
    parts = network_and_tokenizer_of(thing)
    if parts is not None:
        return open_transformer(*parts, options)
    return None


def _scoring_function(thing: Any, options: PythonOptions, name: str) -> Callable[[list[Any]], Any]:
    """What is called with texts: the method `score`, a function of another library, or the object itself."""
    if hasattr(thing, "score"):
        method: Callable[[list[Any]], Any] = thing.score
        return method

    function = function_of(thing)
    if not callable(function):
        raise BadInput(
            f"'{name}' is a {type(thing).__name__}, not a model",
            code="model.not-callable",
            allowed=_ACCEPTED,
            do="write a function from texts to probabilities around it, and pass that"
            " (on the command line: python:FILE.py:FUNCTION)",
        )
    if _takes(thing, name) == "histories":
        return function
    names_columns = options.label is not None or hasattr(thing, "labels")
    return ScoringFunction.of(
        function,
        positive=options.positive,
        names_columns=names_columns,
        name=name,
    )


def _own_name(thing: Any) -> str:
    name = getattr(thing, "name", None)
    return name if isinstance(name, str) else ""


@dataclass(frozen=True, slots=True)
class _Identity:
    """What tells a model from another: the fingerprint that it declares, or a hash of its source."""

    mark: str
    is_declared: bool
    notes: tuple[str, ...] = ()


def _identity(thing: Any, origin: _Origin) -> _Identity:
    declared = getattr(thing, "fingerprint", None)
    if declared is not None:
        return _Identity(str(declared), is_declared=True)
    # The same code with other weights gives other scores.
    weights = weights_of(thing)
    if weights is not None:
        return _Identity(hashed("weights", weights, origin.source or origin.name), is_declared=False)
    if origin.source is not None:
        return _Identity(hashed("python", origin.source), is_declared=False, notes=(origin.note,))
    # A random mark is never met again, so that no stored score can be taken for one of this model.
    note = "this model cannot be fingerprinted: its scores are not reused between runs"
    return _Identity(secrets.token_hex(16), is_declared=False, notes=(note,))


def _capabilities(
    thing: Any, options: PythonOptions, name: str, labels: tuple[str, ...], identity: _Identity
) -> Capabilities:
    """What a user's object declares: in `capabilities`, or in attributes of the documented names."""
    if isinstance(thing, Capable):
        declared = thing.capabilities
    else:
        declared = Capabilities(
            batch=getattr(thing, "batch", None),
            exclusive=bool(getattr(thing, "exclusive", False)),
            takes=_takes(thing, name),
            most_posts=int(getattr(thing, "most", MOST_POSTS)),
            parts=getattr(thing, "parts", None) or {},
        )
    parts = dict(declared.parts) or {"source": identity.mark}
    return replace(
        declared,
        batch=options.batch or int(declared.batch or BATCH),
        # One label cannot exclude another.
        exclusive=declared.exclusive and len(labels) > 1,
        recheck=True,  # code may read files and settings that no fingerprint covers
        parts=parts | {"labels": ",".join(labels)},
        notes=(*declared.notes, *identity.notes),
    )


def _with_assumptions(capabilities: Capabilities, function: Callable[[list[Any]], Any]) -> Capabilities:
    """The capabilities with what was assumed about the answers of a function."""
    if not isinstance(function, ScoringFunction):
        return capabilities
    return replace(
        capabilities,
        exclusive=capabilities.exclusive or function.exclusive,
        notes=(*capabilities.notes, *function.notes),
    )


def _takes(thing: Any, name: str) -> Literal["texts", "histories"]:
    """What an object scores: texts, or the posts of authors."""
    takes = getattr(thing, "takes", "texts")
    if takes == "texts":
        return "texts"
    if takes == "histories":
        return "histories"
    raise BadInput(
        f"model '{name}' says that it takes '{takes}'",
        code="model.unknown-items",
        where="takes",
        allowed=nearest(str(takes), ("texts", "histories")),
    )


def _labels(thing: Any, options: PythonOptions, name: str) -> tuple[str, ...]:
    """The labels of the option, else those of the object, else one label."""
    labels = _declared_labels(thing)
    if options.label is not None:
        renamed = tuple(label.strip() for label in options.label.split(","))
        # A function may return several columns without saying so: then the option names them.
        if _declares_several(thing) and len(renamed) != len(labels):
            raise BadInput(
                f"{counted(len(renamed), 'label')} for the {len(labels)} of model '{name}'",
                code="model.label-count",
                allowed=f"one name for each of: {', '.join(map(str, labels))}",
            )
        labels = renamed

    are_names = all(isinstance(label, str) and label for label in labels)
    are_distinct = len(set(labels)) == len(labels)
    if not labels or not are_distinct or not are_names:
        raise BadInput(
            f"the labels of model '{name}' are empty or repeated",
            code="model.labels-not-distinct",
            allowed="distinct names",
        )
    return labels


def _declared_labels(thing: Any) -> tuple[str, ...]:
    """The labels of an object as a tuple; one label may be a plain string."""
    declared = getattr(thing, "labels", None)
    if declared is None:
        return (ONE_LABEL,)
    if isinstance(declared, str):
        return (declared,)
    return tuple(declared)


def _declares_several(thing: Any) -> bool:
    declared = getattr(thing, "labels", None)
    return declared is not None and not isinstance(declared, str)


KIND = ModelKind(
    open=open_python,
    options=PythonOptions,
    target="module",
)
