"""The pages of a run's folder: which ones each verb has, all drawn from the run alone."""

from pathlib import Path

from psycheck.run import Run
from psycheck.runs.folder import save_run


def save(run: Run, folder: Path) -> None:
    """Write the run's folder with its pages."""
    save_run(run, folder, pages_of(run))


def pages_of(run: Run) -> dict[str, str]:
    """The text of each page by its file name; a run that names no verb is an audit."""
    match run.plan.get("verb"):
        case "compare":
            from psycheck.report.comparison import render_comparison

            return {"report.html": render_comparison(run)}
        case "curate":
            from psycheck.report.curation import render_curating

            return {"report.html": render_curating(run)}
        case "bias":
            from psycheck.report.direct_bias import render_bias

            return {"report.html": render_bias(run)}
        case "study corpora":
            from psycheck.report.comparison import render_corpora_study
            from psycheck.report.studies.corpora import corpora_tables

            return {"report.html": render_corpora_study(run), "study.md": corpora_tables(run)}
        case "study gender":
            from psycheck.report.studies.gender import gender_tables, render_gender

            return {"report.html": render_gender(run), "study.md": gender_tables(run)}
        case "study deck":
            from psycheck.report.studies.deck import deck_tables

            return {**_audit(run), "study.md": deck_tables(run.findings)}
        case "improve":
            from psycheck.report.studies.improve import improve_csv, improve_table, render_improving

            pages = _audit(run)
            if run.plan.get("augment") != "gender":  # the audit's page draws the swapped pairs
                pages["report.html"] = render_improving(run)
            tables = {"improve.md": improve_table(run.findings), "improve.csv": improve_csv(run.findings)}
            return {**pages, **tables}
        case _:
            return _audit(run)


def _audit(run: Run) -> dict[str, str]:
    from psycheck.report.audit import render
    from psycheck.report.junit import junit

    return {"report.html": render(run), "junit.xml": junit(run)}
