"""The tables and plots of the page of `diff`, by corpus and label."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.finding import Finding, Findings
from psycheck.report.charts import Lane
from psycheck.report.difference_sentences import FIGURES, place_named
from psycheck.report.numbers import count, decimal, figure, known_interval, p_value, plain, spans
from psycheck.report.shelf import by, grouped, unique
from psycheck.report.tables import Table, table_of
from psycheck.report.words import name_of

Pair = tuple[str, ...]  # the first model and the second
Ticks = list[tuple[float, str, str]]  # place in per cent, class and text
Bar = tuple[str, str, float, str, float]  # annotation, and of both models how many texts and how long a bar
_PLACE, _PAIR = by("corpus", "label"), by("model", "versus")
_OUTCOMES = ("TT", "TF", "FT", "FF", "all")
_TICKS = ((0, ""), (25, "mid quarter"), (50, "mid"), (75, "mid quarter"), (100, "end"))


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
        mine = {by("measure", "model")(f): f for f in self.findings if "versus" not in f.where}
        rows = []
        for model in unique(model for measure, model in mine if measure == "unanswered"):
            bounds = [mine[name, model] for name in ("f1_worst", "f1_best") if (name, model) in mine]
            cells: list[str] = [
                figure(mine.get((name, model))) for name in ("accuracy", "f1", "precision", "recall", "auc")
            ]
            cells.insert(2, " to ".join(decimal(f.value) for f in bounds) or "–")
            rows.append((model, *cells, figure(mine["unanswered", model])))
        return table_of("diff_models", rows, place=self.place)

    def matrices(self) -> Iterator[Table]:
        """Kappa and the share of equal decisions, models × models."""
        for measure, same in (("kappa", "1"), ("agreement", "100 %")):
            found = self._by_pair(measure)
            names = unique(name for pair in found for name in pair)
            cells = {names: _cell(f) for pair, (f,) in found.items() for names in (pair, pair[::-1])}
            rows = [(one, *(cells.get((one, other), same) for other in names)) for one in names]
            title = name_of("measures", measure)
            yield table_of("diff_matrix", rows, names, measure=title, place=self.place)

    def all_agree(self) -> Finding | None:
        """How often all of more than two models agree."""
        return next(iter(self.findings.where(measure="agreement_all")), None)

    def differences(self) -> Table:
        """The differences of every pair, with p-values."""
        p = {(_PAIR(f), f.where["figure"]): f.value for f in self.findings.where(measure="difference_p_holm")}
        rows = []
        for pair, found in self._differences():
            cells = [
                cell
                for name in FIGURES
                for cell in (_cell(found.get(name)), p_value(p.get((pair, name), math.nan)))
            ]
            rows.append((*pair, *cells, count(found["accuracy"].n)))
        return table_of("diff_pairs", rows, place=self.place, tests=str(self.tests))

    def plot(self) -> tuple[list[tuple[str, list[tuple[str, Lane]]]], Ticks]:
        """The differences as dots with intervals around 0: rows by pair, and the ticks of the axis."""
        pairs = list(self._differences())
        ends = [
            end
            for _, found in pairs
            for f in found.values()
            if f.tested
            for end in (f.value, *known_interval(f))
        ]
        reach = max(math.ceil(20 * max(map(abs, ends), default=0.0)), 1) / 20
        rows = [
            (" − ".join(pair), [(FIGURES[name], _lane(f, reach)) for name, f in found.items()])
            for pair, found in pairs
        ]
        marks = [decimal(reach * (x - 50) / 50, 3 if reach < 0.1 else 2) for x, _ in _TICKS]
        return rows, [
            (x, place, mark if x != 50 else "0") for (x, place), mark in zip(_TICKS, marks, strict=True)
        ]

    def apart(self) -> Iterator[tuple[Pair, list[Bar], Table]]:
        """Who is right where two models part, by annotation: bars and a table for every pair."""
        for pair, found in self._by_pair("right_where_apart").items():
            sides = [(f, [f.counts[f"only_{side}_right"] for side in ("this", "other")]) for f in found]
            shares = [[n / max(f.counts["texts"], 1) for n in both] for f, both in sides]
            most = (
                max(
                    (
                        share
                        for (f, _), some in zip(sides, shares, strict=True)
                        if f.where["gold"] != "all"
                        for share in some
                    ),
                    default=0,
                )
                or 1
            )
            bars = [
                (f.where["gold"], count(both[0]), some[0] / most, count(both[1]), some[1] / most)
                for (f, both), some in zip(sides, shares, strict=True)
                if f.where["gold"] != "all"
            ]
            rows = [
                (
                    f.where["gold"],
                    count(f.counts["texts"]),
                    count(f.n),
                    *map(count, both),
                    _cell(f),
                    count(f.counts["neither_right"]),
                )
                for f, both in sides
            ]
            yield pair, bars, table_of("diff_apart", rows, place=self.place, first=pair[0], second=pair[1])

    def lengths(self) -> Iterator[Table]:
        """Mean characters by outcome and annotation, one table per pair (Table 16)."""
        for pair, found in self._by_pair("outcome_length").items():
            cells = {by("outcome", "gold")(f): f for f in found}
            rows = [
                (name_of("outcomes", outcome), *(_length(cells[outcome, gold]) for gold in "01"))
                for outcome in _OUTCOMES
            ]
            yield table_of("diff_lengths", rows, place=self.place, first=pair[0], second=pair[1])

    def error_lengths(self) -> Table:
        """Whether the errors of each model are longer or shorter than its right answers."""
        place = by("model", "gold")
        p = {place(f): f.value for f in self.findings.where(measure="error_length_p_holm")}
        rows = []
        for f in self.findings.where(measure="error_length_effect"):
            means = [
                count(f.counts[f"characters_{side}"]) if f.counts[side] else "–"
                for side in ("errors", "right")
            ]
            rows.append((*place(f), count(f.counts["errors"]), *means, _cell(f), p_value(p[place(f)])))
        return table_of("diff_error_lengths", rows, place=self.place)

    def cues(self) -> Iterator[Table]:
        """Cues among errors and right answers, one table per model."""
        place = by("model", "gold", "cue")
        p = {place(f): f.value for f in self.findings.where(measure="cue_p_holm")}
        rates = {(place(f), f.where["among"]): figure(f) for f in self.findings.where(measure="cue_rate")}
        models = grouped(self.findings.where(measure="cue_difference"), lambda f: f.where["model"])
        for model, found in models.items():
            rows = [
                (
                    *(name_of("cues", f.where["cue"]), f.where["gold"], rates[place(f), "errors"]),
                    *(rates[place(f), "right"], _cell(f), p_value(p[place(f)])),
                )
                for f in found
            ]
            yield table_of("diff_cues", rows, place=self.place, model=model)

    def _by_pair(self, measure: str) -> dict[Pair, list[Finding]]:
        return grouped(self.findings.where(measure=measure), _PAIR)

    def _differences(self) -> Iterator[tuple[Pair, dict[str, Finding]]]:
        """Of every pair, the differences by figure."""
        found = {name: self._by_pair(f"{name}_difference") for name in FIGURES}
        for pair in found["accuracy"]:
            yield pair, {name: some[pair][0] for name, some in found.items() if pair in some}


def parts(findings: Findings) -> list[Part]:
    """The parts of the page, one for each label of each corpus."""
    tests = sum(f.tested for f in findings.where(measure="difference_p_holm"))
    places = grouped((f for f in findings if "label" in f.where), _PLACE)
    return [Part(Findings(mine), place_named(mine[0], findings), tests) for mine in places.values()]


def _cell(finding: Finding | None) -> str:
    return plain(finding) if finding is not None and finding.tested else "–"


def _length(f: Finding) -> Markup:
    if not f.tested:
        return Markup("–")
    return spans(count(f.value), "–".join(count(end) for end in known_interval(f)), f"n {count(f.n)}")


def _lane(f: Finding, reach: float) -> Lane:
    """A difference on a track from −reach to reach; a diamond where the interval lies on one side of 0."""
    if not f.tested:
        return Lane(name_of("measures", f.measure), Markup("not tested"), 0.5, untested=True)
    at, *ends = (0.5 + value / reach / 2 for value in (f.value, *known_interval(f)))
    off = bool(ends) and not min(ends) <= 0.5 <= max(ends)
    interval = (min(ends), max(ends)) if ends else None
    return Lane(f"{name_of('measures', f.measure)}: {plain(f)}", figure(f), 0.5, interval, ((at, ""),), off)
