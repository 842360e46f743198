"""Curating as a run: whole or not at all, with its funnel on a page."""

import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from typer.testing import CliRunner

from dumps_of_ours import line, village, words, write_dump
from found import uncatalogued
from process import psycheck
from psycheck.commands.curate import curate_dumps
from psycheck.commands.main import app
from psycheck.core.errors import BadInput
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.reading import read_corpus
from psycheck.report.curation_page import funnels
from psycheck.runs.folder import open_run
from psycheck.runs.pages import save
from refusals import refused

SMALL: dict[str, Any] = {"min_words": 5, "min_posts": 2, "controls": True}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "RC_2019-01.zst", [*village(), b"{broken\n", village()[0]])


@pytest.mark.parametrize("name", ["posts.parquet", "posts.jsonl.zst", "posts.csv"])
def test_the_corpus_is_written_by_its_ending_and_read_back(tmp_path: Path, dump: Path, name: str) -> None:
    target = tmp_path / "made" / name
    run = curate_dumps([dump], out=tmp_path / "run", corpus=target, how=Curating(**SMALL))
    corpus = read_corpus(target)
    assert uncatalogued(run.findings) == set()
    assert len(corpus) == 10
    assert {"depression", "anxiety", "adhd", "ocd"} <= set(corpus.labels)
    assert corpus.targets(["depression"])[:, 0].tolist().count(1.0) == 4
    assert set(corpus.table["split"]) <= {"train", "dev", "test"}
    assert run.exit_code == 0
    assert sorted(path.name for path in target.parent.iterdir()) == [name]


@pytest.mark.parametrize("named", [True, False])
def test_a_corpus_that_exists_is_overwritten_only_with_force(
    tmp_path: Path, dump: Path, *, named: bool
) -> None:
    out = tmp_path / "run"
    corpus = tmp_path / "posts.jsonl" if named else out / "corpus.jsonl.zst"
    corpus.parent.mkdir(exist_ok=True)
    corpus.write_text("mine")
    options = ["curate", str(dump), "--out", str(out), "--min-words", "5", "--min-posts", "2", "--controls"]
    options += ["--corpus", str(corpus)] if named else []
    refused = CliRunner().invoke(app, options)
    assert isinstance(refused.exception, BadInput)
    assert refused.exception.where == ("--corpus" if named else "--out")
    assert refused.exception.do == "choose another file, or add --force to overwrite it"
    assert corpus.read_text() == "mine"
    assert CliRunner().invoke(app, [*options, "--force"]).exit_code == 0
    assert len(read_corpus(corpus)) == 10


@pytest.mark.parametrize("by", ["itself", "another path", "a link", "a hard link"])
def test_a_dump_is_never_written_over(tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dump = write_dump(tmp_path / "RS.jsonl", village())
    target = {"itself": Path("RS.jsonl"), "another path": tmp_path / "x" / ".." / "RS.jsonl"}.get(by)
    if target is None:
        target = tmp_path / "linked.jsonl"
        (target.symlink_to if by == "a link" else target.hardlink_to)(dump)
    before = dump.read_bytes()
    with pytest.raises(BadInput, match="the output is the input"):
        curate_dumps(["RS.jsonl"], out="run", corpus=target, salt="key", how=Curating(**SMALL))
    assert dump.read_bytes() == before
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "key").exists()


@pytest.mark.parametrize("name", ["findings.jsonl", "shown.jsonl", "corpus.jsonl.zst", "run.json"])
def test_a_dump_in_the_folder_of_the_run_is_never_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / "run").mkdir()
    dump = write_dump(tmp_path / "run" / name, village())
    before = dump.read_bytes()
    with pytest.raises(BadInput, match="the output is the input"):
        curate_dumps([dump], out=tmp_path / "run", how=Curating(**SMALL))
    assert dump.read_bytes() == before


def test_the_secret_and_the_runs_own_files_are_no_place_for_the_corpus(tmp_path: Path, dump: Path) -> None:
    same = tmp_path / "a.csv"
    with pytest.raises(BadInput, match="the output is the input"):
        curate_dumps([dump], out=tmp_path / "run", corpus=same, salt=same, how=Curating(**SMALL))
    with refused("curate.corpus-in-run-file", where="findings.jsonl"):
        curate_dumps([dump], out=tmp_path / "run", corpus=tmp_path / "run" / "findings.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == [dump.name]


def test_a_file_beside_the_dump_may_be_written(tmp_path: Path, dump: Path) -> None:
    curate_dumps([dump], out=tmp_path, how=Curating(**SMALL))
    assert len(read_corpus(tmp_path / "corpus.jsonl.zst")) == 10


def test_the_funnel_says_how_many_posts_were_searched_for_near_duplicates(tmp_path: Path) -> None:
    # One post is wanted: 1.25 times that and 100 are searched of the 156.
    more = [line(f"z{k}", "Anna", "cooking", words(1000 + k), at=100 + k) for k in range(150)]
    dump = write_dump(tmp_path / "d.zst", [*village(), *more])
    how = Curating(min_words=5, min_posts=2, top_k=1)
    run = curate_dumps([dump], out=tmp_path / "run", how=how)
    (row,) = (row for table in funnels(run.findings) for row in table.rows if "near-dup" in row[0])
    assert row[:2] == ("… without near-duplicates (101 posts searched)", "156")
    assert "(101 posts searched)" in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_the_folder_holds_the_funnel_and_no_name_and_no_text(tmp_path: Path, dump: Path) -> None:
    out = tmp_path / "run"
    curate_dumps([dump], out=out, how=Curating(**SMALL))
    assert sorted(path.name for path in out.iterdir()) == [
        "corpus.jsonl.zst", "findings.csv", "findings.jsonl", "headlines.jsonl",
        "lexicon_scores.parquet", "report.html", "run.json", "shown.jsonl",
    ]  # fmt: skip
    run = open_run(out)
    found = {(f.where.get("side"), f.where.get("step")): f for f in run.findings if f.measure == "funnel"}
    assert found["both", "posts"].counts["not JSON"] == 1
    assert found["both", "posts"].counts["duplicate id"] == 1
    assert "RC_2019-01.zst:23 (not JSON)" in found["both", "posts"].examples
    assert found["disclosing", "disclosing"].counts["authors_adhd"] == 1
    assert found["both", "split"].value == 10
    means = {f.where["side"]: f.value for f in run.findings if f.measure == "posts_an_author"}
    assert means == {"disclosing": 3.0, "control": 2.0}
    (ratio,) = (f for f in run.findings if f.measure == "posts_an_author_ratio")
    assert (ratio.value, ratio.n) == (1.5, 4)
    assert any("1.50 times as many posts per author as controls" in note for note in run.notes)
    everything = "".join(
        path.read_text("utf-8")
        for path in out.iterdir()
        if path.suffix in (".html", ".jsonl", ".json", ".csv")
    )
    for held in ("Anna", "anna", words(0), "therapist"):
        assert held not in everything


def test_the_page_sets_the_papers_figures_beside_ours(tmp_path: Path, dump: Path) -> None:
    out = tmp_path / "run"
    run = curate_dumps([dump], out=out, how=Curating(**SMALL, sample=3))
    page = (out / "report.html").read_text("utf-8")
    for figure in ("about 400,000", "8,083", "185,064", "72,583", "25,000", "3,000", "75 words", "10 posts"):
        assert figure in page  # ANGST 3.1
    for figure in ("5,624", "20,981", "102.5", "119.4", "83,779", "5 of 10", "3,105", "2,239", "138"):
        assert figure in page  # PsySym 3.4–3.5, Table 8
    assert "6 posts by" in page
    (out / "report.html").unlink()
    save(run, out)
    assert (out / "report.html").read_text("utf-8") == page


def test_a_split_takes_nothing_away(tmp_path: Path, dump: Path) -> None:
    run = curate_dumps([dump], out=tmp_path / "run", how=Curating(**SMALL))
    corpus = funnels(run.findings)[-1]
    assert [row[3] for row in corpus.rows] == ["0", "–", "–", "–"]
    whole, *parts = (int(row[1]) for row in corpus.rows)
    assert whole == sum(parts) == 10


def test_a_secret_is_made_once_for_its_owner_alone(tmp_path: Path, dump: Path) -> None:
    secret = tmp_path / "salt"
    authors = []
    for out in ("one", "two"):
        curate_dumps([dump], out=tmp_path / out, salt=secret, how=Curating(**SMALL))
        authors.append(read_corpus(tmp_path / out / "corpus.jsonl.zst").table["author"].to_list())
    assert authors[0] == authors[1]
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert secret.read_text("ascii") not in (tmp_path / "one" / "run.json").read_text("utf-8")
    curate_dumps([dump], out=tmp_path / "three", how=Curating(**SMALL))
    other = read_corpus(tmp_path / "three" / "corpus.jsonl.zst").table["author"].to_list()
    assert set(other).isdisjoint(authors[0])
    secret.write_text("short", "ascii")
    with refused("curate.unreadable-secret", where=secret.name):
        curate_dumps([dump], out=tmp_path / "four", salt=secret)


def test_ids_are_hashed_where_asked(tmp_path: Path, dump: Path) -> None:
    curate_dumps([dump], out=tmp_path / "run", how=Curating(**SMALL, hash_ids=True))
    assert not any(id_.startswith("t1_") for id_ in read_corpus(tmp_path / "run" / "corpus.jsonl.zst").ids)


def test_a_cut_off_dump_leaves_no_corpus(tmp_path: Path) -> None:
    dump = write_dump(
        tmp_path / "d.zst", [line(f"p{k}", "Ann", "cooking", words(k, 300)) for k in range(2_000)]
    )
    dump.write_bytes(dump.read_bytes()[:-500])
    with pytest.raises(BadInput, match="truncated"):
        curate_dumps([dump], out=tmp_path / "run", how=Curating(**SMALL))
    assert not (tmp_path / "run").exists()


def test_a_killed_process_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    texts = [words(k, 200) for k in range(50)]
    crowd = [line(f"z{k}", f"p{k % 900}", "cats", texts[k % 50]) for k in range(30_000)]
    big = write_dump(tmp_path / "big.jsonl", [*village(), *crowd])
    out = tmp_path / "run"
    command = [sys.executable, "-m", "psycheck", "curate", str(big), "--out", str(out), "--controls"]
    command += ["--min-words", "5", "--min-posts", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = monotonic() + 60
    while monotonic() < until and not list(out.glob(".curating-*/posts-*.zst")):
        sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    work, lock = sorted(path.name for path in out.iterdir())
    assert work.startswith(".curating-")
    assert lock == ".psycheck.lock"
    with pytest.raises(BadInput, match="no finished run"):
        open_run(out)
    small = write_dump(tmp_path / "small.zst", village())
    curate_dumps([small], out=out, how=Curating(**SMALL))
    assert not [path for path in out.iterdir() if path.name.startswith(".")]
    assert open_run(out).findings


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    people = [line(f"z{k}", f"p{k % 30}", "cats", words(k, 150), at=k) for k in range(300)]
    return write_dump(tmp_path_factory.mktemp("crowd") / "crowd.zst", [*village(), *people])


@pytest.mark.parametrize(
    ("most", "said"),
    # While posts are put aside, and while they are drawn; tests/corpora/test_write.py has the corpus itself.
    [(8_000, "cannot write results: File too large"), (300_000, "posts cannot be stored")],
)
def test_a_full_disk_leaves_no_corpus(tmp_path: Path, crowd: Path, most: int, said: str) -> None:
    # A file that may not grow is refused as a full disk is, and needs no disk of its own.
    command = [sys.executable, "-m", "psycheck", "curate", str(crowd), "--out", "run", "--controls"]
    command += ["--min-words", "5", "--min-posts", "2", "--control-posts", "300"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "free space or name another folder" in done.stderr
    assert not (tmp_path / "run").exists()


def test_the_verb_prints_the_funnel_and_says_what_was_left_out(tmp_path: Path, dump: Path) -> None:
    said = ["curate", dump.name, "--out", "run", "--min-words", "5", "--min-posts", "2", "--controls"]
    done = psycheck(tmp_path, *said, "--conditions", "depression,adhd", "--split", "1:1")
    assert done.returncode == 0, done.stderr
    assert "By authors who report a diagnosis" in done.stdout
    assert "10 posts by 4 authors are kept of 24 lines, 4 of them by control authors." in done.stdout
    assert "left out: 1 (not JSON) (RC_2019-01.zst:23)" in done.stderr
    assert "a secret that was thrown away" in done.stderr
    again = psycheck(tmp_path, *said, "--json", "--force")
    assert json.loads(again.stdout)["corpus"] == "run/corpus.jsonl.zst"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nowhere.zst"], "the dump cannot be read"),
        (["--conditions", "depresion"], "did you mean 'depression'"),
        (["--split", "5-1-4"], "cannot read the split"),
        (["--corpus", "a.txt"], r"cannot write '\.txt' files"),
        (["--rank", "nrc"], "research use only"),
        (["--nrc", "nowhere.txt"], "a ranking without nrc takes no --nrc"),
        (["--rank", "words", "--nrc", "nowhere.txt"], "a ranking without nrc takes no --nrc"),
        (["--control-posts", "0"], "without controls takes no --control-posts"),
        (["--control-authors", "5"], "without controls takes no --control-authors"),
        (["--controls", "--corpus", "RC_2019-01.zst"], r"cannot write '\.zst' files"),
    ],
)
def test_a_mistake_is_said_before_any_work(
    tmp_path: Path, dump: Path, options: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["curate", dump.name, *options])
    assert isinstance(done.exception, BadInput)
    assert re.search(said, str(done.exception))
    assert not list(tmp_path.rglob("posts-*.zst"))


def test_a_preset_is_what_its_study_kept_and_options_go_before_it(tmp_path: Path) -> None:
    from psycheck.corpora.curate.settings import preset_settings
    from psycheck.io.settings import read_settings

    psysym = read_settings(Curating, preset_settings("psysym"))
    assert (psysym.controls, psysym.min_words, psysym.most_posts, psysym.top_k) == (True, 1, 256, 0)
    angst = read_settings(Curating, preset_settings("angst"))
    assert (angst.min_words, angst.min_posts, angst.top_k, angst.sample) == (75, 10, 25_000, 3_000)
    assert (angst.rank, angst.score_by) == (("empath", "nrc"), "total")
    with refused("curate.unknown-preset", allowed="angst"):
        preset_settings("angts")
