"""`python -m tools.try_first_steps`: the first steps of the README, timed, as a newcomer takes them.

The committed state is copied to a new folder with a new environment, and every command of the README's first
steps is typed there as it is written. Then the built wheel is run once without being installed, by pipx.
"""

import io
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from pathlib import Path

from tools.try_wheel import build_wheel

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def first_steps() -> list[str]:
    """The commands of the README's section "Five commands"."""
    _, _, section = (ROOT / "README.md").read_text("utf-8").partition("## Five commands")
    section, _, _ = section.partition("| install |")
    return [line for block in BLOCK.findall(section) for line in block.splitlines()]


def clone(place: Path) -> None:
    """The committed state, without what is not."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(place, filter="data")


def environment(place: Path) -> dict[str, str]:
    """Variables of a shell in which the environment `place` is activated; only those of pip are inherited."""
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return pip | {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "HOME": str(place)}


def timed(command: str, folder: Path, variables: dict[str, str]) -> bool:
    """Run a command, print its time, and whether it ended well."""
    begin = time.monotonic()
    done = subprocess.run(shlex.split(command), cwd=folder, env=variables, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    print(f"{seconds:6.1f} s  exit {done.returncode}  {command}", flush=True)
    if done.returncode:
        print(done.stdout[-1_000:] + done.stderr[-1_000:])
    return done.returncode == 0


def main() -> int:
    """Take the first steps, then run the wheel by pipx; returns the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shell = folder / "shell"
        venv.create(shell, with_pip=True)
        clone(folder / "psycheck")
        steps = first_steps()
        good = [timed(step, folder / "psycheck", environment(shell)) for step in steps]
        print(f"{len(steps)} commands")

        wheel = build_wheel(folder)
        once = folder / "once"
        venv.create(once, with_pip=True)
        train = "train demo:tweets --label depression --start tfidf+lr --out models/first"
        by_pipx = ("python -m pip install --quiet pipx", f"pipx run --spec {wheel} psycheck {train}")
        good += [timed(step, folder, environment(once)) for step in by_pipx]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
