"""Synthetic sentences about the symptoms of the graph, as annotators label them, and control sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

import polars as pl

from psycheck.core.corpus import GROUP, LABEL, Corpus
from psycheck.core.errors import BadInput
from psycheck.demo.opening import corpus_from_prefixed_rows
from psycheck.symptoms.graph import Graph, read_graph
from tools.demo_corpora.distinct import NearDuplicateIndex, unseen
from tools.demo_corpora.wording import Draft, bank, draw, inflect, pick, retell

STATUSES = ("present", "uncertain", "negated", "past", "other")
CONTROL = "control"
ANNOTATORS = tuple(f"r{i}" for i in range(1, 10))
_WEIGHTS = {"present": 62.0, "uncertain": 12.0, "negated": 8.0, "past": 9.0, "other": 9.0}
# How often an annotator calls a symptom of such a status uncertain: they agree on it as little as in PsySym.
_CALLED_UNCERTAIN = {"present": 0.04, "other": 0.12, "past": 0.5, "negated": 0.6, "uncertain": 0.8}
_CONTROLS = 0.23
_OFF = 0.12  # sentences of a queue that are about none of its symptoms
_PAIRED = 0.3
_SPLITS = ("train", "test", "train", "test", "train", "dev", "train", "test", "train", "test")  # 5 : 1 : 4
_ARTICLE = re.compile(r"^(the|my|these) ")


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, the symptoms that it is about, and their status."""

    text: str
    symptoms: tuple[str, ...]
    status: str | None


def new_draft(rng: Random) -> Draft:
    """A draft about a relative or a friend, in the words of these sentences."""
    person = pick(rng, ("woman", "man"))
    draft = Draft(rng, "present", person, bank("sentences")["parts"])
    draft.fixed["who"] = pick(rng, bank("slots")["female" if person == "woman" else "male"])
    return draft


def tell(draft: Draft, symptoms: Sequence[str], status: str) -> str:
    """A sentence about one or two symptoms, without a capital letter or a full stop."""
    book = bank("sentences")
    frames = book[status]["frames"]
    if status == "uncertain" and len(symptoms) == 1 and draft.rng.random() < 0.5:
        frames = book[status]["named"]
    frame = draft.one_of(frames)
    clauses = [_clause(draft, symptom, status) for symptom in symptoms]
    if status == "other" and len(clauses) == 2:
        clauses[1] = f"{draft.fixed['they']} {clauses[1]}"
    clause = clauses[0]
    if len(clauses) == 2:
        join = pick(draft.rng, book["pair"]["joins"])
        clause = join.replace("{one}", clauses[0]).replace("{two}", clauses[1])
    noun = _ARTICLE.sub("", pick(draft.rng, bank("posted")[symptoms[0]]["noun"]), count=1)
    return draft.fill(frame.replace("{clause}", clause).replace("{noun}", noun))


def _clause(draft: Draft, symptom: str, status: str) -> str:
    """What the sentence tells of a symptom, with its slots still open."""
    phrases = bank("posted")[symptom]
    if status == "negated":
        return draft.one_of(phrases["absent"])
    if status == "present" and draft.rng.random() < 0.55:
        return draft.one_of(phrases["said"] if draft.rng.random() < 0.65 else phrases["implied"])
    verbs = phrases["verb"]
    if status == "other":  # {who} is the subject, and cannot be somebody else in the same sentence
        verb = draft.one_of([one for one in verbs if "{who}" not in one])
        return inflect(retell(verb, draft.person), "third")
    return "I " + inflect(draft.one_of(verbs), "past" if status == "past" else "first")


def everyday(draft: Draft) -> str:
    """A sentence about none of the symptoms, one in four with words that sound like one."""
    if draft.rng.random() < 0.25:
        return draft.say([*bank("sentences")["hard"]["said"], *_single(bank("everyday")["hyperbole"]["bad"])])
    topic = bank("everyday")[draft.topic]
    text = draft.say(_single([*topic["good"], *topic["bad"], *topic["forum"]]))
    if text[-1] in ".?!" or draft.rng.random() < 0.4:
        return text
    return draft.fill(
        pick(
            draft.rng,
            ("{open} " + text, text + ", {aside}", "{aside} and {aside}, " + text, "{aside}, " + text),
        )
    )


def _single(phrases: Sequence[str]) -> list[str]:
    """The phrases of one sentence."""
    return [phrase for phrase in phrases if not re.search(r"[.?!] ", phrase)]


def written(text: str, rng: Random, lower: float) -> str:
    """A sentence as somebody types it: with a capital letter and a full stop, or without."""
    if rng.random() < lower:
        return text.lower().rstrip(".")
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".?!" else text + "."


def _write(rng: Random, graph: Graph, symptom: str, disease: str) -> Said:
    """A sentence about a symptom in the queue of a disease, one that landed there, or a control sentence."""
    draft, lower = new_draft(rng), 0.5
    everything = [one.name for one in graph.symptom]
    own = [one.name for one in graph.of(disease)]
    off = disease == CONTROL or rng.random() < _OFF
    if disease == CONTROL or (off and rng.random() < 0.5):
        return Said(written(everyday(draft), rng, lower), (), None)
    symptoms = [pick(rng, [name for name in everything if name not in own]) if off else symptom]
    if rng.random() < _PAIRED:
        others = own if rng.random() < 0.5 and not off else [name for name in everything if name not in own]
        symptoms.append(pick(rng, [name for name in others if name not in symptoms]))
    status = draw(rng, _WEIGHTS)
    return Said(written(tell(draft, symptoms, status), rng, lower), tuple(symptoms), status)


def _sentences(n: int, seed: int) -> Iterator[tuple[str, str, str, Said, Random]]:
    """Id, queue, split, sentence, and the random numbers of its annotators; links in turn."""
    if n < 1:
        raise BadInput(f"cannot write {n} sentences", code="demo.too-few-texts", allowed="1 or more")
    graph, seen, others = read_graph(), set[str](), NearDuplicateIndex()
    annotated = 0
    for i in range(n):
        rng = Random(f"{seed}/sentences/{i}")
        control = int((i + 1) * _CONTROLS) > int(i * _CONTROLS)
        symptom, disease = ("", CONTROL) if control else graph.links[annotated % len(graph.links)]
        annotated += not control
        split = pick(rng, _SPLITS)
        said = unseen(partial(_write, rng, graph, symptom, disease), split, seen, others)
        yield f"sentences-{i + 1:04d}", disease, split, said, rng


def _judged(said: Said, own: Sequence[str], rng: Random) -> list[tuple[str, dict[str, int], str | None]]:
    """What three annotators say: each symptom of the queue, and the status where they find one."""
    left, judged = list(ANNOTATORS), []
    for _ in range(3):
        name = left.pop(int(rng.random() * len(left)))
        careless = ANNOTATORS.index(name) / len(ANNOTATORS)
        miss, invent = 0.03 + 0.09 * careless, 0.0005 + 0.0015 * careless
        marks = {
            one: int((rng.random() >= miss) if one in said.symptoms else rng.random() < invent) for one in own
        }
        unsure = rng.random() < _CALLED_UNCERTAIN[said.status or "present"]
        judged.append((name, marks, ("uncertain" if unsure else "present") if any(marks.values()) else None))
    return judged


def sentence_rows(n: int, seed: int) -> list[dict[str, Any]]:
    """Sentences with the merged labels of their annotators.

    A symptom counts where any annotator marked it; it is null where the queue's disease does not have it;
    control sentences, which nobody annotated, are 0. `uncertain` is a share of those who found a symptom.
    """
    graph, rows = read_graph(), []
    for name, disease, split, said, rng in _sentences(n, seed):
        own = [one.name for one in graph.of(disease)]
        judged = _judged(said, own, rng) if own else []
        statuses = [status for _, _, status in judged if status]
        marks: dict[str, float | None] = {
            LABEL + one.name: None
            if own and one.name not in own
            else float(any(m[one.name] for _, m, _ in judged))
            for one in graph.symptom
        }
        marks[LABEL + "uncertain"] = statuses.count("uncertain") / len(statuses) if statuses else None
        rows.append({"id": name, "text": said.text, "split": split, **marks, GROUP + "disease": disease})
    return rows


def generate_sentences(n: int, seed: int) -> tuple[Corpus, Corpus]:
    """The sentences as annotated, and the same with the truth: every symptom known.

    The truth has the probability of `uncertain` as a label and the status of each sentence as a group.
    """
    graph, truth = read_graph(), []
    for name, disease, split, said, _ in _sentences(n, seed):
        marks: dict[str, float | None] = {
            LABEL + one.name: float(one.name in said.symptoms) for one in graph.symptom
        }
        marks[LABEL + "uncertain"] = _CALLED_UNCERTAIN[said.status] if said.status else None
        groups = {GROUP + "disease": disease, GROUP + "status": said.status}
        truth.append({"id": name, "text": said.text, "split": split, **marks, **groups})
    return corpus_from_prefixed_rows("sentences", sentence_rows(n, seed)), corpus_from_prefixed_rows(
        "sentences", truth
    )


def judgements(n: int, seed: int) -> pl.DataFrame:
    """What three simulated annotators said of each sentence of a queue, in long form."""
    graph, rows = read_graph(), []
    for i, (item, disease, _, said, rng) in enumerate(_sentences(n, seed)):
        if own := [one.name for one in graph.of(disease)]:
            for k, (annotator, marks, status) in enumerate(_judged(said, own, rng)):
                time = (datetime(2024, 1, 8, 9) + timedelta(minutes=3 * i, days=k)).isoformat(
                    timespec="minutes"
                )
                seconds = float(5 + int(40 * rng.random() ** 2))
                rows += [
                    (item, annotator, label, mark, status if mark else None, time, seconds)
                    for label, mark in marks.items()
                ]
    columns = ("item", "annotator", "label", "value", "status", "time", "seconds")
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
