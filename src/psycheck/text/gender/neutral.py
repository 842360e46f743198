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
from psycheck.text.gender.words import GenderedWord, gendered, mixed, owns_by_mark, runs
from psycheck.text.person import shift_person
from psycheck.text.surroundings import character_at, character_before, search_before
from psycheck.text.word_lists import patterns

How = Literal["they", "remove"]

_BY_ROLE: Final = {
    "object": "them",
    "possessive": "their",
    "pronoun": "theirs",
}
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
        if how == "remove":
            couples = _couples(text, words)
            replace_part = _removed
        else:
            couples = []
            replace_part = _to_they

        changes: list[Change] = []
        for part in _parts(text, words, replaced, couples):
            part_changes = replace_part(text, part, names)
            if not part_changes:
                undecided += 1
            changes += part_changes
        in_order = sorted(changes)
        return apply(text, tidied(text, in_order), undecided)

    return edit


def _parts(
    text: str,
    words: list[GenderedWord],
    replaced: list[bool],
    couples: list[list[int]],
) -> list[list[GenderedWord]]:
    """The gendered words to replace, with those together that are replaced as one: "he/she", "she/her"."""
    free = {at for at in range(len(words)) if replaced[at]}
    parts: list[list[GenderedWord]] = []
    for run in [*runs(text, words), *_both_plural(text, words), *couples]:
        part = [words[at] for at in run]
        if free.issuperset(run) and _replaced_as_one(text, part):
            free.difference_update(run)
            parts.append(part)

    for at in sorted(free):
        word = words[at]
        if word.entry.gender in ("female", "male"):
            parts.append([word])
    return sorted(parts)


def _replaced_as_one(text: str, part: list[GenderedWord]) -> bool:
    """True for a label ("she/her"), and for words that name both genders; "Anna or Ben" are two people."""
    first, last = part[0], part[-1]
    written = text[first.start : last.end]
    if written.lower() in LABELS:
        return True
    return mixed(part) and first.entry.kind != "name"


def _both_plural(text: str, words: list[GenderedWord]) -> list[list[int]]:
    """Where two plurals name both: "men and women" are "people"."""
    pairs = []
    for at, (left, right) in enumerate(pairwise(words)):
        if left.entry.kind != "noun" or left.entry.partner != right.word:
            continue
        neutral = left.entry.neutral
        is_plural = neutral.endswith("s") or neutral in _IRREGULAR_PLURALS
        between = text[left.end : right.start]
        if is_plural and between.lower().split() == ["and"]:
            pairs.append([at, at + 1])
    return pairs


def _couples(text: str, words: list[GenderedWord]) -> list[list[int]]:
    """Where two titles share a name, so that they go together: "Mr. and Mrs. Smith"."""
    couples = []
    for at, (left, right) in enumerate(pairwise(words)):
        if left.entry.kind != "title" or right.entry.kind != "title":
            continue
        between = text[left.end : right.start].removeprefix(".")
        if between.lower().split() in (["and"], ["&"]):
            couples.append([at, at + 1])
    return couples


def _neutral_names(text: str, words: list[GenderedWord]) -> dict[str, str]:
    """A neutral name for each first name of a text: the one of its pair, or the next that is still free."""
    names: dict[str, str] = {}
    for word in words:
        if word.entry.kind != "name" or word.word in names:
            continue
        name_of_pair = word.entry.neutral
        first = NEUTRAL_NAMES.index(name_of_pair)
        order = NEUTRAL_NAMES[first:] + NEUTRAL_NAMES[:first]
        # Two people must not become one: names of other people in the text are taken.
        used = set(names.values())
        free_names = (name for name in order if name not in used and name not in text)
        names[word.word] = next(free_names, name_of_pair)
    return names


def _to_they(text: str, part: list[GenderedWord], names: dict[str, str]) -> list[Change]:
    """What replaces a word or a pair, with its verbs, in order; nothing where it cannot be decided."""
    first, last = part[0], part[-1]
    start, end = first.start, last.end
    if len(part) > 1:
        label = LABELS.get(text[start:end].lower())
        if label:
            _, neutral_label = label
            return [(start, end, _cased(first, neutral_label))]

    # A pair is what any of its words is.
    kinds = {word.entry.kind for word in part}
    if "reflexive" in kinds:
        return [(start, end, _cased(first, "themselves"))]
    if "decide" in kinds:
        form = _they_form(text, part)
        if not form:
            return []
        return [(start, end + len(last.ending), _cased(first, form))]
    if kinds <= {"subject", "pair"}:
        return _subject_to_they(text, part)
    if first.entry.kind == "address":
        start, end = _with_comma(text, start, end)
        return [(start, end, "")]
    return _noun_or_name(text, part, names)


def _noun_or_name(text: str, part: list[GenderedWord], names: dict[str, str]) -> list[Change]:
    """What replaces a noun, a title, a first name or a letter for the sex, and the article before it."""
    first = part[0]
    start, end = first.start, part[-1].end
    if first.entry.group == "sex":
        # "(34F)" is "(34)", "M/34" is "34"
        glued = _FORMS["glued"].search(text, max(0, start - 2), end + 2)
        if glued:
            return [(*glued.span(), "")]

    # A first name has the same neutral name throughout the text.
    neutral = names.get(first.word, "") or _neutral_noun(text, part)
    if not neutral:
        # The article before a word that goes stands before the next word.
        following = _FORMS["visible"].search(text, end)
        first_letter = following[0] if following else ""
        return [*_article(text, start, first_letter), (start, end, "")]

    # "James'" is "Sam's".
    is_possessive_name = first.word in names and owns_by_mark(text, start, end)
    if is_possessive_name and not neutral.endswith("s"):
        neutral += f"{text[end]}s"
        end += 1
    return [*_article(text, start, neutral), (start, end, _cased(first, neutral))]


def _cased(word: GenderedWord, new: str) -> str:
    """The new word in the case of the old one, which may be "(s)he"."""
    return carry_case(word.written.lstrip("("), new)


def _they_form(text: str, part: list[GenderedWord]) -> str:
    """Them, their or theirs for her, his and pairs of them; "" if it cannot be decided."""
    words = {word.word for word in part}
    last = part[-1]
    if last.ending:
        contraction = straight(last.written + last.ending)
        is_hers = len(part) == 1 and contraction.lower() == "her's"
        return "theirs" if is_hers else ""

    # In a pair the word that has one role shows it: "him/her", "his/hers".
    if len(words) > 1:
        if words & {"him", "them"}:
            return "them"
        if words & {"hers", "theirs"}:
            return "theirs"
        return "their"
    role = role_of(text, last.start, last.end)
    return _BY_ROLE.get(role, "")


def _subject_to_they(text: str, part: list[GenderedWord]) -> list[Change]:
    """They for he or she, or for its contraction, with the verbs that change."""
    first, last = part[0], part[-1]
    start, end = first.start, last.end
    ending = last.ending
    without_mark = last.word in ("hes", "shes")
    # "he feels": the verb stands apart, and changes by itself.
    if not ending and not without_mark:
        before, after = verbs_to_they(text, start, end)
        return [*before, (start, end, _cased(first, "they")), *after]

    # "he's" is "they're" or "they've", all other endings stay: "they'll".
    contraction_end = end + len(ending)
    if without_mark or straight(ending).lower() == "'s":
        short = "ve" if _has(text, contraction_end) else "re"
        if last.written.isupper():
            short = short.upper()
        ending = ending[:1] + short
    contraction = _cased(first, "they") + ending
    later_verbs = verbs_after_contraction(text, contraction_end)
    return [(start, contraction_end, contraction), *later_verbs]


def _has(text: str, end: int) -> bool:
    """True if the "'s" that ends here is "has", as the shift to the first person decides."""
    contraction_in_context = "he's" + text[end : end + 64]
    shifted = shift_person("I")(contraction_in_context)
    return shifted.text.startswith("I've")


def _neutral_noun(text: str, part: list[GenderedWord]) -> str:
    """The neutral word; none for "female" and "male" before a noun, which does without ("a male nurse")."""
    first = part[0]
    if len(part) == 1 and first.word in _ADJECTIVES:
        following = _FORMS["next"].match(text, first.end)
        if following and not ends_phrase(following[1].lower()):
            return ""
    return first.entry.neutral


def _with_comma(text: str, start: int, end: int) -> Span:
    """A form of address with its comma: ", sir" or "Madam,"."""
    word_end = space_before(text, start)
    if character_before(text, word_end) == ",":
        return word_end - 1, end
    if character_at(text, end) == ",":
        return start, end + 1
    return start, end


def _article(text: str, start: int, noun: str) -> list[Change]:
    """Repair "an" before a neutral word: "an aunt" → "a relative"."""
    article = search_before(_FORMS["article"], text, start, 4)
    if article is None:
        return []

    written = article[1]
    begins_with_vowel = noun[:1].lower() in ("a", "e", "i", "o", "u")
    right_form = "an" if begins_with_vowel else "a"
    if written.lower() == right_form:
        return []
    return [(*article.span(1), carry_case(written, right_form))]


def _removed(text: str, part: list[GenderedWord], names: dict[str, str]) -> list[Change]:
    """What is left of a word or a pair: nothing, the verb of a contraction, or a neutral noun or name."""
    first, last = part[0], part[-1]
    if first.entry.kind in ("noun", "name", "address"):
        return _to_they(text, part, names)

    end = last.end + len(last.ending)
    # "Mr."
    if first.entry.kind == "title" and character_at(text, end) == ".":
        end += 1
    verb = _verb_left(text, last)
    return [(first.start, end, _cased(first, verb))]


def _verb_left(text: str, word: GenderedWord) -> str:
    """What is left of a contraction without its subject: "is" of "he's"."""
    if word.entry.kind != "subject" and word.entry.gender != "both":
        return ""

    ending = straight(word.ending.lower())
    contraction_end = word.end + len(word.ending)
    if word.word in ("hes", "shes") or ending == "'s":
        if _has(text, contraction_end):
            return "has"
        return "is"
    if ending == "'d":
        # What follows "has" follows "had" as well: "he'd been".
        if _has(text, contraction_end):
            return "had"
        return "would"
    return _VERB_OF_ENDING.get(ending, "")
