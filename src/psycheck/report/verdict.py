"""The sentences at the top: the verdict, what the model learned, what was tested and what was not."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.cautions import caution_headlines
from psycheck.report.display_names import (
    listed,
    name_of,
    natural,
    place_of,
    topic_of,
    where_named,
    why_untested,
)
from psycheck.report.fairness_sentences import (
    gender_headline,
    groups_headline,
    groups_learned,
    unmarked_headlines,
)
from psycheck.report.headlines import (
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
from psycheck.report.history_edits import history_headlines
from psycheck.report.numbers import count, decimal, ends, plain, rate
from psycheck.report.outside_audits import without_own
from psycheck.report.performance_tables import KNOWN, distribution, is_performance
from psycheck.report.sections import by, grouped

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
    return [headline.sentence for headline in headlines_of(run)]


def headlines_of(run: Run) -> tuple[Headline, ...]:
    """The verdict of an audit in its order: as the run holds it, or made now for a run that holds none."""
    return run.headlines or tuple(chosen_headlines(without_own(run)))


def chosen_headlines(run: Run) -> list[Headline]:
    """Cautions, performance, then the sentence with the largest certain share of failures first."""
    checks = checks_headline(run)
    candidates = [checks, gender_headline(run), groups_headline(run), *history_headlines(run)]
    if checks is None:
        candidates += unmarked_headlines(run)

    claims = [candidate for candidate in candidates if candidate is not None]
    claims.sort(key=lambda claim: -claim.least)
    tested = [*performance_headlines(run), *claims] or [headline("run.nothing")]
    # Before any figure that they put in doubt.
    return [*caution_headlines(run), *tested]


def learned(run: Run) -> tuple[Sentence, ...]:
    """Sentences on pronouns, symptoms, another corpus, gender, calibration and, if it matters, length."""
    five = (
        _pronouns(run),
        _symptoms(run),
        _another_corpus(run),
        _gender(run),
        _calibration(run),
    )
    return (*five, *_length(run))


def unanswered(run: Run) -> list[str]:
    """How many texts and cases have no usable answer, and what the figures use instead."""
    lines = []
    for finding in run.findings:
        counts = finding.counts
        missing = counts.get("unanswered", 0)
        if not missing:
            continue

        if finding.measure == "accuracy":
            texts = f"to {count(missing)} of {counted(counts['annotated'], 'annotated text')}"
            consequence = f"; performance is measured on the other {count(finding.n)}"
            lines.append(_unanswered_line(run, finding, texts, consequence))
        elif finding.measure == "flip_rate":
            # A text that the swap leaves as it is makes no pair.
            pairs = counted(counts["generated"] - counts["unchanged"], "gender pair")
            lines.append(_unanswered_line(run, finding, f"in {count(missing)} of {pairs}", ""))

    # One line for all checks of a place: a suite has dozens.
    for checks in grouped(checks_of(run), place_of).values():
        missing = sum(check.counts.get("unanswered", 0) for check in checks)
        generated = sum(check.counts.get("generated", 0) for check in checks)
        if missing:
            cases = f"in {count(missing)} of {counted(generated, 'case')} of the checks"
            lines.append(_unanswered_line(run, checks[0], cases, "; these neither pass nor fail"))
    return lines


def _unanswered_line(run: Run, finding: Finding, missing: str, consequence: str) -> str:
    return sentence(
        "tested.unanswered",
        missing=missing,
        where=where_named(finding, run.findings),
        rest=consequence,
    )


def sampled(run: Run) -> list[str]:
    """How many cases were asked, where a budget allowed for some only."""
    budget = run.plan.get("budget")
    if not budget:
        return []

    checks = checks_of(run)
    requested = sum(check.counts.get("generated", 0) for check in checks)
    not_requested = sum(check.counts.get("not_asked", 0) for check in checks)
    return [
        sentence(
            "tested.sampled",
            asked=count(requested),
            cases=counted(requested + not_requested, "case"),
            calls=counted(budget, "call"),
        )
    ]


def untested(run: Run) -> list[str]:
    """Every check without a value, one line per reason."""
    checks = checks_of(run)
    without_value = [check for check in checks if not check.tested]
    by_reason = grouped(without_value, lambda check: (check.where["check"], why_untested(check)))

    # Checks with the same reason at the same places share a line.
    lines: dict[tuple[str, str], list[str]] = {}
    for (name, reason), findings in by_reason.items():
        where = ""
        everywhere = len(findings) == sum(check.where["check"] == name for check in checks)
        if not everywhere:
            places = ", ".join(where_named(finding, run.findings).strip(" ,") for finding in findings)
            where = f" ({places})" if places else ""
        lines.setdefault((reason, where), []).append(name)

    sentences = [
        sentence(
            "tested.no_value",
            checks=listed(sorted(names, key=natural)),
            where=where,
            reason=reason,
        )
        for (reason, where), names in lines.items()
    ]

    # What was not run is not shown to be in order.
    audits = {finding.where.get("audit", "") for finding in run.findings}
    missing = [words for audit, words in AUDITS.items() if audit not in audits]
    if missing:
        sentences.append(sentence("tested.not_run", audits=listed(missing)))
    return sentences


def _pronouns(run: Run) -> Sentence:
    about_pronouns = [check for check in among_checks(run) if check.where.get("topic") == "pronouns"]
    checks = [check for check in about_pronouns if not check.where.get("symptom")]
    low = weakest(checks)
    high = strongest(checks)
    if low is None or high is None:
        return Sentence(
            "Pronouns",
            sentence("learned.pronouns_untested"),
            "checks",
            False,
        )
    if all(check.value == 1 for check in checks if check.tested):
        return _all_passed(run, "Pronouns", checks)

    strongest_named = ""
    if high is not low:
        figures = f"{rate(high, prose=True)} of {count(high.n)}"
        strongest_named = f"; the strongest is {named(high, run)}: {figures}"
    words = sentence(
        "learned.pronouns_weakest" if harmed(low) else "learned.pronouns_lowest",
        point=named(low, run),
        passing=passing(low),
        unedited=unedited(low),
        strongest=strongest_named,
        choice=choice(low, run),
    )
    return Sentence("Pronouns", words, "checks")


def _all_passed(run: Run, subject: str, checks: Sequence[Finding], **words: str) -> Sentence:
    """What it shows that all cases of some checks pass; only INV checks show that a decision stays."""
    tested = [f for f in checks if f.tested]
    telling = [f for f in tested if f.where.get("kind") == "INV" or subject != "Pronouns"]
    why = blind(run, tested)
    if not telling:
        why = "no check that expects an unchanged decision was tested"

    # "kept" claims that decisions stay, which only the telling checks support.
    claim = "passed" if why else "kept"
    name = f"learned.{subject.lower()}_{claim}"
    number = counted(len(tested if why else telling), "check")
    return Sentence(
        subject,
        sentence(
            name,
            tested=number,
            why=why,
            **words,
        ),
        "checks",
    )


def _symptoms(run: Run) -> Sentence:
    checks = [check for check in among_checks(run) if check.where.get("symptom")]
    low = weakest(checks)
    high = strongest(checks)
    if low is None or high is None:
        return Sentence(
            "Symptoms",
            sentence("learned.symptoms_untested"),
            "checks",
            False,
        )
    point = f"{topic_of(low)} ({low.where['check']}{where_named(low, run.findings)}, {passing(low)})"
    if low.value == 1:
        return _all_passed(
            run,
            "Symptoms",
            checks,
            point=point,
            choice=choice(low, run),
        )

    least_missed = ""
    if high is not low:
        check = high.where["check"] + where_named(high, run.findings)
        figures = f"{rate(high, prose=True)} of {count(high.n)}"
        least_missed = f"; the least missed is {topic_of(high)} ({check}, {figures})"

    below_mean = ""
    below = sum("below_dir_mean" in check.flags for check in checks)
    if below:
        # At several places a check counts several times.
        places = {place_of(check) for check in checks}
        noun = "result" if len(places) > 1 else "check"
        verb = "is" if below == 1 else "are"
        below_mean = f"; {below} of {counted(len(checks), noun)} {verb} below the mean of the DIR checks"
    words = sentence(
        "learned.symptoms_missed",
        point=point,
        least=least_missed,
        choice=choice(low, run),
        below=below_mean,
    )
    return Sentence("Symptoms", words, "checks")


def _another_corpus(run: Run) -> Sentence:
    subject = "Another corpus"
    tested = [f for f in run.findings if is_performance(f) and f.tested]
    measures = {finding.measure for finding in tested}
    measure = next((name for name in HEADLINE if name in measures), "")
    figures = [finding for finding in tested if finding.measure == measure]
    if len({place_of(figure)[1] for figure in figures}) < 2:
        return Sentence(
            subject,
            sentence("learned.corpora_untested"),
            "performance",
            False,
        )

    # The widest gap between two corpora within one model; two models differ for other reasons.
    gaps = []
    for figures_of_model in grouped(figures, by("model")).values():
        lowest = min(figures_of_model, key=lambda figure: figure.value)
        highest = max(figures_of_model, key=lambda figure: figure.value)
        gaps.append((lowest, highest))
    low, high = max(gaps, key=lambda gap: gap[1].value - gap[0].value)
    words = sentence(
        "learned.corpora",
        measure=name_of("measures", low.measure),
        ranges="ranges" if len(gaps) == 1 else "varies most within one model,",
        best=f"{decimal(high.value, 2)} ({_full(high, run)}, n {count(high.n)})",
        worst=f"{decimal(low.value, 2)} ({_full(low, run)}, n {count(low.n)})",
    )
    return Sentence(subject, words, "performance")


def _gender(run: Run) -> Sentence:
    pairs = gender_headline(run)
    if pairs is not None:
        # Without its capital and its full stop, the headline is a part of a longer sentence.
        on_pairs = pairs.sentence[:1].lower() + pairs.sentence[1:-1]
        parts = [part for part in (on_pairs, groups_learned(run)) if part]
        return Sentence("Gender", sentence("learned.gender_pairs", parts="; ".join(parts)), "fairness")

    # Without the fairness audit, checks that swap pronouns say something about gender.
    kinds_of_swaps = [("INV", "pronouns", ""), ("INV", "gender", "")]
    kind_of = by("kind", "topic", "symptom")
    swaps = [check for check in among_checks(run) if kind_of(check) in kinds_of_swaps]
    groups = groups_learned(run) or sentence("learned.groups_not_run")
    low = weakest(swaps)
    if low is None:
        return Sentence(
            "Gender",
            sentence("learned.gender_untested", groups=groups),
            "checks",
            False,
        )

    verb = "keeps its" if low.n == 1 else "keep their"
    unchanged = f"{rate(low, prose=True)} of {counted(low.n, 'text')} {verb}"
    # Among equal rates, fewer texts only widen the interval: none of them is the lowest.
    tied = sum(swap.value == low.value for swap in swaps)
    least = f", least often in {named(low, run)}" if len(swaps) > 1 and tied == 1 else ""
    words = {
        "kept": unchanged,
        "least": least,
        "choice": choice(low, run),
        "groups": groups,
    }
    return Sentence("Gender", sentence("learned.gender_checks", **words), "checks")


def _calibration(run: Run) -> Sentence:
    errors = [f for f in run.findings if f.measure == "ece" and set(f.where) <= KNOWN and f.tested]
    if not errors:
        return Sentence(
            "Calibration",
            sentence("learned.calibration_untested"),
            "calibration",
            False,
        )

    largest = max(errors, key=lambda error: error.value)
    words = {
        "most": "at most " if len(errors) > 1 else "",
        "where": where_named(largest, run.findings),
        "error": plain(largest, prose=True),
        "n": count(largest.n),
    }

    # Even a perfectly calibrated model has an error above 0 on a finite number of texts.
    within_noise = "within_noise" in largest.flags
    name = "learned.calibration_chance" if within_noise else "learned.calibration"

    # The section on calibration exists only where its curve can be drawn.
    drawn = any(finding.measure == "reliability" for finding in run.findings)
    anchor = "calibration" if drawn else "performance"
    return Sentence("Calibration", sentence(name, **words), anchor)


def _length(run: Run) -> list[Sentence]:
    """The strongest effect of length on failing, if it is strong and significant."""
    place = by(
        "model",
        "corpus",
        "suite",
        "label",
        "feature",
    )
    by_place = {}
    for finding in run.findings:
        if finding.where.get("unit") == "text" and finding.tested:
            by_place[finding.measure, finding.where.get("outcome", ""), place(finding)] = finding

    effects = [f for (measure, _, _), f in by_place.items() if measure == "length_effect"]
    strong = []
    for effect in effects:
        test = by_place.get(("length_p", "", place(effect)))
        if _is_strong(effect, test):
            strong.append(effect)
    if not strong:
        return []

    effect = max(strong, key=lambda effect: (abs(effect.value), place(effect)))
    failed = by_place["length_median", "failed", place(effect)]
    passed = by_place["length_median", "passed", place(effect)]
    words = sentence(
        "learned.length",
        more="more" if effect.value > 0 else "fewer",
        where=where_named(effect, run.findings),
        feature=name_of("features", effect.where["feature"]),
        n=count(effect.n),
        failed=f"{failed.value:,.1f}",
        passed=f"{passed.value:,.1f}",
        effect=plain(effect, prose=True),
    )
    return [Sentence("Length", words, "length")]


def _is_strong(effect: Finding, test: Finding | None) -> bool:
    """Whether an effect is large, significant, and has an interval without 0."""
    # With many texts the smallest effect is significant: its size must matter, too.
    significant = test is not None and "significant" in test.flags
    low, high = ends(effect)
    return significant and low * high > 0 and abs(effect.value) >= STRONG


def _full(finding: Finding, run: Run) -> str:
    """The place of a figure, and whether the model was trained on that corpus."""
    place = where_named(finding, run.findings).strip(" ,").removeprefix("on ")
    trained = distribution(*place_of(finding), run.plan)
    return f"{place}, {trained}" if trained else place
