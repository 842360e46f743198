"""Small suites in the words of the tiny models, written to a folder."""

from pathlib import Path
from typing import Any

HEAD = 'name = "{name}"\ntitle = "{name}"\nsource = "ours"\nlabel = "low"\n'
CHECK = """
[[check]]
id = "{id}"
kind = "DIR"
edit = {{ append = {sentences} }}
expect = {{ {expect} = 0.1 }}
tags = {{ symptom = "{symptom}", polarity = "{polarity}" }}
"""


def small_suite(folder: Path, name: str, checks: list[tuple[str, str, str, list[str]]]) -> str:
    """Checks as (id, symptom, polarity, sentences); returns the path of the suite."""
    written = HEAD.format(name=name)
    for id_, symptom, polarity, sentences in checks:
        expect = "not_down" if polarity == "presence" else "not_up"
        said = str(sentences).replace("'", '"')
        written += CHECK.format(id=id_, sentences=said, expect=expect, symptom=symptom, polarity=polarity)
    path = folder / f"{name}.toml"
    path.write_text(written, "utf-8")
    return str(path)


def seen_and_unseen(folder: Path) -> dict[str, Any]:
    """A suite to learn from and one of other words; S2 says in words of low mood that it is not there."""
    seen = [
        ("S1", "mood", "presence", ["i feel empty today", "i feel hopeless again"]),
        ("S2", "mood", "absence", ["not numb and not tired today"]),
        ("S3", "energy", "presence", ["i was very tired"]),
        ("S4", "energy", "absence", ["football again and music"]),
    ]
    unseen = [
        ("N1", "mood", "presence", ["worthless and numb"]),
        ("N2", "mood", "absence", ["the dinner was a day of music"]),
    ]
    return {"suite": small_suite(folder, "seen", seen), "unseen": small_suite(folder, "unseen", unseen)}
