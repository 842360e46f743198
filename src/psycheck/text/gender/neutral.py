"""Make the gendered words of a text neutral: to they, or without them."""

from functools import cache
from itertools import pairwise
from typing import Final, Literal

from psycheck.text.edits import Change, Edit, Edited, Span, apply, carry_case, straight
from psycheck.text.gender.entries import LABELS
from psycheck.text.gender.main_person import of_main_person
from psycheck.text.gender.names import NEUTRAL_NAMES
from psycheck.text.gender.neighbours import ends_phrase
from psycheck.text.gender.removal import space_before, tidied
from psycheck.text.gender.roles import role_of
from psycheck.text.gender.scope import PRONOUNS_ONLY, Scope
from psycheck.text.gender.sex_letters import PATTERNS
from psycheck.text.gender.they_verbs import verbs_after_contraction, verbs_to_they
from psycheck.text.gender.words import Found, gendered, mixed, owns_by_mark, runs
from psycheck.text.person import shift_person
from psycheck.text.word_lists import patterns

How = Literal["they", "remove"]

_BY_ROLE: Final = {"object": "them", "possessive": "their", "pronoun": "theirs"}
_FORMS: Final = patterns(PATTERNS["neutral"])
_VERB_OF_ENDING: Final = {"'ll": "will", "'d've": "would have"}
_ADJECTIVES: Final = ("female", "male", "maternal", "paternal", "feminine", "masculine")
_IRREGULAR_PLURALS: Final = ("people", "children")


@cache
def neutralise(scope: Scope = PRONOUNS_ONLY, how: How = "they") -> Edit:
    """Replace gendered words in the scope by neutral ones.

    With "they", pronouns become they, them, their … and the verbs beside them are repaired; a "her" whose
    role cannot be decided stays and counts as undecided. With "remove", pronouns and titles are taken out.
    Nouns become neutral ones (mother → parent) and first names those of names.toml either way.
    """

    def edit(text: str) -> Edited:
        words = gendered(text, scope)
        if not words:
            return Edited(text, ())
        replaced = [True] * len(words)
        undecided = 0
        if scope.person == "main":
            replaced, unsure = of_main_person(text, scope)
            undecided = sum(unsure)

        names = _neutral_names(text, words)
        couples = _couples(text, words) if how == "remove" else []
        changes: list[Change] = []
        for part in _parts(text, words, replaced, couples):
            part_changes = _removed(text, part, names) if how == "remove" else _to_they(text, part, names)
            if not part_changes:
                undecided += 1
            changes += part_changes
        return apply(text, tidied(text, sorted(changes)), undecided)

    return edit


def _parts(
    text: str, words: list[Found], replaced: list[bool], couples: list[list[int]]
) -> list[list[Found]]:
    """The gendered words to replace, with those together that are replaced as one: "he/she", "she/her"."""
    joined: set[int] = set()
    parts: list[list[Found]] = []
    for run in [*runs(text, words), *_both_plural(text, words), *couples]:
        is_free = all(replaced[at] and at not in joined for at in run)
        part = [words[at] for at in run]
        if is_free and _replaced_as_one(text, part):
            joined.update(run)
            parts.append(part)

    for at, word in enumerate(words):
        if at not in joined and replaced[at] and word.entry.gender in ("female", "male"):
            parts.append([word])
    return sorted(parts)


def _replaced_as_one(text: str, part: list[Found]) -> bool:
    """True for a label ("she/her"), and for words that name both genders; "Anna or Ben" are two people."""
    if text[part[0].start : part[-1].end].lower() in LABELS:
        return True
    return mixed(part) and part[0].entry.kind != "name"


def _both_plural(text: str, words: list[Found]) -> list[list[int]]:
    """Where two plurals name both: "men and women" are "people"."""
    pairs = []
    for at, (left, right) in enumerate(pairwise(words)):
        if left.entry.kind != "noun" or left.entry.partner != right.word:
            continue
        neutral = left.entry.neutral
        is_plural = neutral.endswith("s") or neutral in _IRREGULAR_PLURALS
        if is_plural and text[left.end : right.start].lower().split() == ["and"]:
            pairs.append([at, at + 1])
    return pairs


def _couples(text: str, words: list[Found]) -> list[list[int]]:
    """Where two titles share a name, so that they go together: "Mr. and Mrs. Smith"."""
    couples = []
    for at, (left, right) in enumerate(pairwise(words)):
        if left.entry.kind != "title" or right.entry.kind != "title":
            continue
        between = text[left.end : right.start].lower().removeprefix(".").split()
        if between in (["and"], ["&"]):
            couples.append([at, at + 1])
    return couples


def _neutral_names(text: str, words: list[Found]) -> dict[str, str]:
    """A neutral name for each first name of a text: the one of its pair, or the next that is still free."""
    names: dict[str, str] = {}
    for word in words:
        if word.entry.kind != "name" or word.word in names:
            continue
        first = NEUTRAL_NAMES.index(word.entry.neutral)
        order = NEUTRAL_NAMES[first:] + NEUTRAL_NAMES[:first]
        used = set(names.values())
        free_names = (name for name in order if name not in used and name not in text)
        names[word.word] = next(free_names, word.entry.neutral)
    return names


def _to_they(text: str, part: list[Found], names: dict[str, str]) -> list[Change]:
    """What replaces a word or a pair, with its verbs, in order; nothing where it cannot be decided."""
    first, last = part[0], part[-1]
    start, end = first.start, last.end
    label = LABELS.get(text[start:end].lower()) if len(part) > 1 else None
    if label:
        _, neutral_label = label
        return [(start, end, _cased(first, neutral_label))]

    kinds = {word.entry.kind for word in part}
    if "reflexive" in kinds:
        return [(start, end, _cased(first, "themselves"))]
    if "decide" in kinds:
        form = _they_form(text, part)
        return [(start, end + len(last.ending), _cased(first, form))] if form else []
    if kinds <= {"subject", "pair"}:
        return _subject_to_they(text, part)
    if first.entry.kind == "address":
        return [(*_with_comma(text, start, end), "")]
    return _noun_or_name(text, part, names)


def _noun_or_name(text: str, part: list[Found], names: dict[str, str]) -> list[Change]:
    """What replaces a noun, a title, a first name or a letter for the sex, and the article before it."""
    first = part[0]
    start, end = first.start, part[-1].end
    if first.entry.group == "sex":
        # "(34F)" is "(34)", "M/34" is "34"
        glued = _FORMS["glued"].search(text, max(0, start - 2), end + 2)
        if glued:
            return [(*glued.span(), "")]

    neutral = names.get(first.word, "") or _neutral_noun(text, part)
    if not neutral:
        following = _FORMS["visible"].search(text, end)
        return [*_article(text, start, following[0] if following else ""), (start, end, "")]
    if first.word in names and owns_by_mark(text, start, end) and not neutral.endswith("s"):
        # James' is Sam's
        neutral += f"{text[end]}s"
        end += 1
    return [*_article(text, start, neutral), (start, end, _cased(first, neutral))]


def _cased(word: Found, new: str) -> str:
    """The new word in the case of the old one, which may be "(s)he"."""
    return carry_case(word.written.lstrip("("), new)


def _they_form(text: str, part: list[Found]) -> str:
    """Them, their or theirs for her, his and pairs of them; "" if it cannot be decided."""
    words = {word.word for word in part}
    last = part[-1]
    if last.ending:
        is_hers = len(part) == 1 and straight(last.written + last.ending).lower() == "her's"
        return "theirs" if is_hers else ""
    # In a pair the word that has one role shows it: "him/her", "his/hers".
    if len(words) > 1:
        if words & {"him", "them"}:
            return "them"
        return "theirs" if words & {"hers", "theirs"} else "their"
    return _BY_ROLE.get(role_of(text, last.start, last.end), "")


def _subject_to_they(text: str, part: list[Found]) -> list[Change]:
    """They for he or she, or for its contraction, with the verbs that change."""
    first, last = part[0], part[-1]
    start, end = first.start, last.end
    ending = last.ending
    without_mark = last.word in ("hes", "shes")
    if not ending and not without_mark:
        before, after = verbs_to_they(text, start, end)
        return [*before, (start, end, _cased(first, "they")), *after]

    contraction_end = end + len(ending)
    if without_mark or straight(ending).lower() == "'s":
        short = "ve" if _has(text, contraction_end) else "re"
        if last.written.isupper():
            short = short.upper()
        ending = ending[:1] + short
    contraction = _cased(first, "they") + ending
    return [(start, contraction_end, contraction), *verbs_after_contraction(text, contraction_end)]


def _has(text: str, end: int) -> bool:
    """True if the "'s" that ends here is "has", as the shift to the first person decides."""
    shifted = shift_person("I")("he's" + text[end : end + 64])
    return shifted.text.startswith("I've")


def _neutral_noun(text: str, part: list[Found]) -> str:
    """The neutral word; none for "female" and "male" before a noun, which does without ("a male nurse")."""
    first = part[0]
    if len(part) == 1 and first.word in _ADJECTIVES:
        following = _FORMS["next"].match(text, first.end)
        if following and not ends_phrase(following[1].lower()):
            return ""
    return first.entry.neutral


def _with_comma(text: str, start: int, end: int) -> Span:
    """A form of address with its comma: ", sir" or "Madam,"."""
    before = space_before(text, start)
    if text[max(0, before - 1) : before] == ",":
        return before - 1, end
    if text[end : end + 1] == ",":
        return start, end + 1
    return start, end


def _article(text: str, start: int, noun: str) -> list[Change]:
    """Repair "an" before a neutral word: "an aunt" → "a relative"."""
    article = _FORMS["article"].search(text, max(0, start - 4), start)
    if article is None:
        return []
    right = "an" if noun[:1].lower() in ("a", "e", "i", "o", "u") else "a"
    if article[1].lower() == right:
        return []
    return [(article.start(1), article.end(1), carry_case(article[1], right))]


def _removed(text: str, part: list[Found], names: dict[str, str]) -> list[Change]:
    """What is left of a word or a pair: nothing, the verb of a contraction, or a neutral noun or name."""
    first, last = part[0], part[-1]
    if first.entry.kind in ("noun", "name", "address"):
        return _to_they(text, part, names)
    end = last.end + len(last.ending)
    if first.entry.kind == "title" and text[end : end + 1] == ".":
        end += 1
    return [(first.start, end, _cased(first, _verb_left(text, last)))]


def _verb_left(text: str, word: Found) -> str:
    """What is left of a contraction without its subject: "is" of "he's"."""
    if word.entry.kind != "subject" and word.entry.gender != "both":
        return ""
    ending = straight(word.ending.lower())
    if word.word in ("hes", "shes") or ending == "'s":
        return "has" if _has(text, word.end + len(word.ending)) else "is"
    if ending == "'d":
        return "had" if _has(text, word.end + len(word.ending)) else "would"
    return _VERB_OF_ENDING.get(ending, "")
