"""`psycheck prompt`: check a prompt of your own."""

import json
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_json, print_notes
from psycheck.core.errors import counted

if TYPE_CHECKING:
    from psycheck.llm.prompts import Prompt

app = typer.Typer(help="Check a prompt.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def prompt_cli() -> None:
    """Hold the commands; with a single one, typer would leave out its name."""


@app.command("check")
@opt.verb("prompt check")
def check_cli(file: str, json_: bool = False) -> None:
    """Validate a prompt; print its messages for a placeholder post, and the JSON schema of the answer."""
    from psycheck.llm.prompts import UNASKED_REASON, read_prompt

    prompt = read_prompt(file)
    # Placeholders stand for the post and for the examples of a few-shot prompt.
    example = ("(a similar post)", dict.fromkeys(prompt.labels, 1))
    messages = prompt.messages("(the post)", [example] * prompt.examples)
    if json_:
        print_json(labels=prompt.labels, messages=messages, schema=prompt.schema())
        return

    for message in messages:
        typer.echo(f"--- {message['role']} ---\n{message['content']}\n")
    if prompt.wants_reason_unasked:
        print_notes([UNASKED_REASON.format(name=prompt.name)])
    typer.echo(f"--- schema ---\n{json.dumps(prompt.schema(), ensure_ascii=False)}\n")
    typer.echo(_summary(prompt))


def _summary(prompt: "Prompt") -> str:
    answer = f"answer {prompt.answer}"
    if prompt.scale:
        answer += f", scale {prompt.scale.name} from {prompt.scale.cutoff}"
    if prompt.examples:
        answer += f", {counted(prompt.examples, 'example')}"
    return f"{prompt.name}: {prompt.title}; labels {', '.join(prompt.labels)}; {answer}; valid"
