"""The sentences of the verdict, from headlines.toml, and the choice of those on performance and checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, decimal, ends, known_interval, percent, plain, rate
from psycheck.report.performance import is_performance
from psycheck.report.words import listed, place_of, topic_of, where_named, words_of
from psycheck.run import Run

Place = tuple[str, str]
OVER = "accuracy_over_trivial"
RANKS = ("constant", "worse", "not_better", "one_class", "better")  # the worst first
MODELS = 3  # sentences on performance, one per model
CERTAIN = 1 - 1e-9


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


def reference() -> str:
    """The text of docs/reference/headlines.md."""
    kinds: Mapping[str, Mapping[str, Mapping[str, str]]] = words_of("headlines")
    lines = [str(kinds["preface"]).lstrip()]
    for kind, entries in kinds.items():
        if kind != "preface":
            lines += [f"## {kind.capitalize()}\n", "| sentence | words | when | alarm |", "|---|---|---|---|"]
            for name, entry in entries.items():
                alarm = "yes" if entry["alarm"] else "no"
                lines.append(f"| `{kind}.{name}` | {entry['words']} | {entry['when']} | {alarm} |")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def performance_headlines(run: Run) -> list[Headline]:
    """Accuracy against the best trivial answer: the worst corpus and label of each model, the worst first."""
    worst: dict[str, Finding] = {}
    for f in run.findings:
        if f.measure == OVER and f.tested and is_performance(f):
            model = f.where.get("model", "")
            worst[model] = min(worst.get(model, f), f, key=_rank)
    several = len({place_of(f) for f in run.findings if all(place_of(f)) and "by" not in f.where}) > 1
    labels = {f.where.get("label") for f in run.findings if f.measure == OVER}
    out = []
    for f in sorted(worst.values(), key=_rank)[:MODELS]:
        subject = " on ".join(place_of(f)) if several else "The model"
        subject += f", label {f.where['label']}," if len(labels) > 1 else ""
        counts, units = f.counts, f.counts.get("units", f.n)
        words = {
            "subject": subject,
            "same": _same_for_all(f),
            "answer": "1" if 2 * (counts["tp"] + counts["fn"]) >= f.n else "0",
            "accuracy": decimal(counts["right"] / f.n),
            "trivial": decimal(counts["trivial_right"] / f.n),
            "difference": plain(f, prose=True),
            "n": count(f.n) + (f" in {count(units)} independent units" if units < f.n else ""),
        }
        out.append(headline(f"performance.{RANKS[_rank(f)[0]]}", max(0.0, -ends(f)[1]), **words))
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
    if over.counts["trivial_right"] == over.n:
        return ""
    return "decision" if over.counts["tp"] + over.counts["fp"] in (0, over.n) else ""


def same_for_all(run: Run) -> dict[Place, str]:
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


def kept(check: Finding) -> float:
    """The largest likely share of texts that an edit leaves right; of an MFT check, of those right before."""
    before = check.counts.get("passed_unedited", check.n) / max(check.n, 1)
    return min(1.0, ends(check)[1] + 1 - before)


def weakest(findings: Sequence[Finding]) -> Finding | None:
    """The check with the lowest upper end of its interval, so that few texts do not outweigh many.

    An MFT check is judged by what the edit costs: texts that are wrong unedited are no failure of the edit.
    """
    tested = [finding for finding in findings if finding.tested]
    return min(tested, key=lambda f: (kept(f), f.value, ends(f)[0]), default=None)


def checks_headline(run: Run) -> Headline | None:
    """The weakest check, or what the passed checks show."""
    checks = checks_of(run)
    low = weakest(checks)
    if low is None:
        return headline("checks.untested") if checks else None
    every = sum(f.tested for f in checks)
    words = {
        "point": f"{named(low, run)}:",
        "passing": passing(low),
        "unedited": unedited(low),
        "tested": counted(every, "tested check" if every < len(checks) else "check"),
    }
    if low.where.get("symptom") and low.value < 1:
        words["point"] = f"{topic_of(low)}{where_named(low, run.findings, 'in')}: {low.where['check']},"
    if low.value < 1 and kept(low) < CERTAIN:
        return headline("checks.fails", 1 - kept(low), **words)
    if doubt := blind(run, checks):
        return headline("checks.no_evidence", doubt=doubt, **words)
    return headline("checks.none_found" if low.value == 1 else "checks.not_harmed", **words)


def blind(run: Run, checks: Sequence[Finding]) -> str:
    """Why passed checks are not evidence: "m gives every text the same score"; empty if they may be."""
    same = same_for_all(run)
    found = {place_of(f)[0]: same[place_of(f)] for f in checks if place_of(f) in same}
    several = len({place_of(f)[0] for f in checks}) > 1
    return listed(
        [f"{model if several else 'the model'} gives every text the same {x}" for model, x in found.items()]
    )


def unedited(check: Finding) -> str:
    """The share of an MFT check's texts that pass without the edit, and what the edit did; else empty."""
    before = check.counts.get("passed_unedited")
    if before is None:
        return ""
    more = round(check.value * check.n) - before
    effect = "helped" if more > 0 else "did harm" if more else "changed nothing"
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
