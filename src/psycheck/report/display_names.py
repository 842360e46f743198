"""Display names of what findings hold; the names are in words.toml and, of measures, in measure.toml."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.core.finding import Finding
from psycheck.core.measure import described

Place = tuple[str, str]  # model and corpus


def file_text(name: str) -> str:
    """The text of a file in this folder."""
    return Path(__file__).with_name(name).read_text("utf-8")


@cache
def words_of(name: str) -> dict[str, Any]:
    """The words of a TOML file in this folder."""
    return tomllib.loads(file_text(f"{name}.toml"))


def name_of(kind: str, word: str) -> str:
    """The name of a measure, symptom, feature …, or the word itself without underscores."""
    if kind == "measures":
        return described(word).title
    return str(words_of("words")[kind].get(word, word.replace("_", " ")))


def lower_is_better(measure: str) -> bool:
    """Whether lower values of a measure are better."""
    return described(measure).better == "lower"


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """A sort key that puts T2 before T10."""
    key = []
    for part in re.split(r"(\d+)", text):
        number = int(part) if part.isdigit() else 0
        key.append((part.isdigit(), number, part))
    return tuple(key)


def listed(words: Sequence[str]) -> str:
    """Words joined for a sentence: "a, b and c"."""
    # Neither a comma nor an "and".
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def swapped_words(finding: Finding | None) -> str:
    """What was swapped in the gender pairs of a finding: "he and she, nouns and titles"."""
    where = finding.where if finding is not None else {}
    # Runs of older versions swapped pronouns and did not say so.
    kinds = where.get("swap", "pronouns").split("+")
    words = listed([name_of("swapped", kind) for kind in kinds])
    if where.get("swap_person") == "main":
        return f"{words} of the main person"
    return words


def topic_of(finding: Finding) -> str:
    """What a check is about: "absence of suicidal ideation", or its title if it has no symptom."""
    where = finding.where
    if not where.get("symptom"):
        return where.get("title") or where.get("topic") or where.get("check", "")

    symptom = name_of("symptoms", where["symptom"])
    polarity = where.get("polarity")
    return f"{polarity} of {symptom}" if polarity else symptom


def place_of(finding: Finding) -> Place:
    """The model and the corpus that a finding belongs to."""
    return finding.where.get("model", ""), finding.where.get("corpus", "")


def place_names(places: Sequence[Place]) -> dict[Place, str]:
    """The shortest distinct names of places: the corpus, the model, or both."""
    models = {model for model, _ in places}
    corpora = {corpus for _, corpus in places}
    names = {}
    for model, corpus in places:
        # A mean over corpora, or over models, has only one of the two names.
        if len(models) == 1:
            names[model, corpus] = corpus or model
        elif len(corpora) == 1:
            names[model, corpus] = model or corpus
        else:
            names[model, corpus] = f"{model} on {corpus}"
    return names


def where_named(finding: Finding, findings: Iterable[Finding], word: str = "on") -> str:
    """The model and corpus, and the label, each only where a run has several."""
    places: dict[Place, None] = {}  # in order
    labels = set()
    for candidate in findings:
        place = place_of(candidate)
        # A finding with "by" is a mean over several models or corpora.
        if all(place) and "by" not in candidate.where:
            places[place] = None
        # "all" is a mean over labels.
        if candidate.where.get("label", "all") != "all":
            labels.add(candidate.where["label"])

    words = ""
    place = place_of(finding)
    if len(places) > 1 and place in places:
        name = place_names(list(places))[place]
        # "on m" would call a model a corpus; behind a comma, any name reads well.
        models = {model for model, _ in places}
        words = f", {name}" if len(models) > 1 else f" {word} {name}"
    if len(labels) > 1 and finding.where.get("label"):
        words += f", label {finding.where['label']}"
    return words


def order(finding: Finding) -> tuple[object, ...]:
    """A sort key: pronoun checks, then by item of the scale, presence before absence, by number."""
    where = finding.where
    symptom = where.get("symptom", "")
    topic = where.get("topic", "")
    if symptom:
        block = 1
        scale = where.get("scale", "")
        item = where.get("item", "")
        within = natural(f"{scale} {item}")
    else:
        block = 0 if topic == "pronouns" else 2
        within = natural(topic)

    # A check without a polarity comes after both.
    polarity = {"presence": 0, "absence": 1}.get(where.get("polarity", ""), 2)
    return block, within, symptom, polarity, natural(where.get("check", ""))


def why_untested(finding: Finding) -> str:
    """Why a check has no value, from its ledger of cases."""
    counts = finding.counts
    generated = counts.get("generated", 0)
    if not generated:
        return "no text matches it"

    # The most frequent reason stands for all: a check may lack a value for several.
    changed = generated - counts.get("unchanged", 0)
    reason = max(("unseen", "unanswered"), key=lambda name: counts.get(name, 0))
    if changed and counts.get(reason):
        share = f"{counts[reason]:,} of {changed:,} changed texts"
        return f"{name_of('untested', reason)} ({share})"
    if counts.get("undecided", 0) == generated:
        return name_of("untested", "undecided")
    if changed:
        return "no text counts"
    return name_of("untested", "unchanged")
