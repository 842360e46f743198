"""What a verdict claims on checks: failures beyond a tolerance, reactions, and what passing shows.

A failure is claimed where the lower bound of its share clears `TOLERANCE`. A model is praised only where it
is shown to react to what is added: passing alone is no merit of a model that notices nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import listed, place_of, topic_of, where_named
from psycheck.report.headlines import headline, least_n
from psycheck.report.numbers import ends, known_interval, percent, plain, rate
from psycheck.report.performance_claims import alike_places

AMONG = "pass_rate_among_checks"
TOLERANCE = 0.05  # share of texts: an edit that fails for fewer is no weakness
REACTS = 0.25  # reaction: its lower bound must clear it for praise, its upper bound must miss it for "deaf"
LOW = 0.5  # pass rate: below it, a check that fails before and after is named
NAMED = 3  # checks that share a sentence, by name


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of a run, each once, with intervals that allow for picking some; reactions, by check."""

    run: Run
    every: Sequence[Finding]
    reactions: Sequence[Finding]

    @property
    def tested(self) -> list[Finding]:
        """The checks with a value."""
        return [check for check in self.every if check.tested]

    @property
    def evidence(self) -> list[Finding]:
        """The checks with texts enough for a claim that nearly constant decisions alone do not explain."""
        return [check for check in _claimable(self.tested) if "not_evidence" not in check.flags]


def _claimable(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of enough texts: a sample may have tried a check on two of them."""
    least_texts = least_n("checks.fails")
    return [finding for finding in findings if finding.n >= least_texts]


def checks_of(run: Run) -> list[Finding]:
    """The pass rates of all checks, each once."""
    return [f for f in run.findings if f.measure == "pass_rate" and f.where.get("check")]


def among_checks(run: Run) -> list[Finding]:
    """The pass rates of all checks, with intervals that allow for picking one of them."""
    wide_intervals = {}
    for finding in run.findings.where(measure=AMONG):
        wide_intervals[frozenset(finding.where.items())] = finding.interval

    checks = []
    for check in checks_of(run):
        # Runs of an older psycheck hold no such intervals; their checks keep the ones they have.
        interval = wide_intervals.get(frozenset(check.where.items()), check.interval)
        checks.append(replace(check, interval=interval))
    return checks


def checks_in(run: Run) -> Checks:
    """The checks and reactions of a run."""
    every = among_checks(run)
    # A model that gives every text one score does not react either: the verdict says the former.
    explained = [check.where for check in every if "not_evidence" in check.flags]
    tested = [reaction for reaction in run.findings.where(measure="reaction") if reaction.tested]
    reactions = [reaction for reaction in tested if _check_of(reaction) not in explained]
    return Checks(run=run, every=every, reactions=reactions)


def _check_of(reaction: Finding) -> dict[str, str]:
    """Where the pass rate of the same check was measured."""
    return {key: value for key, value in reaction.where.items() if key != "expected"}


def check_headlines(run: Run) -> list[Headline]:
    """The weakest check, wrong reactions and missing ones; or what it shows that there are none."""
    checks = checks_in(run)
    if not checks.every:
        return []
    # Checks without a single case: no praise, and no failure either.
    if not checks.tested:
        return [headline("checks.untested")]

    weaknesses = [*_failing(checks), *_moved_wrongly(checks), *_deaf(checks)]
    return [*(weaknesses or [_without_weakness(checks)]), *_wrong_unedited(checks)]


def _failing(checks: Checks) -> list[Headline]:
    """The weakest check, if more of its texts fail for certain than is tolerated, and its rivals."""
    low = weakest(checks.evidence)
    if low is None or not harmed(low) or kept(low) >= 1 - TOLERANCE:
        return []
    run = checks.run
    values = {
        "point": _pointed_out(low, run),
        "passing": passing(low),
        "unedited": unedited(low),
        "choice": choice(low, run),
        "rivals": _rivals(low, checks.evidence, run),
    }
    return [
        headline(
            "checks.fails",
            [low],
            1 - kept(low),
            **values,
        )
    ]


def _pointed_out(check: Finding, run: Run) -> str:
    """A check by its symptom, which readers know, or else by its name and title."""
    if check.where.get("symptom"):
        return f"{topic_of(check)}{where_named(check, run.findings, 'in')}: {check.where['check']},"
    return f"{named(check, run)}:"


def _wrong_unedited(checks: Checks) -> list[Headline]:
    """The check with the lowest pass rate, where the same texts fail unedited: that is not the edit."""
    wrong = []
    for check in checks.evidence:
        # Only MFT checks know how the text did without the edit.
        about_the_edit = "passed_unedited" not in check.counts or {"harmed", "helped"} & set(check.flags)
        if not about_the_edit and max(known_interval(check), default=1.0) < LOW:
            wrong.append(check)
    if not wrong:
        return []
    # One sentence: others are in the table, and for the same reason.
    lowest = min(wrong, key=lambda check: check.value)
    return [
        headline(
            "checks.wrong_unedited",
            [lowest],
            point=named(lowest, checks.run),
            passing=passing(lowest),
            before=percent(lowest.counts["passed_unedited"] / lowest.n),
        )
    ]


def _moved_wrongly(checks: Checks) -> list[Headline]:
    """Checks whose sentences move scores against what they say, the clearest first.

    Those that fail too often anyway are named for that.
    """
    harmful = [check for check in checks.evidence if harmed(check)]
    failing = [check.where for check in harmful if kept(check) < 1 - TOLERANCE]
    wrong = []
    for reaction in _claimable(checks.reactions):
        is_certain = max(known_interval(reaction), default=0) < -REACTS
        if is_certain and _check_of(reaction) not in failing:
            wrong.append(reaction)
    if not wrong:
        return []
    # By the end nearest to 0: what is certain, not what is largest.
    wrong.sort(key=lambda reaction: max(known_interval(reaction)))
    clearest = wrong[0]
    return [
        headline(
            "checks.wrong_way",
            wrong,
            -max(known_interval(clearest)),
            checks=_topics(wrong, checks.run),
            expected="rise" if clearest.where["expected"] == "up" else "fall",
            reaction=plain(clearest, prose=True),
            n=counted(clearest.n, "text"),
        )
    ]


def _deaf(checks: Checks) -> list[Headline]:
    """Checks whose sentences on a symptom that is present hardly move the score, the deafest first."""
    deaf = []
    for reaction in _claimable(_presence(checks)):
        # Without an interval nothing is claimed.
        low, high = known_interval(reaction) or (0.0, 1.0)
        if high < REACTS and low > -REACTS:
            deaf.append(reaction)
    if not deaf:
        return []
    deaf.sort(key=lambda reaction: max(known_interval(reaction)))
    return [
        headline(
            "checks.deaf",
            deaf,
            checks=_topics(deaf, checks.run),
            reaction=plain(deaf[0], prose=True),
            n=counted(deaf[0].n, "text"),
        )
    ]


def _presence(checks: Checks) -> list[Finding]:
    """The reactions to sentences that should raise the score."""
    return [reaction for reaction in checks.reactions if reaction.where["expected"] == "up"]


def _topics(reactions: Sequence[Finding], run: Run) -> str:
    """The checks of some reactions by symptom and name, and how many more there are."""
    names = []
    for reaction in reactions[:NAMED]:
        place = where_named(reaction, run.findings)
        names.append(f"{topic_of(reaction)} ({reaction.where['check']}{place})")
    if len(reactions) > NAMED:
        names.append(f"{len(reactions) - NAMED:,} more")
    return listed(names)


def _without_weakness(checks: Checks) -> Headline:
    """What it shows that no weakness is claimed: praise only where the model is shown to react."""
    run = checks.run
    low = weakest(_claimable(checks.tested) or checks.tested)
    if low is None:
        return headline("checks.untested")
    all_tested = len(checks.tested) == len(checks.every)
    values = {
        "tested": counted(len(checks.tested), "check" if all_tested else "tested check"),
        "point": f"{named(low, run)}:",
        "passing": passing(low),
        "unedited": unedited(low),
        "choice": choice(low, run),
    }
    # A model that reads nothing passes many checks: before praise comes the doubt.
    doubt = praise_doubt(run)
    if doubt:
        return headline("checks.no_evidence", [low], doubt=doubt, **values)
    all_pass = all(check.value == 1 for check in checks.tested)
    return headline(
        "checks.none_found" if all_pass else "checks.not_harmed",
        [low],
        **values,
    )


def praise_doubt(run: Run) -> str:
    """Why passed checks are not evidence; empty where the model is shown to react."""
    checks = checks_in(run)
    # One reason suffices, and the first explains the second.
    return alike_doubt(run, checks.tested) or _reaction_doubt(checks)


def alike_doubt(run: Run, checks: Sequence[Finding]) -> str:
    """Why passed checks are not evidence: "m gives every text the same score"; empty if they may be."""
    alike = alike_places(run)
    models = {place_of(check)[0] for check in checks}
    alike_of_model = {}
    for check in checks:
        place = place_of(check)
        if place in alike:
            alike_of_model[place[0]] = alike[place]

    reasons = []
    for model, what in alike_of_model.items():
        name = model if len(models) > 1 else "the model"
        texts = "every text" if what == "score" else "nearly every text"
        reasons.append(f"{name} gives {texts} the same {what}")
    return listed(reasons)


def _reaction_doubt(checks: Checks) -> str:
    """Why the model is not shown to notice what is added; empty if it is."""
    presence = _presence(checks)
    if not presence:
        return (
            "no check adds a sentence that should raise the score, so a model that reads nothing passes, too"
        )

    tried_enough = _claimable(presence)
    not_shown = [f for f in tried_enough if min(known_interval(f), default=-1.0) < REACTS]
    if not not_shown:
        # Checks on too few texts are a gap in what was tried, not a fault of the model.
        untried = len(presence) - len(tried_enough)
        if not untried:
            return ""
        few = f"fewer than {least_n('checks.fails')} texts"
        return f"{counted(untried, 'check')} of sentences on a symptom could be tried on {few}"

    def certain_reaction(reaction: Finding) -> float:
        return min(known_interval(reaction), default=-1.0)

    lowest = min(not_shown, key=certain_reaction)
    point = f"{topic_of(lowest)} ({lowest.where['check']}{where_named(lowest, checks.run.findings)})"
    return f"the model is not shown to react to {point}, reaction {plain(lowest, prose=True)}"


def choice(low: Finding, run: Run) -> str:
    """Whether the interval of a check that was picked from several allows for that; empty if it was not."""
    tested = sum(f.tested for f in checks_of(run))
    if not low.interval or tested < 2:
        return ""

    # Older runs hold only the interval of each check by itself.
    allows = "allows" if run.findings.where(measure=AMONG) else "does not allow"
    return f"; the range {allows} for the choice among {tested} checks"


def kept(check: Finding) -> float:
    """The largest likely share of texts that an edit leaves right; of an MFT check, of those right before."""
    if not harmed(check):
        return 1.0

    # Texts that were wrong before the edit are not held against it.
    right_before = check.counts.get("passed_unedited", check.n) / max(check.n, 1)
    highest_rate = max(known_interval(check), default=1.0)
    return min(1.0, highest_rate + 1 - right_before)


def harmed(check: Finding) -> bool:
    """Whether an edit does harm: a failed INV or DIR case, or an MFT rate shown to fall by the edit."""
    return check.value < 1 and ("passed_unedited" not in check.counts or "harmed" in check.flags)


def weakest(findings: Sequence[Finding]) -> Finding | None:
    """The check with the lowest upper end of its interval, so that few texts do not outweigh many.

    An MFT check is judged by what the edit costs: texts that are wrong unedited are no failure of the edit.
    In a sample, where some checks have more cases than others, the audit foresees the weakest of all cases.
    """

    def weakness(check: Finding) -> tuple[object, ...]:
        foreseen_as_weakest = harmed(check) and "weakest" in check.flags
        # Where the harm is the same: a check with a failure, then one that is not an MFT check.
        return (
            not foreseen_as_weakest,
            kept(check),
            check.value == 1,
            "passed_unedited" in check.counts,
            check.value,
            ends(check)[0],
        )

    tested = [check for check in findings if check.tested]
    return min(tested, key=weakness, default=None)


def _rivals(low: Finding, checks: Sequence[Finding], run: Run) -> str:
    """The checks that cannot be told apart from the one that is named; empty if all can."""
    other_checks = [f for f in checks if f is not low]
    as_weak = [f for f in other_checks if {"weakest", "maybe_weakest"} & set(f.flags)]
    if not as_weak:
        return ""

    # The likeliest rivals are named, the others counted.
    as_weak.sort(key=lambda f: (kept(f), f.value))
    names = [f.where["check"] + where_named(f, run.findings) for f in as_weak[:NAMED]]
    if len(as_weak) > NAMED:
        names.append(f"{len(as_weak) - NAMED:,} more")
    return f"; {listed(names)} may be as weak"


def unedited(check: Finding) -> str:
    """The words after a pass rate that say what the edit of an MFT check did; else empty."""
    effect = edit_effect(check)
    return f" after the edit, {effect}" if effect else ""


def edit_effect(check: Finding) -> str:
    """The share of an MFT check's texts that pass without the edit, and what the edit did; else empty."""
    passed_before = check.counts.get("passed_unedited")
    if passed_before is None:
        return ""
    effect = "made no clear difference"
    if "helped" in check.flags:
        effect = "helped"
    elif "harmed" in check.flags:
        effect = "did harm"
    return f"{percent(passed_before / check.n)} before: the edit {effect}"


def passing(finding: Finding) -> str:
    """The pass rate of a check in words: "61 % (59–63) of 1,990 texts pass"."""
    texts = counted(finding.n, "text")
    verb = "passes" if finding.n == 1 else "pass"
    return f"{rate(finding, prose=True)} of {texts} {verb}"


def named(finding: Finding, run: Run) -> str:
    """A check with its title and, where there are several, its model and corpus."""
    name = finding.where["check"]
    title = finding.where.get("title", "")
    if title:
        name += f" ({title})"
    return name + where_named(finding, run.findings)
