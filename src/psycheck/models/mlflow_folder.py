"""Folders that MLflow writes: the model inside is opened by its own format wherever that holds no code."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from psycheck.core.errors import BadInput, ModelFailure, explained
from psycheck.core.model import Capabilities, Model, ModelKind
from psycheck.models.fingerprint import hashed_files, hashed_parts
from psycheck.models.hf import open_hf_parts
from psycheck.models.hf_folder import HfOptions
from psycheck.models.onnx_file import OnnxOptions, open_onnx
from psycheck.models.options import ModelOptions, Text
from psycheck.models.python_object import PythonOptions, wrap_object
from psycheck.models.sklearn_file import SklearnOptions, open_sklearn
from psycheck.models.spacy_folder import SpacyOptions, open_spacy

DESCRIPTION = "MLmodel"


@dataclass(frozen=True, slots=True, kw_only=True)
class MlflowOptions(ModelOptions):
    """Options of a folder of MLflow; with `trust_pickle` a model is opened that may run code."""

    positive: Text | None = None
    trust_pickle: bool = False


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A model whose format only MLflow knows, called with a list of texts."""

    name: str
    fingerprint: str
    capabilities: Capabilities
    loaded: Any

    def __call__(self, texts: list[str]) -> Any:
        """What its `predict` returns."""
        return self.loaded.predict(texts)


def open_mlflow(target: str, options: MlflowOptions) -> Model:
    """Open the model of a folder by the first of its flavours that can be read."""
    folder = Path(target).expanduser()
    if not (folder / DESCRIPTION).is_file():
        raise BadInput(
            f"there is no model of MLflow in '{target}'",
            code="model.not-mlflow",
            allowed=f"a folder with {DESCRIPTION}",
            do="download the artifact of the model first: mlflow artifacts download",
        )

    flavours = _flavours(folder)
    name = options.name or folder.resolve().name
    shared: dict[str, Any] = {
        "name": name,
        "label": options.label,
        "batch": options.batch,
        "positive": options.positive,
    }
    # What can be read without MLflow comes first; what only MLflow can open is the last resort.
    if "sklearn" in flavours:
        file = _inside(folder, flavours["sklearn"], "pickled_model")
        return open_sklearn(str(file), SklearnOptions(**shared, trust_pickle=options.trust_pickle))
    if "transformers" in flavours:
        network = _inside(folder, flavours["transformers"], "model_binary")
        tokenizer = folder / "components" / "tokenizer"
        return open_hf_parts(network, tokenizer, HfOptions(**shared), where=target)
    if "onnx" in flavours:
        return open_onnx(str(_inside(folder, flavours["onnx"], "data")), OnnxOptions(**shared))
    if "spacy" in flavours:
        return open_spacy(str(_inside(folder, flavours["spacy"], "data")), SpacyOptions(**shared))
    return _python_function(folder, options, name)


def _flavours(folder: Path) -> dict[str, dict[str, Any]]:
    """The ways to open the model, with their settings."""
    import yaml

    with explained(
        f"{DESCRIPTION} cannot be read",
        Exception,
        code="model.bad-mlmodel",
        where=str(folder),
    ):
        description = yaml.safe_load((folder / DESCRIPTION).read_text("utf-8"))
        return {name: dict(settings) for name, settings in description["flavors"].items()}


def _inside(folder: Path, flavour: dict[str, Any], key: str) -> Path:
    """The file or folder of the model that a flavour names; one outside of the folder is refused."""
    # A description that was tampered with could name any file of the machine.
    place = folder / str(flavour.get(key, ""))
    if key in flavour and place.exists() and place.resolve().is_relative_to(folder.resolve()):
        return place
    raise BadInput(
        f"{DESCRIPTION} names no file in this folder as `{key}`",
        code="model.mlflow-incomplete",
        where=str(folder),
        do="save the model again, or download all of it",
    )


def _python_function(folder: Path, options: MlflowOptions, name: str) -> Model:
    """A model that is Python code and a pickle: MLflow opens it, if the user trusts it."""
    if not options.trust_pickle:
        raise BadInput(
            "the folder holds a Python model, and opening its pickle can run any code",
            code="model.pickle-not-trusted",
            where=str(folder),
            allowed="models of scikit-learn saved by skops, of transformers, of ONNX and of spaCy",
            do="add ?trust_pickle=true if you trust it; mlflow has to be installed",
        )
    try:
        pyfunc = import_module("mlflow.pyfunc")
    except ImportError as error:
        raise BadInput(
            "a Python model of MLflow needs MLflow",
            code="model.no-mlflow",
            where=str(folder),
            do="pip install mlflow-skinny",
        ) from error

    # Its code may read any of its files, so all of them count.
    files = [path for path in folder.rglob("*") if path.is_file()]
    parts = {"files": hashed_files(files), "labels": f"{options.label} {options.positive}"}
    with explained(
        "MLflow cannot open the model",
        Exception,
        kind=ModelFailure,
        code="model.mlflow-cannot-open",
        where=str(folder),
        do="install what its requirements.txt lists",
    ):
        loaded = pyfunc.load_model(str(folder))
    declared = Capabilities(batch=options.batch, parts=parts)
    return wrap_object(
        PythonFunction(name, hashed_parts(parts), declared, loaded),
        PythonOptions(
            name=name,
            label=options.label,
            batch=options.batch,
            positive=options.positive,
        ),
    )


KIND = ModelKind(
    open=open_mlflow,
    options=MlflowOptions,
    target="path",
    markers=(DESCRIPTION,),
)
