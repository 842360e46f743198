"""The sentences at the top: the verdict, what the model learned, what was tested and what was not."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.fairness_sentences import (
    gender_headline,
    groups_headline,
    groups_learned,
    unmarked_headlines,
)
from psycheck.report.headlines import (
    Headline,
    among_checks,
    blind,
    checks_headline,
    checks_of,
    choice,
    harmed,
    headline,
    named,
    passing,
    performance_headlines,
    sentence,
    unedited,
    weakest,
)
from psycheck.report.histories import history_headlines
from psycheck.report.numbers import count, decimal, ends, plain, rate
from psycheck.report.performance import KNOWN, distribution, is_performance
from psycheck.report.shelf import by, grouped
from psycheck.report.words import listed, name_of, natural, place_of, topic_of, where_named, why_untested
from psycheck.run import Run

STRONG = 0.3  # a rank-biserial correlation
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


def strongest(findings: Sequence[Finding]) -> Finding | None:
    """The check with the highest lower end of its interval."""
    tested = [finding for finding in findings if finding.tested]
    return max(tested, key=lambda f: (ends(f)[0], f.value), default=None)


def headlines(run: Run) -> list[str]:
    """The sentences of the verdict in their order."""
    return [one.words for one in chosen_headlines(run)]


def chosen_headlines(run: Run) -> list[Headline]:
    """Performance first, then the sentence with the largest certain share of failures."""
    checks = checks_headline(run)
    others = [
        checks,
        gender_headline(run),
        groups_headline(run),
        *history_headlines(run),
        *([] if checks else unmarked_headlines(run)),
    ]
    found = sorted((one for one in others if one is not None), key=lambda one: -one.least)
    return [*performance_headlines(run), *found] or [headline("run.nothing")]


def learned(run: Run) -> tuple[Sentence, ...]:
    """Sentences on pronouns, symptoms, another corpus, gender, calibration and, if it matters, length."""
    five = (_pronouns(run), _symptoms(run), _another_corpus(run), _gender(run), _calibration(run))
    return (*five, *_length(run))


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
    for checks in grouped(checks_of(run), place_of).values():
        if missing := sum(finding.counts.get("unanswered", 0) for finding in checks):
            cases = counted(sum(finding.counts.get("generated", 0) for finding in checks), "case")
            words = f"in {count(missing)} of {cases} of the checks"
            lines.append((words, checks[0], "; these neither pass nor fail"))
    return [
        sentence("tested.unanswered", missing=words, where=where_named(finding, run.findings), rest=rest)
        for words, finding, rest in lines
    ]


def sampled(run: Run) -> list[str]:
    """How many cases were asked, where a budget allowed for some only."""
    if not (budget := run.plan.get("budget")):
        return []
    asked, left = (sum(f.counts.get(name, 0) for f in checks_of(run)) for name in ("generated", "not_asked"))
    calls, cases = counted(budget, "call"), counted(asked + left, "case")
    return [sentence("tested.sampled", asked=count(asked), cases=cases, calls=calls)]


def untested(run: Run) -> list[str]:
    """Every check without a value, one line per reason."""
    checks = checks_of(run)
    missed = grouped((f for f in checks if not f.tested), lambda f: (f.where["check"], why_untested(f)))
    lines: dict[tuple[str, str], list[str]] = {}
    for (check, reason), findings in missed.items():
        everywhere = len(findings) == sum(f.where["check"] == check for f in checks)
        places = "" if everywhere else ", ".join(where_named(f, run.findings).strip(" ,") for f in findings)
        lines.setdefault((reason, f" ({places})" if places else ""), []).append(check)
    sentences = [
        sentence("tested.no_value", checks=listed(sorted(names, key=natural)), where=where, reason=reason)
        for (reason, where), names in lines.items()
    ]
    audits = {f.where.get("audit", "") for f in run.findings}
    missing = [words for audit, words in AUDITS.items() if audit not in audits]
    return [*sentences, sentence("tested.not_run", audits=listed(missing))] if missing else sentences


def _pronouns(run: Run) -> Sentence:
    mine = [f for f in among_checks(run) if f.where.get("topic") == "pronouns" and not f.where.get("symptom")]
    low, high = weakest(mine), strongest(mine)
    if low is None or high is None:
        return Sentence("Pronouns", sentence("learned.pronouns_untested"), "checks", False)
    if all(f.value == 1 for f in mine if f.tested):
        return _all_passed(run, "Pronouns", mine)
    words = {"point": named(low, run), "passing": passing(low), "unedited": unedited(low), "strongest": ""}
    words["choice"] = choice(low, run)
    if high is not low:
        figures = f"{rate(high, prose=True)} of {count(high.n)}"
        words["strongest"] = f"; the strongest is {named(high, run)}: {figures}"
    name = f"learned.pronouns_{'weakest' if harmed(low) else 'lowest'}"
    return Sentence("Pronouns", sentence(name, **words), "checks")


def _all_passed(run: Run, subject: str, checks: Sequence[Finding], **words: str) -> Sentence:
    """What it shows that all cases of some checks pass; only INV checks show that a decision stays."""
    tested = [f for f in checks if f.tested]
    telling = [f for f in tested if f.where.get("kind") == "INV" or subject != "Pronouns"]
    why = blind(run, tested)
    if not telling:
        why = "no check that expects an unchanged decision was tested"
    name = f"learned.{subject.lower()}_{'passed' if why else 'kept'}"
    number = counted(len(tested if why else telling), "check")
    return Sentence(subject, sentence(name, tested=number, why=why, **words), "checks")


def _symptoms(run: Run) -> Sentence:
    mine = [f for f in among_checks(run) if f.where.get("symptom")]
    low, high = weakest(mine), strongest(mine)
    if low is None or high is None:
        return Sentence("Symptoms", sentence("learned.symptoms_untested"), "checks", False)
    point = f"{topic_of(low)} ({low.where['check']}{where_named(low, run.findings)}, {passing(low)})"
    if low.value == 1:
        return _all_passed(run, "Symptoms", mine, point=point, choice=choice(low, run))
    least = below_mean = ""
    if high is not low:
        check = high.where["check"] + where_named(high, run.findings)
        figures = f"{rate(high, prose=True)} of {count(high.n)}"
        least = f"; the least missed is {topic_of(high)} ({check}, {figures})"
    if below := sum("below_dir_mean" in f.flags for f in mine):
        noun = "result" if len({place_of(f) for f in mine}) > 1 else "check"
        verb = "is" if below == 1 else "are"
        below_mean = f"; {below} of {counted(len(mine), noun)} {verb} below the mean of the DIR checks"
    words = {"point": point, "least": least, "choice": choice(low, run), "below": below_mean}
    return Sentence("Symptoms", sentence("learned.symptoms_missed", **words), "checks")


def _another_corpus(run: Run) -> Sentence:
    mine = [f for f in run.findings if is_performance(f) and f.tested]
    measure = next((m for m in HEADLINE if any(f.measure == m for f in mine)), "")
    figures = [f for f in mine if f.measure == measure]
    places = {place_of(finding) for finding in figures}
    subject = "Another corpus"
    if len({corpus for _, corpus in places}) < 2:
        return Sentence(subject, sentence("learned.corpora_untested"), "performance", False)
    # The widest gap between two corpora within one model; two models differ for other reasons.
    own = list(grouped(figures, by("model")).values())
    gaps = [(min(mine, key=lambda f: f.value), max(mine, key=lambda f: f.value)) for mine in own]
    low, high = max(gaps, key=lambda gap: gap[1].value - gap[0].value)
    best, worst = (f"{decimal(f.value, 2)} ({_full(f, run)}, n {count(f.n)})" for f in (high, low))
    ranges = "ranges" if len(own) == 1 else "varies most within one model,"
    words = {"measure": name_of("measures", low.measure), "ranges": ranges, "best": best, "worst": worst}
    return Sentence(subject, sentence("learned.corpora", **words), "performance")


def _gender(run: Run) -> Sentence:
    if pairs := gender_headline(run):
        parts = filter(None, (pairs.words[:1].lower() + pairs.words[1:-1], groups_learned(run)))
        return Sentence("Gender", sentence("learned.gender_pairs", parts="; ".join(parts)), "fairness")
    pronouns = [("INV", topic, "") for topic in ("pronouns", "gender")]
    swaps = [f for f in among_checks(run) if by("kind", "topic", "symptom")(f) in pronouns]
    groups = groups_learned(run) or sentence("learned.groups_not_run")
    low = weakest(swaps)
    if low is None:
        return Sentence("Gender", sentence("learned.gender_untested", groups=groups), "checks", False)
    kept = f"{rate(low, prose=True)} of {counted(low.n, 'text')} keep{'s its' if low.n == 1 else ' their'}"
    # Among equal rates, fewer texts only widen the interval: none of them is the lowest.
    tied = sum(swap.value == low.value for swap in swaps)
    least = f", least often in {named(low, run)}" if len(swaps) > 1 and tied == 1 else ""
    words = {"kept": kept, "least": least, "choice": choice(low, run), "groups": groups}
    return Sentence("Gender", sentence("learned.gender_checks", **words), "checks")


def _calibration(run: Run) -> Sentence:
    errors = [f for f in run.findings if f.measure == "ece" and set(f.where) <= KNOWN and f.tested]
    if not errors:
        return Sentence("Calibration", sentence("learned.calibration_untested"), "calibration", False)
    low = max(errors, key=lambda f: f.value)
    words = {"most": "at most " if len(errors) > 1 else "", "where": where_named(low, run.findings)}
    words |= {"error": plain(low, prose=True), "n": count(low.n)}
    name = f"learned.calibration{'_chance' if 'within_noise' in low.flags else ''}"
    drawn = any(f.measure == "reliability" for f in run.findings)
    return Sentence("Calibration", sentence(name, **words), "calibration" if drawn else "performance")


def _length(run: Run) -> list[Sentence]:
    """The strongest effect of length on failing, if it is strong and significant."""
    keys = ("model", "corpus", "suite", "label", "feature")
    mine = [f for f in run.findings if f.where.get("unit") == "text" and f.tested]
    found = {(f.measure, f.where.get("outcome", ""), by(*keys)(f)): f for f in mine}
    strong = []
    for (measure, _, place), f in found.items():
        p, (low, high) = found.get(("length_p", "", place)), ends(f)
        if measure == "length_effect" and p is not None and "significant" in p.flags and low * high > 0:
            strong += [(abs(f.value), place)] * (abs(f.value) >= STRONG)
    if not strong:
        return []
    _, place = max(strong)
    effect = found["length_effect", "", place]
    failed, passed = (found["length_median", side, place].value for side in ("failed", "passed"))
    words = {"more": "more" if effect.value > 0 else "fewer", "where": where_named(effect, run.findings)}
    words |= {"feature": name_of("features", effect.where["feature"]), "n": count(effect.n)}
    words |= {"failed": f"{failed:,.1f}", "passed": f"{passed:,.1f}", "effect": plain(effect, prose=True)}
    return [Sentence("Length", sentence("learned.length", **words), "length")]


def _full(finding: Finding, run: Run) -> str:
    trained = distribution(*place_of(finding), run.plan)
    return where_named(finding, run.findings).strip(" ,").removeprefix("on ") + (
        f", {trained}" if trained else ""
    )
