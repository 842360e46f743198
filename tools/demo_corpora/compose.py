"""Writes one synthetic text: a short post, a forum post, an answer in an interview or a clinical note."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tools.demo_corpora.wording import Draft, bank, draw, pick

WORDS = {"tweets": (8, 30), "forum": (60, 200), "interviews": (5, 60), "notes": (60, 150)}
# What writers of a domain aim at, whatever their state, so that the mere length does not tell it.
AIM = {"forum": (76, 110)}
_NEAR_AIM = 6

_LOW = ("present", "faint", "uncertain")
_SPEAKS_OF_SYMPTOMS = ("present", "uncertain", "negated", "past", "recovered")


@dataclass(frozen=True, slots=True)
class Author:
    """A writer, a speaker or a patient, and the state that causes what they write."""

    id: str
    gender: str
    depressed: bool
    anxious: bool
    history: bool
    split: str
    style: Mapping[str, float]

    @property
    def state(self) -> str:
        """Which row of the mixture applies."""
        return "depressed" if self.depressed else "history" if self.history else "never"


@dataclass(frozen=True, slots=True)
class Written:
    """A text, what it says about symptoms, and of whom it speaks."""

    text: str
    mentions: tuple[tuple[str, str], ...]
    subject: str


def compose(domain: str, author: Author, rng: Random) -> Written:
    """Write a text that the author could have written, within the lengths of the domain."""
    least, most = WORDS[domain]
    weights = dict(bank("mixture")[author.state])
    if not author.anxious:
        weights.pop("worry")
    if domain == "notes":
        weights.pop("topic", None)
    kind = draw(rng, weights)
    if domain in AIM:
        shortest, longest = AIM[domain]
        aim = shortest + int(rng.random() * (longest - shortest))
        least, most = aim - _NEAR_AIM, aim + _NEAR_AIM
    while True:
        draft = _draft(domain, author, kind, rng)
        text = _WRITERS[domain](draft, author, kind)
        if least <= len(text.split()) <= most:
            return Written(text, tuple(draft.mentions), kind if kind in ("other", "topic") else "self")


def _draft(domain: str, author: Author, kind: str, rng: Random) -> Draft:
    kin = pick(rng, ("woman", "man"))
    if domain == "notes":
        person = author.gender
    else:
        they = 0.12 if kind == "other" else 0.0
        person = draw(rng, {"woman": (1 - they) / 2, "man": (1 - they) / 2, "person": they})
    parts = dict(bank(domain).get("parts", {}))
    status = kind if kind in _SPEAKS_OF_SYMPTOMS else "present"
    draft = Draft(rng, status, person, parts, kin=kin)
    slots, sex = bank("slots"), "f" if person == "woman" else "m"
    draft.fixed["who"] = pick(rng, slots[{"woman": "female", "man": "male"}.get(person, "neutral")])
    draft.fixed["figure"] = pick(rng, slots[f"figure_{sex}"])
    draft.fixed["noun_person"] = author.gender
    if domain == "notes":
        draft.fixed["kin"] = pick(rng, parts["kin_f" if kin == "woman" else "kin_m"])
    elif domain == "forum":
        draft.fixed["register"] = "forum"
        draft.fixed["intro"] = draft.fill(pick(rng, slots[f"{author.gender}_intro"]))
    elif domain == "interviews":
        draft.fixed["register"] = "spoken"
    return draft


def _tweet(draft: Draft, author: Author, kind: str) -> str:
    rng, style, book = draft.rng, author.style, bank("tweets")
    parts = book["parts"]
    text = draft.say(book["frames"][kind])
    if author.anxious and kind in ("present", "faint", "bad") and rng.random() < 0.4:
        text += ". " + draft.say(["{worry_tweet}", "{worry}"])
    if len(text.split()) < WORDS["tweets"][0] or rng.random() < 0.25:
        text += pick(rng, (". ", ", ", " ... ")) + draft.say(parts["close"])
    text = re.sub(r"([!?])[.,]", r"\1", text)
    for long, short in bank("grammar")["abbreviate"].items():
        if re.search(rf"\b{long}\b", text) and rng.random() < style["short"]:
            text = re.sub(rf"\b{long}\b", pick(rng, short), text)
    if rng.random() < style["stretch"]:
        text = _stretch(text, rng)
    if rng.random() < style["lower"]:
        text = text.lower()
    if rng.random() < style["bare"]:
        text = text.replace("'", "")
    tone = "low" if kind in _LOW else "high" if kind in ("good", "recovered") else "plain"
    if rng.random() < 0.5:
        tone = "plain"
    if rng.random() < style["emoji"]:
        feeling = "soft" if tone == "plain" and kind not in ("good", "bad", "hyperbole") else tone
        text += " " + pick(rng, parts[f"emoji_{feeling}"]) * (1 + int(rng.random() * 2.3))
    if rng.random() < style["tag"]:
        tags = parts["tag_topic" if kind == "topic" else f"tag_{tone}"]
        text += " " + draft.fill(pick(rng, tags))
    if rng.random() < 0.1 and "@user" not in text:
        text = "@user " + text
    return text


def _stretch(text: str, rng: Random) -> str:
    known = [word for word in bank("grammar")["stretch"]["words"] if re.search(rf"\b{word}\b", text)]
    if not known:
        return text
    word = pick(rng, known)
    at = max(i for i, letter in enumerate(word) if letter in "aeiouy")
    longer = word[:at] + word[at] * (3 + int(rng.random() * 4)) + word[at + 1 :]
    return re.sub(rf"\b{word}\b", longer, text, count=1)


def _forum(draft: Draft, author: Author, kind: str) -> str:
    rng, book = draft.rng, bank("forum")
    parts = (("life", "ago_short"), ("other", "ago_other"), ("present", "lead"))
    draft.parts = {name: book[section][name] for section, name in parts}
    life = _say(draft, book["life"]["any"], 1, 2)
    if kind in _SPEAKS_OF_SYMPTOMS or kind in ("worry", "faint"):
        life.append(draft.say(book["life"]["private"]))
    body = _body(draft, author, kind)
    close = book[kind if "close" in book.get(kind, {}) else "everyday"]["close"]
    paragraphs = [life, *body] if rng.random() < 0.7 else [body[0], life, *body[1:]]
    if rng.random() < 0.5:
        paragraphs[0] = [draft.say(book["opening"]["any"]), *paragraphs[0]]
    paragraphs.append([draft.say(close)])
    if rng.random() < 0.4:
        paragraphs = [paragraphs[0] + paragraphs[1], *paragraphs[2:]]
    return "\n\n".join(_sentences(" ".join(paragraph)) for paragraph in paragraphs if paragraph)


def _say(draft: Draft, phrases: Sequence[str], least: int, spread: float = 0) -> list[str]:
    """At least so many of the phrases, put into words; `spread` bounds how many more."""
    times = least + int(draft.rng.random() * spread) if spread else least
    return [draft.say(phrases) for _ in range(times)]


def _in_order(draft: Draft, phrases: Sequence[str], times: int) -> list[str]:
    """Some of the phrases, in the order of the bank, beginning with the first, questions last."""
    picked = {phrases[0], *(draft.one_of(phrases[1:]) for _ in range(times - 1))}
    ordered = sorted((phrase for phrase in phrases if phrase in picked), key=lambda one: one.endswith("?"))
    return [draft.say([phrase]) for phrase in ordered]


def _body(draft: Draft, author: Author, kind: str) -> list[list[str]]:
    """The paragraphs of a forum post besides the opening, the writer's life and the close."""
    rng, book = draft.rng, bank("forum")
    own, context = book.get(kind, {}), book["life"]["context"]
    match kind:
        case "present":
            sentences = _say(draft, own["sentence"], 4, 3)
            if author.anxious and rng.random() < 0.7:
                sentences.insert(1, draft.say(book["worry"]["sentence"]))
            aside = _say(draft, context, 0, 3)
            if rng.random() < 0.15:
                draft.status = "negated"
                aside.append(draft.say(own["soften"]))
                draft.status = kind
            return [sentences[:2], aside, sentences[2:]]
        case "uncertain" | "negated" | "past":  # beside what the post is otherwise about
            sentences = _say(draft, own["sentence"], 2, 2)
            other = own.get("about") or own.get("now") or context
            return [_say(draft, other, 1), sentences, _say(draft, context, 1, 2)]
        case "recovered":
            return [
                _say(draft, own["sentence"], 2, 2),
                _say(draft, own["turn"], 1),
                _say(draft, own["now"], 1, 2),
            ]
        case "other":
            sentences = _say(draft, own["sentence"], 2, 3)
            return [[draft.say(own["lead"]), *sentences], _say(draft, own["tried"], 1, 2)]
        case "topic":
            matter = pick(rng, ("film", "lecture", "campaign"))
            draft.fixed["theme"] = draft.fill("{name}")
            sentences = _in_order(draft, own[matter], 5)
            draft.fixed["topic_close"] = draft.fill(pick(rng, own[f"{matter}_close"]))
        case _:  # good news, complaints, hyperbole, worry and faint signs, around one everyday topic
            everyday = bank("everyday")
            sentences = _in_order(draft, everyday[draft.topic]["forum"], 3 + int(rng.random() * 3))
            extra = everyday["hyperbole"]["forum"] if kind == "hyperbole" else own.get("sentence")
            if extra:
                sentences[1:1] = _say(draft, extra, 1 + (kind == "worry"), 1.5)
    return [sentences[:2], sentences[2:]]


def _answer(draft: Draft, author: Author, kind: str) -> str:
    rng, book = draft.rng, bank("interviews")
    text = draft.say(book["frames"][kind])
    if author.anxious and kind in ("present", "bad") and rng.random() < 0.4:
        text += " " + draft.say(["and {worry_spoken}", "and um {worry}"])
    if rng.random() < 0.25:
        text += " " + draft.say(["{link} {life}", "{close}"])
    hesitate, words = book["hesitate"], list[str]()
    for word in re.sub(r"[,.;:?!]", "", text.lower()).split():
        if not words or word not in hesitate["before"]:
            words.append(word)
            continue
        if words[-1] not in hesitate["never_after"] and rng.random() < author.style["filler"]:
            words += pick(rng, book["parts"]["filler"]).lower().split()
        if rng.random() < author.style["filler"] / 4:
            words.append(word)
        words.append(word)
    return " ".join(words)


def _note(draft: Draft, author: Author, kind: str) -> str:
    rng, book = draft.rng, bank("notes")
    draft.parts = dict(draft.parts) | {"years": book["intro"]["years"]}
    sort = pick(rng, ("pain", "infection", "chronic"))
    draft.fixed["ill"] = pick(rng, draft.parts[sort])
    draft.fixed["ill_cap"] = draft.fixed["ill"][0].upper() + draft.fixed["ill"][1:]
    draft.fixed["ago_note"] = draft.fill(pick(rng, draft.parts["ago_note"]))
    draft.fixed["ago_note_low"] = draft.fixed["ago_note"][0].lower() + draft.fixed["ago_note"][1:]
    symptomatic = kind in book["history"]
    complaint = [draft.say(book["complaint"][kind if symptomatic else "everyday"])]
    history = _say(draft, book["history"][kind if symptomatic else sort], 2, 3)
    if kind == "faint":
        history.append(draft.say(["{They} answers briefly and looks away.", "{They} has missed two visits."]))
    if kind == "present" and author.anxious and rng.random() < 0.7:
        history.append(draft.say(["{worry_clinical}", "{They} says that {they} {worry_vp}."]))
    history += _say(draft, book["history"]["social"], 1, 2)
    if rng.random() < 0.2:
        history.append(draft.say(book["history"]["remote"]))
    mental = _say(draft, book["mental"]["any"], 1, 2)
    if not symptomatic:
        draft.skip = frozenset(("sleep", "energy"))  # an illness of the body may have touched these
    if rng.random() < 0.55:
        mental += _say(draft, ["{denied}"], 1, 2)
    plan = [draft.say(book["plan"]["present" if kind == "present" and rng.random() < 0.6 else "any"])]
    if not symptomatic:
        plan.append(draft.say(book["physical"][sort]))
    headings = book["headings"]["sets"][int(rng.random() * len(book["headings"]["sets"]))]
    lines = [draft.say(book["intro"]["any"])]
    for heading, sentences in zip(headings, (complaint, history, mental, plan), strict=True):
        lines.append(heading + _sentences(" ".join(sentences)))
    return "\n".join(lines)


def _sentences(text: str) -> str:
    """Capital letters where sentences begin."""
    return re.sub(r"(^|[.?!] )([a-z])", lambda start: start[1] + start[2].upper(), text)


_WRITERS: Mapping[str, Callable[[Draft, Author, str], str]] = {
    "tweets": _tweet,
    "forum": _forum,
    "interviews": _answer,
    "notes": _note,
}
