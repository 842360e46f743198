"""Models that were exported to ONNX: transformers with their tokenizer, and pipelines that take raw texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import BadInput, ModelFailure, library
from psycheck.core.item import sizes_of
from psycheck.core.model import Capabilities, ModelKind
from psycheck.io.settings import AT_LEAST_1
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.hf import chosen_outputs, window_notes
from psycheck.models.hf_folder import HfOptions, folder_parts_of, load_config, load_tokenizer, window_of
from psycheck.models.label_names import label_columns
from psycheck.models.options import ModelOptions, Text
from psycheck.models.output import checked_scores
from psycheck.models.window import characters_read, speakable

BATCH = 32
ENDING = ".onnx"
_USUAL_FILE = "model.onnx"
_PROBE = "I went for a walk today."
_TEXTS = "tensor(string)"
_NUMBERS = ("tensor(float)", "tensor(double)", "tensor(float16)")
_BY_CLASS = "seq(map("  # how the type of scores begins that name their classes


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOptions(ModelOptions):
    """Options of an exported model; `max_length` and `activation` are for transformers."""

    positive: Text | None = None
    max_length: Annotated[int, AT_LEAST_1] | None = None
    activation: Literal["softmax", "sigmoid"] | None = None


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class OnnxModel:
    """An exported model; `probabilities` gives those of all its classes, `columns` are kept as labels."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    columns: tuple[int, ...]
    probabilities: Callable[[list[str]], FloatArray] = field(repr=False)
    reader: Callable[[Sequence[str]], IntArray] = field(repr=False)

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        scores = np.full((len(texts), len(self.labels)), np.nan)
        size = self.capabilities.batch or BATCH
        # Texts of similar length together: short ones are not padded to the longest of all.
        by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
        for start in range(0, len(by_length), size):
            rows = by_length[start : start + size]
            batch = speakable([texts[i] for i in rows])
            of_all_classes = self.probabilities(batch)
            scores[rows] = of_all_classes[:, self.columns]
        return checked_scores(scores, len(texts), self.labels, model=self.name)

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text are read, (n,)."""
        return self.reader(texts)


def open_onnx(target: str, options: OnnxOptions) -> OnnxModel:
    """Open FILE.onnx, or a folder with model.onnx: a pipeline of raw texts, or a transformer."""
    path = Path(target).expanduser()
    file = path / _USUAL_FILE if path.is_dir() else path
    if not file.is_file():
        raise BadInput(
            f"there is no file '{file}'",
            code="model.file-not-there",
            where=target,
            allowed=f"a {ENDING} file, or a folder with {_USUAL_FILE}",
        )

    session = open_session(file)
    inputs = {entry.name: entry for entry in session.get_inputs()}
    if [entry.type for entry in inputs.values()] == [_TEXTS]:
        return _text_pipeline(session, file, options)
    if "input_ids" in inputs:
        return _transformer(session, file, options)
    raise BadInput(
        "the exported model takes neither texts nor tokens",
        code="onnx.other-inputs",
        where=str(file),
        allowed="one input of texts (skl2onnx with StringTensorType), or input_ids of a transformer",
        do="export the whole pipeline, vectorizer included; or write a function: python:FILE.py:FUNCTION",
    )


def open_session(file: Path) -> Any:
    """The model in a file, ready to run on the processor."""
    onnxruntime = library("onnxruntime", "a model in ONNX", "onnx")
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4  # what is wrong is raised, too
    try:
        return onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
    except Exception as error:
        do = "export the model again; models of more than 2 GB need their .data file beside them"
        if "locale" in str(error):
            do = (
                "install the locale en_US.UTF-8, with which it makes lower case, or export the pipeline with"
                ' to_onnx(…, options={TfidfVectorizer: {"locale": "C"}})'
            )
        raise ModelFailure(
            f"the file cannot be opened by ONNX Runtime ({type(error).__name__})",
            code="onnx.cannot-open",
            where=str(file),
            do=do,
        ) from error


# Pipelines of raw texts -----------------------------------------------------------------------------------


def _text_pipeline(session: Any, file: Path, options: OnnxOptions) -> OnnxModel:
    """A pipeline that takes texts as they are, such as one of scikit-learn by skl2onnx."""
    output = _probability_output(session, file)
    run = _text_runner(session, output.name)
    names_classes = output.type.startswith(_BY_CLASS)
    # The shape of an output, or the names of its classes, show only in an answer.
    probed = run([_PROBE])
    keys = list(probed[0]) if names_classes else range(probed.shape[-1])
    classes = [str(key) for key in keys]

    def probabilities(texts: list[str]) -> FloatArray:
        scores = run(texts)
        if names_classes:
            scores = [[by_class[key] for key in keys] for by_class in scores]
        return np.asarray(scores, np.float64).reshape(len(texts), len(classes))

    if not names_classes and options.positive is None:
        _refuse_unnamed_classes(session, file, count=len(classes))
    row_sums = probabilities([_PROBE]).sum(1)
    columns = label_columns(
        classes,
        positive=options.positive,
        label=options.label,
        exclusive=bool(np.allclose(row_sums, 1, atol=1e-3)),
        # Numbered classes have an order; names are sorted by the alphabet.
        ordered=all(name.lstrip("-").isdecimal() for name in classes),
        where=str(file),
    )
    parts = {"file": file_hash(file), "labels": str(columns)}
    return OnnxModel(
        name=options.name or _name_of(file),
        labels=columns.labels,
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(
            batch=options.batch or BATCH,
            exclusive=columns.exclusive,
            parts=parts,
            notes=columns.notes,
        ),
        columns=columns.columns,
        probabilities=probabilities,
        reader=sizes_of,
    )


def _refuse_unnamed_classes(session: Any, file: Path, *, count: int) -> None:
    """Refuse two classes whose names stand in another output, apart from their probabilities."""
    has_names = any(entry.type == _TEXTS for entry in session.get_outputs())
    if has_names and count == 2:
        raise _unnamed_classes(file)


def _text_runner(session: Any, output_name: str) -> Callable[[list[str]], Any]:
    """A function from texts to what the pipeline puts out under this name."""
    text_input = session.get_inputs()[0]
    is_column = len(text_input.shape) == 2

    def run(texts: list[str]) -> Any:
        values = np.array(texts, object)
        # Some pipelines take a list of texts, (n,), others a column of a table, (n, 1).
        fed = values[:, None] if is_column else values
        (outputs,) = session.run([output_name], {text_input.name: fed})
        return outputs

    return run


def _probability_output(session: Any, file: Path) -> Any:
    """The output that holds probabilities: the last one with numbers or with scores by class."""
    outputs = session.get_outputs()
    likely = [entry for entry in outputs if entry.type in _NUMBERS or entry.type.startswith(_BY_CLASS)]
    if not likely:
        raise BadInput(
            "the exported pipeline returns no probabilities",
            code="onnx.no-probabilities",
            where=str(file),
            allowed="an output of probabilities besides that of labels",
            do="export a classifier with predict_proba",
        )
    return likely[-1]


def _unnamed_classes(file: Path) -> BadInput:
    """The error for two classes that have names, of which the probabilities do not tell which is which."""
    return BadInput(
        "cannot tell which of the two classes is the positive one: the probabilities do not name them",
        code="model.positive-class-unclear",
        where=str(file),
        do="add positive=0 or positive=1 (scikit-learn sorts classes), or export with zipmap=True",
    )


# Transformers ---------------------------------------------------------------------------------------------


def _transformer(session: Any, file: Path, options: OnnxOptions) -> OnnxModel:
    """An exported classifier of transformers, with config.json and its tokenizer in the same folder."""
    hf_options = HfOptions(
        positive=options.positive,
        label=options.label,
        max_length=options.max_length,
        activation=options.activation,
    )
    folder = file.parent
    config = load_config(folder, hf_options)
    tokenizer = load_tokenizer(folder, hf_options)
    outputs = chosen_outputs(config, hf_options, where=str(file))
    window = window_of(tokenizer, config, options.max_length, where=str(file))
    input_names = {entry.name for entry in session.get_inputs()}

    def probabilities(texts: list[str]) -> FloatArray:
        tokens = tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=window,
            return_tensors="np",
        )
        fed = {name: values.astype(np.int64) for name, values in tokens.items() if name in input_names}
        logits = session.run(None, fed)[0].astype(np.float64)
        return _probabilities_of(logits, outputs.activation)

    parts = {
        **folder_parts_of(folder, sorted(folder.glob(f"{file.name}*"))),
        "max_length": str(window),
        "labels": str(outputs.columns),
        "activation": outputs.activation,
    }
    columns = outputs.columns
    return OnnxModel(
        name=options.name or _name_of(file),
        labels=columns.labels,
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(
            batch=options.batch or BATCH,
            exclusive=columns.exclusive,
            parts=parts,
            notes=(*columns.notes, *window_notes(options.max_length, window)),
        ),
        columns=columns.columns,
        probabilities=probabilities,
        reader=lambda texts: characters_read(tokenizer, texts, window),
    )


def _probabilities_of(logits: FloatArray, activation: str) -> FloatArray:
    """Probabilities of logits, (n, c); NaN where a logit is not finite: no answer is not a certain one."""
    if activation == "softmax":
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    else:
        probabilities = 1 / (1 + np.exp(-logits))
    probabilities[~np.isfinite(logits)] = np.nan
    return probabilities


def _name_of(file: Path) -> str:
    """The name of a file; that of its folder where all are called model.onnx."""
    if file.name == _USUAL_FILE:
        return file.resolve().parent.name
    return file.stem


KIND = ModelKind(
    open=open_onnx,
    options=OnnxOptions,
    target="path",
    endings=(ENDING,),
)
