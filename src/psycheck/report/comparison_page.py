"""The page of a comparison: matrices of corpora, distinctive words, cautions and a map."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.measure import described
from psycheck.core.run import Page, Run
from psycheck.report.cautions import caution_headlines, commands
from psycheck.report.display_names import name_of, words_of
from psycheck.report.headlines import headline
from psycheck.report.numbers import count, decimal, ends, known_interval, plain
from psycheck.report.page import draw
from psycheck.report.sections import unique
from psycheck.report.tables import Table, table_of

SIDE = 640  # pixels of the longer side of the map
MARGIN = 20  # pixels around the map
# The verdict names the distances of the first of these measures that was tested.
VERDICT_MEASURES = ("jsd_unigram", "mmd2", "adversarial_auc")


class Distances(NamedTuple):
    """A part of the page: a matrix of sides for each main distance, and a table of all figures."""

    heading: str
    matrices: list[Table]
    all_figures: Table | None


def pages(run: Run) -> dict[str, str]:
    """The file of a comparison."""
    return {"report.html": render_comparison(run)}


def verdict(run: Run) -> list[Headline]:
    """What puts the corpora in doubt, then which of them are furthest apart and which are nearest."""
    headlines = caution_headlines(run)
    cautions = run.findings.where(measure="caution")
    if cautions:
        number = counted(len(cautions), "caution")
        headlines.append(headline("compare.cautions", cautions, cautions=number))

    distance = _distance_headline(run.findings)
    if distance is not None:
        headlines.append(distance)
    # A page without a verdict would look broken.
    if not headlines:
        rule = "compare.no_cautions" if _cautions_searched(run) else "compare.nothing"
        headlines.append(headline(rule))
    return headlines


def _cautions_searched(run: Run) -> bool:
    """Whether cautions were looked for; runs of older versions did so only with `warn`."""
    return bool(run.plan.get("cautions") or run.plan.get("warn"))


PAGE = Page(draw=pages, verdict=verdict)


def render_comparison(run: Run) -> str:
    """The page of a comparison as one HTML file without scripts."""
    names = ", ".join(str(corpus["name"]) for corpus in run.plan["corpora"])
    parts = [distances("Distances", run.findings)]
    return draw_comparison(run, f"compare: {names}", parts)


def draw_comparison(run: Run, title: str, parts: Sequence[Distances], papers: Sequence[Table] = ()) -> str:
    """A page of distances; `papers` are tables with published figures, which come first."""
    cautions = run.findings.where(measure="caution")
    words_shown = "shown" if run.plan.get("show_texts") else "common"
    return draw(
        "comparison",
        run,
        title=title,
        verdict=run.verdict,
        cautions=cautions,
        commands=commands(cautions),
        warned=_cautions_searched(run),
        papers=papers,
        parts=[part for part in parts if part.matrices],
        profile=_profile(run.findings),
        words=_words(run.findings),
        words_shown=words_of("comparison")[words_shown],
        map=_map(run.tables["map"]) if "map" in run.tables else None,
    )


def _distance_headline(findings: Sequence[Finding]) -> Headline | None:
    """The largest and the smallest distance of the first measure that was tested."""
    for measure in VERDICT_MEASURES:
        tested = [finding for finding in above_chance(findings, measure) if finding.tested]
        if tested:
            tested.sort(key=lambda finding: (finding.value, finding.n))
            return _furthest_and_nearest(measure, tested)
    return None


def _furthest_and_nearest(measure: str, distances_by_size: Sequence[Finding]) -> Headline:
    near = distances_by_size[0]
    far = distances_by_size[-1]
    # Two corpora have one distance: nothing is nearest.
    if near is far:
        rule, most, least = "compare.pair", _with_n(far), _with_n(near)
    else:
        rule = "compare.furthest" if _in_certain_order(distances_by_size) else "compare.unordered"
        # An interval of one distance does not allow for picking it from several.
        most = _with_n(replace(far, interval=None))
        least = _with_n(replace(near, interval=None))

    return headline(
        rule,
        [far] if near is far else [far, near],
        measure=_title(measure),
        far=_both(far),
        near=_both(near),
        most=most,
        least=least,
    )


def _with_n(finding: Finding) -> str:
    return f"{formatted(finding)}, n {count(finding.n)}"


def _in_certain_order(distances_by_size: Sequence[Finding]) -> bool:
    """Whether the intervals of the smallest and the largest distance overlap no other interval."""
    near = distances_by_size[0]
    far = distances_by_size[-1]
    # Without every interval the order may be chance.
    if not all(known_interval(finding) for finding in distances_by_size):
        return False
    below_far = all(ends(finding)[1] < ends(far)[0] for finding in distances_by_size[:-1])
    above_near = all(ends(near)[1] < ends(finding)[0] for finding in distances_by_size[1:])
    return below_far and above_near


def above_chance(findings: Sequence[Finding], measure: str) -> list[Finding]:
    """The findings of a measure, less what the same texts show by chance where that is a mean."""
    distances_found = _of_measure(findings, measure)
    if measure not in words_of("comparison")["above_chance"]:
        return distances_found

    chance_findings = _of_measure(findings, f"{measure}_chance")
    chance = {_both(finding): finding.value for finding in chance_findings}

    # A distance whose chance is not known cannot stand beside others that are less by theirs.
    with_chance = [finding for finding in distances_found if _both(finding) in chance]
    return [_less(finding, chance[_both(finding)]) for finding in with_chance]


def _of_measure(findings: Sequence[Finding], measure: str) -> list[Finding]:
    return [finding for finding in findings if finding.measure == measure]


def _less(finding: Finding, chance: float) -> Finding:
    """A distance and its interval, less what chance gives."""
    interval = finding.interval
    # Chance is a mean with no spread to speak of: the interval moves as a whole.
    if interval is not None:
        interval = (interval[0] - chance, interval[1] - chance)
    return replace(
        finding,
        value=finding.value - chance,
        interval=interval,
    )


def _title(measure: str) -> str:
    title = name_of("measures", measure)
    if measure in words_of("comparison")["above_chance"]:
        return f"{title} above chance"
    return title


def formatted(finding: Finding) -> str:
    """A figure with its interval; small values with two significant digits."""
    # Distances such as MMD² are often below 0.01, where three decimals would leave one digit.
    small = 0 < abs(finding.value) < 0.01
    has_own_format = described(finding.measure).kind in ("count", "p_value")
    if has_own_format or not finding.tested or not small:
        return plain(finding)

    text = f"{finding.value:.2g}"
    if finding.interval:
        low, high = finding.interval
        text += f" ({low:.2g} to {high:.2g})"
    return text.replace("-", "−")


def matrices(findings: Sequence[Finding]) -> list[Table]:
    """One table of corpora × corpora per main distance."""
    tables = [_matrix(findings, measure) for measure in words_of("comparison")["matrices"]]
    return [table for table in tables if table is not None]


def _matrix(findings: Sequence[Finding], measure: str) -> Table | None:
    by_pair = {}
    for finding in above_chance(findings, measure):
        by_pair[finding.where["first"], finding.where["second"]] = finding
    if not by_pair:
        return None

    names = unique(name for pair in by_pair for name in pair)
    cells = _symmetric_cells(by_pair, names, measure)
    rows = []
    for first in names:
        figures = [cells.get((first, second), "–") for second in names]
        rows.append((first, *figures))

    caption = _title(measure)
    encoders = {finding.where.get("encoder", "") for finding in by_pair.values()} - {""}
    if encoders:
        caption += f", vectors of {', '.join(sorted(encoders))}"
    return Table(
        caption=caption,
        head=("", *names),
        rows=tuple(rows),
    )


def _symmetric_cells(
    by_pair: Mapping[tuple[str, str], Finding], names: Sequence[str], measure: str
) -> dict[tuple[str, str], str]:
    """The cells of a matrix; a distance is measured once and stands on both sides of the diagonal."""
    # A classifier that tells a corpus from itself guesses: its AUC is 0.5, where distances are 0.
    to_itself = "0.5" if measure == "adversarial_auc" else "0"
    cells = {(name, name): to_itself for name in names}
    for (first, second), finding in by_pair.items():
        if first != second:
            text = formatted(finding)
            cells[first, second] = text
            cells[second, first] = text
    return cells


def _map(table: pl.DataFrame) -> dict[str, object]:
    """The size of the map; of each corpus its name, the place of each text, and the median of them."""
    # One scale for both axes: distances on a map mean the same in every direction.
    lowest = {}
    reach = {}
    for axis in "xy":
        values = table[axis].to_numpy()
        lowest[axis] = float(values.min())
        reach[axis] = float(values.max()) - lowest[axis]
    pixels_per_unit = (SIDE - 2 * MARGIN) / (max(reach.values()) or 1.0)

    to_pixels = []
    for axis in "xy":
        above_lowest = pl.col(axis) - lowest[axis]
        to_pixels.append(above_lowest * pixels_per_unit + MARGIN)
    places = table.with_columns(*to_pixels)
    corpora = []
    for (name,), texts in places.group_by("corpus", maintain_order=True):
        points = texts.select("id", "x", "y").rows()
        corpora.append(
            (
                name,
                points,
                texts["x"].median(),
                texts["y"].median(),
            )
        )
    return {
        "width": 2 * MARGIN + reach["x"] * pixels_per_unit,
        "height": 2 * MARGIN + reach["y"] * pixels_per_unit,
        "corpora": corpora,
    }


def distances(heading: str, findings: Sequence[Finding]) -> Distances:
    """The distances between pairs of sides, under a heading."""
    rows = []
    for finding in findings:
        if "first" in finding.where and "word" not in finding.where:
            measure = name_of("measures", finding.measure)
            rows.append(
                (
                    _both(finding),
                    measure,
                    formatted(finding),
                    count(finding.n),
                )
            )
    return Distances(
        heading=heading,
        matrices=matrices(findings),
        all_figures=table_of("distances", rows) if rows else None,
    )


def _profile(findings: Sequence[Finding]) -> Table | None:
    """One row per corpus, one column per figure of its profile."""
    profile = [finding for finding in findings if finding.where.get("part") == "profile"]
    figures = {(finding.where["corpus"], finding.measure): finding for finding in profile}
    corpora = unique(corpus for corpus, _ in figures)
    measures = unique(measure for _, measure in figures)
    if not corpora:
        return None

    rows = []
    for corpus in corpora:
        cells = [formatted(figures[corpus, measure]) for measure in measures]
        rows.append((corpus, *cells))
    columns = [name_of("measures", measure) for measure in measures]
    return table_of("profile", rows, columns)


def _words(findings: Sequence[Finding]) -> list[Table]:
    """The distinctive words, one table per measure of them."""
    tables = []
    for measure, caption in words_of("comparison")["words"].items():
        rows = [_word_row(finding) for finding in _of_measure(findings, measure)]
        if rows:
            title = name_of("measures", measure)
            tables.append(
                table_of(
                    "distinctive_words",
                    rows,
                    caption=caption,
                    measure=title,
                )
            )
    return tables


def _word_row(finding: Finding) -> tuple[str, ...]:
    return (
        finding.where["word"],
        finding.where["speaks_for"],
        _both(finding),
        decimal(abs(finding.value), 2),
        count(finding.counts["texts_first"]),
        count(finding.counts["texts_second"]),
    )


def _both(finding: Finding) -> str:
    return f"{finding.where['first']} and {finding.where['second']}"
