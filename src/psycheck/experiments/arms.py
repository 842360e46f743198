"""The arms of one study: the plain model, one that learned from the checks it failed, and a control.

All arms of a seed have as many texts and the same recipe, but that those after the plain model may weigh both
classes alike; then that is tried by itself too. Each is measured on the same tests.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np

from psycheck.audits.suite import Suite
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.experiments.asking import additions_of, sample, scored, sentence_cases
from psycheck.experiments.changes import PLAIN, RATE, Passed
from psycheck.experiments.rows import Scored
from psycheck.finding import Finding
from psycheck.model import Model
from psycheck.models.open import open_model
from psycheck.report.studies.improve import TRAINED_ON
from psycheck.scoring.engine import Progress, silent
from psycheck.train.augment import Addition, Source, augmented, reader_of
from psycheck.train.fit import Trained, train
from psycheck.train.parts import Part, held_out, parts_of
from psycheck.train.recipe import Recipe
from psycheck.train.threshold import best_threshold

Which = Literal["below_mean", "all"]
BALANCED, BETTER, CONTROL = "balanced", "augmented", "control"
SHARE = 0.5
SAMPLE = 40
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ways:
    """How texts are augmented: which DIR checks, what share of texts, agreeing with the annotation or not.

    The paper's way is `which` "below_mean", `share` 1 and no `balance`. The defaults give both classes
    sentences, leave half of the texts as they are and weigh both classes alike, which did best on corpora
    that training never saw (docs/benchmarks/improving.md).
    `control` also trains on random neutral sentences of the same lengths, to tell what length alone does.
    """

    suite: str = "deck"
    unseen: str = "deck-unseen"
    which: Which = "all"
    share: float = SHARE
    agreeing: bool = True
    balance: bool = True
    control: bool = True


@dataclass(frozen=True, slots=True)
class Arms:
    """What all arms share, and what was measured so far.

    `tests` begins with the corpus's own; sentences are tried on `asked`, some texts of dev. `rows` and
    `rates` grow with every arm, and so do the outcomes behind the rates, `passed`; `chosen` holds the checks
    learned from, `counts` what was appended.
    """

    audit: str
    corpus: Corpus
    label: str
    tests: list[Corpus]
    dev: Corpus
    asked: Corpus
    suites: list[Suite]
    out: Path
    store: Path
    progress: Progress = silent
    say: Say = lambda _: None
    rows: list[Scored] = field(default_factory=list)
    rates: list[Finding] = field(default_factory=list)
    passed: Passed = field(default_factory=dict)
    models: list[Model] = field(default_factory=list)
    chosen: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def arms_of(
    corpus: Corpus,
    others: Sequence[Corpus],
    recipe: Recipe,
    suites: list[Suite],
    out: Path,
    *,
    audit: str,
    texts: int = SAMPLE,
    store: Path | None = None,
    progress: Progress = silent,
    say: Say = lambda _: None,
) -> Arms:
    """Check everything before anything is trained: the test split, the label, the names.

    The label is that of the first suite; without suites the first that is learned.
    """
    test = held_out(corpus)
    if test is None:
        raise BadInput(
            f"corpus '{corpus.name}' has no test split",
            allowed="a split column with train, dev and test",
            do="without texts that training never saw, nothing can be proved",
        )
    parts = parts_of(corpus, recipe)
    label = suites[0].checks[0].label if suites else parts.labels[0]
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
    return Arms(
        audit, corpus, label, tests, dev, asked, suites, out, store or out / "scores.sqlite", progress, say
    )


def one_seed(arms: Arms, recipe: Recipe, ways: Ways | None, folder: Path | None = None) -> None:
    """Train and measure the plain model (that of `folder`, if given) and those that learn from its checks.

    Without `ways` there is the plain model alone.
    """
    plain = trained_arm(arms, arms.corpus, recipe, PLAIN, folder)
    rates = measured_arm(arms, plain, PLAIN)
    if ways is None:
        return
    ids = _chosen(arms, rates, ways)
    arms.chosen[str(recipe.seed)] = ids
    if not ids:
        arms.say(f"seed {recipe.seed}: all checks pass alike, so none is below the mean to learn from")
        return
    arms.say(f"seed {recipe.seed}: checks to learn from: {', '.join(ids)}")
    additions = additions_of([check for check in arms.suites[0].checks if check.id in ids])
    _warn_of_one_side(arms, additions, ways, recipe)
    if ways.balance and not recipe.class_weights:
        recipe = recipe.with_(class_weights=True)
        measured_arm(arms, trained_arm(arms, arms.corpus, recipe, BALANCED), BALANCED)
    kinds: list[tuple[str, Source]] = [(BETTER, "checks")]
    kinds += [(CONTROL, "random")] if ways.control else []
    read = reader_of(recipe)
    for arm, source in kinds:
        data = augmented(
            arms.corpus,
            additions,
            arms.label,
            share=ways.share,
            agreeing=ways.agreeing,
            sentences=source,
            read=read,
            seed=recipe.seed,
        )
        arms.counts[f"{arm}-{recipe.seed}"] = dict(data.counts)
        measured_arm(arms, trained_arm(arms, data.corpus, recipe, arm), arm, ids if arm == BETTER else ())


def _warn_of_one_side(arms: Arms, additions: Sequence[Addition], ways: Ways, recipe: Recipe) -> None:
    """Where one class alone gets sentences, having one gives the class away, whatever it says."""
    sides = {addition.presence for addition in additions}
    if ways.agreeing and len(sides) == 1:
        side, mark = ("presence", 1) if sides.pop() else ("absence", 0)
        note = (
            f"seed {recipe.seed}: all checks to learn from speak of {side}, so only texts annotated {mark} "
            "get a sentence: the model may learn that any sentence at the end means that class (improve "
            "--which all gives both classes sentences)"
        )
        arms.notes.append(note)
        arms.say(note)


def _chosen(arms: Arms, rates: Sequence[Finding], ways: Ways) -> list[str]:
    """The checks to learn from; none where all pass alike and so none is below the mean."""
    suite = arms.suites[0]
    if ways.which == "all":
        return [check.id for check in suite.checks]
    return [f.where["check"] for f in rates if f.where["suite"] == suite.name and "below_dir_mean" in f.flags]


def trained_arm(arms: Arms, corpus: Corpus, recipe: Recipe, arm: str, folder: Path | None = None) -> Trained:
    """Train, unless the same recipe was trained on the same texts before."""
    said = json.dumps(recipe.as_dict(), sort_keys=True) + corpus.fingerprint()
    key = blake2b(said.encode(), digest_size=4).hexdigest()
    place = folder or arms.out / "models" / f"{corpus.name}-{arm}-{recipe.seed}-{key}"
    trained = train(corpus, recipe, place)
    how = "trained before" if trained.reused else f"trained in {trained.seconds:.0f} s"
    arms.say(f"{corpus.name}, {named(recipe)}, seed {recipe.seed}, {arm}: {how}")
    return trained


def measured_arm(arms: Arms, trained: Trained, arm: str, learned: Sequence[str] = ()) -> list[Finding]:
    """Score dev and all tests, and try all sentences; checks that were learned from are marked."""
    seed = trained.recipe.seed
    model = open_model(trained.spec, name=f"{arm}-{seed}")
    arms.models.append(model)
    on_dev, *on_tests = scored(model, [arms.dev, *arms.tests], arms.label, arms.store, arms.progress)
    threshold = best_threshold(arms.dev.targets([arms.label])[:, 0], on_dev)
    for test, scores in zip(arms.tests, on_tests, strict=True):
        arms.rows.append(
            Scored(
                audit=arms.audit,
                arm=arm,
                model=named(trained.recipe),
                trained_on=arms.corpus.name,
                corpus=test.name,
                label=arms.label,
                seed=seed,
                threshold=threshold,
                targets=test.targets([arms.label])[:, 0],
                scores=scores,
            )
        )
    rates, passed = sentence_cases(model, arms.asked, arms.suites, arms.store, arms.progress)
    arms.passed.update({(arm, str(seed), *place): judged for place, judged in passed.items()})
    for rate in rates:
        used = rate.where["suite"] == arms.suites[0].name and rate.where["check"] in learned
        flags = (*rate.flags, TRAINED_ON) if used else rate.flags
        where = {**rate.where, "audit": arms.audit, "arm": arm, "seed": str(seed)}
        arms.rates.append(replace(rate, measure=RATE, where=where, flags=flags, examples=()))
    return rates


def named(recipe: Recipe) -> str:
    """A short name for what is trained."""
    return Path(recipe.start).name or recipe.start


def _corpus_of(part: Part, labels: Sequence[str], name: str) -> Corpus:
    columns: dict[str, Any] = dict(zip(labels, part.targets.T, strict=True))
    marks = {k: [None if np.isnan(mark) else float(mark) for mark in column] for k, column in columns.items()}
    return Corpus.of(name, part.texts, labels=marks)
