"""Install the wheel in clean environments: `python -m tools.try_wheel [EXTRA…]`.

By default without an extra, with each alone, and with all. Every command of `COMMANDS` is tried in each: it
works where its extras are there, and otherwise ends with one line that names the command which installs
them. torch is always the CPU build of the constraints.
"""

import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TORCH = "torch==2.13.0"
NEEDS_TORCH = {"train", "all"}
DUMP = (
    '{"id": "%s", "author": "%s", "subreddit": "depression", "created_utc": 1546300800, '
    '"body": "I was diagnosed with depression in spring, words for post %s"}\n'
)


@dataclass(frozen=True)
class Command:
    """A command line, the extras that it needs, and a word of its output where they are there."""

    words: str
    needs: tuple[str, ...]
    output: str = ""
    exit_code: int = 0


COMMANDS = (
    Command("train demo:tweets --label depression --start tfidf+lr --out plain", needs=()),
    Command("audit plain demo:tweets --label depression --variants one --out run", needs=(), output="report"),
    Command(
        "compare demo:tweets demo:forum --part vectors --sample 20 --out far", needs=("train", "weights")
    ),
    Command("clean demo:tweets --preset deck-tweets", needs=("clean",)),
    Command("curate dump.jsonl --min-words 3 --min-posts 1 --rank empath --out curated", needs=("curate",)),
    Command("compare demo:tweets demo:forum --encoder tfidf --part map --out map", needs=("compare",)),
    Command(
        "audit llm:x?base_url=http://127.0.0.1:9/v1&prompt=depression demo:tweets --dry-run", needs=("llm",)
    ),
    Command("annotate new annotations", needs=("annotate",), output="task"),
    # Nothing is served: with the extra, the file of weights is what is missing.
    Command("llm serve --weights none.gguf", needs=("local-llm",), exit_code=2),
)


def extras_for_users() -> dict[str, list[str]]:
    """The extras of pyproject.toml with their requirements, without those for working on psycheck."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    return {name: needs for name, needs in extras.items() if name not in ("dev", "docs")}


def build_wheel(folder: Path) -> Path:
    """The wheel of this repository."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("psycheck-*.whl"))


def install(wheel: Path, extras: Sequence[str], place: Path) -> Path:
    """A new environment with the wheel; returns its psycheck."""
    venv.create(place, with_pip=True)
    pip = [str(place / "bin" / "python"), "-m", "pip"]
    named = f"psycheck[{','.join(extras)}] @ {wheel.as_uri()}" if extras else str(wheel)
    torch = [TORCH] if NEEDS_TORCH & set(extras) else []
    constraints = ["-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "install", "--quiet", *constraints, *torch, named], check=True)
    subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
    return place / "bin" / "psycheck"


def tried(command: Command, program: Path, installed: Iterable[str], place: Path) -> str:
    """What is wrong with the outcome of a command, "" if nothing is."""
    environment = {
        "PSYCHECK_STORE": str(place / "scores.sqlite"),
        "PATH": "/usr/bin:/bin",
        "HOME": str(place),
    }
    words = [str(program), *command.words.split()]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, env=environment)
    missing = [extra for extra in command.needs if extra not in installed]

    if not missing:
        right = done.returncode == command.exit_code and command.output in done.stdout
        return "" if right and "the extra" not in done.stderr else _shown(done)
    names_the_command = any(f'pip install "psycheck[{extra}]"' in done.stderr for extra in missing)
    return (
        "" if done.returncode == 2 and names_the_command and "Traceback" not in done.stderr else _shown(done)
    )


def _shown(done: subprocess.CompletedProcess[str]) -> str:
    return f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}"


def main(chosen: Sequence[str]) -> int:
    """Try the chosen sets of extras, by default all, and print a line for each."""
    extras = extras_for_users()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        for name in chosen or ["none", *extras]:
            place = Path(folder) / name
            begin = time.monotonic()
            program = install(wheel, [] if name == "none" else [name], place)
            seconds = time.monotonic() - begin
            (place / "dump.jsonl").write_text("".join(DUMP % (f"a{n}", f"p{n % 3}", n) for n in range(9)))

            installed = set(extras) if name == "all" else {name}
            wrong = {each.words: tried(each, program, installed, place) for each in COMMANDS}
            wrong = {words: fault for words, fault in wrong.items() if fault}
            faults += len(wrong)
            as_expected = f"{len(COMMANDS) - len(wrong)} of {len(COMMANDS)} commands as expected"
            print(f"{name}: installed in {seconds:.0f} s, {as_expected}")
            for words, fault in wrong.items():
                print(f"  psycheck {words}\n    {fault}")
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
