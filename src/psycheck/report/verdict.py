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
from psycheck.report.numbers import count, ends, plain, rate
from psycheck.report.performance import KNOWN, distribution, is_performance
from psycheck.report.words import (
    listed,
    name_of,
    natural,
    place_of,
    topic_of,
    where_named,
    why_untested,
)
from psycheck.run import Run

NOT_TESTED = "not tested in this run"
HEADLINE = ("macro_f1", "f1", "auc", "accuracy")
AUDITS = {
    "behaviour": "behaviour",
    "performance": "performance and calibration",
    "fairness": "fairness between groups",
}


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
    """The check with the lowest upper end of its interval, so that few texts do not outweigh many."""
    tested = [finding for finding in findings if finding.tested]
    return min(tested, key=lambda f: (ends(f)[1], f.value, ends(f)[0]), default=None)


def strongest(findings: Sequence[Finding]) -> Finding | None:
    """The check with the highest lower end of its interval."""
    tested = [finding for finding in findings if finding.tested]
    return max(tested, key=lambda f: (ends(f)[0], f.value), default=None)


def verdict(run: Run) -> str:
    """The weakest points, each with its interval and n: of the checks, between genders, between groups."""
    return " ".join(headlines(run))


def headlines(run: Run) -> list[str]:
    """The sentences of the verdict, the one with the largest certain share of failures first."""
    first = _weakest_point(run)
    parts = [first, gender_headline(run), groups_headline(run), *([] if first else unmarked_headlines(run))]
    found = sorted((part for part in parts if part is not None), key=lambda part: -part.least)
    words = [part.later or part.words if k else part.words for k, part in enumerate(found)]
    return words or ["No check and no performance measure was tested in this run."]


def _weakest_point(run: Run) -> Headline | None:
    """The weakest check or, without checks, the lowest performance."""
    checks = checks_of(run)
    low = weakest(checks)
    if low is not None:
        if low.value == 1:
            tested = counted(sum(finding.tested for finding in checks), "check")
            weak = f"{_named(low, run)}: {_passing(low)}"
            return Headline(f"No weakness found in {tested}; the least certain is {weak}.")
        name = _named(low, run)
        if low.where.get("symptom"):
            name = f"{topic_of(low)}{_where(low, run, 'in')}: {low.where['check']}"
        point = f"{name}{',' if low.where.get('symptom') else ':'} {_passing(low)}."
        return Headline(
            f"Fails most on {point}", 1 - ends(low)[1], later=f"Among the checks, fails most on {point}"
        )
    if checks:
        return Headline("No check could be tested; the reasons are below. This is not a pass.")
    figures = _headline(run)
    if not figures:
        return None
    low = _worst(figures)
    return Headline(
        f"Behaviour was not tested; lowest {name_of('measures', low.measure)}{_where(low, run)}: "
        f"{plain(low, prose=True)}, n {count(low.n)}.",
        1 - ends(low)[1],
    )


def learned(run: Run) -> tuple[Sentence, ...]:
    """Five sentences: pronouns, symptoms, another corpus, gender, calibration."""
    return (_pronouns(run), _symptoms(run), _another_corpus(run), _gender(run), _calibration(run))


def cautions(run: Run) -> list[str]:
    """Warnings about the corpora, with the command that shows or fixes the problem."""
    found = [f.where for f in run.findings if f.measure == "caution"]
    return [
        f"{w['corpus']}: {w['sentence']}" + (f" See: {w['command']}" if w["command"] else "") for w in found
    ]


def unanswered(run: Run) -> list[str]:
    """How many texts and cases have no usable answer, and what the figures use instead."""
    lines = []
    for finding in run.findings:
        missing, counts = finding.counts.get("unanswered", 0), finding.counts
        if missing and finding.measure == "accuracy":
            texts = f"to {count(missing)} of {counted(counts['annotated'], 'annotated text')}"
            lines.append((texts, finding, f"; performance is measured on the other {count(finding.n)}"))
        elif missing and finding.measure == "flip_rate":
            pairs = counted(counts["generated"] - counts["unchanged"], "gender pair")
            lines.append((f"in {count(missing)} of {pairs}", finding, ""))
    places: dict[tuple[str, str], list[Finding]] = {}
    for finding in checks_of(run):
        places.setdefault(place_of(finding), []).append(finding)
    for checks in places.values():
        if missing := sum(finding.counts.get("unanswered", 0) for finding in checks):
            cases = counted(sum(finding.counts.get("generated", 0) for finding in checks), "case")
            words = f"in {count(missing)} of {cases} of the checks"
            lines.append((words, checks[0], "; these neither pass nor fail"))
    return [
        f"The model gave no usable answer {words}{_where(finding, run)}{rest}."
        for words, finding, rest in lines
    ]


def untested(run: Run) -> list[str]:
    """Every check without a value, one line per reason."""
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
    sentences = [
        f"{listed(sorted(names, key=natural))}{f' ({places})' if places else ''}: {reason}."
        for (reason, places), names in lines.items()
    ]
    audits = {f.where.get("audit", "") for f in run.findings}
    missing = [words for audit, words in AUDITS.items() if audit not in audits]
    return [*sentences, f"Not part of this run: {listed(missing)}."] if missing else sentences


def _pronouns(run: Run) -> Sentence:
    mine = [f for f in checks_of(run) if f.where.get("topic") == "pronouns" and not f.where.get("symptom")]
    low, high = weakest(mine), strongest(mine)
    if low is None or high is None:
        return Sentence("Pronouns", NOT_TESTED + ".", "checks", False)
    if low.value == 1:
        words = f"no change of pronouns changed a decision in {counted(len(mine), 'check')}."
        return Sentence("Pronouns", words, "checks")
    words = f"the weakest check is {_named(low, run)}: {_passing(low)}"
    if high is not low:
        words += f"; the strongest is {_named(high, run)}: {rate(high, prose=True)} of {count(high.n)}"
    return Sentence("Pronouns", words + ".", "checks")


def _symptoms(run: Run) -> Sentence:
    mine = [f for f in checks_of(run) if f.where.get("symptom")]
    low, high = weakest(mine), strongest(mine)
    if low is None or high is None:
        return Sentence("Symptoms", NOT_TESTED + ".", "checks", False)
    named = f"{topic_of(low)} ({low.where['check']}{_where(low, run)}, {_passing(low)})"
    if low.value == 1:
        return Sentence("Symptoms", f"no sentence is missed; the least certain is {named}.", "checks")
    words = f"the most missed is {named}"
    if high is not low:
        words += f"; the least missed is {topic_of(high)} ({high.where['check']}{_where(high, run)}, "
        words += f"{rate(high, prose=True)} of {count(high.n)})"
    if below := sum("below_dir_mean" in f.flags for f in mine):
        noun = "result" if len({place_of(f) for f in mine}) > 1 else "check"
        verb = "is" if below == 1 else "are"
        words += f"; {below} of {counted(len(mine), noun)} {verb} below the mean of the DIR checks"
    return Sentence("Symptoms", words + ".", "checks")


def _another_corpus(run: Run) -> Sentence:
    figures = _headline(run)
    places = {place_of(finding) for finding in figures}
    subject = "Another corpus"
    if len({corpus for _, corpus in places}) < 2:
        return Sentence(subject, f"{NOT_TESTED}: it has only one corpus.", "performance", False)
    # The widest gap between two corpora within one model; two models differ for other reasons.
    models = dict.fromkeys(place_of(finding)[0] for finding in figures)
    own = [[f for f in figures if place_of(f)[0] == model] for model in models]
    low, high = max(
        ((_worst(mine), max(mine, key=lambda f: f.value)) for mine in own),
        key=lambda pair: pair[1].value - pair[0].value,
    )
    name = name_of("measures", low.measure)
    ranges = "ranges" if len(own) == 1 else "varies most within one model,"
    return Sentence(
        subject,
        f"{name} {ranges} from {plain(high, prose=True)} ({_full(high, run)}, n {count(high.n)}) "
        f"to {plain(low, prose=True)} ({_full(low, run)}, n {count(low.n)}).",
        "performance",
    )


def _gender(run: Run) -> Sentence:
    if judged_pairs(run):
        return Sentence("Gender", f"{pairs_learned(run)}.", "fairness")
    swaps = [
        f
        for f in checks_of(run)
        if f.where.get("kind") == "INV"
        and not f.where.get("symptom")
        and f.where.get("topic") in ("pronouns", "gender")
    ]
    groups = groups_learned(run) or f"a comparison of groups of authors was {NOT_TESTED}"
    low = weakest(swaps)
    if low is None:
        return Sentence("Gender", f"swapping he and she was {NOT_TESTED}; {groups}.", "checks", False)
    keep = "keeps its" if low.n == 1 else "keep their"
    words = f"{rate(low, prose=True)} of {counted(low.n, 'text')} {keep} decision when he and she are swapped"
    # Among equal rates, fewer texts only widen the interval: none of them is the lowest.
    tied = sum(swap.value == low.value for swap in swaps)
    least = f", least often in {_named(low, run)}" if len(swaps) > 1 and tied == 1 else ""
    return Sentence("Gender", f"{words}{least}; {groups}.", "checks")


def _calibration(run: Run) -> Sentence:
    errors = [f for f in run.findings if f.measure == "ece" and set(f.where) <= KNOWN and f.tested]
    if not errors:
        return Sentence("Calibration", NOT_TESTED + ".", "calibration", False)
    low = max(errors, key=lambda f: f.value)
    noise = ", which is within chance" if "within_noise" in low.flags else ""
    most = "at most " if len(errors) > 1 else ""
    return Sentence(
        "Calibration",
        f"scores and observed shares differ by {most}{plain(low, prose=True)} on average"
        f"{_where(low, run)} (expected calibration error, n {count(low.n)}){noise}.",
        "calibration" if any(f.measure == "reliability" for f in run.findings) else "performance",
    )


def _headline(run: Run) -> list[Finding]:
    """The findings of the first headline measure that the run has."""
    mine = [f for f in run.findings if is_performance(f) and f.tested]
    measure = next((m for m in HEADLINE if any(f.measure == m for f in mine)), "")
    return [finding for finding in mine if finding.measure == measure]


def _worst(figures: Sequence[Finding]) -> Finding:
    return min(figures, key=lambda f: f.value)  # of all headline measures, higher is better


def _passing(finding: Finding) -> str:
    texts = counted(finding.n, "text")
    return f"{rate(finding, prose=True)} of {texts} {'passes' if finding.n == 1 else 'pass'}"


def _named(finding: Finding, run: Run) -> str:
    title = finding.where.get("title", "")
    return finding.where["check"] + (f" ({title})" if title else "") + _where(finding, run)


def _full(finding: Finding, run: Run) -> str:
    trained = distribution(*place_of(finding), run.plan)
    return _where(finding, run).strip(" ,").removeprefix("on ") + (f", {trained}" if trained else "")


def _where(finding: Finding, run: Run, word: str = "on") -> str:
    return where_named(finding, run.findings, word)
