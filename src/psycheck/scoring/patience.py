"""Waiting for a model whose failure may pass: a time-out, a rate limit, a cut connection."""

import random
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import count
from typing import TypeVar

from psycheck.errors import ModelFailure, TransientFailure
from psycheck.scoring.view import reason_of

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
                raise ModelFailure(
                    f"model '{name}' does not answer: {reason_of(error)}, {RETRIES + 1} times in a row",
                    do="run the same command again later to resume; everything scored so far is kept",
                ) from error
            wait = 2**retry * random.uniform(0.5, 1.5)
            sleep(min(_LONGEST_WAIT, max(wait, getattr(error, "after", 0.0))))
    raise AssertionError  # the loop has no other end
