"""Retrain a model on the checks that it failed, and prove it on corpora that it never saw (DECK 6.3)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from psycheck.audits.suite import Suite, read_suite
from psycheck.corpus import Corpus
from psycheck.engine import Progress, silent
from psycheck.environment import environment_of
from psycheck.errors import BadInput
from psycheck.finding import Finding
from psycheck.line import CorpusLike, open_corpus, save
from psycheck.measures.bootstrap import RESAMPLES
from psycheck.model import Model
from psycheck.models.open import open_model
from psycheck.run import Run, writing
from psycheck.study.asking import additions_of, dir_checks, sample, scored, sentence_rates
from psycheck.study.changes import TRAINED_ON, improve_csv, improve_table, rate_changes
from psycheck.study.rows import (
    DECISIONS,
    Scored,
    against,
    against_chance,
    differences,
    figures,
    holm_adjusted,
)
from psycheck.train.augment import Source, augmented, reader_of
from psycheck.train.card import RECORD
from psycheck.train.fit import Trained, opened, train
from psycheck.train.parts import Part, held_out, parts_of
from psycheck.train.recipe import Recipe, with_seed
from psycheck.train.threshold import best_threshold

Which = Literal["below_mean", "all"]
AUDIT = "improve"
PLAIN, BETTER, CONTROL = "plain", "augmented", "control"
SHARE = 0.5
SAMPLE = 40
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ways:
    """How texts are augmented: which DIR checks, what share of texts, agreeing with the annotation or not.

    `control` also trains on random neutral sentences of the same lengths, to tell what length alone does.
    """

    suite: str = "deck"
    unseen: str = "deck-unseen"
    which: Which = "below_mean"
    share: float = SHARE
    agreeing: bool = True
    control: bool = True


@dataclass(frozen=True, slots=True)
class _Study:
    """What all arms share: the corpus to learn from, the tests, where dev sentences are tried."""

    corpus: Corpus
    label: str
    tests: list[Corpus]
    dev: Corpus
    asked: Corpus
    suites: list[Suite]
    out: Path
    store: Path
    progress: Progress
    say: Say
    rows: list[Scored] = field(default_factory=list)
    rates: list[Finding] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)
    done: dict[str, Any] = field(default_factory=dict)


def improve(
    start: str | Path | Recipe,
    corpus: CorpusLike,
    others: Sequence[CorpusLike] = (),
    *,
    out: str | Path,
    ways: Ways | None = None,
    augment: str = "deck",
    seeds: int = 1,
    texts: int = SAMPLE,
    store: str | Path | None = None,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
    say: Say = lambda _: None,
    **changes: Any,
) -> Run:
    """Choose the DIR checks that fail more than their mean, retrain with their sentences, measure both.

    `start` is a folder that `train` wrote from this corpus, or a recipe. Every further seed trains anew. All
    arms are measured on the test split and on the others (their test split where they have one), at 0.5, at a
    threshold chosen on dev, and by AUC; sentences are tried on `texts` texts of dev. `changes` are fields of
    `Ways`. What was trained or scored once is not trained or scored again.
    """
    chosen_ways = replace(ways or Ways(), **_known(changes))
    _check(chosen_ways, augment, seeds)
    suites = [dir_checks(read_suite(name)) for name in (chosen_ways.suite, chosen_ways.unseen) if name]
    folder, recipe = _start(start)
    learned = open_corpus(corpus)
    study = _study(learned, [open_corpus(one) for one in others], recipe, suites, Path(out), texts, store)
    study = replace(study, progress=progress, say=say)
    for number in range(seeds):
        one = with_seed(recipe, recipe.seed + number)
        _one_seed(study, one, chosen_ways, folder if number == 0 else None)
    run = _run(study, recipe, chosen_ways, seeds, resamples)
    save(run, study.out)
    with writing(study.out):
        (study.out / "improve.md").write_text(improve_table(run.findings), "utf-8")
        (study.out / "improve.csv").write_text(improve_csv(run.findings), "utf-8")
    return run


def _check(ways: Ways, augment: str, seeds: int) -> None:
    if augment != "deck":
        raise BadInput(
            f"cannot augment with '{augment}' yet", allowed="deck", do="leave --augment out, or say deck"
        )
    if ways.which not in ("below_mean", "all"):
        raise BadInput(f"which = '{ways.which}'", allowed="below_mean, all")
    if not 0 < ways.share <= 1:
        raise BadInput(f"share = {ways.share}", allowed="above 0 and up to 1")
    if seeds < 1:
        raise BadInput(f"seeds = {seeds}", allowed="1 or more")


def _known(changes: Mapping[str, Any]) -> dict[str, Any]:
    from dataclasses import fields

    from psycheck.errors import nearest

    known = {one.name for one in fields(Ways)}
    for name in changes:
        if name not in known:
            raise BadInput(f"improve() has no setting '{name}'", allowed=nearest(name, known))
    return dict(changes)


def _start(start: str | Path | Recipe) -> tuple[Path | None, Recipe]:
    """A finished training and its recipe, or a recipe alone."""
    if isinstance(start, Recipe):
        return None, start
    folder = Path(str(start).removeprefix("hf:"))
    if not (folder / RECORD).is_file():
        raise BadInput(
            f"'{folder}' is no folder that train wrote: its recipe is not known",
            allowed=f"a folder with {RECORD}, or a preset",
            do="psycheck train CORPUS --out FOLDER first, or name --preset",
        )
    return folder, opened(folder).recipe


def _study(
    corpus: Corpus,
    others: list[Corpus],
    recipe: Recipe,
    suites: list[Suite],
    out: Path,
    texts: int,
    store: str | Path | None,
) -> _Study:
    test = held_out(corpus)
    if test is None:
        raise BadInput(
            f"corpus '{corpus.name}' has no test split",
            allowed="a split column with train, dev and test",
            do="without texts that training never saw, nothing can be proved",
        )
    parts = parts_of(corpus, recipe)
    label = suites[0].checks[0].label
    if label not in parts.labels:
        raise BadInput(
            f"suite '{suites[0].name}' tests '{label}'; the model learns {', '.join(parts.labels)}",
            do=f"rename the column: --label COLUMN={label}",
        )
    names = [corpus.name, *(one.name for one in others)]
    if len(set(names)) < len(names):
        raise BadInput("two corpora have the same name", do="write NAME=PATH")
    tests = [test, *(held_out(one) or one for one in others)]
    for one in tests:
        one.targets([label])  # says which labels there are where this one is not
    dev = _corpus_of(parts.dev, parts.labels, f"{corpus.name} dev")
    asked = sample(dev, texts, seed=0)
    place = Path(store) if store else out / "scores.sqlite"
    return _Study(corpus, label, tests, dev, asked, suites, out, place, silent, lambda _: None)


def _one_seed(study: _Study, recipe: Recipe, ways: Ways, folder: Path | None) -> None:
    """The plain model, the checks that it fails, and the arms that learn from them."""
    where = folder or study.out / "models" / f"{PLAIN}-{recipe.seed}"
    plain = _trained(study, study.corpus, recipe, where, PLAIN)
    rates = _measure(study, plain, PLAIN, recipe.seed)
    suite = study.suites[0]
    mine = [f for f in rates if f.where["suite"] == suite.name]
    failing = [f.where["check"] for f in mine if "below_dir_mean" in f.flags]
    ids = [check.id for check in suite.checks] if ways.which == "all" else failing
    if not ids:
        raise BadInput(
            f"no DIR check of '{suite.name}' is below the mean: all pass alike, there is nothing to choose",
            do="use all of them: --which all",
        )
    study.say(f"seed {recipe.seed}: checks to learn from: {', '.join(ids)}")
    study.done.setdefault("chosen", {})[str(recipe.seed)] = ids
    additions = additions_of([check for check in suite.checks if check.id in ids])
    kinds: list[tuple[str, Source]] = [(BETTER, "checks")]
    kinds += [(CONTROL, "random")] if ways.control else []
    read = reader_of(recipe)
    for arm, source in kinds:
        data = augmented(
            study.corpus,
            additions,
            study.label,
            share=ways.share,
            agreeing=ways.agreeing,
            sentences=source,
            read=read,
            seed=recipe.seed,
        )
        study.done.setdefault("augmented", {})[f"{arm}-{recipe.seed}"] = dict(data.counts)
        place = study.out / "models" / f"{arm}-{recipe.seed}"
        trained = _trained(study, data.corpus, recipe, place, arm)
        _measure(study, trained, arm, recipe.seed, ids if arm == BETTER else ())


def _trained(study: _Study, corpus: Corpus, recipe: Recipe, folder: Path, arm: str) -> Trained:
    trained = train(corpus, recipe, folder)
    said = "trained before" if trained.reused else f"trained in {trained.seconds:.0f} s"
    study.say(f"seed {recipe.seed}, {arm}: {said}")
    return trained


def _measure(
    study: _Study, trained: Trained, arm: str, seed: int, learned: Sequence[str] = ()
) -> list[Finding]:
    """Score dev, test and the other corpora, and try all sentences; checks that were learned are marked."""
    model = open_model(trained.spec, name=f"{arm}-{seed}")
    study.models.append(model)
    on_dev, *on_tests = scored(model, [study.dev, *study.tests], study.label, study.store, study.progress)
    threshold = best_threshold(study.dev.targets([study.label])[:, 0], on_dev)
    for test, scores in zip(study.tests, on_tests, strict=True):
        study.rows.append(
            Scored(
                AUDIT,
                arm,
                trained.recipe.start,
                study.corpus.name,
                test.name,
                study.label,
                seed,
                threshold,
                test.targets([study.label])[:, 0],
                scores,
            )
        )
    rates = sentence_rates(model, study.asked, study.suites, study.store, study.progress)
    for rate in rates:
        flags = rate.flags
        if rate.where["suite"] == study.suites[0].name and rate.where["check"] in learned:
            flags = (*flags, TRAINED_ON)
        where = {**rate.where, "audit": AUDIT, "arm": arm, "seed": str(seed)}
        study.rates.append(
            replace(rate, measure="sentence_check_pass_rate", where=where, flags=flags, examples=())
        )
    return rates


def _run(study: _Study, recipe: Recipe, ways: Ways, seeds: int, resamples: int) -> Run:
    findings = [f for row in study.rows for f in figures(row, resamples=resamples)]
    plain = {(row.corpus, row.seed): row for row in study.rows if row.arm == PLAIN}
    arms = list(dict.fromkeys(row.arm for row in study.rows if row.arm != PLAIN))
    for decision in DECISIONS:
        for row in study.rows:
            findings += against_chance(row, decision)
            if row.arm != PLAIN:
                findings.append(against(row, plain[row.corpus, row.seed], decision))
    for measure in ("mcnemar_p", "chance_p"):
        findings += holm_adjusted(findings, measure)
    for arm in arms:
        for test in study.tests:
            mine = [row for row in study.rows if row.arm == arm and row.corpus == test.name]
            findings += differences([(plain[row.corpus, row.seed], row) for row in mine], resamples=resamples)
    findings += study.rates
    findings += rate_changes(study.rates)
    corpora = [study.corpus, *study.tests[1:]]
    plan = {
        "verb": "improve",
        "models": [{"name": model.name, "labels": list(model.labels)} for model in study.models],
        "corpora": [
            {"name": c.name, "texts": len(c), "labels": list(c.labels), "left_out": dict(c.left_out)}
            for c in study.tests
        ],
        "suites": [{"name": s.name, "title": s.title, "checks": len(s.checks)} for s in study.suites],
        "trained_on": {model.name: [study.corpus.name] for model in study.models},
        "threshold": 0.5,
        "recipe": recipe.as_dict(),
        "which": ways.which,
        "share": ways.share,
        "agreeing": ways.agreeing,
        "control": ways.control,
        "seeds": seeds,
        "sentences_tried_on": len(study.asked),
        **study.done,
    }
    return Run(
        plan=plan,
        environment=environment_of(study.models, corpora, study.suites, {}),
        findings=tuple(findings),
        notes=(
            f"sentences were tried on {len(study.asked)} texts of dev; "
            "checks used for training are marked 'trained_on'",
        ),
        folder=study.out,
    )


def _corpus_of(part: Part, labels: Sequence[str], name: str) -> Corpus:
    columns = zip(labels, part.targets.T, strict=True)
    marks = {label: [None if mark != mark else float(mark) for mark in column] for label, column in columns}
    return Corpus.of(name, part.texts, labels=marks)
