"""Synthetic histories: authors whose conditions cause symptoms, in episodes, among everyday posts."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from psycheck.core.corpus import GROUP, LABEL, Corpus
from psycheck.core.errors import BadInput
from psycheck.demo.opening import corpus_from_prefixed_rows
from psycheck.symptoms.graph import Graph, read_graph
from tools.demo_corpora.distinct import NearDuplicateIndex, unseen
from tools.demo_corpora.sentences import everyday, new_draft, tell, written
from tools.demo_corpora.wording import draw, pick

# How many of 1,000 authors have each condition first; the rest are controls. `eating_disorder` is rare.
_FIRST = {"depression": 140, "anxiety": 130, "adhd": 80, "bipolar_disorder": 70, "ocd": 70, "ptsd": 70}
_FIRST |= {"eating_disorder": 55}
_SECOND = {"depression": 30.0, "anxiety": 30.0, "ptsd": 8.0, "ocd": 8.0, "adhd": 8.0, "bipolar_disorder": 4.0}
_SECOND |= {"eating_disorder": 4.0}
_COMORBID = 0.3
_POSTS = (1, 2, 4, 6, 8, 10, 12, 12, 14, 16, 20, 40)
_SPLITS = ("train", "train", "test", "train", "dev", "train", "train", "test", "train", "dev")
_TYPICAL = 0.7  # the share of a condition's symptoms that one author has
_IN_EPISODE, _OUTSIDE, _CONTROL = 0.65, 0.05, 0.08  # how many posts mention a symptom
_NOISE = 0.1  # mentions of a symptom that is none of the author's
_SEVERAL = 0.45  # posts of an episode that mention a second symptom
_PLANTED = 0.05
_LEAST = 8  # posts of an author whose label is wrong, so that it can be noticed
NONE = "none"
_OWN = {"present": 80.0, "uncertain": 7.0, "past": 5.0, "negated": 3.0, "other": 5.0}
_SURE = {"present": 1.0}
_CONTROLS_OWN = {"present": 5.0, "uncertain": 12.0, "past": 23.0, "negated": 20.0, "other": 40.0}


@dataclass(frozen=True, slots=True)
class Person:
    """An author: the conditions that cause what they write, and those that they are labelled with."""

    id: str
    split: str
    posts: int
    conditions: tuple[str, ...]
    labelled: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Post:
    """A post and the symptoms that it mentions, each with its status."""

    text: str
    mentions: tuple[tuple[str, str], ...]


def _people(count: int, seed: int) -> list[Person]:
    """Authors by quota of the first condition, splits within each; one in twenty is labelled wrongly."""
    rng = Random(f"{seed}/people")
    firsts = [name for name, share in _FIRST.items() for _ in range(max(1, round(share * count / 1000)))]
    firsts = (firsts + [NONE] * count)[:count]
    drawn = [(first, _SPLITS[i % len(_SPLITS)]) for i, first in enumerate(firsts)]
    drawn.sort(key=lambda _: rng.random())
    people = []
    for i, (first, split) in enumerate(drawn):
        own: tuple[str, ...] = () if first == NONE else (first,)
        if own and rng.random() < _COMORBID:
            own = (*own, draw(rng, {name: weight for name, weight in _SECOND.items() if name != first}))
        posts = _POSTS[int(rng.random() * len(_POSTS))]
        people.append(Person(f"p{i + 1:03d}", split, posts, own, own))
    wrong = round(_PLANTED * count)
    long = [i for i, person in enumerate(people) if person.posts >= _LEAST]
    # In turn: a control labelled with a condition, and an author with one condition labelled as a control.
    without = [i for i in long if not people[i].conditions][: (wrong + 1) // 2]
    single = [
        i for i in long if len(people[i].conditions) == 1 and people[i].conditions != ("eating_disorder",)
    ]
    for i in without:
        people[i] = replace(people[i], labelled=(draw(rng, {name: 1.0 * n for name, n in _FIRST.items()}),))
    for i in single[: wrong // 2]:
        people[i] = replace(people[i], labelled=())
    return people


def _post(rng: Random, symptoms: list[str], weights: dict[str, float]) -> Post:
    """A post of everyday sentences and, where symptoms are named, of sentences about them."""
    draft, lower = new_draft(rng), 0.4
    sentences, mentions = [], []
    while symptoms:
        told, symptoms = symptoms[: 1 + (rng.random() < 0.25)], symptoms[1:]
        told = list(dict.fromkeys(told))
        symptoms = [name for name in symptoms if name not in told]
        status = draw(rng, weights)
        sentences.append(written(tell(draft, told, status), rng, lower))
        mentions += [(name, status) for name in told]
    for _ in range(int(rng.random() * 2.5) if sentences else 1 + int(rng.random() * 2.6)):
        sentences.insert(int(rng.random() * (len(sentences) + 1)), written(everyday(draft), rng, lower))
    return Post(_joined(sentences), tuple(mentions))


def _joined(sentences: list[str]) -> str:
    return " ".join(one if one[-1] in ".?!" or one is sentences[-1] else one + "." for one in sentences)


def _history(rng: Random, person: Person, graph: Graph) -> list[tuple[list[str], dict[str, float]]]:
    """The symptoms of each post and the weights of their status: in an episode its own symptoms, else noise.

    At least one post for each condition says that a symptom of it is present.
    """
    everything = [one.name for one in graph.symptom]
    posts: list[tuple[list[str], dict[str, float]]] = []
    for _ in range(person.posts):
        chance, weights = (_OUTSIDE, _OWN) if person.conditions else (_CONTROL, _CONTROLS_OWN)
        posts.append(([pick(rng, everything)] if rng.random() < chance else [], weights))
    for condition in person.conditions:
        names = [one.name for one in graph.of(condition)]
        names.sort(key=lambda _: rng.random())
        typical = names[: max(3, round(_TYPICAL * len(names)))]
        length = max(1, round(person.posts * (0.4 + 0.4 * rng.random())))
        start = int(rng.random() * (person.posts - length + 1))
        for place in range(start, start + length):
            sure = place == start + length // 2
            if not sure and rng.random() >= _IN_EPISODE:
                continue
            told = [pick(rng, typical)]
            if rng.random() < _SEVERAL:
                told.append(pick(rng, everything if rng.random() < _NOISE else typical))
            known = list(dict.fromkeys([*posts[place][0], *told]))
            posts[place] = (known, _SURE if sure else posts[place][1])
    return posts


def people_rows(authors: int, seed: int) -> list[dict[str, Any]]:
    """The posts of all authors, in order of time."""
    if authors < 1:
        raise BadInput(
            f"cannot write the posts of {authors} authors", code="demo.too-few-authors", allowed="1 or more"
        )
    graph, rows = read_graph(), list[dict[str, Any]]()
    seen, others = set[str](), NearDuplicateIndex()
    for person in _people(authors, seed):
        rng = Random(f"{seed}/people/{person.id}")
        time = datetime(2022, 1, 3) + timedelta(days=int(rng.random() * 300))
        labels = {LABEL + name: int(name in person.labelled) for name in graph.disease}
        wrong = person.labelled != person.conditions
        planted = (",".join(person.conditions) or NONE) if wrong else None
        for symptoms, weights in _history(rng, person, graph):
            time += timedelta(days=1 + int(rng.random() * 20))
            clock = time.replace(hour=int(rng.random() * 24), minute=int(rng.random() * 60))
            post = unseen(partial(_post, rng, symptoms, weights), person.split, seen, others)
            mentions = " ".join(f"{symptom}:{status}" for symptom, status in post.mentions) or None
            groups = {GROUP + "mentions": mentions, GROUP + "planted": planted}
            plain = {"author": person.id, "time": clock.isoformat(timespec="minutes"), "split": person.split}
            rows.append({"text": post.text, **plain, **labels, **groups})
    rows.sort(key=lambda row: (row["time"], row["author"]))
    return [{"id": f"people-{i:05d}", **row} for i, row in enumerate(rows, start=1)]


def generate_people(authors: int, seed: int) -> Corpus:
    """Write the posts of synthetic authors over time, labelled by author."""
    return corpus_from_prefixed_rows("people", people_rows(authors, seed))
