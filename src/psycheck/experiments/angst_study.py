"""The design of ANGST on the user's corpus: fine-tuned models and LLMs on depression, anxiety and both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import monotonic

from psycheck.audits.performance import shared_labels
from psycheck.corpora.distances import Comparing, compare
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import LABEL as COLUMN
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted
from psycheck.experiments.angst_rows import Judged, judged, lengths, seed_numbers
from psycheck.experiments.arms import Say, named, quiet, seeded, training_folder
from psycheck.finding import Finding, Findings
from psycheck.model import Model
from psycheck.models.open import open_model
from psycheck.report.studies.angst import BINARY, FEW_SHOT, GIVEN, MULTI, TRAINED, ZERO_SHOT, paper_notes
from psycheck.run import Run
from psycheck.runs.environment import described, environment_of
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.answers import answers
from psycheck.scoring.engine import Progress, silent
from psycheck.scoring.limits import NO_LIMITS, Limits
from psycheck.scoring.tally import Tally
from psycheck.train.fit import fit
from psycheck.train.parts import held_out
from psycheck.train.recipe import Recipe, kind_of

LABELS = ("depression", "anxiety")
TASKS = (BINARY, MULTI)


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
    store: str | Path | None = None,
    limits: Limits = NO_LIMITS,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Measure models on the test split of the first corpus, and how far the other corpora are from it.

    `models` are specs or models; those of the same name are the seeds of one model. `recipes` are trained by
    the study on the train split of `train_on` (default: the first corpus), with every seed if they are
    fine-tuned: once for each label alone ("binary") and once for all labels ("multi-label"). Without a test
    split all texts are tested, unless the models are trained on the same corpus. `limits` hold for all models
    together. The folder gets `study.md` and `report.html`, each table next to the published one. Finished
    trainings and scores are reused.
    """
    opened = [open_corpus(one) for one in corpora]
    source = open_corpus(train_on) if train_on is not None else (opened[0] if opened else None)
    _refuse(opened, models, recipes, tasks)
    corpus, others = opened[0], opened[1:]
    test = _tested(corpus, labels, trains=bool(recipes) and train_on is None)
    folder = Path(out)
    kept = Path(store) if store else folder / "scores.sqlite"
    given = [open_model(one) if isinstance(one, str | Path) else one for one in models]
    wanted = [(model, *_given_name(model, test)) for model in given]
    wanted += _trained(recipes, tasks, labels, seeds, source or corpus, folder, progress, say)
    numbers = seed_numbers([tuple(name) for _, *name in wanted])
    rows: list[Judged] = []
    costs: list[Finding] = []
    tallies: dict[str, Tally] = {}
    for (model, name, kind, _), seed in zip(wanted, numbers, strict=True):
        with answers(
            [model], [(1.0, test.texts)], store=kept, progress=progress, limits=limits, say=say
        ) as found:
            tallies |= found.tallies
            (view,) = found.views
            usage = view.usage(test.texts)
            rows.append(judged(test, view, name, kind, seed, usage))
            costs += _cost(model, rows[-1], usage)
        limits = _left(limits, found.tallies[model.name])
    findings = [*(f for row in rows for f in row.findings), *lengths(test, rows), *costs]
    drift, notes = _drift(corpus, others, say)
    run = Run(
        plan={
            "verb": "study angst",
            "models": [{"name": row.name, "labels": list(row.labels), "type": row.kind} for row in rows],
            **described([test, *others]),
            "threshold": 0.5,
            "trained_on": (source or corpus).name if recipes else None,
            "recipes": [recipe.as_dict() for recipe in recipes],
            "seeds": seeds,
            "tasks": list(tasks),
        },
        environment=environment_of([model for model, *_ in wanted], [test, *others], (), tallies),
        findings=Findings([*findings, *drift]),
        notes=(
            "the published figures are of other corpora and models than ours",
            *test.notes,
            *test.clustering(),
            *_seen(source or corpus, test, bool(recipes)),
            *notes,
            *paper_notes(),
        ),
        folder=folder,
    )
    return save(run, folder)


def _refuse(
    opened: Sequence[Corpus], models: Sequence[object], recipes: Sequence[Recipe], tasks: Sequence[str]
) -> None:
    """Refuse what cannot be studied, before anything is trained or asked."""
    names = [corpus.name for corpus in opened]
    if not opened or len(set(names)) < len(names):
        what = "two corpora have the same name" if opened else "no corpus given"
        raise BadInput(what, allowed="one corpus or more, each with its own name", do="write NAME=PATH")
    if not models and not recipes:
        raise BadInput("the study has no model", do="name a model (`models`), or what to train (`starts`)")
    if len({named(recipe) for recipe in recipes}) < len(recipes):
        raise BadInput("two of the models to train have the same name", allowed="one start each")
    if unknown := [task for task in tasks if task not in TASKS]:
        raise BadInput(f"unknown task '{unknown[0]}'", allowed=", ".join(TASKS), key="tasks")


def _tested(corpus: Corpus, labels: Sequence[str], *, trains: bool) -> Corpus:
    """The test split, or all texts where nothing is trained on them, with the labels of the study alone."""
    corpus.targets(labels)  # raises an error that lists the labels where one is missing
    test = held_out(corpus)
    if test is None and trains:
        raise BadInput(
            f"corpus '{corpus.name}' has no test split",
            allowed="a split column with train, dev and test",
            do="add a split column (psycheck clean --resplit 5:1:4), or train on another corpus (`train_on`)",
        )
    part = corpus if test is None else test
    dropped = [COLUMN + label for label in part.labels if label not in labels]
    return replace(part, table=part.table.drop(dropped))


def _given_name(model: Model, test: Corpus) -> tuple[str, str, str]:
    """The name, kind and task of a model that was given; the kind of an LLM is that of its prompt."""
    task = MULTI if len(shared_labels(test, model.name, model.labels)) > 1 else BINARY
    prompt = getattr(model, "prompt", None)
    if prompt is None:
        return model.name, GIVEN, task
    if prompt.scale is not None:
        return model.name, prompt.scale.title.partition(",")[0], task
    return model.name, FEW_SHOT if prompt.examples else ZERO_SHOT, task


def _trained(
    recipes: Sequence[Recipe],
    tasks: Sequence[str],
    labels: Sequence[str],
    seeds: int,
    source: Corpus,
    folder: Path,
    progress: Progress,
    say: Say,
) -> Iterator[tuple[Model, str, str, str]]:
    """Each recipe on each label alone and on all of them; a linear baseline needs no further seeds."""
    sets: dict[str, list[tuple[str, ...]]] = {BINARY: [(one,) for one in labels], MULTI: [tuple(labels)]}
    for recipe, task in product(recipes, tasks):
        for learned, one in product(sets[task], seeded(recipe, seeds if kind_of(recipe) == "hf" else 1)):
            wanted = one.with_(labels=list(learned))
            what = f"{named(recipe)}, {' + '.join(learned)}, seed {one.seed}"
            started = monotonic()

            def step(done: int, total: int, what: str = what, started: float = started) -> None:
                progress(f"{what}: training", done, total, monotonic() - started)

            say(f"{what}: training …")
            place = training_folder(folder, f"{source.name}-{'-'.join(learned)}-{one.seed}", wanted, source)
            done = fit(source, wanted, place, progress=step)
            say(f"{what}: " + ("already trained" if done.reused else f"trained in {done.seconds:.0f} s"))
            name = f"{named(recipe)}-{'-'.join(learned)}-{one.seed}"
            yield open_model(done.spec, name=name), named(recipe), TRAINED, "-".join(learned)


def _cost(model: Model, row: Judged, usage: Mapping[str, int]) -> list[Finding]:
    """What the answers of a model cost, where its price is known."""
    price = getattr(model, "price", None)
    if price is None or not usage:
        return []
    cost = float(price.of(usage["prompt_tokens"], usage["completion_tokens"]))
    return [Finding("answer_cost", cost, usage["requests"], None, row.where, usage)]


def _left(limits: Limits, tally: Tally) -> Limits:
    """The limits that are left for the models after one."""
    requests, cost = limits.max_requests, limits.max_cost
    return replace(
        limits,
        max_requests=None if requests is None else requests - tally.requests,
        max_cost=None if cost is None else max(cost - (tally.cost or 0.0), 0.0),
    )


def _drift(corpus: Corpus, others: Sequence[Corpus], say: Say) -> tuple[list[Finding], list[str]]:
    """Whether a classifier tells each other corpus from this one (section 4.2, Table 8)."""
    findings: list[Finding] = []
    notes: list[str] = []
    how = Comparing(parts=("adversarial",), words=0)
    for other in others:
        say(f"{other.name} against {corpus.name}: domain classifier …")
        found = compare([other, corpus], None, how)
        place = {"audit": "study", "study": "angst", "level": "between corpora"}
        findings += [replace(one, where={**one.where, **place}) for one in found.findings]
        notes += found.notes
    return findings, notes


def _seen(source: Corpus, test: Corpus, trains: bool) -> list[str]:
    """A note on test texts that the models were trained on."""
    train = source.part("train") if "train" in source.strings("split") else source
    seen = set(train.texts) if trains else set()
    again = sum(text in seen for text in test.texts)
    if not again:
        return []
    return [f"{again:,} of {counted(len(test), 'text')} of test are also in train: the figures are too good"]
