"""`psycheck llm calibrate`: fit maps of scores to probabilities on dev, measure them on other texts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_notes

if TYPE_CHECKING:
    from psycheck.core.corpus import Corpus
    from psycheck.corpora.columns import Columns
    from psycheck.scoring.limits import Limits
    from psycheck.statistics.recalibration import Platt

WRONG_WAY = (
    "{label}: the fitted slope is not above 0, so Platt's map would turn the ranking round: on dev, texts "
    "with higher scores are not annotated more often. The order of the scores is kept, and they are only "
    "shifted to the share annotated. A model that ranks so is not mended by calibration"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The maps of one label: Platt's, and the calibration error of each way on texts outside dev."""

    label: str
    platt: "Platt"
    ece: Mapping[str, float]
    dev: int
    test: int


def calibrate(
    model: str,
    corpus: "Corpus",
    *,
    store: Path | None = None,
    limits: "Limits | None" = None,
    progress: Callable[[str, int, int, float], None] = lambda *_: None,
) -> list[Calibration]:
    """Fit Platt's and the isotonic map on the dev split; the errors are those of all other splits.

    `corpus` has all its splits.
    """
    from psycheck.audits.thresholds import set_aside
    from psycheck.models.opening import open_model
    from psycheck.scoring.answers import answers, in_equal_shares
    from psycheck.scoring.limits import NO_LIMITS
    from psycheck.statistics.calibration import expected_calibration_error
    from psycheck.statistics.recalibration import fit_isotonic, fit_platt

    opened = open_model(model)
    (test,), (dev,) = set_aside([corpus], {opened.name: opened.labels})
    pieces = in_equal_shares([dev.items, test.items])
    with answers([opened], pieces, store=store, limits=limits or NO_LIMITS, progress=progress) as answered:
        view = answered.views[0]
        dev_scores, test_scores = view.of(dev.items), view.of(test.items)

    calibrations = []
    for label in opened.labels:
        if label not in corpus.labels:
            continue
        k = opened.labels.index(label)
        targets = dev.targets([label])[:, 0]
        platt = fit_platt(targets, dev_scores[:, k])
        isotonic = fit_isotonic(targets, dev_scores[:, k])
        ways = {
            "as it is": test_scores[:, k],
            "Platt": platt(test_scores[:, k]),
            "isotonic": isotonic(test_scores[:, k]),
        }
        test_targets = test.targets([label])[:, 0]
        calibrations.append(
            Calibration(
                label=label,
                platt=platt,
                ece={way: expected_calibration_error(test_targets, scores) for way, scores in ways.items()},
                dev=int((~np.isnan(targets) & ~np.isnan(dev_scores[:, k])).sum()),
                test=int((~np.isnan(test_targets) & ~np.isnan(test_scores[:, k])).sum()),
            )
        )
    return calibrations


@opt.verb("llm calibrate")
def calibrate_cli(
    ctx: typer.Context, columns: "Columns", model: str, corpus: str, store: Path | None = None
) -> None:
    """Calibrate scores on dev; print the calibration error before and after, and the option to use."""
    from psycheck.corpora.opening import corpus_plan, open_corpus
    from psycheck.io.settings import read_settings
    from psycheck.scoring.limits import Limits

    opened = open_corpus(corpus_plan(corpus, columns, None, None))
    print_notes(opened.notes, opened.name)
    limits = read_settings(Limits, opt.values_for(ctx, Limits))
    with ProgressLine() as line:
        calibrations = calibrate(model, opened, store=store, limits=limits, progress=line)

    for calibration in calibrations:
        errors = ", ".join(f"{way} {error:.3f}" for way, error in calibration.ece.items())
        typer.echo(
            f"{calibration.label}: calibration error (ECE) on {calibration.test:,} texts: {errors}; "
            f"fitted on {calibration.dev:,} dev texts"
        )
        platt = calibration.platt
        typer.echo(f"  platt={platt.slope:.4f}:{platt.intercept:.4f}")
        if platt.only_shifts:
            print_notes([WRONG_WAY.format(label=calibration.label)])
