"""The first screen of a report: each corpus at a glance, and the claims as cards, the worst first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline, Severity
from psycheck.core.measure import described
from psycheck.core.run import PAIRS, Run, Shown
from psycheck.report.cases import case_anchors, case_order, case_rows, marked
from psycheck.report.charts import Lane
from psycheck.report.display_names import words_of
from psycheck.report.headlines import figure_of
from psycheck.report.numbers import decimal, ends, percent, plain, span, spans
from psycheck.report.verdict import headlines_of

# More than a screen holds is folded.
MOST_CARDS = 5
DECIDED = "decided_1_share"
# With the interval that claims rest on: it holds for all models, corpora and labels together.
RANKING = "auc_among_claims"
AMONG = "_among_"
# Claims about how scores rank: their picture is AUC beside chance, not the share decided 1.
_ABOUT_RANKING = frozenset(
    {"performance.better", "performance.measured", "performance.not_better", "performance.inverted"}
)
EXAMPLE_AROUND = 60  # characters before and after the edit


@dataclass(frozen=True, slots=True)
class Example:
    """A case behind a claim, with its text if the run shows texts, and where its fellows are on the page."""

    id: str
    scores: str
    text: Markup | None
    anchor: str


@dataclass(frozen=True, slots=True)
class Card:
    """One claim: its few words, how much it matters, its sentence, its figure, a case and what to do."""

    title: str
    severity: Severity
    sentence: str
    remedy: str
    lane: Lane | None
    example: Example | None


@dataclass(frozen=True, slots=True)
class Glance:
    """What a model does on a corpus: the share decided 1 beside the share annotated 1, and the ranking."""

    place: str
    decided: Lane
    annotated: str
    auc: str
    n: int


def cards(run: Run) -> tuple[list[Card], list[Card]]:
    """The cards of the first screen, and those that are folded below it."""
    drawn = [_card(run, headline) for headline in headlines_of(run)]
    return drawn[:MOST_CARDS], drawn[MOST_CARDS:]


def _card(run: Run, headline: Headline) -> Card:
    return Card(
        title=title_of(headline.rule),
        severity=headline.severity,
        sentence=headline.sentence,
        remedy=headline.remedy,
        lane=_lane(run, headline),
        example=_example(run, headline),
    )


def title_of(rule: str) -> str:
    """The few words for a rule; a rule of another package is named by its own last part."""
    kind, _, name = rule.partition(".")
    titles: Mapping[str, Any] = words_of("card_titles").get(kind, {})
    return str(titles.get(name, name.replace("_", " ").capitalize()))


def _lane(run: Run, headline: Headline) -> Lane | None:
    """The first figure behind a claim that a track from 0 to 100 % can show; None if there is none."""
    # Figures that allow for the choice of the worst have the intervals that the sentence prints.
    behind = sorted(_behind(run, headline), key=lambda finding: AMONG not in finding.measure)
    rankings = [finding for finding in behind if finding.measure == RANKING and finding.tested]
    if rankings and headline.rule in _ABOUT_RANKING:
        return _ranking_track(rankings[0])
    for finding in behind:
        if finding.tested and _fits_a_track(finding):
            return _track(finding)
    return None


def _behind(run: Run, headline: Headline) -> Iterator[Finding]:
    """The findings behind a claim, and the same figures with intervals that allow for a choice."""
    for finding in run.findings:
        name, among, _ = finding.measure.partition(AMONG)
        figure = figure_of(finding)
        if figure in headline.figures or (among and {**figure, "measure": name} in headline.figures):
            yield finding


def _example(run: Run, headline: Headline) -> Example | None:
    """The case that fails most clearly among those behind a warning; None if the run holds none."""
    # A failed case beside a claim that all is well would only confuse.
    if headline.severity == "note":
        return None
    cases = [case for case in run.shown if case.outcome == "failed" and _is_behind(case, headline)]
    if not cases:
        return None
    case = min(cases, key=case_order)
    (row,) = case_rows(run, [case])
    text = None
    if case.text is not None:
        text = marked(case.text, case.spans, around=EXAMPLE_AROUND)

    anchor = "fairness"
    if case.suite != PAIRS:
        anchors = case_anchors(run)
        anchor = anchors[case.suite, case.check, case.model, case.corpus]
    return Example(
        id=case.id,
        scores=row.scores,
        text=text,
        anchor=anchor,
    )


def _is_behind(case: Shown, headline: Headline) -> bool:
    """Whether a case belongs to a figure behind a claim; the check of a gender pair is its label."""
    if case.suite == PAIRS:
        about = {"unit": "pairs", "label": case.check}
    else:
        about = {"suite": case.suite, "check": case.check}
    about |= {"model": case.model, "corpus": case.corpus}

    return any(about.items() <= figure.items() for figure in headline.figures)


def _fits_a_track(finding: Finding) -> bool:
    # Differences and reactions may be negative: a track from 0 would cut them off.
    return described(finding.measure).kind == "rate" and min(ends(finding)) >= 0


def _ranking_track(finding: Finding) -> Lane:
    """AUC from 0 to 1, with chance as the dashed line."""
    low, high = ends(finding)
    interval = f"{decimal(low, 2)}–{decimal(high, 2)}"
    return Lane(
        title=f"AUC: {decimal(finding.value, 2)} ({interval}); chance: 0.5",
        figures=spans(decimal(finding.value, 2), interval, "AUC; dashed: chance"),
        mean=0.5,
        most="1",
        ends=(low, high),
        marks=((finding.value, ""),),
    )


def _track(finding: Finding) -> Lane:
    name, _, chosen_among = finding.measure.partition(AMONG)
    title = described(name).title
    if chosen_among == "checks":
        title = f"{title} of the worst check"
    return Lane(
        title=f"{title}: {plain(finding)}",
        figures=spans(
            percent(finding.value),
            span(finding, 0),
            title,
        ),
        ends=ends(finding),
        marks=((finding.value, ""),),
    )


def glance(run: Run) -> list[Glance]:
    """One line per model, corpus and label, in the order of the findings."""
    return list(_glances(run))


def _glances(run: Run) -> Iterator[Glance]:
    tested_rankings = [finding for finding in run.findings.where(measure=RANKING) if finding.tested]
    rankings = {_key(ranking): ranking for ranking in tested_rankings}
    for share in run.findings.where(measure=DECIDED, audit="performance"):
        counts = share.counts
        # Performance by group has shares, too; the line is about all texts of a corpus.
        if not share.tested or "group" in share.where or "tp" not in counts:
            continue
        annotated_1 = (counts["tp"] + counts["fn"]) / share.n
        ranking = rankings.get(_key(share))
        where = share.where
        yield Glance(
            place=f"{where['model']} on {where['corpus']}, {where['label']}",
            decided=Lane(
                title=f"decided 1: {percent(share.value)}; annotated 1: {percent(annotated_1)}",
                figures=spans(percent(share.value)),
                mean=annotated_1,
                ends=ends(share),
                marks=((share.value, ""),),
            ),
            annotated=percent(annotated_1),
            auc=_with_interval(ranking),
            n=share.n,
        )


def _key(finding: Finding) -> frozenset[tuple[str, str]]:
    return frozenset(finding.where.items())


def _with_interval(ranking: Finding | None) -> str:
    """AUC with its interval; a dash where the corpus has one class alone."""
    if ranking is None:
        return "–"
    low, high = ends(ranking)
    return f"{decimal(ranking.value, 2)} ({decimal(low, 2)}–{decimal(high, 2)})"
