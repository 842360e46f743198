"""A planted link between gender and depression is found, and augmenting removes it; the published tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import found
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.studies.gender_tables import gender_tables
from psycheck.report.studies.published_figures import published
from psycheck.runs.folder import open_run
from psycheck.studies.gender_study import study_gender
from psycheck.text.gender.edits import Scope
from psycheck.training.recipe import Recipe
from refusals import refused
from tools.demo_corpora.domains import generate

EXPERIMENTS = ("original", "swapped", "neutralised", "augmented")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Nine of ten notes annotated for depression speak of a woman, one of ten of the others."""
    corpus = generate("notes", 900, 21, association=0.8)
    out = tmp_path_factory.mktemp("planted")
    return study_gender(corpus, out=out, encoder="tfidf", names=["lr"], balance="class")


def one(run: Run, measure: str, experiment: str, **where: str) -> Finding:
    return found.one(run.findings, measure, **{"experiment": experiment, "seed": "0", **where})


def test_a_planted_association_is_found(planted: Run) -> None:
    flips = one(planted, "flip_rate", "original")
    assert flips.interval is not None
    assert flips.interval[0] > 0.1
    assert flips.counts["only_female_positive"] == flips.counts["flipped"]
    assert one(planted, "mcnemar_p_holm", "original").value < 0.001
    ratio = one(planted, "fnr_ratio", "original")
    assert ratio.flags == ("favours_female",)
    assert ratio.interval is not None
    assert ratio.interval[1] < 1
    gap = one(planted, "equal_opportunity_difference", "original")
    assert gap.interval is not None
    assert gap.interval[0] > 0


def test_swapped_training_turns_the_direction(planted: Run) -> None:
    flips = one(planted, "flip_rate", "swapped")
    assert flips.counts["only_male_positive"] == flips.counts["flipped"] > 0
    assert one(planted, "fnr_ratio", "swapped").flags == ("favours_male",)


def test_neutral_training_knows_no_pronoun(planted: Run) -> None:
    # TF–IDF has no word for "he" and "she" then, so both wordings of a text are one and the same.
    assert one(planted, "flip_rate", "neutralised").value == 0
    assert one(planted, "fnr_ratio", "neutralised").value == 1


def test_augmenting_removes_it(planted: Run) -> None:
    after = one(planted, "flip_rate", "augmented")
    assert after.interval is not None
    assert after.interval[1] < 0.1
    moved = one(planted, "flip_rate_change", "augmented")
    assert moved.interval is not None
    assert moved.interval[1] < 0
    assert one(planted, "flip_rate_change_p_holm", "augmented").value < 0.001
    assert one(planted, "macro_f1_change", "augmented").value > 0


@pytest.mark.slow
def test_real_vectors_lose_it_where_nouns_are_swapped_with_the_pronouns(tmp_path: Path) -> None:
    run = study_gender(
        generate("notes", 1_000, 21, association=0.8),
        out=tmp_path,
        encoder="minilm",
        names=["lr"],
        balance="class",
        each=50,
        scope=Scope(nouns=True, titles=True),
        direct_bias=False,
    )
    before, after = (one(run, "flip_rate", experiment) for experiment in ("original", "augmented"))
    assert before.interval is not None
    assert before.interval[0] > 0.5
    assert one(run, "mcnemar_p_holm", "original").value < 0.001
    assert after.interval is not None
    assert after.interval[1] < 0.1
    assert one(run, "mcnemar_p_holm", "augmented").value > 0.05


def test_nothing_is_found_where_nothing_was_planted(tmp_path: Path) -> None:
    corpus = generate("notes", 400, 21)
    run = study_gender(corpus, out=tmp_path, encoder="tfidf", names=["lr"])
    assert one(run, "mcnemar_p_holm", "original").value > 0.05
    assert one(run, "flip_rate", "original").value < 0.1


def test_the_folder_holds_a_whole_run(planted: Run) -> None:
    assert planted.folder is not None
    assert open_run(planted.folder).findings == planted.findings
    assert (planted.folder / "study.md").read_text("utf-8") == gender_tables(planted)
    page = (planted.folder / "report.html").read_text("utf-8")
    assert "logistic regression" in page
    ratio = one(planted, "fnr_ratio", "original")
    assert ratio.interval is not None
    low, high = ratio.interval
    # A line never breaks within an interval, nor before the letter of a side.
    kept = (f"{ratio.value:.2f} F", f"({low:.2f} to {high:.2f})")
    assert " ".join(f'<span class="fig">{one}</span>' for one in kept) in page
    figures = [f for f in planted.findings if not f.measure.endswith(("_p", "_holm", "_share", "f1_change"))]
    assert all(f.interval is not None and f.n > 0 for f in figures)


class Letters:
    """Counts of some words as vectors, and of how many texts were encoded."""

    name, fingerprint = "some words", "1"
    words: tuple[str, ...] = ("she", "her", "he", "his", "sleep", "tired", "mood", "low", "well")

    def __init__(self) -> None:
        self.encoded = 0

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        self.encoded += len(texts)
        said = [text.lower().split() for text in texts]
        return np.array([[words.count(word) for word in self.words] for words in said], np.float64)

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        return self.encode([text[a:b] for text, (a, b) in zip(texts, spans, strict=True)])


def small(n: int = 120, *, name: str = "small") -> Corpus:
    """Short notes: those annotated 1 say low or tired, mostly; genders alike."""
    random = np.random.default_rng(3)
    texts, marks = [], []
    for i in range(n):
        low = i % 2 == 0
        said = random.choice(["low", "tired"] if low == (random.random() < 0.85) else ["well", "calm"])
        she = i // 2 % 2 == 0
        texts.append(
            f"{'She' if she else 'He'} came in and {'she' if she else 'he'} felt {said} on day {i} ."
        )
        marks.append(float(low))
    return Corpus.of(name, texts, labels={"depression": marks})


@pytest.mark.parametrize(
    ("names", "titles"),
    [
        (["svm", "lr"], ["SVM", "logistic regression"]),
        pytest.param(None, ["SVM", "random forest", "MLP", "logistic regression"], marks=pytest.mark.slow),
    ],
)
def test_learners_on_vectors_and_nothing_is_done_twice(
    names: list[str] | None, titles: list[str], tmp_path: Path
) -> None:
    encoder, said = Letters(), list[str]()
    settings: dict[str, Any] = {"out": tmp_path, "names": names, "each": 12, "pairs": 40}
    settings["direct_bias"] = False
    run = study_gender(small(), encoder=encoder, say=said.append, **settings)
    made = [(f.where["model"], f.where["experiment"]) for f in run.findings if f.measure == "fnr_ratio"]
    assert made == [(title, experiment) for title in titles for experiment in EXPERIMENTS]
    # 48 training texts in three wordings and 40 pairs.
    assert encoder.encoded == 48 * 3 + 40 * 2
    again = Letters()
    same = study_gender(small(), encoder=again, **settings)
    assert again.encoded == 0
    assert same.findings == run.findings
    assert run.plan["chosen"] == same.plan["chosen"]
    assert all(f.n == 40 for f in run.findings if f.measure == "flip_rate")


def test_ours_stand_beside_the_published_figures(tmp_path: Path) -> None:
    run = study_gender(
        small(),
        out=tmp_path,
        encoder=Letters(),
        names=["svm"],
        each=12,
        seeds=2,
        direct_bias=False,
    )
    page = (tmp_path / "study.md").read_text("utf-8")
    table = page.split("## Table 1: SVM")[1].split("##")[0]
    assert "| published | Clinical-BERT | 0.04 M | 0.81 F | 0.64 | 0.61 M | 0.66 |" in table
    assert "| ours | some words |" in table
    assert {f.where["seed"] for f in run.findings if f.measure == "macro_f1"} == {"0", "1"}
    # Two draws share test texts: their shares are averaged, and the brackets hold the least and the most.
    shares = [100 * one(run, "flip_rate", "original", seed=seed).value for seed in ("0", "1")]
    ends = f"{min(shares):.1f} to {max(shares):.1f}"
    assert f"flips {sum(shares) / 2:.1f} % of the decisions ({ends} over 2 draws) when trained on" in page
    assert "| %, mean of 2 draws (least to most) |" in page
    assert f"| {sum(shares) / 2:.1f} ({ends}) |" in page
    assert "95 %)" not in page.split("## The pairs")[1]


def test_a_pair_with_one_vector_is_counted_as_unseen(tmp_path: Path) -> None:
    class Blind(Letters):
        fingerprint = "2"
        words = ("low", "tired", "well")

    run = study_gender(small(), out=tmp_path, encoder=Blind(), names=["lr"], each=12, direct_bias=False)
    flips = one(run, "flip_rate", "original")
    assert (flips.counts["flipped"], flips.counts["unseen"]) == (0, flips.n)
    (note,) = [note for note in run.notes if "cannot flip" in note]
    assert f"vectors of some words: {flips.n} of {flips.n} pairs" in note
    assert "(the vectors have no word for what was swapped)" in note


def test_only_a_training_that_knows_no_pronoun_is_said_to_be_blind(planted: Run) -> None:
    assert (
        one(planted, "flip_rate", "neutralised").counts["unseen"] == one(planted, "flip_rate", "original").n
    )
    for experiment in ("original", "swapped", "augmented"):
        assert one(planted, "flip_rate", experiment).counts["unseen"] == 0
    (note,) = [note for note in planted.notes if "cannot flip" in note]
    assert "vectors of TF–IDF, trained on neutralised texts" in note
    assert "(TF–IDF of that training has no word for what was swapped)" in note


def test_all_decisions_are_in_the_folder_by_id(planted: Run) -> None:
    assert planted.folder is not None
    pairs = open_run(planted.folder).tables["pairs"]
    flips = one(planted, "flip_rate", "original")
    assert flips.counts["flipped"] > 20
    mine = pairs.filter(experiment="original", flipped=True)
    assert mine["id"].to_list() == list(flips.examples)
    assert pairs.height == 4 * flips.n
    page = (planted.folder / "report.html").read_text("utf-8")
    assert f"{flips.examples[19]} and {flips.counts['flipped'] - 20} more" in page
    assert (
        flips.examples[20]
        not in (planted.folder / "study.md")
        .read_text("utf-8")
        .split("Flipped pairs")[1]
        .split("| swapped |")[0]
    )


def test_a_failing_direct_bias_does_not_cost_the_training(tmp_path: Path) -> None:
    class Wordless(Letters):
        def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
            return np.full((len(texts), len(self.words)), np.nan)

    settings: dict[str, Any] = {"out": tmp_path, "names": ["lr"], "each": 12}
    run = study_gender(small(), encoder=Wordless(), **settings)
    assert open_run(tmp_path).findings == run.findings
    assert one(run, "flip_rate", "original").n == 72
    (note,) = [note for note in run.notes if "Direct Bias" in note]
    assert note.startswith("Direct Bias of some words is missing: ")

    class Broken(Letters):
        fingerprint = "3"  # the store holds the spans of the other

        def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
            raise RuntimeError

    settings["out"] = tmp_path / "broken"
    with pytest.raises(RuntimeError):
        study_gender(small(), encoder=Broken(), **settings)
    saved = open_run(tmp_path / "broken")
    assert one(saved, "flip_rate", "original").n == 72
    assert any("Direct Bias of some words is missing" in note for note in saved.notes)


def test_a_start_that_is_trained_whole_goes_through_training(tmp_path: Path) -> None:
    recipe = Recipe(start="tfidf+lr")
    run = study_gender(small(), out=tmp_path, names=[], recipes=[recipe], each=12)
    names = {f.where["model"] for f in run.findings if f.measure == "flip_rate"}
    assert names == {"tfidf+lr"}  # which is fitted, not fine-tuned
    assert run.plan["encoder"] == "their own vectors"
    assert len(list((tmp_path / "models").iterdir())) == 4
    assert all(f.n == 72 for f in run.findings if f.measure == "flip_rate")


def test_wrong_settings_are_told(tmp_path: Path) -> None:
    with refused("training.unknown-learner", what="svn"):
        study_gender(small(), out=tmp_path, names=["svn"])
    with refused("study.no-learner"):
        study_gender(small(), out=tmp_path, names=[])
    with refused("study.same-learner-name"):
        study_gender(small(), out=tmp_path, names=["svm", "svm"])
    with refused("study.too-few-seeds", what="seeds = 0"):
        study_gender(small(), out=tmp_path, seeds=0)
    with refused("study.too-few-pairs", what="pairs = 1"):
        study_gender(small(), out=tmp_path, pairs=1)
    assert list(tmp_path.iterdir()) == []


def test_nouns_are_swapped_where_asked(tmp_path: Path) -> None:
    texts = [
        text.replace("felt", "felt as a woman" if "She" in text else "felt as a man")
        for text in small().texts
    ]
    corpus = Corpus.of("nouns", texts, labels={"depression": small().targets()[:, 0].tolist()})
    settings: dict[str, Any] = {
        "out": tmp_path,
        "encoder": "tfidf",
        "names": ["lr"],
        "each": 12,
    }
    run = study_gender(corpus, scope=Scope(nouns=True), **settings)
    assert run.plan["scope"]["nouns"] is True
    assert one(run, "flip_rate", "neutralised").value == 0


def test_published_tables_are_whole() -> None:
    for number in (1, 2, 3):
        rows = published(f"gender-table-{number}")
        assert len(rows) == 16
        assert {row["experiment"] for row in rows} == set(EXPERIMENTS)
        for row in rows:
            assert 0 < float(row["fnrr"]) <= 1
            # A ratio of 1 has no direction, every other has one.
            assert (row["favoured"] == "") == (float(row["fnrr"]) == 1)
    bias = {
        (row["model"], row["direct_bias"], row["towards"])
        for k in (1, 2, 3)
        for row in published(f"gender-table-{k}")
    }
    assert len(bias) == 4
    # What the marks claim: augmenting lowers the ratio in these two cells alone.
    for number in (1, 2, 3):
        rows = published(f"gender-table-{number}")
        before = {row["model"]: float(row["fnrr"]) for row in rows if row["experiment"] == "original"}
        for row in rows:
            worse = row["experiment"] == "augmented" and float(row["fnrr"]) < before[row["model"]]
            assert worse == bool(row["mark"])


def test_several_encoders_are_rows_of_one_table_and_too_few_to_tell(tmp_path: Path) -> None:
    class Fewer(Letters):
        name, fingerprint = "fewer words", "3"
        words = ("she", "he", "low", "tired", "well")

    class Other(Letters):
        name, fingerprint = "other words", "4"
        words = ("she", "her", "he", "his", "mood", "low")

    encoders = [Letters(), Fewer(), Other()]
    run = study_gender(small(), out=tmp_path, encoder=encoders, names=["lr"], each=12)
    flips = run.findings.where(measure="flip_rate", experiment="original")
    assert [f.where["encoder"] for f in flips] == ["some words", "fewer words", "other words"]
    page = (tmp_path / "study.md").read_text("utf-8")
    table = page.split("## logistic regression (not in the paper)")[1].split("##")[0]
    for encoder in encoders:
        assert f"| ours | {encoder.name} |" in table
    assert "- logistic regression on fewer words: " in page
    # The words of the list are none of these three encoders': Direct Bias is missing, and said to be.
    assert sum(note.startswith("Direct Bias of") for note in run.notes) == 3


def test_an_encoder_is_named_once(tmp_path: Path) -> None:
    with refused("study.same-encoder-name"):
        study_gender(small(), out=tmp_path, encoder=[Letters(), Letters()], names=["lr"])
