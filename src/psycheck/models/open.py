"""Open a model or an encoder by its spec: KIND:TARGET[?key=value&key=value]."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from psycheck.errors import BadInput, nearest, neighbours
from psycheck.model import Encoder, Model
from psycheck.models.options import options_of, query_of

# Add a kind of your own: KINDS["mine"] = "module:function", a function (target, ModelOptions) -> Model.
KINDS: dict[str, str] = {
    "hf": "psycheck.models.hf:open_hf",
    "sklearn": "psycheck.models.sklearn_file:open_sklearn",
    "python": "psycheck.models.python_object:open_python",
    "scores": "psycheck.models.score_file:open_scores",
    "frozen": "psycheck.models.frozen:open_frozen",
    "llm": "psycheck.models.llm.open:open_llm",
    "symptoms": "psycheck.models.symptoms:open_symptoms",
}
_ENCODERS = "minilm, hf:FOLDER, hf:HUB_NAME or vectors:FILE"


def open_model(spec: str | Path | Model | Callable[..., Any], **options: Any) -> Model:
    """Open "hf:FOLDER", "sklearn:FILE", "python:MODULE:OBJECT", "scores:FILE", "llm:NAME" or an object."""
    if not isinstance(spec, str | Path):
        from psycheck.models.python_object import wrap_object

        if type(spec).__module__.startswith("psycheck.models.") and isinstance(spec, Model) and not options:
            return spec
        return wrap_object(spec, options_of("python", {}, options, where="open_model"))
    kind, target, query = parse_spec(str(spec))
    module, function = KINDS[kind].split(":")
    checked = options_of(kind, query, options, where=str(spec))
    opened: Model = getattr(import_module(module), function)(target, checked)
    return opened


def open_awaited(spec: str) -> Model:
    """Open a model, or a placeholder if its score file does not exist yet."""
    kind, target, query = parse_spec(spec)
    if kind == "scores" and not Path(target).expanduser().exists():
        from psycheck.models.score_file import awaited_scores

        return awaited_scores(target, options_of(kind, query, {}, where=spec))
    return open_model(spec)


def open_encoder(spec: str | Path | Encoder, **options: Any) -> Encoder:
    """Open "minilm" (all-MiniLM-L6-v2), "hf:FOLDER" or "vectors:FILE"; return an encoder unchanged."""
    if not isinstance(spec, str | Path):
        return spec
    from psycheck.models.hf import minilm_folder, open_hf_encoder

    text = str(spec)
    name, _, query = text.partition("?")
    if name == "minilm":
        checked = options_of("hf", query_of(query, text), options, where=text)
        return open_hf_encoder(str(minilm_folder()), checked, name="all-MiniLM-L6-v2")
    if name.startswith("vectors:"):
        from psycheck.models.vectors.static import open_vectors

        checked = options_of("vectors", query_of(query, text), options, where=text)
        return open_vectors(name.removeprefix("vectors:"), checked)
    if ":" not in name and not (Path(name) / "config.json").is_file():
        raise BadInput(f"'{name}' is not an encoder", allowed=_ENCODERS)
    kind, target, keys = parse_spec(text)
    if kind != "hf":
        raise BadInput(f"'{kind}:' does not open an encoder", where=text, allowed=_ENCODERS)
    return open_hf_encoder(target, options_of("hf", keys, options, where=text))


def parse_spec(spec: str) -> tuple[str, str, dict[str, str]]:
    """Split a spec into its kind, its target and its options."""
    head, _, query = spec.partition("?")
    kind, colon, target = head.partition(":")
    if not colon or (kind not in KINDS and Path(head).exists()):
        kind, target = _guessed_kind(head), head
    elif kind not in KINDS:
        written = kind.endswith(".py") or Path(f"{kind}.py").is_file()
        raise BadInput(
            f"unknown kind of model '{kind}:'",
            where=spec,
            allowed=nearest(kind, KINDS),
            do=f"write python:{spec}" if written else "",
        )
    if not target:
        raise BadInput(f"'{kind}:' has no target", where=spec, allowed="KIND:TARGET[?key=value&key=value]")
    return kind, target, query_of(query, spec)


def _guessed_kind(path: str) -> str:
    """The kind of a model that is named by its path alone."""
    for file, kind in (("config.json", "hf"), ("model.skops", "sklearn"), ("frozen.json", "frozen")):
        if (Path(path) / file).is_file():
            return kind
    if path.endswith(".skops"):
        return "sklearn"
    allowed = ", ".join(f"{kind}:" for kind in KINDS) + ", a folder with config.json, or a .skops file"
    if not Path(path).exists():
        near = neighbours(Path(path).name, [other.name for other in Path(path).parent.glob("*")])
        raise BadInput(f"there is no model '{path}'", allowed=near or allowed)
    likely = {".py": f"python:{path}:OBJECT", ".joblib": f"sklearn:{path}", ".pkl": f"sklearn:{path}"}
    raise BadInput(
        f"cannot tell what kind of model '{path}' is",
        allowed=allowed,
        do=f"add the kind, for example {likely.get(Path(path).suffix, f'hf:{path}')}",
    )
