"""The sentences at the top: the verdict, what the model learned, what was tested and what was not."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, plain, rate
from psycheck.report.performance import KNOWN, distribution
from psycheck.report.words import (
    listed,
    lower_is_better,
    name_of,
    natural,
    place_names,
    place_of,
    swapped_words,
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
    """One sentence that names the weakest point with its interval and n."""
    checks = checks_of(run)
    low = weakest(checks)
    if low is not None:
        tested = sum(finding.tested for finding in checks)
        said = _passing(low)
        if low.value == 1:
            by = counted(tested, "check")
            return f"No weakness found by {by}; the least certain is {_named(low, run)}: {said}."
        if low.where.get("symptom"):
            return f"Fails most on {topic_of(low)}{_where(low, run, 'in')}: {low.where['check']}, {said}."
        return f"Fails most on {_named(low, run)}: {said}."
    if checks:
        return "No check could be tested: see below why. This is not a pass."
    figures = _headline(run)
    if figures:
        low = _worst(figures)
        return (
            f"Behaviour was not tested; lowest {name_of('measures', low.measure)}{_where(low, run)}: "
            f"{plain(low, prose=True)}, n {count(low.n)}."
        )
    return "No check and no performance measure was tested in this run."


def learned(run: Run) -> tuple[Sentence, ...]:
    """Five sentences: pronouns, symptoms, another corpus, gender, calibration."""
    return (_pronouns(run), _symptoms(run), _another_corpus(run), _gender(run), _calibration(run))


def cautions(run: Run) -> list[str]:
    """What was noticed about the corpora themselves, with the command that shows or mends it."""
    said = [finding for finding in run.findings if finding.measure == "caution"]
    return [f"{f.where['corpus']}: {f.where['sentence']} See: {f.where['command']}" for f in said]


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
    said = f"misses most the {topic_of(low)} ({low.where['check']}{_where(low, run)}, {_passing(low)})"
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
    pairs = [f for f in run.findings if f.measure == "flip_rate" and f.where.get("audit") == "fairness"]
    if any(f.tested for f in pairs):
        return _swapped(run, [f for f in pairs if f.tested])
    groups = _groups(run) or "a comparison of groups of authors was " + NOT_TESTED
    low = weakest(swaps)
    if low is None:
        return Sentence("Gender", f"swapping he and she was {NOT_TESTED}; {groups}.", "checks", False)
    keep = "keeps its" if low.n == 1 else "keep their"
    said = f"{rate(low, prose=True)} of {counted(low.n, 'text')} {keep} decision when he and she are swapped"
    # Few texts widen the interval of one of several equal rates: none of those is the least.
    tied = sum(swap.value == low.value for swap in swaps)
    least = f", least in {_named(low, run)}" if len(swaps) > 1 and tied == 1 else ""
    return Sentence("Gender", f"{said}{least}; {groups}.", "checks")


def _swapped(run: Run, pairs: Sequence[Finding]) -> Sentence:
    """The pairs that flip most for certain, who is missed less in them, and what groups meet."""
    most = max(pairs, key=lambda f: (_ends(f)[0], f.value))
    change = "changes its" if most.n == 1 else "change their"
    what = swapped_words(most)
    said = f"{rate(most, prose=True)} of {counted(most.n, 'text')} {change} decision when {what} are swapped"
    said += _where(most, run)
    same = ("model", "corpus", "label", "unit")
    beside = {
        f.measure: f for f in run.findings if all(f.where.get(key) == most.where.get(key) for key in same)
    }
    found, moved = beside.get("fnr_ratio"), beside.get("score_difference")
    favoured = "" if found is None else next((f for f in found.flags if f.startswith("favours_")), "")
    if found is not None and favoured not in ("", "favours_neither"):
        said += f"; the {favoured.removeprefix('favours_')} wording is missed less"
        said += f" (false negative rate ratio {plain(found, prose=True)}, n {count(found.n)})"
    adjusted = beside.get("score_difference_p_holm")
    if moved is not None and adjusted is not None and "significant" in adjusted.flags:
        said += f"; the female wording scores {'higher' if moved.value > 0 else 'lower'}"
        said += f" (mean difference {plain(moved, prose=True)}, n {count(moved.n)})"
    groups = _groups(run)
    return Sentence("Gender", f"{said}{f'; {groups}' if groups else ''}.", "fairness")


def _groups(run: Run) -> str:
    """Which groups of the corpus the model treats apart, after Holm's correction."""
    mine = [f for f in run.findings if f.where.get("unit") == "groups" and f.where.get("audit") == "fairness"]
    if not mine:
        return ""
    met: dict[str, dict[str, None]] = {}
    for f in mine:
        if f.measure.endswith("_p_holm") and "significant" in f.flags:
            against = "" if f.where["versus"] == "the rest" else f" against {f.where['versus']}"
            met.setdefault(f.where["column"], {})[f.where["group"] + against] = None
    apart = [f"{column} ({listed(list(groups))})" for column, groups in met.items()]
    columns = listed(list(dict.fromkeys(f.where["column"] for f in mine)))
    if not apart:
        return f"groups by {columns} are not told apart after Holm's correction"
    return f"groups differ by {listed(apart)} after Holm's correction"


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
    """Which model and corpus, said only where the run has several; and the label where it has several."""
    places = list(
        dict.fromkeys(place_of(f) for f in run.findings if all(place_of(f)) and "by" not in f.where)
    )
    labels = {f.where["label"] for f in run.findings if f.where.get("label", "all") != "all"}
    said = ""
    if len(places) > 1 and place_of(finding) in places:
        name = place_names(places)[place_of(finding)]
        several_models = len({model for model, _ in places}) > 1
        said = f", {name}" if several_models else f" {word} {name}"
    if len(labels) > 1 and finding.where.get("label"):
        said += f", label {finding.where['label']}"
    return said
