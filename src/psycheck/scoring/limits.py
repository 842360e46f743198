"""What a run may send to models that reply in words, and what it will take, before the first request."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from psycheck.errors import BadInput, ModelFailure, counted
from psycheck.model import Expected, Item, Model, Replying
from psycheck.scoring.tally import Tally
from psycheck.scoring.view import RememberedScores
from psycheck.settings.reader import AT_LEAST_0


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may send: texts to another machine or none, requests and cost at most.

    With `ask_again="unreadable"`, items whose reply leaves a label unanswered are asked once more.
    """

    allow_remote: bool = False
    max_requests: Annotated[int, AT_LEAST_0] | None = None
    max_cost: Annotated[float, AT_LEAST_0] | None = None
    ask_again: Literal["unreadable"] | None = None


NO_LIMITS = Limits()


@dataclass(slots=True)
class Allowance:
    """How many requests the run may still send, and what it may cost; None stands for any number.

    `costs` are those of each model's replies so far.
    """

    left: int | None
    max_cost: float | None = None
    costs: dict[str, float] = field(default_factory=dict)

    @property
    def cost_reached(self) -> bool:
        """Whether the replies so far cost as much as the run may."""
        cost = sum(self.costs.values())
        return self.max_cost is not None and cost > 0 and cost >= self.max_cost

    def pay(self, model: Replying, tally: Tally) -> None:
        """Take note of what the replies of a model have cost so far."""
        self.costs[model.name] = cost_of(model, tally) or 0.0

    def allows(self, tally: Tally, again: int) -> bool:
        """Whether a request may be sent; what is sent again is counted, a negative number given back."""
        if again >= 0 and (self.cost_reached or (self.left is not None and self.left < again)):
            return False
        self.left = None if self.left is None else self.left - again
        tally.requests += again
        return True

    def spend(self, model: Replying, items: Sequence[Item], tally: Tally) -> None:
        """Count the requests for some items, or stop the run before more are sent than it may."""
        if self.cost_reached:
            raise ModelFailure(
                f"the replies so far cost {sum(self.costs.values()):,.2f}, and `max_cost` allows no more",
                do="raise `max_cost` and run the same command again; every reply so far is stored",
            )
        requests = each(model, items) * len(items)
        if self.left is not None:
            if requests > self.left:
                raise ModelFailure(
                    f"`max_requests` leaves {counted(self.left, 'request')}, and model '{model.name}' needs "
                    f"{requests:,}: earlier ones failed and were sent again",
                    do="raise `max_requests` and run the same command again; every reply so far is stored",
                )
            self.left -= requests
        tally.requests += requests

    def most(self, model: Replying, items: Sequence[Item]) -> int:
        """How many of some items may still be asked."""
        if self.cost_reached:
            return 0
        return len(items) if self.left is None else min(len(items), self.left // max(1, each(model, items)))


def cost_of(model: Model, tally: Tally) -> float | None:
    """What the replies of a model cost, None if it does not know."""
    cost = getattr(model, "cost", None)
    return cost(tally.prompt_tokens, tally.completion_tokens) if cost else None


def each(model: Replying, items: Sequence[Item]) -> int:
    """How many requests one item takes."""
    expected = getattr(model, "expected", None)
    return int(expected(items[:1]).requests) if expected and len(items) else 1


def refuse_remote(models: Iterable[Model], limits: Limits) -> None:
    """Refuse to send texts to another machine unless the user allows it."""
    for model in models:
        if (host := getattr(model, "remote", "")) and not limits.allow_remote:
            raise BadInput(
                f"model '{model.name}' would send every text to another machine: {host}",
                allowed="a server on this machine, or `allow_remote`",
                do="set `allow_remote` if the texts may leave this machine",
            )


def to_ask(
    view: RememberedScores, chunks: Iterable[tuple[float, int, list[Item]]], limits: Limits
) -> list[Item]:
    """The distinct items that have no reply yet, or one that will be asked for again."""
    items: dict[Item, None] = {}
    for _, _, some in chunks:
        lacking = view.find(view.digests(some)) < 0
        if limits.ask_again:
            lacking |= view.unanswered(some) > 0
        items.update((item, None) for item, lacks in zip(some, lacking.tolist(), strict=True) if lacks)
    return list(items)


def expected_tally(
    model: Replying,
    view: RememberedScores,
    chunks: Iterable[tuple[float, int, list[Item]]],
    limits: Limits,
) -> Tally:
    """What asking will take, without asking."""
    gathered = list(chunks)
    items, distinct = to_ask(view, gathered, limits), {item for _, _, some in gathered for item in some}
    tally = Tally(
        sum(asked for _, asked, _ in gathered), len(distinct), len(distinct) - len(items), len(items)
    )
    if found := expected_of(model, items):
        tally.prompt_tokens, tally.completion_tokens = found.prompt_tokens, found.completion_tokens
        tally.cost = found.cost
    tally.requests = found.requests if found else len(items)
    return tally


def expected_of(model: Replying, items: Sequence[Item]) -> Expected | None:
    """What asking will take, as the model expects; None if it does not say."""
    expected = getattr(model, "expected", None)
    return expected(items) if expected else None


def refuse_excess(plans: Sequence[tuple[Replying, Sequence[Item]]], limits: Limits) -> list[str]:
    """Refuse, before the first request, what is above the limits; returns what each model will take."""
    notes, requests, cost = [], 0, 0.0
    for model, items in plans:
        found = expected_of(model, items)
        requests += found.requests if found else len(items)
        if limits.max_cost is not None and items:
            if found is None or found.cost is None:
                raise BadInput(
                    f"the cost of model '{model.name}' is not known, so `max_cost` cannot be kept",
                    do="give the model its prices, or use `max_requests`",
                )
            cost += found.cost
        if items:
            notes.append(f"{model.name}: {forecast_line(found, len(items))}")
    if limits.max_requests is not None and requests > limits.max_requests:
        raise BadInput(
            f"the run needs {counted(requests, 'request')}, more than `max_requests` allows "
            f"({limits.max_requests:,})",
            do="raise `max_requests`, or audit fewer texts; nothing was sent",
        )
    if limits.max_cost is not None and cost > limits.max_cost:
        raise BadInput(
            f"the run would cost about {cost:,.2f}, more than `max_cost` allows ({limits.max_cost:,.2f})",
            do="raise `max_cost`, or audit fewer texts; nothing was sent",
        )
    return notes


def forecast_line(found: Expected | None, items: int) -> str:
    """One line on requests, tokens and cost."""
    if found is None:
        return f"{counted(items, 'request')} to send; the model does not say how many tokens"
    tokens = f"about {found.prompt_tokens:,} tokens in and at most {found.completion_tokens:,} out"
    cost = "cost not known" if found.cost is None else f"cost about {found.cost:,.2f}"
    return f"{counted(found.requests, 'request')} to send, {tokens}, {cost}"
