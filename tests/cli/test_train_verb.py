from pathlib import Path

from process import psycheck


def test_a_baseline_is_trained_and_audited_in_two_commands(tmp_path: Path) -> None:
    words = ("train", "demo:tweets", "--start", "tfidf+lr", "--label", "depression", "--out", "models/plain")
    done = psycheck(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "model: sklearn:models/plain/model.skops"
    assert "nothing to do" in psycheck(tmp_path, *words).stdout
    audit = (
        "audit",
        "models/plain",
        "demo:tweets",
        "--split",
        "test",
        "--variants",
        "one",
    )
    done = psycheck(tmp_path, *audit, "--trained-on", "tweets")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/audit/report.html").is_file()


def test_seeds_give_a_mean_and_a_deviation(tmp_path: Path) -> None:
    words = ("train", "demo:tweets", "--start", "tfidf+lr", "--label", "depression", "--out", "models/s")
    done = psycheck(tmp_path, *words, "--seeds", "2")
    assert done.returncode == 0, done.stderr
    assert "2 seeds)" in done.stdout


def test_a_corpus_without_dev_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(
        "text,depression\n" + "".join(f"text {i},{i % 2}\n" for i in range(20))
    )
    done = psycheck(tmp_path, "train", "posts.csv", "--start", "tfidf+lr", "--out", "m")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "dev" in done.stderr
