"""How far corpora and their classes are apart: DECK Table 3, ANGST Tables 2 and 8."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from psycheck import (
    Comparing,
    Corpus,
    CorpusLike,
    Encoder,
    Finding,
    Findings,
    Run,
    corpus_classes,
    corpus_distances,
    corpus_notes,
    encode_texts,
    encoder_or_tfidf,
    open_corpus,
    run_environment,
    save_run,
    writes_run,
)
from psycheck.core.errors import BadInput
from psycheck.core.progress import Progress, counting, silent
from psycheck.report.studies.corpora_tables import paper_notes

# Which parts of a comparison the tables need; the map is for the eye.
BETWEEN = ("vectors", "adversarial", "map")
WITHIN = ("words", "vectors")
# Up to so many labels are combined to classes, as in ANGST; more labels are taken one by one.
_MOST_COMBINED_LABELS = 2
# Below this a distance means nothing; `Comparing` draws no smaller samples either.
_FEWEST_TEXTS = 10
# The libraries of a comparison whose versions a run names, as `compare_corpora` does.
_LIBRARIES = ("POT", "openTSNE", "cleanlab", "rensa")


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Corpora, or the classes of one corpus, that are compared with each other."""

    sides: list[Corpus]
    how: Comparing
    # The corpus whose classes they are; "" if whole corpora are compared.
    corpus: str = ""

    @property
    def place(self) -> dict[str, str]:
        """What the `where` of its findings says besides what is measured."""
        study = {"audit": "study", "study": "corpora"}
        if self.corpus:
            return {**study, "level": "between classes", "corpus": self.corpus}
        return {**study, "level": "between corpora"}


@dataclass(frozen=True, slots=True)
class _Measured:
    """What all comparisons found together."""

    findings: list[Finding]
    tables: dict[str, pl.DataFrame]
    notes: list[str]


@writes_run("corpora", "encoder")
def study_corpora(
    corpora: Sequence[CorpusLike],
    *,
    out: str | Path | None = None,
    encoder: str | Encoder | None = None,
    how: Comparing | None = None,
    progress: Progress = silent,
) -> Run:
    """Measure the distances between corpora (Tables 3 and 8) and between the classes of each (Table 2).

    Two labels make up to four classes ("depression", "anxiety", both, none); one label, or each of more than
    two, makes two. `encoder` is as for `compare_corpora`; DECK took sentence embeddings of its own models,
    ANGST those of RoBERTa. Of `how.parts`, corpora are compared by vectors, adversarial and map, classes by
    words and vectors. The folder gets `report.html` and `study.md`, each table next to the published one.
    """
    how = how or Comparing()
    opened = [open_corpus(corpus) for corpus in corpora]
    _refuse_same_names(opened)
    comparisons, left_out_notes = _plan_comparisons(opened, how)
    notes = [*corpus_notes(opened), *left_out_notes]

    used_encoder: Encoder | None = None
    if _need_vectors(comparisons):
        used_encoder, encoder_notes = encoder_or_tfidf(encoder)
        notes += encoder_notes

    measured = _measure(comparisons, used_encoder, progress)
    # Every comparison of a corpus notes the same about it: once is enough.
    distinct_notes = dict.fromkeys([*notes, *measured.notes])

    run = Run(
        plan={
            "verb": "study corpora",
            "corpora": [corpus.name for corpus in opened],
            "encoder": used_encoder.name if used_encoder else "tfidf",
            **asdict(how),
            "parts": list(how.parts),
        },
        environment=run_environment(
            [used_encoder] if used_encoder is not None else [],
            opened,
            libraries=_LIBRARIES,
        ),
        findings=Findings(measured.findings),
        tables=measured.tables,
        notes=(*distinct_notes, *paper_notes()),
        folder=Path(out) if out is not None else None,
    )
    return save_run(run, run.folder)


def _need_vectors(comparisons: Sequence[_Comparison]) -> bool:
    """Whether any comparison encodes texts; the others count words, and need no encoder."""
    parts: set[str] = set()
    for comparison in comparisons:
        parts.update(comparison.how.parts)
    return bool(parts & {"vectors", "map"})


def _measure(comparisons: Sequence[_Comparison], encoder: Encoder | None, progress: Progress) -> _Measured:
    """The distances of all comparisons, each finding in its place of the study."""
    # An encoder as `corpus_distances` takes it: vectors that are in the store are not computed again.
    encode = None if encoder is None else (encoder.name, partial(encode_texts, encoder))
    total_steps = sum(comparison.how.steps(len(comparison.sides)) for comparison in comparisons)
    step = counting(progress, "study corpora", total_steps)

    findings: list[Finding] = []
    tables: dict[str, pl.DataFrame] = {}
    notes: list[str] = []
    for comparison in comparisons:
        result = corpus_distances(comparison.sides, encode, comparison.how, step)
        for finding in result.findings:
            findings.append(replace(finding, where={**finding.where, **comparison.place}))
        tables |= result.tables

        # Between classes, a note must say of which corpus they are.
        prefix = f"{comparison.corpus}: " if comparison.corpus else ""
        notes += [prefix + note for note in result.notes]
    return _Measured(findings=findings, tables=tables, notes=notes)


def _refuse_same_names(corpora: Sequence[Corpus]) -> None:
    if not corpora:
        raise BadInput(
            "no corpus given",
            code="study.no-corpus",
            allowed="one corpus or more",
            do="write NAME=PATH",
        )
    names = {corpus.name for corpus in corpora}
    if len(names) < len(corpora):
        raise BadInput(
            "two corpora have the same name",
            code="corpus.same-name",
            allowed="one corpus or more",
            do="write NAME=PATH",
        )


def _plan_comparisons(corpora: Sequence[Corpus], how: Comparing) -> tuple[list[_Comparison], list[str]]:
    """The corpora with each other, then the classes of each corpus; and notes on what is left out."""
    between = replace(how, parts=tuple(part for part in how.parts if part in BETWEEN))
    within = replace(how, parts=tuple(part for part in how.parts if part in WITHIN))

    comparisons: list[_Comparison] = []
    notes: list[str] = []
    if len(corpora) > 1 and between.parts:
        comparisons.append(_Comparison(list(corpora), between))
    if within.parts:
        for corpus in corpora:
            class_sets, left_out_notes = _classes(corpus)
            comparisons += [_Comparison(classes, within, corpus.name) for classes in class_sets]
            notes += left_out_notes

    if not comparisons:
        raise BadInput(
            "nothing to compare",
            code="study.nothing-to-compare",
            where=", ".join(corpus.name for corpus in corpora),
            allowed=f"two corpora or more ({', '.join(BETWEEN)}), or a label with two classes of "
            f"{_FEWEST_TEXTS} texts ({', '.join(WITHIN)})",
            do="name a second corpus, or a label with `labels`",
        )
    return comparisons, notes


def _classes(corpus: Corpus) -> tuple[list[list[Corpus]], list[str]]:
    """The classes that are compared with each other, label by label or combined; and what is left out."""
    if not corpus.labels:
        return [], [f"Table 2 omits {corpus.name}: it has no labels"]

    label_sets: list[tuple[str, ...]] = [(label,) for label in corpus.labels]
    if len(corpus.labels) <= _MOST_COMBINED_LABELS:
        label_sets = [corpus.labels]

    class_sets: list[list[Corpus]] = []
    notes: list[str] = []
    for labels in label_sets:
        try:
            classes = corpus_classes(corpus, labels)
        except BadInput as error:
            notes.append(f"Table 2 omits {corpus.name}, {', '.join(labels)}: {error.what}")
            continue

        large = [part for part in classes if len(part) >= _FEWEST_TEXTS]
        small = [part for part in classes if len(part) < _FEWEST_TEXTS]
        notes += [
            f"Table 2 omits {corpus.name}, '{part.name}': fewer than {_FEWEST_TEXTS} texts" for part in small
        ]
        if len(large) > 1:
            class_sets.append(large)
    return class_sets, notes
