"""The verbs of he or she that follow it to they: "she feels" → "they feel".

The first verb stands beside the pronoun, or before it in a question. Later ones are joined by a comma, "and",
"but" … and stay with the pronoun until another subject that could have them comes between: one that is
singular, and a person where only people do what the verb says.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from psycheck.text.edits import Change, carry_case, straight
from psycheck.text.gender.clause_words import (
    ABBREVIATED,
    AUXILIARIES,
    DETERMINERS,
    EITHER_NUMBER,
    FINITE_FORMS,
    INVERTED,
    JOINING,
    OPENING,
    PLURAL_VERBS,
    PREPOSITIONS,
    RELATIVE,
    SAYING,
    STATED,
    SUBJECTS,
    TELLING,
    THIRD,
    TURNING,
    VERB_FORMS,
    Word,
    ends_no_noun,
    is_past,
    is_personal,
    is_verb,
    may_be_finite,
    names_person,
    plain_form,
    plural,
    skip_adverbs,
    surely_verb,
)

_TOKEN: Final = re.compile(
    r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|\d[\d.,:/%]*(?<![.,:])|\s[-–—]\s|[,.;:!?()\[\]\n\"“”—&]"
)
# A sentence without an end is read no further than this, so that long texts take time in proportion.
_REACH: Final = 600
_BRACKETS: Final = {"(": ")", "[": "]", "“": "”"}
_ENDS: Final = frozenset(";:!?\n)]”")
_BEFORE: Final = re.compile(r"(?:([a-z'’]+)\s+)?(?<![\w'’-])([a-z]+(?:['’]t)?)\s+$", re.I)
_NEAREST: Final = re.compile(r"[^\S\n]+([a-z]+(?:['’]t)?)(?![\w'’-])", re.I)
_STOP: Final = re.compile(r"[.!?;:\n]")
_SHORT: Final = frozenset(word[-2:] for word in ABBREVIATED)
_JOINER: Final = re.compile(r"[,&]|\s(?:and|but|or|then|nor|yet|plus|n)\s", re.I)
_SINGULAR: Final = re.compile(r"(?:s|nt|['’]t)(?!\w)", re.I)
_LEAD: Final = re.compile(r"([\w'’]+|,)\s+$")
# "The man she married", "everything he says": what comes later is said of the man.
_HEAD: Final = re.compile(
    r"(?:^|[.!?;:,\n]\s*|\b(?:and|but|that|because|if)\s+)"
    r"(?:(?:the|every|each|any|all|that|this|a|an|my|our)\s+(?:[\w-]+\s+){0,2}([\w-]+)"
    r"|what|whatever|all|everything|anything|something|nothing)\s+$",
    re.I,
)


class _Other(NamedTuple):
    """Another subject to which a later verb may belong, and the marks that end its clause."""

    person: bool
    ends: tuple[str, ...]
    verb: int


def verbs_to_they(text: str, start: int, end: int) -> tuple[list[Change], list[Change]]:
    """The verbs before and after the he or she at `text[start:end]` that change with it to they."""
    before = text[max(0, start - 16) : start].split()
    verb = straight(before[-1].lstrip("([{*\"“'‘«").lower()) if before else ""
    asks = verb in AUXILIARIES or verb in EITHER_NUMBER
    asked = _BEFORE.search(text, max(0, start - 32), start) if asks else None
    if asked and verb in AUXILIARIES:
        words, ahead = _words(text, end), (asked[1] or "").lower()
        if ahead in SUBJECTS:
            return [], _after_who(text, words)
        if not _states(words, ahead, verb):
            tag = (
                bool(words)
                and words[0].said == ","
                and text[max(0, start - 16) : asked.start(2)].rstrip().endswith(",")
            )
            later = _later(text, words, -1, "") if tag else []
            return [_change(text, asked.start(2), asked.end(2), AUXILIARIES[verb])], later
    elif asked and verb in EITHER_NUMBER and not _states(_words(text, end), "", "is"):
        in_may = asked[1] and asked[2].istitle()
        return [], _verbs_after(text, start, end) if in_may else []
    return [], _verbs_after(text, start, end)


def verbs_after_contraction(text: str, end: int) -> list[Change]:
    """Further verbs after a contraction that ends here: "he's sad and doesn't" → "they're sad and don't"."""
    return _later(text, _words(text, end), -1, "") if _joins(text, end) else []


def _verbs_after(text: str, start: int, end: int) -> list[Change]:
    """The first verb after the pronoun and further ones."""
    near = _NEAREST.match(text, end)
    said = straight(near[1].lower()) if near else ""
    if near and said in VERB_FORMS and not _joins(text, near.end()):
        # Most sentences have one verb, beside the pronoun, and need no closer look.
        plain = plain_form(said)
        return [_change(text, near.start(1), near.end(1), plain)] if plain else []
    words = _words(text, end)
    who = _after_who(text, words)
    first = -1 if who and words[0].said == "who" else _first_verb(words)
    if first < 0:
        return who
    said = plain_form(words[first].said)
    out = [*who, _change(text, words[first].start, words[first].end, said)] if said else who
    if not _joins(text, words[first].end):
        return out
    lead = _lead(text, start)
    told = "him" if text[start:end].lower() == "he" and lead in SAYING else "-"
    return out + _later(text, words, first, lead, told)


def _joins(text: str, end: int) -> bool:
    """Whether a verb may be joined in the rest of the sentence, at a glance."""
    last = min(len(text), end + _REACH)
    for stop in _STOP.finditer(text, end, last):
        at = stop.start()
        if text[at] != "." or (text[at + 1 : at + 2].isspace() and text[at - 2 : at].lower() not in _SHORT):
            last = at
            break
    joiner = _JOINER.search(text, end, last)
    return joiner is not None and _SINGULAR.search(text, joiner.end(), last) is not None


def _words(text: str, end: int) -> list[Word]:
    """The words of the sentence that goes on here, and its commas, without what is in brackets or quoted."""
    out: list[Word] = []
    at = end
    for found in _TOKEN.finditer(text, end, end + _REACH):
        if found.start() < at:
            continue
        said, at = found[0], found.end()
        if said[0].isalnum():
            low = said.lower()
            word = straight(low)
            out.append(Word(word, found.start(), at, said != low and said[1:] == low[1:]))
            if word in INVERTED and out[0].said not in (",", "–"):
                break
        elif said == ",":
            out.append(Word(",", at - 1, at, False))
        elif said in _ENDS or (said == "." and _full_stop(text, at, out)):
            break
        elif said in _BRACKETS or (said == '"' and text[at - 2 : at - 1].isspace()):
            closing = text.find(_BRACKETS.get(said, said), at, end + _REACH)
            if closing < 0:
                break
            at = closing + 1
        elif said == '"':
            break
        elif said != ".":
            out.append(Word("&" if said == "&" else "–", found.start(), at, False))
    return out


def _full_stop(text: str, at: int, before: Sequence[Word]) -> bool:
    follows = text[at : at + 1]
    if follows.isalnum() and not follows.isupper():
        return False
    return not (before and before[-1].end == at - 1 and before[-1].said in ABBREVIATED)


def _states(words: Sequence[Word], ahead: str, verb: str) -> bool:
    """Whether the verb before the pronoun is no question: "the problem is she drinks"."""
    if verb not in ("is", "was"):
        return False
    at, _ = skip_adverbs(words, 0)
    following = words[at].said if at < len(words) else ""
    return ahead in STATED or following in FINITE_FORMS or following in EITHER_NUMBER


def _lead(text: str, start: int) -> str:
    """What leads to the pronoun: "head" for a noun that its clause describes, a comma, or the word before."""
    head = _HEAD.search(text, max(0, start - 64), start)
    if head and not ends_no_noun((head[1] or "").lower()):
        return "head"
    before = _LEAD.search(text, max(0, start - 24), start)
    return before[1].lower() if before else ""


def _after_who(text: str, words: Sequence[Word]) -> list[Change]:
    """The verb in "they who laugh"."""
    comma = bool(words) and words[0].said == ","
    if len(words) < 2 or words[comma].said != "who":
        return []
    at, _ = skip_adverbs(words, comma + 1)
    said = plain_form(words[at].said) if at < len(words) else ""
    return [_change(text, words[at].start, words[at].end, said)] if said else []


def _first_verb(words: Sequence[Word]) -> int:
    """Where the verb of the pronoun stands, past adverbs, "herself" and what commas set off; or -1."""
    at, _ = skip_adverbs(words, 0)
    while at < len(words) and words[at].said in ("himself", "herself", "themselves"):
        at, _ = skip_adverbs(words, at + 1)
    if at >= len(words):
        return -1
    mark = words[at].said
    if mark in (",", "–"):
        if at + 1 < len(words) and words[at + 1].said in JOINING:
            return -1
        for closing in range(at + 1, len(words)):
            verb, _ = skip_adverbs(words, closing + 1)
            if words[closing].said == mark and verb < len(words):
                if words[verb].said in VERB_FORMS or is_past(words[verb].said):
                    return verb
                if words[verb].said in SUBJECTS:
                    return -1
        return -1
    if mark in JOINING or mark in PREPOSITIONS or mark in DETERMINERS or mark in RELATIVE:
        return -1
    known = plain_form(mark) or mark in EITHER_NUMBER or is_past(mark)
    if not known and at + 1 < len(words) and words[at + 1].said in FINITE_FORMS:
        return at + 1 if may_be_finite(words[at + 1].said) else at
    return at


def _later(text: str, words: Sequence[Word], first: int, lead: str, told: str = "-") -> list[Change]:
    """Further verbs of the subject in its sentence: "reports poor sleep and denies pain".

    A verb with `told` as its object is not among them: "My aunt thinks he is ill and wants him seen".
    """
    out: list[Change] = []
    if _only_says(words, first, lead):
        return out
    theirs = at = first + 1
    since = at  # where the subject of a verb that comes next may begin
    opener = words[first].said if first >= 0 and words[first].said in SAYING else ""
    opened = first
    other: _Other | None = None
    while at < len(words):
        said = words[at].said
        if said in INVERTED:
            break
        if said == "," or said in JOINING:
            verb, joined = _next_joined(words, at)
            if verb >= len(words):
                break
            parallel = skip_adverbs(words, theirs, particles=True)[0] >= at and not other
            continues = joined.bare and _continues(words, verb)
            if not is_verb(
                words, verb, theirs, at, parallel=parallel, adverb=joined.adverb, continues=continues
            ):
                since, opener = verb, ""
                at = max(verb, at + 1)
                if words[verb].said in FINITE_FORMS:
                    at = verb + 1
                continue
            following = words[verb + 1].said if verb + 1 < len(words) else ""
            if (words[verb].said in AUXILIARIES and following in INVERTED) or following == told:
                break
            if joined.bare and not continues and _is_anothers(words, verb, lead):
                break
            if other and said in other.ends and not (joined.bare and other.verb == at - 1):
                other = None
            # "…, does it?", "and neither does her sister"
            turned = words[verb - 1].said in TURNING and following in DETERMINERS
            asks = words[verb].said in AUXILIARIES and (
                turned or (following in SUBJECTS and following not in ("this", "that"))
            )
            mine = other is None or (not other.person and is_personal(words, verb))
            if asks or not mine or (lead == "head" and not parallel):
                other = other._replace(verb=verb) if other else _Other(True, (), verb)
            else:
                out.append(_change(text, words[verb].start, words[verb].end, plain_form(words[verb].said)))
                other, theirs = None, verb + 1
            at = since = verb + 1
            opener, opened = (words[verb].said if words[verb].said in SAYING else ""), verb
            continue
        if said in RELATIVE or said in OPENING:
            opener, opened, since = said, at, at + 1
        elif said in TELLING or (opener and is_past(said)):
            span = [word for word in words[since:at] if word.said not in ("not", "–")]
            is_object = not span and not opener and lead != "head" and said not in AUXILIARIES
            found = None if is_object else _subject_of(words, at, span, opener, opened)
            if found or (span and (said in PLURAL_VERBS or said in EITHER_NUMBER)):
                other = found or other
                opener, opened, since = (said if said in SAYING else ""), at, at + 1
        at += 1
    return out


class _Joined(NamedTuple):
    """How a word is joined to what is before it: by a comma alone, with an adverb between."""

    bare: bool
    adverb: bool


def _next_joined(words: Sequence[Word], at: int) -> tuple[int, _Joined]:
    """The word that a comma or a conjunction joins, past adverbs and what stands between two commas."""
    bare, adverb = True, False
    while at < len(words):
        if words[at].said in JOINING:
            bare, adverb = False, adverb or words[at].said == "then"
        elif words[at].said not in (",", "–"):
            after, known = skip_adverbs(words, at)
            if after == at:
                break
            adverb, at = adverb or known, after
            continue
        at += 1
    return at, _Joined(bare, adverb)


def _only_says(words: Sequence[Word], first: int, lead: str) -> bool:
    """Whether the pronoun's clause is put in between: "The pain, she says, is constant"."""
    comma, _ = skip_adverbs(words, first + 1, particles=True)
    if first < 0 or lead not in (",", "as") or comma >= len(words) or words[comma].said != ",":
        return False
    verb, joined = _next_joined(words, comma)
    return (
        joined.bare
        and verb < len(words)
        and words[verb].said in FINITE_FORMS
        and (lead == "as" or words[first].said in SAYING)
    )


def _continues(words: Sequence[Word], verb: int) -> bool:
    """Whether a list of verbs goes on to an "and": "paints, bakes and plays"."""
    for at in range(verb + 1, len(words)):
        if words[at].said in INVERTED:
            return False
        if words[at].said in JOINING:
            after, _ = skip_adverbs(words, at + 1)
            if after < len(words) and surely_verb(words, after):
                return True
    return False


def _is_anothers(words: Sequence[Word], verb: int, lead: str) -> bool:
    """Whether a verb after a mere comma goes back to before the pronoun, or has its subject after it."""
    if lead == "head" or lead in OPENING or lead in RELATIVE:
        return True
    after = words[verb + 1] if verb + 1 < len(words) else None
    return (
        words[verb].said in SAYING
        and after is not None
        and (after.capital or (after.said in DETERMINERS and names_person(words[verb + 1 : verb + 4])))
    )


def _subject_of(
    words: Sequence[Word], at: int, span: Sequence[Word], opener: str, opened: int
) -> _Other | None:
    """The other subject, if the word at `at` is its verb and a later verb in -s may be its too."""
    said = words[at].said
    before = words[opened - 1] if opened > 0 else None
    relative = opener in RELATIVE or (opener == "that" and not span)
    closes: tuple[str, ...] = ()
    if relative and before is not None and before.said == ",":
        closes = (",",)
    elif opener in OPENING and opener not in ("that", "so", "than", "like"):
        closes = (",", "but", "yet")
    person = names_person(span) or (not span and (opener == "who" or bool(before and names_person([before]))))
    if "'" in said and said in THIRD:
        return _Other(said.startswith(("who", "every")), closes, at)
    if said in FINITE_FORMS:
        if not may_be_finite(said, span, opener, relative=relative):
            return None
        return _Other(person or (said not in AUXILIARIES and is_personal(words, at)), closes, at)
    if (said in EITHER_NUMBER and not words[at].capital) or (
        opener and is_past(said) and (relative or _opens(span))
    ):
        if not span and not relative:
            return None
        return None if plural(span or ([before] if before else [])) else _Other(person, closes, at)
    return None


def _opens(span: Sequence[Word]) -> bool:
    """Whether a stretch of words begins as a subject does."""
    return bool(span) and (span[0].said in DETERMINERS or span[0].said in SUBJECTS or span[0].capital)


def _change(text: str, start: int, end: int, said: str) -> Change:
    word = text[start:end]
    return start, end, carry_case(word, said.replace("'", "’") if "’" in word else said)
