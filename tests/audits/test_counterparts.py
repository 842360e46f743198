from pathlib import Path

import pytest

from psycheck.audits.counterparts import _edit_entry, _in_memory, _read_edit, counterparts
from psycheck.core.corpus import Corpus
from psycheck.core.kept import keeping
from psycheck.scoring.store import Store
from psycheck.text.edits import Edited
from psycheck.text.gender.edits import swap
from psycheck.text.gender.placebo import placebo
from psycheck.text.gender.scope import scope_of

SCOPE = scope_of(["nouns"])
TEXTS = [
    "Maybe she told him that her mother was kind, and he was happy.",
    "Nothing here is gendered.",
    "I saw her smile.",  # undecided
    "She she she. He, she: maybe",
]


@pytest.mark.parametrize("text", TEXTS)
def test_counterparts_are_those_of_the_edits(text: str) -> None:
    (made,) = counterparts(Corpus.of("posts", [text]), SCOPE)
    swapped = swap(SCOPE)(text)
    assert made.swapped == swapped
    if made.makes_pair:
        assert made.neutral == placebo(text, swapped)


def test_kept_counterparts_are_read_back_without_editing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus.of("posts", TEXTS)
    _in_memory.cache_clear()
    store = Store(tmp_path / "store.sqlite")
    with keeping(store):
        first = counterparts(corpus, SCOPE)
        _in_memory.cache_clear()
        monkeypatch.setattr("psycheck.audits.counterparts.swap", None)
        again = counterparts(corpus, SCOPE)
    assert again == first
    store.close()
    assert b"mother" not in (tmp_path / "store.sqlite").read_bytes()


@pytest.mark.parametrize(
    "edited",
    [
        Edited("ab ab", ((0, 2),)),  # "ab" before "ab": where the text goes on is not where it seems to
        Edited("x x", ((0, 1), (2, 3)), 3),
        Edited("", ((0, 0),)),
        Edited("ab ab ab", ()),
    ],
)
def test_an_edit_that_the_changes_do_not_tell_is_written_as_a_whole(edited: Edited) -> None:
    text = "ab ab ab"
    assert _read_edit(text, _edit_entry(text, edited)) == edited
