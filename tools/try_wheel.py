"""Install the wheel in clean environments: `python -m tools.try_wheel [EXTRA…]`.

By default without an extra, with each alone, and with all. Every command of `COMMANDS` is tried in each: it
works where its extras are there, and otherwise ends with one line that names the command which installs
them. torch is always the CPU build of the constraints.
"""

import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TORCH = "torch==2.13.0"
NEEDS_TORCH = {"train", "all"}
# What an extra brings that another one is named after.
BRINGS = {"fast": {"onnx"}}
BAD_USAGE = 2  # an exit code
OUTPUT_SHOWN = 400
DUMP = (
    '{"id": "%s", "author": "%s", "subreddit": "depression", "created_utc": 1546300800, '
    '"body": "%s, words for post %s"}\n'
)


@dataclass(frozen=True)
class Command:
    """A command line, the extras that it needs, and a word of its output where they are there."""

    words: str
    needs: tuple[str, ...]
    output: str = ""
    exit_code: int = 0
    does_less: bool = False  # without its extras it works, and says what it leaves out


COMMANDS = (
    Command("train demo:tweets --label depression --start tfidf+lr --out plain", needs=()),
    Command("audit plain demo:tweets --label depression --variants one --out run", needs=(), output="report"),
    Command(
        "compare demo:tweets demo:forum --part vectors --encoder minilm --sample 20 --out far",
        needs=("train", "weights"),
    ),
    Command("clean demo:tweets --preset deck-tweets", needs=("clean",)),
    Command("curate dump.jsonl --min-words 3 --min-posts 1 --rank empath --out curated", needs=("curate",)),
    Command(
        "compare demo:tweets demo:forum --encoder tfidf --part map --out map",
        needs=("compare",),
        does_less=True,
    ),
    Command(
        "llm try depression --text hello --model llm:x?base_url=http://127.0.0.1:9/v1",
        needs=("llm",),
        exit_code=2,
        output="no connection",
    ),
    Command(
        "llm try depression --text hello --model llm:x?api=anthropic&base_url=http://127.0.0.1:9",
        needs=("anthropic",),
        exit_code=2,
        output="no connection",
    ),
    Command(
        "llm try depression --text hello --model llm:x?api=gemini&base_url=http://127.0.0.1:9",
        needs=("gemini",),
        exit_code=2,
        output="no connection",
    ),
    # A file that is no model: with the extra, that is what is wrong.
    Command("audit onnx:dump.jsonl demo:tweets", needs=("onnx",), exit_code=2, output="ONNX Runtime"),
    Command("annotate new annotations --project project.toml", needs=("annotate",), output="invitation"),
    Command("score plain demo:tweets --engine ray --out ray.csv", needs=("scale",)),
    # There is no such model: with the extras, that is what is wrong.
    Command("audit hf:none demo:tweets --fast", needs=("train", "fast"), exit_code=2),
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
    python = place / "bin" / "python"
    requirement = f"psycheck[{','.join(extras)}] @ {wheel.as_uri()}" if extras else str(wheel)

    words = ["-c", str(ROOT / "constraints.txt"), requirement]
    # Named apart, so that nothing else chooses a build of it.
    if NEEDS_TORCH & set(extras):
        words.append(TORCH)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *words], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True, stdout=subprocess.DEVNULL)
    return place / "bin" / "psycheck"


def fault_of(command: Command, program: Path, installed: Collection[str]) -> str:
    """What is wrong with the outcome of a command, "" if nothing is."""
    place = program.parents[1]
    # No variable of the caller's reaches the new environment.
    environment = {
        "PSYCHECK_STORE": str(place / "scores.sqlite"),
        "PATH": "/usr/bin:/bin",
        "HOME": str(place),
    }
    done = subprocess.run(
        [program, *command.words.split()],
        cwd=place,
        capture_output=True,
        text=True,
        env=environment,
    )
    missing = [extra for extra in command.needs if extra not in installed]
    if not missing:
        as_expected = works(done, command)
    elif command.does_less:
        as_expected = done.returncode == 0 and all(f"the extra '{extra}'" in done.stderr for extra in missing)
    else:
        as_expected = names_installation(done, missing)
    output = done.stdout + done.stderr
    return "" if as_expected else f"exit {done.returncode}: {output.strip()[-OUTPUT_SHOWN:]}"


def works(done: subprocess.CompletedProcess[str], command: Command) -> bool:
    """True if a command ended as it should where its extras are there."""
    output = done.stdout + done.stderr
    asks_for_extra = "needs the extra" in output
    return done.returncode == command.exit_code and command.output in output and not asks_for_extra


def names_installation(done: subprocess.CompletedProcess[str], missing: Sequence[str]) -> bool:
    """True if a command refused in plain words, with the line that installs what is missing."""
    lines = [f'pip install "psycheck[{extra}]"' for extra in missing]
    names_line = any(line in done.stderr for line in lines)
    return done.returncode == BAD_USAGE and names_line and "Traceback" not in done.stderr


def try_extras(name: str, wheel: Path, place: Path) -> int:
    """Install one set of extras, try every command, and print a line for it; returns the number of faults."""
    begin = time.monotonic()
    program = install(wheel, [] if name == "none" else [name], place)
    seconds = time.monotonic() - begin
    _write_dump(place / "dump.jsonl")
    shutil.copy(ROOT / "src" / "psycheck" / "annotate" / "example.toml", place / "project.toml")

    installed = set(extras_for_users()) if name == "all" else {name, *BRINGS.get(name, ())}
    faults = {command.words: fault_of(command, program, installed) for command in COMMANDS}
    faults = {words: fault for words, fault in faults.items() if fault}
    right = len(COMMANDS) - len(faults)
    print(
        f"{name}: installed in {seconds:.0f} s, {right} of {len(COMMANDS)} commands as expected", flush=True
    )
    for words, fault in faults.items():
        print(f"  psycheck {words}\n    {fault}", flush=True)
    return len(faults)


def _write_dump(path: Path) -> None:
    """Three people who report a diagnosis in the first of their three posts."""
    lines = []
    for number in range(9):
        # The posts that report it are not part of the corpus.
        content = "I was diagnosed with depression in spring" if number < 3 else "I slept badly again"
        lines.append(DUMP % (f"a{number}", f"p{number % 3}", content, number))
    path.write_text("".join(lines))


def main(chosen: Sequence[str]) -> int:
    """Try the chosen sets of extras, by default all of them; returns the exit code."""
    names = chosen or ["none", *extras_for_users()]
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        faults = [try_extras(name, wheel, Path(folder) / name) for name in names]
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
