"""An audit on a budget: how many texts are asked, which, and what is said about them."""

import json
import os
import sys
from pathlib import Path
from subprocess import run as start
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import psycheck
from planted import Counting, Planted
from psycheck.audits.budget import START, Sample
from psycheck.audits.plan import Plan, Settings
from psycheck.commands.audit_steps import dry_run, texts_to_score
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.models.opening import open_model
from psycheck.report.tested import sampled
from psycheck.report.verdict import headlines
from psycheck.statistics.clustered import Clusters, ratio_interval
from refusals import refused

# The share of texts in 100 that fail each check: one is clearly the weakest.
FAILING = {"calm": 5, "sleep": 12, "food": 60, "work": 20, "walks": 8, "music": 15}
TEXTS = [f"Day {k}, a plain note about the {'garden' if k % 3 else 'kitchen'}." for k in range(400)]
LABELS = {"depression": [float(k % 2) for k in range(400)]}
CORPUS = Corpus.of("notes", TEXTS, labels=LABELS)
FULL = 400 * (2 + len(FAILING))  # unedited, with a neutral sentence, and with that of each check
CHECK = """
[[check]]
id = "{0}"
kind = "DIR"
edit = {{ append = ["I like {0}."] }}
expect = {{ not_down = 0.1 }}
"""
NO_CASES = (
    '[[check]]\nid = "rare"\nkind = "INV"\nedit = { replace = { zebra = "lion" } }\nexpect = "same_label"\n'
)


def fails(text: str, failing: dict[str, int] = FAILING) -> float:
    """0.5, or 0.2 where the sentence at the end is one that this text fails on."""
    word = text.removesuffix(".").rpartition(" ")[2]
    return 0.2 if crc32(text.encode()) % 100 < failing.get(word, 0) else 0.5


MODEL = Planted("m", fails)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    path.write_text('label = "depression"\n' + "".join(map(CHECK.format, FAILING)) + NO_CASES, "utf-8")
    return str(path)


def audited(suite: str, model: Planted | Counting = MODEL, corpus: Corpus = CORPUS, **settings: Any) -> Run:
    settings = {"audits": ["performance", "behaviour"], **settings}
    return psycheck.audit(model, corpus, suites=[suite], **settings)


def weakest_sentence(run: Run) -> str:
    (sentence,) = [claim.sentence for claim in run.headlines if claim.rule == "checks.fails"]
    return sentence


def rates(run: Run) -> dict[str, Finding]:
    return {f.where["check"]: f for f in run.findings.where(measure="pass_rate")}


@pytest.mark.parametrize("calls", [50, 301, 700])
def test_the_model_is_asked_at_most_as_often_as_the_budget_says(suite: str, calls: int) -> None:
    model = Counting(MODEL)
    run = audited(suite, model, budget=calls)
    assert len(model.seen) == len(set(model.seen)) == run.environment["texts"]["m"]["scored"]
    assert calls - 3 < len(model.seen) <= calls  # a case takes three texts at most


@pytest.mark.parametrize("calls", [200, 400, 1000])
def test_a_quarter_of_the_calls_are_texts_as_they_are(suite: str, calls: int) -> None:
    run = audited(suite, budget=calls)
    (accuracy,) = run.findings.where(measure="accuracy")
    assert accuracy.n >= calls // 4 - 2


def test_all_originals_are_judged_where_they_cost_a_seventh_of_the_budget(suite: str) -> None:
    # Issue 24, item 6: 300 originals, and a budget of 2,000 calls, gave a verdict from 20 texts.
    corpus = Corpus.of("notes", TEXTS[:300], labels={"depression": LABELS["depression"][:300]})
    (accuracy,) = audited(suite, corpus=corpus, budget=2_000).findings.where(measure="accuracy")
    assert accuracy.n == 300


def test_a_budget_above_the_full_run_asks_all_and_says_the_same(suite: str) -> None:
    run, full = audited(suite, budget=10 * FULL), audited(suite)
    assert run.environment["texts"]["m"]["distinct"] == FULL
    assert {k: f.value for k, f in rates(run).items() if f.tested} == {
        k: f.value for k, f in rates(full).items() if f.tested
    }
    assert all(f.counts["not_asked"] == 0 for f in rates(run).values())
    assert weakest_sentence(run).partition("%")[0] == weakest_sentence(full).partition("%")[0]


def test_a_larger_budget_asks_only_for_the_rest(suite: str, tmp_path: Path) -> None:
    small, large, alone = Counting(MODEL), Counting(MODEL), Counting(MODEL)
    audited(suite, small, budget=300)
    run = audited(suite, large, budget=700)
    audited(suite, alone, budget=700, store=tmp_path / "other.sqlite")
    tally = run.environment["texts"]["m"]
    assert tally["scored"] == len(set(alone.seen)) - len(small.seen)
    assert set(small.seen) <= set(alone.seen)
    checked = large.seen[: tally["checked"]]  # a few stored scores are computed again, once
    assert len(checked) == 8
    assert set(checked) <= set(small.seen)
    assert set(large.seen[tally["checked"] :]) == set(alone.seen) - set(small.seen)


def test_the_sample_depends_on_the_seed_and_not_on_the_order_of_the_corpus(
    suite: str, tmp_path: Path
) -> None:
    turned = Corpus.of("notes", TEXTS[::-1], labels={"depression": LABELS["depression"][::-1]})
    seen = []
    for number, (corpus, seed) in enumerate([(CORPUS, 0), (CORPUS, 0), (turned, 0), (CORPUS, 1)]):
        model = Counting(MODEL)
        audited(suite, model, corpus, budget=300, seed=seed, store=tmp_path / f"{number}.sqlite")
        seen.append(model.seen)
    assert seen[0] == seen[1]
    assert set(seen[0]) == set(seen[2])
    assert set(seen[0]) != set(seen[3])


def test_the_weakest_check_is_found_with_a_tenth_of_the_calls_and_gets_most_of_them(suite: str) -> None:
    run = audited(suite, budget=FULL // 10)
    assert "Fails most on food" in weakest_sentence(run)
    found = rates(run)
    assert "weakest" in found["food"].flags
    assert found["food"].n == max(f.n for f in found.values()) >= START


def test_checks_that_may_be_as_weak_are_named(suite: str) -> None:
    tied = Planted("m", lambda text: fails(text, {**FAILING, "work": 61}))
    words = headlines(audited(suite, tied, budget=FULL // 10))[-1]
    assert words.endswith(" may be as weak.")
    assert {"food", "work"} <= set(words.replace(";", "").replace(":", "").split())


def test_a_full_run_names_the_checks_that_it_cannot_tell_apart(suite: str) -> None:
    tied = Planted("tied", lambda text: fails(text, {**FAILING, "work": 61}))
    assert "as weak" not in headlines(audited(suite))[-1]
    run = audited(suite, tied)
    marked = {name: {*f.flags} & {"weakest", "maybe_weakest"} for name, f in rates(run).items()}
    assert {name for name, flags in marked.items() if flags} == {"food", "work"}
    assert weakest_sentence(run).endswith(" may be as weak.")


def test_the_ledger_adds_up_and_the_page_says_that_it_is_a_sample(suite: str, tmp_path: Path) -> None:
    run = audited(suite, budget=280, out=tmp_path / "run")
    asked = 0
    for name, f in rates(run).items():
        ledger = [f.counts[key] for key in ("passed", "failed", "unchanged", "unseen", "unanswered")]
        assert sum(ledger) == f.counts["generated"]
        assert f.counts["generated"] + f.counts["not_asked"] == 400
        assert f.counts["unanswered"] == 0, name
        asked += f.counts["generated"]
    (words,) = sampled(run)
    assert f"{asked:,} of 2,800 cases of the checks were asked, with at most 280 calls" in words
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert words in page
    assert "not asked" in page
    assert (run.plan["budget"], "until" in run.plan) == (280, False)


def test_without_a_budget_nothing_says_that_there_could_be_one(suite: str) -> None:
    run = audited(suite)
    assert not {"budget", "until"} & set(run.plan)
    assert not any("not_asked" in f.counts for f in run.findings)


def test_checks_stop_where_their_intervals_are_narrow(suite: str) -> None:
    run = audited(suite, budget=FULL, until=0.15)
    assert run.environment["texts"]["m"]["distinct"] < FULL
    ends = [f.interval for f in rates(run).values() if f.interval]
    assert len(ends) == len(FAILING)
    assert all((high - low) / 2 <= 0.15 for low, high in ends)


def test_a_check_without_cases_is_not_tested_and_costs_nothing(suite: str) -> None:
    rare = rates(audited(suite, budget=300))["rare"]
    assert "not_tested" in rare.flags
    assert (rare.counts["unchanged"], rare.counts["not_asked"]) == (400, 0)


def test_a_budget_below_one_case_of_each_check_is_refused_before_anything_is_asked(suite: str) -> None:
    model = Counting(MODEL)
    with refused("budget.too-small", key="budget", allowed="8 or more"):
        audited(suite, model, budget=6)
    assert model.seen == []


def test_a_dry_run_counts_the_calls_and_those_that_are_stored(suite: str, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    plan = Plan((), (), Settings(suites=(suite,), audits=("behaviour",), budget=300), store=store)
    tally = dry_run([open_model(MODEL)], [CORPUS], plan)["m"]
    assert 298 < tally.distinct <= 300
    assert tally.scored == tally.distinct
    audited(suite, budget=150, audits=["behaviour"], store=store)
    stored = dry_run([open_model(MODEL)], [CORPUS], plan)["m"]
    assert stored.distinct == tally.distinct
    assert 150 <= stored.remembered <= 150 + 16  # a dry run scores 16 texts


def test_texts_cannot_be_exported_within_a_budget() -> None:
    with pytest.raises(BadInput, match="depends on the answers"):
        texts_to_score(Plan((), (), Settings(budget=300)))


def test_until_needs_a_budget(suite: str) -> None:
    with refused("budget.until-without-budget", where="until"):
        audited(suite, until=0.05)


def test_a_threshold_from_dev_does_not_go_with_a_budget(suite: str) -> None:
    with refused("budget.with-dev-threshold", where="budget"):
        audited(suite, budget=500, threshold="dev")


def test_intervals_are_clustered_by_author_and_allow_for_the_rounds(suite: str) -> None:
    author = [str(k % 40) for k in range(400)]
    corpus = Corpus.of("notes", TEXTS, labels=LABELS, author=author)
    run = audited(suite, corpus=corpus, budget=640)
    cases = run.tables["cases"].filter(check="food")
    owner = dict(zip(corpus.ids, author, strict=True))
    passed = (cases["outcome"].cast(str) == "passed").to_numpy()
    # Above the fourth size (20, 30, 45, 68) and up to the fifth, which has a part of 5 × 6 of the 5 %.
    assert 68 < len(passed) <= 102
    expected = ratio_interval(
        passed, np.ones(len(passed)), Clusters.of([owner[i] for i in cases["id"]]), among=30
    )
    found = rates(run)["food"]
    assert found.interval == pytest.approx(expected)
    assert found.counts["units"] == len({owner[i] for i in cases["id"]})


def test_every_model_and_corpus_has_its_share(suite: str) -> None:
    other = Corpus.of("more", [f"Another {text}" for text in TEXTS[:50]])
    first, second = Counting(MODEL), Counting(Planted("other", lambda text: 0.7))
    run = psycheck.audit([first, second], [CORPUS, other], suites=[suite], audits=["behaviour"], budget=200)
    assert 198 < len(first.seen) <= 200
    assert 198 < len(second.seen) <= 200
    for place in (("m", "notes"), ("m", "more"), ("other", "notes"), ("other", "more")):
        mine = run.findings.where(measure="pass_rate", model=place[0], corpus=place[1])
        assert all(f.n > 0 for f in mine if f.where["check"] != "rare")
    assert [f.where["model"] for f in run.findings if "weakest" in f.flags] == ["m"]


def test_other_audits_judge_the_first_texts_of_the_same_order(suite: str) -> None:
    run = audited(suite, budget=280)
    (accuracy,) = run.findings.where(measure="accuracy")
    assert START <= accuracy.counts["texts"] < 400
    first = CORPUS.shuffled(0).head(accuracy.counts["texts"])
    assert run.tables["predictions"]["id"].to_list() == first.ids
    assert run.tables["predictions"]["score"].null_count() == 0


def test_a_budget_without_checks_takes_the_first_texts() -> None:
    model = Counting(MODEL)
    psycheck.audit(model, CORPUS, audits=["performance"], budget=100)
    assert set(model.seen) == set(CORPUS.shuffled(0).head(100).texts)


def test_what_the_sample_asks_for_is_what_it_judges(suite: str) -> None:
    sample = Sample([], 10)
    assert list(sample.pieces(None)) == []
    for settings in ({"variants": "one"}, {"fit": True}, {"audits": ["behaviour", "length", "fairness"]}):
        run = psycheck.audit(MODEL, "demo:tweets", suites=["deck"], budget=600, split="test", **settings)
        assert all(f.counts["unanswered"] == 0 for f in rates(run).values())
        assert run.environment["texts"]["m"]["distinct"] <= 600


def test_a_killed_run_resumes_and_asks_nothing_twice(suite: str, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    (tmp_path / "dies.py").write_text(
        "import json, os, pathlib\nfrom zlib import crc32\n"
        f"log = pathlib.Path({str(log)!r})\n"
        "def score(texts):\n"
        "    with log.open('a') as file:\n"
        "        file.writelines(json.dumps(text) + '\\n' for text in texts)\n"
        "    if os.environ.get('DIE') and len(log.read_text().splitlines()) > 250:\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return [0.2 if crc32(text.encode()) % 3 == 0 else 0.5 for text in texts]\n",
        "utf-8",
    )
    (tmp_path / "posts.csv").write_text(
        "text,depression\n" + "".join(f'"{text}",{k % 2}\n' for k, text in enumerate(TEXTS)), "utf-8"
    )
    words = ["audit", "python:dies.py:score?label=depression", "posts.csv", "--suite", suite]
    words += ["--budget", "400", "--audit", "behaviour", "--audit", "performance", "--json"]
    command = [sys.executable, "-m", "psycheck", *words]
    first = start(command, cwd=tmp_path, env={**os.environ, "DIE": "1"}, capture_output=True, timeout=120)
    assert first.returncode == -9
    lost = len(log.read_text().splitlines())
    done = start(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    tally = json.loads(done.stdout)["texts"]["score"]
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert 398 < tally["distinct"] <= 400
    assert len(set(asked)) == tally["distinct"]
    # Besides the batch that was lost and the stored scores that are checked, every text is asked once.
    assert len(asked) == lost + tally["scored"] + tally["checked"]
    assert start(command, cwd=tmp_path, capture_output=True, timeout=120).returncode == 0
    assert len(log.read_text().splitlines()) == len(asked) + 8
