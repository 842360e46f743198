"""The processes that use a store side by side: who claims items, and whether it is still at work."""

import os
import socket
import time
from contextlib import suppress
from pathlib import Path

EXPIRES = 600.0  # seconds without a renewal; a batch that takes longer elsewhere may be scored twice
ENDED = "-"  # stands for the start time of a process that is no more

_PID_NAMESPACE = Path("/proc/self/ns/pid")  # containers of one host number their processes apart
_NAMESPACE_ID = _PID_NAMESPACE.stat().st_ino if _PID_NAMESPACE.exists() else ""
_HOST = f"{socket.gethostname()}/{_NAMESPACE_ID}"
_START_TIME = 19  # its place in /proc/PID/stat, counted from the state that follows the name (proc(5))


def this_process() -> str:
    """A new owner: host, process id, start time, and what sets it apart from others in this process."""
    pid = os.getpid()
    unique = os.urandom(4).hex()
    return f"{_HOST} {pid} {_started(pid)} {unique}"


def works(owner: str, renewed: float) -> bool:
    """Whether the owner of a claim is at work: on this host until it ends, elsewhere while it renews."""
    # A damaged name lacks parts: then it is of another host.
    host, pid, started, *_ = (*owner.split(), "", "", "")
    if host == _HOST and started != ENDED:
        # A later process may have got the same id, but not at the same time.
        return _started(pid) == started

    # Either way: the clock of another host may be ahead of ours.
    seconds_since = abs(time.time() - renewed)
    return seconds_since < EXPIRES


def _started(pid: int | str) -> str:
    """When a process started, in ticks since the host did; `ENDED` if it is no more."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        # The name of the program, in parentheses, may itself hold spaces and parentheses.
        _, _, after_name = status.rpartition(")")
        fields = after_name.split()
        state = fields[0]
        is_dead = state in "ZX"  # a zombie, or gone while we read
        return ENDED if is_dead else fields[_START_TIME]
    return ENDED
