"""How a phrase becomes words: [one|of these], {slots}, and starred verbs that take person and tense."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

# Predicates that cannot stand after "no longer" or "does anyone else" without turning their sense around.
_TURNED = re.compile(r"n't\*|\bno\b|\bnothing\b|\blost\b|\bwithout me\b")
_UNSHARED = re.compile(r"\bbe\*|\b(I|me|my|myself)\b")
_INNER = re.compile(r"\bI \w+\*")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) ([aeiou](?!ne\b))")
_STAR = re.compile(r"([A-Za-z']+)\*")

# The slots that tell of a symptom: those of the banks, and those made of its predicates and nouns.
_FORMS = frozenset(
    {"name", "noun", "tweet", "forum", "spoken", "clinical", "absent", "denied"}
    | {"noun_third", "noun_bare", "present", "present_who", "was", "was_vp", "longer", "longer_vp"}
    | {"vp", "vp_base", "vp_who", "vp_figure", "vp_kin", "vp_case"}
)

_PRONOUNS: Mapping[str, tuple[str, str, str, str]] = {
    "woman": ("she", "her", "her", "herself"),
    "man": ("he", "him", "his", "himself"),
    "person": ("they", "them", "their", "themselves"),
}


@cache
def bank(name: str) -> dict[str, Any]:
    """One file of the phrase banks."""
    return tomllib.loads(files("psycheck.demo").joinpath("phrases", f"{name}.toml").read_text("utf-8"))


def pick(rng: Random, items: Sequence[str]) -> str:
    """One of the items; built on `random()`, whose sequence Python promises to keep for a seed."""
    return items[int(rng.random() * len(items))]


def draw(rng: Random, weights: Mapping[str, float]) -> str:
    """One of the keys, as often as its weight says."""
    point = rng.random() * sum(weights.values())
    for key, weight in weights.items():
        point -= weight
        if point < 0:
            return key
    return list(weights)[-1]


def inflect(phrase: str, form: str) -> str:
    """Give starred verbs a form: base, first, third, plural, past or past_plural."""
    return _STAR.sub(lambda verb: _form(verb[1], form), phrase)


def _form(verb: str, form: str) -> str:
    grammar = bank("grammar")
    if form == "past_plural" and verb == "be":
        return "were"
    form = form.removesuffix("_plural")
    if form == "base":
        return verb
    if verb in grammar[form]:
        return str(grammar[form][verb])
    ends_in_y = verb.endswith("y") and verb[-2] not in "aeiou"
    if form == "third":
        if ends_in_y:
            return verb[:-1] + "ies"
        return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s")
    if form == "past":
        return verb[:-1] + "ied" if ends_in_y else verb + ("d" if verb.endswith("e") else "ed")
    return verb


def retell(phrase: str, gender: str) -> str:
    """Turn the first person inside a predicate into the third."""
    subject, object_, possessive, reflexive = _PRONOUNS[gender]
    words = {"I": subject, "me": object_, "my": possessive, "myself": reflexive}
    return re.sub(r"\b(I|me|my|myself)\b", lambda word: words[word[0]], phrase)


@dataclass
class Draft:
    """A text while it is written: who it is about, and which phrases it has used.

    `mentions` collects (symptom, status) in the order of the text; `status` applies to the symptoms of this
    text unless the phrase itself decides. `person` is the gender of {who}, or of the
    patient in a note; `kin` that of the relative in a note; symptoms in `skip` are not mentioned.
    """

    rng: Random
    status: str
    person: str
    parts: Mapping[str, Sequence[str]]
    about_self: bool = True
    kin: str = "woman"
    skip: frozenset[str] = frozenset()
    fixed: dict[str, str] = field(default_factory=dict)
    mentions: list[tuple[str, str]] = field(default_factory=list)
    _queue: list[str] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        they, them, their, themself = _PRONOUNS[self.person]
        self.fixed |= {"they": they, "them": them, "their": their, "themself": themself}
        self.fixed |= {"They": they.capitalize(), "Their": their.capitalize()}
        self.topic = pick(self.rng, [name for name in bank("everyday") if name != "hyperbole"])

    def one_of(self, phrases: Sequence[str]) -> str:
        """A phrase that this text has not used yet, where there is one."""
        phrase = pick(self.rng, [phrase for phrase in phrases if phrase not in self._used] or phrases)
        self._used.add(phrase)
        return phrase

    def say(self, phrases: Sequence[str]) -> str:
        """One of the phrases, put into words."""
        return inflect(self.fill(self.one_of(phrases)), "plural" if self.person == "person" else "third")

    def fill(self, phrase: str) -> str:
        """Resolve choices, then slots, from the inside out."""
        while found := _CHOICE.search(phrase):
            phrase = phrase[: found.start()] + pick(self.rng, found[1].split("|")) + phrase[found.end() :]
        while found := _SLOT.search(phrase):
            phrase = phrase[: found.start()] + self._slot(found[1]) + phrase[found.end() :]
        return _ARTICLE.sub(r"\1n \2", phrase)

    def _slot(self, name: str) -> str:
        if name in self.fixed:
            return self.fixed[name]
        value = self.fill(self._raw(name))
        if name in bank("slots")["sticky"]:
            self.fixed[name] = value
        return value

    def _raw(self, name: str) -> str:
        everyday = bank("everyday")
        if name in _FORMS:
            return self._symptom(name)
        if name.startswith("worry"):
            return self._worry(name)
        if name in ("goods", "bads"):
            return self.one_of(everyday[self.topic][name.removesuffix("s")])
        if name == "goods_or_bads":
            return self.one_of(everyday[self.topic]["bad"] + everyday[self.topic]["good"])
        if name == "says":
            return self.one_of(everyday[self.topic]["spoken"])
        if name == "hypers":
            return self.one_of(everyday["hyperbole"][self.fixed.get("register", "bad")])
        return self.one_of(self.parts[name] if name in self.parts else bank("slots")[name])

    def _next_symptom(self) -> str:
        if not self._queue:
            weights = dict(bank("mixture")["symptom"])
            while weights:
                self._queue.append(draw(self.rng, weights))
                del weights[self._queue[-1]]
        symptom = self._queue.pop(0)
        return self._next_symptom() if symptom in self.skip else symptom

    def _symptom(self, name: str) -> str:
        symptom = self._next_symptom()
        phrases = bank("symptoms")[symptom]
        status = self.status
        if name in ("absent", "denied") and status != "recovered":
            status = "negated"
        self.mentions.append((symptom, status))
        if name in phrases:
            return self.one_of(phrases[name])
        if name == "noun_third":
            return retell(self.one_of(phrases["noun"]), self.person)
        if name == "noun_bare":
            nouns = [noun for noun in phrases["noun"] if noun.startswith(("the ", "this "))]
            return self.one_of(nouns).split(" ", 1)[1]
        return self._clause(name, phrases["verb"])

    def _clause(self, name: str, verbs: Sequence[str]) -> str:
        if name.startswith("longer"):
            verbs = [verb for verb in verbs if not _TURNED.search(verb)] or verbs
        if name == "vp_base":
            free = [v for v in verbs if not _TURNED.search(v) and not _UNSHARED.search(v)]
            return inflect(self.one_of(free or ["feel* like this"]), "base")
        plural = self.person == "person"
        if plural or name == "vp_case":  # "my cousin eats until they feel sick" would need two forms in one
            verbs = [verb for verb in verbs if not _INNER.search(verb)]
        verb = self.one_of(verbs)
        if name in ("present", "was", "longer"):
            if self.about_self:
                verb = inflect(verb, "past" if name == "was" else "first")
                return f"I no longer {verb}" if name == "longer" else f"I {verb}"
            raise KeyError(f"{name} tells of the writer alone")
        if name in ("vp_kin", "vp_case"):
            return inflect(retell(verb, self.kin if name == "vp_kin" else "person"), "third")
        verb = retell(verb, self.person)
        if name == "was_vp":
            return inflect(verb, "past_plural" if plural else "past")
        if name == "present_who":
            return "{who} " + inflect(verb, "third")
        alone = name in ("vp_who", "vp_figure")
        return inflect(verb, "plural" if plural and not alone else "third")

    def _worry(self, name: str) -> str:
        phrases = bank("anxiety")
        if name == "worry":
            return "I " + inflect(self.one_of(phrases["verb"]), "first")
        if name == "worry_vp":
            return inflect(retell(self.one_of(phrases["verb"]), self.person), "third")
        return self.one_of(phrases[name.removeprefix("worry_")])
