"""`psycheck suite`: check a suite of your own, select sentences for one."""

from collections import Counter
from pathlib import Path

import typer

from psycheck.cli import options as opt
from psycheck.errors import counted

app = typer.Typer(help="Check a suite, or select its sentences.", no_args_is_help=True, rich_markup_mode=None)


@app.command("check")
@opt.verb("suite check")
def check_cli(file: str) -> None:
    """Validate a suite and summarise it."""
    from psycheck.audits.suite import read_suite

    suite = read_suite(file)
    counts = Counter(check.kind for check in suite.checks)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    variants = sum(len(check.edits) for check in suite.checks)
    checks = counted(len(suite.checks), "check")
    typer.echo(f"{suite.name}: {checks} ({kinds}), {counted(variants, 'variant')}; valid")


@app.command("select")
@opt.verb("suite select")
def select_cli(
    candidates: Path,
    models: list[str],
    out: Path | None = None,
    label: str = "depression",
    allow_remote: bool = False,
) -> None:
    """Keep the sentences that most models classify as expected with median confidence above 0.5."""
    import numpy as np

    from psycheck.audits.select import read_candidates, select_sentences, write_suite
    from psycheck.files.write import refuse_overwriting
    from psycheck.models.open import open_model
    from psycheck.scoring.answers import answers
    from psycheck.scoring.limits import Limits
    from psycheck.verbs.jobs import align_model
    from psycheck.verbs.plan import model_paths

    if out is not None:
        refuse_overwriting([out], [candidates, *(path for spec in models for path in model_paths(spec))])
    found = read_candidates(candidates)
    sentences = [candidate.sentence for candidate in found]
    scores = []
    for spec in models:
        model = open_model(spec)
        names, _ = align_model(model, [], [label])
        with answers([model], [(1.0, sentences)], limits=Limits(allow_remote)) as scored:
            scores.append(scored.views[0].of(sentences)[:, names.index(label)])
    selected = select_sentences(found, np.stack(scores))
    for one in selected:
        mark = "kept" if one.kept else "left"
        typer.echo(f"{mark}  {one.votes} of {one.models}  median {one.median:.2f}  {one.candidate.sentence}")
    typer.echo(f"{sum(one.kept for one in selected)} of {len(selected)} kept")
    if out is not None:
        write_suite(selected, out, name=out.stem, label=label)
        typer.echo(f"suite: {out}")
