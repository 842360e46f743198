"""The page of a curated corpus: the funnel, step by step, with the papers' figures."""

from collections.abc import Sequence

from psycheck.finding import Finding, Findings
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, decimal
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of
from psycheck.report.words import words_of
from psycheck.run import Run

_NOT_A_CAUSE = ("posts", "authors", "removed")
_OF_ALL = ("posts", "subreddits")
_CORPUS = "corpus"


def render_curating(run: Run) -> str:
    """The page of a curated corpus as one HTML file without scripts."""
    return draw(
        "curation",
        run,
        dumps=run.plan["dumps"],
        verdict=curating_verdict(run.findings),
        funnels=funnels(run.findings),
        reported=_reported(run.findings),
        mean=_mean(run.findings),
        lines=_lines(run.findings),
        places=[place for f in run.findings if f.where.get("step") == "posts" for place in f.examples],
    )


def curating_verdict(findings: Sequence[Finding]) -> str:
    """One sentence: how many posts by how many authors are kept, of how many lines."""
    steps = {(f.where["side"], f.where["step"]): f for f in findings if f.measure == "funnel"}
    whole, first = steps["both", "split"], steps["both", "posts"]
    controls = steps.get(("control", "sample"))
    words = {"posts": count(whole.value), "authors": count(whole.counts["authors"]), "lines": count(first.n)}
    if controls:
        return sentence("curate.with_controls", controls=count(controls.value), **words)
    return sentence("curate.kept", **words)


def funnels(findings: Sequence[Finding]) -> list[Table]:
    """One table of steps per side, and one for the corpus."""
    words = words_of("curation")
    captions = {**words["sides"], _CORPUS: words[_CORPUS]}
    rows: dict[str, list[tuple[str, ...]]] = {part: [] for part in captions}
    for part, row in (_row(f) for f in findings if f.measure == "funnel"):
        rows[part].append(row)
    kept = [part for part, own in rows.items() if own or part == _CORPUS]
    return [table_of("funnel", rows[part], part=captions[part]) for part in kept]


def _row(step: Finding) -> tuple[str, tuple[str, ...]]:
    """The part of the funnel that a step belongs to (its side, or the written corpus), and its row."""
    side, name = step.where["side"], step.where["step"]
    part = _CORPUS if side == "both" and name not in _OF_ALL else side
    words = words_of("curation")["steps"][side].get(name, {"name": name})
    # A split removes nothing: the posts are in the other splits.
    removed = "–" if part == _CORPUS and name != "split" else count(step.counts["removed"])
    figures = (count(step.value), count(step.counts["authors"]), removed)
    title = words["name"].format_map({what: count(n) for what, n in step.counts.items()})
    return part, (title, *figures, words.get("angst", "–"), words.get("psysym", "–"))


def _reported(findings: Findings) -> Table:
    published = words_of("curation")["authors"]
    reporting = {f.where["label"]: f.value for f in findings.where(measure="authors_reporting")}
    rows = [(label, count(value), count(published[label])) for label, value in reporting.items()]
    return table_of("reported", rows)


def _mean(findings: Findings) -> Table | None:
    words = words_of("curation")
    rows = []
    for f in findings.where(measure="posts_an_author"):
        side = f.where["side"]
        published = decimal(words["posts_an_author"][side], 1)
        rows.append((words["sides"][side], decimal(f.value, 1), count(f.n), published))
    return table_of("posts_an_author", rows) if rows else None


def _lines(findings: Sequence[Finding]) -> Table | None:
    first = next(f for f in findings if f.where.get("step") == "posts")
    rows = [(why, count(n)) for why, n in sorted(first.counts.items()) if why not in _NOT_A_CAUSE]
    return table_of("lines_left_out", rows, lines=count(first.n)) if rows else None
