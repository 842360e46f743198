"""Display names of what findings hold; the names are in words.toml and, of measures, in measure.toml."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.finding import Finding
from psycheck.measure import described


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
    return tuple(
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", text)
    )


def listed(words: list[str]) -> str:
    """Words joined for a sentence: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def swapped_words(finding: Finding | None) -> str:
    """What was swapped in the gender pairs of a finding: "he and she, nouns and titles"."""
    where = finding.where if finding is not None else {}
    words = listed([name_of("swapped", kind) for kind in where.get("swap", "pronouns").split("+")])
    return f"{words} of the main person" if where.get("swap_person") == "main" else words


def topic_of(finding: Finding) -> str:
    """What a check is about: "absence of suicidal ideation", or its title if it has no symptom."""
    where = finding.where
    if symptom := where.get("symptom"):
        return " of ".join(filter(None, (where.get("polarity"), name_of("symptoms", symptom))))
    return where.get("title") or where.get("topic") or where.get("check", "")


def place_of(finding: Finding) -> tuple[str, str]:
    """The model and the corpus that a finding belongs to."""
    return finding.where.get("model", ""), finding.where.get("corpus", "")


def place_names(places: list[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The shortest distinct names of places: the corpus, the model, or both."""
    models, corpora = {model for model, _ in places}, {corpus for _, corpus in places}
    if len(models) == 1:
        return {place: place[1] or place[0] for place in places}
    if len(corpora) == 1:
        return {place: place[0] or place[1] for place in places}
    return {(model, corpus): f"{model} on {corpus}" for model, corpus in places}


def where_named(finding: Finding, findings: Iterable[Finding], word: str = "on") -> str:
    """The model and corpus, and the label, each only where a run has several."""
    known = list(findings)
    places = list(dict.fromkeys(place_of(f) for f in known if all(place_of(f)) and "by" not in f.where))
    labels = {f.where["label"] for f in known if f.where.get("label", "all") != "all"}
    words = ""
    if len(places) > 1 and place_of(finding) in places:
        name = place_names(places)[place_of(finding)]
        several_models = len({model for model, _ in places}) > 1
        words = f", {name}" if several_models else f" {word} {name}"
    if len(labels) > 1 and finding.where.get("label"):
        words += f", label {finding.where['label']}"
    return words


def order(finding: Finding) -> tuple[object, ...]:
    """A sort key: pronoun checks, then by item of the scale, presence before absence, by number."""
    where = finding.where
    symptom, topic = where.get("symptom", ""), where.get("topic", "")
    return (
        1 if symptom else 0 if topic == "pronouns" else 2,
        natural(f"{where.get('scale', '')} {where.get('item', '')}") if symptom else natural(topic),
        symptom,
        {"presence": 0, "absence": 1}.get(where.get("polarity", ""), 2),
        natural(where.get("check", "")),
    )


def why_untested(finding: Finding) -> str:
    """Why a check has no value, from its ledger of cases."""
    counts = finding.counts
    if not counts.get("generated"):
        return "no text matches it"
    changed = counts["generated"] - counts.get("unchanged", 0)
    reason = max(("unseen", "unanswered"), key=lambda name: counts.get(name, 0))
    if changed and counts.get(reason):
        return f"{name_of('untested', reason)} ({counts[reason]:,} of {changed:,} changed texts)"
    if counts.get("undecided", 0) == counts["generated"]:
        return name_of("untested", "undecided")
    return "no text counts" if changed else name_of("untested", "unchanged")
