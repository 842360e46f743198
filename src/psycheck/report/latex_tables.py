"""The main tables of a run for a paper."""

from collections.abc import Callable, Iterator, Sequence

from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.display_names import name_of
from psycheck.report.numbers import plain
from psycheck.report.sections import unique
from psycheck.report.tables import Table

_MAIN = ("accuracy", "f1", "auc", "brier", "pass_rate_mean", "flip_rate")


def latex_tables(run: Run) -> str:
    """One table of the main measures, and one of the pass rate of each check, for models on corpora."""
    return "\n".join(table.to_latex() for table in _tables(run))


def _tables(run: Run) -> Iterator[Table]:
    # Figures of groups and categories would not fit the width of a paper.
    main = [finding for finding in run.findings if finding.measure in _MAIN and _is_whole(finding)]
    if main:
        yield _table("Main measures, with 95 % intervals", "Measure", main, _measure_name)
    checks = [finding for finding in run.findings if finding.measure == "pass_rate"]
    if checks:
        yield _table("Pass rates of the checks, with 95 % intervals", "Check", checks, _check_name)


def _is_whole(finding: Finding) -> bool:
    """Whether a finding is about all texts of a model on a corpus, not about a group or a category."""
    return set(finding.where) <= {"audit", "model", "corpus", "label", "suite", "kind"}


def _table(caption: str, head: str, findings: Sequence[Finding], row_name: Callable[[Finding], str]) -> Table:
    places = unique(_place(finding) for finding in findings)
    names = unique(row_name(finding) for finding in findings)
    rows = []
    for name in names:
        # One cell per model and corpus: of figures with one name the last stays.
        of_name = [finding for finding in findings if row_name(finding) == name]
        by_place = {_place(finding): finding for finding in of_name}
        cells = []
        for place in places:
            finding = by_place.get(place)
            cells.append("" if finding is None else plain(finding))
        rows.append((name, *cells))
    return Table(
        caption=caption,
        head=(head, *places),
        rows=tuple(rows),
    )


def _place(finding: Finding) -> str:
    model_and_corpus = [finding.where.get(key) for key in ("model", "corpus")]
    return ", ".join(name for name in model_and_corpus if name)


def _measure_name(finding: Finding) -> str:
    name = name_of("measures", finding.measure)
    details = [finding.where.get(key) for key in ("label", "suite", "kind")]
    known_details = ", ".join(detail for detail in details if detail)
    return f"{name} ({known_details})" if known_details else name


def _check_name(finding: Finding) -> str:
    check = finding.where.get("check", "")
    title = finding.where.get("title", "")
    return f"{check} {title}".strip()
