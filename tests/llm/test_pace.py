"""The pace of requests: halved when the server is busy, growing again, and the point to give up."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.llm.pace import KINDS, PATIENCE, TRIES, Pace, Unanswered, pause_of, stopped


def test_one_request_until_the_first_answer_then_all() -> None:
    pace = Pace(32, last=0.0)
    assert pace.limit == 1
    pace.answered(0.1)
    assert pace.limit == 32


def test_busy_halves_once_per_crowd_and_each_round_of_answers_adds_one() -> None:
    pace = Pace(32, last=0.0)
    pace.answered(0.0)
    pace.failed(Unanswered("busy"), 1, started=1.0, now=2.0)
    pace.failed(Unanswered("busy"), 1, started=1.5, now=2.1)  # sent before the first refusal came
    assert pace.limit == 16
    pace.failed(Unanswered("busy"), 1, started=2.5, now=3.0)
    assert pace.limit == 8
    for _ in range(8):
        pace.answered(4.0)
    assert 8.9 < pace.limit < 9.1
    for _ in range(2000):
        pace.answered(5.0)
    assert pace.limit == 32


def test_all_requests_wait_for_as_long_as_the_server_asks() -> None:
    pace = Pace(8, last=0.0)
    wait = pace.failed(Unanswered("busy", after=7.0), 1, started=1.0, now=2.0)
    assert pace.until == 9.0
    assert wait is not None
    assert 7.0 <= wait <= 7.7


def test_waits_double_with_jitter() -> None:
    for tries, middle in ((1, 0.5), (2, 1.0), (3, 2.0)):
        waits = [Pace(1, 0.0).failed(Unanswered("server"), tries, 0.0, 0.0) or 0.0 for _ in range(200)]
        assert all(middle / 2 <= wait <= middle * 1.5 for wait in waits)
        assert max(waits) - min(waits) > middle / 2


def test_a_question_is_given_up_after_five_tries_but_never_because_the_server_is_busy() -> None:
    assert Pace(1, 0.0).failed(Unanswered("timeout"), TRIES, 0.0, 0.0) is None
    assert Pace(1, 0.0).failed(Unanswered("rejected"), 1, 0.0, 0.0) is None
    assert Pace(1, 0.0).failed(Unanswered("busy"), 10 * TRIES, 0.0, 0.0) is not None


@pytest.mark.parametrize(
    "kind", ["key", "forbidden", "unknown", "redirect", "quota", "unreachable", "feature"]
)
def test_what_every_question_would_meet_stops_the_run_at_the_third_time(kind: str) -> None:
    pace = Pace(4, last=0.0)
    for tries in (1, 2):
        assert pace.failed(Unanswered(kind), tries, 0.0, 0.0) is not None
    with pytest.raises(Unanswered):
        pace.failed(Unanswered(kind), 3, 0.0, 0.0)


def test_a_server_that_answered_before_may_restart() -> None:
    pace = Pace(4, last=0.0)
    pace.answered(1.0)
    for second in range(10):
        pace.failed(Unanswered("unreachable"), 1, 2.0, 2.0 + second)
    with pytest.raises(Unanswered):
        pace.failed(Unanswered("unreachable"), 1, 2.0, 2.0 + PATIENCE)


def test_a_server_that_stays_busy_or_broken_stops_the_run_after_a_while() -> None:
    for kind in ("busy", "server", "timeout", "cut", "garbled"):
        pace = Pace(4, last=0.0)
        for _ in range(50):
            pace.failed(Unanswered(kind), 1, 0.0, PATIENCE - 1)
        with pytest.raises(Unanswered):
            pace.failed(Unanswered(kind), 1, 0.0, PATIENCE + 1)


def test_only_rejections_stop_the_run_and_one_answer_shows_that_the_texts_are_at_fault() -> None:
    pace = Pace(4, last=0.0)
    for _ in range(19):
        pace.failed(Unanswered("rejected"), 1, 0.0, 0.0)
    with pytest.raises(Unanswered):
        pace.failed(Unanswered("rejected"), 1, 0.0, 0.0)
    pace.answered(0.0)
    for _ in range(100):
        assert pace.failed(Unanswered("rejected"), 1, 0.0, 0.0) is None


def test_a_pause_of_an_hour_is_left_to_the_user() -> None:
    with pytest.raises(Unanswered) as caught:
        Pace(4, last=0.0).failed(Unanswered("busy", after=3600.0), 1, 0.0, 0.0)
    assert "asks to wait for 60 minutes" in str(stopped(caught.value, "http://h/v1", model="m", key_env="K"))


def test_every_failure_says_what_to_do() -> None:
    for kind in KINDS:
        error = stopped(Unanswered(kind), "http://h/v1", model="m", key_env="K")
        assert error.what
        assert error.do
        assert "{" not in str(error)


def test_retry_after_in_seconds_milliseconds_and_as_a_date() -> None:
    assert pause_of("7") == 7.0
    assert pause_of("1.5") == 1.5
    assert pause_of("7", "250") == 0.25
    assert pause_of(None) == 0.0
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 < pause_of(date) <= 30
    assert pause_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


@given(st.text(), st.none() | st.text())
def test_any_header_gives_a_pause_that_can_be_waited_for(header: str, milliseconds: str | None) -> None:
    assert 0.0 <= pause_of(header, milliseconds) < float("inf")
