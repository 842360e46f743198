"""Models that reply in words: replies are committed as they arrive, errors are never replies, limits hold."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import ModelFailure
from psycheck.core.model import Answer, Capabilities, Expected, Reply, answers_in, ignored, unlimited
from psycheck.scoring.answers import answers, forecast
from psycheck.scoring.limits import Limits
from psycheck.scoring.retries import RETRIES
from psycheck.scoring.store import Store
from psycheck.scoring.tally import Tally
from refusals import refused
from scoring.test_answers import Talker, scored

SLOW = """
import sys, time
from pathlib import Path
from psycheck.core.model import Reply
from psycheck.scoring.answers import answers
from scoring.test_answers import Talker

class Slow(Talker):
    def ask(self, items, /):
        for place, text in enumerate(items):
            if len(text) == 1:
                print("waiting", flush=True)
                time.sleep(60)
            yield place, Reply(f"depression: 0.{len(text)}", 1, 1)

with answers([Slow()], [(1.0, ["ccc", "bb", "a"])], store=Path(sys.argv[1])):
    pass
"""


def test_a_killed_process_loses_only_the_requests_under_way(tmp_path: Path) -> None:
    path = tmp_path / "killed.sqlite"
    folder = str(Path(__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r})\n{SLOW}", str(path)],
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"waiting\n"  # what a model prints does not reach our output
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    model = Talker()
    with answers([model], [(1.0, ["ccc", "bb", "a"])], store=path) as found:
        assert found.views[0].of(["ccc", "bb", "a"])[:, 0].tolist() == [0.3, 0.2, 0.1]
    assert model.asked == ["a"]


class Refused(Talker):
    """Answers one item, then finds that its key was withdrawn."""

    def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
        self.asked += items
        yield 0, Reply(f"depression: 0.{len(items[0])}")
        raise ModelFailure("the server refuses the key (401)", do="set another key")


def test_what_would_fail_for_every_item_stops_the_run_and_loses_nothing() -> None:
    with pytest.raises(ModelFailure, match="refuses the key"):
        scored(Refused(), ["ccc", "bb", "a"])
    model = Talker()
    with answers([model], [(1.0, ["ccc", "bb", "a"])]) as found:
        assert found.tallies["talker"].remembered == 1
    assert model.asked == ["bb", "a"]


@pytest.mark.parametrize("error", [ConnectionResetError, KeyError])
def test_items_answered_before_a_model_breaks_are_not_asked_again(error: type[Exception]) -> None:
    class Broken(Talker):
        def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
            yield next(iter(super().ask(items)))
            raise error

    model = Broken()
    with answers([model], [(1.0, ["ccc", "bb", "a"])], sleep=lambda seconds: None) as found:
        assert found.views[0].of(["ccc", "bb", "a"])[:, 0].tolist() == [0.3, 0.2, 0.1]
    again = (
        ["ccc", "bb", "ccc"] if error is ConnectionResetError else ["ccc", "bb"]
    )  # halves, if it may persist
    assert model.asked == ["ccc", "bb", "a", *again]
    assert (found.tallies["talker"].scored, found.tallies["talker"].failed) == (3, 0)


def test_a_few_items_that_never_get_an_answer_do_not_stop_the_run() -> None:
    model = Talker(failures={"bb": [TimeoutError()] * 99})
    with answers([model], [(1.0, ["ccc", "bb", "a"])], sleep=lambda seconds: None) as found:
        assert [reason.split()[0] for reason in found.views[0].complaints] == ["TimeoutError"]
    assert model.asked.count("bb") == RETRIES + 1
    assert (found.tallies["talker"].scored, found.tallies["talker"].failed) == (2, 1)


@pytest.mark.parametrize(
    "answer", [[(0, Reply("depression: 0.1"))] * 2, [(7, Reply(""))], [(0, "yes")], [Reply("")], []]
)
def test_a_model_must_give_one_answer_to_each_item(answer: list[tuple[int, Reply | Exception]]) -> None:
    class Wrong(Talker):
        def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
            yield from answer

    with refused("model.malformed-answers"):
        scored(Wrong(), ["a", "bb"])


def test_a_failure_of_a_model_that_retries_by_itself_is_final() -> None:
    class SelfPaced(Talker):
        capabilities = Capabilities(asks_leave=True)

        def ask(
            self,
            items: Sequence[str],
            /,
            *,
            allowed: Callable[[int], bool] = unlimited,
        ) -> Iterator[tuple[int, Reply | Exception]]:
            assert allowed(0)
            yield from super().ask(items)

    model = SelfPaced(failures={"bb": [TimeoutError()]})
    waits: list[float] = []
    with answers([model], [(1.0, ["ccc", "bb", "a"])], sleep=waits.append) as found:
        assert (found.tallies["talker"].scored, found.tallies["talker"].failed) == (2, 1)
    assert (model.asked, waits) == (["ccc", "bb", "a"], [])


def test_what_a_model_says_about_its_server_is_noted_where_it_takes_say() -> None:
    class Telling(Talker):
        capabilities = Capabilities(asks_leave=True)

        def ask(
            self,
            items: Sequence[str],
            /,
            *,
            allowed: Callable[[int], bool] = unlimited,
            say: Callable[[str], None] = ignored,
        ) -> Iterator[tuple[int, Reply | Exception]]:
            say("the server is slow")
            yield from super().ask(items)

    with answers([Telling()], [(1.0, ["a"])]) as found:
        assert found.tallies["talker"].notes == ["the server is slow"]


def test_answers_that_arrive_together_are_committed_together(own_store: Path) -> None:
    class Grouping(Talker):
        def ask(self, items: Sequence[str], /) -> Iterator[list[Answer]]:  # type: ignore[override]  # as `Replying` allows
            yield [answer for arrival in super().ask(items) for answer in answers_in(arrival)]

    model = Grouping()
    with answers([model], [(1.0, ["ccc", "bb", "a"])]) as found:
        assert found.tallies["talker"].scored == 3
    store = Store(own_store)
    assert [len(batch.replies) for _, batch in store.batches(store.enter(model))] == [3]


@dataclass
class Priced(Talker):
    """Knows what asking takes; its server may be elsewhere."""

    remote: str = ""
    prices: tuple[float, float] | None = (0.01, 0.1)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(remote=self.remote)

    def expected(self, items: Sequence[str]) -> Expected:
        n = len(items)
        return Expected(n, 20 * n, 7 * n, self.cost(20 * n, 7 * n))

    def cost(self, prompt: int, completion: int) -> float | None:
        return None if self.prices is None else prompt * self.prices[0] + completion * self.prices[1]


def limited(model: Talker, items: Sequence[str], **limits: Any) -> tuple[Tally, list[str]]:
    said: list[str] = []
    how: dict[str, Any] = {"limits": Limits(**limits), "sleep": lambda seconds: None, "say": said.append}
    with answers([model], [(1.0, items)], **how) as found:
        return found.tallies[model.name], said


@pytest.mark.parametrize(
    ("model", "limits", "code", "value"),
    [
        (Priced(remote="api.example.org"), {}, "limits.remote", "api.example.org"),
        (Priced(), {"max_requests": 2}, "limits.too-many-requests", "3 requests"),
        (Talker(), {"max_requests": 2}, "limits.too-many-requests", "3 requests"),
        (Priced(), {"max_cost": 2.69}, "limits.too-expensive", "2.70"),
        (Priced(prices=None), {"max_cost": 1.0}, "limits.unknown-cost", "'talker'"),
        (Talker(), {"max_cost": 1.0}, "limits.unknown-cost", "'talker'"),
    ],
)
def test_what_is_above_a_limit_is_refused_before_the_first_request(
    model: Talker, limits: dict[str, Any], code: str, value: str
) -> None:
    with refused(code) as caught:
        limited(model, ["a", "bb", "ccc"], **limits)
    assert value in caught.value.what
    assert model.asked == []


def test_within_its_limits_a_run_tells_first_what_it_takes_and_counts_what_it_took() -> None:
    model = Priced(remote="api.example.org")
    limits = {"allow_remote": True, "max_requests": 3, "max_cost": 2.7}
    tally, said = limited(model, ["a", "bb", "ccc", "a"], **limits)
    assert said == [
        "talker: 3 requests to send, about 60 tokens in and at most 21 out, cost about 2.70"
    ]  # 3 × (20 × 0.01 + 7 × 0.1)
    assert (tally.requests, tally.prompt_tokens, tally.completion_tokens) == (3, 36, 21)  # 11 + 12 + 13
    assert tally.cost == pytest.approx(36 * 0.01 + 21 * 0.1)
    tally, said = limited(model, ["a", "bb", "ccc", "a"], max_requests=0, allow_remote=True)
    assert (tally.requests, tally.remembered) == (0, 3)  # what is stored needs no request


def test_requests_sent_again_after_a_failure_count_and_never_exceed_the_limit() -> None:
    model = Talker(failures={"a": [TimeoutError()] * 2})
    with refused("limits.requests-reached") as caught:
        limited(model, ["a", "bb", "ccc"], max_requests=4)
    assert "leaves 0 requests, and model 'talker' needs 1" in caught.value.what
    assert len(model.asked) == 4
    tally, _ = limited(model, ["a", "bb", "ccc"], max_requests=1)
    assert (tally.requests, tally.remembered) == (1, 2)


def test_the_cost_of_replies_stops_a_model_that_asks_no_leave() -> None:
    class Dear(Priced):
        """Replies are ten times as dear as expected."""

        def expected(self, items: Sequence[str]) -> Expected:
            return Expected(len(items), 0, 0, 0.1 * len(items))

    model = Dear(failures={"a": [TimeoutError()]})
    with refused("limits.cost-reached") as caught:
        limited(model, ["a", "bb", "ccc"], max_cost=1.0)
    assert "1.65" in caught.value.what
    assert model.asked == ["ccc", "bb", "a"]  # (12 + 13) × 0.01 + 2 × 7 × 0.1; the third is not asked again
    tally, _ = limited(model, ["a", "bb", "ccc"], max_cost=1.0)
    assert (tally.remembered, tally.scored) == (2, 1)


class Mumbling(Talker):
    """Answers nothing until it is asked for the second time."""

    def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
        for place, text in enumerate(items):
            self.asked.append(text)
            clear = self.asked.count(text) > 1 and text != "ccc"
            yield place, Reply("0.5 0.5" if clear else "hm", 10, 2)

    def read_reply(self, reply: Reply, /) -> FloatArray:
        return np.full(2, 0.5) if reply.text == "0.5 0.5" else np.full(2, np.nan)


def test_unreadable_replies_are_asked_for_once_more_and_replaced() -> None:
    model = Mumbling()
    tally, _ = limited(model, ["a", "bb", "ccc"])
    assert (tally.requests, tally.unreadable, tally.scored) == (3, 3, 3)
    tally, _ = limited(model, ["a", "bb", "ccc", "dddd"], ask_again="unreadable")
    assert sorted(model.asked[3:]) == ["a", "bb", "ccc", "dddd", "dddd"]
    assert (tally.requests, tally.prompt_tokens, tally.completion_tokens) == (5, 50, 10)
    assert (tally.unreadable, tally.scored, tally.remembered, tally.failed) == (1, 1, 3, 0)
    with answers([model], [(1.0, ["a", "bb", "ccc", "dddd"])]) as found:  # the later reply counts
        scores = found.views[0].of(["a", "bb", "ccc", "dddd"])[:, 0]
        np.testing.assert_array_equal(scores, [0.5, 0.5, np.nan, 0.5])
    assert len(model.asked) == 8


def test_a_failure_while_asking_again_keeps_the_first_reply() -> None:
    limited(Mumbling(), ["a"])

    class Failing(Mumbling):
        def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
            yield 0, ValueError("refused")

    tally, _ = limited(Failing(), ["a"], ask_again="unreadable")
    assert (tally.requests, tally.unreadable, tally.remembered, tally.failed) == (1, 1, 1, 0)


def test_a_dry_run_of_a_model_that_replies_asks_nothing() -> None:
    model = Priced(remote="api.example.org")
    limited(model, ["a"], allow_remote=True)
    tally = forecast([model], lambda: [(1.0, ["a", "bb", "bb", "ccc"])], None)["talker"]
    assert model.asked == ["a"]
    assert (tally.asked, tally.distinct, tally.remembered, tally.scored, tally.requests) == (4, 3, 1, 2, 2)
    assert (tally.prompt_tokens, tally.completion_tokens) == (40, 14)
    assert tally.cost == pytest.approx(40 * 0.01 + 14 * 0.1)


def test_hard_answers_are_known_as_such() -> None:
    class YesNo(Talker):
        def read_reply(self, reply: Reply, /) -> FloatArray:
            return np.array([float("0.1" in reply.text), np.nan])

    for model, hard in ((YesNo(), True), (Talker(), False)):
        with answers([model], [(1.0, ["a", "bb"])]) as found:
            assert found.views[0].traits.hard is hard
