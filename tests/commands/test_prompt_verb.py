"""`psycheck prompt check` shows what would be asked, or one clear error."""

import json
from pathlib import Path

from process import psycheck


def test_a_shipped_prompt_is_shown_with_its_schema(tmp_path: Path) -> None:
    done = psycheck(tmp_path, "prompt", "check", "phq9")
    assert done.returncode == 0, done.stderr
    assert "(the post)\n</post-" in done.stdout
    assert done.stdout.rstrip().endswith("phq9_9; answer scale, scale phq9 from 10; valid")
    found = json.loads(psycheck(tmp_path, "prompt", "check", "depression", "--json").stdout)
    assert (found["labels"], found["schema"]["required"]) == (["depression"], ["depression"])


def test_a_prompt_without_its_slot_is_refused_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('title = "t"\nlabels = ["a"]\nuser = "Is it there?"\n', "utf-8")
    done = psycheck(tmp_path, "prompt", "check", "mine.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: the slot {post} occurs 0 times",
        "  where: mine.toml, key 'user'",
        "  allowed: {post} exactly once each",
    ]


def test_ls_names_prompts_and_scales(tmp_path: Path) -> None:
    assert "comorbidity-few-shot" in psycheck(tmp_path, "ls", "prompts").stdout
    assert "depression from 10 of 27" in psycheck(tmp_path, "ls", "scales", COLUMNS="200").stdout
