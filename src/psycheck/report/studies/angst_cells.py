"""How ANGST's tables write a figure: ours over seeds, and the published one with its deviation."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

from psycheck.core.finding import Finding
from psycheck.report.numbers import count
from psycheck.report.sections import grouped
from psycheck.report.studies.published_figures import marked

Row = tuple[str, ...]


def count_or_dash(number: int | None) -> str:
    """A number with thousands separators; "–" if it is not known."""
    return "–" if number is None else count(number)


def our_model(place: Sequence[str]) -> tuple[str, str, str]:
    """The first cells of a row of ours: whose it is, the model, its kind and task."""
    model, kind, task = place
    return "ours", model, f"{kind}, {task}"


def published_rows(printed: Iterable[Mapping[str, str]], measures: Sequence[str]) -> list[Row]:
    """The rows that the paper prints, one per model."""
    rows: list[Row] = []
    for model, rows_of_model in grouped(printed, printed_model).items():
        cells = {row["measure"]: with_deviation(row) for row in rows_of_model}
        # The paper does not print every measure of every model.
        figures = [cells.get(measure, "–") for measure in measures]
        rows.append(("published", *model, *figures))
    return rows


def printed_model(row: Mapping[str, str]) -> tuple[str, str]:
    """The model and its type as the paper prints them."""
    return row["model"], row["type"]


def with_deviation(row: Mapping[str, str]) -> str:
    """A published figure with its standard deviation, where it has one."""
    figure = marked(row)
    return f"{figure} (sd {row['sd']})" if row["sd"] else figure


def figure_over_seeds(findings: Sequence[Finding], measure: str) -> str:
    """In per cent: one seed with its interval, or the mean with its interval and the deviation over seeds."""
    model_findings = [finding for finding in findings if finding.measure == measure]
    # A mean over the seeds that happen to be defined would be too good.
    all_tested = all(finding.tested for finding in model_findings)
    if not model_findings or not all_tested:
        return "–"

    # In per cent, as the paper prints them.
    values = [100 * finding.value for finding in model_findings]
    spread = []
    interval = mean_interval(model_findings, scale=100, digits=1)
    if interval:
        spread.append(interval)
    if len(values) > 1:
        spread.append(f"sd {stdev(values):.1f}")
    mean = f"{fmean(values):.1f}"
    return f"{mean} ({'; '.join(spread)})" if spread else mean


def mean_interval(findings: Sequence[Finding], scale: float, digits: int) -> str:
    """The mean interval of the seeds, which is never too narrow for their mean: all have the same texts."""
    intervals = [finding.interval for finding in findings if finding.interval is not None]
    # The interval of some seeds would stand beside the mean of all.
    if not intervals or len(intervals) < len(findings):
        return ""

    low = fmean(low for low, _ in intervals)
    high = fmean(high for _, high in intervals)
    return f"{scale * low:.{digits}f} to {scale * high:.{digits}f}"


def length_cell(finding: Finding | None) -> str:
    """A mean length with its interval and n; "–" where it was not tested."""
    if finding is None or not finding.tested:
        return "–"
    length = f"{finding.value:,.1f}"
    interval = mean_interval([finding], scale=1, digits=0)
    if interval:
        length += f" ({interval})"
    return f"{length}, n {count(finding.n)}"
