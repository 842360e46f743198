"""What the model learned, in five plain sentences, each with the section that shows its figure."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.check_claims import (
    alike_doubt,
    among_checks,
    choice,
    harmed,
    named,
    passing,
    praise_doubt,
    unedited,
    weakest,
)
from psycheck.report.display_names import name_of, place_of, topic_of, where_named
from psycheck.report.gender_claims import gender_headlines
from psycheck.report.group_claims import groups_learned
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, decimal, ends, plain, rate
from psycheck.report.performance_tables import KNOWN, distribution, is_performance
from psycheck.report.sections import by, grouped

STRONG = 0.3  # a rank-biserial correlation
HEADLINE = ("macro_f1", "f1", "auc", "accuracy")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One plain sentence on one subject, and the section that shows its figure."""

    subject: str
    words: str
    anchor: str
    tested: bool = True


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


def strongest(findings: Sequence[Finding]) -> Finding | None:
    """The check with the highest lower end of its interval."""
    tested = [finding for finding in findings if finding.tested]
    return max(
        tested,
        key=lambda f: (ends(f)[0], f.value),
        default=None,
    )


def _pronouns(run: Run) -> Sentence:
    about_pronouns = [check for check in among_checks(run) if check.where.get("topic") == "pronouns"]
    # A check on a symptom that is worded with a pronoun belongs to the symptoms.
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
    # A sentence that changes nothing is not missed only where the model is shown to notice sentences.
    why = alike_doubt(run, tested) if subject == "Pronouns" else praise_doubt(run)
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
        of_all = counted(len(checks), noun)
        below_mean = f"; {below} of {of_all} {verb} below the mean of the DIR checks"
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
    # The first that the run has: figures of two measures are not compared.
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
    # Without its capital and its full stop, the headline is a part of a longer sentence.
    on_pairs = []
    for pairs in gender_headlines(run):
        first_letter = pairs.sentence[:1].lower()
        on_pairs.append(first_letter + pairs.sentence[1:-1])
    if on_pairs:
        parts = [part for part in (*on_pairs, groups_learned(run)) if part]
        joined = "; ".join(parts)
        return Sentence("Gender", sentence("learned.gender_pairs", parts=joined), "fairness")

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
    least = ""
    if len(swaps) > 1 and tied == 1:
        least = f", least often in {named(low, run)}"
    words = {
        "kept": unchanged,
        "least": least,
        "choice": choice(low, run),
        "groups": groups,
    }
    return Sentence("Gender", sentence("learned.gender_checks", **words), "checks")


def _calibration(run: Run) -> Sentence:
    tested = [f for f in run.findings if f.measure == "ece" and f.tested]
    # With more keys it is the error of a group, or of one length.
    errors = [error for error in tested if set(error.where) <= KNOWN]
    if not errors:
        return Sentence(
            "Calibration",
            sentence("learned.calibration_untested"),
            "calibration",
            False,
        )

    # The worst place stands for all: calibration elsewhere does not mend it.
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
