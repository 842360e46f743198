from psycheck.core.corpus import Corpus
from psycheck.corpora.opening import with_labels
from refusals import refused

CORPUS = Corpus.of("c", ["a", "b"], labels={"depression": [1, 0], "anxiety": [0, 1]})


def test_one_label_is_taken_and_may_be_renamed() -> None:
    assert with_labels(CORPUS, ()).labels == ("depression", "anxiety")
    assert with_labels(CORPUS, ["anxiety"]).labels == ("anxiety",)
    renamed = with_labels(CORPUS, ["anxiety=worry"])
    assert renamed.labels == ("worry",)
    assert renamed.targets(["worry"])[:, 0].tolist() == [0.0, 1.0]


def test_what_a_file_calls_otherwise_is_found_by_its_name() -> None:
    assert with_labels(CORPUS, ["phq=depression"]).labels == ("depression",)


def test_a_label_that_it_has_not_is_a_plain_error() -> None:
    with refused("corpus.unknown-label", what="'depresion'") as caught:
        with_labels(CORPUS, ["depresion"])
    assert "depression" in caught.value.allowed


def test_the_level_of_a_scale_beside_a_known_corpus_is_the_files() -> None:
    corpus = Corpus.of("c", ["a"], labels={"depression": [1.0]})
    assert with_labels(corpus, ["PHQ8_Score=depression@10"]).labels == ("depression",)
