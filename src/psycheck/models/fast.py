"""Transformers in 8 bits: exported and quantised once, and used only if their labels stay the same.

The weights of matrix products become integers, a scale for each of their columns (ONNX Runtime, dynamic, on
the processor). What is kept is named by everything that decides the scores, so that no other model ever
finds it, and its fingerprint is another one: scores of 8 and of 32 bits never mix in the store.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any

import numpy as np

from psycheck.core.arrays import BoolArray, FloatArray
from psycheck.core.errors import BadInput, ModelFailure, library
from psycheck.corpora.opening import open_corpus
from psycheck.io.writing import written
from psycheck.models.cache import cache_folder
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.hf import HfModel

MOST_DIFFERENT = 0.005  # of the labels of the calibration sample
SAMPLE = 400  # texts
_DEMOS = ("tweets", "interviews")
PRODUCTS = ("all", "attention")  # what is in 8 bits; the second only where labels differ with the first


@dataclass(frozen=True, slots=True)
class Calibration:
    """How 8 bits compare with 32 on a sample of synthetic texts.

    `labels` were decided, `different` of them differently; scores moved by `largest_shift` at most. `speed`
    is the ratio of texts per CPU second.
    """

    labels: int
    different: int
    largest_shift: float
    speed: float

    @property
    def note(self) -> str:
        """What the user should know."""
        return (
            f"scored in 8 bits: {self.speed:.2f} times as fast as in 32 on {SAMPLE} synthetic texts; "
            f"{self.different} of {self.labels} labels differ, scores by at most {self.largest_shift:.3f}"
        )


@dataclass(frozen=True, slots=True)
class FastNetwork:
    """A network of ONNX Runtime that is called as the one of transformers that it was made of."""

    session: Any
    config: Any
    device: str = "cpu"

    def __call__(self, **inputs: Any) -> SimpleNamespace:
        """The logits of a batch of tokens."""
        torch = import_module("torch")
        # An input that the network does not use is not part of the export.
        names = [node.name for node in self.session.get_inputs()]
        arrays = {name: inputs[name].numpy() for name in names}
        (logits,) = self.session.run(None, arrays)
        return SimpleNamespace(logits=torch.from_numpy(logits))


def fast_runtime() -> Any:
    """ONNX Runtime; refused where it, or what exports a network to it, is not installed."""
    for name in ("onnx", "onnxscript"):
        library(name, "scoring in 8 bits", "fast")
    return library("onnxruntime", "scoring in 8 bits", "fast")


def fast_model(model: HfModel) -> HfModel:
    """The same classifier in 8 bits; refused where more than 0.5 % of the labels of a sample differ."""
    runtime = fast_runtime()
    if str(model.network.device) != "cpu":
        raise BadInput(
            "8 bits are for the processor",
            code="fast.other-device",
            where=model.name,
            allowed="device=cpu, or 32 bits on the GPU",
        )

    for products in PRODUCTS:
        kind = f"int8 per channel, {products} products, onnxruntime {runtime.__version__}"
        parts = {**model.capabilities.parts, "fast": kind}
        fast, calibration = _kept_or_made(model, products, hashed_parts(parts))
        if calibration.different <= MOST_DIFFERENT * calibration.labels:
            notes = (*model.capabilities.notes, calibration.note)
            return replace(fast, capabilities=replace(model.capabilities, parts=parts, notes=notes))

    raise ModelFailure(
        f"in 8 bits {calibration.different} of {calibration.labels} labels differ",
        code="fast.labels-differ",
        where=model.name,
        allowed=f"at most {MOST_DIFFERENT:.1%} of the labels of synthetic texts",
        do="score in 32 bits: leave `fast` out",
    )


def _kept_or_made(model: HfModel, products: str, fingerprint: str) -> tuple[HfModel, Calibration]:
    """The model with some of its products in 8 bits, and its calibration: from files, or made and kept."""
    file = cache_folder() / "fast" / f"{fingerprint}.onnx"
    record = file.with_suffix(".json")
    # The record comes last: a killed process leaves nothing that would be taken for whole.
    if not record.is_file():
        from psycheck.models.fast_export import export

        export(model, file, products)
    fast = replace(model, network=_opened(file, model), fingerprint=fingerprint)
    if not record.is_file():
        _write_record(_calibrated(model, fast), record)
    return fast, Calibration(**json.loads(record.read_text("utf-8")))


def _opened(file: Path, model: HfModel) -> FastNetwork:
    runtime = import_module("onnxruntime")
    torch = import_module("torch")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    return FastNetwork(session, model.network.config)


def _calibrated(model: HfModel, fast: HfModel) -> Calibration:
    """Both score the same synthetic texts."""
    texts: list[str] = []
    for name in _DEMOS:
        texts += open_corpus(f"demo:{name}").texts[: SAMPLE // len(_DEMOS)]

    exact, exact_seconds = _timed_scores(model, texts)
    quick, quick_seconds = _timed_scores(fast, texts)
    shifts = np.abs(exact - quick)
    different = _decided(model, exact) != _decided(model, quick)
    return Calibration(
        labels=different.size,
        different=int(different.sum()),
        largest_shift=float(np.nanmax(shifts)),
        speed=exact_seconds / quick_seconds,
    )


def _timed_scores(model: HfModel, texts: list[str]) -> tuple[FloatArray, float]:
    model.score(texts[:8])  # the first batch also fills caches
    started = process_time()
    scores = model.score(texts)
    return scores, process_time() - started


def _decided(model: HfModel, scores: FloatArray) -> BoolArray:
    """The labels that scores give, (n, k): the largest of several classes, else those of 0.5 or more."""
    has_classes = model.capabilities.exclusive and scores.shape[1] > 1
    lowest = scores.max(axis=1, keepdims=True) if has_classes else np.float64(0.5)
    decided: BoolArray = scores >= lowest
    return decided


def _write_record(calibration: Calibration, record: Path) -> None:
    values: Mapping[str, float] = asdict(calibration)
    with written(record) as part:
        part.write_text(json.dumps(values), "utf-8")
