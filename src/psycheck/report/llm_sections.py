"""What LLMs were asked, in the report: the curve of a cascade, and how far wordings and samples agree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from psycheck.core.finding import Finding
from psycheck.report.display_names import Place, name_of, place_of
from psycheck.report.numbers import count, decimal, figure, percent, plain
from psycheck.report.sections import Key, Section, UnshownFindings, by, drawn, grouped
from psycheck.report.tables import Table, table_of

_CURVE: Final = ("cascade_f1", "cascade_accuracy")
_CASCADE: Final = (*_CURVE, "asked_share", "seam_changes", "cost_per_text")
_OF_REPLIES: Final = (
    "wording_changes",
    "wording_f1_range",
    "self_consistency",
    "posts_read",
    "items_without_evidence",
    "invented_quotes",
    "band_agreed",
    "item_agreement",
)
_WAYS: Final = {"cascade": "the cascade", "cheap": "its cheap model alone", "llm": "its LLM alone"}
_place = by("model", "corpus", "label")
Shares = dict[Place, Finding]
"""The share of texts asked about, by model and corpus."""


@dataclass(frozen=True, slots=True)
class CascadePart:
    """A cascade on one corpus and label: its curve as points and as a table, and sentences on it.

    A point is the share of texts asked about, its F1, and whether it is the band of the run.
    """

    name: str
    points: tuple[tuple[float, Finding, bool], ...]
    table: Table
    costs: Table | None
    sentences: tuple[str, ...]


def llm_sections(unshown: UnshownFindings) -> list[Section]:
    """The sections on cascades and on replies; they come after those on performance."""
    sections = drawn("cascade", cascades(unshown))
    replies = _replies(unshown)
    if replies is not None:
        (section,) = drawn("replies", [replies])
        sections.append(section)
    return sections


def cascades(unshown: UnshownFindings) -> list[CascadePart]:
    """Take the findings on cascades, one part per model, corpus and label."""
    section_findings = unshown.take(
        lambda finding: finding.measure in _CASCADE,
        by("measure", "model", "corpus", "label", "asked", "decided_by"),
    )
    shares: Shares = {}
    others = []
    for finding in section_findings.values():
        if finding.measure == "asked_share":
            shares[place_of(finding)] = finding
        else:
            others.append(finding)

    parts = [_part(place, findings, shares) for place, findings in grouped(others, _place).items()]
    # Without annotations there is no curve; who decided is known.
    places_with_curve = {place_of(finding) for finding in others}
    for place, share in shares.items():
        if place not in places_with_curve:
            parts.append(_part_without_curve(place, share))
    return parts


def _part(place: Key, findings: Sequence[Finding], shares: Shares) -> CascadePart:
    """The curve of one model, corpus and label."""
    model, corpus, label = place
    f1s = [finding for finding in findings if finding.measure == "cascade_f1"]
    accuracies = {}
    for finding in findings:
        if finding.measure == "cascade_accuracy":
            accuracies[finding.where["asked"]] = finding
    # Without a price in the plan the column would be empty.
    is_priced = any("cost" in finding.where for finding in f1s)

    rows = []
    points = []
    for f1 in f1s:
        share = f1.where["asked"]
        rows.append(
            _row(
                f1,
                accuracies.get(share),
                is_priced=is_priced,
            )
        )
        points.append((float(share), f1, "chosen" in f1.where))
    return CascadePart(
        name=f"{model} on {corpus}, {label}",
        points=tuple(points),
        table=table_of("cascade", rows, ["Price of the calls"] if is_priced else []),
        costs=_costs(findings),
        sentences=tuple(_sentences(shares.get((model, corpus)), findings)),
    )


def _part_without_curve(place: Place, share: Finding) -> CascadePart:
    model, corpus = place
    return CascadePart(
        name=f"{model} on {corpus}",
        points=(),
        table=table_of("cascade", []),
        costs=None,
        sentences=tuple(_sentences(share, [])),
    )


def _row(f1: Finding, accuracy: Finding | None, *, is_priced: bool) -> list[str]:
    share = percent(float(f1.where["asked"]))
    row = [
        f"{share} ◆" if "chosen" in f1.where else share,
        count(f1.counts["asked"]),
        count(f1.counts["saved"]),
        figure(f1),
        figure(accuracy),
    ]
    if is_priced:
        cost = float(f1.where.get("cost", "nan"))
        row.append(decimal(cost))
    return row


def _sentences(share: Finding | None, findings: Iterable[Finding]) -> Iterable[str]:
    """Who decided, and what happens at the seam."""
    if share is not None:
        counts = share.counts
        saved = share.n - round(share.value * share.n)
        yield (
            f"Of {count(share.n)} texts, the cheap model decided {count(counts['cheap'])} and the LLM "
            f"{count(counts['llm'])}; {count(counts['person'])} are left to a person. The LLM was asked "
            f"about {percent(share.value)} of them, which saved {count(saved)} calls."
        )
    for seam in findings:
        if seam.measure == "seam_changes" and seam.tested:
            yield (
                f"In the outer half of the band, the LLM and the cheap model decide {plain(seam)} of "
                f"{count(seam.n)} texts differently: an edit that pushes such a text out of the band "
                "changes its decision."
            )


def _costs(findings: Sequence[Finding]) -> Table | None:
    """The mean cost of a text for the cascade and for each part alone."""
    rows = []
    for finding in findings:
        if finding.measure != "cost_per_text":
            continue
        way = finding.where["decided_by"]
        rows.append(
            (
                _WAYS.get(way, way),
                figure(finding),
                count(finding.counts["asked"]),
                count(finding.counts["person"]),
            )
        )
    return table_of("cascade_costs", rows) if rows else None


def _replies(unshown: UnshownFindings) -> Table | None:
    """Take what is known of replies: wordings, samples, quotes, posts that were sent."""
    section_findings = unshown.take(
        lambda finding: finding.measure in _OF_REPLIES,
        by("measure", "model", "corpus", "label", "scale"),
    )
    rows = [
        (name_of("measures", finding.measure), _about(finding), figure(finding))
        for finding in section_findings.values()
    ]
    return table_of("replies", rows) if rows else None


def _about(finding: Finding) -> str:
    """What a figure on replies is about: "llama on posts, depression, 3 wordings"."""
    where = finding.where
    parts = [f"{where.get('model', '')} on {where.get('corpus', '')}"]
    # "all" says nothing, and the model and corpus come before it anyway.
    parts += [where[key] for key in ("label", "scale") if where.get(key) not in (None, "all")]
    parts += [
        f"{count(finding.counts[name])} {name}" for name in ("wordings", "samples") if name in finding.counts
    ]
    return ", ".join(parts)
