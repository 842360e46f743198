"""Arms that learn from both genders: the plain model, one with swapped counterparts, and a control.

Each is measured on the same tests as it is, and on their gender-swapped pairs (gender bias, section 2.2).
"""

from dataclasses import replace
from pathlib import Path

import polars as pl

from psycheck.audits.fairness import Fairness
from psycheck.audits.measured import measured
from psycheck.corpus import Corpus
from psycheck.experiments.arms import BETTER, CONTROL, Setting, run_arm
from psycheck.experiments.rows import PLAIN, ArmResult, Scored
from psycheck.finding import Finding
from psycheck.measures.clustered import Clusters
from psycheck.measures.fairness import Rate, paired_difference
from psycheck.report.studies.deck import DEV, HALF
from psycheck.scoring.answers import answers
from psycheck.text.gender.edits import Scope
from psycheck.train.augment import PRONOUNS, Augmented, with_swapped
from psycheck.train.parts import dev_name, dev_rows
from psycheck.train.recipe import Recipe

SPLIT = "split"
HEADLINES = ("flip_rate", "score_shift", "fnr", "fnr_ratio")


def gender_arms(
    setting: Setting,
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
    split = _with_dev(setting.corpus, recipe)  # raises an error before training if nothing can be swapped
    data = {
        arm: with_swapped(split, scope, control=arm == CONTROL) for arm in (BETTER, *([CONTROL] * control))
    }
    results = []
    flips: dict[tuple[str, str], dict[str, bool]] = {}
    for arm in (PLAIN, *data):
        if arm != PLAIN:
            counts, what = data[arm].counts, "repeated" if arm == CONTROL else "swapped"
            added = f"{counts['added']} {what} texts added to the {counts['texts']} of train and dev"
            setting.say(f"seed {recipe.seed}, {arm}: {added}")
        result = run_arm(setting, recipe, arm, data.get(arm), folder=folder if arm == PLAIN else None)
        findings = [_undecided(setting, data[BETTER])] if first and arm == PLAIN else []
        for test, row in zip(setting.tests, result.rows, strict=True):
            audits = [Fairness(threshold, scope) for threshold in (0.5, row.threshold)]
            pairs = [(1.0, audits[0].ask(test))]
            with answers([result.model], pairs, store=setting.store, progress=setting.progress) as found:
                half, dev = (audit.judge(test, found.views[0]) for audit in audits)
            findings += [_placed(f, row, HALF) for f in half.findings]
            findings += [
                _placed(f, row, DEV, audit=setting.audit) for f in dev.findings if f.measure in HEADLINES
            ]
            flips[arm, test.name] = _flipped(half.tables["pairs"], setting.label)
            if arm != PLAIN:
                findings.append(_change(flips[PLAIN, test.name], flips[arm, test.name], row, test))
        results.append(replace(result, findings=tuple(findings)))
    return results


def _undecided(setting: Setting, made: Augmented) -> Finding:
    """The texts of train and dev without a counterpart, as a word's swap cannot be decided: all ids."""
    share = Rate(made.counts["undecided"], made.counts["texts"])
    where = {"audit": setting.audit, "corpus": setting.corpus.name, "unit": "train and dev"}
    counts = {"undecided": share.count}
    return Finding("undecided_rate", share.value, share.n, share.interval, where, counts, made.undecided)


def _with_dev(corpus: Corpus, recipe: Recipe) -> Corpus:
    """The corpus with the dev split that training would cut made explicit, so that no pair is split."""
    if dev_name(corpus):
        return corpus
    train = corpus.part("train")
    picked = train.only(dev_rows(train, recipe)).ids
    moved = pl.when(pl.col("id").is_in(picked)).then(pl.lit("dev")).otherwise(pl.col(SPLIT))
    return replace(corpus, table=corpus.table.with_columns(moved.alias(SPLIT)))


def _placed(finding: Finding, row: Scored, decision: str, **more: str) -> Finding:
    """A finding of the audit with the arm, seed and decision that it belongs to."""
    place = {"arm": row.arm, "seed": str(row.seed), "trained_on": row.trained_on, "decision": decision}
    return replace(finding, where={**finding.where, **place, **more}, flags=(*finding.flags, row.flag))


def _flipped(pairs: pl.DataFrame, label: str) -> dict[str, bool]:
    """Which pairs were judged, and whether their decision changed."""
    mine = pairs.select(pl.col("id", "outcome", "label").cast(pl.String)).filter(label=label)
    decided = ("passed", "failed")
    return {id_: outcome == "failed" for id_, outcome, _ in mine.iter_rows() if outcome in decided}


def _change(before: dict[str, bool], after: dict[str, bool], row: Scored, test: Corpus) -> Finding:
    """How far the share of flipped pairs moved against plain, on the pairs that both judged."""
    shared = [id_ for id_ in before if id_ in after]
    old, new = [before[id_] for id_ in shared], [after[id_] for id_ in shared]
    units = dict(zip(test.ids, row.units.tolist(), strict=True))
    found = paired_difference(new, old, Clusters.of([units[id_] for id_ in shared]))
    counts = {"flipped_before": sum(old), "flipped": sum(new)}
    where = {**row.where(HALF), "versus": PLAIN}
    return measured(
        "flip_rate_change", found.value, len(shared), found.interval, where, counts, (), (row.flag,)
    )
