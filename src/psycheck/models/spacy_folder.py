"""spaCy pipelines with a text categoriser, from a folder or an installed package."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psycheck.core.errors import BadInput, ModelFailure, explained
from psycheck.core.model import Capabilities, Model, ModelKind
from psycheck.models.fingerprint import hashed_files, hashed_parts
from psycheck.models.options import ModelOptions, Text
from psycheck.models.python_object import PythonOptions, wrap_object

BATCH = 256
_CATEGORISERS = ("textcat", "textcat_multilabel")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacyOptions(ModelOptions):
    """Options of a pipeline: `positive` is the category that counts as 1."""

    positive: Text | None = None


@dataclass(frozen=True, slots=True)
class Categoriser:
    """Returns the scores of all categories of texts."""

    name: str
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    pipeline: Any = field(repr=False)

    def __call__(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """One {category: score} per text."""
        return [dict(document.cats) for document in self.pipeline.pipe(texts)]


def open_spacy(target: str, options: SpacyOptions) -> Model:
    """Open a pipeline by its folder, or by the name of its package."""
    try:
        import spacy
    except ImportError as error:
        raise BadInput(
            "a pipeline of spaCy needs spaCy",
            code="model.no-spacy",
            where=target,
            do='pip install "spacy>=3.8"',
        ) from error

    with explained(
        "spaCy cannot open the pipeline",
        Exception,
        kind=ModelFailure,
        code="model.spacy-cannot-open",
        where=target,
        allowed="a folder that nlp.to_disk wrote, or the name of an installed pipeline",
        do="open it with the version of spaCy that its meta.json names",
    ):
        folder = Path(target).expanduser()
        pipeline = spacy.load(folder if folder.is_dir() else target)

    categorisers = [name for name in pipeline.pipe_names if name in _CATEGORISERS]
    if not categorisers:
        raise BadInput(
            "the pipeline does not classify texts",
            code="model.spacy-without-textcat",
            where=target,
            allowed=f"a pipeline with {' or '.join(_CATEGORISERS)}",
        )

    folder = Path(pipeline.path)
    files = [path for path in folder.rglob("*") if path.is_file()]
    parts = {
        "files": hashed_files(files),
        "spacy": spacy.__version__,
        "labels": f"{options.label}",
    }
    categoriser = Categoriser(
        name=folder.resolve().name,
        # What the columns are called decides which of them are kept.
        fingerprint=hashed_parts(parts | {"positive": f"{options.positive}"}),
        capabilities=Capabilities(
            batch=options.batch or BATCH,
            # The categories of "textcat" exclude each other, those of "textcat_multilabel" do not.
            exclusive="textcat" in categorisers,
            parts=parts,
        ),
        pipeline=pipeline,
    )
    return wrap_object(
        categoriser,
        PythonOptions(
            name=options.name,
            label=options.label,
            batch=options.batch,
            positive=options.positive,
        ),
    )


KIND = ModelKind(
    open=open_spacy,
    options=SpacyOptions,
    target="path",
    markers=("config.cfg",),
)
