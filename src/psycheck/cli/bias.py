"""`psycheck bias`: whether words of depression lie nearer to one gender in an encoder's vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from psycheck.cli.output import run_as_json

if TYPE_CHECKING:
    from psycheck.run import Run


def bias_cli(
    encoder: Annotated[
        str, typer.Argument(metavar="ENCODER", help="minilm, hf:DIR, or vectors:FILE (static word vectors).")
    ],
    lists: Annotated[
        list[str] | None,
        typer.Option("--list", metavar="NAME", help="depression or anxiety; repeatable (default: both)."),
    ] = None,
    words: Annotated[
        list[Path] | None,
        typer.Option(
            "--words", metavar="FILE", help="Your own target words, one a line, or TOML; repeatable."
        ),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(help="Sentence with {word} in it for your words; contextual encoders only."),
    ] = None,
    centring: Annotated[
        str | None, typer.Option(help="pairs (Bolukbasi et al., the default) or differences.")
    ] = None,
    lengths: Annotated[
        str | None, typer.Option(help="unit (the default) or raw vectors of the pairs.")
    ] = None,
    random_lists: Annotated[int | None, typer.Option(help="Random word lists and permutations.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random lists and intervals.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run.")] = Path("runs/bias"),
    json_: Annotated[bool, typer.Option("--json", help="Print the findings for a program.")] = False,
) -> None:
    """Measure Direct Bias: is depression closer to one gender in the vectors that you build on?"""
    from psycheck.audits.direct_bias.judge import Biasing
    from psycheck.verbs.bias import encoder_bias

    given: dict[str, Any] = {
        "centring": _one_of("--centring", centring, ("pairs", "differences")),
        "lengths": _one_of("--lengths", lengths, ("unit", "raw")),
        "random_lists": random_lists,
        "seed": seed,
    }
    run = encoder_bias(
        encoder,
        lists=lists,
        words=words or (),
        sentence=sentence,
        out=out,
        how=Biasing(**{key: value for key, value in given.items() if value is not None}),
    )
    if json_:
        typer.echo(run_as_json(run, out))
    else:
        _print(run, out)


def _one_of(option: str, given: str | None, allowed: tuple[str, ...]) -> str | None:
    from psycheck.errors import BadInput, nearest

    if given is not None and given not in allowed:
        raise BadInput(f"{option} does not know '{given}'", allowed=nearest(given, allowed))
    return given


def _print(run: "Run", out: Path) -> None:
    from psycheck.report.direct_bias import bias_sentences, bias_table, bias_verdict

    for note in run.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(bias_table(run.findings).to_console())
    for finding in run.findings:
        if finding.measure == "direct_bias":
            typer.echo(f"{finding.where['list']}: carried most by {', '.join(finding.examples)}")
    for sentence in bias_sentences(run.findings):
        typer.echo(sentence)
    typer.echo(bias_verdict(run.findings))
    typer.echo(f"report: {out / 'report.html'}")
