"""Folders that SetFit writes: sentence vectors of a transformer, and a classifier of scikit-learn on them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.core.model import ModelKind
from psycheck.models.fingerprint import file_hash
from psycheck.models.hf import HfEncoder, open_hf_encoder
from psycheck.models.hf_folder import HfOptions, read_json
from psycheck.models.sklearn_file import SklearnModel, SklearnOptions, load_estimator, open_pipeline

SETTINGS = "config_setfit.json"
# What `SetFitModel.save_pretrained` writes, after what its user may have made of it.
HEADS = ("model_head.skops", "model_head.pkl")


@dataclass(frozen=True, slots=True)
class SetFitPipeline:
    """Encodes texts, and classifies their vectors; `labels` are the names of the classes."""

    encoder: HfEncoder = field(repr=False)
    head: Any = field(repr=False)
    labels: tuple[Any, ...]
    multilabel_: bool  # as scikit-learn calls it: the columns are independent labels
    unit_length: bool

    def predict_proba(self, texts: Sequence[str]) -> FloatArray:
        """The probabilities of the classes, (n, c)."""
        vectors = self.encoder.encode(texts) if self.unit_length else self.encoder.pooled(texts)
        probabilities = self.head.predict_proba(vectors)
        if isinstance(probabilities, list):
            # One array of two classes per label.
            return np.stack([of_label[:, 1] for of_label in probabilities], axis=1)
        return np.asarray(probabilities, np.float64)


def open_setfit(target: str, options: SklearnOptions) -> SklearnModel:
    """Open a folder of SetFit; its classifier is a pickle unless its user saved it with skops."""
    folder = Path(target).expanduser()
    if not (folder / SETTINGS).is_file():
        raise BadInput(
            f"there is no model of SetFit in '{target}'",
            code="model.not-setfit",
            allowed=f"a folder with {SETTINGS}, as save_pretrained writes it",
        )

    settings = read_json(folder / SETTINGS)
    class_names: Any = settings.get("labels")
    head_file = _head_file(folder)
    head = load_estimator(head_file, options)
    encoder = open_hf_encoder(str(folder), HfOptions())
    normalised_by_body = any("Normalize" in module for module in _modules(folder))
    pipeline = SetFitPipeline(
        encoder=encoder,
        head=head,
        labels=tuple(class_names or getattr(head, "classes_", ())),
        multilabel_=isinstance(getattr(head, "classes_", None), list) or hasattr(head, "multilabel_"),
        unit_length=normalised_by_body or bool(settings.get("normalize_embeddings")),
    )
    parts = {
        "encoder": encoder.fingerprint,
        "head": file_hash(head_file),
        "settings": str(sorted(settings)),
    }
    return open_pipeline(
        pipeline,
        options,
        name=folder.resolve().name,
        parts=parts,
        where=target,
    )


def _head_file(folder: Path) -> Path:
    for name in HEADS:
        if (folder / name).is_file():
            return folder / name
    raise BadInput(
        "the folder has no classifier",
        code="model.setfit-without-head",
        where=str(folder),
        allowed=" or ".join(HEADS),
        do="save the model with a head of scikit-learn, which is SetFit's default",
    )


def _modules(folder: Path) -> list[str]:
    """The types of the steps from a text to its vector, as sentence-transformers lists them."""
    from json import loads

    file = folder / "modules.json"
    if not file.is_file():
        return []
    return [str(module.get("type", "")) for module in loads(file.read_text("utf-8"))]


KIND = ModelKind(
    open=open_setfit,
    options=SklearnOptions,
    target="path",
    markers=(SETTINGS,),
)
