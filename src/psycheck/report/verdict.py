"""The verdict: what a run claims, the worst first, and no praise beside a caution or a critical claim."""

from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.cautions import CAUTION, caution_headlines
from psycheck.report.check_claims import check_headlines
from psycheck.report.gender_claims import gender_headlines, gender_untested
from psycheck.report.group_claims import groups_headlines, groups_without_gap
from psycheck.report.headlines import headline, praises
from psycheck.report.history_edits import history_headlines
from psycheck.report.outside_audits import without_own
from psycheck.report.performance_claims import performance_headlines

SEVERITIES = ("critical", "warning", "note")
_FIRST_KINDS = (CAUTION, "performance")


def headlines(run: Run) -> list[str]:
    """The sentences of the verdict in their order."""
    return [headline.sentence for headline in headlines_of(run)]


def headlines_of(run: Run) -> tuple[Headline, ...]:
    """The verdict of an audit in its order: as the run holds it, or made now for a run that holds none."""
    # Made once and stored: the sentences of a run stay what they were when the rules change.
    return run.headlines or tuple(chosen_headlines(without_own(run)))


def chosen_headlines(run: Run) -> list[Headline]:
    """Claims of all audits: what makes a model useless, then cautions, then the others by severity."""
    cautions = caution_headlines(run)
    performance = performance_headlines(run, praise=not cautions)
    other_claims = _other_claims(run)
    claims = [*performance, *other_claims]
    if cautions or any(claim.severity == "critical" for claim in claims):
        # What a model does well says nothing where its figures do not bear it.
        other_claims = [claim for claim in other_claims if not praises(claim.rule)]
        claims = [*performance, *other_claims]
    claims = claims or [headline("run.nothing")]
    return sorted([*cautions, *claims], key=_rank)


def _other_claims(run: Run) -> list[Headline]:
    """What the audits besides performance claim; what they could not find only where no check was run."""
    checks = check_headlines(run)
    claims = [*checks, *gender_headlines(run), *groups_headlines(run), *history_headlines(run)]
    # "Nothing was found" beside a failed check would read as a contradiction.
    if not checks:
        claims += [*gender_untested(run), *groups_without_gap(run)]
    return claims


def _rank(claim: Headline) -> tuple[int, int, float]:
    """A sort key: severity; then cautions before performance before others; then the certain failures."""
    severity = SEVERITIES.index(claim.severity)
    kind, _, _ = claim.rule.partition(".")
    place = [*_FIRST_KINDS, kind].index(kind)
    return severity, place, -claim.least
