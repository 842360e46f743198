"""The table that sets the bias of several encoders against that of the classifiers on them."""

from psycheck.core.finding import Finding, Findings
from psycheck.report.numbers import p_value
from psycheck.report.studies.published_figures import p_values
from psycheck.report.tables import Table, table_of

Row = tuple[str, ...]
_QUESTIONS = {"signed": "side", "size": "size"}
_SURPRISING = 0.05


def transfer_table(findings: Findings) -> Table:
    """Direct Bias of several encoders against its effect on the classifiers, and whether that can be told."""
    rows: list[Row] = []
    for correlation in findings.where(measure="bias_transfer_rho"):
        place = {key: correlation.where[key] for key in ("model", "experiment", "question")}
        p = findings.where(measure="bias_transfer_p", **place)
        least = findings.where(measure="bias_transfer_least_p", **place)
        rows.append(
            (
                place["model"],
                place["experiment"],
                _QUESTIONS[place["question"]],
                str(correlation.n),
                f"{correlation.value:+.2f}".replace("-", "−") if correlation.tested else "–",
                p_values(p) or "–",
                _transfer_answer(
                    correlation,
                    p[0].value,
                    least[0].value,
                ),
            )
        )
    return table_of("gender_transfer", rows)


def _transfer_answer(
    correlation: Finding,
    p: float,
    least: float,
) -> str:
    if "too_few_encoders" in correlation.flags:
        return f"cannot be told from {correlation.n} encoders: p cannot be below {p_value(least)}"
    if not correlation.tested:
        return "cannot be told: all encoders have the same figure"
    return "yes" if p < _SURPRISING and correlation.value > 0 else "not shown"
