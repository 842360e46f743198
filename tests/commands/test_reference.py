import subprocess
import sys
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"


def test_the_reference_says_what_the_command_line_says(tmp_path: Path) -> None:
    """`make docs` writes it anew."""
    fresh = tmp_path / "command-line.md"
    words = [
        "psycheck.commands.main",
        "utils",
        "docs",
        "--name",
        "psycheck",
        "--title",
        "The command line",
    ]
    subprocess.run(
        [sys.executable, "-m", "typer", *words, "--output", str(fresh)], check=True, capture_output=True
    )
    assert REFERENCE.read_text("utf-8") == fresh.read_text("utf-8"), "run `make docs`"
