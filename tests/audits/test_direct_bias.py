from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from psycheck.audits.direct_bias.embedded import Embedded
from psycheck.audits.direct_bias.findings import Biasing
from psycheck.audits.direct_bias.judging import judge
from psycheck.audits.direct_bias.word_lists import (
    CONTRAST,
    SHIPPED,
    Drawn,
    Target,
    WordList,
    ask,
    common_words,
    gender,
    read_words,
    spoken,
    word_list,
)
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Judgement
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from refusals import refused

QUICK = Biasing(random_lists=500)
PAIRS = [
    ("woman", "man"), ("girl", "boy"), ("she", "he"), ("mother", "father"), ("daughter", "son"),
    ("gal", "guy"), ("female", "male"), ("her", "his"), ("herself", "himself"), ("Mary", "John"),
]  # fmt: skip


def judged(
    vector: Callable[[str], FloatArray], words: tuple[Target, ...], how: Biasing = QUICK
) -> tuple[Judgement, dict[str, Finding]]:
    """Judge one list in vectors that are given word by word."""
    drawn = {"ours": Drawn(common_words()[:200], "common")}
    asked = ask(gender(), [WordList("ours", "ours", words)], drawn, contextual=False)
    every = asked.distinct()
    vectors = Embedded(every, np.array([vector(one.word) for one in every]))
    found = judge(asked, vectors, {"encoder": "made"}, how)
    first = {f.measure: f for f in reversed(found.findings)}
    return found, first


def leaning(word: str) -> FloatArray:
    """Five dimensions: gender lies on the first, words of sadness lean to the female side, others to none."""
    random = np.random.default_rng(sum(map(ord, word)))
    rest = random.standard_normal(4)
    side = {"sad": 0.8, "gloom": 0.6, "mild": -0.1, "odd": 0.5}.get(word, 0.05 * random.standard_normal())
    if word in {a for a, _ in PAIRS} | set(gender().female):
        side, rest = 1.0, 0.2 * rest
    elif word in {b for _, b in PAIRS} | set(gender().male):
        side, rest = -1.0, 0.2 * rest
    rest /= np.linalg.norm(rest)
    return (
        np.array([side, *rest * np.sqrt(max(0.0, 1 - side**2))])
        if abs(side) < 1
        else np.array([side, *0.1 * rest])
    )


TARGETS = tuple(
    Target(word, "mood" if word != "odd" else "sleep") for word in ("sad", "gloom", "mild", "odd")
)


def test_the_pairs_are_the_ten_published_ones_female_first() -> None:
    assert list(gender().pairs) == PAIRS
    assert gender().sentences[0] == ("she is a {word}.", "he is a {word}.")


def test_shipped_lists_hold_no_word_of_gender_and_cover_the_scale() -> None:
    for name in (*SHIPPED, CONTRAST):
        shipped = word_list(name)
        words = [target.word for target in shipped.targets]
        assert len(words) >= 30
        assert len({word.casefold() for word in words}) == len(words)
        assert not {part for word in words for part in word.split()} & gender().gendered
    assert len({target.symptom for target in word_list("depression").targets}) == 9
    assert word_list("depression").sentence == "{word} is a synonym of depression."
    assert not set(common_words()) & gender().gendered


def test_a_word_is_found_in_its_sentence() -> None:
    said = spoken("falling asleep", "{word} is a synonym of depression.")
    assert said.text == "falling asleep is a synonym of depression."
    assert said.text[slice(*said.span)] == "falling asleep"
    later = spoken("sad", "This is {word}.")
    assert later.text[slice(*later.span)] == "sad"


def test_contextual_encoders_meet_the_papers_sentences_and_static_ones_bare_words() -> None:
    drawn = {"depression": Drawn(("table",), "common")}
    asked = ask(gender(), [word_list("depression")], drawn, contextual=True)
    assert asked.pairs[0][0].text == "she is a woman."
    assert asked.pairs[2][1].text == "he is a man."
    assert asked.lists["depression"].own[9].text.endswith(" is a synonym of depression.")
    assert asked.lists["depression"].random[0].text == "table is a synonym of depression."
    assert asked.lists["depression"].plain[9].text.startswith("This is ")
    bare = ask(gender(), [word_list("depression")], drawn, contextual=False)
    assert all(one.text == one.word for one in bare.distinct())


def test_a_planted_lean_is_found_with_its_side_and_its_words() -> None:
    _, first = judged(leaning, TARGETS)
    bias = first["direct_bias"]
    assert bias.where["direction"] == "F"
    assert bias.value == pytest.approx((0.8 + 0.6 + 0.1 + 0.5) / 4, abs=0.1)
    assert bias.examples[:2] == ("sad", "gloom")
    assert (bias.n, bias.counts["missing"]) == (4, 0)
    assert bias.interval is None  # of fewer than 15 words
    assert first["direct_bias_p"].value < 0.01
    assert first["direct_bias_chance"].value < 0.2
    assert first["signed_mean_p"].value < 0.01
    # Size and side of one list are two tests: Holm doubles the smaller p.
    two = sorted(first[name].value for name in ("direct_bias_p", "signed_mean_p"))
    adjusted = sorted(first[name].value for name in ("direct_bias_p_holm", "signed_mean_p_holm"))
    assert adjusted[0] == pytest.approx(2 * two[0])
    assert first["direct_bias_p_holm"].counts["tests"] == 2
    assert first["weat_effect"].value > 0.8
    assert first["rnd"].value > 0
    assert first["signed_mean"].counts == {"towards_female": 3, "towards_male": 1}


def test_words_that_lean_like_all_others_are_no_finding() -> None:
    words = tuple(Target(word) for word in common_words()[300:340])
    _, first = judged(leaning, words)
    assert first["direct_bias_p"].value > 0.05
    assert abs(first["weat_effect"].value) < 0.6


def test_every_component_is_reported_beside_random_pairs() -> None:
    found, first = judged(leaning, TARGETS)
    shares = [f for f in found.findings if f.measure == "explained_variance"]
    assert [f.where["component"] for f in shares] == ["1", "2", "3", "4", "5"]
    assert sum(f.value for f in shares) == pytest.approx(1)
    assert shares[0].counts == {"pairs": 10, "known": 10, "agreeing": 10}
    chance = next(f for f in found.findings if f.measure == "explained_variance_chance")
    assert shares[0].value > 0.9 > chance.value
    assert first["direct_bias_symptom"].where["symptom"] == "mood"


def test_what_is_not_known_is_counted_and_left_out() -> None:
    def partly(word: str) -> FloatArray:
        return np.full(5, np.nan) if word in ("mild", "Mary") else leaning(word)

    found, first = judged(partly, TARGETS)
    assert first["direct_bias"].counts == {"words": 4, "known": 3, "missing": 1}
    assert first["explained_variance"].counts["known"] == 9
    words = found.tables["words"]
    assert words.filter(~words["known"])["word"].to_list() == ["mild"]
    assert "mild" not in {f.where.get("word") for f in found.findings}


def test_a_vector_of_zeros_is_not_known() -> None:
    def partly(word: str) -> FloatArray:
        return np.zeros(5) if word in ("mild", "Mary") else leaning(word)

    _, first = judged(partly, TARGETS)
    assert first["direct_bias"].counts == {"words": 4, "known": 3, "missing": 1}
    assert first["explained_variance"].counts["known"] == 9


@pytest.mark.parametrize("known", [0, 1, 19])
def test_too_few_random_words_are_nothing_to_compare_with(known: int) -> None:
    kept = common_words()[:known]

    def alone(word: str) -> FloatArray:
        return np.full(5, np.nan) if word in set(common_words()) - {*kept} else leaning(word)

    found, first = judged(alone, TARGETS)
    assert first["direct_bias"].n == 4
    for measure in ("direct_bias", "signed_mean", "rnd"):
        assert first[measure].tested
        assert not first[f"{measure}_p"].tested
        assert not first[f"{measure}_chance"].tested
    assert not first["direct_bias_p_holm"].tested
    assert first["direct_bias_p_holm"].flags == ()
    assert "explained_variance" in first
    assert "explained_variance_chance" not in {f.measure for f in found.findings}


@pytest.mark.parametrize(("lists", "flags"), [(39, ("too_few_lists",)), (40, ())])
def test_lists_that_are_too_few_to_reach_five_per_cent_are_marked(lists: int, flags: tuple[str, ...]) -> None:
    # Size and side are two tests: 2 / 40 is not below 0.05, 2 / 41 is.
    _, first = judged(leaning, TARGETS, Biasing(random_lists=lists))
    tested = first["direct_bias_p_holm"]
    assert tested.value == pytest.approx(2 / (lists + 1))
    assert tested.counts == {"tests": 2, "lists": lists, "lists_needed": 40}
    assert tested.flags == flags
    assert first["signed_mean_p_holm"].flags == flags


def test_variants_say_how_much_hangs_on_the_direction() -> None:
    found, first = judged(leaning, TARGETS)
    variants = [f for f in found.findings if f.measure == "direct_bias_variant"]
    assert [(f.where["centring"], f.where["lengths"]) for f in variants] == [
        ("pairs", "unit"), ("pairs", "raw"), ("differences", "unit"),
    ]  # fmt: skip
    assert variants[0].value == pytest.approx(first["direct_bias"].value)
    _, raw = judged(leaning, TARGETS, Biasing(lengths="raw", random_lists=50))
    assert raw["direct_bias"].value == pytest.approx(variants[1].value)


def test_nothing_known_is_a_mistake_that_is_said() -> None:
    with pytest.raises(BadInput, match="none of the 4 words of list 'ours'"):
        judged(
            lambda word: np.full(5, np.nan) if word in {t.word for t in TARGETS} else leaning(word), TARGETS
        )
    with pytest.raises(BadInput, match="knows 0 of the 10 gender pairs"):
        judged(lambda _: np.full(5, np.nan), TARGETS)
    with refused("bias.no-direction"):
        judged(lambda _: np.ones(5), TARGETS)


def test_lists_of_ones_own(tmp_path: Path) -> None:
    plain = tmp_path / "mine.txt"
    plain.write_text("# words of ours\nsad\n\nweight loss  # a phrase\nSad\n", "utf-8")
    mine = read_words(plain)
    assert (mine.name, [target.word for target in mine.targets]) == ("mine", ["sad", "weight loss"])
    assert mine.sentence == "This is {word}."
    assert read_words(plain, sentence="I am {word}.").sentence == "I am {word}."
    toml = tmp_path / "ours.toml"
    toml.write_text('name = "o"\n[[group]]\nsymptom = "mood"\nwords = ["sad"]\n', "utf-8")
    assert read_words(toml).targets == (Target("sad", "mood"),)
    assert read_words(toml).again == ()


def test_a_word_in_two_symptoms_counts_in_the_first_and_the_other_is_kept_for_the_note(
    tmp_path: Path,
) -> None:
    toml = tmp_path / "ours.toml"
    toml.write_text(
        '[[group]]\nsymptom = "mood"\nwords = ["sad", "low", "low"]\n'
        '[[group]]\nsymptom = "sleep"\nwords = ["Sad", "tired"]\n',
        "utf-8",
    )
    made = read_words(toml)
    assert made.targets == (Target("sad", "mood"), Target("low", "mood"), Target("tired", "sleep"))
    assert made.again == ((Target("sad", "mood"), Target("Sad", "sleep")),)


def test_broken_lists_are_said(tmp_path: Path) -> None:
    file = tmp_path / "w.txt"
    for raw, said in (
        (b"# nothing\n\n", "the word list is empty"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"x" * 200, "too long for a word"),
    ):
        file.write_bytes(raw)
        with pytest.raises(BadInput, match=said):
            read_words(file)
    file.write_text("sad")
    with refused("words.no-place-in-sentence"):
        read_words(file, sentence="no place")
    for told in ("[[group]]\n", "words = 3", "group = 1", "x ="):
        (tmp_path / "w.toml").write_text(told)
        with refused("words.cannot-read"):
            read_words(tmp_path / "w.toml")
    for name in ("absent.txt", "absent.toml"):
        with refused("words.no-file"):
            read_words(tmp_path / name)
    with refused("words.unknown-list", allowed="depression"):
        word_list("depresion")
