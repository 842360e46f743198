"""The page of `bias`: which lists lean to which gender, how much by chance, and by which words."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report.bias_sentences import bias_headlines, bias_sentences, measured, measured_for
from psycheck.report.charts import Lane
from psycheck.report.display_names import name_of
from psycheck.report.numbers import count, decimal, ends, percent, plain, span, spans
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of

MOST_WORDS = 20  # words with the largest cosines in a plot


class Line(NamedTuple):
    """One line of a plot: its name, a remark, and its track."""

    name: str
    remark: str
    lane: Lane


class WordsPlot(NamedTuple):
    """The words of a list on a scale from −reach to reach."""

    name: str
    reach: float
    symptoms: list[Line]
    largest: list[Line]
    all_words: Table


def pages(run: Run) -> dict[str, str]:
    """The file of a bias run."""
    return {"report.html": render_bias(run)}


def verdict(run: Run) -> list[Headline]:
    """The headlines of a bias run."""
    return bias_headlines(run.findings)


PAGE = Page(draw=pages, verdict=verdict)


def render_bias(run: Run) -> str:
    """Draw the page of a bias run as one HTML file without a script; it computes nothing."""
    findings = run.findings
    return draw(
        "direct_bias",
        run,
        encoder=run.plan["encoder"],
        contextual=run.plan["kind"] == "contextual",
        lists=run.plan["lists"],
        verdict=run.verdict,
        learned=bias_sentences(findings),
        summary=bias_table(findings),
        components=_components(findings),
        random_pairs=bool(measured(findings, "explained_variance_chance")),
        dots=[_words_plot(findings, str(word_list["name"])) for word_list in run.plan["lists"]],
        variants=_variants(findings),
        neighbours=_related_measures(findings),
    )


def _components(findings: Sequence[Finding]) -> list[Line]:
    """The figure of section 5: the share of variance of every component, a line where random pairs are."""
    chance_findings = measured(findings, "explained_variance_chance")
    chance = {finding.where["component"]: finding.value for finding in chance_findings}
    lines = []
    for finding in measured(findings, "explained_variance"):
        component = finding.where["component"]
        name = f"Component {component}"
        title = f"{name}: {percent(finding.value, 1)}"
        note = ""
        if component in chance:
            note = f"random {percent(chance[component])}"
            title += f"; {note}"
        lane = Lane(
            title=title,
            figures=spans(
                percent(finding.value),
                span(finding, 0),
                note,
            ),
            mean=chance.get(component),
            ends=ends(finding),
            marks=((finding.value, ""),),
        )
        lines.append(Line(name, "", lane))
    return lines


def _words_plot(findings: Sequence[Finding], name: str) -> WordsPlot:
    """The words of a list on a scale to the next tenth: by symptom, and those with the largest cosines."""
    words = [finding for finding in measured(findings, "projection") if finding.where["list"] == name]
    # To the next tenth, so that lists of one page have scales that can be compared.
    largest_cosine = max(abs(word.value) for word in words)
    reach = max(0.1, math.ceil(largest_cosine * 10) / 10)

    symptoms = []
    for finding in measured(findings, "direct_bias_symptom"):
        if finding.where["list"] == name:
            symptom = finding.where["symptom"]
            words_of_symptom = [word for word in words if word.where.get("symptom") == symptom]
            symptoms.append(_symptom_line(finding, words_of_symptom, reach))

    rows = [(word.where["word"], _symptom_name(word) or "–", decimal(word.value)) for word in words]
    return WordsPlot(
        name=name,
        reach=reach,
        symptoms=symptoms,
        largest=[_word_line(word, reach) for word in words[:MOST_WORDS]],
        all_words=table_of(
            "bias_words",
            rows,
            number=str(len(words)),
            list=name,
        ),
    )


def _symptom_line(bias: Finding, words: Sequence[Finding], reach: float) -> Line:
    """A symptom with a dot for each of its words."""
    value, _, interval = plain(bias, prose=True).partition(" (")
    lane = Lane(
        title=_symptom_name(bias),
        figures=spans(
            f"{value} {bias.where['direction']}",
            interval.rstrip(")"),
            f"n {count(bias.n)}",
        ),
        mean=0.5,
        marks=tuple((_on_track(word, reach), _word_title(word)) for word in words),
    )
    return Line(_symptom_name(bias), "", lane)


def _word_line(word: Finding, reach: float) -> Line:
    """A word with a bar from the middle of the track to its cosine."""
    place = _on_track(word, reach)
    lane = Lane(
        title=_word_title(word),
        figures=spans(decimal(word.value)),
        mean=0.5,
        ends=(min(0.5, place), max(0.5, place)),
        marks=((place, ""),),
        low=word.value < 0,
    )
    return Line(
        word.where["word"],
        _symptom_name(word),
        lane,
    )


def _on_track(word: Finding, reach: float) -> float:
    """The place of a cosine on a track from 0 (−reach) to 1 (reach)."""
    return 0.5 + 0.5 * word.value / reach


def _word_title(word: Finding) -> str:
    return f"{word.where['word']}: {decimal(word.value)}"


def _symptom_name(finding: Finding) -> str:
    return name_of("symptoms", finding.where.get("symptom", ""))


def bias_table(findings: Sequence[Finding]) -> Table:
    """One row per list: Direct Bias and the signed mean, each with what random lists give."""
    measures = (
        "direct_bias",
        "direct_bias_chance",
        "direct_bias_p",
        "signed_mean",
        "signed_mean_chance",
        "signed_mean_p",
    )
    rows = []
    for bias in measured(findings, "direct_bias"):
        name = bias.where["list"]
        side = bias.where["direction"]
        # The side depends on chance, or on how the direction is defined.
        if bias.flags:
            side += "?"
        figures = [plain(measured_for(findings, measure, name)) for measure in measures]
        rows.append(
            (
                name,
                side,
                *figures,
                count(bias.n),
                count(bias.counts.get("missing", 0)),
            )
        )
    return table_of("bias", rows)


def _variants(findings: Sequence[Finding]) -> Table:
    """Direct Bias with other definitions of the gender direction."""
    rows = []
    for finding in measured(findings, "direct_bias_variant"):
        where = finding.where
        definition = name_of("direction", f"{where['centring']}_{where['lengths']}")
        rows.append(
            (
                where["list"],
                definition,
                where["direction"],
                plain(finding),
                count(finding.n),
            )
        )
    return table_of("bias_variants", rows)


def _related_measures(findings: Sequence[Finding]) -> Table | None:
    """WEAT and RND of each list."""
    rows = []
    for finding in measured(findings, "weat_effect", "rnd"):
        name = finding.where["list"]
        # RND is compared with random lists; WEAT brings a test of its own.
        if finding.measure == "rnd":
            title = "RND"
            chance = plain(measured_for(findings, "rnd_chance", name))
            p = plain(measured_for(findings, "rnd_p", name))
        else:
            title = f"WEAT, against {finding.where.get('against')}"
            chance = "–"
            p = plain(measured_for(findings, "weat_p", name))
        rows.append(
            (
                name,
                title,
                plain(finding),
                chance,
                p,
                count(finding.n),
            )
        )
    return table_of("bias_related", rows) if rows else None
