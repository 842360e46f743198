"""The command line as a person or a CI job meets it: real processes, real exit codes, real faults."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from process import psycheck
from psycheck.core.item import digest_of

MODEL = """
import os, time
from pathlib import Path

labels = ("depression",)
SLOW = float(os.environ.get("SLOW", "0"))
LOG = os.environ.get("SENT")

class _Model:
    labels = ("depression",)
    fingerprint = "fixed"
    batch = 20
    def score(self, texts):
        import numpy as np
        time.sleep(SLOW)
        if LOG:
            with open(LOG, "a") as file:
                file.writelines(f"{hash_of(text)}\\n" for text in texts)
        return np.array([[(len(text) * 37 % 101) / 101] for text in texts])

def hash_of(text):
    from hashlib import sha1
    return sha1(text.encode()).hexdigest()

model = _Model()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "mymodel.py").write_text(MODEL)
    rows = ["id,text,depression"]
    rows += [f"p{i},I went to place {i} and he was there with his dog,{i % 2}" for i in range(40)]
    (tmp_path / "posts.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


AUDIT = ("audit", "python:mymodel:model", "posts.csv", "--label", "depression", "--out", "runs/a")


def test_one_command_ends_in_a_report_and_exit_code_0(place: Path) -> None:
    done = psycheck(place, *AUDIT)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert done.stdout.splitlines()[-1] == "report: runs/a/report.html"
    assert (place / "runs/a/report.html").is_file()


def test_the_console_speaks_of_gender_where_only_that_was_tested(place: Path) -> None:
    done = psycheck(place, *AUDIT, "--audit", "fairness", "--gate", "flip_rate<=0")
    said = done.stdout.splitlines()
    # "he … his" is a letter shorter than "she … her". Of 47 letters (10 of 40 texts) the score is 0.22, of 48
    # 0.58, of 49 0.95. No text has words for a placebo, so the length may be all that the model follows.
    assert said[1].startswith("The decision changes in 25 % (14–40) of 40 texts when he and she")
    headlines = (place / "runs/a/headlines.jsonl").read_text().splitlines()
    assert [json.loads(line)["rule"] for line in headlines] == ["gender.not_shown"]
    assert said[2].startswith("gate FAILS: flip_rate<=0")


def test_a_gate_that_fails_is_exit_code_1(place: Path) -> None:
    done = psycheck(place, *AUDIT, "--gate", "pass_rate>=0.99 where kind=DIR")
    assert done.returncode == 1
    assert "gate FAILS" in done.stdout


def test_a_model_that_ends_the_program_is_a_failing_model(place: Path) -> None:
    (place / "mymodel.py").write_text("import sys\n\ndef model(texts):\n    sys.exit(0)\n")
    done = psycheck(place, *AUDIT)
    assert done.returncode == 2
    assert "SystemExit" in done.stderr


def test_a_gate_that_names_nothing_known_is_told_before_scoring(place: Path) -> None:
    log = place / "sent.txt"
    for gate, said in (
        ("f2>=0.5", "does not have: 'f2'"),
        ("f1>=0.5 where corpsu=posts", "on 'corpsu'"),
    ):
        done = psycheck(place, *AUDIT, "--gate", gate, SENT=str(log))
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not log.exists()


def test_a_gate_that_turns_out_to_name_nothing_still_leaves_the_report(place: Path) -> None:
    done = psycheck(place, *AUDIT, "--gate", "f1_worst>=0.5")  # there only where answers are missing
    assert (done.returncode, "does not have: 'f1_worst'" in done.stderr) == (2, True)
    assert "the report is in runs/a/report.html" in done.stderr
    assert (place / "runs/a/report.html").is_file()


def test_json_is_for_programs(place: Path) -> None:
    printing = MODEL.replace("        time.sleep(SLOW)", "        print('loaded')")
    (place / "mymodel.py").write_text(printing)
    summary = json.loads(psycheck(place, *AUDIT, "--json").stdout)
    assert summary["exit_code"] == 0
    assert summary["texts"]["mymodel"]["scored"] == summary["texts"]["mymodel"]["distinct"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit", "python:mymodel:model", "post.csv"), "posts.csv"),
        (("audit", "python:mymodl:model", "posts.csv"), "mymodl"),
        (("audit", "python:mymodel:model", "posts.csv", "--text", "txt"), "did you mean 'text'"),
        (("audit", "python:mymodel:model", "posts.csv", "--suite", "dek"), "deck"),
        (("audit", "python:mymodel:model", "posts.csv", "--gate", "f1 is good"), "gate not understood"),
        (("audit", "python:mymodel:model", "posts.csv", "--threshold", "7"), "where: --threshold"),
        (("audit",), "names no model"),
        (("audit", "magic:thing", "posts.csv"), "hf"),
        (("audit", "posts.csv", "python:mymodel:model"), "expected a corpus, got a model"),
        (("audit", "mymodel:model", "posts.csv"), "write python:mymodel:model"),
        (("audit", "scores:none.csv", "posts.csv"), "--export-texts"),
        (("view", "nowhere"), "no finished run"),
        (("ls", "suits"), "did you mean 'suites'"),
        (("suite", "check", "none.toml"), "none.toml"),
    ],
)
def test_a_mistake_is_exit_code_2_with_plain_words(place: Path, words: tuple[str, ...], said: str) -> None:
    done = psycheck(place, *words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_option_that_does_not_exist_is_exit_code_2(place: Path) -> None:
    assert psycheck(place, *AUDIT, "--sute", "deck").returncode == 2


def test_texts_that_cannot_be_scored_are_exit_code_3(place: Path) -> None:
    broken = MODEL.replace(
        "        time.sleep(SLOW)", "        assert not any('insomnia' in t for t in texts)"
    )
    (place / "mymodel.py").write_text(broken)
    done = psycheck(place, *AUDIT)
    assert done.returncode == 3, done.stderr
    assert "AssertionError" in done.stderr
    assert "insomnia" not in done.stderr


def test_a_killed_run_goes_on_where_it_was_and_ends_the_same(place: Path) -> None:
    undisturbed = psycheck(place, *AUDIT[:-1], "runs/whole", PSYCHECK_STORE=str(place / "other.sqlite"))
    assert undisturbed.returncode == 0
    log = place / "sent.txt"
    environment = {**os.environ, "SENT": str(log), "SLOW": "0.02"}
    running = subprocess.Popen(
        [sys.executable, "-m", "psycheck", *AUDIT], cwd=place, env=environment, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not (log.exists() and log.read_text().count("\n") > 400):
        assert time.monotonic() < deadline, "the run did not start to score"
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    first = log.read_text().split()
    assert not (place / "runs/a/findings.jsonl").exists()
    assert psycheck(place, *AUDIT, SENT=str(log)).returncode == 0
    sent = log.read_text().split()
    assert len(first) < len(set(sent)), "the run was over before it was killed"
    checked, resumed = sent[len(first) :][:8], sent[len(first) :][8:]
    assert set(checked) <= set(first)  # a few stored scores are checked before scoring goes on
    assert len(set(first) & set(resumed)) <= 20, "more than the batch under way was scored again"
    whole, again = (place / f"runs/{name}/findings.jsonl" for name in ("whole", "a"))
    assert whole.read_bytes() == again.read_bytes()


def test_a_second_run_scores_nothing_and_says_so(place: Path) -> None:
    psycheck(place, *AUDIT)
    log = place / "sent.txt"
    done = psycheck(place, *AUDIT, "--explain-cache", SENT=str(log))
    assert len(log.read_text().split()) == 8  # a few stored scores are checked
    assert " 0 scored" in done.stdout
    assert "is known" in done.stderr
    assert "cache: 'mymodel': 8 stored scores checked: unchanged" in done.stderr


def test_a_folder_that_may_not_be_written_is_told_before_anything_is_scored(place: Path) -> None:
    (place / "runs").write_text("a file stands where the folder should be")
    log = place / "sent.txt"
    done = psycheck(place, *AUDIT, SENT=str(log))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "cannot write results" in done.stderr
    assert not log.exists()


def test_a_full_disk_is_told_and_the_same_command_goes_on(place: Path) -> None:
    limited = (
        f"ulimit -f 300; exec {sys.executable} -m psycheck {' '.join(AUDIT)}"  # 300 blocks of 1,024 bytes
    )
    done = subprocess.run(["bash", "-c", limited], cwd=place, capture_output=True, text=True, timeout=120)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "free space" in done.stderr
    assert psycheck(place, *AUDIT).returncode == 0


def test_a_model_on_another_machine_is_audited_through_files(place: Path) -> None:
    words = (
        "audit",
        "scores:elsewhere.csv?label=depression",
        "posts.csv",
        "--label",
        "depression",
        "--out",
        "runs/b",
    )
    done = psycheck(place, *words, "--export-texts", "need.jsonl")
    assert done.returncode == 0, done.stderr
    need = [json.loads(line) for line in (place / "need.jsonl").read_text("utf-8").splitlines()]
    assert len({line["text_hash"] for line in need}) == len(need) > 1000
    rows = [f"{line['text_hash']},{len(line['text']) * 37 % 101 / 101}" for line in need]
    (place / "elsewhere.csv").write_text("text_hash,depression\n" + "\n".join(rows[:-3]) + "\n")
    assert psycheck(place, *words).returncode == 3
    (place / "elsewhere.csv").write_text("text_hash,depression\n" + "\n".join(rows) + "\n")
    assert psycheck(place, *words).returncode == 0
    psycheck(place, *AUDIT)
    ours, theirs = (
        [
            json.loads(line)["value"]
            for line in (place / f"runs/{name}/findings.jsonl").read_text().splitlines()
        ]
        for name in ("a", "b")
    )
    assert ours == theirs


def test_a_plan_in_this_folder_is_used_and_options_win(place: Path) -> None:
    (place / "psycheck.toml").write_text(
        'models = ["python:mymodel:model"]\nout = "runs/p"\ngates = ["pass_rate>=0.99 where kind=DIR"]\n'
        'labels = ["depression"]\n[[corpus]]\npath = "posts.csv"\n'
    )
    assert psycheck(place, "audit").returncode == 1
    assert (place / "runs/p/report.html").is_file()
    assert psycheck(place, "audit", "--out", "runs/q").returncode == 1
    assert (place / "runs/q/report.html").is_file()


def test_scores_of_a_corpus_are_written_without_texts(place: Path) -> None:
    done = psycheck(
        place, "score", "python:mymodel:model", "posts.csv", "--out", "s.csv", "--threshold", "0.5"
    )
    assert done.returncode == 0, done.stderr
    head, first, *_ = (place / "s.csv").read_text().splitlines()
    assert head == "id,depression,depression_silver,text_hash"
    text = "I went to place 0 and he was there with his dog"
    value = len(text) * 37 % 101 / 101
    assert first == f"p0,{value!r},{int(value >= 0.5)},{digest_of(text).hex()}"
    # The file is a model that knows these texts, and the silver labels are none of its labels.
    again = psycheck(place, "score", "scores:s.csv", "posts.csv", "--out", "again.csv")
    assert again.returncode == 0, again.stderr
    head, second, *_ = (place / "again.csv").read_text().splitlines()
    assert head == "id,depression,text_hash"
    assert second == f"p0,{value!r},{digest_of(text).hex()}"


def test_a_corpus_is_written_in_the_other_gender_and_the_undecided_are_named(place: Path) -> None:
    lines = ["id,text,depression", "a,She is tired.,1", "b,They gave her flowers.,0", "c,It rains.,0"]
    (place / "notes.csv").write_text("\n".join(lines) + "\n")
    done = psycheck(place, "regender", "notes.csv", "--out", "other.csv")
    assert done.returncode == 0, done.stderr
    assert "1 of 3 texts swapped (pronouns)" in done.stdout
    assert "1 undecided, left unchanged: b" in done.stdout
    assert "She is" not in done.stdout
    assert (place / "other.csv").read_text().splitlines()[1].startswith('"a","He is tired."')
    counts = json.loads(psycheck(place, "regender", "notes.csv", "--to", "augmented", "--json").stdout)
    assert (counts["after"], counts["undecided_ids"]) == (4, ["b"])
    wrong = psycheck(place, "regender", "notes.csv", "--swap", "noun")
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)


def test_a_quiet_run_prints_only_gates_that_fail(place: Path) -> None:
    done = psycheck(place, *AUDIT, "--quiet", "--gate", "f1>=0", "--gate", "accuracy.high<=0.1")
    assert (done.returncode, done.stderr) == (1, "")
    first, second = done.stdout.splitlines()
    assert first == "gate FAILS: accuracy.high<=0.1 (1 of 1 outside the bound)"
    assert re.fullmatch(r"  accuracy 0\.\d+ \(0\.\d+–0\.\d+\), n 40: audit performance, .*", second)
    assert psycheck(place, *AUDIT, "-q", "--force").stdout == ""


def test_a_dry_run_counts_what_the_run_will_score(place: Path) -> None:
    log = place / "sent.txt"
    done = psycheck(place, *AUDIT, "--dry-run", SENT=str(log))
    found = re.fullmatch(
        r"mymodel: ([\d,]+) texts requested, ([\d,]+) distinct, 0 cached, ([\d,]+) to score, about \d+ s\n",
        done.stdout,
    )
    assert found, done.stdout
    asked, distinct, todo = (int(number.replace(",", "")) for number in found.groups())
    assert (distinct, len(log.read_text().split())) == (todo, 16)
    assert not (place / "runs").exists()
    run = psycheck(place, *AUDIT, "--json")
    texts = json.loads(run.stdout)["texts"]["mymodel"]
    assert (texts["asked"], texts["distinct"], texts["scored"]) == (asked, distinct, todo - 16)
    again = json.loads(psycheck(place, *AUDIT, "--dry-run", "--json").stdout)["texts"]["mymodel"]
    assert (again["remembered"], again["scored"], again["seconds"]) == (distinct, 0, 0.0)


def test_json_holds_verdict_metrics_and_the_figures_of_gates(place: Path) -> None:
    summary = json.loads(psycheck(place, *AUDIT, "--json", "--force", "--gate", "f1>=0.99").stdout)
    assert summary["verdict"]
    f1 = next(one for one in summary["metrics"] if one["measure"] == "f1")
    assert (f1["n"], f1["where"]["corpus"], "examples" in f1) == (40, "posts", False)
    assert summary["gates"][0]["figures"][0].startswith("f1 0.")


def test_several_runs_get_an_index_page_with_relative_links(place: Path) -> None:
    psycheck(place, *AUDIT, "--audit", "performance", "--gate", "f1>=0.99")
    psycheck(place, *AUDIT[:-1], "runs/b c", "--audit", "performance")
    done = psycheck(place, "view", "runs/a", "runs/b c", "--no-browser", "--index", "runs/index.html")
    assert (done.returncode, done.stdout) == (0, "report: runs/index.html\n"), done.stderr
    page = (place / "runs/index.html").read_text("utf-8")
    assert re.findall('href="([^"]+)"', page) == ["a/report.html", "b%20c/report.html"]
    assert "0 of 1 hold" in page
    assert "mymodel" in page


def test_view_redraws_without_scoring(place: Path) -> None:
    psycheck(place, *AUDIT)
    (place / "runs/a/report.html").unlink()
    done = psycheck(place, "view", "runs/a", "--no-browser")
    assert (done.returncode, (place / "runs/a/report.html").is_file()) == (0, True)
    assert psycheck(place, "view", "runs/a/report.html", "--no-browser").returncode == 0


def test_where_nothing_needs_a_score_the_export_says_so(place: Path) -> None:
    psycheck(place, *AUDIT)
    done = psycheck(place, *AUDIT, "--export-texts", "need.jsonl")
    assert done.stdout.splitlines() == [
        "need.jsonl: 0 texts without a score",
        "all texts are scored: run the same command without --export-texts",
    ]


def test_version_help_and_completion(place: Path) -> None:
    assert psycheck(place, "--version").stdout.startswith("psycheck 0.")
    assert "audit" in psycheck(place, "--help").stdout
    shown = psycheck(place, "--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (shown.returncode, "complete" in shown.stdout) == (0, True)


def test_ls_names_what_is_there(place: Path) -> None:
    found = json.loads(psycheck(place, "ls", "--json").stdout)
    assert found.pop("schema_version") == 1
    kinds = {"suites", "corpora", "models", "audits", "measures", "recipes", "prompts", "scales", "symptoms"}
    assert set(found) == kinds | {"formats", "engines", "pages", "scores"}
    assert {"deck", "deck-grammatical"} <= set(found["suites"])
    assert "demo:tweets" in found["corpora"]
    nameless = {name for kind in found.values() for name, description in kind.items() if not description}
    assert nameless == set()


def test_ls_folds_long_lines_and_says_all_of_a_corpus_only_when_asked(place: Path) -> None:
    overview, asked = (psycheck(place, "ls", *kind, COLUMNS="100").stdout for kind in ((), ("corpora",)))
    assert "Licence:" not in overview
    assert "Licence:" in asked
    folded = [line for line in asked.splitlines() if line.startswith(" " * 31)]
    assert folded
    assert all(len(line) <= 100 or "://" in line for line in (overview + asked).splitlines())


def test_help_and_import_are_light() -> None:
    heavy = "[m for m in ('torch', 'matplotlib', 'polars', 'sklearn', 'numpy') if m in sys.modules]"
    for module in ("psycheck", "psycheck.commands.main"):
        code = f"import sys, {module}; print({heavy})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == "[]", module


def test_a_reader_that_goes_away_is_no_mistake(place: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m psycheck ls | head -1"],
        cwd=place,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr


def test_a_plan_elsewhere_finds_the_module_beside_it(place: Path) -> None:
    (place / "psycheck.toml").write_text(
        'models = ["python:mymodel:model"]\nout = "runs/p"\nlabels = ["depression"]\n'
        '[[corpus]]\npath = "posts.csv"\n'
    )
    (place / "elsewhere").mkdir()
    done = psycheck(place / "elsewhere", "audit", "--plan", "../psycheck.toml")
    assert done.returncode == 0, done.stderr


def test_ctrl_c_is_one_line_and_exit_code_130_and_loses_nothing(place: Path) -> None:
    log = place / "sent.txt"
    running = subprocess.Popen(
        [sys.executable, "-m", "psycheck", *AUDIT],
        cwd=place,
        env={**os.environ, "SENT": str(log), "SLOW": "0.02"},
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 300
    while not (log.exists() and log.read_text().count("\n") > 200):
        assert time.monotonic() < deadline, "the run did not start to score"
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    lines = [line for line in said.splitlines() if not line.startswith(("note: ", "assumed: "))]
    assert lines == ["stopped; finished scores are kept, run the same command again to resume"]
    assert running.returncode == 130
    first = log.read_text().split()
    again = psycheck(place, *AUDIT, SENT=str(log))
    sent = log.read_text().split()
    assert (again.returncode, len(set(sent)) > len(set(first))) == (0, True)
    resumed = sent[len(first) + 8 :]  # a few stored scores are checked before scoring goes on
    assert len(set(first) & set(resumed)) <= 20, "more than the batch under way was scored again"


def test_ls_says_what_matters_and_leaves_out_models_without_scores(place: Path) -> None:
    store = str(place / "own.sqlite")
    psycheck(place, *AUDIT, "--explain-cache", PSYCHECK_STORE=store)
    (place / "mymodel.py").write_text(MODEL.replace('"fixed"', '"never"').replace("time.sleep", "0 / "))
    psycheck(place, *AUDIT, PSYCHECK_STORE=store)
    found = json.loads(psycheck(place, "ls", "--json", PSYCHECK_STORE=store).stdout)
    assert list(found["scores"]) == ["mymodel fixed"]
    assert "epoch" not in found["recipes"]["tfidf"] + found["recipes"]["frozen"]
    assert found["recipes"]["fast"] == "minilm, 3 epochs, batch 16, maximum length 128"
    assert "stops after 10 without a better dev_f1" in found["recipes"]["angst-bert-base"]
