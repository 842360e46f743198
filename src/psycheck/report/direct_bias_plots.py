"""The plots of `bias`: what the gender direction holds, and where words lie on it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.report.charts import DIAMOND, DOT, GRID
from psycheck.report.numbers import count, decimal, percent, span
from psycheck.report.tables import Table
from psycheck.report.words import name_of

CARRIERS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a dot plot: what it is, its lane, and its figures."""

    name: str
    more: str
    lane: Markup
    said: Markup


@dataclass(frozen=True, slots=True)
class Dots:
    """The words of one list on the gender direction: by symptom, and those that carry most."""

    name: str
    scale: Markup
    symptoms: tuple[Row, ...]
    words: tuple[Row, ...]
    every: Table


def components(findings: Sequence[Finding]) -> tuple[Row, ...]:
    """The figure of section 5: the share of variance of every component, a bar where random pairs are."""
    chance = {f.where["component"]: f for f in of_measure(findings, "explained_variance_chance")}
    rows = []
    for f in of_measure(findings, "explained_variance"):
        other = chance.get(f.where["component"])
        low, high = f.interval or (f.value, f.value)
        parts = [GRID, _whisker(100 * low, 100 * high), _mark(100 * f.value, DOT)]
        more = ""
        if other is not None:
            parts.insert(1, _tick(100 * other.value))
            more = f"random {percent(other.value)}"
        title = f"Component {f.where['component']}: {percent(f.value, 1)}{'; ' + more if more else ''}"
        said = Markup('<span class="v">{}</span> <span class="i">{}</span> <span class="n">{}</span>').format(
            percent(f.value), span(f, 0), more
        )
        rows.append(Row(f"Component {f.where['component']}", "", _track(title, parts), said))
    return tuple(rows)


def words_plot(findings: Sequence[Finding], name: str) -> Dots:
    """The words of a list as dots: all of each symptom, and those that carry most."""
    words = [f for f in of_measure(findings, "projection") if f.where["list"] == name]
    reach = _reach(max(abs(f.value) for f in words))
    symptoms = []
    for f in of_measure(findings, "direct_bias_symptom"):
        if f.where["list"] != name:
            continue
        own = [w for w in words if w.where.get("symptom") == f.where["symptom"]]
        marks = [_mark(_place(w.value, reach), DOT, _told(w), faint=True) for w in own]
        ends = "–".join(decimal(end, 2) for end in f.interval) if f.interval and _there(f.interval) else ""
        said = Markup(
            '<span class="v">{}</span> <span class="i">{}</span> <span class="n">n {}</span>'
        ).format(f"{decimal(f.value, 2)} {f.where['direction']}", ends, count(f.n))
        title = name_of("symptoms", f.where["symptom"])
        symptoms.append(Row(title, "", _track(title, [_signed_grid(), *marks]), said))
    most = [
        Row(
            w.where["word"],
            name_of("symptoms", w.where["symptom"]) if w.where.get("symptom") else "",
            _track(
                _told(w),
                [
                    _signed_grid(),
                    _whisker(*sorted((50.0, _place(w.value, reach))), left=w.value < 0),
                    _mark(_place(w.value, reach), DIAMOND if w.value < 0 else DOT, low=w.value < 0),
                ],
            ),
            Markup('<span class="v">{}</span>').format(decimal(w.value)),
        )
        for w in words[:CARRIERS]
    ]
    every = Table(
        f"All {len(words)} words of {name} that are known, by the size of their cosine",
        ("Word", "Symptom", "Cosine with the gender direction"),
        tuple(
            (w.where["word"], name_of("symptoms", w.where.get("symptom", "")) or "–", decimal(w.value))
            for w in words
        ),
        words=2,
    )
    return Dots(name, _signed_axis(reach), tuple(symptoms), tuple(most), every)


def of_measure(findings: Sequence[Finding], measure: str) -> list[Finding]:
    """The findings of one measure, in their order."""
    return [f for f in findings if f.measure == measure]


def _track(title: str, parts: Iterable[Markup]) -> Markup:
    return Markup('<svg class="track" role="img"><title>{}</title>{}</svg>').format(
        title, Markup().join(parts)
    )


def _whisker(low: float, high: float, *, left: bool = False) -> Markup:
    return Markup('<line class="whisker{}" x1="{:.2f}%" x2="{:.2f}%" y1="50%" y2="50%"/>').format(
        " low" if left else "", low, high
    )


def _mark(at: float, shape: str, title: str = "", *, low: bool = False, faint: bool = False) -> Markup:
    told = Markup("<title>{}</title>").format(title) if title else Markup()
    return Markup('<svg x="{:.2f}%" y="50%" class="at"><path class="dot{}" d="{}"{}>{}</path></svg>').format(
        at, " low" if low else "", shape, Markup(' fill-opacity=".5"') if faint else "", told
    )


def _tick(at: float) -> Markup:
    return Markup('<line class="mean" x1="{0:.2f}%" x2="{0:.2f}%" y1="10%" y2="90%"/>').format(at)


def _signed_grid() -> Markup:
    middle = Markup('<line class="mean" x1="50%" x2="50%" y1="0" y2="100%"/>')
    return GRID + middle


def _signed_axis(reach: float) -> Markup:
    ticks = Markup().join(
        Markup('<text x="{}%" y="14" class="{}">{}</text>').format(x, kind, said)
        for x, kind, said in (
            (0, "", f"male {decimal(-reach, 1)}"),
            (50, "mid", "0"),
            (100, "end", f"{decimal(reach, 1)} female"),
        )
    )
    return Markup('<svg class="axis" aria-hidden="true">{}</svg>').format(ticks)


def _place(value: float, reach: float) -> float:
    return 50 + 50 * value / reach


def _reach(largest: float) -> float:
    """The end of the scale: the next tenth."""
    return max(0.1, math.ceil(largest * 10) / 10)


def _told(word: Finding) -> str:
    return f"{word.where['word']}: {decimal(word.value)}"


def _there(interval: tuple[float, float]) -> bool:
    return not any(math.isnan(end) for end in interval)
