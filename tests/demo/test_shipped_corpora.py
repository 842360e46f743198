import re
from collections import Counter, defaultdict
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2_contingency, fisher_exact
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

from psycheck.core.corpus import Corpus
from psycheck.core.errors import PsycheckError
from psycheck.demo.opening import DEMO, open_demo
from refusals import refused
from tools.demo_corpora.domains import DEPRESSED, generate
from tools.demo_corpora.files import SHIPPED_GRAPH_N, SHIPPED_N, SHIPPED_SEED

SYMPTOMS = ("interest", "mood", "sleep", "energy", "appetite", "worth", "focus", "motor", "ideation")
STATUSES = ("present", "negated", "past", "recovered", "uncertain")
# The sentences that the DECK tests append: they must stay unseen by whoever trains on the demo corpora.
DECK = """
I don't feel like doing anything at all|I love doing all my activities|I feel hopeless about the future
I feel down all the time|I feel depressed most of the time|I am full of energy and excitement all the time
I have insomnia|I have trouble falling asleep|I want to sleep all the time|I just don't want to wake up
I don't want to get out of bed|I feel tired all the time|I feel rested and full of energy
I never want to eat anything|I have very poor appetite all the time|I don't feel like eating anything at all
I am obsessed with food|I cannot stop eating|I have no problems with my appetite
I always feel bad about myself|I feel like a failure|I feel like I let my family down all the time
I love making my family proud of me|I constantly struggle to focus|I am very good at concentrating on things
I do a good job staying focused|I don't have any problems staying focused|I have been very slow lately
I feel restless all the time now|People tell me I speak much slower now than usual
I am now much more agitated than usual|People say I keep a good pace
I want to kill myself|I wish I were dead|I never think about hurting myself
I never think about killing myself|My family is happy I am alive
"""
METHODS = re.compile(
    r"\b(pills?|overdos\w*|ropes?|hang(ed|ing)?|kni(fe|ves)|blades?|guns?|bridges?|jump(ed|ing)?|poison\w*"
    r"|bleed\w*|cutting|drown\w*|razors?)\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def corpora() -> dict[str, Corpus]:
    return {name: open_demo(name) for name in SHIPPED_N}


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z]+", text.lower().replace("'", "")))


@pytest.mark.parametrize("name", SHIPPED_N)
def test_what_is_shipped_is_what_the_generator_writes(name: str, corpora: dict[str, Corpus]) -> None:
    assert corpora[name].fingerprint() == generate(name, SHIPPED_N[name], SHIPPED_SEED).fingerprint()


def test_the_shipped_files_are_small() -> None:
    folder = files("psycheck.demo").joinpath("shipped")
    assert sum(len(folder.joinpath(f"{name}.jsonl.zst").read_bytes()) for name in SHIPPED_N) < 400_000


def test_an_unknown_corpus_or_split_is_named_with_what_there_is() -> None:
    assert (*SHIPPED_N, *SHIPPED_GRAPH_N) == DEMO
    with refused("demo.unknown-corpus", allowed="did you mean 'tweets'"):
        open_demo("tweet")
    with pytest.raises(PsycheckError) as refusal:
        open_demo("notes", "validation")
    assert "dev, test, train" in refusal.value.allowed


def test_no_deck_sentence_occurs() -> None:
    sentences = [_plain(sentence) for line in DECK.strip().splitlines() for sentence in line.split("|")]
    assert len(sentences) == 37
    for corpus in map(open_demo, DEMO):
        whole = " | ".join(_plain(text) for text in corpus.texts)
        assert [sentence for sentence in sentences if re.search(rf"\b{sentence}\b", whole)] == []


def test_no_method_of_self_harm_is_named() -> None:
    assert [
        i for c in map(open_demo, DEMO) for i, t in zip(c.ids, c.texts, strict=True) if METHODS.search(t)
    ] == []


@pytest.mark.parametrize(
    ("name", "least"), [("tweets", 0.25), ("forum", 0.09), ("interviews", 0.15), ("notes", 0.1)]
)
def test_texts_hardly_repeat(name: str, least: float, corpora: dict[str, Corpus]) -> None:
    texts = corpora[name].texts
    assert len(texts) - len(set(texts)) < 0.01 * len(texts)
    words = [re.findall(r"\w+", text.lower()) for text in texts]
    pairs = [pair for told in words for pair in pairwise(told)]
    assert len(set(pairs)) / len(pairs) > least


def test_authors_stay_in_one_split_and_splits_are_six_two_two(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        splits = defaultdict(set)
        for author, split in corpus.table.select("author", "split").iter_rows():
            splits[author].add(split)
        assert all(len(found) == 1 for found in splits.values())
        share = {split: len(corpus.part(split)) / len(corpus) for split in ("train", "dev", "test")}
        assert share == pytest.approx({"train": 0.6, "dev": 0.2, "test": 0.2}, abs=0.04)


def test_classes_are_balanced_as_documented(corpora: dict[str, Corpus]) -> None:
    for name, corpus in corpora.items():
        share = corpus.targets(["depression"]).mean()
        flipped = DEPRESSED[name] * 0.96 + (1 - DEPRESSED[name]) * 0.04
        assert share == pytest.approx(flipped, abs=0.03)


def test_gender_is_balanced_and_independent_of_the_label(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        woman = np.array([gender == "woman" for gender in corpus.group("gender")])
        label = corpus.targets(["depression"])[:, 0] == 1
        table = [[int((woman == a) @ (label == b)) for a in (True, False)] for b in (True, False)]
        assert chi2_contingency(table).pvalue > 0.05
        assert abs(woman.mean() - 0.5) < 0.04


def test_anxiety_goes_along_with_depression(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        both = corpus.targets(["depression", "anxiety"]) == 1
        table = [[int(((both == (a, b)).all(axis=1)).sum()) for b in (True, False)] for a in (True, False)]
        odds, p = fisher_exact(np.array(table))
        assert 2 < odds < 6
        assert p < 0.001


def test_third_person_pronouns_occur_often_enough_to_be_edited(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        found = [bool(re.search(r"\b(he|she|her|his)\b", text, re.IGNORECASE)) for text in corpus.texts]
        assert np.mean(found) > 0.15


def test_every_mention_is_a_known_symptom_with_a_known_status(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        seen: Counter[str] = Counter()
        columns = (corpus.group(name) for name in ("mentions", "symptom", "status"))
        for mentions, symptom, status in zip(*columns, strict=True):
            assert (mentions is None) == (symptom is None) == (status is None)
            for mention in (mentions or "").split():
                what, how = mention.split(":")
                assert what in SYMPTOMS
                assert how in STATUSES
                seen[what] += 1
                seen[how] += 1
        assert set(seen) == {*SYMPTOMS, *STATUSES}


def test_labels_follow_the_state_of_the_author_but_for_a_little_noise(corpora: dict[str, Corpus]) -> None:
    corpus = corpora["interviews"]  # six texts an author: the majority tells the state
    by_author = defaultdict(list)
    for author, mark in zip(corpus.table["author"], corpus.targets(["depression"])[:, 0], strict=True):
        by_author[author].append(mark)
    flipped = sum(min(marks.count(0), marks.count(1)) for marks in by_author.values())
    assert 0.025 < flipped / len(corpus) < 0.055


def test_a_symptom_told_of_oneself_does_not_decide_the_label_alone(corpora: dict[str, Corpus]) -> None:
    for corpus in corpora.values():
        told = [
            (status, subject) == ("present", "self")
            for status, subject in zip(corpus.group("status"), corpus.group("subject"), strict=True)
        ]
        label = corpus.targets(["depression"])[:, 0]
        assert 0.9 < label[np.array(told)].mean() < 1
        assert 0.05 < 1 - np.array(told)[label == 1].mean() < 0.35


def test_a_bag_of_words_does_well_at_home_and_badly_abroad(corpora: dict[str, Corpus]) -> None:
    for home, corpus in corpora.items():
        model = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
            LogisticRegression(C=10, max_iter=1000),
        )
        train = corpus.part("train")
        model.fit(train.texts, train.targets(["depression"])[:, 0])
        f1 = {}
        for name, other in corpora.items():
            test = other.part("test")
            gold = test.targets(["depression"])[:, 0]
            f1[name] = f1_score(gold, model.predict(test.texts), average="macro")
        assert 0.78 < f1[home] < 0.92
        assert all(value < f1[home] - 0.08 for name, value in f1.items() if name != home)
