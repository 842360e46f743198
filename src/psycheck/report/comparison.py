"""The page of a comparison: matrices of corpora, distinctive words, cautions and a map."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.measure import described
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, decimal, ends, known_interval, plain
from psycheck.report.page import draw
from psycheck.report.shelf import grouped, unique
from psycheck.report.studies.corpora import tables_of
from psycheck.report.tables import Table, table_of
from psycheck.report.words import name_of, words_of
from psycheck.run import Run

SIDE = 640
Part = tuple[str, list[Table], Table | None]  # heading, a matrix per main distance, every figure


def render_comparison(run: Run) -> str:
    """The page of a comparison as one HTML file without scripts."""
    title = f"compare: {', '.join(str(corpus['name']) for corpus in run.plan['corpora'])}"
    return _drawn(run, title, comparison_verdict(run), [_part("Distances", run.findings)])


def render_corpora_study(run: Run) -> str:
    """The page of the study of corpora: the papers' tables, then each comparison."""
    between, within = (run.findings.where(level=f"between {sides}") for sides in ("corpora", "classes"))
    # Sides of different corpora may share a name, so each corpus has its own matrices.
    own = grouped(within, lambda f: f.where["corpus"])
    parts = [_part("Distances between the corpora", between)]
    parts += [_part(f"Classes of {name}", found) for name, found in own.items()]
    title = f"study corpora: {', '.join(run.plan['corpora'])}"
    verdict = comparison_verdict(replace(run, findings=between or run.findings))
    return _drawn(run, title, verdict, parts, tables_of(run.findings))


def _drawn(run: Run, title: str, verdict: str, parts: Sequence[Part], papers: Sequence[Table] = ()) -> str:
    return draw(
        "comparison",
        run,
        title=title,
        verdict=verdict,
        cautions=(found := run.findings.where(measure="caution")),
        commands=commands(found),
        warned=bool(run.plan.get("warn")),
        papers=papers,
        parts=[part for part in parts if part[1]],
        profile=_profile(run.findings),
        words=_words(run.findings),
        words_shown=words_of("comparison")["shown" if run.plan.get("show_texts") else "common"],
        map=_map(run.tables["map"]) if "map" in run.tables else None,
    )


def commands(cautions: Sequence[Finding]) -> list[str]:
    """The commands that show or fix what was found, each once."""
    return unique(f.where["command"] for f in cautions if f.where["command"])


def comparison_verdict(run: Run) -> str:
    """Which corpora are furthest apart and which are nearest, and the number of cautions."""
    number = len(run.findings.where(measure="caution"))
    cautions = sentence("compare.cautions", cautions=counted(number, "caution")) if number else ""
    for measure in ("jsd_unigram", "mmd2", "adversarial_auc"):
        tested = [f for f in above_chance(run.findings, measure) if f.tested]
        if not tested:
            continue
        tested.sort(key=lambda f: (f.value, f.n))
        near, far = tested[0], tested[-1]
        picked = [f if near is far else replace(f, interval=None) for f in (far, near)]
        most, least = (f"{formatted(f)}, n {count(f.n)}" for f in picked)
        words = {"far": _both(far), "near": _both(near), "most": most, "least": least}
        ordered = all(map(known_interval, tested))
        ordered &= all(ends(f)[1] < ends(far)[0] for f in tested[:-1])
        ordered &= all(ends(near)[1] < ends(f)[0] for f in tested[1:])
        name = "pair" if near is far else "furthest" if ordered else "unordered"
        return f"{sentence(f'compare.{name}', measure=_title(measure), **words)} {cautions}".strip()
    return cautions or sentence(f"compare.{'no_cautions' if run.plan.get('warn') else 'nothing'}")


def above_chance(findings: Sequence[Finding], measure: str) -> list[Finding]:
    """The findings of a measure, less what the same texts show by chance where that is a mean."""
    mine = [f for f in findings if f.measure == measure]
    if measure not in words_of("comparison")["above_chance"]:
        return mine
    chance = {_both(f): f.value for f in findings if f.measure == f"{measure}_chance"}
    return [
        replace(f, value=f.value - by, interval=f.interval and (f.interval[0] - by, f.interval[1] - by))
        for f, by in ((f, chance[_both(f)]) for f in mine if _both(f) in chance)
    ]


def _title(measure: str) -> str:
    above = " above chance" * (measure in words_of("comparison")["above_chance"])
    return f"{name_of('measures', measure)}{above}"


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
        found = {(f.where["first"], f.where["second"]): f for f in above_chance(findings, measure)}
        if not found:
            continue
        names = unique(name for pair in found for name in pair)
        cells = {
            pair: formatted(f) for (one, other), f in found.items() for pair in ((one, other), (other, one))
        }
        cells |= {(name, name): "0.5" if measure == "adversarial_auc" else "0" for name in names}
        rows = tuple((one, *(cells.get((one, other), "–") for other in names)) for one in names)
        encoders = sorted({f.where["encoder"] for f in found.values() if "encoder" in f.where})
        by = f", vectors of {', '.join(encoders)}" if encoders else ""
        tables.append(Table(f"{_title(measure)}{by}", ("", *names), rows))
    return tables


def _map(table: pl.DataFrame) -> dict[str, object]:
    """The size of the map; of each corpus its name, the place of each text, and the median of them."""
    low = {axis: float(table[axis].to_numpy().min()) for axis in "xy"}
    reach = {axis: float(table[axis].to_numpy().max()) - low[axis] for axis in "xy"}
    unit = (SIDE - 40) / (max(reach.values()) or 1.0)
    places = table.with_columns(*((pl.col(axis) - low[axis]) * unit + 20 for axis in "xy"))
    corpora = [
        (name, own.select("id", "x", "y").rows(), own["x"].median(), own["y"].median())
        for (name,), own in places.group_by("corpus", maintain_order=True)
    ]
    return {"width": 40 + reach["x"] * unit, "height": 40 + reach["y"] * unit, "corpora": corpora}


def _part(heading: str, findings: Sequence[Finding]) -> Part:
    rows = [
        (_both(f), name_of("measures", f.measure), formatted(f), count(f.n))
        for f in findings
        if "first" in f.where and "word" not in f.where
    ]
    return heading, matrices(findings), table_of("distances", rows) if rows else None


def _profile(findings: Sequence[Finding]) -> Table | None:
    own = {(f.where["corpus"], f.measure): f for f in findings if f.where.get("part") == "profile"}
    names, measures = (unique(key[at] for key in own) for at in (0, 1))
    rows = [(name, *(formatted(own[name, measure]) for measure in measures)) for name in names]
    return table_of("profile", rows, [name_of("measures", one) for one in measures]) if rows else None


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
            names = {"caption": caption, "measure": name_of("measures", measure)}
            tables.append(table_of("distinctive_words", rows, **names))
    return tables


def _both(finding: Finding) -> str:
    return f"{finding.where['first']} and {finding.where['second']}"
