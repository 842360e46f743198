"""The design of ANGST on the user's corpus: fine-tuned models and LLMs on depression, anxiety and both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from psycheck import (
    Comparing,
    Corpus,
    CorpusLike,
    Finding,
    Findings,
    Limits,
    Model,
    Recipe,
    Run,
    Tally,
    answers,
    corpus_distances,
    describe_inputs,
    fit_model,
    held_out,
    open_corpus,
    open_model,
    run_environment,
    save_run,
    search_recipe,
    search_space,
    shared_labels,
    training_folder,
    writes_run,
)
from psycheck.core.corpus import LABEL as LABEL_PREFIX
from psycheck.core.errors import BadInput, counted
from psycheck.core.model import Priced, Prompted
from psycheck.core.progress import Progress, Say, quiet, silent
from psycheck.report.studies.angst_tables import (
    BINARY,
    FEW_SHOT,
    GIVEN,
    MULTI,
    TRAINED,
    ZERO_SHOT,
    paper_notes,
)
from psycheck.studies.angst_rows import JudgedModel, judge_model, lengths, seed_numbers

# The paper's labels: texts may have one of them, both or none.
LABELS = ("depression", "anxiety")
TASKS = (BINARY, MULTI)
NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A model to measure, with its name and kind in the tables, and what it was made to decide."""

    model: Model
    name: str
    kind: str
    task: str


@dataclass(frozen=True, slots=True)
class _Training:
    """What all trainings of the study share."""

    source: Corpus
    folder: Path
    labels: Sequence[str]
    seeds: int
    trials: int
    progress: Progress
    say: Say


@dataclass(frozen=True, slots=True)
class _Asking:
    """Where answers are remembered, and how asking reports."""

    store: Path
    progress: Progress
    say: Say


@writes_run("corpora", "models", "train_on")
def study_angst(
    corpora: Sequence[CorpusLike],
    models: Sequence[str | Path | Model] = (),
    recipes: Sequence[Recipe] = (),
    *,
    out: str | Path,
    train_on: CorpusLike | None = None,
    tasks: Sequence[str] = TASKS,
    labels: Sequence[str] = LABELS,
    seeds: int = 3,
    trials: int = 0,
    store: str | Path | None = None,
    limits: Limits = NO_LIMITS,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Measure models on the test split of the first corpus, and how far the other corpora are from it.

    `models` are specs or models; those of the same name are the seeds of one model. `recipes`, each that of
    its start (`study_recipe`), are trained by the study on the train split of `train_on` (default: the first
    corpus), with every seed if they are fine-tuned: once for each label alone ("binary") and once for all
    labels ("multi-label"). With `trials` learning rate and batch size are searched first, within the ranges
    of A.3. Without a test split all texts are tested, unless the models are trained on the same corpus.
    `limits` hold for all models together. The folder gets `study.md` and `report.html`, each table next to
    the published one. Finished trainings and scores are reused.
    """
    opened = [open_corpus(corpus) for corpus in corpora]
    opened_source = open_corpus(train_on) if train_on is not None else None
    _refuse_incomplete(opened, models, recipes, tasks)
    corpus, *compared_corpora = opened
    source = opened_source or corpus
    test = _tested_texts(corpus, labels, trains=bool(recipes) and train_on is None)

    folder = Path(out)
    candidates = [_named_model(model, test) for model in models]
    training = _Training(
        source=source,
        folder=folder,
        labels=labels,
        seeds=seeds,
        trials=trials,
        progress=progress,
        say=say,
    )
    candidates += _train_recipes(training, recipes, tasks)

    store_path = Path(store) if store else folder / "scores.sqlite"
    asking = _Asking(store=store_path, progress=progress, say=say)
    rows, costs, tallies = _measure_models(candidates, test, asking, limits)
    drift, drift_notes = _drift(corpus, compared_corpora, say)

    notes = [
        "the published figures are of other corpora and models than ours",
        *test.notes,
        *test.clustering(),
    ]
    if recipes:
        notes += _seen_in_training(source, test)
    run = Run(
        plan={
            "verb": "study angst",
            "models": [_described_model(row) for row in rows],
            **describe_inputs([test, *compared_corpora]),
            "threshold": 0.5,
            "trained_on": source.name if recipes else None,
            "recipes": [recipe.as_dict() for recipe in recipes],
            "seeds": seeds,
            "trials": trials,
            "tasks": list(tasks),
        },
        environment=run_environment(
            [candidate.model for candidate in candidates],
            [test, *compared_corpora],
            (),
            tallies,
        ),
        findings=Findings([*_model_findings(rows), *lengths(test, rows), *costs, *drift]),
        notes=(*notes, *drift_notes, *paper_notes()),
        folder=folder,
    )
    return save_run(run, folder)


def _described_model(row: JudgedModel) -> dict[str, Any]:
    return {"name": row.name, "labels": list(row.labels), "type": row.kind}


def _model_findings(rows: Sequence[JudgedModel]) -> list[Finding]:
    findings: list[Finding] = []
    for row in rows:
        findings += row.findings
    return findings


def _measure_models(
    candidates: Sequence[_Candidate], test: Corpus, asking: _Asking, limits: Limits
) -> tuple[list[JudgedModel], list[Finding], dict[str, Tally]]:
    """Every model on the test texts, the cost of its answers, and what became of texts; limits are shared."""
    names = [(candidate.name, candidate.kind, candidate.task) for candidate in candidates]
    pieces = [(1.0, test.texts)]

    rows: list[JudgedModel] = []
    costs: list[Finding] = []
    tallies: dict[str, Tally] = {}
    for candidate, seed in zip(candidates, seed_numbers(names), strict=True):
        model = candidate.model
        with answers(
            [model],
            pieces,
            store=asking.store,
            progress=asking.progress,
            limits=limits,
            say=asking.say,
        ) as answered:
            (view,) = answered.views
            usage = view.usage(test.texts)
            row = judge_model(test, view, name=candidate.name, kind=candidate.kind, seed=seed, usage=usage)
        rows.append(row)
        costs += _cost(model, row, usage)
        tallies |= answered.tallies
        # The user sets one limit for the whole study: what this model took, the next ones cannot take.
        limits = _remaining(limits, answered.tallies[model.name])
    return rows, costs, tallies


def _refuse_incomplete(
    corpora: Sequence[Corpus], models: Sequence[object], recipes: Sequence[Recipe], tasks: Sequence[str]
) -> None:
    """Refuse what cannot be studied, before anything is trained or asked."""
    own_names = "one corpus or more, each with its own name"
    if not corpora:
        raise BadInput("no corpus given", code="study.no-corpus", allowed=own_names, do="write NAME=PATH")
    corpus_names = {corpus.name for corpus in corpora}
    if len(corpus_names) < len(corpora):
        raise BadInput(
            "two corpora have the same name",
            code="corpus.same-name",
            allowed=own_names,
            do="write NAME=PATH",
        )
    if not models and not recipes:
        raise BadInput(
            "the study has no model",
            code="study.no-model",
            do="name a model (`models`), or what to train (`starts`)",
        )
    trained_names = {recipe.short_name for recipe in recipes}
    if len(trained_names) < len(recipes):
        raise BadInput(
            "two of the models to train have the same name",
            code="study.same-model-name",
            allowed="one start each",
        )
    for task in tasks:
        if task not in TASKS:
            raise BadInput(
                f"unknown task '{task}'",
                code="study.unknown-task",
                allowed=", ".join(TASKS),
                key="tasks",
            )


def _tested_texts(corpus: Corpus, labels: Sequence[str], *, trains: bool) -> Corpus:
    """The test split, or all texts where nothing is trained on them, with the labels of the study alone."""
    corpus.targets(labels)  # raises an error that lists the labels where one is missing
    test = held_out(corpus)
    if test is None and trains:
        raise BadInput(
            f"corpus '{corpus.name}' has no test split",
            code="corpus.no-test-split",
            allowed="a split column with train, dev and test",
            do="add a split column (psycheck clean --resplit 5:1:4), or train on another corpus (`train_on`)",
        )
    tested = corpus if test is None else test
    # A model may score further labels of the corpus, which the paper's tables have no place for.
    columns_to_drop = [LABEL_PREFIX + label for label in tested.labels if label not in labels]
    return replace(tested, table=tested.table.drop(columns_to_drop))


def _named_model(spec: str | Path | Model, test: Corpus) -> _Candidate:
    """A model that was given, with its task; the kind of an LLM is that of its prompt."""
    model = open_model(spec) if isinstance(spec, str | Path) else spec
    scored_labels = shared_labels(test, model.name, model.labels)

    prompt = model.prompt if isinstance(model, Prompted) else None
    if prompt is None:
        kind = GIVEN
    elif prompt.scale is not None:
        # The tables name the scale alone, without its version.
        kind = prompt.scale.title.partition(",")[0]
    else:
        kind = FEW_SHOT if prompt.examples else ZERO_SHOT

    return _Candidate(
        model=model,
        name=model.name,
        kind=kind,
        task=MULTI if len(scored_labels) > 1 else BINARY,
    )


def _train_recipes(
    training: _Training, recipes: Sequence[Recipe], tasks: Sequence[str]
) -> Iterator[_Candidate]:
    """Each recipe on each label alone and on all of them, with every seed."""
    label_sets: dict[str, list[tuple[str, ...]]] = {
        BINARY: [(label,) for label in training.labels],
        MULTI: [tuple(training.labels)],
    }
    for recipe in recipes:
        # Nothing of a linear baseline is random, so that it needs no further seeds.
        seeds = training.seeds if recipe.kind == "hf" else 1
        for task in tasks:
            for learned_labels in label_sets[task]:
                searched = _searched(training, recipe.with_(labels=list(learned_labels)))
                for seeded_recipe in searched.with_seeds(seeds):
                    yield _train_one(training, seeded_recipe, learned_labels)


def _searched(training: _Training, recipe: Recipe) -> Recipe:
    """The recipe with the learning rate and the batch size that are best on dev, if it is to search."""
    if not training.trials or recipe.kind != "hf":
        return recipe
    title = f"{recipe.short_name}, {' + '.join(recipe.labels)}"

    def trial_done(done: int, total: int) -> None:
        training.say(f"{title}: {done} of {total} trials of the search")

    name = f"{training.source.name}-{'-'.join(recipe.labels)}-{recipe.short_name}"
    trained = search_recipe(
        training.source,
        recipe,
        training.folder / "search" / name,
        trials=training.trials,
        space=search_space("angst"),
        progress=trial_done,
    )
    return trained.recipe


def _train_one(training: _Training, recipe: Recipe, labels: tuple[str, ...]) -> _Candidate:
    title = f"{recipe.short_name}, {' + '.join(labels)}, seed {recipe.seed}"
    joined_labels = "-".join(labels)
    learned = recipe.with_(labels=list(labels))
    started = monotonic()

    def step(done: int, total: int) -> None:
        training.progress(f"{title}: training", done, total, monotonic() - started)

    training.say(f"{title}: training …")
    folder_name = f"{training.source.name}-{joined_labels}-{recipe.seed}"
    folder = training_folder(training.folder, folder_name, learned, training.source)
    trained = fit_model(training.source, learned, folder, progress=step)
    outcome = "already trained" if trained.reused else f"trained in {trained.seconds:.0f} s"
    training.say(f"{title}: {outcome}")

    return _Candidate(
        model=open_model(trained.spec, name=f"{recipe.short_name}-{joined_labels}-{recipe.seed}"),
        name=recipe.short_name,
        kind=TRAINED,
        task=joined_labels,
    )


def _cost(model: Model, row: JudgedModel, usage: Mapping[str, int]) -> list[Finding]:
    """What the answers of a model cost, where its price is known."""
    if not isinstance(model, Priced) or not usage:
        return []
    cost = model.cost(usage["prompt_tokens"], usage["completion_tokens"])
    if cost is None:
        return []
    return [Finding("answer_cost", cost, usage["requests"], where=row.where, counts=usage)]


def _remaining(limits: Limits, tally: Tally) -> Limits:
    """The limits that remain for the models after one."""
    max_requests = limits.max_requests
    if max_requests is not None:
        max_requests -= tally.requests
    max_cost = limits.max_cost
    # What the last replies cost is known only afterwards: nothing remains then, and never less.
    if max_cost is not None:
        max_cost = max(max_cost - (tally.cost or 0.0), 0.0)
    return replace(limits, max_requests=max_requests, max_cost=max_cost)


def _drift(corpus: Corpus, compared_corpora: Sequence[Corpus], say: Say) -> tuple[list[Finding], list[str]]:
    """Whether a classifier tells each other corpus from this one (section 4.2, Table 8)."""
    # Table 8 is about how well a classifier tells them apart, not by which words.
    how = Comparing(parts=("adversarial",), words=0)
    place = {"audit": "study", "study": "angst", "level": "between corpora"}
    findings: list[Finding] = []
    notes: list[str] = []
    for compared in compared_corpora:
        say(f"{compared.name} against {corpus.name}: domain classifier …")
        distances = corpus_distances([compared, corpus], None, how)
        for finding in distances.findings:
            findings.append(replace(finding, where={**finding.where, **place}))
        notes += distances.notes
    return findings, notes


def _seen_in_training(source: Corpus, test: Corpus) -> list[str]:
    """A note on test texts that the models were trained on."""
    train = source.part("train") if "train" in source.strings("split") else source
    train_texts = set(train.texts)
    seen = sum(text in train_texts for text in test.texts)
    if not seen:
        return []
    return [f"{seen:,} of {counted(len(test), 'text')} of test are also in train: the figures are too good"]
