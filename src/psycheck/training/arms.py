"""An experiment with several arms: one recipe trained in several ways, each measured on the same tests.

All arms of a seed have the same number of texts and the same recipe, except that those after the plain model
may weight both classes equally; in that case an arm with equal weights alone is trained too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

import polars as pl

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.suite import Suite
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Judgement
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.core.model import Model, Windowed
from psycheck.core.progress import Progress, Say, quiet, silent
from psycheck.corpora.shorten import fit_texts
from psycheck.io.settings import Limit
from psycheck.models.opening import open_model
from psycheck.report.studies.improve_claims import GROUNDED
from psycheck.report.studies.improve_tables import TRAINED_ON
from psycheck.scoring.answers import answers, in_equal_shares
from psycheck.statistics.classification import firm
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.thresholds import best_threshold
from psycheck.training.arm_figures import ArmResult, Scored
from psycheck.training.augment import Augmented
from psycheck.training.check_changes import PLAIN, RATE
from psycheck.training.dev_figures import merit
from psycheck.training.fit import Trained, train, training_folder
from psycheck.training.parts import Parts, held_out, parts_of
from psycheck.training.recipe import Recipe

Which = Literal["below_mean", "all"]
# suite and check → id of a text → passed
PassedTexts = dict[tuple[str, str], dict[str, bool]]

BALANCED = "balanced"
BETTER = "augmented"
CONTROL = "control"
# How many texts of dev the sentences of checks are tried on.
SAMPLE = 40


@dataclass(frozen=True, slots=True)
class Retraining:
    """How texts are augmented: which DIR checks, what share of texts, agreeing with the annotation or not.

    The paper's way is `which` "below_mean", `share` 1 and no `balance`. The defaults give both classes
    sentences, leave half of the texts as they are and weight both classes equally, which did best on corpora
    that training never saw (docs/benchmarks/improving.md).
    `control` also trains on random neutral sentences of the same lengths, to show what length alone does.
    """

    suite: str = "deck"
    unseen: str = "deck-unseen"
    which: Which = "all"
    share: Annotated[float, Limit("above 0 and up to 1", lambda share: 0 < share <= 1)] = 0.5
    agreeing: bool = True
    balance: bool = True
    control: bool = True

    def sentence_arms(self, recipe: Recipe) -> list[str]:
        """The names of the arms that a recipe is trained in, in order."""
        arms = [*self._unaugmented_arms(recipe), BETTER]
        if self.control:
            arms.append(CONTROL)
        return arms

    def grounded_arms(self, recipe: Recipe) -> list[str]:
        """The same where nothing is augmented and the last arm decides from symptoms."""
        return [*self._unaugmented_arms(recipe), GROUNDED]

    def gender_arms(self) -> list[str]:
        """The same where swapped texts are added instead of sentences; classes are not weighted."""
        if self.control:
            return [PLAIN, BETTER, CONTROL]
        return [PLAIN, BETTER]

    def _unaugmented_arms(self, recipe: Recipe) -> list[str]:
        # A recipe with class weights is balanced already.
        weights_are_new = self.balance and not recipe.class_weights
        if weights_are_new:
            return [PLAIN, BALANCED]
        return [PLAIN]

    def weighted(self, recipe: Recipe) -> Recipe:
        """The recipe of the arms after the plain one."""
        return recipe.with_(class_weights=recipe.class_weights or self.balance)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What all arms share.

    `tests` begins with the corpus's own test split; sentences are tried on `probe`, some texts of dev.
    """

    audit: str
    corpus: Corpus
    label: str
    parts: Parts
    tests: tuple[Corpus, ...]
    dev: Corpus
    probe: Corpus
    suites: tuple[Suite, ...]
    out: Path
    store: Path
    progress: Progress = silent
    say: Say = quiet


def plan_experiment(
    corpus: Corpus,
    others: Sequence[Corpus],
    recipe: Recipe,
    suites: Sequence[Suite],
    out: Path,
    *,
    audit: str,
    texts: int = SAMPLE,
    store: Path | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Experiment:
    """Check everything before anything is trained: the test split, the label, the names.

    Of the suites, the DIR checks that append sentences are tried. The label is that of the first suite;
    without suites it is the first label that is learned.
    """
    tried_suites = tuple(dir_checks(suite) for suite in suites)
    # Dev chooses thresholds and checks, so it cannot prove anything.
    own_test = held_out(corpus)
    if own_test is None:
        raise BadInput(
            f"corpus '{corpus.name}' has no test split",
            code="corpus.no-test-split",
            allowed="a split column with train, dev and test",
            do="add a test split: an improvement is only proved on texts that training never saw",
        )
    parts = parts_of(corpus, recipe)
    label = _tested_label(tried_suites, parts)
    # Findings tell tests apart by the names of their corpora.
    corpus_names = [corpus.name, *(other.name for other in others)]
    if len(set(corpus_names)) < len(corpus_names):
        raise BadInput("two corpora have the same name", code="corpus.same-name", do="write NAME=PATH")

    tests = (own_test, *(held_out(other) or other for other in others))
    for test in tests:
        test.targets([label])  # raises an error that lists the labels where this one is missing

    dev = _dev_corpus(corpus, parts)
    return Experiment(
        audit=audit,
        corpus=corpus,
        label=label,
        parts=parts,
        tests=tests,
        dev=dev,
        probe=dev.sample(texts),
        suites=tried_suites,
        out=out,
        store=store or out / "scores.sqlite",
        progress=progress,
        say=say,
    )


def _tested_label(suites: Sequence[Suite], parts: Parts) -> str:
    if not suites:
        return parts.labels[0]
    label = suites[0].checks[0].label
    if label not in parts.labels:
        raise BadInput(
            f"suite '{suites[0].name}' tests '{label}'; the model learns {', '.join(parts.labels)}",
            code="suite.label-not-learned",
            do=f"rename the column: `labels=COLUMN={label}`",
        )
    return label


def _dev_corpus(corpus: Corpus, parts: Parts) -> Corpus:
    """The dev split, also where training cuts it, as a corpus with labels and authors."""
    # Parts of a training have no ids: the text itself finds its author.
    author_of_text = dict(zip(corpus.texts, corpus.strings("author"), strict=True))
    return Corpus.of(
        f"{corpus.name} dev",
        parts.dev.texts,
        labels=dict(zip(parts.labels, parts.dev.targets.T.tolist(), strict=True)),
        author=[author_of_text[text] for text in parts.dev.texts],
    )


def run_arm(
    experiment: Experiment,
    recipe: Recipe,
    arm: str,
    data: Augmented | None = None,
    *,
    learned: Sequence[str] = (),
    folder: Path | None = None,
) -> ArmResult:
    """Train an arm on augmented data, if any, score dev and all tests, and try all sentences.

    A finished training of the same recipe on the same texts is reused. Checks in `learned` are flagged.
    """
    model_folder = _folder_of(experiment, recipe, arm, data, folder)
    trained = _train_arm(experiment, recipe, arm, data, model_folder)
    model = open_model(trained.spec, name=f"{arm}-{recipe.seed}")
    rows = _score_arm(experiment, recipe, arm, model)

    rates, passed = sentence_cases(
        model, experiment.probe, experiment.suites, experiment.store, experiment.progress
    )
    findings = []
    for rate in rates:
        # Only the first suite is learned from; a check of another one may have the same name.
        is_of_suite = rate.where["suite"] == experiment.suites[0].name
        was_learned = is_of_suite and rate.where["check"] in learned
        place = {
            "audit": experiment.audit,
            "arm": arm,
            "seed": str(recipe.seed),
        }
        findings.append(
            replace(
                rate,
                measure=RATE,
                where={**rate.where, **place},
                flags=(*rate.flags, TRAINED_ON) if was_learned else rate.flags,
                examples=(),
            )
        )

    return ArmResult(
        arm=arm,
        seed=recipe.seed,
        model=model,
        rows=rows,
        findings=tuple(findings),
        passed=passed,
        augmented=data.counts if data else {},
        folder=model_folder,
        dev=trained.dev,
    )


def best_arm(arms: Sequence[ArmResult], criterion: str) -> ArmResult:
    """The plain arm whose seed is best on dev by the criterion of its recipe; the first one on ties."""
    plain = [arm for arm in arms if arm.arm == PLAIN]
    return max(plain, key=lambda arm: merit(arm.dev, criterion))


def _folder_of(
    experiment: Experiment,
    recipe: Recipe,
    arm: str,
    data: Augmented | None,
    finished: Path | None,
) -> Path:
    """Where the model of an arm is kept: a finished training, or a folder of the experiment."""
    if finished is not None:
        return finished
    corpus = data.corpus if data else experiment.corpus
    name = f"{corpus.name}-{arm}-{recipe.seed}"
    return training_folder(experiment.out, name, recipe, corpus)


def _train_arm(
    experiment: Experiment, recipe: Recipe, arm: str, data: Augmented | None, place: Path
) -> Trained:
    corpus = data.corpus if data else experiment.corpus
    title = f"{corpus.name}, {recipe.short_name}, seed {recipe.seed}, {arm}"
    started = monotonic()

    def progress(done: int, total: int) -> None:
        experiment.progress(f"{title}: training", done, total, monotonic() - started)

    experiment.say(f"{title}: training …")
    trained = train(corpus, recipe, place, progress=progress)
    outcome = "already trained" if trained.reused else f"trained in {trained.seconds:.0f} s"
    experiment.say(f"{title}: {outcome}")
    return trained


def _score_arm(
    experiment: Experiment,
    recipe: Recipe,
    arm: str,
    model: Model,
) -> tuple[Scored, ...]:
    """The scores of every test, with the threshold that is best on dev."""
    label = experiment.label
    dev_scores, *test_scores = score_label(
        model, [experiment.dev, *experiment.tests], label, experiment.store, experiment.progress
    )
    threshold = best_threshold(experiment.dev.targets([label])[:, 0], dev_scores)

    rows = []
    for test, scores in zip(experiment.tests, test_scores, strict=True):
        row = Scored(
            audit=experiment.audit,
            arm=arm,
            model=recipe.short_name,
            trained_on=experiment.corpus.name,
            corpus=test.name,
            label=label,
            seed=recipe.seed,
            threshold=threshold,
            targets=firm(test.targets([label])[:, 0]),
            scores=scores,
            clusters=Clusters.of(test.units(), test.copies()),
        )
        rows.append(row)
    return tuple(rows)


def score_label(
    model: Model,
    corpora: Sequence[Corpus],
    label: str,
    store_path: Path | None = None,
    progress: Progress = silent,
) -> list[FloatArray]:
    """A model's scores of one label for each corpus, each (n,); NaN where it gave no usable answer."""
    if label not in model.labels:
        raise BadInput(
            f"model '{model.name}' does not score '{label}'",
            code="model.label-not-scored",
            allowed=", ".join(model.labels),
        )
    column = model.labels.index(label)
    # All corpora at once: a text that two of them hold is scored once.
    pieces = in_equal_shares([corpus.texts for corpus in corpora])
    with answers([model], pieces, store=store_path, progress=progress) as answered:
        (view,) = answered.views
        return [view.of(corpus.texts)[:, column] for corpus in corpora]


def judge_with_room(
    model: Model,
    corpus: Corpus,
    audits: Sequence[Behaviour],
    store_path: Path | None = None,
    progress: Progress = silent,
) -> list[Judgement]:
    """What audits find on a corpus whose texts are shortened so that every sentence is read."""
    sentences: list[str] = []
    for audit in audits:
        for check in audit.suite.checks:
            sentences += check.sentences
    # A model without a window reads every text to its end.
    readers = [model.read] if isinstance(model, Windowed) else []
    fitted, _ = fit_texts(corpus, readers, sentences)

    pieces = in_equal_shares([audit.ask(fitted) for audit in audits])
    with answers([model], pieces, store=store_path, progress=progress) as answered:
        (view,) = answered.views
        return [audit.judge(fitted, view) for audit in audits]


def sentence_cases(
    model: Model,
    corpus: Corpus,
    suites: Sequence[Suite],
    store_path: Path | None = None,
    progress: Progress = silent,
) -> tuple[list[Finding], PassedTexts]:
    """Pass rates of the DIR checks of suites, and which texts passed, by suite and check, then by id."""
    audits = [Behaviour(dir_checks(suite)) for suite in suites]
    judgements = judge_with_room(model, corpus, audits, store_path, progress)

    rates: list[Finding] = []
    passed: PassedTexts = {}
    for judgement in judgements:
        rates += [finding for finding in judgement.findings if finding.measure == "pass_rate"]
        columns = pl.col("suite", "check", "id", "outcome").cast(pl.String)
        for suite, check, text_id, outcome in judgement.tables["cases"].select(columns).iter_rows():
            # What was not tested neither passed nor failed.
            if outcome in ("passed", "failed"):
                passed.setdefault((suite, check), {})[text_id] = outcome == "passed"
    return rates, passed


def dir_checks(suite: Suite) -> Suite:
    """A suite with only the DIR checks that append sentences."""
    # What must stay steady says nothing about presence or absence.
    directions = ("not_down", "not_up")
    checks = []
    for check in suite.checks:
        if check.sentences and check.expect.kind in directions:
            checks.append(check)
    if not checks:
        raise BadInput(
            f"suite '{suite.name}' has no DIR check that appends a sentence",
            code="suite.no-dir-check",
        )
    return replace(suite, checks=tuple(checks))
