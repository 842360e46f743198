"""The page of a comparison: matrices of corpora, distinctive words, cautions and a map."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import polars as pl
from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.measure import described
from psycheck.report.numbers import count, decimal, plain
from psycheck.report.page import draw
from psycheck.report.shelf import grouped
from psycheck.report.studies.corpora import tables_of
from psycheck.report.tables import Table
from psycheck.report.words import name_of, words_of
from psycheck.run import Run

SIDE = 640
# One shape and one colour per corpus: distinct in grey print and without colour vision.
SHAPES = (
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "M0 -4L3.6 2.6H-3.6z",
    "M-2.7 -2.7H2.7V2.7H-2.7z",
    "M0 -4L4 0L0 4L-4 0z",
)
COLOURS = ("#0b4f8a", "#b34700", "#3a7d44", "#7a4f9a", "#57606a", "#a08000")


class Part(NamedTuple):
    """A section of the page: a matrix for each main distance, and every figure between two sides."""

    heading: str
    matrices: list[Table]
    pairs: Table | None


def render_comparison(run: Run) -> str:
    """The page of a comparison as one HTML file without scripts."""
    corpora = [str(corpus["name"]) for corpus in run.plan["corpora"]]
    parts = [Part("Distances", matrices(run.findings), _pairs(run.findings))]
    return _drawn(run, f"compare: {', '.join(corpora)}", comparison_verdict(run.findings), parts)


def render_corpora_study(run: Run) -> str:
    """The page of the study of corpora: the papers' tables, then each comparison."""
    between = [f for f in run.findings if f.where["level"] == "between corpora"]
    within = [f for f in run.findings if f.where["level"] == "between classes"]
    parts = [Part("Distances between the corpora", matrices(between), _pairs(between))]
    # Sides of different corpora may share a name, so each corpus has its own matrices.
    for name, own in grouped(within, lambda f: f.where["corpus"]).items():
        parts.append(Part(f"Classes of {name}", matrices(own), _pairs(own)))
    verdict = comparison_verdict(between or run.findings)
    return _drawn(
        run, f"study corpora: {', '.join(run.plan['corpora'])}", verdict, parts, tables_of(run.findings)
    )


def _drawn(run: Run, title: str, verdict: str, parts: Sequence[Part], papers: Sequence[Table] = ()) -> str:
    return draw(
        "comparison",
        run,
        title=title,
        verdict=verdict,
        cautions=[f for f in run.findings if f.measure == "caution"],
        warned=bool(run.plan.get("warn")),
        papers=papers,
        parts=[part for part in parts if part.matrices],
        profile=_profile(run.findings),
        words=_words(run.findings),
        words_shown=words_of("comparison")["shown" if run.plan.get("show_texts") else "common"],
        map=Markup(drawn_map(run.tables["map"])) if "map" in run.tables else None,
    )


def comparison_verdict(findings: Sequence[Finding]) -> str:
    """One sentence: which corpora are furthest apart and which are nearest, and the number of cautions."""
    number = sum(f.measure == "caution" for f in findings)
    cautions = f"{counted(number, 'caution')}." if number else ""
    for measure in ("jsd_unigram", "mmd2", "adversarial_auc"):
        found = sorted(
            (f for f in findings if f.measure == measure and f.tested), key=lambda f: (f.value, f.n)
        )
        if found:
            near, far = (f"{formatted(f)}, n {count(f.n)}" for f in (found[0], found[-1]))
            name = name_of("measures", measure)
            words = f"{_both(found[-1])}: {name} {far}."
            if len(found) > 1:
                words = f"{_both(found[-1])} are furthest apart: {name} {far}; "
                words += f"{_both(found[0])} are nearest: {near}."
            return f"{words} {cautions}".strip()
    return cautions or "No cautions; this does not prove that a corpus is sound."


def formatted(finding: Finding) -> str:
    """A figure with its interval; small values with two significant digits."""
    whole = described(finding.measure).kind in ("count", "p_value")
    if whole or not finding.tested or not 0 < abs(finding.value) < 0.01:
        return plain(finding)
    between = f" ({finding.interval[0]:.2g} to {finding.interval[1]:.2g})" if finding.interval else ""
    return f"{finding.value:.2g}{between}".replace("-", "−")


def matrices(findings: Sequence[Finding]) -> list[Table]:
    """One table of corpora × corpora per main distance."""
    tables = []
    for measure in words_of("comparison")["matrices"]:
        found = {(f.where["first"], f.where["second"]): f for f in findings if f.measure == measure}
        if not found:
            continue
        names = list(dict.fromkeys(name for pair in found for name in pair))
        cells = {
            pair: formatted(f) for (one, other), f in found.items() for pair in ((one, other), (other, one))
        }
        cells |= {(name, name): "0.5" if measure == "adversarial_auc" else "0" for name in names}
        rows = tuple((one, *(cells.get((one, other), "–") for other in names)) for one in names)
        encoders = sorted({f.where["encoder"] for f in found.values() if "encoder" in f.where})
        by = f", vectors of {', '.join(encoders)}" if encoders else ""
        tables.append(Table(f"{name_of('measures', measure)}{by}", ("", *names), rows))
    return tables


def drawn_map(table: pl.DataFrame) -> str:
    """The map as inline SVG: one mark per text with its id on hover, and each corpus's name at its median."""
    low = {axis: float(table[axis].to_numpy().min()) for axis in "xy"}
    reach = {axis: float(table[axis].to_numpy().max()) - low[axis] for axis in "xy"}
    span = max(reach.values()) or 1.0
    places = table.with_columns(
        *((20 + (pl.col(axis) - low[axis]) / span * (SIDE - 40)).alias(axis) for axis in "xy")
    )
    marks, names = [], []
    for k, name in enumerate(places["corpus"].unique(maintain_order=True).to_list()):
        own = places.filter(pl.col("corpus") == name)
        shape, colour = SHAPES[k % len(SHAPES)], COLOURS[k % len(COLOURS)]
        marks += [
            Markup(
                '<path d="{}" transform="translate({:.1f} {:.1f})" fill="{}" fill-opacity=".55">'
                "<title>{}: {}</title></path>"
            ).format(shape, x, y, colour, name, id_)
            for id_, x, y in own.select("id", "x", "y").iter_rows()
        ]
        names.append(
            Markup(
                '<text class="mid" x="{:.0f}" y="{:.0f}" style="fill:{};font-weight:600;paint-order:stroke;'
                'stroke:#fff;stroke-width:4px">{}</text>'
            ).format(median(own["x"]), median(own["y"]), colour, name)
        )
    return Markup(
        '<svg viewBox="0 0 {:.0f} {:.0f}" style="max-width:40rem;width:100%;height:auto" role="img">'
        "<title>t-SNE map of the texts</title>{}{}</svg>"
    ).format(
        *(40 + reach[axis] / span * (SIDE - 40) for axis in "xy"), Markup().join(marks), Markup().join(names)
    )


def _pairs(findings: Sequence[Finding]) -> Table | None:
    rows = [
        (_both(f), name_of("measures", f.measure), formatted(f), count(f.n))
        for f in findings
        if "first" in f.where and "word" not in f.where
    ]
    head = ("Between", "Measure", "Value (95 % interval)", "n")
    return Table("All figures between two corpora", head, tuple(rows), words=2) if rows else None


def _profile(findings: Sequence[Finding]) -> Table | None:
    own = {(f.where["corpus"], f.measure): f for f in findings if f.where.get("part") == "profile"}
    names, measures = (list(dict.fromkeys(key[at] for key in own)) for at in (0, 1))
    rows = tuple((name, *(formatted(own[name, measure]) for measure in measures)) for name in names)
    head = ("Corpus", *(name_of("measures", measure) for measure in measures))
    return Table("Length and vocabulary", head, rows) if rows else None


def _words(findings: Sequence[Finding]) -> list[Table]:
    tables = []
    for measure, caption in words_of("comparison")["words"].items():
        rows = [
            (
                *(f.where["word"], f.where["speaks_for"], _both(f), decimal(abs(f.value), 2)),
                *(count(f.counts[side]) for side in ("texts_first", "texts_second")),
            )
            for f in findings
            if f.measure == measure
        ]
        if rows:
            name = name_of("measures", measure)
            head = ("Word", "Speaks for", "Between", name, "Texts, first", "Texts, second")
            tables.append(Table(caption, head, tuple(rows), words=3))
    return tables


def _both(finding: Finding) -> str:
    return f"{finding.where['first']} and {finding.where['second']}"
