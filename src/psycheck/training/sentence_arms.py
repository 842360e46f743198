"""Arms that learn from sentences or symptoms: the plain model, those after it, and a control."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from psycheck.audits.suite import Check
from psycheck.report.studies.improve_claims import GROUNDED
from psycheck.training.arm_figures import ArmResult
from psycheck.training.arms import BALANCED, BETTER, CONTROL, Experiment, Retraining, run_arm
from psycheck.training.augment import Addition, Augmented, Source, augmented, reader_of
from psycheck.training.check_changes import PLAIN
from psycheck.training.recipe import SYMPTOMS, Recipe

_SENTENCES: dict[str, Source] = {BETTER: "checks", CONTROL: "random"}


def train_arms(
    experiment: Experiment, recipe: Recipe, retraining: Retraining | None, folder: Path | None = None
) -> list[ArmResult]:
    """Train and measure the plain model (that of `folder`, if any) and those that learn from its checks.

    Without `retraining` only the plain model is trained.
    """
    plain = run_arm(experiment, recipe, PLAIN, folder=folder)
    if retraining is None:
        return [plain]

    checks = _checks_to_learn_from(experiment, plain, retraining)
    check_ids = tuple(check.id for check in checks)
    if not check_ids:
        experiment.say(f"seed {recipe.seed}: all checks have the same pass rate, so none is below the mean")
        return [replace(plain, checks=check_ids)]

    experiment.say(f"seed {recipe.seed}: checks to learn from: {', '.join(check_ids)}")
    additions = additions_of(checks)
    notes = _notes_on_one_side(additions, retraining, recipe)
    for note in notes:
        experiment.say(note)

    # The plain model comes first: it says which checks the others learn from.
    results = [replace(plain, checks=check_ids, notes=tuple(notes))]
    weighted = retraining.weighted(recipe)
    for arm in retraining.sentence_arms(recipe)[1:]:
        data = None
        if arm in _SENTENCES:
            data = _with_sentences(experiment, weighted, retraining, additions, _SENTENCES[arm])
        # The control gets random sentences, and the balanced arm none: neither learns from checks.
        learned = check_ids if arm == BETTER else ()
        results.append(run_arm(experiment, weighted, arm, data, learned=learned))
    return results


def _checks_to_learn_from(
    experiment: Experiment, plain: ArmResult, retraining: Retraining
) -> tuple[Check, ...]:
    """The checks of the first suite: all of them, or those that the plain model passes seldom."""
    suite = experiment.suites[0]
    if retraining.which != "below_mean":
        return suite.checks

    below_mean = [finding for finding in plain.findings if "below_dir_mean" in finding.flags]
    of_suite = [rate for rate in below_mean if rate.where["suite"] == suite.name]
    failed_ids = {rate.where["check"] for rate in of_suite}
    return tuple(check for check in suite.checks if check.id in failed_ids)


def _notes_on_one_side(additions: Sequence[Addition], retraining: Retraining, recipe: Recipe) -> list[str]:
    """A warning if only one class gets sentences: then any sentence gives the class away."""
    sides = {addition.presence for addition in additions}
    if not retraining.agreeing or len(sides) > 1:
        return []

    side, mark = ("presence", 1) if sides.pop() else ("absence", 0)
    return [
        f"seed {recipe.seed}: all checks to learn from are about {side}, so only texts annotated {mark} "
        "get a sentence: the model may learn that any sentence at the end means that class (learning "
        "from all checks gives both classes sentences)"
    ]


def _with_sentences(
    experiment: Experiment,
    recipe: Recipe,
    retraining: Retraining,
    additions: Sequence[Addition],
    sentences: Source,
) -> Augmented:
    return augmented(
        experiment.corpus,
        additions,
        experiment.label,
        share=retraining.share,
        agreeing=retraining.agreeing,
        sentences=sentences,
        read=reader_of(recipe),
        seed=recipe.seed,
    )


def train_grounded_arms(
    experiment: Experiment, recipe: Recipe, retraining: Retraining, folder: Path | None = None
) -> list[ArmResult]:
    """Train and measure the plain model (that of `folder`, if any) and one that decides from symptoms."""
    weighted = retraining.weighted(recipe)
    recipes = {
        PLAIN: recipe,
        BALANCED: weighted,
        GROUNDED: weighted.with_(start=SYMPTOMS, symptom_task=0),
    }

    results = []
    for arm in retraining.grounded_arms(recipe):
        # A model that is trained already can only be the plain one.
        finished = folder if arm == PLAIN else None
        results.append(run_arm(experiment, recipes[arm], arm, folder=finished))
    return results


def additions_of(checks: Sequence[Check]) -> list[Addition]:
    """The sentences of checks: of presence where the score must not fall, else of absence."""
    additions = []
    for check in checks:
        presence = check.expect.kind == "not_down"
        additions += [Addition(check.id, sentence, presence) for sentence in check.sentences]
    return additions
