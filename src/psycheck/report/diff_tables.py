"""The tables and plots of the page of `diff`, by corpus and label."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from psycheck.core.finding import Finding, Findings
from psycheck.report.charts import Lane
from psycheck.report.diff_sentences import FIGURES, place_named
from psycheck.report.display_names import name_of
from psycheck.report.numbers import count, decimal, figure, known_interval, p_value, plain, spans
from psycheck.report.sections import by, grouped, unique
from psycheck.report.tables import Table, table_of

Pair = tuple[str, ...]  # the first model and the second
Ticks = list[tuple[float, str, str]]  # place in per cent, class and text
PlotRow = tuple[str, list[tuple[str, Lane]]]  # a pair, and a track for each figure
OUTCOMES = ("TT", "TF", "FT", "FF", "all")
STEPS = 20  # per unit: the axis of the plot ends at a twentieth
_PAIR = by("model", "versus")
_TICKS = {
    0: "",
    25: "mid quarter",
    50: "mid",
    75: "mid quarter",
    100: "end",
}  # place and class


class Bar(NamedTuple):
    """How many texts of an annotation only the first or only the second model gets right, and the bars."""

    gold: str
    first: str
    first_length: float
    second: str
    second_length: float


@dataclass(frozen=True, slots=True)
class Part:
    """One label of one corpus; `place` names both where there are several, `tests` counts those of Holm."""

    findings: Findings
    place: str
    tests: int

    @property
    def name(self) -> str:
        """The place as a heading."""
        return self.place.removeprefix(" on ").removeprefix(", ")

    def models(self) -> Table:
        """The figures of each model."""
        figures = {}
        for finding in self.findings:
            if "versus" not in finding.where:
                figures[finding.measure, finding.where.get("model", "")] = finding

        rows = []
        for model in unique(model for measure, model in figures if measure == "unanswered"):
            bounds = [figures.get((measure, model)) for measure in ("f1_worst", "f1_best")]
            f1_range = " to ".join(decimal(bound.value) for bound in bounds if bound is not None)
            rows.append(
                (
                    model,
                    figure(figures.get(("accuracy", model))),
                    figure(figures.get(("f1", model))),
                    f1_range or "–",
                    figure(figures.get(("precision", model))),
                    figure(figures.get(("recall", model))),
                    figure(figures.get(("auc", model))),
                    figure(figures["unanswered", model]),
                )
            )
        return table_of("diff_models", rows, place=self.place)

    def matrices(self) -> Iterator[Table]:
        """Kappa and the share of equal decisions, models × models."""
        with_itself = {"kappa": "1", "agreement": "100 %"}
        for measure, same in with_itself.items():
            by_pair = self._by_pair(measure)
            cells = {}
            for pair, (finding,) in by_pair.items():
                # Agreement has no direction: one finding stands on both sides of the diagonal.
                cells[pair] = _cell(finding)
                cells[pair[::-1]] = _cell(finding)

            models = unique(model for pair in by_pair for model in pair)
            rows = []
            for first in models:
                row = [cells.get((first, second), same) for second in models]
                rows.append((first, *row))
            title = name_of("measures", measure)
            yield table_of(
                "diff_matrix",
                rows,
                models,
                measure=title,
                place=self.place,
            )

    def all_agree(self) -> Finding | None:
        """How often all of more than two models agree."""
        return next(iter(self.findings.where(measure="agreement_all")), None)

    def differences(self) -> Table:
        """The differences of every pair, with p-values."""
        tests = self.findings.where(measure="difference_p_holm")
        p = {}
        for test in tests:
            p[_PAIR(test), test.where["figure"]] = test.value

        rows = []
        for pair, differences in self._differences():
            cells = []
            for name in FIGURES:
                cells.append(_cell(differences.get(name)))
                cells.append(p_value(p.get((pair, name), math.nan)))
            rows.append((*pair, *cells, count(differences["accuracy"].n)))
        return table_of(
            "diff_pairs",
            rows,
            place=self.place,
            tests=str(self.tests),
        )

    def plot(self) -> tuple[list[PlotRow], Ticks]:
        """The differences as dots with intervals around 0: rows by pair, and the ticks of the axis."""
        pairs = list(self._differences())
        ends = [0.0]
        for _, differences in pairs:
            for finding in differences.values():
                if finding.tested:
                    ends += [finding.value, *known_interval(finding)]

        # The axis reaches equally far to both sides, so that 0 is in the middle.
        furthest = max(abs(end) for end in ends)
        reach = max(math.ceil(STEPS * furthest), 1) / STEPS
        rows = []
        for pair, differences in pairs:
            lanes = [(FIGURES[name], _lane(finding, reach)) for name, finding in differences.items()]
            rows.append((" − ".join(pair), lanes))
        return rows, _ticks(reach)

    def apart(self) -> Iterator[tuple[Pair, list[Bar], Table]]:
        """Who is right where two models part, by annotation: bars and a table for every pair."""
        for pair, findings in self._by_pair("right_where_apart").items():
            by_annotation = [finding for finding in findings if finding.where["gold"] != "all"]
            rows = [_apart_row(finding) for finding in findings]
            table = table_of(
                "diff_apart",
                rows,
                place=self.place,
                first=pair[0],
                second=pair[1],
            )
            yield pair, _bars(by_annotation), table

    def lengths(self) -> Iterator[Table]:
        """Mean characters by outcome and annotation, one table per pair (Table 16)."""
        for pair, findings in self._by_pair("outcome_length").items():
            lengths = {by("outcome", "gold")(finding): finding for finding in findings}
            rows = []
            for outcome in OUTCOMES:
                cells = [_length(lengths[outcome, gold]) for gold in ("0", "1")]
                rows.append((name_of("outcomes", outcome), *cells))
            yield table_of(
                "diff_lengths",
                rows,
                place=self.place,
                first=pair[0],
                second=pair[1],
            )

    def error_lengths(self) -> Table:
        """Whether the errors of each model are longer or shorter than its right answers."""
        place = by("model", "gold")
        p = {place(test): test.value for test in self.findings.where(measure="error_length_p_holm")}
        rows = []
        for effect in self.findings.where(measure="error_length_effect"):
            rows.append(
                (
                    *place(effect),
                    count(effect.counts["errors"]),
                    _mean_characters(effect, "errors"),
                    _mean_characters(effect, "right"),
                    _cell(effect),
                    p_value(p[place(effect)]),
                )
            )
        return table_of("diff_error_lengths", rows, place=self.place)

    def cues(self) -> Iterator[Table]:
        """Cues among errors and right answers, one table per model."""
        place = by("model", "gold", "cue")
        p = {place(test): test.value for test in self.findings.where(measure="cue_p_holm")}
        rates = {}
        for rate in self.findings.where(measure="cue_rate"):
            rates[place(rate), rate.where["among"]] = figure(rate)

        differences = self.findings.where(measure="cue_difference")
        by_model = grouped(differences, lambda difference: difference.where["model"])
        for model, differences_of_model in by_model.items():
            rows = []
            for difference in differences_of_model:
                rows.append(
                    (
                        name_of("cues", difference.where["cue"]),
                        difference.where["gold"],
                        rates[place(difference), "errors"],
                        rates[place(difference), "right"],
                        _cell(difference),
                        p_value(p[place(difference)]),
                    )
                )
            yield table_of(
                "diff_cues",
                rows,
                place=self.place,
                model=model,
            )

    def _by_pair(self, measure: str) -> dict[Pair, list[Finding]]:
        return grouped(self.findings.where(measure=measure), _PAIR)

    def _differences(self) -> Iterator[tuple[Pair, dict[str, Finding]]]:
        """Of every pair, the differences by figure."""
        by_figure = {name: self._by_pair(f"{name}_difference") for name in FIGURES}
        for pair in by_figure["accuracy"]:
            differences = {}
            for name, by_pair in by_figure.items():
                if pair in by_pair:
                    differences[name] = by_pair[pair][0]
            yield pair, differences


def parts(findings: Findings) -> list[Part]:
    """The parts of the page, one for each label of each corpus."""
    # Holm's correction is over all parts of the page, not over the tests of one.
    tests = sum(test.tested for test in findings.where(measure="difference_p_holm"))
    with_label = [finding for finding in findings if "label" in finding.where]
    return [
        Part(
            findings=Findings(part_findings),
            place=place_named(part_findings[0], findings),
            tests=tests,
        )
        for part_findings in grouped(with_label, by("corpus", "label")).values()
    ]


def _cell(finding: Finding | None) -> str:
    return plain(finding) if finding is not None and finding.tested else "–"


def _apart_row(finding: Finding) -> tuple[str, ...]:
    """One annotation: its texts, those where the models part, who is right, and where neither is."""
    counts = finding.counts
    return (
        finding.where["gold"],
        count(counts["texts"]),
        count(finding.n),
        count(counts["only_this_right"]),
        count(counts["only_other_right"]),
        _cell(finding),
        count(counts["neither_right"]),
    )


def _bars(findings: Sequence[Finding]) -> list[Bar]:
    """Bars as long as the shares of the texts of each annotation; the longest has length 1."""
    shares = []
    for finding in findings:
        counts = finding.counts
        texts = max(counts["texts"], 1)
        first_share = counts["only_this_right"] / texts
        second_share = counts["only_other_right"] / texts
        shares.append((first_share, second_share))

    # Shares, not counts: there are often many more texts annotated 0 than 1.
    longest = max((max(pair_of_shares) for pair_of_shares in shares), default=0) or 1
    return [
        Bar(
            gold=finding.where["gold"],
            first=count(finding.counts["only_this_right"]),
            first_length=first_share / longest,
            second=count(finding.counts["only_other_right"]),
            second_length=second_share / longest,
        )
        for finding, (first_share, second_share) in zip(findings, shares, strict=True)
    ]


def _mean_characters(effect: Finding, side: str) -> str:
    """The mean length of the errors or the right answers of a model; "–" where it has none."""
    return count(effect.counts[f"characters_{side}"]) if effect.counts[side] else "–"


def _length(finding: Finding) -> Markup:
    if not finding.tested:
        return Markup("–")
    interval = "–".join(count(end) for end in known_interval(finding))
    return spans(
        count(finding.value),
        interval,
        f"n {count(finding.n)}",
    )


def _ticks(reach: float) -> Ticks:
    """The ticks of an axis from −reach to reach."""
    digits = 3 if reach < 0.1 else 2
    ticks: Ticks = []
    for place, style in _TICKS.items():
        value = reach * (place - 50) / 50
        # Not "0.00": the middle is exact.
        text = "0" if place == 50 else decimal(value, digits)
        ticks.append((place, style, text))
    return ticks


def _lane(finding: Finding, reach: float) -> Lane:
    """A difference on a track from −reach to reach; a diamond where the interval lies on one side of 0."""
    name = name_of("measures", finding.measure)
    if not finding.tested:
        return Lane(
            title=name,
            figures=Markup("not tested"),
            mean=0.5,
            untested=True,
        )

    def on_track(value: float) -> float:
        return 0.5 + value / reach / 2

    ends = [on_track(end) for end in known_interval(finding)]
    # The middle of the track is 0.
    off_zero = bool(ends) and not min(ends) <= 0.5 <= max(ends)
    return Lane(
        title=f"{name}: {plain(finding)}",
        figures=figure(finding),
        mean=0.5,
        ends=(min(ends), max(ends)) if ends else None,
        marks=((on_track(finding.value), ""),),
        low=off_zero,
    )
