"""`psycheck llm`: start a local LLM, and send one question to see what comes back."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_notes

if TYPE_CHECKING:
    from psycheck.llm.trial import Trial

app = typer.Typer(help="Start a local LLM; try a prompt.", no_args_is_help=True, rich_markup_mode=None)


@app.command("try")
@opt.verb("llm try")
def try_cli(
    prompt: str,
    text: str,
    model: str | None = None,
    allow_remote: bool = False,
    json_: bool = False,
) -> None:
    """Send one question, and print the request, the reply, how it is read, and what it cost."""
    from psycheck.llm.local_server import LOCAL_SPEC
    from psycheck.llm.trial import try_prompt

    trial = try_prompt(prompt, text, model or LOCAL_SPEC, allow_remote=allow_remote)
    print_notes(trial.notes)
    if json_:
        typer.echo(json.dumps(_record(trial), indent=1, ensure_ascii=False))
        return

    for message in trial.messages:
        typer.echo(f"--- {message['role']} ---\n{message['content']}\n")
    typer.echo(f"--- settings ---\n{json.dumps(trial.settings, ensure_ascii=False)}\n")
    typer.echo(f"--- reply ({trial.reply.finish or 'no reason for its end'}) ---\n{trial.reply.text}\n")
    typer.echo("--- reading ---")
    for line in _reading_lines(trial):
        typer.echo(line)


def _reading_lines(trial: "Trial") -> list[str]:
    """The scores, where they stood or why there are none, the reason, and the cost."""
    scores = [f"{label} {'?' if score != score else f'{score:.3g}'}" for label, score in trial.scores.items()]
    lines = [f"{', '.join(scores)} ({trial.reading.how})"]
    if trial.reading.rationale:
        lines.append(f"reason: {trial.reading.rationale}")
    if trial.remedy:
        lines.append(trial.remedy)

    reply = trial.reply
    cost = "cost not known" if trial.cost is None else f"cost {trial.cost:.4f}"
    tokens = f"{reply.prompt_tokens or 0:,} tokens in, {reply.completion_tokens or 0:,} out"
    lines.append(f"{tokens}, {reply.seconds or 0:.1f} s, {cost}")
    return lines


def _record(trial: "Trial") -> dict[str, object]:
    reply = trial.reply
    return {
        "messages": list(trial.messages),
        "settings": dict(trial.settings),
        "reply": reply.text,
        "finish": reply.finish,
        "tokens": [reply.prompt_tokens, reply.completion_tokens],
        "how": trial.reading.how,
        "scores": {label: None if score != score else score for label, score in trial.scores.items()},
        "reason": trial.reading.rationale,
        "cost": trial.cost,
        "notes": list(trial.notes),
    }


@app.command("serve")
@opt.verb("llm serve")
def serve_cli(weights: Path | None = None, port: int = 8080, threads: int = 1, context: int = 8192) -> None:
    """Serve a GGUF file, by default the packaged SmolLM2-135M, on this machine until Ctrl-C."""
    from psycheck.llm.local_server import serve

    serve(
        weights,
        port=port,
        threads=threads,
        context=context,
        say=lambda address: typer.echo(address),
    )
