"""The counterparts of texts with gendered words: swapped, and with a placebo (gender bias 2.2)."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psycheck.text
from psycheck.core.corpus import Corpus
from psycheck.core.kept import kept
from psycheck.text.edits import Change, Edited, apply
from psycheck.text.gender.edits import Scope, gender_of, names_besides, swap
from psycheck.text.gender.placebo import placebo

_EDITS = Path(psycheck.text.__path__[0])  # what decides how a text is edited
_IN_MEMORY = 10_000  # texts whose edits are not made again, or read again, to judge them
_UNCHANGED: list[Any] = [0, []]

Gender = Literal["female", "male", "both", "none"]


class Counterparts(NamedTuple):
    """A text swapped, and with a placebo; whom it names, and whether it names someone besides."""

    swapped: Edited
    neutral: Edited
    gender: Gender
    besides: bool

    @property
    def makes_pair(self) -> bool:
        """Whether something was swapped, and nothing was left undecided."""
        return _makes_pair(self.swapped)


def counterparts(corpus: Corpus, scope: Scope) -> list[Counterparts]:
    """The counterparts of each text of a slice of a corpus.

    Half a swap would compare a text with one that makes no sense: it gets no placebo.
    """
    in_memory = _in_memory(scope)
    texts = corpus.texts
    if all(text in in_memory for text in texts):
        return [in_memory[text] for text in texts]

    written = kept(
        f"counterparts {scope}",
        [text.encode("utf-8", "surrogatepass") for text in texts],
        lambda: _written(texts, scope),
        code=_EDITS,
    )
    entries = json.loads(written)
    made = [_read(text, entry) for text, entry in zip(texts, entries, strict=True)]
    # The first texts, not the latest: a larger corpus is read from its start again.
    if len(in_memory) < _IN_MEMORY:
        in_memory.update(zip(texts, made, strict=True))
    return made


@cache
def _in_memory(scope: Scope) -> dict[str, Counterparts]:
    """The counterparts of the first texts that were edited in this scope: judging needs them as well."""
    return {}


def _written(texts: Sequence[str], scope: Scope) -> bytes:
    """The counterparts of texts as JSON, each by the changes that make it of its text."""
    entries = []
    for text in texts:
        made = _counterparts_of(text, scope)
        entries.append(_entry(text, made))
    written = json.dumps(entries, separators=(",", ":"))
    return written.encode()


def _counterparts_of(text: str, scope: Scope) -> Counterparts:
    swap_gender = swap(scope)
    swapped = swap_gender(text)
    neutral = Edited(text, ())
    gender: Gender = "none"
    besides = False
    # Of a text in which nothing is swapped or undecided, nobody asks whom it names.
    if _makes_pair(swapped):
        neutral = placebo(text, swapped)
        besides = names_besides(text, scope)
    if swapped.spans or swapped.undecided:
        gender = gender_of(text, scope)
    return Counterparts(swapped, neutral, gender, besides)


def _makes_pair(swapped: Edited) -> bool:
    return bool(swapped.spans) and not swapped.undecided


def _entry(text: str, made: Counterparts) -> list[Any] | None:
    """Counterparts as JSON has them; None for a text that nothing is gendered in."""
    edits = [_edit_entry(text, made.swapped), _edit_entry(text, made.neutral)]
    if edits == [_UNCHANGED, _UNCHANGED]:
        return None
    return [*edits, made.gender, made.besides]


def _read(text: str, entry: list[Any] | None) -> Counterparts:
    """What `_entry` turned into JSON."""
    if entry is None:
        unchanged = Edited(text, ())
        return Counterparts(unchanged, unchanged, "none", besides=False)
    swapped, neutral, gender, besides = entry
    return Counterparts(_read_edit(text, swapped), _read_edit(text, neutral), gender, besides)


def _edit_entry(text: str, edited: Edited) -> list[Any]:
    """An edit as the number of undecided words and its changes, or its whole text and spans."""
    changes = _changes(text, edited)
    if apply(text, changes, edited.undecided) == edited:
        return [edited.undecided, changes]
    # Where a word came back elsewhere, the changes cannot be told from the two texts.
    return [edited.undecided, edited.text, edited.spans]


def _read_edit(text: str, entry: list[Any]) -> Edited:
    undecided, *rest = entry
    if len(rest) == 1:
        (changes,) = rest
        return apply(text, changes, undecided)
    edited_text, spans = rest
    return Edited(edited_text, tuple((start, end) for start, end in spans), undecided)


def _changes(text: str, edited: Edited) -> list[Change]:
    """What was changed, by the places in the text; between two changes both texts are the same."""
    changes: list[Change] = []
    done = 0  # in the text
    done_edited = 0  # the same place in the edited text
    starts_after = [*(start for start, _ in edited.spans[1:]), len(edited.text)]
    for (start, end), next_start in zip(edited.spans, starts_after, strict=False):
        place = done + start - done_edited
        unchanged = edited.text[end:next_start]
        # The last change ends where the rest of the text begins, others where the unchanged text goes on.
        is_last = next_start == len(edited.text)
        done = len(text) - len(unchanged) if is_last else text.find(unchanged, place + 1)
        done_edited = end
        changes.append((place, done, edited.text[start:end]))
    return changes
