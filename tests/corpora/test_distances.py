import json
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer
from scipy.spatial.distance import jensenshannon
from typer.testing import CliRunner

from psycheck.commands.compare import compare_cli, compare_corpora
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.corpora.adversarial import classify_sides
from psycheck.corpora.distances import Comparing, Comparison, classes_of, compare
from psycheck.corpora.text_vectors import map_of
from psycheck.corpora.vocabulary import counted, profile, telling_words, unknown_share
from psycheck.demo.opening import open_demo
from psycheck.runs.folder import open_run
from refusals import refused

QUICK = Comparing(sample=60, permutations=99, repeats=2)
WORDS = Comparing(parts=("words",))


def found(comparison: Comparison, measure: str) -> Finding:
    return next(f for f in comparison.findings if f.measure == measure)


def some(name: str, n: int = 100, start: int = 0) -> Corpus:
    corpus = open_demo(name)
    return corpus.only((np.arange(len(corpus)) >= start) & (np.arange(len(corpus)) < start + n))


def renamed(corpus: Corpus, name: str) -> Corpus:
    return Corpus(name, corpus.table)


def test_a_corpus_against_itself_is_0() -> None:
    tweets = some("tweets")
    same = compare([tweets, renamed(tweets, "copy")], None, QUICK)
    for measure in ("jsd_unigram", "jsd_bigram", "unknown_in_first", "mmd2_biased", "wasserstein"):
        assert found(same, measure).value == pytest.approx(0, abs=1e-9), measure
    assert found(same, "mmd2_p").value == 1
    assert found(same, "adversarial_auc").value == pytest.approx(0.5, abs=0.15)


def test_distances_do_not_depend_on_the_order() -> None:
    one, other = some("tweets"), some("forum")
    there, back = compare([one, other], None, QUICK), compare([other, one], None, QUICK)
    for measure in ("jsd_unigram", "jsd_bigram", "mmd2", "mmd2_biased", "wasserstein_sliced"):
        assert found(there, measure).value == pytest.approx(found(back, measure).value, rel=1e-6), measure
    assert found(there, "unknown_in_first").value == found(back, "unknown_in_second").value


def test_each_figure_says_what_it_is_of_and_has_n_and_interval() -> None:
    comparison = compare([some("tweets"), some("forum")], None, QUICK)
    mmd = found(comparison, "mmd2")
    assert mmd.where == {
        "audit": "compare", "first": "tweets", "second": "forum", "encoder": "tfidf", "part": "vectors",
    }  # fmt: skip
    assert mmd.n == 120
    for measure in ("jsd_unigram", "mmd2", "wasserstein_sliced", "adversarial_mcc"):
        finding = found(comparison, measure)
        assert finding.interval is not None
        low, high = finding.interval
        assert low <= finding.value <= high, measure
    assert "tweets: 60 of 100 texts are encoded, seed 0" in comparison.notes


def test_jsd_of_word_pairs_by_scipy() -> None:
    # Pairs: "a b" once and "b a" once against "a b" twice; Laplace makes them 2, 2 and 3, 1.
    comparison = compare([Corpus.of("x", ["a b a", ""]), Corpus.of("y", ["a b", "a b"])], None, WORDS)
    expected = jensenshannon([2, 2], [3, 1], base=2) ** 2
    assert found(comparison, "jsd_bigram").value == pytest.approx(expected)


def test_a_side_without_a_word_has_no_jsd() -> None:
    jsd = found(compare([Corpus.of("x", ["a", "b"]), Corpus.of("y", ["!", "?"])], None, WORDS), "jsd_unigram")
    assert not jsd.tested
    assert jsd.flags == ("too_few",)


def test_far_corpora_are_above_chance_and_halves_of_one_are_not() -> None:
    apart = compare([some("tweets"), some("notes")], None, WORDS)
    assert found(apart, "jsd_unigram").value > 3 * found(apart, "jsd_unigram_chance").value
    halves = compare([some("tweets", 300), renamed(some("tweets", 300, 300), "rest")], None, WORDS)
    assert found(halves, "jsd_unigram").value < 1.3 * found(halves, "jsd_unigram_chance").value


def test_the_median_length_is_clustered_by_author() -> None:
    """40 authors wrote ten texts each, all of an author equally long: they are known like 40 texts."""
    texts = [f"{'word ' * (k + 1)}{i}" for k in range(40) for i in range(10)]
    one = profile(Corpus.of("x", texts, author=[f"a{i // 10}" for i in range(400)]))["words_median"]
    single = profile(Corpus.of("x", texts[::10]))["words_median"]
    assert one.value == single.value == 21.5
    assert one.interval == pytest.approx(single.interval, abs=1)
    few = profile(Corpus.of("x", texts[:100], author=[f"a{i // 10}" for i in range(100)]))
    assert all(np.isnan(few[name].interval or 0).all() for name in ("words_mean", "words_median"))


def test_profile_by_hand() -> None:
    made = profile(Corpus.of("x", ["one two two", "Three", ""]))
    assert (made["words"].value, made["distinct_words"].value) == (4, 3)
    assert made["words_mean"].value == pytest.approx(4 / 3)
    assert made["words_median"].value == 1
    long = profile(Corpus.of("y", [" ".join(["a", "b", "c", "d"] * 250)] * 2))
    assert long["variety"].value == 4 / 1000


def test_the_share_of_unknown_words_by_hand() -> None:
    known, read = counted(Corpus.of("x", ["a b"]), Corpus.of("y", ["a c c", "b"]))
    assert unknown_share(known, read).value == 2 / 4
    assert unknown_share(read, known).value == 0


def test_a_word_of_few_texts_of_one_author_or_with_digits_is_never_shown() -> None:
    ours = ["rare calm day"] * 4 + ["calm day"] * 10 + ["solo calm day"] * 8 + ["19years calm day"] * 8
    authors = [f"a{i}" for i in range(14)] + ["same"] * 8 + [f"b{i}" for i in range(8)]
    sides = Corpus.of("x", ours, author=authors), Corpus.of("y", ["busy night"] * 30)
    shown = {told.word for told in telling_words(*counted(*sides))[0]}
    assert shown == {"calm", "day", "busy", "night"}
    told = {one.word for one in classify_sides(*sides, most=50).words}
    assert {"calm", "busy"} <= told
    assert not any(word in pair for pair in told for word in ("rare", "solo", "19years"))


def test_telling_words_point_to_their_side() -> None:
    one, other = counted(Corpus.of("x", ["sun and rain"] * 9), Corpus.of("y", ["snow and rain"] * 9))
    weights = {told.word: told.weight for told in telling_words(one, other)[0]}
    assert weights["sun"] > 0 > weights["snow"]
    assert "and" not in weights or weights["and"] == pytest.approx(0, abs=1e-9)


def test_texts_of_one_author_are_never_on_both_sides_of_a_fold() -> None:
    # Each author has a signature and writes for one side only: by author nothing can be learned, by text all.
    rng = np.random.default_rng(0)
    names = ["".join(chr(97 + c) for c in rng.integers(0, 26, 8)) for _ in range(40)]
    texts = [f"{name} here" for name in names for _ in range(5)]
    who = [f"{i // 5}" for i in range(200)]
    first = Corpus.of("x", texts[:100], author=who[:100])
    apart = classify_sides(first, Corpus.of("y", texts[100:], author=who[100:]))
    assert apart.values["auc"] == pytest.approx(0.5, abs=0.2)


def test_classes_of_one_and_of_several_labels() -> None:
    corpus = Corpus.of("c", list("abcde"), labels={"low": [1, 0, 1, 0, None], "fear": [1, 1, 0, 0, 1]})
    one = classes_of(corpus, ["low"])
    assert [(c.name, c.ids) for c in one] == [("low 1", ["1", "3"]), ("low 0", ["2", "4"])]
    assert one[0].left_out == {"not annotated": 1}
    both = {c.name: c.ids for c in classes_of(corpus, ["low", "fear"])}
    assert both == {"low + fear": ["1"], "fear": ["2"], "low": ["3"], "none": ["4"]}


def test_a_label_of_one_half_puts_a_text_into_no_class() -> None:
    corpus = Corpus.of("c", list("abcd"), labels={"low": [1, 0, 0.5, None], "fear": [1, 0.5, 0, 0.5]})
    one, other = classes_of(corpus, ["low"])
    assert (one.ids, other.ids) == (["1"], ["2"])
    assert one.left_out == {"not annotated": 1, "undecided (0.5)": 1}
    both = Corpus.of("c", list("abc"), labels={"low": [1, 0.5, 0], "fear": [1, 0, 0]})
    assert [c.name for c in classes_of(both, ["low", "fear"])] == ["low + fear", "none"]


def test_classes_of_a_group() -> None:
    corpus = Corpus.of("c", ["a", "b"], groups={"gender": ["woman", "man"]})
    assert [c.name for c in classes_of(corpus, ["gender"])] == ["gender woman", "gender man"]


def test_mistakes_are_named() -> None:
    tweets = some("tweets")
    with refused("corpus.unknown-label-or-group", what="'depresion'", allowed="'depression'"):
        classes_of(tweets, ["depresion"])
    with refused("compare.single-corpus"):
        compare([tweets])
    with refused("compare.same-name", what="'tweets'"):
        compare([tweets, tweets])
    with refused("compare.unknown-part", what="'wrods'", allowed="'words'"):
        Comparing(parts=("wrods",))
    with refused("label.one-class", what="low"):
        classes_of(Corpus.of("c", ["a", "b"], labels={"low": [1, 1]}), ["low"])


def test_without_the_extra_the_rest_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ot", "openTSNE"):
        monkeypatch.setitem(sys.modules, module, None)
    comparison = compare([some("tweets"), some("forum")], None, QUICK)
    measures = {f.measure for f in comparison.findings}
    assert {"jsd_unigram", "mmd2", "wasserstein_sliced", "adversarial_auc"} <= measures
    assert "wasserstein" not in measures
    assert "map" not in comparison.tables
    assert sum("extra 'compare'" in note for note in comparison.notes) == 2


def test_a_run_has_a_page_and_a_map_but_no_text(tmp_path: Path) -> None:
    sides = [some("tweets", 40), some("forum", 40)]
    run = compare_corpora(sides, encoder="tfidf", out=tmp_path, how=QUICK)
    assert open_run(tmp_path).findings == run.findings
    assert pl.read_parquet(tmp_path / "map.parquet").columns == ["id", "corpus", "x", "y"]
    page = (tmp_path / "report.html").read_text("utf-8")
    assert f"<title>tweets: {sides[0].ids[0]}</title>" in page
    assert "http" not in page.replace("http-equiv", "")
    written = page + (tmp_path / "findings.jsonl").read_text("utf-8")
    assert not [text for side in sides for text in side.texts if text[:40] in written]


def test_the_page_and_the_console_say_once_what_intervals_are_clustered_by(tmp_path: Path) -> None:
    rows = "".join(f"text number {i} of this author,{i % 2},a{i // 4}\n" for i in range(24))
    (tmp_path / "posts.csv").write_text("text,label,author\n" + rows)
    app = typer.Typer()
    app.command()(compare_cli)
    words = [str(tmp_path / "posts.csv"), "--by", "label", "--part", "words", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, words)
    note = "posts: intervals and tests are clustered by author (6 authors)"
    assert done.stderr.count(note) == 1
    assert (tmp_path / "run" / "report.html").read_text("utf-8").count(note) == 1


def test_the_command_prints_a_matrix_or_json(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(compare_cli)
    words = ["demo:tweets", "--by", "depression", "--part", "words", "--out", str(tmp_path)]
    plain = CliRunner().invoke(app, words)
    assert plain.exit_code == 0
    assert re.search(r"JSD of words above chance\n +depression 1 +depression 0\n", plain.stdout)
    said = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert {f["where"].get("first") for f in said["findings"]} == {None, "depression 1"}


def test_one_corpus_alone_is_searched_for_cautions() -> None:
    run = compare_corpora([some("tweets")])
    assert [claim.rule for claim in run.headlines] == ["compare.no_cautions"]
    assert any("doubtful labels" in note for note in run.notes)


def test_classes_of_several_corpora_are_refused() -> None:
    with pytest.raises(BadInput, match="cannot split 2 corpora into classes"):
        compare_corpora([some("tweets"), some("forum")], by=["depression"])


def test_progress_is_disorders_in_each_part_up_to_the_last() -> None:
    told: list[tuple[str, int, int]] = []

    def progress(name: str, done: int, total: int, seconds: float, /) -> None:
        told.append((name, done, total))

    how = Comparing(parts=("words", "adversarial"))
    compare_corpora([some("tweets"), some("notes"), some("forum")], how=how, warn=True, progress=progress)
    # Three corpora are looked at for cautions; three pairs have two parts each.
    assert [done for _, done, _ in told] == list(range(1, 10))
    assert {total for _, _, total in told} == {9}
    assert told[0][0] == "compare, cautions"
    assert told[-1][0] == "compare, adversarial"


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_no_library_takes_is_refused(seed: int) -> None:
    with refused("compare.bad-seed", what=str(seed)):
        Comparing(seed=seed)


@pytest.mark.parametrize("texts", [["!!!", "..."] * 15, ["yes", "no"] * 15])
def test_texts_that_no_map_can_show_still_have_all_other_figures(tmp_path: Path, texts: list[str]) -> None:
    made = [Corpus.of("one", texts), Corpus.of("other", texts[::-1] + texts[:4])]
    run = compare_corpora(made, encoder="tfidf", out=tmp_path, how=QUICK)
    assert "no map: the vectors have one dimension" in run.notes
    assert "map" not in run.tables
    assert {"mmd2", "wasserstein", "jsd_unigram", "adversarial_auc"} <= {f.measure for f in run.findings}
    assert (tmp_path / "report.html").is_file()


def test_two_texts_a_side_give_figures_but_no_intervals() -> None:
    few = compare([Corpus.of("x", ["a b c", "a b d"]), Corpus.of("y", ["e f g", "e f h"])], None, QUICK)
    measures = ("jsd_unigram", "mmd2", "mmd2_pair_mean", "wasserstein_sliced")
    for finding in (found(few, measure) for measure in measures):
        assert finding.value > 0
        assert (finding.interval, finding.flags) == (None, ("too_few",)), finding.measure


def test_what_does_not_vary_has_no_interval() -> None:
    who = [f"w{i}" for i in range(40)]
    sides = Corpus.of("x", ["a b"] * 20, author=who[:20]), Corpus.of("y", ["c d"] * 20, author=who[20:])
    same = compare(sides, None, QUICK)
    # Two unit vectors at a right angle lie √2 apart; their distance is the bandwidth: 2 − 2·exp(−1/2).
    values = {"words_mean": 2, "unknown_in_first": 1, "mmd2_pair_mean": 0.786938680}
    for measure, value in values.items():
        finding = found(same, measure)
        assert finding.value == pytest.approx(value)
        assert (finding.interval, finding.flags) == (None, ("no_spread",)), measure


def test_the_mmd_of_a_copy_is_0_and_texts_on_both_sides_do_not_pull_it_below() -> None:
    tweets = some("tweets", 60)
    mmd = found(compare([tweets, renamed(tweets, "copy")], None, QUICK), "mmd2")
    assert mmd.value == pytest.approx(0, abs=1e-12)
    assert (mmd.interval, mmd.flags) == (None, ("no_spread",))
    partly = found(compare([tweets, renamed(some("tweets", 60, 20), "next")], None, QUICK), "mmd2")
    assert partly.interval is not None
    assert partly.interval[0] < 0 < partly.interval[1]


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (["--part", "words", "--encoder", "hf:/nowhere"], "takes no --encoder"),
        (["--part", "words", "--sample", "20"], "takes no --sample"),
        (["--part", "adversarial", "--permutations", "5"], "takes no --permutations"),
        (["--part", "map", "--permutations", "5"], "takes no --permutations"),
        (["--part", "vectors", "--texts", "50"], "takes no --texts"),
    ],
)
def test_an_option_of_a_part_that_is_not_asked_for_is_refused(given: list[str], refused: str) -> None:
    app = typer.Typer()
    app.command()(compare_cli)
    done = CliRunner().invoke(app, ["demo:tweets", "demo:forum", *given])
    assert isinstance(done.exception, BadInput)
    assert refused in done.exception.what


def test_one_corpus_that_is_only_warned_of_takes_no_option_of_a_comparison(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(compare_cli)
    for given in (["--part", "words"], ["--encoder", "tfidf"], ["--texts", "50"]):
        done = CliRunner().invoke(app, ["demo:tweets", "--warn", *given])
        assert isinstance(done.exception, BadInput)
        assert given[0] in done.exception.what
    shown = CliRunner().invoke(app, ["demo:tweets", "--warn", "--show-texts", "--out", str(tmp_path)])
    assert shown.exit_code == 0


def test_vectors_in_one_place_have_no_map() -> None:
    with refused("compare.no-map"):
        map_of(np.ones((30, 3)))


def test_sides_that_are_always_told_apart_have_an_interval_still() -> None:
    apart = compare(
        [Corpus.of("x", [f"rain a{i}" for i in range(20)]), Corpus.of("y", [f"sun b{i}" for i in range(20)])],
        None,
        Comparing(parts=("adversarial",)),
    )
    auc, accuracy = found(apart, "adversarial_auc"), found(apart, "adversarial_accuracy")
    # 20 texts of the rarer side without any spread, Student's t with 19 degrees: 1 / (1 + t² / 20); one and a
    # half times as far from 1, because the folds share their training texts.
    assert auc.value == 1
    assert auc.interval == pytest.approx((1 - 1.5 * (1 - 1 / (1 + 2.093**2 / 20)), 1.0), abs=1e-3)
    # 40 of 40 right, by Wilson: 1 / (1 + z² / 40).
    assert accuracy.interval == pytest.approx((1 - 1.5 * (1 - 1 / (1 + 1.96**2 / 40)), 1.0), abs=1e-4)


def of_authors(label: str, authors: range) -> Corpus:
    """Ten texts of each author, who uses words of his own; they have nothing to do with the label."""
    texts, who = [], []
    for author in authors:
        random = np.random.default_rng(author)
        own = random.choice(300, 12, replace=False)
        texts += [" ".join(f"w{w}" for w in random.choice(own, 8)) for _ in range(10)]
        who += [f"a{author}"] * 10
    return Corpus.of(label, texts, author=who)


def test_authors_of_one_label_each_make_no_distance_beyond_chance() -> None:
    how = Comparing(parts=("words", "vectors", "adversarial"), permutations=199, repeats=2)
    sides = of_authors("one", range(20)), of_authors("other", range(20, 40))
    by_author = compare(sides, None, how)
    bare = compare([Corpus.of(c.name, c.texts) for c in sides], None, how)
    jsd = found(by_author, "jsd_unigram").value
    assert found(bare, "mmd2_p").value <= 0.01
    assert found(by_author, "mmd2_p").value > 0.05
    assert found(bare, "jsd_unigram_chance").value < 0.6 * jsd
    assert found(by_author, "jsd_unigram_chance").value > 0.8 * jsd
    assert found(by_author, "jsd_unigram").counts["units_first"] == 20
    auc = found(by_author, "adversarial_auc")
    assert auc.interval is not None
    assert auc.interval[0] < 0.5 < auc.interval[1]
    assert auc.interval[1] - auc.interval[0] > 0.15  # as of 40 authors, not of 400 texts


def test_a_caution_that_nothing_helps_against_is_printed_without_a_command(tmp_path: Path) -> None:
    rows = [f"{i},{'rain ' * (9 if i % 2 else 5)}x{i},{i % 2}" for i in range(80)]
    (tmp_path / "posts.csv").write_text("\n".join(["id,text,low", *rows]), "utf-8")
    app = typer.Typer()
    app.command()(compare_cli)
    said = CliRunner().invoke(app, [str(tmp_path / "posts.csv"), "--warn", "--out", str(tmp_path / "run")])
    assert "balancing them cannot help, it would leave 0 of 80 texts" in said.stdout
    assert "  do:" not in said.stdout
    assert "<code></code>" not in (tmp_path / "run" / "report.html").read_text("utf-8")
