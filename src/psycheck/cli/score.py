"""`psycheck score`: scores or silver labels of a whole corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_notes

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns


@opt.verb("score", (*opt.TRAINING, "time"))
def score_cli(
    ctx: typer.Context,
    columns: "Columns",
    model: str,
    corpus: str,
    more_models: list[str] | None = None,
    out: Path = Path("scores.csv"),
    confidence: str | None = None,
    split: str | None = None,
    format_: str | None = None,
    store: Path | None = None,
) -> None:
    """Score every text of a corpus; the file holds ids and scores, or texts with silver labels."""
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.corpora.write import refuse_kind
    from psycheck.errors import counted
    from psycheck.files.write import refuse_overwriting
    from psycheck.models.open import open_model
    from psycheck.scoring.limits import Limits
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.jobs import check_pools
    from psycheck.verbs.plan import model_paths
    from psycheck.verbs.score import check_output, score_corpus, write_scores
    from psycheck.verbs.silver import Labelling, label_corpus, shown_alpha, silver_files, write_silver
    from psycheck.verbs.threshold import DEV, open_with_dev, threshold_of

    values = opt.values_for(ctx, Labelling)
    silver = "as_labels" in values
    if not silver:
        names = ("more_models", "confidence", "min_agreement", "complete")
        opt.refuse(ctx, names, "scoring without --as-labels", "is for silver labels: add --as-labels hard")
    if "threshold" in values:
        values["threshold"] = threshold_of(values["threshold"])
    if confidence is not None:
        values["confidence"] = [threshold_of(end) for end in confidence.split(":")]
    how = read_settings(Labelling, values)
    specs, plan = [model, *(more_models or ())], corpus_plan(corpus, columns, split, format_)
    paths = [corpus_path(plan), *(path for spec in specs for path in model_paths(spec))]
    inputs = [path for path in paths if path is not None]
    if silver:
        refuse_kind(out)
        refuse_overwriting([out, *silver_files(out)], inputs)
    else:
        check_output(out, inputs)
    opened = open_with_dev(plan) if how.threshold == DEV else open_corpus(plan)
    left_out = (f"{counted(rows, 'row')} left out ({why})" for why, rows in opened.left_out.items())
    print_notes((*opened.notes, *left_out), opened.name)
    models = [open_model(spec) for spec in specs]
    for one in models:
        print_notes(getattr(one, "notes", ()), one.name)
    print_notes(check_pools(models, [opened]))
    limits = read_settings(Limits, opt.values_for(ctx, Limits))
    with ProgressLine() as line:
        more: dict[str, Any] = {"store": store, "progress": line, "limits": limits}
        more["say"] = lambda note: print_notes([note])
        if silver:
            made, failed = label_corpus(models, opened, how, **more)
            files, notes = write_silver(made, out), made.card["notes"]
            done = f"{counted(len(made.corpus), 'text')} of {len(opened):,} labelled"
        else:
            cut = how.threshold if "threshold" in values else None
            table, failed, notes = score_corpus(models[0], opened, threshold=cut, **more)
            write_scores(table, out)
            scored = "author" if getattr(models[0], "takes", "") == "histories" else "text"
            files, done = [out], f"{counted(len(table), scored)} scored"
    print_notes(notes)
    typer.echo(f"{done}: {', '.join(map(str, files))}")
    for label, one in made.card["agreement"].items() if silver else ():
        typer.echo(f"agreement on {label}: Krippendorff's alpha {shown_alpha(one)}")
    if failed:
        print_notes([f"{counted(failed, 'text')} could not be scored: no score or label in the file"])
        raise typer.Exit(3)
