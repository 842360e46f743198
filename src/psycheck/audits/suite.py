"""Behavioural suites: files of checks, validated when read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from psycheck.core.errors import BadInput, nearest
from psycheck.core.registry import SUITES
from psycheck.io.settings import NOT_BLANK, Limit, read_settings, read_toml, wrong
from psycheck.models.fingerprint import hashed, source_hash
from psycheck.text.edits import Edit, Edited, Span, append, prepend, replace_words
from psycheck.text.noise import Noise, noise
from psycheck.text.person import Person, shift_person

Kind = Literal["INV", "MFT", "DIR"]
ExpectationKind = Literal["same_label", "label", "not_down", "not_up", "steady"]

INLINE: Final = "inline"  # the name of a suite that was made in Python
SHIPPED: Final = Path(__file__).with_name("suites")
FITS: Final[Mapping[str, tuple[str, ...]]] = {
    "INV": ("same_label",),
    "MFT": ("label",),
    "DIR": ("not_down", "not_up", "steady"),
}
Text = Annotated[str, NOT_BLANK]
Bit = Literal[0, 1]
Tolerance = Annotated[float, Limit("0 or more, below 1", lambda value: 0 <= value < 1)]
# Findings use these names, in `where` or as columns of findings.csv: a tag must not overwrite them.
_NO_TAGS: Final = (
    *("audit", "model", "corpus", "suite", "check", "kind", "label", "title", "by", "variant", "sentence"),
    *("measure", "value", "n", "low", "high", "flags", "examples"),
)
_CACHED: Final = 1 << 17  # texts per edit; about 1 kB per text for the six edits of DECK
_EDITS: Final = ("append", "prepend", "replace", "person", "noise")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a check expects of the model.

    same_label: the decision does not change; label: the decision is `label`; not_down, not_up: the
    probability of the positive class does not fall, or rise, by more than `by`; steady: it does neither.
    """

    kind: ExpectationKind
    label: int | None = None
    by: float = 0.0


@dataclass(frozen=True)
class Check:
    """One behavioural test.

    `edits` holds one edit per variant, `sentences` what they append (empty for other edits). `gold` restricts
    the check to texts with this label; None means all texts. With `each` a case passes if every variant
    passes; otherwise one variant is used per text.
    """

    id: str
    kind: Kind
    title: str
    label: str
    edits: tuple[Edit, ...] = field(repr=False, compare=False)
    sentences: tuple[str, ...]
    expect: Expectation
    gold: int | None = None
    each: bool = True
    tags: Mapping[str, str] = field(default_factory=lambda: _NOTHING, hash=False)


@dataclass(frozen=True)
class Suite:
    """A file of checks; the fingerprint changes with its content, but not with its comments."""

    name: str
    title: str
    source: str
    checks: tuple[Check, ...]
    fingerprint: str
    path: Path = field(compare=False)


def _cached(edit: Edit) -> Edit:
    """Cache an edit: a check applies it to every text twice, when it asks and when it judges.

    The first texts are kept, not the latest: a corpus is read in order, so for one larger than the cache the
    latest texts would never be found again.
    """
    # Plain tuples of strings and numbers, which Python's garbage collector stops tracking.
    cache: dict[str, tuple[str, tuple[Span, ...], int]] = {}

    def cached_edit(text: str) -> Edited:
        cached = cache.get(text)
        if cached is not None:
            return Edited(*cached)
        edited = edit(text)
        if len(cache) < _CACHED:
            cache[text] = (edited.text, edited.spans, edited.undecided)
        return edited

    return cached_edit


def shipped_suites() -> tuple[str, ...]:
    """The names of the shipped suites."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def read_suite(name_or_path: str | Path | Suite | Mapping[str, Any]) -> Suite:
    """Read a registered suite by name, or a TOML file; errors name the check and the key.

    A mapping is the content of such a file.
    """
    if isinstance(name_or_path, Suite):
        return name_or_path
    if isinstance(name_or_path, Mapping):
        return _suite_of(dict(name_or_path), Path(INLINE))
    path = _suite_file(name_or_path)
    return _suite_of(read_toml(path, "suite"), path)


def suite_of_checks(checks: Sequence[Check | Mapping[str, Any]], name: str = INLINE) -> Suite:
    """A suite of checks that were made in Python: objects, or the content of a [[check]] each."""
    entries = [check for check in checks if not isinstance(check, Check)]
    made = [check for check in checks if isinstance(check, Check)]
    read: tuple[Check, ...] = ()
    if entries:
        read = _suite_of({"name": name, "check": entries}, Path(name)).checks

    marks = []
    for check in (*read, *made):
        hashes_of_edits = [source_hash(edit) for edit in check.edits]
        marks.append(f"{check!r}{hashes_of_edits}")
    return Suite(
        name=name,
        title=name,
        source="",
        checks=(*read, *made),
        fingerprint=hashed(*marks),
        path=Path(name),
    )


def _suite_of(raw: Mapping[str, Any], path: Path) -> Suite:
    """The suite that the content of a file describes."""
    file = read_settings(_File, raw, str(path))
    if not file.check:
        raise wrong(
            "the suite has no checks",
            str(path),
            "check",
            allowed="at least one [[check]]",
            code="suite.no-checks",
        )

    name = file.name or path.stem
    checks: dict[str, Check] = {}
    for entry in file.check:
        place = f"{path}, check '{entry.id}'"
        if entry.id in checks:
            raise wrong(
                f"two checks have the id '{entry.id}'",
                place,
                "id",
                allowed="a unique id for each check",
                code="suite.repeated-id",
            )
        checks[entry.id] = _check(entry, file.label, place)

    # The content that was read, so that comments and layout do not change the fingerprint.
    content = json.dumps(
        [name, file.label, raw["check"]],
        sort_keys=True,
        ensure_ascii=False,
        default=str,
    )
    fingerprint = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Suite(
        name=name,
        title=file.title or name,
        source=file.source,
        checks=tuple(checks.values()),
        fingerprint=fingerprint,
        path=path,
    )


def _suite_file(name_or_path: str | Path) -> Path:
    """The TOML file of a suite: a registered name, or a path."""
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and name_or_path in SUITES:
        # A package registers one file, or the folder with all its suites.
        registered = Path(str(SUITES.get(name_or_path)))
        if registered.is_dir():
            return registered / f"{name_or_path}.toml"
        return registered
    looks_like_name = path.suffix != ".toml" and len(path.parts) == 1
    if looks_like_name and not path.exists():
        raise BadInput(
            f"unknown suite '{name_or_path}'",
            code="suite.unknown",
            allowed=nearest(str(name_or_path), SUITES.names()),
            do="name a shipped suite or a TOML file: psycheck ls suites",
        )
    if not path.is_file():
        raise BadInput(
            "suite file not found",
            code="suite.no-file",
            where=str(path),
            allowed="a TOML file of checks",
        )
    return path


@dataclass(frozen=True, slots=True)
class _Edit:
    """The edit of a check as written: one of five kinds."""

    append: tuple[str, ...] | None = None
    prepend: tuple[str, ...] | None = None
    replace: Mapping[str, Annotated[str, NOT_BLANK]] | None = None
    person: Person | None = None
    noise: Noise | None = None
    agreement: bool | None = None


@dataclass(frozen=True, slots=True)
class _Expect:
    """The expectation of a check as written, where it is a table."""

    label: Bit | None = None
    not_down: Tolerance | None = None
    not_up: Tolerance | None = None
    steady: Tolerance | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """One [[check]] of a file."""

    id: Text
    kind: Kind
    edit: _Edit
    expect: Any = None
    title: Text | None = None
    label: Text | None = None
    gold: Bit | None = None
    variants: Literal["each", "one"] = "each"
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _File:
    """A suite file."""

    name: Text | None = None
    title: Text | None = None
    source: Text = ""
    label: Text = ""
    check: tuple[_Entry, ...] = ()


def _check(entry: _Entry, default_label: str, place: str) -> Check:
    label = entry.label or default_label
    if not label:
        raise wrong(
            "the check has no label",
            place,
            "label",
            do="set it here or at the top of the suite",
            code="suite.no-label",
        )
    # An INV check can expect the same label alone, and so on: the kind says how a check is read.
    expect = _expectation(entry.expect, place)
    if expect.kind not in FITS[entry.kind]:
        raise wrong(
            f"{entry.kind} checks cannot expect '{expect.kind}'",
            place,
            "expect",
            allowed=" or ".join(FITS[entry.kind]),
            code="suite.expectation-of-other-kind",
        )
    _refuse_reserved_tags(entry.tags, place)
    edits, sentences = _edits(entry.edit, place)
    return Check(
        id=entry.id,
        kind=entry.kind,
        title=entry.title or entry.id,
        label=label,
        edits=edits,
        sentences=sentences,
        expect=expect,
        gold=entry.gold,
        each=entry.variants == "each",
        tags=MappingProxyType(dict(entry.tags)),
    )


def _refuse_reserved_tags(tags: Mapping[str, str], place: str) -> None:
    for name in tags:
        if name in _NO_TAGS:
            raise wrong(
                f"a tag cannot be called '{name}': findings use this name",
                place,
                f"tags.{name}",
                allowed=f"any name except {', '.join(_NO_TAGS)}",
                do="rename the tag",
                code="suite.reserved-tag",
            )


def _expectation(raw: object, place: str) -> Expectation:
    if raw == "same_label":
        return Expectation("same_label")
    if not isinstance(raw, dict) or len(raw) != 1:
        raise wrong(
            "the expectation is missing or unknown",
            place,
            "expect",
            allowed='"same_label", { label = 0 }, { not_down = 0.1 }, { not_up = 0.1 } or { steady = 0.1 }',
            code="suite.unknown-expectation",
        )
    # The key of the table is what is expected, its value the label or the tolerance.
    read_settings(_Expect, raw, place, "expect")
    ((kind, value),) = raw.items()
    if kind == "label":
        return Expectation("label", label=value)
    return Expectation(kind, by=float(value))


def _edits(edit: _Edit, place: str) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """One edit per variant, and the sentences that they append (none for other edits)."""
    _refuse_wrong_edit(edit, place)
    if edit.append is not None:
        _refuse_wrong_sentences(edit.append, place, "append")
        return tuple(append(sentence) for sentence in edit.append), edit.append
    if edit.prepend is not None:
        _refuse_wrong_sentences(edit.prepend, place, "prepend")
        return tuple(prepend(sentence) for sentence in edit.prepend), ()

    if edit.replace is not None:
        _refuse_wrong_words(edit.replace, place)
        single_edit = replace_words(edit.replace)
    elif edit.noise is not None:
        single_edit = noise(edit.noise)
    else:
        assert edit.person is not None
        single_edit = shift_person(edit.person, agreement=bool(edit.agreement))
    return (_cached(single_edit),), ()


def _refuse_wrong_edit(edit: _Edit, place: str) -> None:
    kinds = [name for name in _EDITS if getattr(edit, name) is not None]
    if len(kinds) != 1:
        raise wrong(
            f"the check has {len(kinds)} edits",
            place,
            "edit",
            allowed="exactly one of " + ", ".join(_EDITS),
            code="suite.not-one-edit",
        )
    if edit.agreement is not None and edit.person is None:
        raise wrong(
            "agreement applies only to a shift of person",
            place,
            "edit.agreement",
            allowed="with person = …",
            code="suite.agreement-without-person",
        )


def _refuse_wrong_sentences(sentences: tuple[str, ...], place: str, kind: str) -> None:
    key = f"edit.{kind}"
    if not sentences:
        raise wrong(
            f"no sentences to {kind}",
            place,
            key,
            allowed="a list of at least one sentence",
            code="suite.no-sentences",
        )
    for number, sentence in enumerate(sentences, 1):
        if not sentence.strip():
            raise wrong(f"sentence {number} is empty", place, key, code="suite.empty-sentence")
        if sentence in sentences[: number - 1]:
            raise wrong(f"sentence {number} is a duplicate", place, key, code="suite.repeated-sentence")


def _refuse_wrong_words(words: Mapping[str, str], place: str) -> None:
    if not words:
        raise wrong(
            "no words to replace",
            place,
            "edit.replace",
            allowed='a table such as { he = "she" }',
            code="suite.no-words",
        )
    for word, replacement in words.items():
        key = f"edit.replace.{word}"
        # Whole words are replaced, and only letters and digits show where one begins and ends.
        if not (word[:1].isalnum() and word[-1:].isalnum()):
            raise wrong(
                f"'{word}' is not a word",
                place,
                key,
                allowed="a letter or digit at both ends",
                code="suite.not-a-word",
            )
        # The replacement takes the case of the word, so that case alone is no difference.
        if word.lower() == replacement.lower():
            raise wrong("the replacement changes nothing", place, key, code="suite.same-word")
    # Words are looked up in lower case: one of two spellings would never be used.
    if len({word.lower() for word in words}) < len(words):
        raise wrong(
            "duplicate word",
            place,
            "edit.replace",
            allowed="each word once, ignoring case",
            code="suite.repeated-word",
        )
