import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from found import uncatalogued
from psycheck.audits.direct_bias.findings import Biasing
from psycheck.audits.direct_bias.word_lists import common_words, gender, word_list
from psycheck.commands.bias import encoder_bias
from psycheck.commands.main import app
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.bias_page import bias_table
from psycheck.report.bias_sentences import bias_headlines, bias_sentences
from psycheck.runs.folder import open_run
from psycheck.runs.pages import save
from refusals import refused

QUICK = Biasing(pool=20, random_lists=400)
DIMENSIONS = 30


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GloVe file of ours: words of depression are planted on the female side, all others on none."""
    random = np.random.default_rng(0)
    words = ["the", "of", "and", "to", "in", "for", "is", "on", "that", "with"]
    rows = {word: random.standard_normal(DIMENSIONS) for word in [*words, *common_words()]}
    for name, lean in (("anxiety", 0.0), ("physical", 0.0), ("depression", 3.0)):
        for target in word_list(name).targets:
            for part in target.word.split():
                row = random.standard_normal(DIMENSIONS)
                row[0] += lean
                rows.setdefault(part, row)
    known = gender()
    for side, sign in ((0, 6.0), (1, -6.0)):
        for word in (*(pair[side] for pair in known.pairs), *(known.female, known.male)[side]):
            row = random.standard_normal(DIMENSIONS)
            row[0] = sign
            rows[word] = row
    del rows["anhedonia"]
    path = tmp_path_factory.mktemp("vectors") / "ours.txt"
    lines = (f"{word} {' '.join(f'{number:.5f}' for number in row)}\n" for word, row in rows.items())
    path.write_text("".join(lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def run(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    patch = pytest.MonkeyPatch()
    patch.setenv("PSYCHECK_STORE", str(tmp_path_factory.mktemp("store") / "scores.sqlite"))
    made = encoder_bias(f"vectors:{vectors}", out=tmp_path_factory.mktemp("run"), how=QUICK)
    patch.undo()
    return made


def one(run: Run, measure: str, name: str) -> Finding:
    return next(f for f in run.findings if f.measure == measure and f.where["list"] == name)


def test_the_planted_list_is_found_and_the_other_is_not(run: Run) -> None:
    planted, other = (one(run, "direct_bias", name) for name in ("depression", "anxiety"))
    assert planted.where["direction"] == "F"
    assert planted.value > 2 * other.value
    assert one(run, "direct_bias_p", "depression").value < 0.01
    assert one(run, "direct_bias_p", "anxiety").value > 0.05
    assert one(run, "weat_effect", "depression").value > 1
    assert abs(one(run, "weat_effect", "anxiety").value) < 0.7
    assert one(run, "rnd_p", "depression").value < 0.01
    assert planted.where["encoder"] == "ours"


def test_its_findings_are_in_the_catalogue(run: Run) -> None:
    assert uncatalogued(run.findings) == set()


def test_what_is_missing_or_put_together_is_noted(run: Run) -> None:
    assert one(run, "direct_bias", "depression").counts["missing"] == 1
    assert any(re.search(r"1 unknown words? .*left out: anhedonia", note) for note in run.notes)
    assert any("mean vector of their parts" in note and "weight loss" in note for note in run.notes)


def test_the_folder_opens_again_and_the_page_is_drawn_from_it(run: Run, tmp_path: Path) -> None:
    assert run.folder is not None
    again = open_run(run.folder)
    assert again.headlines == run.headlines
    save(again, tmp_path / "copy")
    page = (tmp_path / "copy" / "report.html").read_text("utf-8")
    assert page == (run.folder / "report.html").read_text("utf-8")
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_page_says_the_verdict_first_and_every_component_and_word(run: Run) -> None:
    assert run.folder is not None
    page = (run.folder / "report.html").read_text("utf-8")
    assert "Words of depression lean on the gender direction more than random topics do" in page
    assert page.index('class="verdict"') < page.index("<section>")
    assert page.count('<th scope="row">Component ') == 10
    known = sum(f.measure == "projection" for f in run.findings)
    assert known == one(run, "direct_bias", "depression").n + one(run, "direct_bias", "anxiety").n
    for word in ("hopelessness", "palpitations"):
        assert f'<th scope="row">{word}</th>' in page
    assert "left out: anhedonia" in page


def test_sentences_and_table_carry_n_and_interval(run: Run) -> None:
    table = bias_table(run.findings)
    assert [row[0] for row in table.rows] == ["depression", "anxiety"]
    assert re.fullmatch(r"0\.\d{3} \(0\.\d{3}–0\.\d{3}\)", table.rows[0][2])
    sentences = bias_sentences(run.findings)
    assert sentences[0].startswith("Depression: on average nearer to the female side, ")
    assert "further to the female side than random lists" in sentences[0]
    assert "of 10 pairs" in sentences[-1]


def test_the_same_seed_gives_the_same_findings(run: Run, vectors: Path) -> None:
    again = encoder_bias(f"vectors:{vectors}", how=QUICK)
    assert [f.as_json() for f in again.findings] == [f.as_json() for f in run.findings]


def test_without_order_of_frequency_common_words_are_drawn_and_it_is_said(
    vectors: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sorted.txt"
    path.write_text("\n".join(sorted(vectors.read_text("utf-8").splitlines())), "utf-8")
    found = encoder_bias(f"vectors:{path}", lists=["depression"], how=QUICK)
    assert any("not sorted by frequency" in note for note in found.notes)
    assert one(found, "direct_bias_p", "depression").value < 0.01


def without(vectors: Path, path: Path, words: set[str]) -> Path:
    """The same file without some words."""
    lines = vectors.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.split(" ")[0] not in words), "utf-8")
    return path


def test_without_random_words_it_runs_and_says_that_nothing_is_compared(
    vectors: Path, tmp_path: Path
) -> None:
    targets = {part for t in word_list("depression").targets for part in t.word.split()}
    sides = {*gender().female, *gender().male, *(word for pair in gender().pairs for word in pair)}
    every = {line.split(" ")[0] for line in vectors.read_text("utf-8").splitlines()}
    ours = without(vectors, tmp_path / "few.txt", every - targets - sides)
    shown = CliRunner().invoke(
        app, ["bias", f"vectors:{ours}", "--list", "depression", "-o", str(tmp_path / "r")]
    )
    assert shown.exit_code == 0, shown.output
    assert "depression: the encoder knows only 0 random words" in shown.output
    assert (
        "Words of depression are not compared with random topics, because the encoder knows too few random "
        "words: Direct Bias 0." in shown.output
    )
    assert "; not compared with random lists." in shown.output
    assert "differences of 10 pairs.\n" in shown.output
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert not re.search(r"\bnan\b", page)
    assert "dashed mark" not in page
    again = open_run(tmp_path / "r")
    assert not one(again, "direct_bias_p", "depression").tested


def test_a_file_of_pairs_alone_is_a_plain_error(vectors: Path, tmp_path: Path) -> None:
    pairs = {word for pair in gender().pairs for word in pair}
    every = {line.split(" ")[0] for line in vectors.read_text("utf-8").splitlines()}
    ours = without(vectors, tmp_path / "onlypairs.txt", every - pairs)
    with pytest.raises(BadInput, match="none of the 80 words of list 'depression'"):
        encoder_bias(f"vectors:{ours}", how=QUICK)


def test_too_few_lists_are_said_instead_of_no_difference(vectors: Path, tmp_path: Path) -> None:
    def verdict(lists: int) -> tuple[str, str]:
        how = Biasing(pool=20, random_lists=lists)
        run = encoder_bias(f"vectors:{vectors}", how=how)
        return run.verdict, bias_sentences(run.findings)[0]

    # Two lists are four tests: 4 / 80 is not below 0.05, 4 / 81 is.
    few, side = verdict(79)
    assert few.startswith(
        "79 random topics are too few to show whether words of depression and anxiety lean on the gender "
        "direction more than those do: 4 tests need at least 80. Direct Bias of "
    )
    assert "too few random lists to tell whether it differs from them" in side
    enough, side = verdict(80)
    assert enough.startswith("Words of depression lean on the gender direction more than random topics do")
    assert "further to the female side than random lists" in side


def test_every_list_that_passes_holm_is_named(run: Run) -> None:
    """As if the words of anxiety leaned, too: not the smallest p alone is in the verdict."""
    raised = [
        replace(f, value=0.03) if f.measure == "direct_bias_p_holm" and f.where["list"] == "anxiety" else f
        for f in run.findings
    ]
    said = " ".join(claim.sentence for claim in bias_headlines(raised))
    assert said.startswith(
        "Words of depression and anxiety lean on the gender direction more than random topics do"
    )
    assert "Direct Bias of depression 0." in said
    assert "; of anxiety 0." in said
    # Side and size are two questions: the planted words are on the female side as well.
    assert "Those of depression are further to the female side than random topics: mean cosine 0." in said


def test_a_side_that_depends_on_the_definition_of_the_direction_is_undetermined(run: Run) -> None:
    turned = [
        replace(f, where={**f.where, "direction": "M"})
        if f.measure == "direct_bias_variant" and f.where["centring"] == "differences"
        else replace(f, where={**f.where, "direction": "F"})
        if f.measure == "direct_bias_variant"
        else f
        for f in run.findings
    ]
    said = " ".join(claim.sentence for claim in bias_headlines(turned))
    assert "female" not in said
    assert said.endswith(
        "The side of depression is undetermined: it changes with the definition of the gender direction."
    )
    assert "on an undetermined side" in bias_sentences(turned)[0]
    assert "female" not in bias_sentences(turned)[0]


def test_vectors_of_zeros_are_named(vectors: Path, tmp_path: Path) -> None:
    zeros = " ".join(["0"] * DIMENSIONS)
    text = re.sub(r"(?m)^(insomnia|Mary) .*$", rf"\1 {zeros}", vectors.read_text("utf-8"))
    path = tmp_path / "zeros.txt"
    path.write_text(text, "utf-8")
    found = encoder_bias(f"vectors:{path}", lists=["depression"], how=QUICK)
    assert one(found, "direct_bias", "depression").counts["missing"] == 2
    assert any("1 unknown words are left out: anhedonia" in note for note in found.notes)
    said = "depression: 1 words with a zero vector, which has no direction, are left out: insomnia"
    assert said in found.notes
    assert "gender pairs left out because a word has a zero vector: Mary and John" in found.notes


def test_a_word_in_two_symptoms_is_noted(vectors: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        '[[group]]\nsymptom = "mood"\nwords = ["insomnia", "sadness"]\n'
        '[[group]]\nsymptom = "sleep"\nwords = ["Insomnia"]\n',
        "utf-8",
    )
    found = encoder_bias(f"vectors:{vectors}", words=[mine], how=QUICK)
    said = "mine: 1 words are listed for two symptoms and count for the first: insomnia (mood, not sleep)"
    assert said in found.notes


@pytest.mark.slow
def test_minilm_has_one_direction_of_gender() -> None:
    torch.set_num_threads(1)
    found = encoder_bias("minilm", lists=["anxiety"], how=QUICK)
    assert found.plan["kind"] == "contextual"
    assert found.plan["lists"][0]["sentence"] == "{word} is a synonym of anxiety."
    bias = one(found, "direct_bias", "anxiety")
    assert (bias.n, bias.counts["missing"]) == (len(word_list("anxiety").targets), 0)
    assert 0 < bias.value < 0.2
    first = next(f for f in found.findings if f.measure == "explained_variance")
    chance = next(f for f in found.findings if f.measure == "explained_variance_chance")
    assert first.value > 2 * chance.value


def test_the_verb_prints_and_writes(vectors: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("\n".join(target.word for target in word_list("depression").targets[10:40]), "utf-8")
    words = [
        "bias",
        f"vectors:{vectors}",
        "--words",
        str(mine),
        "--random-lists",
        "100",
        "-o",
        str(tmp_path / "r"),
    ]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "Words of mine lean on the gender direction more than random topics do" in shown.output
    assert "mine: words with the largest bias: " in shown.output
    told = CliRunner().invoke(app, [*words, "--json", "--list", "anxiety", "--force"])
    found = json.loads(told.stdout)["findings"]
    assert {f["where"]["list"] for f in found if f["measure"] == "direct_bias"} == {"anxiety", "mine"}


def test_mistakes_of_the_user_are_said(vectors: Path, tmp_path: Path) -> None:
    spec = f"vectors:{vectors}"
    strange = tmp_path / "strange.txt"
    strange.write_text("xqzzy\nvwwq\n", "utf-8")
    with pytest.raises(BadInput, match="none of the 2 words of list 'strange'"):
        encoder_bias(spec, words=[strange], how=QUICK)
    with refused("bias.equal-list-names") as caught:
        encoder_bias(spec, words=[strange, strange], how=QUICK)
    assert "'strange'" in caught.value.what
    with refused("bias.no-word-list"):
        encoder_bias(spec, lists=[], how=QUICK)
    with refused("bias.sentence-without-words"):
        encoder_bias(spec, sentence="I am {word}.", how=QUICK)
    with pytest.raises(BadInput, match="must be above 0"):
        encoder_bias(spec, how=Biasing(strictness=0))
    with pytest.raises(BadInput, match="'pool' is below 1"):
        encoder_bias(spec, how=Biasing(pool=0))
    with pytest.raises(BadInput, match="'seed' is below 0"):
        encoder_bias("vectors:absent.txt", how=Biasing(seed=-1))
    mine = tmp_path / "mine.txt"
    mine.write_text("sadness\ninsomnia\n", "utf-8")
    with refused("bias.sentence-with-static-vectors"):
        encoder_bias(spec, words=[mine], sentence="I am {word}.", how=QUICK)
    with pytest.raises(BadInput, match="is not an encoder"):
        encoder_bias("nothing", how=QUICK)
    foreign = tmp_path / "foreign.txt"
    foreign.write_text("un 1 2 3\ndeux 3 4 5\n", "utf-8")
    with pytest.raises(BadInput, match="knows 0 of the 10 gender pairs"):
        encoder_bias(f"vectors:{foreign}", how=QUICK)
    invoked = CliRunner().invoke(app, ["bias", spec, "--centring", "pair"])
    assert isinstance(invoked.exception, BadInput)
    assert "unknown centring 'pair'\n  where: --centring" in str(invoked.exception)


def test_several_encoders_have_a_folder_each_and_rows_in_one_table(vectors: Path, tmp_path: Path) -> None:
    specs = [f"vectors:{vectors}", f"vectors:{vectors}?name=theirs"]
    options = ["--list", "depression", "--random-lists", "20", "--out", str(tmp_path / "bias")]
    done = CliRunner().invoke(app, ["bias", *specs, *options])
    assert done.exit_code == 0, done.output
    assert open_run(tmp_path / "bias" / "ours").plan["encoder"] == "ours"
    assert open_run(tmp_path / "bias" / "theirs").plan["encoder"] == "theirs"
    last_table = done.output.rpartition("encoder")[2]
    assert {
        line.split()[0] for line in last_table.splitlines()[1:] if line.startswith(("ours", "theirs"))
    } == {
        "ours",
        "theirs",
    }


def test_an_encoder_of_the_same_name_is_refused(vectors: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["bias", *[f"vectors:{vectors}"] * 2, "--out", str(tmp_path)])
    assert isinstance(done.exception, BadInput)
    assert done.exception.code == "bias.same-encoder-name"
