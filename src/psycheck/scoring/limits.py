"""What a run may send to models that reply in words, and what it will take, before the first request."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from psycheck.core.errors import BadInput, ModelFailure, counted
from psycheck.core.item import Item
from psycheck.core.model import Expected, Forecasting, Model, Priced, Replying, capabilities_of
from psycheck.io.settings import AT_LEAST_0
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.tally import Tally

Chunk = tuple[float, int, list[Item]]
"""The share of all items that is gathered so far, how many were asked for, and the distinct items."""


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

    def refuse_cost(self) -> None:
        """Stop the run if its replies cost as much as they may."""
        if self.cost_reached:
            raise ModelFailure(
                f"the replies so far cost {sum(self.costs.values()):,.2f}, and `max_cost` allows no more",
                code="limits.cost-reached",
                do="raise `max_cost` and run the same command again; every reply so far is stored",
            )

    def pay(self, model: Replying, tally: Tally) -> None:
        """Take note of what the replies of a model have cost so far."""
        self.costs[model.name] = cost_of(model, tally) or 0.0

    def allows(self, tally: Tally, again: int) -> bool:
        """Whether a request may be sent: the `allowed` of `Replying`.

        What is sent again (1) is counted, what is not sent after all (a negative number) is given back.
        """
        is_given_back = again < 0
        if not is_given_back:
            has_too_few = self.left is not None and self.left < again
            if self.cost_reached or has_too_few:
                return False
        self._count(again, tally)
        return True

    def spend(self, model: Replying, items: Sequence[Item], tally: Tally) -> None:
        """Count the requests for some items, or stop the run before more are sent than it may."""
        self.refuse_cost()
        per_item = requests_per_item(model, items)
        requests = per_item * len(items)
        if self.left is not None and requests > self.left:
            raise ModelFailure(
                f"`max_requests` leaves {counted(self.left, 'request')}, and model '{model.name}' needs "
                f"{requests:,}: earlier ones failed and were sent again",
                code="limits.requests-reached",
                do="raise `max_requests` and run the same command again; every reply so far is stored",
            )
        self._count(requests, tally)

    def most(self, model: Replying, items: Sequence[Item]) -> int:
        """How many of some items may still be asked."""
        if self.cost_reached:
            return 0
        if self.left is None:
            return len(items)
        per_item = max(1, requests_per_item(model, items))
        affordable = self.left // per_item
        return min(len(items), affordable)

    def _count(self, requests: int, tally: Tally) -> None:
        if self.left is not None:
            self.left -= requests
        tally.requests += requests


def cost_of(model: Model, tally: Tally) -> float | None:
    """What the replies of a model cost, None if it does not know."""
    if not isinstance(model, Priced):
        return None
    return model.cost(tally.prompt_tokens, tally.completion_tokens)


def expected_of(model: Replying, items: Sequence[Item]) -> Expected | None:
    """What asking will take, as the model expects; None if it does not say."""
    return model.expected(items) if isinstance(model, Forecasting) else None


def requests_per_item(model: Replying, items: Sequence[Item]) -> int:
    """How many requests one item takes."""
    if not len(items):
        return 1
    forecast = expected_of(model, items[:1])
    return int(forecast.requests) if forecast else 1


def refuse_remote(models: Iterable[Model], limits: Limits) -> None:
    """Refuse to send texts to another machine unless the user allows it."""
    for model in models:
        host = capabilities_of(model).remote
        if host and not limits.allow_remote:
            raise BadInput(
                f"model '{model.name}' would send every text to another machine: {host}",
                code="limits.remote",
                allowed="a server on this machine, or `allow_remote`",
                do="set `allow_remote` if the texts may leave this machine",
            )


def to_ask(view: RememberedScores, chunks: Iterable[Chunk], limits: Limits) -> list[Item]:
    """The distinct items that have no reply yet, or one that will be asked for again."""
    distinct: dict[Item, None] = {}
    for _, _, items in chunks:
        rows = view.find(view.digests(items))
        needs_reply = rows < 0
        if limits.ask_again:
            needs_reply |= view.unanswered(items) > 0
        for item, needed in zip(items, needs_reply.tolist(), strict=True):
            if needed:
                distinct[item] = None
    return list(distinct)


def expected_tally(model: Replying, view: RememberedScores, chunks: Iterable[Chunk], limits: Limits) -> Tally:
    """What asking will take, without asking."""
    gathered = list(chunks)
    distinct: set[Item] = set()
    requested = 0
    for _, requested_in_chunk, items in gathered:
        distinct.update(items)
        requested += requested_in_chunk

    unanswered = to_ask(view, gathered, limits)
    tally = Tally(
        asked=requested,
        distinct=len(distinct),
        remembered=len(distinct) - len(unanswered),
        scored=len(unanswered),
        requests=len(unanswered),
    )

    forecast = expected_of(model, unanswered)
    if forecast:
        tally.requests = forecast.requests
        tally.prompt_tokens = forecast.prompt_tokens
        tally.completion_tokens = forecast.completion_tokens
        tally.cost = forecast.cost
    return tally


def refuse_excess(plans: Sequence[tuple[Replying, Sequence[Item]]], limits: Limits) -> list[str]:
    """Refuse, before the first request, what is above the limits; returns what each model will take."""
    notes: list[str] = []
    requests = 0
    cost = 0.0
    for model, items in plans:
        if not items:
            continue
        forecast = expected_of(model, items)
        requests += forecast.requests if forecast else len(items)
        if limits.max_cost is not None:
            cost += _known_cost(model, forecast)
        notes.append(f"{model.name}: {forecast_line(forecast, len(items))}")

    _refuse_requests(requests, limits)
    _refuse_cost(cost, limits)
    return notes


def _known_cost(model: Replying, forecast: Expected | None) -> float:
    if forecast is None or forecast.cost is None:
        raise BadInput(
            f"the cost of model '{model.name}' is not known, so `max_cost` cannot be kept",
            code="limits.unknown-cost",
            do="give the model its prices, or use `max_requests`",
        )
    return forecast.cost


def _refuse_requests(requests: int, limits: Limits) -> None:
    if limits.max_requests is not None and requests > limits.max_requests:
        raise BadInput(
            f"the run needs {counted(requests, 'request')}, more than `max_requests` allows "
            f"({limits.max_requests:,})",
            code="limits.too-many-requests",
            do="raise `max_requests`, or audit fewer texts; nothing was sent",
        )


def _refuse_cost(cost: float, limits: Limits) -> None:
    if limits.max_cost is not None and cost > limits.max_cost:
        raise BadInput(
            f"the run would cost about {cost:,.2f}, more than `max_cost` allows ({limits.max_cost:,.2f})",
            code="limits.too-expensive",
            do="raise `max_cost`, or audit fewer texts; nothing was sent",
        )


def forecast_line(forecast: Expected | None, items: int) -> str:
    """One line on requests, tokens and cost."""
    if forecast is None:
        return f"{counted(items, 'request')} to send; the model does not say how many tokens"
    requests = counted(forecast.requests, "request")
    tokens = f"about {forecast.prompt_tokens:,} tokens in and at most {forecast.completion_tokens:,} out"
    cost = "cost not known"
    if forecast.cost is not None:
        cost = f"cost about {forecast.cost:,.2f}"
    return f"{requests} to send, {tokens}, {cost}"
