"""What a verdict claims on an improved model: a threshold's gain, what an arm adds, what else explains it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.report.display_names import listed
from psycheck.report.headlines import headline
from psycheck.report.numbers import known_interval, plain
from psycheck.report.sections import by, grouped, unique

AUGMENTED, CONTROL, GROUNDED = "augmented", "control", "grounded"
UNCHANGED = "plain"  # the arm of the model as it was
DEV = "dev"
RANKING = "ranking"  # the decision of figures that need no threshold


def improvement_headlines(findings: Sequence[Finding], command: str = "") -> list[Headline]:
    """What a threshold gives the unchanged model, and what the arm that learned adds on the other corpora.

    Both at their dev thresholds, so that a shifted threshold is not taken for learning. An arm that decides
    from symptoms is meant to rank better, so it is judged by AUC. `command` sets the threshold.
    """
    changes = tested_changes(findings)
    arm = _arm_to_judge(changes)
    # Symptoms change the scale of scores, so that no threshold is fair to both arms.
    decision = RANKING if arm == GROUNDED else DEV
    # The other corpora tell more than the one that the arm learned from.
    for place in ("out_of_distribution", "in_distribution"):
        changes_there = [change for change in changes if place in change.flags]
        by_arm = grouped(changes_there, by("arm", "decision"))
        if (arm, decision) in by_arm:
            return _changes_of_arm(arm, decision, by_arm, command)
    return [headline("improve.nothing")]


def tested_changes(findings: Sequence[Finding]) -> list[Finding]:
    """The changes that an arm made, on every corpus and for every decision."""
    measures = ("macro_f1_change", "auc_change")
    return [finding for finding in findings if finding.measure in measures and finding.tested]


def _arm_to_judge(changes: Sequence[Finding]) -> str:
    """The arm that learned something, or else the first that was trained; empty if there is none."""
    all_arms = unique(change.where["arm"] for change in changes)
    arms = [arm for arm in all_arms if arm != UNCHANGED]
    for arm in (AUGMENTED, GROUNDED):
        if arm in arms:
            return arm
    return arms[0] if arms else ""


def _changes_of_arm(
    arm: str,
    decision: str,
    by_arm: Mapping[tuple[str, ...], Sequence[Finding]],
    command: str,
) -> list[Headline]:
    """What a threshold changes, what an arm changes beyond it, and what else could explain a gain."""
    changes = by_arm[arm, decision]
    rises = any(_rises(change) for change in changes)
    falls = any(_falls(change) for change in changes)
    rule = {
        (True, True): "improve.mixed",
        (True, False): "improve.rises",
        (False, True): "improve.falls",
        (False, False): "improve.not_shown",
    }[rises, falls]

    threshold_helps = _threshold_headlines(by_arm, command)
    is_ranking = decision == RANKING
    of_arm = headline(
        rule,
        changes,
        arm=arm,
        figure="AUC" if is_ranking else "macro-F1",
        bar="" if is_ranking else ", with both models at their dev thresholds",
        changes=_listed_changes(changes),
    )
    if rises:
        return [*threshold_helps, of_arm, *_other_explanations(arm, by_arm)]
    if not threshold_helps:
        return [of_arm]
    suffices = headline("improve.threshold_suffices", changes)
    return [*threshold_helps, of_arm, replace(suffices, remedy=command or suffices.remedy)]


def _other_explanations(arm: str, by_arm: Mapping[tuple[str, ...], Sequence[Finding]]) -> list[Headline]:
    """What else than learning from symptoms could explain a gain."""
    headlines = []
    # Trained on as many other sentences: what it gains too is not due to the symptoms.
    control = by_arm.get((CONTROL, DEV), ())
    if any(_rises(change) for change in control):
        headlines.append(headline("improve.control_too", control))

    ranking = by_arm.get((arm, RANKING), ())
    if not any(_rises(change) for change in ranking):
        headlines.append(headline("improve.threshold", ranking))
    return headlines


def _threshold_headlines(by_arm: Mapping[tuple[str, ...], Sequence[Finding]], command: str) -> list[Headline]:
    """The gain of the unchanged model from a threshold alone, where it is shown."""
    changes = by_arm.get((UNCHANGED, DEV), ())
    rises = any(_rises(change) for change in changes)
    falls = any(_falls(change) for change in changes)
    # A threshold that helps on one corpus and harms on another is no remedy.
    if not rises or falls:
        return []
    first = headline(
        "improve.threshold_first",
        changes,
        changes=_listed_changes(changes),
    )
    return [replace(first, remedy=command or first.remedy)]


def _listed_changes(changes: Sequence[Finding]) -> str:
    return listed([f"by {plain(change)} on {change.where['corpus']}" for change in changes])


def _rises(change: Finding) -> bool:
    """Whether the whole interval of a change is above 0."""
    interval = known_interval(change)
    return bool(interval) and interval[0] > 0


def _falls(change: Finding) -> bool:
    """Whether the whole interval of a change is below 0."""
    interval = known_interval(change)
    return bool(interval) and interval[1] < 0
