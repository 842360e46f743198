"""Models that reply in words: replies are committed as they arrive, errors are never replies, limits hold."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from psycheck.errors import ModelFailure
from psycheck.model import Reply
from psycheck.scoring.answers import answers
from psycheck.scoring.patience import RETRIES
from scoring.test_answers import Talker, scored

SLOW = """
import sys, time
from pathlib import Path
from psycheck.model import Reply
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

    with pytest.raises(ModelFailure, match="does not give one answer to each item"):
        scored(Wrong(), ["a", "bb"])
