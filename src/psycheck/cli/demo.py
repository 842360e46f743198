"""`psycheck demo`: the whole job on what is shipped."""

from pathlib import Path
from typing import Annotated

import typer


def demo_cli(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run.")] = Path("runs/demo"),
) -> None:
    """Train, audit and report on the shipped synthetic corpora; a second call scores nothing."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.report.verdict import headlines
    from psycheck.verbs.demo import run_demo

    with ProgressLine() as line:
        run = run_demo(out, say=typer.echo, progress=line)
    for sentence in headlines(run):
        typer.echo(sentence)
    typer.echo(f"report: {out / 'report.html'}")
    raise typer.Exit(run.exit_code)
