import shlex

from psycheck.core.corpus import CorpusSource
from psycheck.corpora.columns import Columns, as_typed, options_of, source_of, without_options


def test_a_corpus_is_said_with_the_options_it_was_opened_with() -> None:
    columns = Columns(text="my text", labels=("sad", "x=low"), positive=("yes",), split="fold", groups=("g",))
    typed = as_typed(source_of("a folder/posts.csv", columns, split="test"))
    assert shlex.split(typed) == [
        "a folder/posts.csv", "--text", "my text", "--split-column", "fold", "--label", "sad",
        "--label", "x=low", "--positive", "yes", "--group", "g", "--split", "test",
    ]  # fmt: skip
    assert as_typed(CorpusSource("demo:tweets")) == "demo:tweets"
    assert options_of(Columns()) == ""


def test_options_that_a_verb_does_not_know_are_left_out_with_their_values() -> None:
    typed = "posts.csv --text 'my text' --group g --time when --label sad --group h"
    assert without_options(typed, ("--group", "--time")) == "posts.csv --text 'my text' --label sad"
