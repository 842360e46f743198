"""The pages of a run's folder: which ones each verb has, all drawn from the run alone."""

from pathlib import Path

from psycheck.run import Run, save_run


def save(run: Run, folder: Path) -> None:
    """Write the run's folder with its pages."""
    save_run(run, folder, pages_of(run))


def pages_of(run: Run) -> dict[str, str]:
    """The text of each page by its file name; a run that names no verb is an audit."""
    match run.plan.get("verb"):
        case "compare":
            from psycheck.report.compare import render_comparison

            return {"report.html": render_comparison(run)}
        case "curate":
            from psycheck.report.curate import render_curating

            return {"report.html": render_curating(run)}
        case "bias":
            from psycheck.report.bias import render_bias

            return {"report.html": render_bias(run)}
        case "study corpora":
            from psycheck.report.compare import render_corpora_study
            from psycheck.study import corpora_tables as corpora

            page = render_corpora_study(run, corpora.tables_of(run.findings))
            return {"report.html": page, "study.md": corpora.corpora_tables(run)}
        case "study gender":
            from psycheck.report.gender import render_gender
            from psycheck.study import gender_tables as gender

            page = render_gender(run, gender.answers(run.findings), gender.tables_of(run.findings))
            return {"report.html": page, "study.md": gender.gender_tables(run)}
        case "study deck":
            from psycheck.study.deck_tables import deck_tables

            return {**_audit(run), "study.md": deck_tables(run.findings)}
        case "improve":
            from psycheck.report.improve import render_improving
            from psycheck.study import changes

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
    from psycheck.report.html import render
    from psycheck.report.junit import junit

    return {"report.html": render(run), "junit.xml": junit(run)}
