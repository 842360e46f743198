"""One sentence of a verdict: what a run claims, by which rule, and from which figures."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from psycheck.core.errors import UNREADABLE, BadInput

Severity = Literal["critical", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Headline:
    """One claim, made once per run; page, console, JUnit and Python read it from the run.

    `rule` is the stable code of the claim ("performance.constant"), `severity` how much it matters, `remedy`
    a command or sentence that helps, empty if there is none. `figures` name the findings behind it: each has
    `measure` and the keys of `where`. `least` sorts claims of one severity: the share that certainly fails.
    """

    rule: str
    sentence: str
    severity: Severity = "note"
    remedy: str = ""
    figures: tuple[Mapping[str, str], ...] = ()
    least: float = field(default=0.0, compare=False)

    @property
    def alarm(self) -> bool:
        """Whether it claims a weakness or a difference."""
        return self.severity != "note"

    def as_json(self) -> str:
        """One line of headlines.jsonl."""
        entry = {
            "rule": self.rule,
            "sentence": self.sentence,
            "severity": self.severity,
            "remedy": self.remedy,
            "figures": [dict(figure) for figure in self.figures],
            "least": self.least,
        }
        return json.dumps(entry, ensure_ascii=False, allow_nan=False)


def headline_of(line: str) -> Headline:
    """Read one line of headlines.jsonl."""
    entry: dict[str, Any] = json.loads(line)
    json.dumps(entry, ensure_ascii=False).encode()  # half a character cannot be written again
    figures = tuple(dict(figure) for figure in entry.pop("figures"))
    return Headline(figures=figures, **entry)


def write_headlines(headlines: Iterable[Headline], path: Path) -> None:
    """Write headlines, one per line, the first of the verdict first."""
    lines = [f"{headline.as_json()}\n" for headline in headlines]
    path.write_text("".join(lines), "utf-8")


def read_headlines(path: Path) -> tuple[Headline, ...]:
    """Read what `write_headlines` wrote."""
    try:
        lines = path.read_text("utf-8").splitlines()
        return tuple(headline_of(line) for line in lines if line)
    except UNREADABLE as error:
        raise BadInput(
            f"cannot read headlines ({type(error).__name__})",
            code="run.unreadable-headlines",
            where=str(path),
            allowed="the headlines.jsonl of a finished run",
            do="pass a run folder that psycheck wrote",
        ) from error
