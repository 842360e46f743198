"""The tables and plots of the page of `diff`, by corpus and label."""

import math
from collections.abc import Iterator

from markupsafe import Markup

from psycheck.finding import Finding, Findings
from psycheck.report.charts import Lane
from psycheck.report.difference_sentences import FIGURES, place_named
from psycheck.report.numbers import count, decimal, figure, known_interval, p_value, plain, spans
from psycheck.report.shelf import by, grouped, unique
from psycheck.report.tables import Table, table_of
from psycheck.report.words import name_of

Place = tuple[str, ...]  # corpus and label
_PLACE = by("corpus", "label")
_OUTCOMES = ("TT", "TF", "FT", "FF", "all")


def parts(findings: Findings) -> list["Part"]:
    """The parts of the page, one for each label of each corpus."""
    return [Part(place, findings) for place in unique(map(_PLACE, findings.where(measure="kappa")))]


class Part:
    """The tables and plots of one label of one corpus."""

    def __init__(self, place: Place, findings: Findings) -> None:
        self.findings = Findings(f for f in findings if _PLACE(f) == place)
        self.tests = len([f for f in findings.where(measure="difference_p_holm") if f.tested])
        named = place_named(self.findings[0], findings)
        self.place, self.name = named, named.removeprefix(" on ").removeprefix(", ")

    def models(self) -> Table:
        """The figures of each model."""
        mine = {by("measure", "model")(f): f for f in self.findings if "versus" not in f.where}
        rows = []
        for model in unique(model for measure, model in mine if measure == "unanswered"):
            ends = [mine.get((name, model)) for name in ("f1_worst", "f1_best")]
            bounds = " to ".join(decimal(f.value) for f in ends if f) or "–"
            cells = {
                name: figure(mine.get((name, model)))
                for name in ("accuracy", "f1", "precision", "recall", "auc")
            }
            missing = figure(mine["unanswered", model])
            rows.append(
                (
                    model,
                    cells["accuracy"],
                    cells["f1"],
                    bounds,
                    *(cells[k] for k in ("precision", "recall", "auc")),
                    missing,
                )
            )
        return table_of("diff_models", rows, place=self.place)

    def matrices(self) -> list[Table]:
        """Kappa and the share of equal decisions, models × models."""
        out = []
        for measure in ("kappa", "agreement"):
            found = {by("model", "versus")(f): f for f in self.findings.where(measure=measure)}
            names = unique(name for pair in found for name in pair)
            both = found | {pair[::-1]: f for pair, f in found.items()}
            same = "1" if measure == "kappa" else "100 %"
            rows = [
                (one, *(same if one == other else _cell(both[one, other]) for other in names))
                for one in names
            ]
            out.append(
                table_of("diff_matrix", rows, names, measure=name_of("measures", measure), place=self.place)
            )
        return out

    def all_agree(self) -> Finding | None:
        """How often all of more than two models agree."""
        return next(iter(self.findings.where(measure="agreement_all")), None)

    def differences(self) -> Table:
        """The differences of every pair, with p-values."""
        holm = {
            by("model", "versus", "figure")(f): f.value
            for f in self.findings.where(measure="difference_p_holm")
        }
        rows = []
        for pair, found in self._pairs():
            cells: list[str] = []
            for name in FIGURES:
                f = found.get(f"{name}_difference")
                cells += [_cell(f) if f else "–", p_value(holm.get((*pair, name), math.nan))]
            rows.append((*pair, *cells, count(found["accuracy_difference"].n)))
        return table_of("diff_pairs", rows, place=self.place, tests=str(self.tests))

    def _pairs(self) -> Iterator[tuple[tuple[str, str], dict[str, Finding]]]:
        pairs = grouped(
            (f for f in self.findings if f.measure.endswith("_difference") and "versus" in f.where),
            by("model", "versus"),
        )
        for (first, second), found in pairs.items():
            yield (first, second), {f.measure: f for f in found}

    def plot(self) -> tuple[list[tuple[str, list[tuple[str, Lane]]]], list[tuple[float, str, str]]]:
        """The differences as dots with intervals around 0: rows by pair, and the ticks of the axis."""
        found = [f for _, mine in self._pairs() for f in mine.values() if f.tested]
        far = max((abs(end) for f in found for end in (f.value, *known_interval(f))), default=0.0)
        reach = max(math.ceil(far * 20), 1) / 20
        rows = [
            (
                f"{first} − {second}",
                [
                    (FIGURES[name], _lane(mine[f"{name}_difference"], reach))
                    for name in FIGURES
                    if f"{name}_difference" in mine
                ],
            )
            for (first, second), mine in self._pairs()
        ]
        steps = ((0, ""), (25, "mid quarter"), (50, "mid"), (75, "mid quarter"), (100, "end"))
        return rows, [
            (x, place, decimal(reach * (x - 50) / 50, 3 if reach < 0.1 else 2) if x != 50 else "0")
            for x, place in steps
        ]

    def apart(self) -> Table:
        """Who is right where two models part, by annotation."""
        rows = []
        for f in self.findings.where(measure="right_where_apart"):
            c = f.counts
            numbers = [
                count(c["texts"]),
                count(f.n),
                count(c["only_this_right"]),
                count(c["only_other_right"]),
            ]
            rows.append(
                (
                    f.where["model"],
                    f.where["versus"],
                    f.where["gold"],
                    *numbers,
                    _cell(f) if f.n else "–",
                    count(c["neither_right"]),
                )
            )
        return table_of("diff_apart", rows, place=self.place)

    def bars(self) -> list[tuple[str, str, list[tuple[str, int, int, float, float]]]]:
        """For every pair, of the texts of each annotation, the shares that only one of both gets right."""
        out = []
        for (first, second), found in grouped(
            self.findings.where(measure="right_where_apart"), by("model", "versus")
        ).items():
            rows = [
                (
                    f.where["gold"],
                    f.counts["only_this_right"],
                    f.counts["only_other_right"],
                    f.counts["texts"],
                )
                for f in found
                if f.where["gold"] != "all"
            ]
            most = max((max(a, b) / n for _, a, b, n in rows if n), default=0.0)
            scaled = [
                (gold, a, b, a / n / most if n and most else 0.0, b / n / most if n and most else 0.0)
                for gold, a, b, n in rows
            ]
            out.append((first, second, scaled))
        return out

    def lengths(self) -> list[Table]:
        """Mean characters by outcome and annotation, one table per pair (Table 16)."""
        out = []
        for (first, second), found in grouped(
            self.findings.where(measure="outcome_length"), by("model", "versus")
        ).items():
            cells = {(f.where["outcome"], f.where["gold"]): f for f in found}
            rows = [
                (
                    f"{outcome} {name_of('outcomes', outcome)}" if outcome != "all" else "all",
                    *(_length(cells[outcome, gold]) for gold in "01"),
                )
                for outcome in _OUTCOMES
            ]
            out.append(table_of("diff_lengths", rows, place=self.place, first=first, second=second))
        return out

    def error_lengths(self) -> Table | None:
        """Whether errors are longer or shorter."""
        holm = {by("model", "gold")(f): f.value for f in self.findings.where(measure="error_length_p_holm")}
        rows = []
        for f in self.findings.where(measure="error_length_effect"):
            c = f.counts
            lengths = [count(c[f"characters_{side}"]) if c[side] else "–" for side in ("errors", "right")]
            rows.append(
                (
                    f.where["model"],
                    f.where["gold"],
                    count(c["errors"]),
                    *lengths,
                    _cell(f),
                    p_value(holm[by("model", "gold")(f)]),
                )
            )
        return table_of("diff_error_lengths", rows, place=self.place) if rows else None

    def cues(self) -> Table | None:
        """Cues among errors and right answers."""
        place = by("model", "gold", "cue")
        holm = {place(f): f.value for f in self.findings.where(measure="cue_p_holm")}
        rates = {(place(f), f.where["among"]): f for f in self.findings.where(measure="cue_rate")}
        rows = []
        for f in self.findings.where(measure="cue_difference"):
            shares = [figure(rates[place(f), among]) for among in ("errors", "right")]
            rows.append(
                (
                    f.where["model"],
                    f.where["gold"],
                    name_of("cues", f.where["cue"]),
                    *shares,
                    _cell(f),
                    p_value(holm[place(f)]),
                )
            )
        return table_of("diff_cues", rows, place=self.place) if rows else None


def _cell(finding: Finding) -> str:
    return plain(finding) if finding.tested else "–"


def _length(f: Finding) -> Markup:
    if not f.tested:
        return Markup("–")
    ends = "–".join(count(end) for end in known_interval(f))
    return spans(count(f.value), ends, f"n {count(f.n)}")


def _lane(f: Finding, reach: float) -> Lane:
    """A difference on a track from −reach to reach; a diamond where the interval lies on one side of 0."""
    if not f.tested:
        return Lane(f.measure, Markup("not tested"), 0.5, untested=True)
    ends = known_interval(f)
    scaled = [0.5 + end / reach / 2 for end in ends]
    off = bool(ends) and (ends[0] > 0 or ends[1] < 0)
    value, _, interval = plain(f).partition(" (")
    drawn = spans(value, interval.rstrip(")"), f"n {count(f.n)}")
    title = f"{name_of('measures', f.measure)}: {plain(f)}"
    return Lane(
        title, drawn, 0.5, (scaled[0], scaled[1]) if scaled else None, ((0.5 + f.value / reach / 2, ""),), off
    )
