"""`psycheck suite`: check a suite of your own, select sentences for one."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

app = typer.Typer(help="Check a suite, or select its sentences.", no_args_is_help=True, rich_markup_mode=None)


@app.command("check")
def check_cli(file: Annotated[str, Argument(help="TOML file, or the name of a shipped suite.")]) -> None:
    """Validate a suite and summarise it."""
    from collections import Counter

    from psycheck.audits.suite import read_suite
    from psycheck.errors import counted

    suite = read_suite(file)
    counts = Counter(check.kind for check in suite.checks)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    variants = sum(len(check.edits) for check in suite.checks)
    checks = counted(len(suite.checks), "check")
    typer.echo(f"{suite.name}: {checks} ({kinds}), {counted(variants, 'variant')}; valid")


@app.command("select")
def select_cli(
    candidates: Annotated[Path, Argument(help="CSV with the columns sentence, expected (0 or 1) and check.")],
    models: Annotated[list[str], Option("--model", "-m", help="A model that votes; repeatable.")],
    out: Annotated[Path | None, Option("--out", "-o", help="Suite file to write (TOML).")] = None,
    label: Annotated[str, Option(help="Label that the suite tests.")] = "depression",
) -> None:
    """Keep the sentences that most models classify as expected with median confidence above 0.5."""
    import numpy as np

    from psycheck.audits.select import read_candidates, select_sentences, write_suite
    from psycheck.models.open import open_model
    from psycheck.runs.folder import writing
    from psycheck.scoring.answers import answers
    from psycheck.verbs.jobs import align_model

    found = read_candidates(candidates)
    sentences = [candidate.sentence for candidate in found]
    scores = []
    for spec in models:
        model = open_model(spec)
        names, _ = align_model(model, [], [label])
        with answers([model], [(1.0, sentences)]) as scored:
            scores.append(scored.views[0].of(sentences)[:, names.index(label)])
    selected = select_sentences(found, np.stack(scores))
    for one in selected:
        mark = "kept" if one.kept else "left"
        typer.echo(f"{mark}  {one.votes} of {one.models}  median {one.median:.2f}  {one.candidate.sentence}")
    typer.echo(f"{sum(one.kept for one in selected)} of {len(selected)} kept")
    if out is not None:
        with writing(out):
            write_suite(selected, out, name=out.stem, label=label)
        typer.echo(f"suite: {out}")
