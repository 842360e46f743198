"""The plots of `bias`: what the gender direction holds, and where words lie on it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.report.charts import DIAMOND, DOT, GRID, mark, mean_line, scale, titled_track, whisker
from psycheck.report.numbers import count, decimal, ends, known_interval, percent, span, spans
from psycheck.report.tables import Table
from psycheck.report.words import name_of

CARRIERS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a dot plot: what it is, its lane, and its figures."""

    name: str
    more: str
    lane: Markup
    figures: Markup


@dataclass(frozen=True, slots=True)
class Dots:
    """The words of one list on the gender direction: by symptom, and those with the largest cosines."""

    name: str
    scale: Markup
    symptoms: tuple[Row, ...]
    words: tuple[Row, ...]
    every: Table


def components(findings: Sequence[Finding]) -> tuple[Row, ...]:
    """The figure of section 5: the share of variance of every component, a line where random pairs are."""
    chance = {f.where["component"]: f for f in of_measure(findings, "explained_variance_chance")}
    rows = []
    for f in of_measure(findings, "explained_variance"):
        random = chance.get(f.where["component"])
        low, high = ends(f)
        parts = [GRID, whisker(100 * low, 100 * high), mark(100 * f.value, DOT)]
        note = ""
        if random is not None:
            parts.insert(1, mean_line(random.value, "10%", "90%"))
            note = f"random {percent(random.value)}"
        name = f"Component {f.where['component']}"
        title = f"{name}: {percent(f.value, 1)}{'; ' + note if note else ''}"
        rows.append(Row(name, "", titled_track(title, parts), spans(percent(f.value), span(f, 0), note)))
    return tuple(rows)


def words_plot(findings: Sequence[Finding], name: str) -> Dots:
    """The words of a list as dots: all words of each symptom, and the words with the largest cosines."""
    words = [f for f in of_measure(findings, "projection") if f.where["list"] == name]
    # The scale ends at the next tenth.
    reach = max(0.1, math.ceil(max(abs(f.value) for f in words) * 10) / 10)
    symptoms = [
        _symptom(f, [w for w in words if w.where.get("symptom") == f.where["symptom"]], reach)
        for f in of_measure(findings, "direct_bias_symptom")
        if f.where["list"] == name
    ]
    every = Table(
        f"All {len(words)} known words of {name}, by the size of their cosine",
        ("Word", "Symptom", "Cosine with the gender direction"),
        tuple((w.where["word"], _symptom_name(w) or "–", decimal(w.value)) for w in words),
        words=2,
    )
    most = tuple(_word(w, reach) for w in words[:CARRIERS])
    return Dots(name, _signed_axis(reach), tuple(symptoms), most, every)


def _symptom(finding: Finding, words: Sequence[Finding], reach: float) -> Row:
    marks = [mark(_place(w.value, reach), DOT, _title(w), faint=True) for w in words]
    interval = "–".join(decimal(end, 2) for end in known_interval(finding))
    value = f"{decimal(finding.value, 2)} {finding.where['direction']}"
    name = _symptom_name(finding)
    lane = titled_track(name, [GRID, mean_line(0.5), *marks])
    return Row(name, "", lane, spans(value, interval, f"n {count(finding.n)}"))


def _word(word: Finding, reach: float) -> Row:
    at, male = _place(word.value, reach), word.value < 0
    parts = [
        GRID,
        mean_line(0.5),
        whisker(*sorted((50.0, at)), low=male),
        mark(at, DIAMOND if male else DOT, low=male),
    ]
    return Row(
        word.where["word"], _symptom_name(word), titled_track(_title(word), parts), spans(decimal(word.value))
    )


def _symptom_name(finding: Finding) -> str:
    return name_of("symptoms", finding.where.get("symptom", ""))


def of_measure(findings: Sequence[Finding], measure: str) -> list[Finding]:
    """The findings of one measure, in their order."""
    return [f for f in findings if f.measure == measure]


def _signed_axis(reach: float) -> Markup:
    ends = f"male {decimal(-reach, 1)}", f"{decimal(reach, 1)} female"
    return scale(((0, "", ends[0]), (50, "mid", "0"), (100, "end", ends[1])))


def _place(value: float, reach: float) -> float:
    return 50 + 50 * value / reach


def _title(word: Finding) -> str:
    return f"{word.where['word']}: {decimal(word.value)}"
