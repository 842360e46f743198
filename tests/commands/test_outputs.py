"""Every verb that writes: not over what it reads, through no link, by one run, for its owner alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner
from zstandard import ZstdDecompressor

from dumps_of_ours import village, write_dump
from psycheck.commands.main import app
from psycheck.core.errors import BadInput, StoreFailure
from psycheck.io.writing import sole_writer

MODEL = "def score(texts):\n    return [(len(text) * 37 % 101) / 101 for text in texts]\n"
PLANTED = "the heron by our mill forgot my birthday"
RUNS = {  # verb: its words, and a file of the run under whose name the input is kept
    "audit": ("audit python:mod.py:score {} --label depression --audit performance", "findings.csv"),
    "audit a table": ("audit python:mod.py:score {} --audit performance", "predictions.parquet"),
    "audit a plan": ("audit --plan {}", "run.json"),
    "audit scores": ("audit scores:{} posts.csv --audit performance", "findings.csv"),
    "compare": ("compare {} posts.csv", "findings.csv"),
    "diff": ("diff run --corpus {}", "outcomes.parquet"),
    "bias": ("bias vectors:v.txt --words {}", "study.md"),
    "curate": ("curate {}", "findings.jsonl"),
    "explain": ("explain {}", "suspects.csv"),
    "explain tags": ("explain posts.csv --tags {}", "mentions.parquet"),
    "improve": ("improve linear {} posts.csv", "improve.csv"),
    "study deck": ("study deck {} posts.csv --start tfidf+lr", "findings.csv"),
    "study gender": ("study gender {} --encoder tfidf", "pairs.parquet"),
    "study corpora": ("study corpora {} posts.csv --encoder tfidf", "map.parquet"),
}
FILES = {  # verb: its words with the input, and how the output is named
    "score": "score python:mod.py:score {} --out {}",
    "export": "audit python:mod.py:score {} --export-texts {}",
    "clean": "clean {} --preset plain --force --out {}",
    "redact": "redact {} --force --out {}",
    "regender": "regender {} --force --out {}",
    "retrieve": "retrieve {} --encoder vectors:v.txt --force --out {}",
    "suite select": "suite select {} --model python:mod.py:score --out {}",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSYCHECK_STORE", str(tmp_path / "kept.sqlite"))
    Path("mod.py").write_text(MODEL)
    rows = [f"p{i},He said {PLANTED} again and I am {i} days tired,{i % 2}" for i in range(40)]
    splits = ["train"] * 24 + ["dev"] * 8 + ["test"] * 8
    lines = ["id,text,depression,split", *(f"{row},{split}" for row, split in zip(rows, splits, strict=True))]
    Path("posts.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(words: str) -> object:
    """Run a verb; return its exit code, or the error that a user would see."""
    done = CliRunner().invoke(app, words.split())
    return done.exit_code if isinstance(done.exception, SystemExit | None) else done.exception


def written_for(verb: str, path: Path) -> None:
    """Write an input of the kind that the verb reads."""
    path.parent.mkdir()
    if verb == "audit a plan":
        path.write_text('models = ["python:../mod.py:score"]\n[[corpus]]\npath = "../posts.csv"')
    elif verb == "audit scores":
        path.write_text("text,depression\nsome text,0.5\n")
    elif path.suffix == ".parquet":
        pl.read_csv("posts.csv").write_parquet(path)
    else:
        path.write_bytes(Path("posts.csv").read_bytes())


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("verb", RUNS)
def test_a_run_is_refused_where_it_would_overwrite_what_it_reads(place: Path, verb: str) -> None:
    words, name = RUNS[verb]
    written_for(verb, Path("out", name))
    before = files(place)
    error = run(words.format(f"out/{name}") + " --out out")
    assert isinstance(error, BadInput), error
    assert error.what == "the output is the input", error
    assert files(place) == before


@pytest.mark.parametrize("verb", RUNS)
def test_a_run_writes_through_no_link(place: Path, verb: str) -> None:
    Path("dear.txt").write_text("dear")
    Path("out").mkdir()
    Path("out/report.html").symlink_to("../dear.txt")
    words, name = RUNS[verb]
    written_for(verb, Path("in", name))
    error = run(words.format(f"in/{name}") + " --out out")
    assert isinstance(error, BadInput), error
    assert error.what == "the output is a symbolic link"
    assert files(place / "out") == {"report.html": b"dear"}


@pytest.mark.parametrize("verb", RUNS)
def test_a_second_run_in_one_folder_is_an_error_and_touches_nothing(place: Path, verb: str) -> None:
    words, name = RUNS[verb]
    written_for(verb, Path("in", name))
    with sole_writer(Path("out")):
        error = run(words.format(f"in/{name}") + " --out out")
        assert isinstance(error, StoreFailure), error
        assert (error.what, error.where) == ("another run of psycheck is writing to this folder", "out")
        assert files(place / "out") == {".psycheck.lock": b""}


@pytest.mark.parametrize("verb", FILES)
@pytest.mark.parametrize("by", ["itself", "link"])
def test_a_file_is_not_written_over_what_is_read_nor_through_a_link(place: Path, verb: str, by: str) -> None:
    if verb == "suite select":
        Path("posts.csv").write_text("sentence,expected\nI am tired,1\n")
    Path("dear.csv").write_text("dear")
    Path("link.csv").symlink_to("dear.csv")
    before = files(place)
    error = run(FILES[verb].format("posts.csv", "posts.csv" if by == "itself" else "link.csv"))
    assert isinstance(error, BadInput), error
    assert error.what == f"the output is {'the input' if by == 'itself' else 'a symbolic link'}"
    assert files(place) == before


def test_an_index_page_does_not_replace_the_results_it_lists(place: Path) -> None:
    for name in ("a", "b"):
        assert run(f"audit python:mod.py:score posts.csv --audit performance --out {name}") == 0
    before = files(place)
    error = run("view a b --no-browser --index a/findings.jsonl")
    assert isinstance(error, BadInput), error
    assert files(place) == before


@pytest.mark.parametrize("inside", ["model/best", "model/seeds", "model.training"])
def test_a_training_is_refused_where_it_would_remove_its_corpus(place: Path, inside: str) -> None:
    Path(inside).mkdir(parents=True)
    Path("posts.csv").rename(f"{inside}/posts.csv")
    error = run(f"train {inside}/posts.csv --start tfidf+lr --seeds 2 --out model")
    assert isinstance(error, BadInput), error
    assert Path(inside, "posts.csv").is_file()


def test_two_trainings_do_not_share_a_folder(place: Path) -> None:
    with sole_writer(Path("model.training")):
        error = run("train posts.csv --start tfidf+lr --out model")
        assert isinstance(error, StoreFailure), error
        assert not Path("model").exists()
    assert run("train posts.csv --start tfidf+lr --out model") == 0
    assert not Path("model.training").exists()


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_whatever_the_verbs_write_is_for_its_owner_alone(place: Path) -> None:
    before = set(place.rglob("*"))
    dump = write_dump(place / "dump.jsonl", village())
    for words in (
        "audit python:mod.py:score posts.csv --show-texts --audit performance --audit fairness --out runs/a",
        "audit scores:none.csv posts.csv --audit performance --export-texts need/texts.jsonl",
        "clean posts.csv --step spaces --out made/clean.csv",
        "redact posts.csv --out made/redacted.parquet",
        "regender posts.csv --out made/swapped.jsonl.zst",
        "score python:mod.py:score posts.csv --out made/scores.csv",
        f"curate {dump.name} --min-words 5 --min-posts 2 --out runs/c",
        "train posts.csv --start tfidf+lr --out model",
        "view runs/a runs/c --no-browser --redraw --index pages/index.html",
    ):
        assert run(words) == 0, words
    new = sorted(set(place.rglob("*")) - before - {dump})
    modes = {str(p.relative_to(place)): stat.S_IMODE(p.stat().st_mode) for p in new}
    assert {name for name, mode in modes.items() if mode & 0o077} == set()

    def content(path: Path) -> bytes:
        raw = path.read_bytes()
        return ZstdDecompressor().decompressobj().decompress(raw) if path.suffix == ".zst" else raw

    held = {p.name for p in new if p.is_file() and p.suffix != ".parquet" and b"heron" in content(p)}
    assert held == {"shown.jsonl", "report.html", "texts.jsonl", "clean.csv", "swapped.jsonl.zst"}


def test_the_card_of_a_tfidf_model_says_that_it_holds_words_of_the_texts(place: Path) -> None:
    assert run("train posts.csv --start tfidf+lr --out model") == 0
    assert "**The model file holds words of the training texts**" in Path("model/README.md").read_text(
        "utf-8"
    )


def test_ids_that_are_prose_appear_nowhere(place: Path) -> None:
    lines = Path("posts.csv").read_text().splitlines()
    Path("mixed.csv").write_text("\n".join([lines[0], *(f"{PLANTED} {line}" for line in lines[1:])]))
    words = "audit python:mod.py:score mixed.csv --id id --audit performance --audit fairness --out runs/a"
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 0, done.output
    assert "40 ids in column 'id' may be what people wrote: shown as digests" in done.output
    assert not [name for name, content in files(place / "runs").items() if b"heron" in content]
    assert PLANTED not in done.output
