"""First-person texts: whether features tell the writer's gender, and fairness by record and by probe."""

from collections.abc import Sequence

from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import words_of
from psycheck.report.headlines import headline
from psycheck.report.numbers import decimal, plain
from psycheck.report.page import draw
from psycheck.report.sections import by, unique
from psycheck.report.studies import published_figures as papers
from psycheck.report.studies.published_figures import p_values
from psycheck.report.tables import Table, table_of

AUC = "writer_auc"
# The wordings that the probe reads, and the ways to tell the gender that fairness is measured by.
AS_WRITTEN, WITHOUT_GENDER = "as written", "without gendered words"
BY_RECORD, BY_PROBE = "record", "probe"
_CHANCE = 0.5


def is_of_writers(run: Run) -> bool:
    """Whether a gender study was of the writers of first-person texts."""
    return bool(run.plan.get("first_person"))


def writer_pages(run: Run) -> dict[str, str]:
    """The files of the study."""
    words = words_of("studies")["writers"]
    page = draw(
        "study",
        run,
        study="gender",
        corpus=str(run.plan["corpora"][0]["name"]),
        sentences=[answer.sentence for answer in run.headlines],
        plot=papers.dots(_dots(run.findings)),
        words=words,
        tables=tables_of(run.findings),
        notes=(*run.notes, *words["notes"]),
    )
    return {"report.html": page, "study.md": writer_tables(run)}


def writer_tables(run: Run) -> str:
    """All tables in Markdown."""
    words = words_of("studies")["writers"]
    answers = "".join(f"- {answer.sentence}\n" for answer in run.headlines)
    intro = papers.intro_of("writers", answers=answers)
    return papers.document(intro, tables_of(run.findings), [*run.notes, *words["notes"]])


def tables_of(findings: Findings) -> list[Table]:
    """What the probe tells, then fairness by the record beside that by the probe."""
    return [probe_table(findings), fairness_table(findings)]


def probe_table(findings: Findings) -> Table:
    """AUC of the probe, by vectors and wording."""
    rows = []
    for finding in findings.where(measure=AUC):
        counts = finding.counts
        rows.append(
            (
                finding.where["encoder"],
                finding.where["wording"],
                str(finding.n),
                str(counts["units"]),
                f"{counts['female']}, {counts['male']}",
                plain(finding),
                f"{counts['right']} of {finding.n}",
            )
        )
    return table_of("gender_writers", rows)


def fairness_table(findings: Findings) -> Table:
    """Misses of each gender and both differences, by the record and by the probe."""
    place = by("model", "encoder", "column")
    gaps = findings.where(measure="demographic_parity_difference")
    rows = []
    for model, encoder, column in unique(place(gap) for gap in gaps):
        of_column = findings.where(model=model, encoder=encoder, column=column)
        rows.append(
            (
                model,
                encoder,
                column,
                _cell(of_column.where(measure="fnr", group="female")),
                _cell(of_column.where(measure="fnr", group="male")),
                _cell(of_column.where(measure="equal_opportunity_difference")),
                p_values(of_column.where(measure="equal_opportunity_difference_p_holm")),
                _cell(of_column.where(measure="demographic_parity_difference")),
                p_values(of_column.where(measure="demographic_parity_difference_p_holm")),
            )
        )
    return table_of("gender_writer_fairness", rows)


def writer_answers(findings: Findings) -> list[Headline]:
    """For each kind of vectors, whether they tell the writer's gender beyond chance."""
    headlines = []
    for finding in findings.where(measure=AUC, wording=AS_WRITTEN):
        (blind,) = findings.where(
            measure=AUC,
            wording=WITHOUT_GENDER,
            encoder=finding.where["encoder"],
        )
        headlines.append(
            headline(
                "study.writers",
                [finding, blind],
                vectors=finding.where["encoder"],
                told=_told(finding),
                auc=plain(finding),
                blind=plain(blind),
                still=_told(blind),
                n=str(finding.n),
            )
        )
    return headlines


def _told(finding: Finding) -> str:
    """Whether an interval lies above chance."""
    if finding.interval is None or not finding.tested:
        return "cannot be tested"
    return "is told beyond chance" if finding.interval[0] > _CHANCE else "is not told beyond chance"


def _dots(findings: Findings) -> dict[str, dict[str, list[Finding]]]:
    """The AUC of each probe, and the misses by each way to tell the gender."""
    groups: dict[str, dict[str, list[Finding]]] = {}
    for finding in findings.where(measure=AUC):
        of_vectors = groups.setdefault(f"AUC of the writer's gender, {finding.where['encoder']}", {})
        of_vectors[finding.where["wording"]] = [finding]
    for finding in findings.where(measure="fnr"):
        title = f"Missed, {finding.where['model']} on {finding.where['encoder']}"
        line = f"{finding.where['group']}, by the {finding.where['column']}"
        groups.setdefault(title, {})[line] = [finding]
    return groups


def _cell(findings: Sequence[Finding]) -> str:
    """A figure with its interval and the number of texts."""
    (finding,) = findings
    if not finding.tested:
        return "–"
    interval = ""
    if finding.interval is not None:
        low, high = finding.interval
        interval = f" ({decimal(low, 2)} to {decimal(high, 2)})"
    return f"{decimal(finding.value, 2)}{interval}, n {finding.n}"
