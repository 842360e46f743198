"""The TOML file of a prompt, checked when it is read: errors name the key."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from psycheck.io.settings import AT_LEAST_0, read_settings, read_toml, wrong
from psycheck.symptoms.scales import Scale, Text, read_scale

Answer = Literal["yes_no", "scale", "open"]
SLOT: Final = re.compile(r"\{([A-Za-z_]+)\}")
_RESERVED: Final = ("post", "examples", "items", "answer")  # slots that are no columns


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of the same question, with the same answers; None keeps the message of the file."""

    name: Text
    user: Text | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class PromptFile:
    """The keys of a prompt file, explained in docs/reference/llm.md."""

    title: Text
    user: Text
    answer: Answer = "yes_no"
    labels: tuple[Text, ...] = ()
    system: str = ""
    example: str = ""
    examples: Annotated[int, AT_LEAST_0] = 0
    scale: Text | None = None
    items: Literal["points", "yes_no"] = "points"
    names: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    choices: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    reason: bool = False
    evidence: bool = False
    columns: tuple[Text, ...] = ()
    variant: tuple[Variant, ...] = ()
    source: str = ""


def read_prompt_file(path: Path, variant: str = "") -> tuple[PromptFile, Scale | None]:
    """Read a prompt file, or one of its variants, and the scale that it names, relative to the file."""
    keys = read_toml(path, "prompt")
    if not variant:
        return checked_prompt(keys, str(path), path.parent)

    file = read_settings(PromptFile, keys, str(path))
    variants = {wording.name: wording for wording in file.variant}
    if variant not in variants:
        raise wrong(
            f"the prompt has no variant '{variant}'",
            str(path),
            "variant",
            allowed=", ".join(variants) or "no variant: the file has no [[variant]]",
            code="prompt.unknown-variant",
        )
    wording = variants[variant]
    changed = {"system": wording.system, "user": wording.user}
    # What a variant does not word anew it has from the prompt.
    reworded = {key: text for key, text in changed.items() if text is not None}
    return checked_prompt(keys | reworded, str(path), path.parent)


def checked_prompt(keys: Mapping[str, Any], place: str, folder: Path) -> tuple[PromptFile, Scale | None]:
    """The prompt of some keys, checked, and the scale that it names, relative to a folder."""
    file = read_settings(PromptFile, dict(keys), place)
    _check_scale(file, place)
    _check_labels(file, place)
    _check_examples(file, place)
    _check_choices(file, place)
    rates_in_points = file.answer == "scale" and file.items == "points"
    if file.evidence and not rates_in_points:
        raise wrong(
            "only the items of a scale in points have evidence",
            place,
            "evidence",
            allowed='answer = "scale" with items = "points", or false',
            code="prompt.evidence-and-answer",
        )

    scale = read_scale(file.scale, folder) if file.scale else None
    if scale and file.items == "yes_no" and scale.yes is None:
        raise wrong(
            "the scale does not say what a yes counts",
            place,
            "items",
            allowed='"points"',
            do=f"set `yes` in the scale '{scale.name}': the points that a yes counts",
            code="prompt.yes-without-points",
        )
    _check_slots(file, place)
    return file, scale


def _check_scale(file: PromptFile, place: str) -> None:
    """Refuse a scale without the kind of answer that needs one, and the reverse."""
    if (file.answer == "scale") != (file.scale is not None):
        raise wrong(
            f"an answer of the kind '{file.answer}' with{'' if file.scale else 'out'} a scale",
            place,
            "scale",
            allowed='answer = "scale" with a scale, or neither',
            code="prompt.scale-and-answer",
        )


def _check_labels(file: PromptFile, place: str) -> None:
    """Refuse labels that the kind of answer does not have, or that cannot be told apart."""
    if file.answer == "scale" and file.labels:
        raise wrong(
            "the scale sets the labels",
            place,
            "labels",
            do="leave out the labels",
            code="prompt.labels-of-scale",
        )
    if file.answer != "scale" and not file.labels:
        raise wrong(
            "the prompt has no labels", place, "labels", allowed="at least one label", code="prompt.no-labels"
        )

    # Replies are read without regard to case.
    distinct = {label.casefold() for label in file.labels}
    if len(distinct) < len(file.labels):
        raise wrong(
            "two labels are the same",
            place,
            "labels",
            allowed="each label once, ignoring case",
            code="prompt.duplicate-labels",
        )

    # Open answers name a disorder in their own words; all others name a label, or none.
    named_labels = set(file.labels) if file.answer == "open" else set()
    if set(file.names) != named_labels:
        raise wrong(
            "the names do not match the labels",
            place,
            "names",
            allowed='for answer = "open", the words that mean each label; for other answers, nothing',
            code="prompt.names-and-labels",
        )


def _check_examples(file: PromptFile, place: str) -> None:
    """Refuse examples where they cannot be shown."""
    if file.examples and file.answer != "yes_no":
        raise wrong(
            "only yes_no prompts take examples",
            place,
            "examples",
            allowed='answer = "yes_no", or 0',
            code="prompt.examples-and-answer",
        )
    if bool(file.examples) != bool(file.example.strip()):
        raise wrong(
            "examples and their layout belong together",
            place,
            "example",
            allowed="both keys, or neither",
            code="prompt.example-layout",
        )


def _check_choices(file: PromptFile, place: str) -> None:
    """Refuse lettered answers that are no letters, say yes to an unknown label, or cannot be asked for."""
    if not file.choices:
        return
    if file.answer != "yes_no" or file.examples:
        raise wrong(
            "only yes_no prompts without examples take lettered answers",
            place,
            "choices",
            allowed='answer = "yes_no" without examples, or no choices',
            code="prompt.choices-and-answer",
        )
    for letter, positive_labels in file.choices.items():
        is_letter = len(letter) == 1 and "A" <= letter <= "Z"
        if not is_letter or not set(positive_labels).issubset(file.labels):
            raise wrong(
                "a choice is a letter with the labels that it says yes to",
                place,
                f"choices.{letter}",
                allowed='such as A = ["depression"] and B = []; labels of this prompt only',
                code="prompt.bad-choice",
            )


def _check_slots(file: PromptFile, place: str) -> None:
    """Refuse templates in which a slot is missing, unknown or repeated."""
    # Everything that varies stands in the message of the user; that of the system is the same for all.
    user_slots = ["post"]
    if file.examples:
        user_slots.append("examples")
    if file.scale:
        user_slots.append("items")
    _check_columns(file.columns, place)
    user_slots += file.columns
    example_slots = ["post", "answer"] if file.examples else []

    _check_template(file.system, [], place, "system")
    _check_template(file.user, user_slots, place, "user")
    _check_template(file.example, example_slots, place, "example")


def _check_columns(columns: Sequence[str], place: str) -> None:
    """Refuse columns that cannot be slots."""
    for name in columns:
        is_slot = SLOT.fullmatch(f"{{{name}}}") is not None
        if not is_slot or name in _RESERVED or columns.count(name) > 1:
            raise wrong(
                f"'{name}' cannot be the slot of a column",
                place,
                "columns",
                allowed=f"names of letters and underscores, each once, not {', '.join(_RESERVED)}",
                do="rename the column",
                code="prompt.bad-column",
            )


def _check_template(
    template: str,
    required: Sequence[str],
    place: str,
    key: str,
) -> None:
    slots = SLOT.findall(template)
    allowed = "no slot"
    if required:
        allowed = ", ".join(f"{{{slot}}}" for slot in required) + " exactly once each"

    for slot in slots:
        if slot not in required:
            raise wrong(f"unknown slot {{{slot}}}", place, key, allowed, code="prompt.unknown-slot")
    for slot in required:
        times = slots.count(slot)
        if times != 1:
            raise wrong(
                f"the slot {{{slot}}} occurs {times} times", place, key, allowed, code="prompt.slot-count"
            )
