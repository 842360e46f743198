"""Shift the grammatical person of a text: from I to they, he or she, and from any of these to I.

Only the singular first person (I, me, my, mine, myself) and the third person of people (they, he, she and
their forms) take part. A contraction is one word and becomes a correct one (I've → he's, they're → I'm).
Verbs stay as they are, as in DECK's T3–T6, unless `agreement` is set.

Not a pronoun are "I" as a Roman numeral ("bipolar I", "Pius I"), a list mark ("i)"), an initial ("i.e.") or
a letter; "mine" as a pit; "my" in "oh my god"; anything within a handle, a hashtag, a web address or a
hyphenated word. "he/she", "s/he" and "his or her" become one word; a pair that names forms of one pronoun
("she/her") is left alone. Where roles.py cannot decide, the word stays and counts as undecided.
"""

from typing import Final, Literal

from psycheck.text.agreement import REGULAR, verb_joined, verbs_beside
from psycheck.text.edits import (
    Change,
    Edit,
    Edited,
    Span,
    address_spans,
    apply,
    capitalised,
    carry_case,
    carry_style,
    inside,
    straight,
)
from psycheck.text.gender.roles import role_of
from psycheck.text.word_lists import patterns, read_toml, word_sets

Person = Literal["they", "he", "she", "I"]

_DATA: Final = read_toml("person.toml")
_ROLES: Final[dict[str, str]] = _DATA["roles"]
_BARE: Final[dict[str, str]] = _DATA["bare"]
_WORDS: Final = word_sets(_DATA["words"])
_COUNTED: Final = _WORDS["numbered"] | _WORDS["regnal"] | {"letter"}
_FORMS: Final = patterns(_DATA["patterns"])


def shift_person(to: Person, *, agreement: bool = False) -> Edit:
    """Replace I, me, my … by they, he or she; or, to "I", all third-person pronouns by I, me, my ….

    With `agreement` the verbs beside a changed subject are repaired: "I am" → "they are".
    """
    forms: dict[str, str] = _DATA["forms"][to]
    endings: dict[str, str] = _DATA["endings"]["he" if to == "she" else to]
    agree = to if agreement else None
    return _to_first(forms, endings, agree) if to == "I" else _to_third(forms, endings, agree)


def _to_third(forms: dict[str, str], endings: dict[str, str], agree: Person | None) -> Edit:

    def edit(text: str) -> Edited:
        first = _FORMS["first"].search(text)
        if first is None:
            return Edited(text, ())
        changes: list[Change] = []
        addresses = address_spans(text)
        for found in _FORMS["first"].finditer(text, first.start()):
            start, end = found.span()
            word, mark, ending = found.group(0, 1, 2)
            if addresses and inside(addresses, start):
                continue
            if word[0] in "Mm":
                low = word.lower()
                if not _names_something(text, start, end, low):
                    changes.append((start, end, carry_case(word, forms[_ROLES[low]])))
                continue
            if mark is None and len(word) > 1:
                ending = _BARE[word.lower()]
            if ending is None and _is_letter(text, start, end):
                continue
            if word == "IM" and not _shouted(text, start, end):
                continue
            new = forms["subject"] + ((mark or "") + _ending(endings, ending) if ending else "")
            new = _case_of_i(text, start, end, new)
            if not ending:
                _add_subject(changes, text, (start, end, new), agree)
                continue
            changes.append((start, end, new))
            if agree and (joined := verb_joined(text, end, agree, finite=ending in ("m", "M", "am"))):
                changes.append(joined)
        return apply(text, changes)

    return edit


def _to_first(forms: dict[str, str], endings: dict[str, str], agree: Person | None) -> Edit:
    def edit(text: str) -> Edited:
        if _FORMS["any_third"].search(text) is None:
            return Edited(text, ())
        changes: list[Change] = []
        undecided = 0
        addresses = address_spans(text)
        pairs = _pairs(text) if "/" in text or " or " in text or ")" in text else []
        taken: list[Span] = [(start, end) for start, end, _ in pairs]
        for found in _FORMS["third"].finditer(text):
            start, end = found.span()
            if (addresses and inside(addresses, start)) or (taken and inside(taken, start)):
                continue
            word, mark, ending = found.group(0, 1, 2)
            low = word.lower()
            if mark is None and (ending := _BARE.get(low)) is None:
                role = _ROLES.get(low, "pronoun")  # what is not listed is her’s, with a curly apostrophe
                if role == "decide":
                    role = role_of(text, start, end)
                    if role == "undecided":
                        undecided += 1
                        continue
                if role == "subject":
                    _add_subject(changes, text, (start, end, "I"), agree)
                else:
                    changes.append((start, end, carry_case(word, forms[role])))
                continue
            short = _is_or_has(text, end) if ending.lower() == "s" else _ending(endings, ending)
            short = short.upper() if word.isupper() else short
            changes.append((start, end, f"I{mark or ''}{short}"))
            if agree and (joined := verb_joined(text, end, agree, finite=short in ("m", "M"))):
                changes.append(joined)
        added: list[Change] = []  # the pairs that become one word
        for start, end, role in pairs:
            if role == "subject":
                _add_subject(added, text, (start, end, "I"), agree)
            elif role:
                first = text[start:end].split("/")[0].split()[0]
                added.append((start, end, carry_case(first, forms[role])))
        return apply(text, sorted(changes + added) if pairs else changes, undecided)

    return edit


def _add_subject(changes: list[Change], text: str, subject: Change, agree: Person | None) -> None:
    """Add a subject and the verbs that are to agree, unless a verb already belongs to the subject before."""
    before, after = verbs_beside(text, subject[0], subject[1], agree) if agree else ([], [])
    if before and (not changes or changes[-1][1] <= before[0][0]):
        changes += before
    changes.append(subject)
    changes += after


def _ending(endings: dict[str, str], ending: str) -> str:
    """The new ending of a contraction, with the apostrophe of the old one ("I’d’ve")."""
    return carry_style(ending.lower(), endings[straight(ending.lower())])


def _case_of_i(text: str, start: int, end: int, new: str) -> str:
    """What replaces "I", which shows no case, in the case that the words around it show."""
    if text[start] == "i":
        return new
    if _shouted(text, start, end):
        return new.upper()
    return capitalised(new) if _starts_sentence(text, start) else new


def _shouted(text: str, start: int, end: int) -> bool:
    """Whether the word before and the two after are in capitals; words of one letter say nothing."""
    if end - start > 2 and text[start:end].isupper():
        return True
    after = text[end : end + 32].split(None, 2)[:2]
    if after and len(after[0]) > 1 and not after[0].isupper():
        return False
    before = [word for word in text[max(0, start - 24) : start].split()[-1:] if word[-1] not in ".!?…"]
    near = [word for word in (*before, *after) if sum(map(str.isalpha, word)) > 1]
    return bool(near) and all(word.isupper() for word in near)


def _starts_sentence(text: str, start: int) -> bool:
    """At the start of the text or of a line, after . ! ? …, or at the start of a quotation."""
    if start == 0 or text[start - 1] in "\"“'‘«":
        return True
    near = text[max(0, start - 12) : start]
    before = near.rstrip(" \t([{*_>-–—•\"“'‘«")
    if not before:
        return True
    if before[-1] in "?!" and near[len(before) : len(before) + 1] in ('"', "'"):
        return False  # "Why?" I said: a question quoted within the sentence
    last = before[-1]
    if last in "”’»)]":
        return before[-2:-1] in tuple(".!?…" if last in ")]" else ".…")
    return last in ".!?…\n\r"


def _is_letter(text: str, start: int, end: int) -> bool:
    """Whether "I" is a numeral, a list mark, an initial or the letter."""
    after, near = text[end : end + 1], max(0, start - 200)
    last = (text[max(0, start - 12) : start].rsplit(None, 1) or ("",))[-1]
    if after == ".":
        initials = _FORMS["initial"].match(text, end)  # "So do I. J. left" is two sentences
        if initials and (initials[1] is None or last.lower() not in _WORDS["asking"]):
            return True
        if text[end + 1 : end + 2] == " " and (start == 0 or text[start - 1] == "\n"):
            return True
    if after == ")":
        opened = text.rfind("(", near, start)
        if opened <= text.rfind(")", near, start) or text[start - 1 : start] == "(":
            return True
    if after == "/" and text[end + 1 : end + 2] in ("O", "o"):
        return True
    if text[start - 1 : start] == "." and start > 1 and text[start - 2].isalpha():
        return text[start - 2] not in "Ii" and (start == 2 or not text[start - 3].isalnum())
    low = last.lower()
    if low not in _COUNTED:
        return False
    follows = _FORMS["word_after"].match(text, end)
    following = straight(follows[1].lower()) if follows else ""
    if low in _WORDS["numbered"]:
        verb = following in _WORDS["finite"] or following in REGULAR or following.endswith("ed")
        return not verb or text[max(0, start - 10) : start].lower() == "world war "
    if low == "letter":
        return following in _WORDS["after_letter"] or not following
    titled = not _WORDS["rulers"].isdisjoint(text[max(0, start - 24) : start].lower().split()[-2:-1])
    reigns = titled or following in _WORDS["reigning"] or not following
    return last[0].isupper() and text[start] == "I" and reigns


def _names_something(text: str, start: int, end: int, word: str) -> bool:
    """Whether "mine" is a pit or a bomb, "me" part of ME/CFS, or "my" part of an exclamation."""
    if word == "my":
        if text[end + 1 : end + 2] not in ("g", "G", "w", "W"):
            return False
        exclaimed = _FORMS["exclaimed"].match(text, end)
        if exclaimed is None or exclaimed[1] is None:
            return exclaimed is not None
        before = text[max(0, start - 12) : start].lower().split()
        return _starts_sentence(text, start) or (bool(before) and before[-1].rstrip(",") in _WORDS["oh"])
    if word == "mine":
        before = text[max(0, start - 12) : start].lower().split()
        after = _FORMS["word_after"].match(text, end)
        pit = bool(before) and before[-1] in _WORDS["pits"]
        return pit or (after is not None and after[1].lower() in _WORDS["tunnels"])
    return word == "me" and text[end : end + 4].upper() == "/CFS"


def _is_or_has(text: str, end: int) -> str:
    """The rest of I'm or I've for he's: "has" before a participle that names no state."""
    after = _FORMS["next"].match(text, end)
    if after is None:
        return "m"
    word = after[1].lower()
    if word == "done":
        return "m" if (after[2] or "with").lower() in ("with", "for") else "ve"
    following = straight((after[2] or "").lower())
    if word == "gone" or word in _WORDS["either"]:
        passive = _WORDS["after_gone" if word == "gone" else "after_passive"]
        return "m" if not following or following in passive else "ve"
    if following in ("by", "under"):
        return "m"
    has = word in _WORDS["participles"] or (word.endswith("ed") and word not in _WORDS["states"])
    return "ve" if has else "m"


def _pairs(text: str) -> list[tuple[int, int, str]]:
    """Where a pair such as he/she stands, and the role it plays; "" where it names forms of one pronoun."""
    out = []
    for found in _FORMS["pair"].finditer(text):
        first, joint, second = found.groups()
        role = "subject" if first is None else _role_of_pair(first.lower(), second.lower())
        if role or joint == "/":
            out.append((*found.span(), role))
    return out


def _role_of_pair(first: str, second: str) -> str:
    roles = {_ROLES[first], _ROLES[second]}
    if roles == {"decide"}:
        return "possessive" if first != second else ""
    if roles == {"decide", "pronoun"}:
        return "pronoun" if "his" in (first, second) else ""
    if roles in ({"decide", "object"}, {"decide", "possessive"}):
        decided = (roles - {"decide"}).pop()
        return decided if "her" in (first, second) or decided == "possessive" else ""
    return roles.pop() if len(roles) == 1 and first != second else ""
