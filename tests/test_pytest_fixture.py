"""The fixture as a user's own tests see it, in sessions of pytest of their own."""

import pytest

import psycheck

pytest_plugins = ["pytester"]

TESTS = """
TEXTS = ["so sad", "a sunny day", "sad again", "a walk"] * 5
POSTS = {"text": [f"{text} {n}" for n, text in enumerate(TEXTS)], "depression": [1, 0, 1, 0] * 5}
FAST = {"audits": ["performance"], "label": "depression"}
calls = open("calls.txt", "a")

def by_words(texts: list[str]):
    calls.write("\\n" * len(texts))
    calls.flush()
    return [0.9 if "sad" in text else 0.1 for text in texts]

by_words.fingerprint = "1"  # it holds an open file, which has none

def constant(texts: list[str]):
    return [0.1 for text in texts]

def test_holds(psycheck):
    run = psycheck.audit(by_words, POSTS, **FAST)
    psycheck.gate(run, "f1>=0.8", "accuracy>=0.9")
    assert run.passes("f1>=0.8")
    assert (run.folder / "report.html").is_file()

def test_fails(psycheck):
    run = psycheck.audit(constant, POSTS, **FAST)
    psycheck.gate(run, "f1>=0.8", "unanswered<=0.5")
"""


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """What an audit imports, which a session within this one may not import again."""
    posts = {"text": ["so sad", "a walk"], "depression": [1, 0]}
    psycheck.audit(lambda texts: [0.5 for _ in texts], posts, audits=["performance"], label="depression")


def test_a_gate_fails_with_its_value_and_the_verdict(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    outcome = pytester.runpytest_inprocess("-p", "no:xdist")
    outcome.assert_outcomes(passed=1, failed=1)
    printed = outcome.stdout.str()
    assert "<gate fails: f1>=0.8" in printed
    assert "unanswered" not in printed.partition("short test summary")[0].partition("<gate")[2].split(">")[0]
    assert "report.html" in printed


def test_the_next_session_scores_nothing_anew(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    scored = []
    for _ in range(2):
        pytester.runpytest_inprocess("-p", "no:xdist", "-k", "holds").assert_outcomes(passed=1)
        scored.append(len((pytester.path / "calls.txt").read_text()))
    first, both = scored
    # Twenty texts, and the question how the function is called; then that question, and a check of 8 scores.
    assert first == 21
    assert both - first == 1 + 8
