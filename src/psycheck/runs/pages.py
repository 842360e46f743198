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
            from psycheck.report.studies import corpora

            page = render_corpora_study(run, corpora.tables_of(run.findings))
            return {"report.html": page, "study.md": corpora.corpora_tables(run)}
        case "study gender":
            from psycheck.report.gender import render_gender
            from psycheck.report.studies import gender

            page = render_gender(run, gender.answers(run.findings), gender.tables_of(run.findings))
            return {"report.html": page, "study.md": gender.gender_tables(run)}
        case "study deck":
            from psycheck.report.studies.deck import deck_tables

            return {**_audit(run), "study.md": deck_tables(run.findings)}
        case "improve":
            from psycheck.report.improvement import render_improving
            from psycheck.report.studies import improve as changes

            pages = _audit(run)
            if run.plan.get("augment") != "gender":  # the audit's page draws the swapped pairs
                lines, tables = changes.summary_lines(run.findings), changes.tables_of(run.findings)
                pages["report.html"] = render_improving(run, lines, tables)
            return {
                **pages,
                "improve.md": changes.improve_table(run.findings),
                "improve.csv": changes.improve_csv(run.findings),
            }
        case _:
            return _audit(run)


def _audit(run: Run) -> dict[str, str]:
    from psycheck.report.audit import render
    from psycheck.report.junit import junit

    return {"report.html": render(run), "junit.xml": junit(run)}
