"""The fenced blocks of a page of the documentation, and what a test may do with each."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# A comment before a block says how it is run; without one, a test runs it every time.
_BLOCK = re.compile(
    r"""
    ^(?:<!--[ ](?P<mark>not\ run:[^>]+|run\ by\ [\w./]+|slow)[ ]-->\n)?
    (?P<indent>[ ]*)```(?P<language>\w*)[^\n]*\n
    (?P<text>.*?)
    ^(?P=indent)```$
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_FILE_NAME = re.compile(r"# ([\w./-]+\.(?:toml|py|txt|csv|json))\n")
RUNNABLE = ("sh", "python")


@dataclass(frozen=True)
class Block:
    """One block: its language, its text, its mark ("" if there is none), and the line that it begins in."""

    language: str
    text: str
    mark: str
    line: int

    @property
    def file_name(self) -> str:
        """The file that the block shows, as its first line says; "" if it shows none."""
        match = _FILE_NAME.match(self.text)
        return match[1] if match else ""

    @property
    def commands(self) -> list[list[str]]:
        """The command lines of a shell block as words, without comments and line breaks."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [words for line in lines if (words := shlex.split(line, comments=True))]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page in order."""
    text = page.read_text("utf-8")
    for match in _BLOCK.finditer(text):
        yield Block(
            language=match["language"],
            text=match["text"],
            mark=match["mark"] or "",
            line=text.count("\n", 0, match.start()) + 1,
        )
