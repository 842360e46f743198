"""The arms of one experiment: the plain model, one that learned from the checks it failed, and a control.

All arms of a seed have the same number of texts and the same recipe, except that those after the plain model
may weight both classes equally; in that case an arm with equal weights alone is trained too. Every arm is
measured on the same tests.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

import polars as pl

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.suite import Check, Suite
from psycheck.corpora.shorten import fit_texts
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.experiments.rows import PLAIN, RATE, ArmResult, Scored
from psycheck.finding import Finding
from psycheck.measures.classification import firm
from psycheck.model import FloatArray, Judgement, Model, Windowed
from psycheck.models.open import open_model
from psycheck.report.studies.improve import GROUNDED, TRAINED_ON
from psycheck.scoring.answers import answers, in_equal_shares
from psycheck.scoring.engine import Progress, silent
from psycheck.settings.reader import Limit
from psycheck.train.augment import Addition, Augmented, Source, augmented, reader_of
from psycheck.train.figures import best_threshold
from psycheck.train.fit import train
from psycheck.train.parts import Parts, held_out, parts_of
from psycheck.train.recipe import SYMPTOMS, Recipe

Which = Literal["below_mean", "all"]
BALANCED, BETTER, CONTROL = "balanced", "augmented", "control"
SAMPLE = 40
Say = Callable[[str], None]


def quiet(_: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Ways:
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

    def arms(self, recipe: Recipe) -> list[str]:
        """The names of the arms that a recipe is trained in, in order."""
        balanced = self.balance and not recipe.class_weights
        return [PLAIN, *[BALANCED] * balanced, BETTER, *[CONTROL] * self.control]

    def grounded(self, recipe: Recipe) -> list[str]:
        """The same where nothing is augmented and the last arm decides from symptoms."""
        return [*(arm for arm in self.arms(recipe) if arm in (PLAIN, BALANCED)), GROUNDED]


@dataclass(frozen=True, slots=True)
class Setting:
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


def setting_of(
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
) -> Setting:
    """Check everything before anything is trained: the test split, the label, the names.

    Of the suites, the DIR checks that append sentences are tried. The label is that of the first suite;
    without suites it is the first label that is learned.
    """
    suites = [dir_checks(suite) for suite in suites]
    test = held_out(corpus)
    if test is None:
        raise BadInput(
            f"corpus '{corpus.name}' has no test split",
            allowed="a split column with train, dev and test",
            do="add a test split: an improvement is only proved on texts that training never saw",
        )
    parts = parts_of(corpus, recipe)
    label = suites[0].checks[0].label if suites else parts.labels[0]
    if label not in parts.labels:
        raise BadInput(
            f"suite '{suites[0].name}' tests '{label}'; the model learns {', '.join(parts.labels)}",
            do=f"rename the column: `labels=COLUMN={label}`",
        )
    names = [corpus.name, *(one.name for one in others)]
    if len(set(names)) < len(names):
        raise BadInput("two corpora have the same name", do="write NAME=PATH")
    tests = (test, *(held_out(one) or one for one in others))
    for one in tests:
        one.targets([label])  # raises an error that lists the labels where this one is missing
    marks = dict(zip(parts.labels, parts.dev.targets.T.tolist(), strict=True))
    authors = dict(zip(corpus.texts, corpus.strings("author"), strict=True))
    author = [authors[text] for text in parts.dev.texts]
    dev = Corpus.of(f"{corpus.name} dev", parts.dev.texts, labels=marks, author=author)
    kept = (out, store or out / "scores.sqlite", progress, say)
    return Setting(audit, corpus, label, parts, tests, dev, dev.sample(texts), tuple(suites), *kept)


def sentence_arms(
    setting: Setting, recipe: Recipe, ways: Ways | None, folder: Path | None = None
) -> list[ArmResult]:
    """Train and measure the plain model (that of `folder`, if any) and those that learn from its checks.

    Without `ways` only the plain model is trained.
    """
    plain = run_arm(setting, recipe, PLAIN, folder=folder)
    if ways is None:
        return [plain]
    suite, *_ = setting.suites
    checks = suite.checks
    if ways.which == "below_mean":
        below = {(f.where["suite"], f.where["check"]) for f in plain.findings if "below_dir_mean" in f.flags}
        checks = tuple(check for check in checks if (suite.name, check.id) in below)
    ids = tuple(check.id for check in checks)
    if not ids:
        setting.say(f"seed {recipe.seed}: all checks have the same pass rate, so none is below the mean")
        return [replace(plain, checks=ids)]
    setting.say(f"seed {recipe.seed}: checks to learn from: {', '.join(ids)}")
    additions = additions_of(checks)
    sides = {addition.presence for addition in additions}
    notes = []
    if ways.agreeing and len(sides) == 1:  # then any sentence gives the class away
        side, mark = ("presence", 1) if sides.pop() else ("absence", 0)
        notes = [
            f"seed {recipe.seed}: all checks to learn from are about {side}, so only texts annotated {mark} "
            "get a sentence: the model may learn that any sentence at the end means that class (learning "
            "from all checks gives both classes sentences)"
        ]
        setting.say(notes[0])
    results = [replace(plain, checks=ids, notes=tuple(notes))]
    weighted = recipe.with_(class_weights=recipe.class_weights or ways.balance)
    sources: dict[str, Source] = {BETTER: "checks", CONTROL: "random"}
    for arm in ways.arms(recipe)[1:]:
        data = None
        if arm in sources:
            data = augmented(
                setting.corpus,
                additions,
                setting.label,
                share=ways.share,
                agreeing=ways.agreeing,
                sentences=sources[arm],
                read=reader_of(weighted),
                seed=recipe.seed,
            )
        results.append(run_arm(setting, weighted, arm, data, learned=ids if arm == BETTER else ()))
    return results


def grounded_arms(
    setting: Setting, recipe: Recipe, ways: Ways, folder: Path | None = None
) -> list[ArmResult]:
    """Train and measure the plain model (that of `folder`, if any) and one that decides from symptoms."""
    weighted = recipe.with_(class_weights=recipe.class_weights or ways.balance)
    recipes = {PLAIN: recipe, BALANCED: weighted, GROUNDED: weighted.with_(start=SYMPTOMS, symptom_task=0)}
    return [
        run_arm(setting, recipes[arm], arm, folder=folder if arm == PLAIN else None)
        for arm in ways.grounded(recipe)
    ]


def training_folder(root: Path, name: str, recipe: Recipe, *corpora: Corpus) -> Path:
    """Where a training is kept: equal recipes on equal texts have the same folder."""
    content = json.dumps(recipe.as_dict(), sort_keys=True) + "".join(one.fingerprint() for one in corpora)
    return root / "models" / f"{name}-{blake2b(content.encode(), digest_size=4).hexdigest()}"


def run_arm(
    setting: Setting,
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
    seed, label = recipe.seed, setting.label
    corpus = data.corpus if data else setting.corpus
    place = folder or training_folder(setting.out, f"{corpus.name}-{arm}-{seed}", recipe, corpus)
    name = f"{corpus.name}, {named(recipe)}, seed {seed}, {arm}"
    started = monotonic()

    def progress(done: int, total: int) -> None:
        setting.progress(f"{name}: training", done, total, monotonic() - started)

    setting.say(f"{name}: training …")
    trained = train(corpus, recipe, place, progress=progress)
    setting.say(
        f"{name}: " + ("already trained" if trained.reused else f"trained in {trained.seconds:.0f} s")
    )
    model = open_model(trained.spec, name=f"{arm}-{seed}")
    on_dev, *on_tests = scored(model, [setting.dev, *setting.tests], label, setting.store, setting.progress)
    threshold = best_threshold(setting.dev.targets([label])[:, 0], on_dev)
    rows = tuple(
        Scored(
            audit=setting.audit,
            arm=arm,
            model=named(recipe),
            trained_on=setting.corpus.name,
            corpus=test.name,
            label=label,
            seed=seed,
            threshold=threshold,
            targets=firm(test.targets([label])[:, 0]),
            scores=scores,
            units=test.units(),
        )
        for test, scores in zip(setting.tests, on_tests, strict=True)
    )
    rates, passed = sentence_cases(model, setting.probe, setting.suites, setting.store, setting.progress)
    used = {(setting.suites[0].name, check) for check in learned}
    findings = tuple(
        replace(
            rate,
            measure=RATE,
            where={**rate.where, "audit": setting.audit, "arm": arm, "seed": str(seed)},
            flags=(*rate.flags, *[TRAINED_ON] * ((rate.where["suite"], rate.where["check"]) in used)),
            examples=(),
        )
        for rate in rates
    )
    return ArmResult(arm, seed, model, rows, findings, passed, data.counts if data else {})


def seeded(recipe: Recipe, seeds: int) -> list[Recipe]:
    """The recipe with its own seed and those after it."""
    if seeds < 1:
        raise BadInput(f"seeds = {seeds}", allowed="1 or more")
    return [replace(recipe, seed=recipe.seed + number) for number in range(seeds)]


def scored(
    model: Model,
    corpora: Sequence[Corpus],
    label: str,
    store_path: Path | None = None,
    progress: Progress = silent,
) -> list[FloatArray]:
    """A model's scores of one label for each corpus, each (n,); NaN where it gave no usable answer."""
    if label not in model.labels:
        raise BadInput(f"model '{model.name}' does not score '{label}'", allowed=", ".join(model.labels))
    column = model.labels.index(label)
    pieces = in_equal_shares([corpus.texts for corpus in corpora])
    with answers([model], pieces, store=store_path, progress=progress) as found:
        return [found.views[0].of(corpus.texts)[:, column] for corpus in corpora]


def judged(
    model: Model,
    corpus: Corpus,
    audits: Sequence[Behaviour],
    store_path: Path | None = None,
    progress: Progress = silent,
) -> list[Judgement]:
    """What audits find on a corpus whose texts are shortened so that every sentence is read."""
    sentences = [s for audit in audits for check in audit.suite.checks for s in check.sentences]
    fitted, _ = fit_texts(corpus, [model.read] if isinstance(model, Windowed) else [], sentences)
    pieces = in_equal_shares([audit.ask(fitted) for audit in audits])
    with answers([model], pieces, store=store_path, progress=progress) as found:
        return [audit.judge(fitted, found.views[0]) for audit in audits]


def sentence_cases(
    model: Model,
    corpus: Corpus,
    suites: Sequence[Suite],
    store_path: Path | None = None,
    progress: Progress = silent,
) -> tuple[list[Finding], dict[tuple[str, str], dict[str, bool]]]:
    """Pass rates of the DIR checks of suites, and which texts passed, by suite and check, then by id."""
    audits = [Behaviour(dir_checks(suite)) for suite in suites]
    found = judged(model, corpus, audits, store_path, progress)
    rates = [finding for one in found for finding in one.findings if finding.measure == "pass_rate"]
    passed: dict[tuple[str, str], dict[str, bool]] = {}
    for one in found:
        cases = one.tables["cases"].select(pl.col("suite", "check", "id", "outcome").cast(pl.String))
        for suite, check, id_, outcome in cases.iter_rows():
            if outcome in ("passed", "failed"):
                passed.setdefault((suite, check), {})[id_] = outcome == "passed"
    return rates, passed


def dir_checks(suite: Suite) -> Suite:
    """A suite with only the DIR checks that append sentences."""
    moved = ("not_down", "not_up")  # what must stay steady says nothing about presence or absence
    checks = tuple(c for c in suite.checks if c.sentences and c.expect.kind in moved)
    if not checks:
        raise BadInput(f"suite '{suite.name}' has no DIR check that appends a sentence")
    return replace(suite, checks=checks)


def additions_of(checks: Sequence[Check]) -> list[Addition]:
    """The sentences of checks: of presence where the score must not fall, else of absence."""
    return [
        Addition(check.id, sentence, check.expect.kind == "not_down")
        for check in checks
        for sentence in check.sentences
    ]


def named(recipe: Recipe) -> str:
    """A short name for what is trained."""
    return Path(recipe.start).name or recipe.start
