"""Waiting for a model whose failure may pass: a time-out, a rate limit, a cut connection."""

import random
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import count
from typing import TypeVar

from psycheck.core.errors import ModelFailure, TransientFailure, counted
from psycheck.scoring.remembered import reason_of

TRANSIENT = (TransientFailure, TimeoutError, ConnectionError)
RETRIES = 6  # waits of about 1, 2, 4 … 32 seconds: more than the minute over which servers count requests
_LONGEST_WAIT = 120.0  # seconds, whatever a server asks for

Sleep = Callable[[float], None]
T = TypeVar("T")


def patiently(call: Callable[[], T], name: str, sleep: Sleep = time.sleep) -> T:
    """Call a model; if it fails for a reason that may pass, wait and call again, up to RETRIES times."""
    for retry in count():
        try:
            with redirect_stdout(sys.stderr):  # what a model prints is not our output
                return call()
        except TRANSIENT as error:
            if retry == RETRIES:
                raise gave_no_answer(name, error, times=RETRIES + 1) from error
            sleep(_wait_before(retry, error))
    raise AssertionError  # the loop has no other end


def _wait_before(retry: int, error: Exception) -> float:
    """Seconds before a retry: twice as long each time, with jitter, at least what the server asks for."""
    usual: float = 2**retry * random.uniform(0.5, 1.5)
    requested = error.after if isinstance(error, TransientFailure) else 0.0
    return min(_LONGEST_WAIT, max(usual, requested))


def gave_no_answer(name: str, error: Exception, *, times: int) -> ModelFailure:
    """The error for the user when a model is given up because of a failure that might have passed."""
    return ModelFailure(
        f"model '{name}' does not answer: {reason_of(error)}, {counted(times, 'time')} in a row",
        code="model.no-answer",
        do="run the same command again later to resume; everything scored so far is kept",
    )
