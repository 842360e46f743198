"""`psycheck symptoms`: the symptom graph."""

from pathlib import Path

import typer

from psycheck.cli import options as opt
from psycheck.errors import BadInput, counted

app = typer.Typer(help="The symptom graph.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def symptoms_cli() -> None:
    """Hold the commands; with a single one, typer would leave out its name."""


@app.command("graph")
@opt.verb("symptoms graph")
def graph_cli(file: Path | None = None, out: Path | None = None) -> None:
    """Check a symptom graph of your own, or write a graph as JSON, GraphML or a picture (SVG)."""
    from psycheck.files.write import refuse_overwriting, writing, written
    from psycheck.knowledge.graph import as_graphml, as_json, as_svg, read_graph

    formats = {".json": as_json, ".graphml": as_graphml, ".svg": as_svg}
    graph = read_graph(file)
    if out is not None:
        if out.suffix not in formats:
            raise BadInput(f"cannot write a graph to '{out.name}'", where="--out", allowed=", ".join(formats))
        refuse_overwriting([out], [file] if file else [])
        with writing(out), written(out) as part:
            part.write_text(formats[out.suffix](graph), "utf-8")
    counts = [counted(len(graph.disease), "disease"), counted(len(graph.symptom), "symptom")]
    typer.echo(f"{', '.join(counts)}, {counted(len(graph.links), 'link')}; valid")
    if out is not None:
        typer.echo(f"graph: {out}")
