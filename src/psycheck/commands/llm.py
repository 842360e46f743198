"""`psycheck llm`: start a local LLM, and send one question to see what comes back."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_json, print_notes
from psycheck.commands.llm_calibrate import calibrate_cli
from psycheck.commands.llm_cascade import cascade_cli
from psycheck.core.errors import BadInput, ModelFailure
from psycheck.core.model import Reply, answers_in

if TYPE_CHECKING:
    from psycheck.llm.parsing import Reading

app = typer.Typer(help="Start a local LLM; try a prompt.", no_args_is_help=True, rich_markup_mode=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One question: its messages and settings, the reply and how it is read, its cost and notes."""

    labels: tuple[str, ...]
    messages: Sequence[Mapping[str, str]]
    settings: Mapping[str, Any]
    reply: Reply
    reading: "Reading"
    cost: float | None
    notes: tuple[str, ...]

    @property
    def scores(self) -> dict[str, float]:
        """The score of each label, NaN where the reply does not answer it."""
        return dict(zip(self.labels, self.reading.scores.tolist(), strict=True))

    @property
    def remedy(self) -> str:
        """What to change if the reply answers nothing."""
        from psycheck.llm.parsing import NO_ANSWERS

        no_answer = NO_ANSWERS.get(self.reading.how)
        return f"{no_answer.what}: {no_answer.do}" if no_answer else ""


def try_prompt(prompt: str, text: str, spec: str, *, allow_remote: bool = False) -> Trial:
    """Ask one question; nothing is stored."""
    from psycheck.llm.model import LlmModel
    from psycheck.models.opening import open_model
    from psycheck.scoring.limits import Limits, refuse_remote

    model = open_model(spec, prompt=prompt)
    if not isinstance(model, LlmModel):
        raise BadInput(
            f"'{spec}' is not an LLM",
            code="llm.not-an-llm",
            allowed="llm:NAME?base_url=…",
            do="name an LLM",
        )
    refuse_remote([model], Limits(allow_remote=allow_remote))
    # A batch of one question could take a day.
    model = replace(model, options=replace(model.options, batch_api=False))

    notes: list[str] = []
    for arrival in model.ask([text], say=notes.append):
        for _, answer in answers_in(arrival):
            if not isinstance(answer, Reply):
                raise _failed(answer)
            return Trial(
                labels=model.labels,
                messages=model.messages(text),
                settings=model.settings[0],
                reply=answer,
                reading=model.reading(answer),
                cost=model.cost(answer.prompt_tokens or 0, answer.completion_tokens or 0),
                notes=tuple(dict.fromkeys(notes)),
            )
    raise _failed(None)


def _failed(failure: Exception | None) -> ModelFailure:
    what = getattr(failure, "what", "the server gave no answer")
    return ModelFailure(what, code="llm.trial-failed", do=getattr(failure, "do", ""))


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

    trial = try_prompt(prompt, text, model or LOCAL_SPEC, allow_remote=allow_remote)
    print_notes(trial.notes)
    if json_:
        print_json(**_record(trial))
        return

    for message in trial.messages:
        typer.echo(f"--- {message['role']} ---\n{message['content']}\n")
    typer.echo(f"--- settings ---\n{json.dumps(trial.settings, ensure_ascii=False)}\n")
    typer.echo(f"--- reply ({trial.reply.finish or 'no reason for its end'}) ---\n{trial.reply.text}\n")
    typer.echo("--- reading ---")
    for line in _reading_lines(trial):
        typer.echo(line)


def _reading_lines(trial: Trial) -> list[str]:
    """The scores, where they stood or why there are none, the reason, and the cost."""
    scores = [
        f"{label} {'?' if math.isnan(score) else f'{score:.3g}'}" for label, score in trial.scores.items()
    ]
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


def _record(trial: Trial) -> dict[str, object]:
    reply = trial.reply
    return {
        "messages": list(trial.messages),
        "settings": dict(trial.settings),
        "reply": reply.text,
        "finish": reply.finish,
        "tokens": [reply.prompt_tokens, reply.completion_tokens],
        "how": trial.reading.how,
        "scores": {label: None if math.isnan(score) else score for label, score in trial.scores.items()},
        "reason": trial.reading.rationale,
        "cost": trial.cost,
        "notes": list(trial.notes),
    }


app.command("cascade")(cascade_cli)
app.command("calibrate")(calibrate_cli)


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
