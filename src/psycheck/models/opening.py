"""Open a model or an encoder by its spec: KIND:TARGET[?key=value&key=value].

The kinds are entry points (`psycheck.core.registry.MODEL_KINDS`); none is imported before a spec names it.
"""

import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote_plus, urlencode

from psycheck.core.errors import BadInput, PsycheckError, nearest, neighbours
from psycheck.core.model import Encoder, Model, ModelKind
from psycheck.core.registry import MODEL_KINDS
from psycheck.models.options import ModelOptions, options_of, query_of

_ENCODERS = "minilm, hf:FOLDER, hf:HUB_NAME or vectors:FILE"
_ANYTHING_ELSE = (
    "for any other model, write a function from a list of texts to probabilities, and name it:"
    " python:FILE.py:FUNCTION"
)
# How files are opened that no kind claims by their ending, because they are code.
_LIKELY_SPECS = {
    ".py": "python:{path}:OBJECT",
    ".joblib": "sklearn:{path}",
    ".pkl": "sklearn:{path}",
}
# The specs of opened models by identity, as long as these live: a model need not know how it was opened.
_SPECS: dict[int, str] = {}


class Openable(Protocol):
    """What says itself how it is opened, such as a finished training (`Trained`)."""

    @property
    def spec(self) -> str:
        """The spec of its model."""


class Fitted(Protocol):
    """A fitted estimator of scikit-learn that takes raw texts."""

    def predict_proba(self, texts: Any, /) -> Any:
        """The probabilities of its classes, (n, c)."""


ModelLike = str | Path | Model | Openable | Fitted | Callable[..., Any] | tuple[Any, Any]
"""A spec, a training, or an object: a model of ours, an estimator, a network, a function, or a network with
its tokenizer."""


def open_model(spec: ModelLike, **options: Any) -> Model:
    """Open "hf:FOLDER", "sklearn:FILE", "python:MODULE:OBJECT", "scores:FILE", "llm:NAME" or an object."""
    training = _spec_of_training(spec)
    if training is not None:
        return open_model(training, **options)
    if not isinstance(spec, str | Path):
        return _open_object(spec, options)

    kind_name, target, query = parse_spec(str(spec))
    kind: ModelKind = MODEL_KINDS.get(kind_name)
    # What was made in Python is handed over as it is: it cannot be written into a spec.
    names_of_objects = [name for name in kind.objects if _is_object(options.get(name))]
    objects = {name: options.pop(name) for name in names_of_objects}
    checked: object = options_of(kind_name, kind.options, query, options, where=str(spec))
    model: Model = kind.open(target, checked, **objects)
    if not objects:
        _remember_spec(model, _portable_spec(kind_name, target, query, options))
    return model


def _is_object(value: object) -> bool:
    """Whether the value of an option was made in Python, and cannot stand in a spec."""
    return value is not None and not isinstance(value, str | int | float | Path)


def spec_of(model: Model) -> str:
    """The spec with which another process of this machine opens the same model; "" if there is none.

    An object or function that was passed in exists in this process only, and so does a model whose options
    cannot be written in a spec.
    """
    return _SPECS.get(id(model), "")


def fast_spec(spec: str) -> str:
    """The spec of the same model in 8 bits; kinds that have no such option refuse it when they are opened."""
    mark = "&" if "?" in spec else "?"
    return f"{spec}{mark}fast=true"


def _remember_spec(model: Model, spec: str) -> None:
    # A class with slots may have none for weak references: its models are opened in this process only.
    with suppress(TypeError):
        weakref.finalize(model, _SPECS.pop, id(model), None)
        _SPECS[id(model)] = spec


def _portable_spec(
    kind: str,
    target: str,
    query: Mapping[str, str],
    keywords: Mapping[str, Any],
) -> str:
    """A spec with absolute paths and all options, whatever the folder it is opened from; "" if impossible."""
    set_keywords = {name: value for name, value in keywords.items() if value is not None}
    if not all(isinstance(value, str | int | float | Path) for value in set_keywords.values()):
        return ""

    # As in `options_of`, what stands in the spec takes precedence.
    values = set_keywords | dict(query)
    if MODEL_KINDS.get(kind).target == "module":
        # A module of the current folder is found here anyway, but not by a process in another folder.
        values["folder"] = str(Path(values.get("folder", "")).resolve())
    mark = "?" if values else ""
    spec = f"{kind}:{target}{mark}{urlencode(values, safe=':/,')}"
    return relative_spec(spec, Path.cwd())


def _spec_of_training(thing: object) -> str | None:
    """The spec of an object of ours that names one; None for anything else."""
    is_ours = type(thing).__module__.startswith("psycheck.")
    spec = getattr(thing, "spec", None)
    if is_ours and isinstance(spec, str):
        return spec
    return None


def _open_object(thing: Any, options: dict[str, Any]) -> Model:
    """A model of ours as it is; a user's object or function with its output checked."""
    from psycheck.models.python_object import PythonOptions, wrap_object

    # Our own models check what they return; those of others are wrapped, which checks it for them.
    package = type(thing).__module__.partition(".")[0]
    if package == "psycheck" and isinstance(thing, Model) and not options:
        return thing
    checked = options_of("python", PythonOptions, {}, options, where="open_model")
    return wrap_object(thing, checked)


def open_awaited(spec: str) -> Model:
    """Open a model, or a placeholder if its score file does not exist yet."""
    kind, target, query = parse_spec(spec)
    # An audit can list the texts to score before the file of scores exists.
    if kind == "scores" and not Path(target).expanduser().exists():
        from psycheck.models.score_file import ScoreFileOptions, awaited_scores

        return awaited_scores(target, options_of(kind, ScoreFileOptions, query, {}, where=spec))
    return open_model(spec)


def open_encoder(spec: str | Path | Encoder, **options: Any) -> Encoder:
    """Open "minilm" (all-MiniLM-L6-v2), "hf:FOLDER" or "vectors:FILE"; return an encoder unchanged."""
    if not isinstance(spec, str | Path):
        return spec
    text = str(spec)
    name, _, query = text.partition("?")

    if name.startswith("vectors:"):
        from psycheck.models.vectors.static import open_vectors

        checked = options_of("vectors", ModelOptions, query_of(query, text), options, where=text)
        return open_vectors(name.removeprefix("vectors:"), checked)

    from psycheck.models.hf import minilm_folder, open_hf_encoder
    from psycheck.models.hf_folder import HfOptions

    if name == "minilm":
        hf_options = options_of("hf", HfOptions, query_of(query, text), options, where=text)
        return open_hf_encoder(str(minilm_folder()), hf_options, name="all-MiniLM-L6-v2")

    if ":" not in name and not (Path(name) / "config.json").is_file():
        raise BadInput(f"'{name}' is not an encoder", code="encoder.unknown", allowed=_ENCODERS)
    kind, target, values = parse_spec(text)
    if kind != "hf":
        raise BadInput(
            f"'{kind}:' does not open an encoder",
            code="encoder.other-kind",
            where=text,
            allowed=_ENCODERS,
        )
    return open_hf_encoder(target, options_of("hf", HfOptions, values, options, where=text))


def parse_spec(spec: str) -> tuple[str, str, dict[str, str]]:
    """Split a spec into its kind, its target and its options."""
    head, _, query = spec.partition("?")
    kind, colon, target = head.partition(":")

    # A file name may contain a colon.
    is_path_with_colon = kind not in MODEL_KINDS and Path(head).exists()
    if not colon or is_path_with_colon:
        kind = _kind_of_path(head)
        target = head
    elif kind not in MODEL_KINDS:
        is_python = kind.endswith(".py") or Path(f"{kind}.py").is_file()
        raise BadInput(
            f"unknown kind of model '{kind}:'",
            code="model.unknown-kind",
            where=spec,
            allowed=nearest(kind, MODEL_KINDS.names()),
            do=f"write python:{spec}" if is_python else _ANYTHING_ELSE,
        )

    if not target:
        raise BadInput(
            f"'{kind}:' has no target",
            code="model.no-target",
            where=spec,
            allowed="KIND:TARGET[?key=value&key=value]",
        )
    return kind, target, query_of(query, spec)


def relative_spec(spec: str, folder: Path) -> str:
    """A spec of a plan file, with its files and modules found in the folder of the plan if they are there.

    A target or an option of another meaning (a hub name, the name of a shipped prompt) stays as it is.
    """
    name, colon, after_kind = spec.partition(":")
    # A path without a kind is found from the current folder.
    if not colon or name not in MODEL_KINDS:
        return spec
    kind: ModelKind = MODEL_KINDS.get(name)
    target, mark, query = after_kind.partition("?")

    if kind.files:
        query = _relative_query(query, kind.files, folder)
    if kind.target == "module":
        return _relative_module(name, target, query, folder)
    may_be_path = kind.target == "path" and target not in kind.names
    if may_be_path and (folder / target).exists():
        target = str(folder / target)
    return f"{name}:{target}{mark}{query}"


def _relative_query(query: str, file_options: tuple[str, ...], folder: Path) -> str:
    """The options of a spec, with the files that some of them name found in a folder."""
    pairs = []
    for option, value in parse_qsl(query, keep_blank_values=True):
        if option in file_options and (folder / value).is_file():
            value = str(folder / value)
        pairs.append((option, value))
    return urlencode(pairs, safe=":/,")


def _relative_module(
    kind: str,
    target: str,
    query: str,
    folder: Path,
) -> str:
    """The spec of a Python object whose file, or whose module, is in a folder."""
    module, _, object_path = target.rpartition(":")
    mark = "?" if query else ""
    if module.endswith(".py"):
        if (folder / module).is_file():
            module = str(folder / module)
        return f"{kind}:{module}:{object_path}{mark}{query}"

    package = folder / module.partition(".")[0]
    is_beside_plan = package.is_dir() or package.with_suffix(".py").is_file()
    if is_beside_plan and folder.resolve() != Path.cwd():
        # Modules of the current folder are found anyway.
        search_folder = f"folder={quote_plus(str(folder.resolve()))}"
        query = f"{query}&{search_folder}" if query else search_folder
        mark = "?"
    return f"{kind}:{target}{mark}{query}"


def paths_of_spec(spec: str) -> list[Path]:
    """The files and folders that a model reads, or those that may hold its Python module."""
    name, target, options = parse_spec(spec)
    kind: ModelKind = MODEL_KINDS.get(name)

    set_files = [options[option] for option in kind.files if option in options]
    paths = [Path(file).expanduser() for file in set_files]
    if kind.target == "path" and target not in kind.names:
        paths.insert(0, Path(target).expanduser())
    if kind.target == "module":
        paths += _module_paths(target, options.get("folder"))
    return paths


def _module_paths(target: str, search_folder: str | None) -> list[Path]:
    """The files that may hold the module of MODULE:OBJECT."""
    module = target.rpartition(":")[0]
    if module.endswith(".py"):
        return [Path(module).expanduser()]
    folders = [Path()]
    if search_folder is not None:
        folders.insert(0, Path(search_folder))
    file = f"{module.replace('.', '/')}.py"
    return [folder / file for folder in folders]


def _kind_of_path(path: str) -> str:
    """The kind of a model that is named by its path alone, by the markers and endings of the kinds."""
    kinds = _importable_kinds()

    with_marker = [name for name, kind in kinds.items() if _has_marker(Path(path), kind)]
    # `also_in` names the kinds whose folders hold the marker of this one as well.
    marked = [name for name in with_marker if set(kinds[name].also_in).isdisjoint(with_marker)]
    # A folder of one kind may hold a file that another kind could open alone, such as the pipeline of a model
    # of histories: kinds that also open single files come last.
    marked.sort(key=lambda name: bool(kinds[name].endings))
    if marked:
        return marked[0]

    for name, kind in kinds.items():
        if path.endswith(kind.endings):
            return name
    raise _not_a_model(path, kinds)


def _has_marker(folder: Path, kind: ModelKind) -> bool:
    return any((folder / marker).is_file() for marker in kind.markers)


def _importable_kinds() -> dict[str, ModelKind]:
    """All kinds by name, without those of other packages that cannot be imported."""
    kinds = {}
    for name in MODEL_KINDS.names():
        with suppress(PsycheckError):
            kinds[name] = MODEL_KINDS.get(name)
    return kinds


def _not_a_model(path: str, kinds: dict[str, ModelKind]) -> BadInput:
    """The error for a path that no kind claims, with what comes closest."""
    names = ", ".join(f"{name}:" for name in kinds)
    markers = chain.from_iterable(kind.markers for kind in kinds.values())
    endings = chain.from_iterable(kind.endings for kind in kinds.values())
    allowed = f"{names}, a folder with {' or '.join(markers)}, or a {' or '.join(endings)} file"

    if not Path(path).exists():
        # Most likely a typing error in the path.
        siblings = [sibling.name for sibling in Path(path).parent.glob("*")]
        return BadInput(
            f"there is no model '{path}'",
            code="model.not-there",
            allowed=neighbours(Path(path).name, siblings) or allowed,
            do=_ANYTHING_ELSE,
        )
    likely_spec = _LIKELY_SPECS.get(Path(path).suffix, "hf:{path}").format(path=path)
    return BadInput(
        f"cannot tell what kind of model '{path}' is",
        code="model.kind-unclear",
        allowed=allowed,
        do=f"add the kind, for example {likely_spec}; {_ANYTHING_ELSE}",
    )
