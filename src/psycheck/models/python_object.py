"""Models written in Python: an object with `labels` and `score`, or a function from texts to an array."""

import importlib
import importlib.util
import secrets
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from psycheck.corpora.histories import MOST
from psycheck.errors import BadInput, ModelFailure, counted, nearest, neighbours
from psycheck.model import FloatArray, IntArray, Model, Replying, sizes_of
from psycheck.models.fingerprint import file_hash, hashed, source_hash
from psycheck.models.labels import ONE_LABEL
from psycheck.models.options import ModelOptions
from psycheck.models.output import checked_scores

BATCH = 256
_TAKEN = "an object with .labels and .score(texts), or a function from a list of texts to an array"
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
    exclusive: bool
    function: Callable[[list[str]], Any] = field(repr=False)
    reader: Callable[[list[str]], Any] | None = field(repr=False)
    takes: str = "texts"
    most: int = MOST

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        if not texts:
            return np.empty((0, len(self.labels)))
        return checked_scores(self.function(list(texts)), len(texts), self.labels, model=self.name)

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text are read, (n,): all of them unless the object has `read`."""
        if self.reader is None or not texts:
            return sizes_of(texts)
        reads = np.asarray(self.reader(list(texts)))
        if reads.shape != (len(texts),):
            what = f"`read` of model '{self.name}' returned an array of shape {reads.shape}"
            raise ModelFailure(what, allowed=f"({len(texts)},): the number of characters read of each text")
        return reads.astype(np.int64)


def open_python(target: str, options: ModelOptions) -> Model:
    """Open MODULE:OBJECT or FILE.py:OBJECT; modules are searched in `folder`, then in the current folder."""
    where, colon, path = target.rpartition(":")
    if not colon or not where or not path:
        allowed = "python:MODULE:OBJECT or python:FILE.py:OBJECT"
        raise BadInput(f"'{target}' does not name a Python object", allowed=allowed)
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
    name = path.rpartition(".")[2]
    if name == "model":
        name = Path(where).stem if where.endswith(".py") else where.rpartition(".")[2]
    file = getattr(module, "__file__", None)
    source = None if file is None else hashed(file_hash(Path(file)), path)
    note = f"the fingerprint of this model covers only the source of {Path(file or '').name}"
    return _wrapped(thing, options, name=name, source=source, note=note)


def wrap_object(thing: Any, options: ModelOptions) -> Model:
    """Wrap a model or function of this process; a model that replies in words is used as it is."""
    name = str(getattr(thing, "__name__", None) or type(thing).__name__)
    name = "function" if name == "<lambda>" else name
    note = "the fingerprint of this model covers its source and the plain values that it refers to"
    return _wrapped(thing, options, name=name, source=source_hash(thing), note=note)


def _wrapped(thing: Any, options: ModelOptions, *, name: str, source: str | None, note: str) -> Model:
    if isinstance(thing, type):
        do = "name an instance, or give its arguments defaults"
        with _running(f"creating a {thing.__name__} without arguments", thing.__name__, do):
            thing = thing()
    if isinstance(thing, Replying):
        if options.name or options.label or options.batch:
            what = f"'{name}' replies in words: its name, labels and batch are its own"
            raise BadInput(what, allowed="no option", do="set them on the object")
        return thing
    if hasattr(thing, "predict_proba"):
        do = "save it with skops.io.dump and open it as sklearn:FILE.skops, or write a function around it"
        raise BadInput(f"'{name}' is a scikit-learn estimator", allowed=_TAKEN, do=do)
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
    return PythonModel(
        name=name,
        labels=labels,
        fingerprint=fingerprint if own is not None else hashed(fingerprint, *labels),
        parts=parts | {"labels": ",".join(labels)},
        notes=notes,
        batch=options.batch or int(getattr(thing, "batch", None) or BATCH),
        exclusive=len(labels) > 1 and bool(getattr(thing, "exclusive", False)),
        function=function,
        reader=getattr(thing, "read", None),
        takes=str(getattr(thing, "takes", "texts")),
        most=int(getattr(thing, "most", MOST)),
    )


def _labels(thing: Any, options: ModelOptions, name: str) -> tuple[str, ...]:
    own: Any = getattr(thing, "labels", None)
    several = own is not None and not isinstance(own, str)
    labels = tuple(own) if several else (ONE_LABEL if own is None else own,)
    if options.label is not None:
        names = tuple(label.strip() for label in options.label.split(","))
        if several and len(names) != len(labels):
            what = f"{counted(len(names), 'label')} for the {len(labels)} of model '{name}'"
            raise BadInput(what, allowed=f"one name for each of: {', '.join(map(str, labels))}")
        labels = names
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
        with _running(f"importing '{name}'", name):
            return importlib.import_module(name)
    except ModelFailure as failure:
        error = failure.__cause__
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            where = " and ".join([*map(str, first), "the current folder and the installed packages"])
            allowed = neighbours(name, {path.stem for folder in folders for path in folder.glob("*.py")})
            raise BadInput(f"there is no Python module '{name}'", where=where, allowed=allowed) from error
        raise


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
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        with _running(f"importing '{path}'", str(path)):
            spec.loader.exec_module(module)
    except ModelFailure:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _running(what: str, name: str, do: str = "") -> Iterator[None]:
    """Run code of the user; an error names the last line of it in the traceback, or else `name`."""
    try:
        yield
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
        place = f"{own[-1].filename}, line {own[-1].lineno}" if own else name
        if isinstance(error, SyntaxError) and error.filename:
            place = f"{error.filename}, line {error.lineno}"
        reason = type(error).__name__
        if str(error) and not do:  # without another remedy, the message says what to fix
            reason += f": {error}"
        do = do or "fix it there, then try again"
        raise ModelFailure(f"{what} fails ({reason})", where=place, do=do) from error
