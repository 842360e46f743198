"""What a run of `psycheck improve` records: its plan, and notes on its arms."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from psycheck.commands.improve import AUDIT, GENDER, GROUND, Kind, Way
from psycheck.runs.environment import described
from psycheck.training.arm_figures import ArmResult, checks_by_seed
from psycheck.training.arms import Experiment
from psycheck.training.check_changes import PLAIN
from psycheck.training.recipe import Recipe, used


def plan_record(
    experiment: Experiment,
    way: Way,
    arms: Sequence[ArmResult],
    *,
    how: str,
    recipe: Recipe,
    seeds: int,
) -> dict[str, Any]:
    """The plan as it was carried out, for the folder and the page."""
    models = [arm.model for arm in arms]
    plan = {
        "how": how,
        "augment": "" if way.kind == GROUND else way.kind,
        "verb": AUDIT,
        "models": [{"name": model.name, "labels": list(model.labels)} for model in models],
        **described(experiment.tests, experiment.suites),
        "trained_on": {model.name: [experiment.corpus.name] for model in models},
        "threshold": 0.5,
        "recipe": used(recipe),
        "seeds": seeds,
        "sentences_tried_on": len(experiment.probe) if experiment.suites else 0,
        "ways": asdict(way.retraining),
        "chosen": checks_by_seed(arms),
        "augmented": _augmented_counts(arms),
        "threshold_command": _threshold_command(arms),
    }
    if way.kind == GENDER:
        plan |= {"swap": list(way.scope.words), "swap_person": way.scope.person}
    return plan


def _augmented_counts(arms: Sequence[ArmResult]) -> dict[str, dict[str, int]]:
    """What augmenting did to the texts of each arm that has other texts than the plain one."""
    return {f"{arm.arm}-{arm.seed}": dict(arm.augmented) for arm in arms if arm.augmented}


def notes_of(experiment: Experiment, kind: Kind, arms: Sequence[ArmResult]) -> tuple[str, ...]:
    """What was tried on which texts, what was clustered, and what happened in each arm."""
    if kind == GENDER:
        notes = _gender_notes(arms)
    elif kind == GROUND:
        notes = [f"sentences were tried on {len(experiment.probe)} texts of dev"]
    else:
        tried = f"sentences were tried on {len(experiment.probe)} texts of dev"
        notes = [f"{tried}; checks that training used are marked 'trained_on'"]

    for test in experiment.tests:
        notes += test.clustering()
    for arm in arms:
        notes += arm.notes
    return tuple(notes)


def _gender_notes(arms: Sequence[ArmResult]) -> list[str]:
    """How many texts were added, and the thresholds, for which the page of pairs has no column."""
    notes = []
    for name, counts in _augmented_counts(arms).items():
        note = f"{name}: {counts['added']} texts added to the {counts['texts']} of train and dev; "
        note += f"{counts['undecided']} undecided texts were not swapped"
        if counts["undecided"]:
            note += " (by id: undecided_rate in findings.jsonl)"
        if counts["named_besides"]:
            note += f"; {counts['named_besides']} of them also name a gender by a noun or title, which stays"
        notes.append(note)

    thresholds = [f"{arm.arm}-{arm.seed} {arm.rows[0].threshold:.3f}" for arm in arms]
    return [*notes, f"thresholds chosen on dev: {', '.join(thresholds)}"]


def _threshold_command(arms: Sequence[ArmResult]) -> str:
    """The command that gives the unchanged model the threshold that was chosen on dev."""
    plain = next(arm for arm in arms if arm.arm == PLAIN)
    row = plain.rows[0]
    folder = shlex.quote(str(plain.folder))
    return f"psycheck threshold {folder} {shlex.quote(row.label)}={row.threshold:.4g}"
