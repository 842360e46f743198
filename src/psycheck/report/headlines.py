"""The sentences of headlines.toml, and the choice of those on performance and checks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import listed, place_of, topic_of, where_named, words_of
from psycheck.report.numbers import count, decimal, ends, known_interval, percent, plain, rate
from psycheck.report.performance_tables import is_performance

OVER = "accuracy_over_trivial"
AMONG = "pass_rate_among_checks"
RANKS = ("constant", "worse", "not_better", "one_class", "better")  # the worst first
ALPHA = 0.05
RIVALS = 3  # checks that may be as weak, by name
MODELS = 3  # sentences on performance, one per model


def headline(rule: str, behind: Iterable[Finding] = (), least: float = 0.0, /, **values: str) -> Headline:
    """A sentence of headlines.toml with its values; `behind` are the findings that it is made from."""
    entry = _entry(rule)
    return Headline(
        rule=rule,
        sentence=str(entry["words"]).format(**values),
        severity=entry["severity"],
        remedy=str(entry["remedy"]),
        figures=tuple(figure_of(finding) for finding in behind),
        least=least,
    )


def sentence(rule: str, /, **values: str) -> str:
    """The words of a sentence of headlines.toml with its values."""
    return headline(rule, **values).sentence


def figure_of(finding: Finding) -> Mapping[str, str]:
    """How a headline names a finding behind it: its measure and where it was measured."""
    return {"measure": finding.measure, **finding.where}


def _entry(rule: str) -> dict[str, Any]:
    kind, _, name = rule.partition(".")
    entry: dict[str, Any] = words_of("headlines")[kind][name]
    return entry


def reference() -> str:
    """The text of docs/reference/headlines.md."""
    kinds = dict(words_of("headlines"))
    lines = [
        kinds.pop("preface").lstrip(),
        "| rule | sentence | when | severity | remedy |",
        "|---|---|---|---|---|",
    ]
    for kind, entries in kinds.items():
        for name, entry in entries.items():
            cells = (
                f"`{kind}.{name}`",
                entry["words"],
                entry["when"],
                entry["severity"],
                entry["remedy"],
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def performance_headlines(run: Run) -> list[Headline]:
    """Accuracy against the best trivial answer: the worst corpus and label of each model, the worst first."""
    tested = [f for f in run.findings if f.measure == OVER and f.tested]
    differences = [f for f in tested if is_performance(f)]
    if len(differences) > 1:
        differences = _allowing_for_the_choice(differences, run)

    # Sorted from the best to the worst, the last of each model stays.
    worst_of_model = {place_of(f)[0]: f for f in sorted(differences, key=_rank, reverse=True)}
    worst_first = sorted(worst_of_model.values(), key=_rank)
    return [_performance_headline(worst, differences) for worst in worst_first[:MODELS]]


def _allowing_for_the_choice(differences: Sequence[Finding], run: Run) -> list[Finding]:
    """The differences, without an interval where Holm's correction does not allow for picking the worst."""
    adjusted = run.findings.where(measure=f"{OVER}_p_holm")
    by_chance = [test.where for test in adjusted if test.value >= ALPHA]
    return [replace(f, interval=None) if f.where in by_chance else f for f in differences]


def _performance_headline(worst: Finding, differences: Sequence[Finding]) -> Headline:
    # The place and the label are named only where the reader could confuse them with others.
    places = {place_of(f) for f in differences}
    labels = {f.where.get("label") for f in differences}
    subject = " on ".join(place_of(worst)) if len(places) > 1 else "The model"
    if len(labels) > 1:
        subject += f", label {worst.where['label']},"

    counts = worst.counts
    annotated_1 = counts["tp"] + counts["fn"]
    units = counts.get("units", worst.n)
    texts = count(worst.n)
    if units < worst.n:
        texts += f" in {count(units)} independent units"

    # An interval of one difference does not allow for picking it from several.
    printed = worst if len(differences) == 1 else replace(worst, interval=None)
    return headline(
        f"performance.{RANKS[_rank(worst)[0]]}",
        [worst],
        subject=subject,
        same=_same_for_all(worst),
        answer="1" if 2 * annotated_1 >= worst.n else "0",
        accuracy=decimal(counts["right"] / worst.n),
        trivial=decimal(counts["trivial_right"] / worst.n),
        difference=plain(printed, prose=True),
        n=texts,
    )


def _rank(over: Finding) -> tuple[int, float]:
    """How good a model is against the trivial answer, the worst first."""
    # Without an interval nothing is shown: one that holds 0 says so.
    low, high = known_interval(over) or (-1.0, 1.0)
    one_class = over.counts["trivial_right"] == over.n
    # In the order of RANKS; the last always holds.
    holds = (
        bool(_same_for_all(over)),
        high < 0,
        low <= 0 and not one_class,
        one_class,
        True,
    )
    return holds.index(True), over.value


def _same_for_all(over: Finding) -> str:
    """What a model gives every text, its "score" or (texts of both classes) its "decision"; else empty."""
    if "constant" in over.flags and over.n > 1:
        return "score"

    # On texts of one class, one decision for all may simply be right.
    decided_1 = over.counts["tp"] + over.counts["fp"]
    both_classes = over.counts["trivial_right"] < over.n
    return "decision" if decided_1 in (0, over.n) and both_classes else ""


def same_for_all(run: Run) -> dict[tuple[str, str], str]:
    """The model and corpus of every model that gives all texts the same score or decision, and which."""
    differences = [f for f in run.findings if f.measure == OVER and f.tested]
    same = {place_of(f): _same_for_all(f) for f in differences if _same_for_all(f)}

    cases = run.tables.get("cases")
    # Corpora without annotations have no accuracy: there the scores of the unedited texts tell.
    if not differences and cases is not None:
        spread = pl.col("before").max() - pl.col("before").min()
        places = cases.group_by(pl.col("model", "corpus").cast(pl.String))
        alike = places.agg(spread == 0, pl.col("id").n_unique()).filter("before", pl.col("id") > 1)
        same |= dict.fromkeys(alike.select("model", "corpus").iter_rows(), "score")
    return same


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


def checks_headline(run: Run) -> Headline | None:
    """The weakest check, or what the passed checks show."""
    checks = among_checks(run)
    low = weakest(checks)
    if low is None:
        return headline("checks.untested") if checks else None

    tested = sum(f.tested for f in checks)
    values = {
        "point": f"{named(low, run)}:",
        "passing": passing(low),
        "unedited": unedited(low),
        "choice": choice(low, run),
        "rivals": rivals(low, checks, run),
        "tested": counted(tested, "tested check" if tested < len(checks) else "check"),
    }
    # Readers know symptoms, not the numbers of checks: the symptom comes first.
    if low.where.get("symptom") and low.value < 1:
        place = where_named(low, run.findings, "in")
        values["point"] = f"{topic_of(low)}{place}: {low.where['check']},"

    if harmed(low):
        return headline(
            "checks.fails",
            [low],
            1 - kept(low),
            **values,
        )

    # A model that answers every text alike passes all checks, and has learned nothing.
    doubt = blind(run, checks)
    if doubt:
        return headline(
            "checks.no_evidence",
            [low],
            doubt=doubt,
            **values,
        )

    rule = "checks.none_found" if low.value == 1 else "checks.not_harmed"
    return headline(rule, [low], **values)


def rivals(low: Finding, checks: Sequence[Finding], run: Run) -> str:
    """The checks that cannot be told apart from the one that is named; empty if all can."""
    other_checks = [f for f in checks if f is not low]
    as_weak = [f for f in other_checks if {"weakest", "maybe_weakest"} & set(f.flags)]
    if not as_weak:
        return ""

    as_weak.sort(key=lambda f: (kept(f), f.value))
    names = [f.where["check"] + where_named(f, run.findings) for f in as_weak[:RIVALS]]
    if len(as_weak) > RIVALS:
        names.append(f"{len(as_weak) - RIVALS:,} more")
    return f"; {listed(names)} may be as weak"


def blind(run: Run, checks: Sequence[Finding]) -> str:
    """Why passed checks are not evidence: "m gives every text the same score"; empty if they may be."""
    same = same_for_all(run)
    models = {place_of(f)[0] for f in checks}
    same_of_model = {place_of(f)[0]: same[place_of(f)] for f in checks if place_of(f) in same}
    reasons = []
    for model, what in same_of_model.items():
        name = model if len(models) > 1 else "the model"
        reasons.append(f"{name} gives every text the same {what}")
    return listed(reasons)


def unedited(check: Finding) -> str:
    """The share of an MFT check's texts that pass without the edit, and what the edit did; else empty."""
    passed_before = check.counts.get("passed_unedited")
    if passed_before is None:
        return ""
    effect = "made no clear difference"
    if "helped" in check.flags:
        effect = "helped"
    elif "harmed" in check.flags:
        effect = "did harm"
    return f" after the edit, {percent(passed_before / check.n)} before: the edit {effect}"


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
