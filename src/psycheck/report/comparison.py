"""The page of a comparison: matrices of corpora, the words between them, cautions and a map."""

import tomllib
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import polars as pl
from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.measure import described
from psycheck.report.numbers import count, decimal, plain
from psycheck.report.page import beside, draw
from psycheck.report.tables import Table
from psycheck.report.words import name_of
from psycheck.run import Run

SIDE = 640
# One shape and one colour a corpus: told apart in grey print and without colour vision.
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
    """Draw the page of a comparison as one HTML file without a script; it computes nothing."""
    corpora = [str(corpus["name"]) for corpus in run.plan["corpora"]]
    parts = [Part("How far apart", matrices(run.findings), _pairs(run.findings))]
    return _drawn(run, f"compare: {', '.join(corpora)}", comparison_verdict(run.findings), parts)


def render_corpora_study(run: Run, papers: Sequence[Table]) -> str:
    """Draw the page of the study of corpora: the papers' tables first, then each comparison by itself."""
    between = [f for f in run.findings if f.where["level"] == "between corpora"]
    by_corpus: dict[str, list[Finding]] = {}
    for finding in run.findings:
        if finding.where["level"] == "between classes":
            by_corpus.setdefault(finding.where["corpus"], []).append(finding)
    parts = [Part("How far the corpora are apart", matrices(between), _pairs(between))]
    # A matrix takes two sides of one name for one, so each corpus has matrices of its own.
    for name, own in by_corpus.items():
        parts.append(Part(f"Classes of {name}", matrices(own), _pairs(own)))
    verdict = comparison_verdict(between or run.findings)
    return _drawn(run, f"study corpora: {', '.join(run.plan['corpora'])}", verdict, parts, papers)


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
        words_shown=_words_of()["shown" if run.plan.get("show_texts") else "common"],
        map=Markup(drawn_map(run.tables["map"])) if "map" in run.tables else None,
    )


def comparison_verdict(findings: Sequence[Finding]) -> str:
    """One sentence: which are furthest apart and which nearest, and how many cautions there are."""
    cautions = sum(f.measure == "caution" for f in findings)
    warned = f" {cautions} caution{'s' * (cautions != 1)}." if cautions else ""
    for measure in ("jsd_unigram", "mmd2", "adversarial_auc"):
        found = sorted(
            (f for f in findings if f.measure == measure and f.tested), key=lambda f: (f.value, f.n)
        )
        if found:
            near, far = found[0], found[-1]
            words = f"{_both(far)} are furthest apart" if len(found) > 1 else f"{_both(far)}"
            words += f": {name_of('measures', measure)} {said(far)}, n {count(far.n)}"
            if len(found) > 1:
                words += f"; {_both(near)} are nearest: {said(near)}, n {count(near.n)}"
            return words + "." + warned
    return warned.strip() or "No caution was found; that a corpus is sound was not shown."


def said(finding: Finding) -> str:
    """A figure with its interval: counts whole, small values with two digits that mean something."""
    whole = described(finding.measure).kind in ("count", "p_value")
    if whole or not finding.tested or not 0 < abs(finding.value) < 0.01:
        return plain(finding)
    between = f" ({finding.interval[0]:.2g} to {finding.interval[1]:.2g})" if finding.interval else ""
    return f"{finding.value:.2g}{between}".replace("-", "−")


def matrices(findings: Sequence[Finding]) -> list[Table]:
    """One table of corpora by corpora for each of the main distances."""
    tables = []
    for measure in _words_of()["matrices"]:
        found = {(f.where["first"], f.where["second"]): f for f in findings if f.measure == measure}
        if not found:
            continue
        names = list(dict.fromkeys(name for pair in found for name in pair))
        itself = "0.5" if measure == "adversarial_auc" else "0"
        rows = [
            (
                one,
                *(
                    itself if one == other else _cell(found.get((one, other)) or found.get((other, one)))
                    for other in names
                ),
            )
            for one in names
        ]
        encoder = {f.where["encoder"] for f in found.values() if "encoder" in f.where}
        by = f", vectors of {', '.join(sorted(encoder))}" if encoder else ""
        tables.append(Table(f"{name_of('measures', measure)}{by}", ("", *names), tuple(rows)))
    return tables


def drawn_map(table: pl.DataFrame) -> str:
    """The map as inline SVG: a mark a text, its id on hover, the name of each corpus at its middle."""
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
            ).format(_middle(own["x"]), _middle(own["y"]), colour, name)
        )
    return Markup(
        '<svg viewBox="0 0 {:.0f} {:.0f}" style="max-width:40rem;width:100%;height:auto" role="img">'
        "<title>t-SNE map of the texts</title>{}{}</svg>"
    ).format(
        *(40 + reach[axis] / span * (SIDE - 40) for axis in "xy"), Markup().join(marks), Markup().join(names)
    )


def _pairs(findings: Sequence[Finding]) -> Table | None:
    rows = [
        (_both(f), name_of("measures", f.measure), said(f), count(f.n))
        for f in findings
        if "first" in f.where and "word" not in f.where
    ]
    head = ("Between", "Measure", "Value (95 % interval)", "n")
    return Table("Every figure between two corpora", head, tuple(rows), words=2) if rows else None


def _profile(findings: Sequence[Finding]) -> Table | None:
    own = [f for f in findings if f.where.get("part") == "profile"]
    measures = list(dict.fromkeys(f.measure for f in own))
    rows = [
        (
            name,
            *(_cell(next(f for f in own if f.measure == m and f.where["corpus"] == name)) for m in measures),
        )
        for name in dict.fromkeys(f.where["corpus"] for f in own)
    ]
    head = ("Corpus", *(name_of("measures", measure) for measure in measures))
    return Table("Length and vocabulary", head, tuple(rows)) if rows else None


def _words(findings: Sequence[Finding]) -> list[Table]:
    tables = []
    for measure in ("log_odds_z", "adversarial_weight"):
        rows = [
            (
                f.where["word"],
                f.where["speaks_for"],
                _both(f),
                decimal(abs(f.value), 2),
                count(f.counts["texts_first"]),
                count(f.counts["texts_second"]),
            )
            for f in findings
            if f.measure == measure
        ]
        if rows:
            caption = {
                "log_odds_z": "Words that set one corpus apart",
                "adversarial_weight": "Words and pairs by which a classifier tells them apart",
            }[measure]
            head = (
                "Word",
                "Speaks for",
                "Between",
                name_of("measures", measure),
                "Texts, first",
                "Texts, second",
            )
            tables.append(Table(caption, head, tuple(rows), words=3))
    return tables


def _cell(finding: Finding | None) -> str:
    return "–" if finding is None else said(finding)


def _both(finding: Finding) -> str:
    return f"{finding.where['first']} and {finding.where['second']}"


def _middle(values: pl.Series) -> float:
    """The median place, for a name."""
    return float(pl.Series(values).to_frame("at").select(pl.col("at").median()).item())


@cache
def _words_of() -> dict[str, Any]:
    return tomllib.loads(beside("comparison.toml"))
