"""The sentences of headlines.toml, and the choice of those on performance and checks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, decimal, ends, known_interval, percent, plain, rate
from psycheck.report.performance import is_performance
from psycheck.report.words import listed, place_of, topic_of, where_named, words_of
from psycheck.run import Run

OVER = "accuracy_over_trivial"
AMONG = "pass_rate_among_checks"
RANKS = ("constant", "worse", "not_better", "one_class", "better")  # the worst first
ALPHA = 0.05
RIVALS = 3  # checks that may be as weak, by name
MODELS = 3  # sentences on performance, one per model


@dataclass(frozen=True, slots=True)
class Headline:
    """One sentence of the verdict.

    `name` is its entry in headlines.toml, `kind` the first part of it; `alarm` marks the claim of a weakness
    or difference. Sentences are sorted by `least`, the share that certainly fails.
    """

    name: str
    kind: str
    words: str
    alarm: bool
    least: float = 0.0


def headline(name: str, least: float = 0.0, /, **values: str) -> Headline:
    """A sentence of headlines.toml with its figures."""
    kind, _, which = name.partition(".")
    entry = words_of("headlines")[kind][which]
    return Headline(name, kind, str(entry["words"]).format(**values), bool(entry["alarm"]), least)


def sentence(name: str, /, **values: str) -> str:
    """The words of a sentence of headlines.toml with its figures."""
    return headline(name, **values).words


def reference() -> str:
    """The text of docs/reference/headlines.md."""
    kinds = dict(words_of("headlines"))
    lines = [kinds.pop("preface").lstrip(), "| sentence | words | when | alarm |", "|---|---|---|---|"]
    for kind, entries in kinds.items():
        for name, e in entries.items():
            alarm = "yes" if e["alarm"] else "no"
            lines.append(f"| `{kind}.{name}` | {e['words']} | {e['when']} | {alarm} |")
    return "\n".join(lines) + "\n"


def performance_headlines(run: Run) -> list[Headline]:
    """Accuracy against the best trivial answer: the worst corpus and label of each model, the worst first."""
    over = [f for f in run.findings if f.measure == OVER and f.tested and is_performance(f)]
    if len(over) > 1:  # the worst is picked: a difference counts if Holm's correction allows for that
        chance = [f.where for f in run.findings.where(measure=f"{OVER}_p_holm") if f.value >= ALPHA]
        over = [replace(f, interval=None) if f.where in chance else f for f in over]
    worst = {place_of(f)[0]: f for f in sorted(over, key=_rank, reverse=True)}  # the last of a model stays
    several, labels = len(set(map(place_of, over))) > 1, {f.where.get("label") for f in over}
    out = []
    for f in sorted(worst.values(), key=_rank)[:MODELS]:
        counts, units = f.counts, f.counts.get("units", f.n)
        subject = " on ".join(place_of(f)) if several else "The model"
        words = {
            "subject": subject + (f", label {f.where['label']}," if len(labels) > 1 else ""),
            "same": _same_for_all(f),
            "answer": "1" if 2 * (counts["tp"] + counts["fn"]) >= f.n else "0",
            "accuracy": decimal(counts["right"] / f.n),
            "trivial": decimal(counts["trivial_right"] / f.n),
            "difference": plain(f if len(over) == 1 else replace(f, interval=None), prose=True),
            "n": count(f.n) + (f" in {count(units)} independent units" if units < f.n else ""),
        }
        out.append(headline(f"performance.{RANKS[_rank(f)[0]]}", **words))
    return out


def _rank(over: Finding) -> tuple[int, float]:
    """How good a model is against the trivial answer, the worst first."""
    low, high = known_interval(over) or (-1.0, 1.0)
    one_class = over.counts["trivial_right"] == over.n
    # In the order of RANKS; the last always holds.
    holds = (bool(_same_for_all(over)), high < 0, low <= 0 and not one_class, one_class, True)
    return holds.index(True), over.value


def _same_for_all(over: Finding) -> str:
    """What a model gives every text, its "score" or (texts of both classes) its "decision"; else empty."""
    if "constant" in over.flags and over.n > 1:
        return "score"
    one_decision = over.counts["tp"] + over.counts["fp"] in (0, over.n)
    return "decision" if one_decision and over.counts["trivial_right"] < over.n else ""


def same_for_all(run: Run) -> dict[tuple[str, str], str]:
    """The model and corpus of every model that gives all texts the same score or decision, and which."""
    over = [f for f in run.findings if f.measure == OVER and f.tested]
    found = {place_of(f): same for f in over if (same := _same_for_all(f))}
    cases = run.tables.get("cases")
    if not over and cases is not None:  # corpora without annotations have no accuracy
        spread = pl.col("before").max() - pl.col("before").min()
        places = cases.group_by(pl.col("model", "corpus").cast(pl.String))
        alike = places.agg(spread == 0, pl.col("id").n_unique()).filter("before", pl.col("id") > 1)
        found |= dict.fromkeys(alike.select("model", "corpus").iter_rows(), "score")
    return found


def checks_of(run: Run) -> list[Finding]:
    """The pass rates of all checks, each once."""
    return [f for f in run.findings if f.measure == "pass_rate" and f.where.get("check")]


def among_checks(run: Run) -> list[Finding]:
    """The pass rates of all checks, with intervals that allow for picking one of them."""
    wide = {frozenset(f.where.items()): f.interval for f in run.findings.where(measure=AMONG)}
    return [replace(f, interval=wide.get(frozenset(f.where.items()), f.interval)) for f in checks_of(run)]


def choice(low: Finding, run: Run) -> str:
    """Whether the interval of a check that was picked from several allows for that; empty if it was not."""
    tested = sum(f.tested for f in checks_of(run))
    allows = "allows" if run.findings.where(measure=AMONG) else "does not allow"  # in older runs
    return f"; the range {allows} for the choice among {tested} checks" if low.interval and tested > 1 else ""


def kept(check: Finding) -> float:
    """The largest likely share of texts that an edit leaves right; of an MFT check, of those right before."""
    before = check.counts.get("passed_unedited", check.n) / max(check.n, 1)
    return min(1.0, max(known_interval(check), default=1.0) + 1 - before) if harmed(check) else 1.0


def harmed(check: Finding) -> bool:
    """Whether an edit does harm: a failed INV or DIR case, or an MFT rate shown to fall by the edit."""
    return check.value < 1 and ("passed_unedited" not in check.counts or "harmed" in check.flags)


def weakest(findings: Sequence[Finding]) -> Finding | None:
    """The check with the lowest upper end of its interval, so that few texts do not outweigh many.

    An MFT check is judged by what the edit costs: texts that are wrong unedited are no failure of the edit.
    In a sample, where some checks have more cases than others, the audit foresees the weakest of all cases.
    """
    return min(
        (f for f in findings if f.tested),
        key=lambda f: (
            not (harmed(f) and "weakest" in f.flags),
            kept(f),
            f.value == 1,
            "passed_unedited" in f.counts,
            f.value,
            ends(f)[0],
        ),
        default=None,
    )


def checks_headline(run: Run) -> Headline | None:
    """The weakest check, or what the passed checks show."""
    checks = among_checks(run)
    low = weakest(checks)
    if low is None:
        return headline("checks.untested") if checks else None
    every = sum(f.tested for f in checks)
    words = {
        "point": f"{named(low, run)}:",
        "passing": passing(low),
        "unedited": unedited(low),
        "choice": choice(low, run),
        "rivals": rivals(low, checks, run),
        "tested": counted(every, "tested check" if every < len(checks) else "check"),
    }
    if low.where.get("symptom") and low.value < 1:
        words["point"] = f"{topic_of(low)}{where_named(low, run.findings, 'in')}: {low.where['check']},"
    if harmed(low):
        return headline("checks.fails", 1 - kept(low), **words)
    if doubt := blind(run, checks):
        return headline("checks.no_evidence", doubt=doubt, **words)
    return headline("checks.none_found" if low.value == 1 else "checks.not_harmed", **words)


def rivals(low: Finding, checks: Sequence[Finding], run: Run) -> str:
    """The checks that cannot be told apart from the one that is named; empty if all can."""
    others = [f for f in checks if f is not low and {"weakest", "maybe_weakest"} & set(f.flags)]
    others.sort(key=lambda f: (kept(f), f.value))
    if not others:
        return ""
    names = [f.where["check"] + where_named(f, run.findings) for f in others[:RIVALS]]
    more = [f"{len(others) - RIVALS:,} more"] if len(others) > RIVALS else []
    return f"; {listed([*names, *more])} may be as weak"


def blind(run: Run, checks: Sequence[Finding]) -> str:
    """Why passed checks are not evidence: "m gives every text the same score"; empty if they may be."""
    same, models = same_for_all(run), {place_of(f)[0] for f in checks}
    found = {place_of(f)[0]: same[place_of(f)] for f in checks if place_of(f) in same}
    names = {model: model if len(models) > 1 else "the model" for model in found}
    return listed([f"{names[model]} gives every text the same {what}" for model, what in found.items()])


def unedited(check: Finding) -> str:
    """The share of an MFT check's texts that pass without the edit, and what the edit did; else empty."""
    before = check.counts.get("passed_unedited")
    if before is None:
        return ""
    flags = check.flags
    effect = (
        "helped" if "helped" in flags else "did harm" if "harmed" in flags else "made no clear difference"
    )
    return f" after the edit, {percent(before / check.n)} before: the edit {effect}"


def passing(finding: Finding) -> str:
    """The pass rate of a check in words: "61 % (59–63) of 1,990 texts pass"."""
    texts = counted(finding.n, "text")
    return f"{rate(finding, prose=True)} of {texts} {'passes' if finding.n == 1 else 'pass'}"


def named(finding: Finding, run: Run) -> str:
    """A check with its title and, where there are several, its model and corpus."""
    title = finding.where.get("title", "")
    titled = finding.where["check"] + (f" ({title})" if title else "")
    return titled + where_named(finding, run.findings)
