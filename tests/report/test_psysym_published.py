"""The figures of PsySym as typed in: the means that the paper prints follow from its other rows."""

from statistics import fmean

import pytest

from psycheck.report.studies.published_figures import published

METHODS = ("TF-IDF", "BERT", "Symp", "Symp (Reweighting)")


@pytest.mark.parametrize("method", METHODS)
def test_the_means_of_table_9_are_those_of_its_rows(method: str) -> None:
    column = {
        row["disease"]: float(row["value"]) for row in published("psysym-table-9") if row["method"] == method
    }
    means = [column.pop("Mean (7 Diseases)"), column.pop("Mean (9 Diseases)")]
    diseases = list(column.values())
    assert len(diseases) == 9
    assert means == [pytest.approx(fmean(diseases[:7]), abs=0.006), pytest.approx(fmean(diseases), abs=0.006)]


def test_table_5_is_the_last_row_of_table_9() -> None:
    last = [row["value"] for row in published("psysym-table-9") if row["disease"] == "Mean (9 Diseases)"]
    assert [row["value"] for row in published("psysym-table-5")] == last


def test_every_figure_has_a_measure_a_value_and_room_for_a_mark() -> None:
    for table in ("table-2", "table-5", "table-9", "table-10", "section-5"):
        for row in published(f"psysym-{table}"):
            assert row["measure"]
            assert row["value"]
            assert row["mark"] == ""
