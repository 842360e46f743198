"""The sentences at the top: the verdict, what the model learned, what was tested and what was not."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.fairness_sentences import (
    Headline,
    gender_headline,
    groups_headline,
    groups_learned,
    judged_pairs,
    pairs_learned,
    unmarked_headlines,
)
from psycheck.report.numbers import count, plain, rate
from psycheck.report.performance import KNOWN, distribution
from psycheck.report.words import (
    listed,
    lower_is_better,
    name_of,
    natural,
    place_of,
    place_said,
    topic_of,
    why_untested,
)
from psycheck.run import Run

NOT_TESTED = "not tested in this run"
HEADLINE = ("macro_f1", "f1", "auc", "accuracy")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One plain sentence on one subject, and the section that shows its figure."""

    subject: str
    words: str
    anchor: str
    tested: bool = True


def checks_of(run: Run) -> list[Finding]:
    """The pass rates of all checks, each once."""
    return [f for f in run.findings if f.measure == "pass_rate" and f.where.get("check")]


def weakest(findings: Sequence[Finding]) -> Finding | None:
    """The check that is weakest for certain: its interval ends lowest, so few texts do not outweigh many."""
    tested = [finding for finding in findings if finding.tested]
    return min(tested, key=lambda f: (_ends(f)[1], f.value, _ends(f)[0]), default=None)


def strongest(findings: Sequence[Finding]) -> Finding | None:
    """The check that is strongest for certain: its interval begins highest."""
    tested = [finding for finding in findings if finding.tested]
    return max(tested, key=lambda f: (_ends(f)[0], f.value), default=None)


def _ends(finding: Finding) -> tuple[float, float]:
    return finding.interval or (finding.value, finding.value)


def verdict(run: Run) -> str:
    """The weakest points, each with its interval and n: of the checks, between genders, between groups."""
    return " ".join(headlines(run))


def headlines(run: Run) -> list[str]:
    """The sentences of the verdict, the worst first: that with the largest share that fails for certain."""
    first = _weakest_point(run)
    parts = [first, gender_headline(run), groups_headline(run), *([] if first else unmarked_headlines(run))]
    said = sorted((part for part in parts if part is not None), key=lambda part: -part.least)
    words = [part.later or part.words if k else part.words for k, part in enumerate(said)]
    return words or ["No check and no performance measure was tested in this run."]


def _weakest_point(run: Run) -> Headline | None:
    """The weakest check, or else the lowest performance."""
    checks = checks_of(run)
    low = weakest(checks)
    if low is not None:
        tested = sum(finding.tested for finding in checks)
        said, least = _passing(low), 1 - _ends(low)[1]
        if low.value == 1:
            by = counted(tested, "check")
            return Headline(f"No weakness found by {by}; the least certain is {_named(low, run)}: {said}.")
        if low.where.get("symptom"):
            point = f"{topic_of(low)}{_where(low, run, 'in')}: {low.where['check']}, {said}."
        else:
            point = f"{_named(low, run)}: {said}."
        return Headline(f"Fails most on {point}", least, later=f"Of the checks, fails most on {point}")
    if checks:
        return Headline("No check could be tested: see below why. This is not a pass.")
    figures = _headline(run)
    if not figures:
        return None
    low = _worst(figures)
    return Headline(
        f"Behaviour was not tested; lowest {name_of('measures', low.measure)}{_where(low, run)}: "
        f"{plain(low, prose=True)}, n {count(low.n)}.",
        1 - _ends(low)[1],
    )


def learned(run: Run) -> tuple[Sentence, ...]:
    """Five sentences: pronouns, symptoms, another corpus, gender, calibration."""
    return (_pronouns(run), _symptoms(run), _another_corpus(run), _gender(run), _calibration(run))


def cautions(run: Run) -> list[str]:
    """What was noticed about the corpora themselves, with the command that shows or mends it."""
    said = []
    for finding in run.findings:
        if finding.measure == "caution":
            command = finding.where["command"]
            told = f"{finding.where['corpus']}: {finding.where['sentence']}"
            said.append(f"{told} See: {command}" if command else told)
    return said


def unanswered(run: Run) -> list[str]:
    """How many texts and cases have no usable answer, each with what the figures rest on instead."""
    said = []
    for finding in run.findings:
        missing = finding.counts.get("unanswered", 0)
        if missing and finding.measure == "accuracy":
            known, whole = finding.n, finding.counts["annotated"]
            said.append(
                f"The model gave no usable answer to {count(missing)} of {counted(whole, 'annotated text')}"
                f"{_where(finding, run)}; performance rests on {count(known)}."
            )
        elif missing and finding.measure == "flip_rate":
            pairs = counted(finding.counts["generated"] - finding.counts["unchanged"], "pair")
            said.append(
                f"The model gave no usable answer in {count(missing)} of {pairs} of wordings"
                f"{_where(finding, run)}."
            )
    for checks in _by_place(checks_of(run)):
        missing = sum(finding.counts.get("unanswered", 0) for finding in checks)
        cases = counted(sum(finding.counts.get("generated", 0) for finding in checks), "case")
        if missing:
            said.append(
                f"The model gave no usable answer in {count(missing)} of {cases} of the checks"
                f"{_where(checks[0], run)}; these neither pass nor fail."
            )
    return said


def _by_place(findings: Sequence[Finding]) -> list[list[Finding]]:
    places: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        places.setdefault(place_of(finding), []).append(finding)
    return list(places.values())


def untested(run: Run) -> list[str]:
    """Every check without a value, with the reason, one line a reason."""
    checks = checks_of(run)
    missed: dict[tuple[str, str], list[Finding]] = {}
    for finding in checks:
        if not finding.tested:
            missed.setdefault((finding.where["check"], why_untested(finding)), []).append(finding)
    lines: dict[tuple[str, str], list[str]] = {}
    for (check, reason), findings in missed.items():
        everywhere = len(findings) == sum(f.where["check"] == check for f in checks)
        places = "" if everywhere else ", ".join(_where(f, run).strip(" ,") for f in findings)
        lines.setdefault((reason, places), []).append(check)
    said = [
        f"{listed(sorted(names, key=natural))}{f' ({places})' if places else ''}: {reason}."
        for (reason, places), names in lines.items()
    ]
    audits = {f.where.get("audit", "") for f in run.findings}
    named = {
        "behaviour": "behaviour",
        "performance": "performance and calibration",
        "fairness": "fairness between groups",
    }
    missing = [words for audit, words in named.items() if audit not in audits]
    if missing:
        said.append(f"Not part of this run: {listed(missing)}.")
    return said


def _pronouns(run: Run) -> Sentence:
    mine = [f for f in checks_of(run) if f.where.get("topic") == "pronouns" and not f.where.get("symptom")]
    low, high = weakest(mine), strongest(mine)
    if low is None or high is None:
        return Sentence("Pronouns", NOT_TESTED + ".", "checks", False)
    if low.value == 1:
        return Sentence(
            "Pronouns", f"no change of pronoun moved the decision in {counted(len(mine), 'check')}.", "checks"
        )
    said = f"the weakest is {_named(low, run)}: {_passing(low)}"
    if high is not low:
        said += f"; the strongest is {_named(high, run)}: {rate(high, prose=True)} of {count(high.n)}"
    return Sentence("Pronouns", said + ".", "checks")


def _symptoms(run: Run) -> Sentence:
    mine = [f for f in checks_of(run) if f.where.get("symptom")]
    low, high = weakest(mine), strongest(mine)
    if low is None or high is None:
        return Sentence("Symptoms", NOT_TESTED + ".", "checks", False)
    named = f"{topic_of(low)} ({low.where['check']}{_where(low, run)}, {_passing(low)})"
    if low.value == 1:
        return Sentence("Symptoms", f"no sentence is missed; the least certain is the {named}.", "checks")
    said = f"misses most the {named}"
    if high is not low:
        said += f" and least the {topic_of(high)} ({high.where['check']}{_where(high, run)}, "
        said += f"{rate(high, prose=True)} of {count(high.n)})"
    below = sum("below_dir_mean" in f.flags for f in mine)
    if below:
        several = len({place_of(f) for f in mine}) > 1
        noun = counted(len(mine), "result" if several else "check")
        said += f"; {below} of {noun} {'lies' if below == 1 else 'lie'} below the mean of the DIR checks"
    return Sentence("Symptoms", said + ".", "checks")


def _another_corpus(run: Run) -> Sentence:
    figures = _headline(run)
    places = {place_of(finding) for finding in figures}
    subject = "Another corpus"
    if len({corpus for _, corpus in places}) < 2:
        return Sentence(subject, f"{NOT_TESTED}: there is one corpus only.", "performance", False)
    # Within one model: the widest gap between two corpora; two models differ for other reasons.
    models = dict.fromkeys(place_of(finding)[0] for finding in figures)
    own = [[f for f in figures if place_of(f)[0] == model] for model in models]
    low, high = max(
        ((_worst(mine), _best(mine)) for mine in own), key=lambda pair: abs(pair[1].value - pair[0].value)
    )
    name = name_of("measures", low.measure)
    ranges = "ranges" if len(own) == 1 else "of one model ranges most"
    return Sentence(
        subject,
        f"{name} {ranges} from {plain(high, prose=True)} ({_full(high, run)}, n {count(high.n)}) "
        f"to {plain(low, prose=True)} ({_full(low, run)}, n {count(low.n)}).",
        "performance",
    )


def _gender(run: Run) -> Sentence:
    swaps = [
        f
        for f in checks_of(run)
        if f.where.get("kind") == "INV"
        and not f.where.get("symptom")
        and f.where.get("topic") in ("pronouns", "gender")
    ]
    if judged_pairs(run):
        return Sentence("Gender", f"{pairs_learned(run)}.", "fairness")
    groups = groups_learned(run) or "a comparison of groups of authors was " + NOT_TESTED
    low = weakest(swaps)
    if low is None:
        return Sentence("Gender", f"swapping he and she was {NOT_TESTED}; {groups}.", "checks", False)
    keep = "keeps its" if low.n == 1 else "keep their"
    said = f"{rate(low, prose=True)} of {counted(low.n, 'text')} {keep} decision when he and she are swapped"
    # Few texts widen the interval of one of several equal rates: none of those is the least.
    tied = sum(swap.value == low.value for swap in swaps)
    least = f", least in {_named(low, run)}" if len(swaps) > 1 and tied == 1 else ""
    return Sentence("Gender", f"{said}{least}; {groups}.", "checks")


def _calibration(run: Run) -> Sentence:
    errors = [f for f in run.findings if f.measure == "ece" and set(f.where) <= KNOWN and f.tested]
    if not errors:
        return Sentence("Calibration", NOT_TESTED + ".", "calibration", False)
    low = max(errors, key=lambda f: f.value)
    noise = ", no more than chance gives" if "within_noise" in low.flags else ""
    most = "at most " if len(errors) > 1 else ""
    return Sentence(
        "Calibration",
        f"scores and observed shares differ by {most}{plain(low, prose=True)} on average"
        f"{_where(low, run)} (expected calibration error, n {count(low.n)}){noise}.",
        "calibration" if any(f.measure == "reliability" for f in run.findings) else "performance",
    )


def _headline(run: Run) -> list[Finding]:
    """The findings of the first headline measure that the run has."""
    mine = [
        f
        for f in run.findings
        if f.where.get("audit") == "performance" and set(f.where) <= KNOWN and f.tested
    ]
    measure = next((m for m in HEADLINE if any(f.measure == m for f in mine)), "")
    return [finding for finding in mine if finding.measure == measure]


def _worst(figures: Sequence[Finding]) -> Finding:
    return min(figures, key=lambda f: -f.value if lower_is_better(f.measure) else f.value)


def _best(figures: Sequence[Finding]) -> Finding:
    return max(figures, key=lambda f: -f.value if lower_is_better(f.measure) else f.value)


def _passing(finding: Finding) -> str:
    texts = counted(finding.n, "text")
    return f"{rate(finding, prose=True)} of {texts} {'passes' if finding.n == 1 else 'pass'}"


def _named(finding: Finding, run: Run) -> str:
    title = finding.where.get("title", "")
    return finding.where["check"] + (f" ({title})" if title else "") + _where(finding, run)


def _full(finding: Finding, run: Run) -> str:
    where = distribution(*place_of(finding), run.plan)
    return _where(finding, run).strip(" ,").removeprefix("on ") + (f", {where}" if where else "")


def _where(finding: Finding, run: Run, word: str = "on") -> str:
    return place_said(finding, run.findings, word)
