"""Make the gendered words of a text neutral: to they, or without them."""

from functools import cache
from itertools import pairwise
from typing import Final, Literal

from psycheck.text.edits import (
    Change,
    Edit,
    Edited,
    Span,
    address_spans,
    apply,
    capitalised,
    carry_case,
    inside,
    straight,
)
from psycheck.text.gender.main_person import of_main_person
from psycheck.text.gender.names import NEUTRAL_NAMES
from psycheck.text.gender.neighbours import ends_phrase
from psycheck.text.gender.roles import role_of
from psycheck.text.gender.sex_letters import PATTERNS
from psycheck.text.gender.they_verbs import verbs_after_contraction, verbs_to_they
from psycheck.text.gender.words import (
    LABELS,
    PRONOUNS_ONLY,
    Found,
    Scope,
    gendered,
    mixed,
    owns_by_mark,
    runs,
)
from psycheck.text.person import shift_person
from psycheck.text.word_lists import patterns

How = Literal["they", "remove"]

_BY_ROLE: Final = {"object": "them", "possessive": "their", "pronoun": "theirs"}
_FORMS: Final = patterns(PATTERNS["neutral"])
_SPACE: Final = " \t\xa0"
_CLOSING: Final = ".,;:!?)]}…”\n\r"
_SHORT: Final = {"'ll": "will", "'d've": "would have"}


@cache
def neutralise(scope: Scope = PRONOUNS_ONLY, how: How = "they") -> Edit:
    """Replace gendered words in the scope by neutral ones.

    With "they", pronouns become they, them, their … and the verbs beside them are repaired; a "her" whose
    role cannot be decided stays and counts as undecided. With "remove", pronouns and titles are taken out.
    Nouns become neutral ones (mother → parent) and first names those of names.toml either way.
    """

    def edit(text: str) -> Edited:
        found = gendered(text, scope)
        if not found:
            return Edited(text, ())
        takes, undecided = [True] * len(found), 0
        if scope.person == "main":
            takes, unsure = of_main_person(text, scope)
            undecided = sum(unsure)
        names = _names(text, found)
        changes: list[Change] = []
        couples = _couples(text, found) if how == "remove" else []
        for part in _parts(text, found, takes, couples):
            made = _removed(text, part, names) if how == "remove" else _to_they(text, part, names)
            undecided += not made
            changes += made
        return apply(text, _tidy(text, sorted(changes)), undecided)

    return edit


def _parts(text: str, found: list[Found], takes: list[bool], couples: list[list[int]]) -> list[list[Found]]:
    """The gendered words to replace, with those together that are replaced as one: "he/she", "she/her"."""
    gone: set[int] = set()
    out: list[list[Found]] = []
    for run in [*runs(text, found), *_both_plural(text, found), *couples]:
        words = [found[i] for i in run]
        label = text[words[0].start : words[-1].end].lower() in LABELS
        together = label or (mixed(words) and words[0].entry.kind != "name")
        if together and all(takes[i] and i not in gone for i in run):
            gone |= set(run)
            out.append(words)
    single = (at for i, at in enumerate(found) if i not in gone and takes[i])
    return sorted(out + [[at] for at in single if at.entry.gender in ("female", "male")])


def _both_plural(text: str, found: list[Found]) -> list[list[int]]:
    """Where two plurals name both: "men and women" are "people"."""
    return [
        [i, i + 1]
        for i, (one, other) in enumerate(pairwise(found))
        if one.entry.kind == "noun"
        and one.entry.partner == other.word
        and (one.entry.neutral.endswith("s") or one.entry.neutral in ("people", "children"))
        and text[one.end : other.start].lower().split() == ["and"]
    ]


def _couples(text: str, found: list[Found]) -> list[list[int]]:
    """Where two titles share a name, so that they go together: "Mr. and Mrs. Smith"."""
    return [
        [i, i + 1]
        for i, (one, other) in enumerate(pairwise(found))
        if one.entry.kind == other.entry.kind == "title"
        and text[one.end : other.start].lower().removeprefix(".").split() in (["and"], ["&"])
    ]


def _names(text: str, found: list[Found]) -> dict[str, str]:
    """A neutral name for each first name of a text: the one of its pair, or the next that is still free."""
    out: dict[str, str] = {}
    for at in found:
        if at.entry.kind == "name" and at.word not in out:
            first = NEUTRAL_NAMES.index(at.entry.neutral)
            order = NEUTRAL_NAMES[first:] + NEUTRAL_NAMES[:first]
            taken = set(out.values())
            out[at.word] = next((n for n in order if n not in taken and n not in text), at.entry.neutral)
    return out


def _to_they(text: str, part: list[Found], names: dict[str, str]) -> list[Change]:
    """What replaces a word or a pair, with its verbs, in order; nothing where it cannot be decided."""
    one, last = part[0], part[-1]
    start, end = one.start, last.end
    label = LABELS.get(text[start:end].lower()) if len(part) > 1 else None
    if label:
        return [(start, end, _cased(one, label[1]))]
    kinds = {at.entry.kind for at in part}
    if "reflexive" in kinds:
        return [(start, end, _cased(one, "themselves"))]
    if "decide" in kinds:
        form = _they_form(text, part)
        return [(start, end + len(last.ending), _cased(one, form))] if form else []
    if kinds <= {"subject", "pair"}:
        return _subject(text, part)
    if one.entry.kind == "address":
        return [(*_spoken_to(text, start, end), "")]
    if one.entry.group == "sex" and (found := _FORMS["glued"].search(text, max(0, start - 2), end + 2)):
        return [(*found.span(), "")]  # "(34F)" is "(34)", "M/34" is "34"
    new = names.get(one.word, "") or _neutral_noun(text, part)
    if not new:
        following = _FORMS["visible"].search(text, end)
        return [*_article(text, start, following[0] if following else ""), (start, end, "")]
    if one.word in names and owns_by_mark(text, start, end) and not new.endswith("s"):
        end += 1
        new += f"{text[end - 1]}s"  # James' is Sam's
    return [*_article(text, start, new), (start, end, _cased(one, new))]


def _cased(at: Found, new: str) -> str:
    return carry_case(at.written.lstrip("("), new)


def _they_form(text: str, part: list[Found]) -> str:
    words = {at.word for at in part}
    at = part[-1]
    if at.ending:
        return "theirs" if len(part) == 1 and straight(at.written + at.ending).lower() == "her's" else ""
    if len(words) > 1:
        if words & {"him", "them"}:
            return "them"
        return "theirs" if words & {"hers", "theirs"} else "their"
    return _BY_ROLE.get(role_of(text, at.start, at.end), "")


def _subject(text: str, part: list[Found]) -> list[Change]:
    one, last = part[0], part[-1]
    start, end, ending = one.start, last.end, last.ending
    bare = last.word in ("hes", "shes")
    if not ending and not bare:
        before, after = verbs_to_they(text, start, end)
        return [*before, (start, end, _cased(one, "they")), *after]
    if bare or straight(ending).lower() == "'s":
        short = "ve" if _has(text, end + len(ending)) else "re"
        ending = (ending[:1] if ending else "") + (short.upper() if last.written.isupper() else short)
    done = end + len(last.ending)
    return [(start, done, _cased(one, "they") + ending), *verbs_after_contraction(text, done)]


def _has(text: str, end: int) -> bool:
    """Whether the "'s" that ends here is "has"; the shift to the first person, which must say, tells."""
    return shift_person("I")("he's" + text[end : end + 64]).text.startswith("I've")


def _neutral_noun(text: str, part: list[Found]) -> str:
    """The neutral word; none for "female" and "male" before a noun, which does without ("a male nurse")."""
    at = part[0]
    if len(part) == 1 and at.word in ("female", "male", "maternal", "paternal", "feminine", "masculine"):
        after = _FORMS["next"].match(text, at.end)
        if after and not ends_phrase(after[1].lower()):
            return ""
    return at.entry.neutral


def _spoken_to(text: str, start: int, end: int) -> Span:
    """A form of address with its comma: ", sir" or "Madam,"."""
    before = _space_before(text, start)
    if text[max(0, before - 1) : before] == ",":
        return before - 1, end
    return start, end + (text[end : end + 1] == ",")


def _space_before(text: str, start: int) -> int:
    """Where the space before a word begins."""
    while start and text[start - 1] in _SPACE:
        start -= 1
    return start


def _article(text: str, start: int, noun: str) -> list[Change]:
    """Repair "an" before a neutral word: "an aunt" → "a relative"."""
    article = _FORMS["article"].search(text, max(0, start - 4), start)
    if article is None:
        return []
    right = "an" if noun[:1].lower() in tuple("aeiou") else "a"
    if article[1].lower() == right:
        return []
    return [(article.start(1), article.end(1), carry_case(article[1], right))]


def _removed(text: str, part: list[Found], names: dict[str, str]) -> list[Change]:
    """What is left of a word or a pair: nothing, the verb of a contraction, or a neutral noun or name."""
    one, last = part[0], part[-1]
    if one.entry.kind in ("noun", "name", "address"):
        return _to_they(text, part, names)
    end = last.end + len(last.ending)
    end += one.entry.kind == "title" and text[end : end + 1] == "."
    return [(one.start, end, _cased(one, _verb_left(text, part)))]


def _verb_left(text: str, part: list[Found]) -> str:
    """What is left of a contraction without its subject: "is" of "he's"."""
    at = part[-1]
    ending = straight(at.ending.lower())
    if at.entry.kind != "subject" and at.entry.gender != "both":
        return ""
    has = _has(text, at.end + len(at.ending))
    if at.word in ("hes", "shes") or ending == "'s":
        return "has" if has else "is"
    if ending == "'d":
        return "had" if has else "would"
    return _SHORT.get(ending, "")


def _tidy(text: str, changes: list[Change]) -> list[Change]:
    """Remove the space of removed words, too, and give their capital to the next word."""
    out: list[Change] = []
    due = -1
    addresses = address_spans(text)
    for start, end, new in changes:
        if out and start < out[-1][1]:
            continue
        if 0 <= due < start:
            out.append((due, due + 1, text[due].upper()))
        capital = due == start
        due = -1
        if new:
            out.append((start, end, capitalised(new) if capital else new))
            continue
        capital = capital or (text[start].isupper() and not text[start:end].isupper())
        left, right = _room(text, start, end)
        out.append((max(left, out[-1][1] if out else 0), right, ""))
        due = right if capital and text[right : right + 1].islower() and not inside(addresses, right) else -1
    if due >= 0:
        out.append((due, due + 1, text[due].upper()))
    return out


def _room(text: str, start: int, end: int) -> Span:
    """A word with the space that goes with it: at the end of a phrase the one before, else the one after."""
    if text[max(0, start - 1) : start] + text[end : end + 1] in ("()", "[]"):
        start, end = start - 1, end + 1
    if text[max(0, start - 1) : start].isalnum():
        return start, end
    before, after = _space_before(text, start), end
    while after < len(text) and text[after] in _SPACE:
        after += 1
    if before < start and (after == len(text) or text[after] in _CLOSING):
        return before, end
    return start, after
