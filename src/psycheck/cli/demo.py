"""`psycheck demo`: train, audit and report on shipped data."""

from pathlib import Path

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine


@opt.verb("demo")
def demo_cli(out: Path = Path("runs/demo")) -> None:
    """Train, audit and report on the shipped synthetic corpora; a second run scores nothing."""
    from psycheck.report.verdict import headlines
    from psycheck.verbs.demo import run_demo

    with ProgressLine() as line:
        run = run_demo(out, say=typer.echo, progress=line)
    for sentence in headlines(run):
        typer.echo(sentence)
    typer.echo(f"report: {out / 'report.html'}")
    raise typer.Exit(run.exit_code)
