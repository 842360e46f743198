"""`psycheck prompt`: check a prompt of your own."""

import json

import typer

from psycheck.cli import options as opt
from psycheck.errors import counted

app = typer.Typer(help="Check a prompt.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def prompt_cli() -> None:
    """Hold the commands; with a single one, typer would leave out its name."""


@app.command("check")
@opt.verb("prompt check")
def check_cli(file: str, json_: bool = False) -> None:
    """Validate a prompt; print its messages for a placeholder post, and the JSON schema of the answer."""
    from psycheck.knowledge.prompts import read_prompt

    prompt = read_prompt(file)
    example = ("(a similar post)", dict.fromkeys(prompt.labels, 1))
    messages = prompt.messages("(the post)", [example] * prompt.examples)
    if json_:
        shown = {"labels": prompt.labels, "messages": messages, "schema": prompt.schema()}
        typer.echo(json.dumps(shown, indent=1, ensure_ascii=False))
        return
    for message in messages:
        typer.echo(f"--- {message['role']} ---\n{message['content']}\n")
    typer.echo(f"--- schema ---\n{json.dumps(prompt.schema(), ensure_ascii=False)}\n")
    shots = f", {counted(prompt.examples, 'example')}" if prompt.examples else ""
    scale = f", scale {prompt.scale.name} from {prompt.scale.cutoff}" if prompt.scale else ""
    labels = ", ".join(prompt.labels)
    typer.echo(f"{prompt.name}: {prompt.title}; labels {labels}; answer {prompt.answer}{scale}{shots}; valid")
