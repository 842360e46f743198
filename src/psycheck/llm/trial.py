"""One question to an LLM, with everything about it: what was sent, what came back, and how it is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycheck.core.errors import BadInput, ModelFailure
from psycheck.core.model import Reply, answers_in
from psycheck.llm.model import LlmModel
from psycheck.llm.parsing import NO_ANSWERS, Reading
from psycheck.models.opening import open_model
from psycheck.scoring.limits import Limits, refuse_remote


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One question: its messages and settings, the reply and how it is read, its cost and notes."""

    labels: tuple[str, ...]
    messages: Sequence[Mapping[str, str]]
    settings: Mapping[str, Any]
    reply: Reply
    reading: Reading
    cost: float | None
    notes: tuple[str, ...]

    @property
    def scores(self) -> dict[str, float]:
        """The score of each label, NaN where the reply does not answer it."""
        return dict(zip(self.labels, self.reading.scores.tolist(), strict=True))

    @property
    def remedy(self) -> str:
        """What to change if the reply answers nothing."""
        no_answer = NO_ANSWERS.get(self.reading.how)
        return f"{no_answer.what}: {no_answer.do}" if no_answer else ""


def try_prompt(prompt: str, text: str, spec: str, *, allow_remote: bool = False) -> Trial:
    """Ask one question; nothing is stored."""
    model = open_model(spec, prompt=prompt)
    if not isinstance(model, LlmModel):
        raise BadInput(
            f"'{spec}' is not an LLM",
            code="llm.not-an-llm",
            allowed="llm:NAME?base_url=…",
            do="name an LLM",
        )
    refuse_remote([model], Limits(allow_remote=allow_remote))

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
