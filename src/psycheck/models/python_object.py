"""Models written in Python: an object with `labels` and `score`, or a function from texts to an array."""

import importlib
import importlib.util
import secrets
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from psycheck.errors import BadInput, ModelFailure, counted, nearest, neighbours
from psycheck.model import FloatArray, IntArray
from psycheck.models.fingerprint import file_hash, hashed
from psycheck.models.labels import ONE_LABEL
from psycheck.models.options import ModelOptions
from psycheck.models.output import checked_scores
from psycheck.models.source import source_hash

BATCH = 256
_TAKEN = "an object with `labels` and `score(texts)`, or a function from a list of texts to an array"
_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), __file__, "<frozen")


@dataclass(frozen=True, slots=True)
class PythonModel:
    """A wrapper around a user's function or object that checks what it returns."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    notes: tuple[str, ...]
    batch: int
    function: Callable[[list[str]], Any] = field(repr=False)
    reader: Callable[[list[str]], Any] | None = field(repr=False)

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        if not texts:
            return np.empty((0, len(self.labels)))
        return checked_scores(self.function(list(texts)), len(texts), self.labels, model=self.name)

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text are read, (n,): all of them unless the object has `read`."""
        if self.reader is None or not texts:
            return np.array([len(text) for text in texts], np.int64)
        reads = np.asarray(self.reader(list(texts)))
        if reads.shape != (len(texts),):
            raise ModelFailure(
                f"`read` of model '{self.name}' returned an array of shape {reads.shape}",
                allowed=f"({len(texts)},): the number of characters read of each text",
            )
        return reads.astype(np.int64)


def open_python(target: str, options: ModelOptions) -> PythonModel:
    """Open MODULE:OBJECT or FILE.py:OBJECT; modules are searched in `folder`, then in the current folder."""
    where, colon, path = target.rpartition(":")
    if not colon or not where or not path:
        raise BadInput(
            f"'{target}' does not name a Python object",
            allowed="python:MODULE:OBJECT or python:FILE.py:OBJECT",
        )
    if where.endswith(".py"):
        module = _import_file(Path(where).expanduser())
    else:
        module = _import_module(where, [Path(options.folder)] if options.folder else [])
    thing: Any = module
    for part in path.split("."):
        if not hasattr(thing, part):
            public = [name for name in dir(thing) if not name.startswith("_")]
            raise BadInput(f"'{where}' has no '{part}'", where=target, allowed=nearest(part, public))
        thing = getattr(thing, part)
    last = path.rpartition(".")[2]
    name = Path(where).stem if where.endswith(".py") else where.rpartition(".")[2]
    name = name if last == "model" else last
    source = getattr(module, "__file__", None)
    if source is None:
        return _wrapped(thing, options, name=name, source=None, note="")
    note = f"the fingerprint of this model covers only the source of {Path(source).name}"
    return _wrapped(thing, options, name=name, source=hashed(file_hash(Path(source)), path), note=note)


def wrap_object(thing: Any, options: ModelOptions) -> PythonModel:
    """Wrap a model or function of this process."""
    name = getattr(thing, "__name__", None) or type(thing).__name__
    return _wrapped(
        thing,
        options,
        name="function" if name == "<lambda>" else str(name),
        source=source_hash(thing),
        note="the fingerprint of this model covers its source and the plain values that it refers to",
    )


def _wrapped(thing: Any, options: ModelOptions, *, name: str, source: str | None, note: str) -> PythonModel:
    if isinstance(thing, type):
        thing = _made(thing)
    if hasattr(thing, "predict_proba"):
        raise BadInput(
            f"'{name}' is a scikit-learn estimator",
            allowed=_TAKEN,
            do="save it with skops.io.dump and open it as sklearn:FILE.skops, or write a function around it",
        )
    function = getattr(thing, "score", None) or thing
    if not callable(function):
        raise BadInput(f"'{name}' is a {type(thing).__name__}, not a model", allowed=_TAKEN)
    own_name = getattr(thing, "name", None)
    name = options.name or (own_name if isinstance(own_name, str) else "") or name
    labels = _labels(thing, options, name)
    own = getattr(thing, "fingerprint", None)
    notes: tuple[str, ...] = ()
    if own is not None:
        fingerprint = str(own)
    elif source is not None:
        fingerprint, notes = hashed("python", source), (note,)
    else:
        fingerprint = secrets.token_hex(16)
        notes = ("this model cannot be fingerprinted: its scores are not reused between runs",)
    parts = dict(getattr(thing, "parts", None) or {"source": fingerprint})
    parts["labels"] = ",".join(labels)
    return PythonModel(
        name=name,
        labels=labels,
        fingerprint=fingerprint if own is not None else hashed(fingerprint, *labels),
        parts=parts,
        notes=notes,
        batch=options.batch or int(getattr(thing, "batch", None) or BATCH),
        function=function,
        reader=getattr(thing, "read", None),
    )


def _made(kind: type) -> Any:
    try:
        return kind()
    except Exception as error:
        raise ModelFailure(
            f"creating a {kind.__name__} without arguments fails ({type(error).__name__})",
            where=_place(error) or kind.__name__,
            do="name an instance, or give its arguments defaults",
        ) from error


def _labels(thing: Any, options: ModelOptions, name: str) -> tuple[str, ...]:
    own = getattr(thing, "labels", None)
    if options.label is not None:
        labels = tuple(label.strip() for label in options.label.split(","))
    elif own is None:
        labels = (ONE_LABEL,)
    else:
        labels = (own,) if isinstance(own, str) else tuple(own)
    if own is not None and not isinstance(own, str) and len(labels) != len(tuple(own)):
        raise BadInput(
            f"{counted(len(labels), 'label')} for the {len(tuple(own))} of model '{name}'",
            allowed=f"one name for each of: {', '.join(map(str, own))}",
        )
    named = all(isinstance(one, str) and one for one in labels)
    if not labels or len(set(labels)) != len(labels) or not named:
        raise BadInput(f"the labels of model '{name}' are empty or repeated", allowed="distinct names")
    return labels


def _import_module(name: str, first: list[Path]) -> ModuleType:
    folders = [*first, Path.cwd()]
    places = [str(folder.resolve()) for folder in folders]
    sys.path[:] = [*places, *(place for place in sys.path if place not in places)]
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise BadInput(
                f"there is no Python module '{name}'",
                where=" and ".join([*map(str, first), "the current folder and the installed packages"]),
                allowed=neighbours(name, {path.stem for folder in folders for path in folder.glob("*.py")}),
            ) from error
        raise _import_failure(error, name) from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        others = [other.name for other in path.parent.glob("*.py")]
        raise BadInput(f"there is no file '{path}'", allowed=neighbours(path.name, others))
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    # A unique name, so that the file does not replace an installed module of the same name.
    name = f"psycheck_user_{hashed(str(path.resolve()))[:8]}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise BadInput(f"'{path}' cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _import_failure(error, str(path)) from error
    return module


def _import_failure(error: BaseException, name: str) -> ModelFailure:
    """One error with the line of the user's file at which the import failed."""
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}, line {error.lineno}"
    else:
        place = _place(error) or name
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ModelFailure(
        f"importing '{name}' fails ({reason})", where=place, do="fix it there, then try again"
    )


def _place(error: BaseException) -> str:
    """The last line of the user's own code in the traceback of an error."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
    return f"{own[-1].filename}, line {own[-1].lineno}" if own else ""
