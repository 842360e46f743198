"""The verbs that change when he or she becomes they: "she feels" → "they feel".

The first verb stands beside the pronoun, or before it in a question. Later ones are joined by a comma, "and",
"but" … and stay with the pronoun until another subject that could have them comes between: one that is
singular, and a person where only people do what the verb says.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from psycheck.text.edits import Change, carry_style, straight
from psycheck.text.gender import clause_words as clause
from psycheck.text.gender.clause_words import LISTS, Word
from psycheck.text.redact.lists import compiled
from psycheck.text.word_lists import read_toml

# A sentence without an end is read no further than this, so that long texts take time in proportion.
_REACH: Final = 600
_FORMS: Final = compiled(read_toml("gender/patterns.toml")["they_verbs"])
_BRACKETS: Final = {"(": ")", "[": "]", "“": "”"}
_ENDS: Final = frozenset(";:!?\n)]”")
_SHORT: Final = frozenset(word[-2:] for word in LISTS["abbreviated"])


class _Other(NamedTuple):
    """Another subject to which a later verb may belong, and the marks that end its clause."""

    person: bool
    ends: tuple[str, ...]
    verb: int


def verbs_to_they(text: str, start: int, end: int) -> tuple[list[Change], list[Change]]:
    """The verbs before and after the he or she at `text[start:end]` that change with it to they."""
    before = text[max(0, start - 16) : start].split()
    verb = straight(before[-1].lstrip("([{*\"“'‘«").lower()) if before else ""
    inverted = verb in clause.AUXILIARIES or verb in LISTS["either_number"]
    question = _FORMS["before"].search(text, max(0, start - 32), start) if inverted else None
    if question and verb in clause.AUXILIARIES:
        words, ahead = _words(text, end), (question[1] or "").lower()
        if ahead in clause.SUBJECTS:
            return [], _after_who(text, words)
        if not _states(words, ahead, verb):
            comma = text[max(0, start - 16) : question.start(2)].rstrip().endswith(",")
            later = _later(text, words, -1, "") if comma and clause.text_at(words, 0) == "," else []
            return _with_they(text, *question.span(2)), later
    elif question and verb in LISTS["either_number"] and not _states(_words(text, end), "", "is"):
        in_may = question[1] and question[2].istitle()
        return [], _verbs_after(text, start, end) if in_may else []
    return [], _verbs_after(text, start, end)


def verbs_after_contraction(text: str, end: int) -> list[Change]:
    """Further verbs after a contraction that ends here: "he's sad and doesn't" → "they're sad and don't"."""
    return _later(text, _words(text, end), -1, "") if _joins(text, end) else []


def _verbs_after(text: str, start: int, end: int) -> list[Change]:
    """The first verb after the pronoun and further ones."""
    near = _FORMS["nearest"].match(text, end)
    if near and straight(near[1].lower()) in clause.VERB_FORMS and not _joins(text, near.end()):
        # Most sentences have one verb, beside the pronoun, and need no closer look.
        return _with_they(text, *near.span(1))
    words = _words(text, end)
    who = _after_who(text, words)
    first = -1 if who and words[0].text == "who" else _first_verb(words)
    if first < 0:
        return who
    out = who + _with_they(text, words[first].start, words[first].end)
    if not _joins(text, words[first].end):
        return out
    lead = _lead(text, start)
    stop = "him" if text[start:end].lower() == "he" and lead in LISTS["saying"] else "-"
    return out + _later(text, words, first, lead, stop)


def _joins(text: str, end: int) -> bool:
    """Whether a verb may be joined in the rest of the sentence, at a glance."""
    last = min(len(text), end + _REACH)
    for stop in _FORMS["stop"].finditer(text, end, last):
        at = stop.start()
        if text[at] != "." or (text[at + 1 : at + 2].isspace() and text[at - 2 : at].lower() not in _SHORT):
            last = at
            break
    joiner = _FORMS["joiner"].search(text, end, last)
    return joiner is not None and _FORMS["singular"].search(text, joiner.end(), last) is not None


def _words(text: str, end: int) -> list[Word]:
    """The words of the sentence that goes on here, and its commas, without what is in brackets or quoted."""
    out: list[Word] = []
    at = end
    for found in _FORMS["token"].finditer(text, end, end + _REACH):
        if found.start() < at:
            continue
        token, at = found[0], found.end()
        if token[0].isalnum():
            low = token.lower()
            word = straight(low)
            out.append(Word(word, found.start(), at, token != low and token[1:] == low[1:]))
            if word in LISTS["he_or_she"] and out[0].text not in (",", "–"):
                break
        elif token == ",":
            out.append(Word(",", at - 1, at, False))
        elif token in _ENDS or (token == "." and _full_stop(text, at, out)):
            break
        elif token in _BRACKETS or (token == '"' and text[at - 2 : at - 1].isspace()):
            closing = text.find(_BRACKETS.get(token, token), at, end + _REACH)
            if closing < 0:
                break
            at = closing + 1
        elif token == '"':
            break
        elif token != ".":
            out.append(Word("&" if token == "&" else "–", found.start(), at, False))
    return out


def _full_stop(text: str, at: int, before: Sequence[Word]) -> bool:
    follows = text[at : at + 1]
    if follows.isalnum() and not follows.isupper():
        return False
    return not (before and before[-1].end == at - 1 and before[-1].text in LISTS["abbreviated"])


def _states(words: Sequence[Word], ahead: str, verb: str) -> bool:
    """Whether the verb before the pronoun does not ask: "the problem is she drinks"."""
    if verb not in ("is", "was"):
        return False
    at, _ = clause.skip_adverbs(words, 0)
    following = clause.text_at(words, at)
    return ahead in LISTS["stated"] or following in clause.FINITE_FORMS or following in LISTS["either_number"]


def _lead(text: str, start: int) -> str:
    """What leads to the pronoun: "head" for a noun that its clause describes, a comma, or the word before."""
    head = _FORMS["head"].search(text, max(0, start - 64), start)
    if head and not clause.ends_no_noun((head[1] or "").lower()):
        return "head"
    before = _FORMS["lead"].search(text, max(0, start - 24), start)
    return before[1].lower() if before else ""


def _after_who(text: str, words: Sequence[Word]) -> list[Change]:
    """The verb in "they who laugh"."""
    comma = bool(words) and words[0].text == ","
    if len(words) < 2 or words[comma].text != "who":
        return []
    at, _ = clause.skip_adverbs(words, comma + 1)
    return _with_they(text, words[at].start, words[at].end) if at < len(words) else []


def _first_verb(words: Sequence[Word]) -> int:
    """Where the verb of the pronoun stands, past adverbs, "herself" and what commas set off; or -1."""
    at, _ = clause.skip_adverbs(words, 0)
    while at < len(words) and words[at].text in ("himself", "herself", "themselves"):
        at, _ = clause.skip_adverbs(words, at + 1)
    if at >= len(words):
        return -1
    mark = words[at].text
    if mark in (",", "–"):
        if at + 1 < len(words) and words[at + 1].text in LISTS["joining"]:
            return -1
        for closing in range(at + 1, len(words)):
            verb, _ = clause.skip_adverbs(words, closing + 1)
            if words[closing].text == mark and verb < len(words):
                if words[verb].text in clause.VERB_FORMS or clause.is_past(words[verb].text):
                    return verb
                if words[verb].text in clause.SUBJECTS:
                    return -1
        return -1
    if (
        mark in LISTS["joining"]
        or mark in LISTS["prepositions"]
        or mark in LISTS["determiners"]
        or mark in LISTS["relative"]
    ):
        return -1
    known = clause.plain_form(mark) or mark in LISTS["either_number"] or clause.is_past(mark)
    if not known and at + 1 < len(words) and words[at + 1].text in clause.FINITE_FORMS:
        return at + 1 if clause.may_be_finite(words[at + 1].text) else at
    return at


def _later(text: str, words: Sequence[Word], first: int, lead: str, stop: str = "-") -> list[Change]:
    """Further verbs of the subject in its sentence: "reports poor sleep and denies pain".

    A verb with `stop` as its object is not among them: "My aunt thinks he is ill and wants him seen".
    """
    out: list[Change] = []
    if _only_says(words, first, lead):
        return out
    theirs = at = first + 1
    since = at  # where the subject of a verb that comes next may begin
    opener = words[first].text if first >= 0 and words[first].text in LISTS["saying"] else ""
    opened = first
    other: _Other | None = None
    while at < len(words):
        word = words[at].text
        if word in LISTS["he_or_she"]:
            break
        if word == "," or word in LISTS["joining"]:
            verb, bare, adverb = _next_joined(words, at)
            if verb >= len(words):
                break
            parallel = clause.skip_adverbs(words, theirs, particles=True)[0] >= at and not other
            continues = bare and _continues(words, verb)
            if not clause.is_verb(
                words, verb, theirs, at, parallel=parallel, adverb=adverb, continues=continues
            ):
                since, opener = verb, ""
                at = max(verb, at + 1)
                if words[verb].text in clause.FINITE_FORMS:
                    at = verb + 1
                continue
            following = clause.text_at(words, verb + 1)
            if (
                words[verb].text in clause.AUXILIARIES and following in LISTS["he_or_she"]
            ) or following == stop:
                break
            if bare and not continues and _is_anothers(words, verb, lead):
                break
            if other and word in other.ends and not (bare and other.verb == at - 1):
                other = None
            # "…, does it?", "and neither does her sister"
            turned = words[verb - 1].text in LISTS["turning"] and following in LISTS["determiners"]
            asks = words[verb].text in clause.AUXILIARIES and (
                turned or (following in clause.SUBJECTS and following not in ("this", "that"))
            )
            mine = other is None or (not other.person and clause.is_personal(words, verb))
            if asks or not mine or (lead == "head" and not parallel):
                other = other._replace(verb=verb) if other else _Other(True, (), verb)
            else:
                out += _with_they(text, words[verb].start, words[verb].end)
                other, theirs = None, verb + 1
            at = since = verb + 1
            opener, opened = (words[verb].text if words[verb].text in LISTS["saying"] else ""), verb
            continue
        if word in LISTS["relative"] or word in LISTS["opening"]:
            opener, opened, since = word, at, at + 1
        elif word in clause.TELLING or (opener and clause.is_past(word)):
            span = [word for word in words[since:at] if word.text not in ("not", "–")]
            is_object = not span and not opener and lead != "head" and word not in clause.AUXILIARIES
            found = None if is_object else _subject_of(words, at, span, opener, opened)
            if found or (span and (word in LISTS["plural"] or word in LISTS["either_number"])):
                other = found or other
                opener, opened, since = (word if word in LISTS["saying"] else ""), at, at + 1
        at += 1
    return out


def _next_joined(words: Sequence[Word], at: int) -> tuple[int, bool, bool]:
    """The word that is joined here, past adverbs; whether by a comma alone, and with an adverb between."""
    bare, adverb = True, False
    while at < len(words):
        if words[at].text in LISTS["joining"]:
            bare, adverb = False, adverb or words[at].text == "then"
        elif words[at].text not in (",", "–"):
            after, known = clause.skip_adverbs(words, at)
            if after == at:
                break
            adverb, at = adverb or known, after
            continue
        at += 1
    return at, bare, adverb


def _only_says(words: Sequence[Word], first: int, lead: str) -> bool:
    """Whether the pronoun's clause is put in between: "The pain, she says, is constant"."""
    comma, _ = clause.skip_adverbs(words, first + 1, particles=True)
    if first < 0 or lead not in (",", "as") or comma >= len(words) or words[comma].text != ",":
        return False
    verb, bare, _ = _next_joined(words, comma)
    return (
        bare
        and verb < len(words)
        and words[verb].text in clause.FINITE_FORMS
        and (lead == "as" or words[first].text in LISTS["saying"])
    )


def _continues(words: Sequence[Word], verb: int) -> bool:
    """Whether a list of verbs goes on to an "and": "paints, bakes and plays"."""
    for at in range(verb + 1, len(words)):
        if words[at].text in LISTS["he_or_she"]:
            return False
        if words[at].text in LISTS["joining"]:
            after, _ = clause.skip_adverbs(words, at + 1)
            if after < len(words) and clause.surely_verb(words, after):
                return True
    return False


def _is_anothers(words: Sequence[Word], verb: int, lead: str) -> bool:
    """Whether a verb after a mere comma goes back to before the pronoun, or has its subject after it."""
    if lead == "head" or lead in LISTS["opening"] or lead in LISTS["relative"]:
        return True
    after = words[verb + 1] if verb + 1 < len(words) else None
    return (
        words[verb].text in LISTS["saying"]
        and after is not None
        and (
            after.capital
            or (after.text in LISTS["determiners"] and clause.names_person(words[verb + 1 : verb + 4]))
        )
    )


def _subject_of(
    words: Sequence[Word], at: int, span: Sequence[Word], opener: str, opened: int
) -> _Other | None:
    """The other subject, if the word at `at` is its verb and a later verb in -s may be its too."""
    word = words[at].text
    before = words[opened - 1] if opened > 0 else None
    relative = opener in LISTS["relative"] or (opener == "that" and not span)
    closes: tuple[str, ...] = ()
    if relative and before is not None and before.text == ",":
        closes = (",",)
    elif opener in LISTS["opening"] and opener not in ("that", "so", "than", "like"):
        closes = (",", "but", "yet")
    person = clause.names_person(span) or (
        not span and (opener == "who" or bool(before and clause.names_person([before])))
    )
    if "'" in word and word in LISTS["third"]:
        return _Other(word.startswith(("who", "every")), closes, at)
    if word in clause.FINITE_FORMS:
        if not clause.may_be_finite(word, span, opener, relative=relative):
            return None
        return _Other(
            person or (word not in clause.AUXILIARIES and clause.is_personal(words, at)), closes, at
        )
    if (word in LISTS["either_number"] and not words[at].capital) or (
        opener and clause.is_past(word) and (relative or _opens(span))
    ):
        if not span and not relative:
            return None
        return None if clause.plural(span or ([before] if before else [])) else _Other(person, closes, at)
    return None


def _opens(span: Sequence[Word]) -> bool:
    """Whether a stretch of words begins as a subject does."""
    return bool(span) and (
        span[0].text in LISTS["determiners"] or span[0].text in clause.SUBJECTS or span[0].capital
    )


def _with_they(text: str, start: int, end: int) -> list[Change]:
    """The change of the verb at `text[start:end]` to its form beside they; none if it has no other."""
    word = text[start:end]
    plain = clause.plain_form(straight(word.lower()))
    return [(start, end, carry_style(word, plain))] if plain else []
