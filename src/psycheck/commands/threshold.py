"""`psycheck threshold`: set the decision thresholds of a trained model, which its audits then use."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_json
from psycheck.core.errors import BadInput, nearest


@opt.verb("threshold")
def threshold_cli(model: str, thresholds: list[str], json_: bool = False) -> None:
    """Write decision thresholds into the card of a trained model; audits of the model then decide at them."""
    folder = Path(model.partition(":")[2] or model)
    by_label = set_thresholds(folder, _parsed(thresholds))
    if json_:
        print_json(model=str(folder), thresholds=by_label)
        return
    for label, threshold in by_label.items():
        typer.echo(f"{folder}: '{label}' is decided at {threshold:g}")


def _parsed(thresholds: Sequence[str]) -> dict[str, float]:
    """Thresholds typed as LABEL=VALUE."""
    by_label = {}
    for option in thresholds:
        label, _, number = option.rpartition("=")
        try:
            by_label[label] = float(number)
        except ValueError as error:
            raise _not_a_threshold(option) from error
        if not label:
            raise _not_a_threshold(option)
    return by_label


def _not_a_threshold(option: str) -> BadInput:
    return BadInput(
        f"threshold not understood: '{option}'",
        code="threshold.not-understood",
        allowed="LABEL=VALUE, such as depression=0.37",
    )


def set_thresholds(folder: Path, thresholds: Mapping[str, float]) -> dict[str, float]:
    """Write thresholds, each above 0 and below 1, into the card of a model; return all that the card has.

    Labels that are not named keep the threshold that they have.
    """
    from psycheck.models.training_card import THRESHOLDS
    from psycheck.training.card import read_record, write_record

    record = read_record(folder)
    for label, threshold in thresholds.items():
        if label not in record["labels"]:
            raise BadInput(
                f"the model has no label '{label}'",
                code="threshold.unknown-label",
                where=str(folder),
                allowed=nearest(label, record["labels"]),
            )
        if not 0 < threshold < 1:
            raise BadInput(
                f"threshold {threshold:g} is out of range",
                code="threshold.out-of-range",
                allowed="above 0, below 1",
            )

    by_label = {**record.get(THRESHOLDS, {}), **thresholds}
    write_record({**record, THRESHOLDS: by_label}, folder)
    return by_label
