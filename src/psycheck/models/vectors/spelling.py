"""Which entries of a vocabulary spell a word or phrase: other cases, apostrophes, joined words, its parts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_APOSTROPHE = re.compile("['’]")
_MOST_APOSTROPHES = 3  # in a contraction, as in "shouldn't've"
_NOT = "n't"
# Stems before "n't" that are not whole words, as in the Penn Treebank and GloVe.
_HALF_STEMS = {"ai": "is", "ca": "can", "sha": "shall", "wo": "will"}

Entries = tuple[str, ...]


def spell(
    words: Sequence[str], rows_of: Callable[[Sequence[str]], Sequence[int]], *, composes: bool
) -> list[Entries]:
    """The entries for each word or phrase; several are averaged, none means "unknown".

    `rows_of` gives the row of each entry, −1 if it is absent. Tried are the word itself, the other
    apostrophe, lower case, and "_" or "-" for spaces; then its parts, if all are known. A contraction has two
    parts: the word, and "'s" or "n't" if it is an entry. If the file `composes` unknown words of their
    letters, a word without entries is its parts.
    """
    # Some files join the words of a phrase by "-" or "_"; where they do not, its words are averaged.
    parts_of: dict[str, list[str]] = {}
    for word in words:
        apart = word.replace("-", " ").replace("_", " ")
        parts_of[word] = WORD.findall(apart)
    speller = _Speller.of(_needed(parts_of), rows_of)

    entries_of = {}
    for word, parts in parts_of.items():
        entries_of[word] = _entries_of_phrase(speller, word, parts, composes=composes)
    return [entries_of[word] for word in words]


def _needed(parts_of: Mapping[str, Sequence[str]]) -> set[str]:
    """All strings that must be looked up: the words and everything that they can be split into."""
    needed = set(parts_of)
    for parts in parts_of.values():
        for part in parts:
            needed.update(pieces(part))
    return needed


def _entries_of_phrase(
    speller: "_Speller",
    word: str,
    parts: list[str],
    *,
    composes: bool,
) -> Entries:
    """The entry of a whole phrase, else those of all its parts."""
    entry = speller.entry(word)
    if entry:
        return (entry,)
    entries_of_parts = [speller.entries(part) for part in parts]
    if entries_of_parts and all(entries_of_parts):
        return tuple(chain.from_iterable(entries_of_parts))
    return tuple(parts) if composes else ()


@dataclass(frozen=True, slots=True)
class _Speller:
    """The entry of each string that was looked up, if one of its forms has one."""

    entry_of: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, needed: set[str], rows_of: Callable[[Sequence[str]], Sequence[int]]) -> "_Speller":
        """Look up all forms of all strings at once."""
        # One search for all of them: a binary search of a large file costs a disk access for each.
        forms_of = {word: forms(word) for word in needed}
        every_form = sorted(set(chain.from_iterable(forms_of.values())))
        rows = rows_of(every_form)
        row_of_form = dict(zip(every_form, rows, strict=True))

        entry_of = {}
        for word, word_forms in forms_of.items():
            # The closest form comes first.
            entries = [form for form in word_forms if row_of_form[form] >= 0]
            if entries:
                entry_of[word] = entries[0]
        return cls(entry_of)

    def entry(self, word: str) -> str | None:
        """The entry of a string as a whole: that of its closest form."""
        return self.entry_of.get(word)

    def entries(self, word: str) -> Entries:
        """The entries of a word: one, or those of a contraction's parts."""
        entry = self.entry(word)
        if entry:
            return (entry,)

        ways = []
        for stem, ending in splits(word):
            ways.append((self.entries(stem), self.entry(ending)))
        for stem_entries, ending_entry in ways:
            if stem_entries and ending_entry:
                return (*stem_entries, ending_entry)
        # Without an entry for "n't", "can" is better than the half "ca": try the last way first.
        for stem_entries, _ in reversed(ways):
            if stem_entries:
                return stem_entries
        return ()


def forms(word: str) -> tuple[str, ...]:
    """Spellings of a word or phrase, the closest first: joined, with either apostrophe, in lower case."""
    spellings = [word]
    if " " in word:
        for joint in ("_", "-"):
            spellings.append(word.replace(" ", joint))
    if _APOSTROPHE.search(word):
        for form in tuple(spellings):
            straight = _APOSTROPHE.sub("'", form)
            curly = _APOSTROPHE.sub("’", form)
            spellings += [straight, curly]
    # Lower case comes last: "US" is not "us" if the file has both.
    lowered = [form.lower() for form in spellings]
    return tuple(dict.fromkeys([*spellings, *lowered]))


def splits(word: str) -> tuple[tuple[str, str], ...]:
    """The ways to split a word at its last apostrophe as GloVe does: she + 's, do + n't; none without one.

    Words such as "can't" have two: ca + n't, as in GloVe, and can + n't, for files without "ca".
    """
    plain = _APOSTROPHE.sub("'", word)
    apostrophe = plain.rfind("'")
    if apostrophe < 1 or plain.count("'") > _MOST_APOSTROPHES:
        return ()
    stem = word[: -len(_NOT)]
    is_negated = plain.lower().endswith(_NOT)
    # she's → she + 's: the ending keeps its apostrophe, as an entry of the file.
    if not is_negated or not stem:
        return ((word[:apostrophe], plain[apostrophe:]),)

    # don't → do + n't
    full_stem = _HALF_STEMS.get(stem.lower())
    if full_stem is None:
        return ((stem, _NOT),)
    return ((stem, _NOT), (full_stem, _NOT))


def pieces(word: str) -> Iterator[str]:
    """All strings to look up for a word: itself and the parts of its splits."""
    yield word
    for stem, ending in splits(word):
        yield from pieces(stem)
        yield ending
