"""How a phrase becomes words: [one|of these], {slots}, and starred verbs that take person and tense."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from psycheck.text.verb_agreement import third_person

# Predicates that cannot stand after "no longer" or "does anyone else" without turning their sense around.
_TURNED = re.compile(r"n't\*|\bno\b|\bnothing\b|\blost\b|\bwithout me\b")
_UNSHARED = re.compile(r"\bbe\*|\b(I|me|my|myself)\b")
_INNER = re.compile(r"\bI \w+\*")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) ([aeiou](?!ne\b))")
_STAR = re.compile(r"([A-Za-z']+)\*")


@cache
def bank(name: str) -> dict[str, Any]:
    """One file of the phrase banks."""
    path = Path(__file__).with_name("phrases") / f"{name}.toml"
    return tomllib.loads(path.read_text("utf-8"))


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
    if form == "third":
        return third_person(verb)
    if form == "past" and verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed") if form == "past" else verb


def retell(phrase: str, gender: str) -> str:
    """Turn the first person inside a predicate into the third."""
    words = dict(zip(("I", "me", "my", "myself"), bank("grammar")["pronouns"][gender], strict=True))
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
    kin: str = "woman"
    skip: frozenset[str] = frozenset()
    fixed: dict[str, str] = field(default_factory=dict)
    mentions: list[tuple[str, str]] = field(default_factory=list)
    _queue: list[str] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        pronouns = bank("grammar")["pronouns"][self.person]
        self.fixed |= dict(zip(("they", "them", "their", "themself"), pronouns, strict=True))
        self.fixed |= {name.capitalize(): self.fixed[name].capitalize() for name in ("they", "their")}
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
        everyday, clauses, slots = bank("everyday"), bank("grammar")["clauses"], bank("grammar")["slots"]
        if name.startswith("worry"):
            worries = bank("anxiety")
            if name in clauses:
                return self._clause(name, worries["verb"])
            return self.one_of(worries[name.removeprefix("worry_")])
        if name in slots["symptom"] or name in clauses:
            return self._symptom(name)
        if lists := slots["everyday"].get(name):
            return self.one_of([one for part in lists for one in everyday[self.topic][part]])
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
        they = self.person == "person"
        if name == "vp_base":
            verbs = [v for v in verbs if not _TURNED.search(v) and not _UNSHARED.search(v)]
            verbs = verbs or ["feel* like this"]
        elif they or name == "vp_case":  # "my cousin eats until they feel sick" would need two forms in one
            verbs = [verb for verb in verbs if not _INNER.search(verb)]
        verb, rule = self.one_of(verbs), bank("grammar")["clauses"][name]
        if "of" in rule:
            verb = retell(verb, {"person": self.person, "kin": self.kin, "anyone": "person"}[rule["of"]])
        form = rule.get("they", rule["form"]) if they else rule["form"]
        return str(rule.get("before", "")) + inflect(verb, form)
