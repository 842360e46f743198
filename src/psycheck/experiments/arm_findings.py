"""What the arms of an experiment show: their figures, and what changed against the plain model."""

from psycheck.experiments.arms import Arms
from psycheck.experiments.changes import PLAIN, rate_changes
from psycheck.experiments.rows import DECISIONS, against, against_chance, differences, figures, holm_adjusted
from psycheck.finding import Finding
from psycheck.measures.bootstrap import RESAMPLES


def findings_of(arms: Arms, resamples: int = RESAMPLES) -> list[Finding]:
    """Figures of every arm, what changed against plain, and whether it could be chance."""
    out = [f for row in arms.rows for f in figures(row, resamples=resamples)]
    plain = {(row.corpus, row.seed): row for row in arms.rows if row.arm == PLAIN}
    for decision in DECISIONS:
        for row in arms.rows:
            out += against_chance(row, decision)
            if row.arm != PLAIN:
                out.append(against(row, plain[row.corpus, row.seed], decision))
    for measure in ("mcnemar_p", "chance_p"):
        out += holm_adjusted(out, measure)
    for arm in dict.fromkeys(row.arm for row in arms.rows if row.arm != PLAIN):
        for test in arms.tests:
            mine = [row for row in arms.rows if row.arm == arm and row.corpus == test.name]
            out += differences([(plain[row.corpus, row.seed], row) for row in mine], resamples=resamples)
    return [*out, *arms.rates, *rate_changes(arms.rates, arms.passed)]
