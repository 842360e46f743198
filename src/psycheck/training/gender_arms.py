"""Arms that learn from both genders: the plain model, one with swapped counterparts, and a control.

Each is measured on the same tests as it is, and on their gender-swapped pairs (gender bias, section 2.2).
"""

from dataclasses import replace
from pathlib import Path

import polars as pl

from psycheck.audits.fairness import Fairness
from psycheck.audits.figures import measured
from psycheck.core.audit import Judgement
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.model import Model
from psycheck.report.studies.deck_tables import DEV, HALF
from psycheck.scoring.answers import answers
from psycheck.statistics.group_rates import Rate, paired_difference
from psycheck.text.gender.edits import Scope
from psycheck.training.arm_figures import ArmResult, Scored
from psycheck.training.arms import BETTER, CONTROL, Experiment, run_arm
from psycheck.training.augment import PRONOUNS, Augmented, with_swapped
from psycheck.training.check_changes import PLAIN, Texts
from psycheck.training.parts import dev_name, dev_rows
from psycheck.training.recipe import Recipe

SPLIT = "split"
# The measures of pairs that are also reported at the threshold chosen on dev.
HEADLINES = ("flip_rate", "score_shift", "fnr", "fnr_ratio")

# id of a text → whether the decision differs between its two wordings
Flips = dict[str, bool]


def train_gender_arms(
    experiment: Experiment,
    recipe: Recipe,
    control: bool,
    folder: Path | None = None,
    scope: Scope = PRONOUNS,
    *,
    first: bool = True,
) -> list[ArmResult]:
    """Train and measure the plain model (that of `folder`, if any), the augmented one and the control.

    The `first` seed also counts the undecided texts; they are the same for all seeds.
    """
    # Raises an error before training if nothing can be swapped.
    with_dev = _with_dev(experiment.corpus, recipe)
    swapped = with_swapped(with_dev, scope)
    data: dict[str, Augmented | None] = {PLAIN: None, BETTER: swapped}
    if control:
        data[CONTROL] = with_swapped(with_dev, scope, control=True)

    results = []
    # By test: the plain model comes first, and the others are compared with it.
    plain_flips: dict[str, Flips] = {}
    for arm, augmented in data.items():
        if augmented is not None:
            experiment.say(f"seed {recipe.seed}, {arm}: {_what_was_added(arm, augmented)}")
        finished = folder if arm == PLAIN else None
        result = run_arm(experiment, recipe, arm, augmented, folder=finished)

        findings: list[Finding] = []
        if first and arm == PLAIN:
            findings.append(_undecided_rate(experiment, swapped))

        for test, row in zip(experiment.tests, result.rows, strict=True):
            pair_findings, flips = _measure_pairs(experiment, result.model, test, row, scope)
            findings += pair_findings
            if arm == PLAIN:
                plain_flips[test.name] = flips
            else:
                change = _flip_rate_change(plain_flips[test.name], flips, row, test)
                findings.append(change)
        results.append(replace(result, findings=tuple(findings)))
    return results


def _what_was_added(arm: str, augmented: Augmented) -> str:
    counts = augmented.counts
    what = "repeated" if arm == CONTROL else "swapped"
    return f"{counts['added']} {what} texts added to the {counts['texts']} of train and dev"


def _measure_pairs(
    experiment: Experiment,
    model: Model,
    test: Corpus,
    row: Scored,
    scope: Scope,
) -> tuple[list[Finding], Flips]:
    """Findings about the gender-swapped pairs of a test at both decisions, and which pairs flip at 0.5."""
    at_half, at_dev = _judge_pairs(experiment, model, test, row, scope)

    findings = [_placed(finding, row, HALF) for finding in at_half.findings]
    for finding in at_dev.findings:
        if finding.measure in HEADLINES:
            findings.append(_placed(finding, row, DEV, audit=experiment.audit))
    return findings, _flipped(at_half.tables["pairs"], experiment.label)


def _judge_pairs(
    experiment: Experiment,
    model: Model,
    test: Corpus,
    row: Scored,
    scope: Scope,
) -> tuple[Judgement, Judgement]:
    """The fairness audit at 0.5 and at the threshold chosen on dev; texts are asked once."""
    half = Fairness(0.5, scope)
    dev = Fairness(row.threshold, scope)
    pieces = [(1.0, half.ask(test))]
    with answers(
        [model],
        pieces,
        store=experiment.store,
        progress=experiment.progress,
    ) as answered:
        (view,) = answered.views
        return half.judge(test, view), dev.judge(test, view)


def _undecided_rate(experiment: Experiment, swapped: Augmented) -> Finding:
    """The texts of train and dev without a counterpart, as a word's swap cannot be decided: all ids."""
    share = Rate(swapped.counts["undecided"], swapped.counts["texts"])
    where = {
        "audit": experiment.audit,
        "corpus": experiment.corpus.name,
        "unit": "train and dev",
    }
    return Finding(
        "undecided_rate",
        share.value,
        share.n,
        interval=share.interval,
        where=where,
        counts={"undecided": share.count},
        examples=swapped.undecided,
    )


def _with_dev(corpus: Corpus, recipe: Recipe) -> Corpus:
    """The corpus with the dev split that training would cut made explicit, so that no pair is split."""
    if dev_name(corpus):
        return corpus
    train = corpus.part("train")
    dev_ids = train.only(dev_rows(train, recipe)).ids
    is_dev = pl.col("id").is_in(dev_ids)
    split = pl.when(is_dev).then(pl.lit("dev")).otherwise(pl.col(SPLIT))
    table = corpus.table.with_columns(split.alias(SPLIT))
    return replace(corpus, table=table)


def _placed(finding: Finding, row: Scored, decision: str, **more: str) -> Finding:
    """A finding of the audit with the arm, seed and decision that it belongs to."""
    place = {
        "arm": row.arm,
        "seed": str(row.seed),
        "trained_on": row.trained_on,
        "decision": decision,
    }
    return replace(
        finding,
        where={**finding.where, **place, **more},
        flags=(*finding.flags, row.flag),
    )


def _flipped(pairs: pl.DataFrame, label: str) -> Flips:
    """Which pairs were judged, and whether their decision changed."""
    columns = pairs.select(pl.col("id", "outcome", "label").cast(pl.String))
    pairs_of_label = columns.filter(label=label)

    flips = {}
    for text_id, outcome, _ in pairs_of_label.iter_rows():
        # Other outcomes are of pairs that could not be judged.
        if outcome in ("passed", "failed"):
            flips[text_id] = outcome == "failed"
    return flips


def _flip_rate_change(
    before: Flips,
    after: Flips,
    row: Scored,
    test: Corpus,
) -> Finding:
    """How far the share of flipped pairs moved against plain, on the pairs that both judged."""
    shared_ids = [text_id for text_id in before if text_id in after]
    flipped_before = [before[text_id] for text_id in shared_ids]
    flipped_after = [after[text_id] for text_id in shared_ids]

    # Pairs of one author flip together: they are no independent evidence.
    texts = Texts({text_id: place for place, text_id in enumerate(test.ids)}, row.clusters)
    clusters = texts.clusters_of(shared_ids)

    difference = paired_difference(flipped_after, flipped_before, clusters)
    return measured(
        "flip_rate_change",
        difference.value,
        len(shared_ids),
        interval=difference.interval,
        where={**row.where(HALF), "versus": PLAIN},
        counts={"flipped_before": sum(flipped_before), "flipped": sum(flipped_after)},
        flags=(row.flag,),
    )
