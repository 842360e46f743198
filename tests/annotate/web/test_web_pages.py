from hypothesis import given
from hypothesis import strategies as st

from psycheck.annotate.annotator_answers import Answers, Span
from psycheck.annotate.web.answering import LabelRow, marked
from psycheck.annotate.web.pages import KEYS, hidden, pieces


@given(st.text())
def test_the_pieces_of_a_text_are_the_text_with_offsets_in_characters(text: str) -> None:
    found = list(pieces(text))
    assert "".join(piece for piece, _, _ in found) == text
    assert all(text[start:stop] == piece and not piece.isspace() for piece, start, stop in found if stop)


def test_offsets_count_characters_and_not_code_units() -> None:
    assert list(pieces("😀 sad")) == [("😀", 0, 1), (" ", 1, 0), ("sad", 2, 5)]


def test_evidence_is_marked_and_everything_is_escaped() -> None:
    spans = (Span("depression", 4, 9), Span("anxiety", 6, 12))
    rows = [LabelRow("depression", "Depression", 0, ""), LabelRow("anxiety", "Anxiety", 1, "")]
    assert marked("<b> so <i>sad", Answers({}, spans=spans), rows) == (
        '&lt;b&gt; <mark class="e0">so</mark>'
        '<mark class="e1"><mark class="e0"> &lt;i</mark></mark>'
        '<mark class="e1">&gt;sa</mark>d'
    )


def test_a_hidden_field_cannot_be_left() -> None:
    assert str(hidden("queue", '"><script>')) == (
        '<input type="hidden" name="queue" value="&#34;&gt;&lt;script&gt;">'
    )


def test_no_key_of_a_label_is_a_command() -> None:
    assert len(set(KEYS)) == len(KEYS)
    assert not set(KEYS) & set("begimstu")
