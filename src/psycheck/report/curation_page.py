"""The page of a curated corpus: the funnel, step by step, with the papers' figures."""

from collections.abc import Sequence

from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report.display_names import words_of
from psycheck.report.headlines import headline
from psycheck.report.numbers import count, decimal
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of

CORPUS = "corpus"  # the part of the funnel that is about the written corpus
_BOTH_SIDES = ("posts", "subreddits")  # steps before authors with a condition and controls are separated
# Counts of the first step that are not reasons why a line is left out.
_NOT_A_REASON = ("posts", "authors", "removed")
Row = tuple[str, ...]


def pages(run: Run) -> dict[str, str]:
    """The file of a curated corpus."""
    return {"report.html": render_curating(run)}


def verdict(run: Run) -> list[Headline]:
    """One sentence: how many posts by how many authors are kept, of how many lines."""
    steps = {(f.where["side"], f.where["step"]): f for f in run.findings.where(measure="funnel")}
    written = steps["both", "split"]
    read = steps["both", "posts"]
    values = {
        "posts": count(written.value),
        "authors": count(written.counts["authors"]),
        "lines": count(read.n),
    }

    controls = steps.get(("control", "sample"))
    if controls is None:
        return [headline("curate.kept", [written], **values)]
    number = count(controls.value)
    return [
        headline(
            "curate.with_controls",
            [written, controls],
            controls=number,
            **values,
        )
    ]


PAGE = Page(draw=pages, verdict=verdict)


def render_curating(run: Run) -> str:
    """The page of a curated corpus as one HTML file without scripts."""
    first_steps = [finding for finding in run.findings if finding.where.get("step") == "posts"]
    return draw(
        "curation",
        run,
        dumps=run.plan["dumps"],
        verdict=run.verdict,
        funnels=funnels(run.findings),
        reported=_reported(run.findings),
        mean=_posts_per_author(run.findings),
        lines=_lines_left_out(first_steps[0]),
        places=[place for step in first_steps for place in step.examples],
    )


def funnels(findings: Sequence[Finding]) -> list[Table]:
    """One table of steps per side, and one for the corpus."""
    words = words_of("curation")
    captions = {**words["sides"], CORPUS: words[CORPUS]}
    rows: dict[str, list[Row]] = {part: [] for part in captions}
    for finding in findings:
        if finding.measure == "funnel":
            rows[_part_of(finding)].append(_row(finding))

    tables = []
    for part, caption in captions.items():
        if rows[part] or part == CORPUS:
            tables.append(
                table_of(
                    "funnel",
                    rows[part],
                    part=caption,
                )
            )
    return tables


def _part_of(step: Finding) -> str:
    """The part of the funnel that a step belongs to: its side, or the written corpus."""
    side = step.where["side"]
    if side == "both" and step.where["step"] not in _BOTH_SIDES:
        return CORPUS
    return side


def _row(step: Finding) -> Row:
    """A step: its name, what is left after it, what it removed, and what both papers report."""
    side = step.where["side"]
    name = step.where["step"]
    words = words_of("curation")["steps"][side].get(name, {"name": name})
    title = words["name"].format_map({what: count(number) for what, number in step.counts.items()})
    # A split removes nothing: the posts are in the other splits.
    is_part_of_split = _part_of(step) == CORPUS and name != "split"
    return (
        title,
        count(step.value),
        count(step.counts["authors"]),
        "–" if is_part_of_split else count(step.counts["removed"]),
        words.get("angst", "–"),
        words.get("psysym", "–"),
    )


def _reported(findings: Findings) -> Table:
    """How many authors report each condition, next to the published number."""
    published = words_of("curation")["authors"]
    rows = []
    for finding in findings.where(measure="authors_reporting"):
        label = finding.where["label"]
        rows.append((label, count(finding.value), count(published[label])))
    return table_of("reported", rows)


def _posts_per_author(findings: Findings) -> Table | None:
    """The mean number of posts per author of each side, next to the published one."""
    words = words_of("curation")
    rows = []
    for finding in findings.where(measure="posts_an_author"):
        side = finding.where["side"]
        published = decimal(words["posts_an_author"][side], 1)
        rows.append(
            (
                words["sides"][side],
                decimal(finding.value, 1),
                count(finding.n),
                published,
            )
        )
    return table_of("posts_an_author", rows) if rows else None


def _lines_left_out(first_step: Finding) -> Table | None:
    """Why lines of the dumps were left out."""
    rows = []
    for reason, lines in sorted(first_step.counts.items()):
        if reason not in _NOT_A_REASON:
            rows.append((reason, count(lines)))
    if not rows:
        return None
    return table_of(
        "lines_left_out",
        rows,
        lines=count(first_step.n),
    )
