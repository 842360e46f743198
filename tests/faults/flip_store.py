"""Flip bits of the store: a second run gives the same findings, or says that the store is damaged."""

import random
import shutil
from pathlib import Path

from faults.attack import Count, posts, problem, psycheck, script, workshop
from faults.mutate_runs import AUDIT, SMALL, SUITE


def attack(dice: random.Random, tries: int) -> Count:
    """Flip a bit, or fill a stretch with random bytes, and audit again: never other findings with exit 0."""
    count = Count("bits of the store flipped, then the same audit")
    with workshop() as place:
        rows = posts(60)
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        (place / "posts.csv").write_text("\n".join(lines) + "\n")
        (place / "suite.toml").write_text(SUITE)
        done = psycheck(place, *AUDIT, *SMALL, "--out", "whole")
        assert done.code == 0, done.err
        whole = (place / "whole" / "findings.jsonl").read_bytes()
        store = (place / "scores.sqlite").read_bytes()
        for _ in range(tries):
            what = damage(place / "scores.sqlite", store, dice)
            shutil.rmtree(place / "now", ignore_errors=True)
            ended = psycheck(place, *AUDIT, *SMALL, "--out", "now")
            found = problem(ended, (0, 2))
            if not found and ended.code == 0:
                same = (place / "now" / "findings.jsonl").read_bytes() == whole
                found = "" if same else "other findings, exit 0"
            count.add(what, found)
    return count


def damage(path: Path, raw: bytes, dice: random.Random) -> str:
    """Write a damaged copy of the store and return what was done."""
    for old in path.parent.glob(f"{path.name}-*"):  # the log of SQLite belongs to the file before
        old.unlink()
    content, at = bytearray(raw), dice.randrange(len(raw))
    if dice.random() < 0.7:
        content[at] ^= 1 << dice.randrange(8)
        what = f"bit at byte {at}"
    else:
        length = min(dice.choice((8, 64, 512)), len(raw) - at)
        content[at : at + length] = dice.randbytes(length)
        what = f"{length} bytes at {at}"
    path.write_bytes(content)
    return what


if __name__ == "__main__":
    script(attack, 300)
