"""Verbs that follow their subject when its person changes: "I am" → "they are", "he feels" → "I feel"."""

import re
import tomllib
from pathlib import Path
from typing import Final

from psycheck.text.edits import Change, carry_case, straight

_DATA: Final = tomllib.loads(Path(__file__).with_name("verbs.toml").read_text("utf-8"))
_HELPERS: Final = frozenset(_DATA["words"]["helpers"].split())
_SUBJECTS: Final = frozenset(_DATA["words"]["subjects"].split())
REGULAR: Final = frozenset(_DATA["words"]["regular"].split())

_VERB = r"([a-z]+(?:-[a-z]+)?(?:['’]t)?)"
_ADVERBS = rf"(?:(?:{'|'.join(_DATA['words']['adverbs'].split())}|[a-z]+ly)\s+)"
_AFTER: Final = re.compile(
    rf"\s+{_ADVERBS}{{0,2}}{_VERB}(?![\w'’-])(?:\s+(?:and|or|but)\s+{_ADVERBS}?{_VERB}(?![\w'’-]))?", re.I
)
_BEFORE: Final = re.compile(rf"(?<![\w'’-]){_VERB}\s+$", re.I)
# "My mother and I have": the verb belongs to both. "I lost it and I have …" has another clause before.
_BOTH: Final = re.compile(
    r"(?:^|[.!?,;:\n]\s*|\b(?:when|because|that|if|since|but|so|where|while|as)\s+)"
    r"(?:(?i:my|our|the|his|her|their)\s+(?:\w+\s+)?\w+|[A-Z]\w+)\s+and\s+$"
)


def third_person(verb: str) -> str:
    """The regular third-person form: try → tries, miss → misses, feel → feels."""
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


_S_FORMS: Final = {verb: third_person(verb) for verb in REGULAR}
_TO: Final[dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]]] = {
    "they": (_DATA["they"]["before"], _DATA["they"]["after"], {}),
    "he": (_DATA["he"]["before"], _DATA["he"]["after"], _S_FORMS),
    "I": (_DATA["I"]["before"], _DATA["I"]["after"], {form: verb for verb, form in _S_FORMS.items()}),
}


def verbs_beside(text: str, start: int, end: int, to: str) -> tuple[list[Change], list[Change]]:
    """The verbs before and after the subject at `text[start:end]` that must change with it."""
    before, after, lexical = _TO["he" if to == "she" else to]
    words = text[max(0, start - 24) : start].lower().split()[-2:]
    if words and straight(words[-1]) in _HELPERS and words[0] not in _SUBJECTS:
        asked = _BEFORE.search(text, max(0, start - 16), start)
        verb = _change(asked, 1, before) if asked else None
        return ([verb] if verb else []), []
    if words and words[-1] == "and" and _BOTH.search(text, max(0, start - 48), start):
        return [], []
    said = _AFTER.match(text, end, end + 72)
    if said is None:
        return [], []
    if verb := _change(said, 1, after):
        return [], [verb]
    verbs = [_change(said, 1, lexical)]
    if verbs[0] and said[2]:
        verbs.append(_change(said, 2, lexical) or _change(said, 2, after))
    return [], [verb for verb in verbs if verb]


def _change(found: re.Match[str], group: int, table: dict[str, str]) -> Change | None:
    word = found[group]
    said = table.get(straight(word.lower()))
    if said is None:
        return None
    if "’" in word:
        said = said.replace("'", "’")
    return found.start(group), found.end(group), carry_case(word, said)
