"""DECK's sections without tables of their own: pass rates against accuracy (5.2), and length (6.2)."""

from collections.abc import Sequence

from psycheck.core.finding import Finding
from psycheck.report.sections import by, grouped
from psycheck.report.studies.published_figures import over_seeds, p_values
from psycheck.report.tables import Table, table_of

Row = tuple[str, ...]
# What the text of the paper says: kind, counting, pairs, r, its p, p of the t-test.
_PRINTED: tuple[Row, ...] = (
    ("published", "MFT", "every text", "", "72.3", "<0.05", ">0.75"),
    ("published", "DIR", "every text", "", "1.6", ">0.05", ""),
)


def correlation_table(findings: Sequence[Finding]) -> Table:
    """Section 5.2: pass rates against accuracy over pairs of model and corpus, in distribution."""
    rows = [*_PRINTED]
    correlations = [finding for finding in findings if finding.measure == "pearson_r"]
    p_of = {
        (finding.measure, finding.where.get("test", ""), *_compared(finding)): finding
        for finding in findings
        if finding.measure in ("pearson_p", "t_p")
    }
    for correlation in correlations:
        place = _compared(correlation)
        rows.append(
            (
                "ours",
                *place,
                str(correlation.n),
                over_seeds(
                    [correlation],
                    scale=100,
                    digits=1,
                ),
                p_values([p_of["pearson_p", "", *place]]) or "–",
                p_values([p_of["t_p", "unpaired", *place]]) or "–",
            )
        )
    return table_of("deck_correlations", rows)


def _compared(finding: Finding) -> tuple[str, str]:
    return finding.where["kind"], finding.where.get("counting", "")


def length_table(findings: Sequence[Finding]) -> Table:
    """Section 6.2: the lengths of texts that failed and passed DIR checks, with Mann–Whitney's p."""
    place = by(
        "model",
        "corpus",
        "feature",
    )
    # Pooled over the checks, as in the paper.
    of_cases = [finding for finding in findings if finding.where.get("unit") == "case"]
    rows: list[Row] = []
    for key, of_feature in grouped(of_cases, place).items():
        named = {(f.measure, f.where.get("outcome", "")): f for f in of_feature}
        p = named.get(("length_p", ""))
        rows.append(
            (
                *key,
                _median(named.get(("length_median", "failed"))),
                _median(named.get(("length_median", "passed"))),
                (p_values([p]) if p else "") or "–",
            )
        )
    return table_of("deck_lengths", rows)


def _median(finding: Finding | None) -> str:
    if finding is None or not finding.tested:
        return "–"
    return f"{finding.value:.1f}, n {finding.n}"
