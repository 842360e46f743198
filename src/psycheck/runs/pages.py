"""The pages of a run's folder: which ones each verb has, all drawn from the run alone."""

from pathlib import Path

from psycheck.files.write import together, writing
from psycheck.report.audit import render
from psycheck.report.comparison import render_comparison, render_corpora_study
from psycheck.report.curation import render_curating
from psycheck.report.difference import render_difference
from psycheck.report.direct_bias import render_bias
from psycheck.report.explanation import explanations_jsonl, render_explaining, suspects_csv
from psycheck.report.junit import junit
from psycheck.report.person import people_pages
from psycheck.report.studies.angst import angst_tables, render_angst
from psycheck.report.studies.corpora import corpora_tables
from psycheck.report.studies.deck import deck_tables, render_deck
from psycheck.report.studies.gender import gender_tables, render_gender
from psycheck.report.studies.improve import improve_csv, improve_table, render_improving
from psycheck.report.studies.psysym import psysym_tables, render_psysym
from psycheck.run import Run
from psycheck.runs.folder import open_run, save_run, writes_run


def save(run: Run, folder: Path) -> Run:
    """Write the run's folder with its pages; return the run."""
    save_run(run, folder, pages_of(run))
    return run


@writes_run()
def redraw(out: Path) -> None:
    """Draw the pages of a finished run again; nothing else in its folder changes."""
    pages = pages_of(open_run(out))
    with writing(out), together() as part_of:
        for name, page in pages.items():
            part_of(out / name).write_text(page, "utf-8")


def pages_of(run: Run) -> dict[str, str]:
    """The text of each page by its file name; a run that names no verb is an audit."""
    match run.plan.get("verb"):
        case "compare":
            return {"report.html": render_comparison(run)}
        case "curate":
            return {"report.html": render_curating(run)}
        case "diff":
            return {"report.html": render_difference(run)}
        case "bias":
            return {"report.html": render_bias(run)}
        case "explain":
            files = {"explanations.jsonl": explanations_jsonl(run), "suspects.csv": suspects_csv(run)}
            return {"report.html": render_explaining(run), **files, **people_pages(run)}
        case "study corpora":
            return {"report.html": render_corpora_study(run), "study.md": corpora_tables(run)}
        case "study angst":
            return {"report.html": render_angst(run), "study.md": angst_tables(run)}
        case "study psysym":
            return {"report.html": render_psysym(run), "study.md": psysym_tables(run)}
        case "study gender":
            return {"report.html": render_gender(run), "study.md": gender_tables(run)}
        case "improve":
            # The audit's page draws the swapped pairs.
            drawn = audit_page if run.plan.get("augment") == "gender" else render_improving
            tables = {"improve.md": improve_table(run.findings), "improve.csv": improve_csv(run.findings)}
            return {"report.html": drawn(run), "junit.xml": junit(run), **tables}
        case "study deck":
            tables = {"study.md": deck_tables(run.findings)}
            return {"report.html": render_deck(run), "junit.xml": junit(run), **tables}
        case _:
            return {"report.html": audit_page(run), "junit.xml": junit(run)}


def audit_page(run: Run) -> str:
    """The page of an audit, with the section that each shipped audit declares."""
    from psycheck.audits.shipped import SHIPPED  # SciPy and scikit-learn, which other pages do not need

    return render(run, [audit.section for audit in SHIPPED.values()])
