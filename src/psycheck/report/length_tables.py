"""Length of failed and passed texts, and correlations across models, as tables."""

from dataclasses import replace

from markupsafe import Markup

from psycheck.core.finding import Finding
from psycheck.report.display_names import name_of, words_of
from psycheck.report.numbers import count, figure, p_value, spans
from psycheck.report.sections import Section, UnshownFindings, by, drawn, unique
from psycheck.report.tables import Table, table_of

# Where findings on length may differ: the columns of their table that vary are shown.
LENGTH_PLACE = ("Model", "Corpus", "Suite", "Label", "Unit")


def length_section(unshown: UnshownFindings) -> list[Section]:
    """Length, and correlations across models."""
    tables = (length(unshown), across(unshown))
    return drawn("length", [table for table in tables if table is not None])


def length(unshown: UnshownFindings) -> Table | None:
    """Take the findings on length: medians of failed and of passed texts, effect and p."""
    section_findings = unshown.take(
        lambda finding: finding.measure in ("length_p", "length_effect", "length_median"),
        by(
            "measure",
            "outcome",
            "model",
            "corpus",
            "suite",
            "label",
            "unit",
            "feature",
        ),
    )
    places = unique(key[2:] for key in section_findings)
    if not places:
        return None

    # A column that says the same in every row is left out.
    varied = []
    for column in range(len(LENGTH_PLACE)):
        values = {place[column] for place in places}
        if len(values) > 1:
            varied.append(column)

    rows = []
    for place in places:
        p = section_findings.get(("length_p", "", *place))
        rows.append(
            (
                *(place[column] for column in varied),
                name_of("features", place[-1]),
                _median(section_findings.get(("length_median", "failed", *place))),
                _median(section_findings.get(("length_median", "passed", *place))),
                figure(section_findings.get(("length_effect", "", *place))),
                p_value(p.value) if p else "–",
            )
        )
    table = table_of("length", rows)
    varied_names = [LENGTH_PLACE[column] for column in varied]
    return replace(
        table,
        head=(*varied_names, *table.head),
        words=len(varied) + 1,
    )


def _median(finding: Finding | None) -> Markup:
    if finding is None or not finding.tested:
        return figure(None)
    interval = "–".join(f"{end:,.1f}" for end in finding.interval or ())
    return spans(
        f"{finding.value:,.1f}",
        interval,
        f"n {count(finding.n)}",
    )


def across(unshown: UnshownFindings) -> Table | None:
    """Take the correlations across models of pass rates with accuracy."""
    section_findings = unshown.take(
        _is_across_models,
        lambda finding: (_test_name(finding), *by("suite", "label", "kind")(finding)),
    )
    places = unique(key[1:] for key in section_findings)
    if not places:
        return None

    names = words_of("words")["across"]
    # A test that was not run has no column.
    tests = [test for test in names if any(key[0] == test for key in section_findings)]
    rows = []
    for suite, label, kind in places:
        place = (suite, label, kind)
        p_cells = []
        for test in tests:
            p = section_findings.get((test, *place))
            p_cells.append("–" if p is None else p_value(p.value))
        correlation = figure(section_findings.get(("pearson_r", *place)))
        suite_and_label = " ".join(filter(None, (suite, label)))
        rows.append(
            (
                f"{kind} checks and accuracy",
                suite_and_label,
                correlation,
                *p_cells,
            )
        )
    return table_of("across", rows, [names[test] for test in tests])


def _is_across_models(finding: Finding) -> bool:
    return (
        finding.measure in ("pearson_r", "pearson_p", "t_p")
        and finding.where.get("audit") == "across"
        and finding.where.get("test", "") in ("", "paired", "unpaired")
    )


def _test_name(finding: Finding) -> str:
    """The measure with the kind of its test: "t_ppaired", as words.toml names it."""
    return finding.measure + finding.where.get("test", "")
