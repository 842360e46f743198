"""The one scoring call: models that reply in words or fail for a while, and items that are not texts."""

import sqlite3
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from planted import MODELS, Counting, Planted
from psycheck.core.arrays import FloatArray
from psycheck.core.errors import TransientFailure
from psycheck.core.item import Item, digest_of, digests_of, size_of, sizes_of
from psycheck.core.model import Capabilities, Model, Reply, Replying
from psycheck.scoring.answers import Answers, answers, in_equal_shares, not_scored, scores_of
from psycheck.scoring.retries import RETRIES
from psycheck.scoring.store import Store
from psycheck.scoring.store_database import MIGRATIONS
from refusals import refused

LOGPROBS, OTHERS = '[["0", -0.1, []]]', ("\ud83d 0.3", "")


@dataclass
class Talker(Replying):
    """Replies with the length of a text, as words; fails as it is told to."""

    name: str = "talker"
    labels: tuple[str, ...] = ("depression", "anxiety")
    fingerprint: str = "talker-1"
    failures: dict[str, list[Exception]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
        self.asked += items
        for place, text in reversed(list(enumerate(items))):  # the last question is answered first
            if failures := self.failures.get(text):
                yield place, failures.pop(0)
            else:
                said = f"depression: 0.{len(text)}; anxiety: no idea \ud83d"
                yield (
                    place,
                    Reply(said, 10 + len(text), 7, "stop", 0.5, '[["0", -0.1, []]]', ("\ud83d 0.3", "")),
                )

    def read_reply(self, reply: Reply, /) -> FloatArray:
        return np.array([float(reply.text[12:15]), np.nan])


def scored(model: Model, items: Sequence[Item]) -> Answers:
    """Score without waiting."""
    with answers([model], [(1.0, items)], sleep=lambda seconds: None) as found:
        return found


def test_replies_are_stored_and_scores_are_read_from_them(own_store: Path) -> None:
    model = Talker()
    with answers([model], [(1.0, ["a", "bb", "a"])]) as found:
        np.testing.assert_array_equal(found.views[0].of(["bb", "a"]), [[0.2, np.nan], [0.1, np.nan]])
    assert found.tallies["talker"].scored == 2
    store = Store(own_store)
    replies = [reply for _, batch in store.batches(store.enter(model)) for reply in batch.replies]
    assert replies[1] == Reply(
        "depression: 0.2; anxiety: no idea \ud83d",
        12,
        7,
        "stop",
        0.5,
        '[["0", -0.1, []]]',
        ("\ud83d 0.3", ""),
    )

    class Better(Talker):
        def read_reply(self, reply: Reply, /) -> FloatArray:
            return np.array([float(reply.text[12:15]), 0.0])

    again = Better()
    with answers([again], [(1.0, ["a", "bb"])]) as found:
        assert found.views[0].of(["bb", "a"]).tolist() == [[0.2, 0], [0.1, 0]]
    assert again.asked == []  # a better reader costs no request


def test_only_the_failed_items_of_a_batch_are_asked_again() -> None:
    busy = TransientFailure("rate limit", after=100.0)
    model = Talker(failures={"a": [busy, TimeoutError()], "bb": [ValueError("refused bb")]})
    waits: list[float] = []
    with answers([model], [(1.0, ["a", "bb", "ccc"])], sleep=waits.append) as found:
        assert found.views[0].of(["a", "bb", "ccc"])[:, 0].tolist() == pytest.approx(
            [0.1, np.nan, 0.3], nan_ok=True
        )
        assert list(found.views[0].complaints) == ["ValueError at unknown place"]
    assert model.asked == ["ccc", "bb", "a", "a", "a"]
    assert waits[0] == 100.0  # as long as the server asked for
    assert 1 <= waits[1] <= 3  # the second wait is two seconds, more or less
    assert (found.tallies["talker"].scored, found.tallies["talker"].failed) == (2, 1)


def test_a_reply_that_cannot_be_read_stops_the_run_and_is_kept(own_store: Path) -> None:
    class Careless(Talker):
        def read_reply(self, reply: Reply, /) -> FloatArray:
            raise IndexError(reply.text)

    model = Careless()
    with refused("model.cannot-read-reply") as caught:
        scored(model, ["a"])
    assert "IndexError at test_answers.py" in caught.value.what
    assert "depression" not in str(caught.value)
    with answers([Talker()], [(1.0, ["a"])]) as found:
        assert found.views[0].of(["a"])[0, 0] == 0.1
    assert found.tallies["talker"].scored == 0


def test_scores_without_the_store() -> None:
    np.testing.assert_array_equal(scores_of(Talker(), ["a"]), [[0.1, np.nan]])


class Flaky:
    """Scores 0.5, but its first calls fail."""

    name, labels, fingerprint = "flaky", ("depression",), "flaky"
    capabilities = Capabilities(batch=2)

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.calls: list[list[str]] = []

    def score(self, texts: Sequence[str], /) -> FloatArray:
        self.calls.append(list(texts))
        if self.failures:
            raise self.failures.pop(0)
        return np.full((len(texts), 1), 0.5)


@pytest.mark.parametrize("failure", [TransientFailure("busy"), TimeoutError(), ConnectionResetError()])
def test_a_failure_that_passes_is_waited_for_and_halves_nothing(failure: Exception) -> None:
    model, waits = Flaky(failure, failure, failure), list[float]()
    with answers([model], [(1.0, ["a", "b"])], sleep=waits.append) as found:
        assert found.views[0].of(["a", "b"]).tolist() == [[0.5], [0.5]]
    assert model.calls == [["a", "b"]] * 4
    assert all(0.5 * 2**k <= wait <= 1.5 * 2**k for k, wait in enumerate(waits))
    assert len(waits) == 3
    assert found.tallies["flaky"].failed == 0


def test_a_failure_that_persists_stops_the_run_and_what_is_finished_is_kept() -> None:
    scored(Flaky(), ["aa", "bb"])
    model = Flaky(*[TimeoutError("secret text")] * 100)
    with refused("model.no-answer", do="run the same command again") as caught:
        scored(model, ["aa", "bb", "c", "d"])
    assert "TimeoutError" in caught.value.what
    assert f"{RETRIES + 1} times" in caught.value.what
    assert "secret" not in str(caught.value)
    assert model.calls == [["c", "d"]] * (RETRIES + 1)
    found = scored(Flaky(), ["aa", "bb", "c", "d"])
    assert (found.tallies["flaky"].remembered, found.tallies["flaky"].scored) == (2, 2)


def _short_sighted(text: str) -> float:
    if len(text) > 20:
        raise ValueError("too long")
    return 0.5


def test_a_model_that_fails_on_long_texts_alone_does_not_stop_the_run() -> None:
    model = Planted("short-sighted", _short_sighted)
    object.__setattr__(model, "capabilities", Capabilities(batch=10))
    texts = ["x" * n for n in range(1, 61)]  # six batches; the first four are too long
    with answers([model], [(1.0, texts)]) as found:
        assert found.views[0].of(["x" * 20])[0, 0] == 0.5
    assert (found.tallies["short-sighted"].scored, found.tallies["short-sighted"].failed) == (20, 40)


def test_a_model_that_fails_on_all_sizes_stops_after_a_sample() -> None:
    model = Counting(Planted("broken", lambda text: 1 / 0))
    object.__setattr__(model, "capabilities", Capabilities(batch=10))
    texts = ["x" * n for n in range(1, 1001)]
    with refused("model.fails-on-every-text") as caught:
        scored(model, texts)
    assert "ZeroDivisionError" in caught.value.what
    assert len(set(model.seen)) == 10 + 16
    assert "x" in model.seen


@dataclass(frozen=True)
class Posts:
    """Some posts of one author."""

    posts: tuple[str, ...]

    @property
    def digest(self) -> bytes:
        return blake2b("\x1e".join(("posts", *self.posts)).encode(), digest_size=16).digest()

    @property
    def size(self) -> int:
        return sum(map(len, self.posts))

    def __len__(self) -> int:
        return len(self.posts)


class CountsPosts:
    """Scores a history by the number of its posts, and a text as one."""

    name, labels, fingerprint = "posts", ("depression",), "posts"

    def __init__(self) -> None:
        self.seen: list[Posts | str] = []

    def score(self, items: Sequence[Posts | str], /) -> FloatArray:
        self.seen += items
        return np.array([[0.1 * (len(item) if isinstance(item, Posts) else 1)] for item in items])

    def read(self, items: Sequence[Posts | str], /) -> np.ndarray:
        return np.minimum(sizes_of(items), 4)


def test_an_item_is_whatever_has_a_digest_and_a_size() -> None:
    two, three, text = Posts(("first", "second")), Posts(("a", "b", "c")), "a text"
    assert (
        [size_of(item) for item in (two, three, text)] == sizes_of([two, three, text]).tolist() == [11, 3, 6]
    )
    assert digests_of([two, text]).tobytes() == digest_of(two) + digest_of(text)
    model = CountsPosts()
    with answers([model], [(1.0, [three, two, Posts(("a", "b", "c")), text])]) as found:
        view = found.views[0]
        assert view.of([text, two, three])[:, 0].tolist() == pytest.approx([0.1, 0.2, 0.3])
        assert view.read([text, two, three]).tolist() == [4, 4, 3]
    assert model.seen == [two, text, three]  # the largest first
    again = CountsPosts()
    with answers([again], [(1.0, [two, text, Posts(("new",))])]) as found:
        assert found.views[0].of([two])[0, 0] == pytest.approx(0.2)
    assert again.seen == [Posts(("new",))]


def test_models_are_opened_from_their_specs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "labels = ['low']\ndef score(texts):\n    return [0.25 for _ in texts]\n"
    )
    with answers(
        [f"python:{tmp_path / 'mine.py'}:score?label=low", MODELS["oracle"]], [(1.0, ["a"])]
    ) as found:
        assert [model.labels for model in found.models] == [("low",), ("depression",)]
        assert [view.of(["a"])[0, 0] for view in found.views] == [0.25, 0.1]


def test_names_replace_the_labels_of_a_model() -> None:
    with answers([MODELS["oracle"]], [(1.0, ["a"])], names={"oracle": ("low",)}) as found:
        assert found.views[0].labels == ("low",)


def test_pieces_in_equal_shares() -> None:
    assert list(in_equal_shares([["a"], ["b", "c"]])) == [(0.5, ["a"]), (1.0, ["b", "c"])]


def test_items_that_a_model_lacks_are_listed_once_for_all_models() -> None:
    scored(MODELS["oracle"], ["a", "b"])
    models = [MODELS["oracle"], MODELS["constant"]]
    assert list(not_scored(models, lambda: [(1.0, ["b", "c"])], None)) == ["c", "b"]


def test_a_store_of_the_first_version_is_migrated_and_keeps_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as db:
        db.executescript(MIGRATIONS[0])
        db.execute("INSERT INTO model VALUES (7, 'planted-oracle', 'oracle', '[\"depression\"]', '{}')")
        blobs = (
            digests_of(["a", "b"]).tobytes(),
            np.array([0.3, 0.4]).tobytes(),
            np.full(2, -1, np.int32).tobytes(),
        )
        db.execute("INSERT INTO batch (model, size, texts, scores, read) VALUES (7, 2, ?, ?, ?)", blobs)
        db.execute("PRAGMA user_version = 1")
    path.chmod(0o644)
    model = Counting(MODELS["oracle"])
    with answers([model], [(1.0, ["a", "b", "c"])], store=path) as found:
        assert found.views[0].of(["a", "b", "c"])[:, 0].tolist() == [0.3, 0.4, 0.1]
    assert model.seen == ["c"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with answers([Talker()], [(1.0, ["a"])], store=path) as found:
        assert found.tallies["talker"].scored == 1


def test_only_the_owner_may_read_the_store(own_store: Path) -> None:
    with answers([Talker()], [(1.0, ["a"])]):
        files = list(own_store.parent.iterdir())
        assert sorted(file.name for file in files) == [
            "scores.sqlite",
            "scores.sqlite-shm",
            "scores.sqlite-wal",
            "scores.sqlite.key",
        ]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
