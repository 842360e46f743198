"""Open a model or an encoder by a short text that says where it is: KIND:TARGET[?key=value&key=value]."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

from psycheck.errors import BadInput, nearest, neighbours
from psycheck.model import Encoder, Model


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What may be said about a model, after "?" in its spec or as keywords; the spec's own win.

    `label` names the one column (or all, parted by commas), `positive` is the class kept, by name or index,
    `folder` is where a Python module is looked for before the current folder (a plan names its own).
    """

    name: str | None = None
    label: str | None = None
    positive: str | None = None
    max_length: int | None = None
    batch: int | None = None
    device: str | None = None
    activation: Literal["softmax", "sigmoid"] | None = None
    trust_pickle: bool = False
    trust_remote_code: bool = False
    revision: str | None = None
    folder: str | None = None


KINDS: Mapping[str, str] = {
    "hf": "psycheck.models.hf:open_hf",
    "sklearn": "psycheck.models.sklearn_file:open_sklearn",
    "python": "psycheck.models.python_object:open_python",
    "scores": "psycheck.models.score_file:open_scores",
    "frozen": "psycheck.train.frozen:open_frozen",
}
_LATER = ("llm",)
_ENCODERS = "minilm, hf:FOLDER, hf:HUB_NAME or vectors:FILE"
_OPTIONS = tuple(field.name for field in fields(ModelOptions))
_ONLY_FOR = {
    "positive": ("hf", "sklearn"),
    "max_length": ("hf",),
    "activation": ("hf",),
    "device": ("hf", "frozen"),
    "revision": ("hf",),
    "trust_pickle": ("hf", "sklearn"),
    "trust_remote_code": ("hf",),
    "folder": ("python",),
}
_TRUTH = {"": True, "1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def open_model(spec: str | Path | Model | Callable[..., Any], **options: Any) -> Model:
    """Open "hf:FOLDER", "sklearn:FILE", "python:MODULE:OBJECT", "scores:FILE", or wrap a Python object."""
    if not isinstance(spec, str | Path):
        from psycheck.models.python_object import wrap_object

        if type(spec).__module__.startswith("psycheck.models.") and isinstance(spec, Model) and not options:
            return spec
        return wrap_object(spec, _options("python", {}, options, where="open_model"))
    kind, target, query = parse_spec(str(spec))
    module, function = KINDS[kind].split(":")
    opened: Model = getattr(import_module(module), function)(
        target, _options(kind, query, options, where=str(spec))
    )
    return opened


def open_awaited(spec: str) -> Model:
    """Open a model, or stand in for one whose score file is still to be made (`--export-texts`)."""
    kind, target, query = parse_spec(spec)
    if kind == "scores" and not Path(target).expanduser().exists():
        from psycheck.models.score_file import awaited_scores

        return awaited_scores(target, _options(kind, query, {}, where=spec))
    return open_model(spec)


def open_encoder(spec: str | Path | Encoder, **options: Any) -> Encoder:
    """Open "minilm" (all-MiniLM-L6-v2), "hf:FOLDER" or "vectors:FILE", or take an encoder as it is."""
    if not isinstance(spec, str | Path):
        return spec
    from psycheck.models.encoder import minilm_folder, open_hf_encoder

    text = str(spec)
    name, _, query = text.partition("?")
    if name == "minilm":
        said = _options("hf", _query(query, text), options, where=text)
        return open_hf_encoder(str(minilm_folder()), said, name="all-MiniLM-L6-v2")
    if name.startswith("vectors:"):
        from psycheck.models.word_vectors import open_vectors

        return open_vectors(
            name.removeprefix("vectors:"), _options("vectors", _query(query, text), options, where=text)
        )
    if ":" not in name and not (Path(name) / "config.json").is_file():
        raise BadInput(f"'{name}' names no encoder", allowed=_ENCODERS)
    kind, target, keys = parse_spec(text)
    if kind != "hf":
        raise BadInput(f"'{kind}:' opens no encoder", where=text, allowed=_ENCODERS)
    return open_hf_encoder(target, _options("hf", keys, options, where=text))


def parse_spec(spec: str) -> tuple[str, str, dict[str, str]]:
    """Split a spec into its kind, its target and what follows "?"."""
    head, _, query = spec.partition("?")
    kind, colon, target = head.partition(":")
    if not colon or (kind not in KINDS and Path(head).exists()):
        kind, target = _guessed_kind(head), head
    elif kind in _LATER:
        raise BadInput(
            f"'{kind}:' models are not in this version",
            where=spec,
            allowed=", ".join(f"{known}:" for known in KINDS),
            do="until then write the texts with --export-texts, score them and give them back as scores:FILE",
        )
    elif kind not in KINDS:
        written = kind.endswith(".py") or Path(f"{kind}.py").is_file()
        raise BadInput(
            f"unknown kind of model '{kind}:'",
            where=spec,
            allowed=nearest(kind, KINDS),
            do=f"write python:{spec}" if written else "",
        )
    if not target:
        raise BadInput(f"'{kind}:' names no target", where=spec, allowed="KIND:TARGET[?key=value&key=value]")
    return kind, target, _query(query, spec)


def _guessed_kind(path: str) -> str:
    """A bare path is enough where it says by itself what it is."""
    if (Path(path) / "config.json").is_file():
        return "hf"
    if (Path(path) / "model.skops").is_file():
        return "sklearn"
    if (Path(path) / "frozen.json").is_file():
        return "frozen"
    if path.endswith(".skops"):
        return "sklearn"
    allowed = ", ".join(f"{kind}:" for kind in KINDS) + ", a folder with config.json, or a .skops file"
    if not Path(path).exists():
        beside = Path(path).parent
        near = neighbours(Path(path).name, [p.name for p in beside.iterdir()] if beside.is_dir() else [])
        raise BadInput(f"there is no model '{path}'", allowed=near or allowed)
    likely = {".py": f"python:{path}:OBJECT", ".joblib": f"sklearn:{path}", ".pkl": f"sklearn:{path}"}
    raise BadInput(
        f"'{path}' does not say what kind of model it is",
        allowed=allowed,
        do=f"put the kind before it, for example {likely.get(Path(path).suffix, f'hf:{path}')}",
    )


def _query(query: str, spec: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    if len({key for key, _ in pairs}) != len(pairs):
        raise BadInput("an option is given twice", where=spec)
    return dict(pairs)


def _options(kind: str, query: Mapping[str, str], given: Mapping[str, Any], *, where: str) -> ModelOptions:
    said: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    said.update(query)
    for key in said:
        if key not in _OPTIONS:
            raise BadInput(f"unknown option '{key}'", where=where, allowed=nearest(key, _OPTIONS))
        if kind not in _ONLY_FOR.get(key, (kind,)):
            raise BadInput(
                f"'{kind}:' models take no option '{key}'",
                where=where,
                allowed=f"'{key}' is for {' and '.join(f'{known}:' for known in _ONLY_FOR[key])}",
                do=f"write it into the spec of the model that it belongs to: …?{key}=…",
            )
    return ModelOptions(**{key: _typed(key, value, where) for key, value in said.items()})


def _typed(key: str, value: Any, where: str) -> Any:
    if key in ("max_length", "batch"):
        if not str(value).isdecimal() or int(value) < 1:
            raise BadInput(f"option '{key}' is no whole number", where=where, allowed="1 or more")
        return int(value)
    if key.startswith("trust_"):
        if (word := str(value).casefold()) not in _TRUTH:
            raise BadInput(f"option '{key}' is neither true nor false", where=where, allowed="true or false")
        return _TRUTH[word]
    if key == "activation" and value not in ("softmax", "sigmoid"):
        raise BadInput(f"unknown activation '{value}'", where=where, allowed="softmax or sigmoid")
    if value == "":
        raise BadInput(f"option '{key}' is empty", where=where)
    return str(value)
