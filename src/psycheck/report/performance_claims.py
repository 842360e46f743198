"""What a verdict claims on performance: ranking apart from decisions, against chance, at every place.

A place is a model on a corpus, for one label. What is wrong there (threshold, ranking or both) is a rule of
headlines.toml; places of one model with the same rule share a sentence, so that none is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import listed, place_of
from psycheck.report.headlines import headline, least_n, praises
from psycheck.report.numbers import count, known_interval, percent, plain
from psycheck.report.performance_tables import is_performance
from psycheck.report.sections import by, grouped

SHARE, RANKING, DECISIONS = "decided_1_share", "auc_among_claims", "hard_auc_among_claims"
CHANCE = 0.5
# Of AUC and balanced accuracy: sensitivity + specificity − 1 of 0.3, as for decisions that hardly vary.
HARDLY_BETTER = 0.65
ALIKE = {
    "constant": "score",
    "one_decision": "decision",
    "nearly_one_decision": "decision",
}
PERHAPS_ALIKE = "perhaps_one_decision"
MOST_SENTENCES = 4  # on performance; of more models the worst are named


@dataclass(frozen=True, slots=True)
class PlaceFigures:
    """What is known of one model on one corpus, for one label; AUC is None for answers of 0 and 1 alone."""

    share: Finding
    ranking: Finding | None
    decisions: Finding | None

    @property
    def model(self) -> str:
        """The name of the model."""
        return place_of(self.share)[0]

    @property
    def behind(self) -> list[Finding]:
        """The findings that a claim rests on."""
        return [finding for finding in (self.share, self.ranking, self.decisions) if finding is not None]

    @property
    def annotated_1(self) -> float:
        """The share of the texts that are annotated 1."""
        counts = self.share.counts
        annotated_1 = counts["tp"] + counts["fn"]
        return annotated_1 / self.share.n


def performance_headlines(run: Run, *, praise: bool = True) -> list[Headline]:
    """One sentence for all places of a model with the same fault, or without one; the worst first.

    Without `praise` a model that is better than chance has its figures printed, and no more is said.
    """
    places = _places(run)
    by_model_and_rule = grouped(places, lambda place: (place.model, rule_of(place)))
    # The rules stand in the order of their gravity.
    order = [*_RULES]
    worst_first = sorted(by_model_and_rule.items(), key=lambda item: order.index(item[0][1]))
    sentences = []
    for (_, rule), alike in worst_first[:MOST_SENTENCES]:
        printed = "performance.measured" if praises(rule) and not praise else rule
        sentences.append(_sentence(printed, alike, places))
    return sentences


def _places(run: Run) -> list[PlaceFigures]:
    by_place = by("measure", "model", "corpus", "label")
    # By place, so that the three figures of a place find each other in one pass.
    figures = {by_place(f): f for f in run.findings if is_performance(f) and f.tested}
    places = []
    for (measure, *place), share in figures.items():
        if measure == SHARE:
            places.append(
                PlaceFigures(
                    share=share,
                    ranking=figures.get((RANKING, *place)),
                    decisions=figures.get((DECISIONS, *place)),
                )
            )
    return places


def rule_of(place: PlaceFigures) -> str:
    """The rule of headlines.toml that holds at a place: the first that does, the worst first."""
    for rule, holds in _RULES.items():
        if holds(place):
            return rule
    return "performance.not_better"


def _is_constant(place: PlaceFigures) -> bool:
    return "constant" in place.share.flags


def _is_inverted(place: PlaceFigures) -> bool:
    return _shown_worse(place.ranking) or _shown_worse(place.decisions)


def _both_wrong(place: PlaceFigures) -> bool:
    ranks_badly = place.ranking is not None and not _shown_better(place.ranking)
    return ranks_badly and _nearly_alike(place)


def _threshold_wrong(place: PlaceFigures) -> bool:
    return _nearly_alike(place) and _shown_better(place.ranking)


def _hardly_better(place: PlaceFigures) -> bool:
    """Neither ranking nor decisions can be much better than chance, though they may be a little better."""
    areas = [area for area in (place.ranking, place.decisions) if area is not None]
    # An unknown interval reaches to 1: what is not known is not held against a model.
    highest = [max(_certain_interval(area), default=1.0) for area in areas]
    return bool(areas) and all(end < HARDLY_BETTER for end in highest)


def _perhaps_alike(place: PlaceFigures) -> bool:
    return PERHAPS_ALIKE in place.share.flags and not _shown_better(place.decisions)


def _is_one_class(place: PlaceFigures) -> bool:
    return place.annotated_1 in (0.0, 1.0)


def _only_ranks(place: PlaceFigures) -> bool:
    return _shown_better(place.ranking) and not _shown_better(place.decisions)


def _is_better(place: PlaceFigures) -> bool:
    return _shown_better(place.decisions)


def _always(place: PlaceFigures) -> bool:
    return True


def _nearly_alike(place: PlaceFigures) -> bool:
    has_enough_texts = place.share.n >= least_n("performance.both")
    return has_enough_texts and bool(set(ALIKE) & set(place.share.flags))


def _shown_better(area: Finding | None) -> bool:
    if area is None:
        return False
    return min(_certain_interval(area), default=CHANCE) > CHANCE


def _shown_worse(area: Finding | None) -> bool:
    if area is None:
        return False
    return max(_certain_interval(area), default=CHANCE) < CHANCE


def _certain_interval(area: Finding) -> Sequence[float]:
    """The interval of a figure; empty where there are too few texts for a claim."""
    return known_interval(area) if area.n >= least_n("performance.better") else ()


# The worst first; the first that holds is the rule of a place.
_RULES = {
    "performance.constant": _is_constant,
    "performance.inverted": _is_inverted,
    "performance.both": _both_wrong,
    "performance.threshold": _threshold_wrong,
    "performance.one_decision": _nearly_alike,
    "performance.hardly_better": _hardly_better,
    "performance.perhaps_one_decision": _perhaps_alike,
    "performance.decisions_not_shown": _only_ranks,
    "performance.better": _is_better,
    "performance.one_class": _is_one_class,
    "performance.not_better": _always,
}


def _sentence(rule: str, alike: Sequence[PlaceFigures], places: Sequence[PlaceFigures]) -> Headline:
    """The sentence on the places of one model with one rule; `places` are those of the whole run."""
    corpora = {place_of(place.share)[1] for place in places}
    models = {place.model for place in places}
    labels = {place.share.where.get("label") for place in places}
    several_places = len(corpora) > 1 or len(labels) > 1

    names = [_named(place, several_labels=len(labels) > 1) for place in alike]
    figures = []
    for place, name in zip(alike, names, strict=True):
        # The name of a place stands beside its figures only where the sentence is about several.
        before = f"{name}: " if len(alike) > 1 else ""
        figures.append(before + _figures(place))

    subject = alike[0].model if len(models) > 1 else "The model"
    if several_places:
        subject += f" on {listed(names)}"
    return headline(
        rule,
        [finding for place in alike for finding in place.behind],
        subject=subject,
        figures="; ".join(figures),
    )


def _named(place: PlaceFigures, *, several_labels: bool) -> str:
    name = place_of(place.share)[1]
    return f"{name} (label {place.share.where['label']})" if several_labels else name


def _figures(place: PlaceFigures) -> str:
    """Shares predicted and annotated, then ranking and decisions: what a claim is read from."""
    share = place.share
    texts = counted(share.n, "text")
    units = share.counts.get("units", share.n)
    if units < share.n:
        # Many texts of few authors say less than their number suggests.
        texts += f" in {count(units)} independent units"

    parts = [
        f"1 is decided for {_share(share.value, share.n)} and annotated for "
        f"{_share(place.annotated_1, share.n)} of {texts}"
    ]
    if place.ranking is not None:
        parts.append(f"AUC {plain(place.ranking, prose=True)}")
    if place.decisions is not None:
        parts.append(f"balanced accuracy {plain(place.decisions, prose=True)}")
    return ", ".join(parts)


def _share(share: float, n: int) -> str:
    """A share with a decimal where it is near 0 or 1, so that 599 of 600 is not 100 %."""
    near_an_end = min(share, 1 - share) < 0.02
    return percent(share, 1 if near_an_end and n >= 100 else 0)


def alike_places(run: Run) -> dict[tuple[str, str], str]:
    """The model and corpus where (nearly) all texts get the same score or decision, and which of both.

    Without annotations the flags of the checks tell.
    """
    alike = {}
    for finding in run.findings:
        if finding.measure == SHARE:
            # Also where it is not known whether the few other decisions are right: nearly all are alike.
            kind_of_flag = {**ALIKE, PERHAPS_ALIKE: "decision"}
            kinds = [kind for flag, kind in kind_of_flag.items() if flag in finding.flags]
            if kinds:
                alike[place_of(finding)] = kinds[0]
        elif finding.measure == "pass_rate" and "not_evidence" in finding.flags:
            alike.setdefault(place_of(finding), "decision")
    return alike
