"""`psycheck diff`: two or more models on the same texts, and who is right where they part.

What compares is imported in the functions that use it: `psycheck diff --help` needs none of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_run
from psycheck.commands.github import tell_github
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Findings
from psycheck.core.run import Run
from psycheck.corpora.opening import CorpusLike
from psycheck.runs.folder import open_run, writes_run

if TYPE_CHECKING:
    from psycheck.audits.differences import Answered
    from psycheck.commands.diff_cases import Cues
    from psycheck.runs.shared_texts import SharedCorpus, Source

RunLike = str | Path | Run
_DEFAULT_THRESHOLD = 0.5


@opt.verb("diff")
def diff_cli(
    runs: list[Path],
    labels: list[str] | None = None,
    corpora: list[str] | None = None,
    gates: list[str] | None = None,
    show_texts: bool = False,
    out: Path = Path("runs/diff"),
    json_: bool = False,
) -> None:
    """Compare the models of finished audits on the texts they share: agreement, differences, errors."""
    run = diff(
        runs,
        labels=labels or (),
        corpora=corpora or (),
        gates=gates or (),
        show_texts=show_texts,
        out=out,
    )
    headlines = [headline.sentence for headline in run.headlines]
    lines = _console_lines(run, headlines)
    print_run(run, out, lines, as_json=json_, verdict=run.verdict)
    tell_github(run, "diff")
    raise typer.Exit(run.exit_code)


def _console_lines(run: Run, headlines: Sequence[str]) -> Iterator[str]:
    from psycheck.report.diff_page import console_tables

    for table in console_tables(run):
        yield table.to_console() + "\n"
    yield from headlines
    for gate in run.gates:
        state = "holds" if gate.holds else "FAILS"
        yield f"gate {state}: {gate.gate} ({gate.reason})"


@dataclass(slots=True)
class _Shared:
    """What the models answered about the texts that they share, those texts by corpus, and notes."""

    answered: "list[Answered]" = field(default_factory=list)
    corpora: dict[str, Corpus] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@writes_run("runs", "corpora")
def diff(
    runs: RunLike | Sequence[RunLike],
    *,
    labels: Sequence[str] = (),
    corpora: Sequence[CorpusLike] = (),
    gates: Sequence[str] = (),
    show_texts: bool = False,
    out: str | Path | None = None,
) -> Run:
    """Compare all models of finished audits on the texts that they share, and write the result to `out`.

    `gates` are bounds on the findings of the comparison: "difference>=-0.02 where measure_of=f1".

    Lengths and cues of errors need the texts, which a run's folder does not hold: they are read again from
    where the audit read them, or from `corpora`, and must be the same. Where that cannot be done a note says
    so; with `show_texts` it is an error.
    """
    from psycheck.audits.differences import difference_findings
    from psycheck.audits.error_cues import error_findings
    from psycheck.audits.gates import judge_gates, parse_gate
    from psycheck.commands.diff_cases import cues_in, outcomes_of, shown_texts, text_properties
    from psycheck.runs.pages import save
    from psycheck.runs.shared_texts import refuse_unknown_labels

    several_runs = [runs] if isinstance(runs, str | Path | Run) else list(runs)
    parsed_gates = [parse_gate(gate) for gate in gates]
    sources = _open_sources(several_runs, out)
    refuse_unknown_labels(labels, sources)
    shared = _shared_answers(sources, labels, corpora, show_texts=show_texts)

    # A text has other cues for another label: which disorder counts as "another one" depends on it.
    cues: dict[tuple[str, str], Cues] = {}
    with_properties = []
    for answered in shared.answered:
        corpus = shared.corpora.get(answered.corpus)
        if corpus is None:
            continue  # its texts could not be read again, which a note says
        cues_of_texts = cues_in(corpus, answered)
        cues[answered.corpus, answered.label] = cues_of_texts
        with_properties.append((answered, text_properties(corpus, cues_of_texts, answered)))

    errors = error_findings(with_properties)
    outcomes = pl.concat(
        [outcomes_of(answered, cues.get((answered.corpus, answered.label))) for answered in shared.answered]
    )

    sizes = _sizes(shared.answered)
    findings = Findings([*difference_findings(shared.answered), *errors])
    run = Run(
        plan={
            "verb": "diff",
            "runs": [source.name for source in sources],
            "models": list(_described_models(sources)),
            "corpora": [{"name": name, "texts": texts} for name, texts in sizes.items()],
            "labels": sorted({answered.label for answered in shared.answered}),
            "show_texts": show_texts,
        },
        environment=_environment(sources),
        findings=findings,
        gates=judge_gates(parsed_gates, findings),
        tables={"outcomes": outcomes},
        shown=tuple(shown_texts(outcomes, shared.corpora, cues)) if show_texts else (),
        notes=(*shared.notes, *_threshold_notes(sources), *_cluster_notes(shared.answered)),
        folder=Path(out) if out is not None else None,
    )
    return save(run, run.folder)


def _shared_answers(
    sources: "Sequence[Source]",
    labels: Sequence[str],
    corpora: Sequence[CorpusLike],
    *,
    show_texts: bool,
) -> _Shared:
    """The answers that the runs have in common; an error if there are none."""
    from psycheck.runs.shared_texts import answers_of, shared_corpora

    shared = _Shared(notes=[note for source in sources for note in source.notes])
    for corpus in shared_corpora(sources):
        answered, notes = answers_of(corpus, sources, labels, corpora)
        shared.notes += notes
        if not answered:
            continue

        shared.answered += answered
        try:
            shared.corpora[corpus.name] = _reopened(corpus, sources, corpora)
        except BadInput as error:
            # Agreement and differences need no texts: only those who asked to see them are refused.
            if show_texts:
                raise
            shared.notes.append(
                f"{corpus.name}: lengths and cues of errors are left out: {error.what} ({error.where})"
            )

    if not shared.answered:
        raise _nothing_shared(sources)
    if corpora and not shared.corpora:
        raise BadInput(
            "no corpus that was named has the texts of the runs",
            code="diff.other-texts",
            where=shared.notes[-1],
            key="corpora",
        )
    return shared


def _open_sources(runs: Sequence[RunLike], out: str | Path | None) -> "list[Source]":
    """The runs, opened and told apart; models of one name are called by their run, too."""
    from psycheck.runs.shared_texts import source_of

    opened = [run if isinstance(run, Run) else open_run(run) for run in runs]
    _refuse_folders(opened, out)

    sources = []
    for number, (named, run) in enumerate(zip(runs, opened, strict=True), start=1):
        name = str(run.folder or "") if isinstance(named, Run) else str(named)
        sources.append(source_of(name or f"run {number}", run))

    models = [model for source in sources for model in _models_of(source)]
    if len(models) < 2:
        raise BadInput(
            f"there is only one model to compare: {models[0]}",
            code="diff.one-model",
            allowed="two runs, or one run of several models",
            do="psycheck diff RUN RUN",
        )
    return _with_distinct_models(sources, models)


def _refuse_folders(runs: Sequence[Run], out: str | Path | None) -> None:
    """Refuse a run that is named twice, and a result in the folder of a run that it compares."""
    folders = [run.folder.resolve() for run in runs if run.folder is not None]
    if out is not None and Path(out).resolve() in folders:
        raise BadInput(
            f"the result would replace a run that it compares: {out}",
            code="diff.replaces-a-run",
            key="out",
            do="name another folder",
        )
    for folder, times in Counter(folders).items():
        if times > 1:
            raise BadInput(
                f"the run {folder} is named twice",
                code="diff.run-named-twice",
                allowed="each run once",
            )


def _models_of(source: "Source") -> list[str]:
    return source.predictions["model"].unique(maintain_order=True).to_list()


def _with_distinct_models(sources: "Sequence[Source]", models: Sequence[str]) -> "list[Source]":
    """The runs, with "MODEL (RUN)" for models whose name occurs in several of them."""
    ambiguous = [model for model, times in Counter(models).items() if times > 1]
    # The last part of the path is enough, unless two runs share it: a/audit and b/audit.
    run_names = [Path(source.name).name for source in sources]
    if len(set(run_names)) < len(run_names):
        run_names = [source.name for source in sources]

    model = pl.col("model")
    renamed = []
    for source, run_name in zip(sources, run_names, strict=True):
        longer = model + pl.lit(f" ({run_name})")
        distinct = pl.when(model.is_in(ambiguous)).then(longer).otherwise(model)
        renamed.append(replace(source, predictions=source.predictions.with_columns(model=distinct)))
    return renamed


def _reopened(shared: "SharedCorpus", sources: "Sequence[Source]", corpora: Sequence[CorpusLike]) -> Corpus:
    """The corpus with its texts, from the first run that can tell where they are."""
    from psycheck.runs.reopened_corpus import corpus_of

    errors = []
    for place, name in shared.names.items():
        try:
            return corpus_of(sources[place].run, name, corpora)
        except BadInput as error:
            errors.append(error)
    # All runs failed; the first one is what the user named first.
    raise errors[0]


def _threshold_of(source: "Source") -> str:
    """The threshold of a run as it was asked for: a number, or the best of dev."""
    threshold = source.run.plan.get("threshold", _DEFAULT_THRESHOLD)
    return "the best of dev" if threshold == "dev" else f"{float(threshold):g}"


def _described_models(sources: "Sequence[Source]") -> Iterator[dict[str, object]]:
    for source in sources:
        threshold = source.run.plan.get("threshold", _DEFAULT_THRESHOLD)
        for model in _models_of(source):
            yield {"name": model, "run": source.name, "threshold": threshold}


def _sizes(every_answered: "Sequence[Answered]") -> dict[str, int]:
    """The number of shared texts of each corpus."""
    return {answered.corpus: len(answered.ids) for answered in every_answered}


def _environment(sources: "Sequence[Source]") -> dict[str, object]:
    """Versions, and the fingerprints that the runs recorded."""
    from psycheck.runs.environment import environment_of

    corpora: dict[str, object] = {}
    for source in sources:
        corpora |= {f"{source.name}, {name}": source.mark(name) for name in source.corpora}
    models = {source.name: dict(source.run.environment.get("models", {})) for source in sources}
    return {**environment_of((), ()), "models": models, "corpora": corpora}


def _threshold_notes(sources: "Sequence[Source]") -> Iterator[str]:
    thresholds = {source.name: _threshold_of(source) for source in sources}
    if len(set(thresholds.values())) > 1:
        listed = ", ".join(f"{name} {threshold}" for name, threshold in thresholds.items())
        yield f"the runs decide at different thresholds ({listed}); each model is compared at its own"


def _cluster_notes(every_answered: "Sequence[Answered]") -> Iterator[str]:
    clusters = {answered.corpus: answered.clusters.count for answered in reversed(every_answered)}
    for name, texts in _sizes(every_answered).items():
        if clusters[name] < texts:
            units = f"{clusters[name]:,} in {texts:,} texts"
            yield f"{name}: intervals and tests are clustered by author or text ({units})"


def _nothing_shared(sources: "Sequence[Source]") -> BadInput:
    contents = []
    for source in sources:
        labels = ", ".join(source.predictions["label"].unique(maintain_order=True))
        contents.append(f"{source.name}: {', '.join(source.corpora)} with {labels}")
    return BadInput(
        "the models share no texts with a label that both have",
        code="diff.nothing-shared",
        where="; ".join(contents),
        allowed="runs on the same corpus with at least one label in common",
        do="audit the models on the same corpus",
    )
