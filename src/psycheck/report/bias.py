"""The page of `bias`: what leans to which gender, how much by chance, and by which words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.report.charts import DIAMOND, DOT, GRID, axis
from psycheck.report.numbers import count, decimal, p_value, percent, plain, span, unbroken
from psycheck.report.tables import Table
from psycheck.report.words import listed, name_of
from psycheck.run import Run

HERE = Path(__file__).parent
SIDES = {"F": "female", "M": "male"}
CARRIERS = 20
CERTAIN = 0.05
_VARIANTS = {
    ("pairs", "unit"): "each pair centred on its mean, vectors of length 1 (Bolukbasi et al.)",
    ("pairs", "raw"): "each pair centred on its mean, vectors as they are",
    ("differences", "unit"): "differences centred on their mean, vectors of length 1",
}


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


def render_bias(run: Run) -> str:
    """Draw the page of a bias run as one HTML file without a script; it computes nothing."""
    jinja = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = [str(one["name"]) for one in run.plan["lists"]]
    page = {
        "style": Markup((HERE / "report.css").read_text("utf-8")),
        "encoder": run.plan["encoder"],
        "contextual": run.plan["kind"] == "contextual",
        "lists": run.plan["lists"],
        "date": run.environment.get("date", ""),
        "verdict": unbroken(bias_verdict(run.findings)),
        "learned": [unbroken(sentence) for sentence in bias_sentences(run.findings)],
        "summary": bias_table(run.findings),
        "components": _components(run.findings),
        "axis": axis(),
        "dots": [_dots(run.findings, name) for name in names],
        "variants": _variants(run.findings),
        "neighbours": _neighbours(run.findings),
        "notes": run.notes,
        "plan": run.plan,
        "environment": run.environment,
    }
    return jinja.get_template("bias.html.j2").render(page)


def bias_verdict(findings: Sequence[Finding]) -> str:
    """One sentence: whether words lean on gender more than random words, else whether to one side."""
    tests = _of(findings, "direct_bias_p")
    least = min(tests, key=lambda f: f.value)
    one = _one(findings, "direct_bias", least.where["list"])
    chance = _one(findings, "direct_bias_chance", least.where["list"])
    figures = (
        f"{plain(one)}, n {count(one.n)}, random lists {decimal(chance.value)}, p\u00a0{p_value(least.value)}"
    )
    if least.value < CERTAIN:
        return (
            f"Words of {one.where['list']} lean on the gender direction more than random words do: "
            f"Direct Bias {figures}."
        )
    names = listed([f.where["list"] for f in tests])
    said = f"Words of {names} lean on the gender direction no more than random words do"
    shifted = min(_of(findings, "signed_mean_p"), key=lambda f: f.value)
    if shifted.value < CERTAIN:
        name = shifted.where["list"]
        mean, usual = _one(findings, "signed_mean", name), _one(findings, "signed_mean_chance", name)
        side = "female" if mean.value > usual.value else "male"
        return (
            f"{said}, but those of {name} lie further to the {side} side: mean cosine {plain(mean)}, "
            f"n {count(mean.n)}, random lists {decimal(usual.value)}, p\u00a0{p_value(shifted.value)}."
        )
    of = f" of {one.where['list']}" if len(tests) > 1 else ""
    return f"{said}: Direct Bias{of} {figures}."


def bias_sentences(findings: Sequence[Finding]) -> list[str]:
    """One sentence a list on the side to which it leans, and one on the gender direction itself."""
    said = []
    for mean in _of(findings, "signed_mean"):
        name = mean.where["list"]
        chance, p = _one(findings, "signed_mean_chance", name), _one(findings, "signed_mean_p", name)
        side = SIDES[mean.where["direction"]]
        leans = f"on average nearer to the {side} side"
        if mean.flags:
            leans = f"on average on neither side for certain (the sign says {side})"
        further = "female" if mean.value > chance.value else "male"
        than = (
            f"further to the {further} side than random lists"
            if p.value < CERTAIN
            else "no different from random lists"
        )
        said.append(
            f"{name.capitalize()}: {leans}, {plain(mean)}, n {count(mean.n)}; {than}, whose mean is "
            f"{decimal(chance.value)} (p\u00a0{p_value(p.value)})."
        )
    first = next(f for f in _of(findings, "explained_variance") if f.where["component"] == "1")
    chance_share = next(f for f in _of(findings, "explained_variance_chance") if f.where["component"] == "1")
    said.append(
        f"The gender direction holds {percent(first.value)} of the variance of the differences of "
        f"{count(first.n)} pairs; the first direction of random pairs holds {percent(chance_share.value)}."
    )
    return said


def bias_table(findings: Sequence[Finding]) -> Table:
    """One row a list: Direct Bias and the signed mean, each beside what chance gives."""
    rows = []
    for bias in _of(findings, "direct_bias"):
        name = bias.where["list"]
        signed = _one(findings, "signed_mean", name)
        rows.append(
            (
                name,
                bias.where["direction"] + ("?" if bias.flags else ""),
                plain(bias),
                plain(_one(findings, "direct_bias_chance", name)),
                p_value(_one(findings, "direct_bias_p", name).value),
                plain(signed),
                plain(_one(findings, "signed_mean_chance", name)),
                p_value(_one(findings, "signed_mean_p", name).value),
                count(bias.n),
                count(bias.counts.get("missing", 0)),
            )
        )
    head = (
        "List",
        "Side",
        "Direct Bias",
        "random lists",
        "p",
        "Signed mean",
        "random lists",
        "p",
        "n",
        "not known",
    )
    return Table("Direct Bias (95 % interval over words; range of random lists)", head, tuple(rows), words=2)


def _components(findings: Sequence[Finding]) -> tuple[Row, ...]:
    """The figure of section 5: the share of variance of every component, a bar where random pairs are."""
    chance = {f.where["component"]: f for f in _of(findings, "explained_variance_chance")}
    rows = []
    for f in _of(findings, "explained_variance"):
        other = chance.get(f.where["component"])
        low, high = f.interval or (f.value, f.value)
        parts = [GRID, _whisker(100 * low, 100 * high), _mark(100 * f.value, DOT)]
        more = ""
        if other is not None:
            parts.insert(1, _tick(100 * other.value))
            more = f"random {percent(other.value)}"
        title = f"Component {f.where['component']}: {percent(f.value, 1)}; {more}"
        said = Markup('<span class="v">{}</span> <span class="i">{}</span> <span class="n">{}</span>').format(
            percent(f.value), span(f, 0), more
        )
        rows.append(Row(f"Component {f.where['component']}", "", _track(title, parts), said))
    return tuple(rows)


def _dots(findings: Sequence[Finding], name: str) -> Dots:
    words = [f for f in _of(findings, "projection") if f.where["list"] == name]
    reach = _reach(max(abs(f.value) for f in words))
    symptoms = []
    for f in _of(findings, "direct_bias_symptom"):
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


def _variants(findings: Sequence[Finding]) -> Table:
    rows = [
        (
            f.where["list"],
            _VARIANTS[f.where["centring"], f.where["lengths"]],
            f.where["direction"],
            plain(f),
            count(f.n),
        )
        for f in _of(findings, "direct_bias_variant")
    ]
    head = ("List", "How the gender direction is made", "Side", "Direct Bias (95 % interval)", "n")
    return Table("The same with the gender direction made otherwise", head, tuple(rows), words=3)


def _neighbours(findings: Sequence[Finding]) -> Table | None:
    rows = []
    for f in findings:
        if f.measure not in ("weat_effect", "rnd"):
            continue
        name = f.where["list"]
        called = f"WEAT, against {f.where['against']}" if f.measure == "weat_effect" else "RND"
        p = _one(findings, "weat_p" if f.measure == "weat_effect" else "rnd_p", name)
        chance = plain(_one(findings, "rnd_chance", name)) if f.measure == "rnd" else "–"
        rows.append((name, called, plain(f), chance, p_value(p.value), count(f.n)))
    head = ("List", "Measure", "Value (95 % interval)", "Random lists", "p", "n")
    return (
        Table("Neighbouring measures; above 0 is nearer to female", head, tuple(rows), words=2)
        if rows
        else None
    )


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


def _of(findings: Sequence[Finding], measure: str) -> list[Finding]:
    return [f for f in findings if f.measure == measure]


def _one(findings: Sequence[Finding], measure: str, name: str) -> Finding:
    return next(f for f in findings if f.measure == measure and f.where["list"] == name)
