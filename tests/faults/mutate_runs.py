"""Change the folder of a finished run at random, then view it, open it and gate against it."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faults.attack import Count, posts, problem, psycheck, script, workshop

AUDIT = ("audit", "python:mymodel:model", "posts.csv", "--label", "depression", "--group", "gender")
SMALL = ("--suite", "suite.toml", "--quiet")
SUITE = """
name = "small"
label = "depression"
[[check]]
id = "dir"
title = "hopeless"
kind = "DIR"
expect = { not_down = 0.1 }
edit = { append = ["I feel hopeless."] }
"""
PLAN = """
models = ["python:mymodel:model"]
labels = ["depression"]
groups = ["gender"]
suites = ["suite.toml"]
[[corpus]]
path = "posts.csv"
[[gate]]
measure = "{measure}"
no_worse_than = "mutated"
"""
STRANGE: tuple[Any, ...] = (None, "x", -1, 10**400, [], {}, [[]], {"x": 1}, True, "\ud83d", 0.5, ["x"])


def attack(dice: random.Random, tries: int) -> Count:
    """Mutate run folders: view, open and gate must end with 0 or 2."""
    count = Count("run folders changed, then `view` and `no_worse_than`")
    with workshop() as place:
        rows = posts()
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        (place / "posts.csv").write_text("\n".join(lines) + "\n")
        (place / "suite.toml").write_text(SUITE)
        done = psycheck(place, *AUDIT, *SMALL, "--show-texts", "--out", "whole")
        assert done.code == 0, done.err
        for measure in ("f1", "pass_rate"):
            (place / f"{measure}.toml").write_text(PLAN.format(measure=measure))
        for number in range(tries):
            folder = place / "mutated"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(place / "whole", folder)
            what = mutate(folder, dice)
            if number % 3 == 2:
                ended = psycheck(place, "view", "mutated", "whole", "--index", "index.html", "--no-browser")
            elif number % 3:
                ended = psycheck(place, "view", "mutated", "--redraw", "--no-browser")
            else:
                plan = f"{dice.choice(('f1', 'pass_rate'))}.toml"
                ended = psycheck(place, "audit", "--plan", plan, "--quiet", "--out", "now")
                # A baseline whose figure was changed can fail the gate, which is what a gate is for.
                if ended.code == 1 and "gate FAILS" in ended.out:
                    ended = psycheck(place, "view", "now", "--no-browser")
            count.add(what, problem(ended))
    return count


def mutate(folder: Path, dice: random.Random) -> str:
    """Change one thing in a folder and return what."""
    files = sorted(path.name for path in folder.iterdir() if path.suffix in (".json", ".jsonl", ".parquet"))
    name = dice.choice([*files, "run.json", "findings.jsonl", "shown.jsonl"])
    path = folder / name
    how = dice.choice(("value", "value", "value", "key", "deep", "cut", "flip", "remove", "empty"))
    raw = path.read_bytes()
    if how == "remove":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(raw[: dice.randrange(len(raw) + 1)])
    elif how == "flip" or path.suffix == ".parquet":
        at = dice.randrange(max(1, len(raw)))
        path.write_bytes(raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :])
    else:
        content = raw.decode().splitlines() if path.suffix == ".jsonl" else [raw.decode()]
        at = dice.randrange(len(content))
        value = json.loads(content[at])
        how += f" {_change(value, how, dice)}"
        content[at] = json.dumps(value).replace('"DEEP"', "[" * 100_000 + "]" * 100_000)
        path.write_text("\n".join(content) + "\n")
    return f"{name} {how}"


def _change(value: Any, how: str, dice: random.Random) -> str:
    """Change one place in a JSON value and return where."""
    holder, key = dice.choice(list(_places(value)))
    if how == "key" and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = "DEEP" if how == "deep" else dice.choice(STRANGE)
    return f"{key!r} = {holder.get(key) if isinstance(holder, dict) else holder[key]!r}"[:80]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(part, dict | list):
            yield from _places(part)


if __name__ == "__main__":
    script(attack, 1000)
