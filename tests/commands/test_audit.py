import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import psycheck
from planted import MODELS, NEGATIVE, POSITIVE, Counting, Planted
from psycheck.audits.gates import Gate
from psycheck.audits.jobs import plan_jobs
from psycheck.audits.plan import Settings, read_plan
from psycheck.audits.suite import read_suite
from psycheck.commands.audit import run_audit
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, PsycheckWarning
from psycheck.runs.folder import open_run

LABELS = {"depression": [1.0] * len(POSITIVE) + [0.0] * len(NEGATIVE)}
CORPUS = Corpus.of("posts", [*POSITIVE, *NEGATIVE], labels=LABELS)


def test_one_call_gives_findings_a_report_and_a_gate(tmp_path: Path) -> None:
    run = psycheck.audit(
        MODELS["ignores_suicide"], CORPUS, out=tmp_path / "run", gates=["pass_rate>=0.7 where kind=DIR"]
    )
    assert run.exit_code == 1
    assert {finding.where["check"] for finding in run.gates[0].failing} == {"T22", "T23"}
    for name in ("findings.jsonl", "findings.csv", "junit.xml", "report.html", "cases.parquet", "run.json"):
        assert (tmp_path / "run" / name).stat().st_size > 0
    lines = [
        json.loads(line) for line in (tmp_path / "run" / "findings.jsonl").read_text("utf-8").splitlines()
    ]
    t22 = next(line for line in lines if line["measure"] == "pass_rate" and line["where"]["check"] == "T22")
    assert (t22["value"], t22["n"], t22["counts"]["failed"]) == (0.5, 10, 5)


def test_every_audit_shares_one_scoring(tmp_path: Path) -> None:
    model = Counting(MODELS["oracle"])
    run = psycheck.audit(model, [CORPUS, Corpus.of("more", [*NEGATIVE, "Another day at home"])])
    assert len(model.seen) == len(set(model.seen))
    assert run.environment["texts"]["oracle"]["scored"] == len(model.seen)
    again = Counting(MODELS["oracle"])
    run = psycheck.audit(again, [CORPUS], threshold=0.3)
    assert run.environment["texts"]["oracle"]["scored"] == 0
    assert len(again.seen) == 8  # a few stored scores are checked


def test_tests_of_fairness_allow_for_all_models_and_corpora_of_the_run() -> None:
    models, corpora = [MODELS["oracle"], MODELS["ignores_suicide"]], [CORPUS, replace(CORPUS, name="more")]
    audits = plan_jobs(models, corpora, Settings(audits=("fairness",))).audits
    assert [getattr(audit, "places", None) for audit in audits] == [4]


def test_a_model_whose_weights_file_changed_does_not_pass_a_gate_on_its_old_scores(tmp_path: Path) -> None:
    weights = tmp_path / "weights.txt"
    weights.write_text("0.9")
    (tmp_path / "reads.py").write_text(
        f"def score(texts):\n    w = float(open({str(weights)!r}).read())\n"
        "    return [w if 'e' in text else 1 - w for text in texts]\n"
    )
    spec, gate = f"python:{tmp_path / 'reads.py'}:score?label=depression", ["recall>=0.5"]
    assert psycheck.audit(spec, CORPUS, gates=gate, audits=["performance"]).holds
    weights.write_text("0.2")
    with pytest.warns(PsycheckWarning, match="gives other scores than before"):
        run = psycheck.audit(spec, CORPUS, gates=gate, audits=["performance"])
    tally = run.environment["texts"]["score"]
    assert (run.holds, tally["checked"], tally["dropped"], tally["remembered"]) == (False, 8, len(CORPUS), 0)
    assert tally["scored"] == len(CORPUS)
    assert any(f"{len(CORPUS)} stored scores dropped" in note for note in run.notes)
    third = psycheck.audit(spec, CORPUS, gates=gate, audits=["performance"])
    assert third.environment["texts"]["score"]["remembered"] == len(CORPUS)
    assert third.environment["texts"]["score"]["dropped"] == 0


def test_the_report_and_the_folder_hold_no_text_unless_asked(tmp_path: Path) -> None:
    psycheck.audit(MODELS["flips_on_she"], CORPUS, out=tmp_path / "run")
    held = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert not any(text[:30].encode() in held for text in CORPUS.texts)
    psycheck.audit(MODELS["flips_on_she"], CORPUS, out=tmp_path / "shown", show_texts=True)
    assert b"<mark" in (tmp_path / "shown" / "report.html").read_bytes()


def test_a_run_is_opened_again_as_it_was(tmp_path: Path) -> None:
    run = psycheck.audit(MODELS["counts_i"], CORPUS, out=tmp_path / "run", show_texts=True)
    again = open_run(tmp_path / "run")
    assert [f.as_json() for f in again.findings] == [f.as_json() for f in run.findings]
    assert again.shown == run.shown
    assert again.tables["cases"].height == run.tables["cases"].height


def test_a_folder_without_findings_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no finished run"):
        open_run(tmp_path)


def test_several_models_and_corpora_are_set_beside_each_other() -> None:
    other = Corpus.of("other", [*NEGATIVE, *POSITIVE], labels={"depression": [0.0] * 5 + [1.0] * 5})
    run = psycheck.audit([MODELS["oracle"], MODELS["constant"]], [CORPUS, other])
    accuracy = {
        (f.where["model"], f.where["corpus"]): f.value for f in run.findings if f.measure == "accuracy"
    }
    assert [accuracy["oracle", corpus] for corpus in ("posts", "other")] == [1.0, 1.0]
    assert [accuracy["constant", corpus] for corpus in ("posts", "other")] == [0.5, 0.5]
    assert any(f.measure == "pearson_r" and f.where["kind"] == "DIR" for f in run.findings)
    pooled = [f for f in run.findings if f.measure == "pass_rate_mean" and f.where["corpus"] == "all"]
    assert {f.where.get("category") for f in pooled} >= {"COG", "SOM", "SUI"}


def test_a_check_that_is_picked_is_picked_from_all_models_and_corpora() -> None:
    other = Corpus.of("other", [*NEGATIVE, *POSITIVE], labels={"depression": [0.0] * 5 + [1.0] * 5})
    found = psycheck.audit([MODELS["oracle"], MODELS["counts_i"]], [CORPUS, other]).findings
    untested = sum(not f.tested for f in found.where(measure="pass_rate", model="oracle", corpus="posts"))
    among = found.where(measure="pass_rate_among_checks", model="oracle", corpus="posts")
    assert {f.counts["checks"] for f in among} == {4 * 23 - untested}


def test_a_label_is_aligned_and_said_aloud() -> None:
    plain = Corpus.of("plain", [*POSITIVE, *NEGATIVE], labels={"label": LABELS["depression"]})
    run = psycheck.audit(Planted("m", MODELS["oracle"].of, ("positive",)), plain)
    assert next(f for f in run.findings if f.measure == "accuracy").where["label"] == "depression"
    assert any("used for 'depression'" in note for note in run.notes)


def test_labels_that_cannot_be_aligned_are_refused() -> None:
    with pytest.raises(BadInput, match="corpora and suites have"):
        psycheck.audit(Planted("m", lambda t: 0.5, ("ptsd", "ocd")), CORPUS)


def test_two_models_of_one_name_are_refused() -> None:
    with pytest.raises(BadInput, match="two of the model names"):
        psycheck.audit([MODELS["oracle"], MODELS["oracle"]], CORPUS)


def test_two_suites_of_one_name_are_refused(tmp_path: Path) -> None:
    shipped = read_suite("robustness").path
    assert shipped is not None
    (tmp_path / "copy.toml").write_text(Path(shipped).read_text())
    with pytest.raises(BadInput, match="two of the suite names are 'robustness'"):
        psycheck.audit(MODELS["oracle"], CORPUS, suites=["robustness", str(tmp_path / "copy.toml")])


def test_a_case_keeps_the_score_that_decided_it(tmp_path: Path) -> None:
    near = 0.49999999999
    model = Planted("near", lambda text: near if text.islower() else 0.5)
    corpus = Corpus.of("posts", ["I am Fine today", "All is Well"])
    run = psycheck.audit(model, corpus, suites=["robustness"], audits=["behaviour"], out=tmp_path / "run")
    cases = pl.read_parquet(tmp_path / "run" / "cases.parquet").filter(pl.col("check") == "R2")
    assert cases["outcome"].to_list() == ["failed", "failed"]
    assert cases["after"].to_list() == [near, near]
    assert {(case.before, case.after) for case in run.shown if case.check == "R2"} == {(0.5, near)}
    assert "0.50000000000 → 0.49999999999" in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_an_object_with_exclusive_classes_is_judged_by_its_largest_score() -> None:
    class Severity:
        name, labels, fingerprint, exclusive = "severity", ("not", "depression", "severe"), "severity", True

        def score(self, texts: Sequence[str], /) -> FloatArray:
            return np.array([[0.3, 0.4, 0.3] if text in POSITIVE else [0.4, 0.3, 0.3] for text in texts])

    run = psycheck.audit(Severity(), CORPUS, audits=["performance"])
    assert run.findings.where(measure="f1", label="depression")[0].value == 1.0


def test_an_unknown_setting_is_answered_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="threshold"):
        psycheck.audit(MODELS["oracle"], CORPUS, treshold=0.4)  # type: ignore[call-arg]  # the type checker finds it, too


def test_a_model_that_fails_on_some_texts_makes_the_run_incomplete_and_keeps_the_rest(tmp_path: Path) -> None:
    def touchy(text: str) -> float:
        if "insomnia" in text:
            raise RuntimeError(text)
        return MODELS["oracle"].of(text)

    run = psycheck.audit(Planted("touchy", touchy), CORPUS, out=tmp_path / "run")
    assert (run.incomplete, run.exit_code) == (10, 3)
    rates = {f.where["check"]: f for f in run.findings if f.measure == "pass_rate"}
    assert rates["T11"].counts["unanswered"] == 10
    assert rates["T12"].value == 1.0
    assert not any(text[:20] in note for note in run.notes for text in CORPUS.texts)


class Windowed(Planted):
    """Reads the first 120 characters."""

    def score(self, texts: object) -> np.ndarray:
        assert isinstance(texts, list)
        return super().score([text[:120] for text in texts])

    def read(self, texts: list[str]) -> np.ndarray:
        return np.array([min(len(text), 120) for text in texts])


def test_fit_shortens_texts_so_that_sentences_are_seen() -> None:
    long = Corpus.of("long", [text + " and so on" * 20 for text in CORPUS.texts], labels=LABELS)
    model = Windowed("windowed", MODELS["oracle"].of)
    cut = psycheck.audit(model, long)
    fitted = psycheck.audit(model, long, fit=True)
    unseen = {f.where["check"]: f.counts["unseen"] for f in cut.findings if f.measure == "pass_rate"}
    seen = {f.where["check"]: f.counts["unseen"] for f in fitted.findings if f.measure == "pass_rate"}
    assert all(unseen[f"T{n}"] == 10 for n in range(7, 24))
    assert all(seen[f"T{n}"] == 0 for n in range(7, 24))
    assert any("10 texts shortened" in note for note in fitted.notes)


def test_no_text_at_all_is_an_error_and_not_an_empty_report() -> None:
    with pytest.raises(BadInput, match="no texts"):
        psycheck.audit(MODELS["oracle"], Corpus.of("empty", []))


def test_a_gate_may_refer_to_an_earlier_run(tmp_path: Path) -> None:
    # A gate fails on what is shown, and a handful of texts shows nothing among two dozen checks.
    texts = [f"{text} Day {day}." for day in range(10) for text in CORPUS.texts]
    corpus = Corpus.of("posts", texts, labels={"depression": LABELS["depression"] * 10})
    psycheck.audit(MODELS["oracle"], corpus, out=tmp_path / "old")
    (tmp_path / "psycheck.toml").write_text(
        'models = ["python:m:model"]\n[[corpus]]\npath = "x.csv"\n'
        '[[gate]]\nmeasure = "pass_rate"\nno_worse_than = "old"\n'
    )
    gates = read_plan(tmp_path / "psycheck.toml").settings.gates
    run = run_audit([MODELS["ignores_suicide"]], [corpus], Settings(gates=gates))
    assert {f.where["check"] for f in run.gates[0].failing} == {"T22", "T23"}
    assert "paired test" in run.gates[0].reason


@pytest.mark.parametrize(
    ("corpus", "settings", "what"),
    [
        (
            Corpus.of("posts", CORPUS.texts[:-1], labels={"depression": LABELS["depression"][:-1]}),
            {},
            "of corpus 'posts'",
        ),
        (CORPUS, {"threshold": 0.3}, r"threshold \(0.5 → 0.3\)"),
        (CORPUS, {"variants": "one"}, r"variants \(suite → one\)"),
        (CORPUS, {}, ""),
    ],
)
def test_a_baseline_of_other_texts_or_settings_is_refused_before_scoring(
    corpus: Corpus, settings: dict[str, Any], what: str, tmp_path: Path
) -> None:
    psycheck.audit(MODELS["oracle"], CORPUS, out=tmp_path / "old")
    gate, model = Gate("f1", no_worse_than=str(tmp_path / "old")), Counting(MODELS["counts_i"])
    checked = Settings(gates=(gate,), **settings)
    if what:
        with pytest.raises(BadInput, match=f"differ in .*{what}"):
            run_audit([model], [corpus], checked)
        assert model.seen == []
    else:
        assert run_audit([model], [corpus], checked).gates[0].checked == 1


def test_a_baseline_of_another_suite_of_the_same_name_is_refused(tmp_path: Path) -> None:
    suite = tmp_path / "mine.toml"
    text = (
        'name = "mine"\ntitle = "Mine"\nlabel = "depression"\n'
        '[[check]]\nid = "A"\nkind = "INV"\nedit = {{ noise = "{}" }}\nexpect = "same_label"\n'
    )
    suite.write_text(text.format("lower"))
    psycheck.audit(MODELS["oracle"], CORPUS, suites=[str(suite)], out=tmp_path / "old")
    suite.write_text(text.format("upper"))
    gates = (Gate("pass_rate", no_worse_than=str(tmp_path / "old")),)
    with pytest.raises(BadInput, match="differ in the checks of suite 'mine'"):
        run_audit([MODELS["oracle"]], [CORPUS], Settings(gates=gates, suites=(str(suite),)))


def test_fairness_is_part_of_every_audit_and_names_the_model_that_flips_on_she() -> None:
    texts = [f"She went home on day {i}." for i in range(6)] + ["The garden is wet."]
    people = Corpus.of("people", texts, labels={"depression": [0.0] * 7}, groups={"ward": ["a"] * 7})
    run = psycheck.audit([MODELS["oracle"], MODELS["flips_on_she"]], people, suites=())
    rates = {f.where["model"]: f for f in run.findings if f.measure == "flip_rate"}
    assert {name: (rate.value, rate.n) for name, rate in rates.items()} == {
        "oracle": (0.0, 6),
        "flips_on_she": (1.0, 6),
    }
    assert sorted(rates["flips_on_she"].examples) == ["1", "2", "3", "4", "5", "6"]
    assert len(run.tables["pairs"]) == 12


def test_nouns_are_swapped_where_asked_and_the_run_says_so(tmp_path: Path) -> None:
    model = Counting(MODELS["oracle"])
    people = Corpus.of("people", ["My mother left.", "She left."], labels={"depression": [0.0, 0.0]})
    run = psycheck.audit(
        model, people, audits=("fairness",), swap=["nouns"], store=tmp_path / "s", out=tmp_path / "run"
    )
    assert sorted(model.seen) == ["He left.", "My father left.", "My mother left.", "She left."]
    (flips,) = [f for f in run.findings if f.measure == "flip_rate"]
    assert (flips.n, flips.where["swap"]) == (2, "pronouns+nouns")
    assert (run.plan["swap"], run.plan["swap_person"]) == (["pronouns", "nouns"], "all")
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "The same texts with he and she and nouns (woman, father) swapped" in page


def test_the_main_person_alone_is_swapped_where_asked(tmp_path: Path) -> None:
    model = Counting(MODELS["oracle"])
    people = Corpus.of(
        "people", ["She lives with her son, who says he worries."], labels={"depression": [0.0]}
    )
    psycheck.audit(model, people, audits=("fairness",), swap_person="main", store=tmp_path / "s")
    assert "He lives with his son, who says he worries." in model.seen


def test_flipped_pairs_are_shown_with_the_edit_marked(tmp_path: Path) -> None:
    texts = [f"Today she went home on day {i}." for i in range(60)] + ["The garden is wet."]
    people = Corpus.of("people", texts, labels={"depression": [0.0] * 61})
    settings: dict[str, Any] = {"audits": ("fairness",), "store": tmp_path / "s"}
    psycheck.audit(MODELS["flips_on_she"], people, out=tmp_path / "ids", **settings)
    page = (tmp_path / "ids" / "report.html").read_text("utf-8")
    assert "0.90 → 0.10" in page
    assert "went home" not in page
    run = psycheck.audit(MODELS["flips_on_she"], people, out=tmp_path / "t", show_texts=True, **settings)
    assert [(case.suite, case.check, case.outcome) for case in run.shown] == [
        ("audit:fairness", "depression", "failed")
    ] * 40
    page = (tmp_path / "t" / "report.html").read_text("utf-8")
    assert page.count("Today <mark>he</mark> went home on day") == 40
    assert open_run(tmp_path / "t").shown == run.shown


def test_an_undecided_text_is_in_the_file_of_pairs_and_among_no_cases(tmp_path: Path) -> None:
    people = Corpus.of("people", ["She went home.", "They gave her flowers."], labels={"depression": [0, 0]})
    run = psycheck.audit(MODELS["flips_on_she"], people, audits=("fairness",), out=tmp_path, show_texts=True)
    pairs = pl.read_parquet(tmp_path / "pairs.parquet").with_columns(pl.col("outcome").cast(pl.String))
    assert pairs.select("id", "outcome").rows() == [("1", "failed"), ("2", "undecided")]
    assert [case.id for case in run.shown] == ["1"]


def test_fairness_scores_nothing_for_texts_that_name_no_gender(tmp_path: Path) -> None:
    model = Counting(MODELS["oracle"])
    people = Corpus.of("people", ["She left.", "The garden is wet."], labels={"depression": [0.0, 0.0]})
    psycheck.audit(model, people, audits=("fairness",), store=tmp_path / "scores.sqlite")
    assert sorted(model.seen) == ["He left.", "She left."]


def test_a_model_that_trained_on_names_and_the_run_lacks_is_refused() -> None:
    with pytest.raises(BadInput, match="no model of this run is called 'oracel'") as caught:
        psycheck.audit(MODELS["oracle"], CORPUS, trained_on={"oracel": ["posts"]})
    assert "did you mean 'oracle'?" in str(caught.value)


def test_a_corpus_that_trained_on_names_and_the_run_lacks_is_said_with_near_names() -> None:
    said: list[str] = []
    settings = Settings(audits=("performance",), trained_on={"": ("post", "elsewhere")})
    run_audit([MODELS["oracle"]], [CORPUS], settings, say=said.append)
    assert said == [
        "trained_on: 'post' is not a corpus of this run; did you mean 'posts'?",
        "trained_on: 'elsewhere' is not a corpus of this run",
    ]


def test_texts_of_an_unlabelled_corpus_are_not_scored_for_performance_and_a_note_says_why() -> None:
    model = Counting(MODELS["oracle"])
    bare = Corpus.of("bare", ["A text of its own"])
    run = psycheck.audit(model, [CORPUS, bare], audits=("performance",))
    assert sorted(model.seen) == sorted(CORPUS.texts)
    assert "bare: not judged by audit 'performance': the corpus has no labels" in run.notes
    assert {f.where["corpus"] for f in run.findings} == {"posts"}


def test_length_alone_asks_for_the_dir_cases_and_reports_what_it_reports_beside_behaviour() -> None:
    model = Counting(MODELS["ignores_suicide"])
    alone = psycheck.audit(model, CORPUS, audits=("length",))
    # The texts, and each with every sentence of the DIR checks T7 to T23.
    sentences = [s for check in read_suite("deck").checks if check.kind == "DIR" for s in check.sentences]
    assert len(model.seen) == len(CORPUS) * (1 + len(set(sentences)))
    lengths = [f.as_json() for f in alone.findings if f.where["audit"] == "length"]
    both = psycheck.audit(model, CORPUS, audits=("behaviour", "length"))
    assert lengths == [f.as_json() for f in both.findings if f.where["audit"] == "length"]
    # 2 units, 4 features: p, effect, and the median of failed and passed texts.
    assert len(lengths) == 32
    assert {f.where["audit"] for f in alone.findings} <= {"length", "compare"}


def test_length_says_that_a_suite_has_no_dir_check(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'label = "depression"\n[[check]]\nid = "M1"\nkind = "INV"\nexpect = "same_label"\n'
        'edit = { replace = { he = "she" } }\n'
    )
    run = psycheck.audit(MODELS["oracle"], CORPUS, audits=("length",), suites=[str(tmp_path / "mine.toml")])
    assert "posts: not judged by audit 'length:mine': suite 'mine' has no DIR check" in run.notes


_FIRST_AUDIT = """
import sys
import psycheck

def model(texts):
    return [len(text) % 10 / 10 for text in texts]

posts = {"text": [f"I cannot sleep, day {day}." for day in range(40)], "depression": [0, 1] * 20}
psycheck.audit(model, posts, label="depression", out="run")
heavy = {"sklearn", "scipy.stats", "scipy.sparse.csgraph", "torch", "pandas", "psycheck.text.redact.find"}
print(sorted(heavy & sys.modules.keys()))
"""


def test_the_first_audit_in_python_loads_what_it_needs_only(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _FIRST_AUDIT]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
