"""Behavioural suites: files of checks, validated when read."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn, cast, get_args

from psycheck.errors import BadInput, nearest
from psycheck.text.edits import Edit, Edited, Span, append, replace_words
from psycheck.text.noise import Noise, noise
from psycheck.text.person import Person, shift_person

Kind = Literal["INV", "MFT", "DIR"]
ExpectationKind = Literal["same_label", "label", "not_down", "not_up", "steady"]

SHIPPED: Final = Path(__file__).with_name("suites")
FITS: Final[Mapping[str, tuple[str, ...]]] = {
    "INV": ("same_label",),
    "MFT": ("label",),
    "DIR": ("not_down", "not_up", "steady"),
}
_SUITE_KEYS: Final = ("name", "title", "source", "label", "check")
_CHECK_KEYS: Final = ("id", "kind", "title", "label", "edit", "expect", "gold", "variants", "tags")
# Findings name these themselves, in `where` or as columns of findings.csv: a tag would take their place.
_NO_TAGS: Final = (
    *("audit", "model", "corpus", "suite", "check", "kind", "label", "title", "by", "variant", "sentence"),
    *("measure", "value", "n", "low", "high", "flags", "examples"),
)
_REMEMBERED: Final = 1 << 17  # texts for each edit; about 1 kB a text for the six of DECK
_EDITS: Final = ("append", "replace", "person", "noise")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a check expects of the model.

    same_label: the decision stays; label: the decision is `label`; not_down, not_up: the probability of the
    positive class does not fall, or rise, by more than `by`; steady: it does neither.
    """

    kind: ExpectationKind
    label: int | None = None
    by: float = 0.0


@dataclass(frozen=True)
class Check:
    """One behavioural test.

    `edits` holds one edit a variant, `sentences` what they append (else nothing). `gold` keeps the check to
    texts annotated so; None means all texts. With `each` a case passes if every variant passes, otherwise one
    variant a text is taken. `edit` is the edit as it was written.
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
    edit: Mapping[str, Any] = field(default_factory=lambda: _NOTHING, hash=False)


@dataclass(frozen=True)
class Suite:
    """A file of checks; the fingerprint changes with anything that is written in it but comments."""

    name: str
    title: str
    source: str
    checks: tuple[Check, ...]
    fingerprint: str
    path: Path = field(compare=False)


def _remembered(edit: Edit) -> Edit:
    """An edit is made when a check asks and again when it judges; the second time is spared.

    The first texts are kept, not the last: a corpus is gone through in order, so that of one too large for a
    cache of the last texts none would be found again.
    """
    # Plain tuples of strings and numbers: Python's garbage collector learns to pass them by.
    known: dict[str, tuple[str, tuple[Span, ...], int]] = {}

    def once(text: str) -> Edited:
        if (before := known.get(text)) is not None:
            return Edited(*before)
        done = edit(text)
        if len(known) < _REMEMBERED:
            known[text] = (done.text, done.spans, done.undecided)
        return done

    return once


def shipped_suites() -> tuple[str, ...]:
    """The names of the suites that come with psycheck."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def read_suite(name_or_path: str | Path) -> Suite:
    """Read a shipped suite by its name, or a TOML file; a mistake in it is an error that says where."""
    path = _find(name_or_path)
    try:
        raw = tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise BadInput(f"the suite cannot be read ({error.strerror})", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise BadInput("the suite is not UTF-8 text", where=f"{path}, byte {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            f"the suite is not valid TOML: {error}", where=str(path), do="mend the line that is named"
        ) from error
    return _Reader(path).suite(raw)


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and name_or_path in shipped_suites():
        return SHIPPED / f"{name_or_path}.toml"
    if path.is_file():
        return path
    if path.suffix == ".toml" or len(path.parts) > 1 or path.is_dir():
        raise BadInput("there is no such suite file", where=str(path), allowed="a TOML file of checks")
    raise BadInput(
        f"there is no suite '{name_or_path}'",
        allowed=nearest(str(name_or_path), shipped_suites()),
        do="name a shipped suite or a TOML file",
    )


@dataclass
class _Reader:
    """Reads one file and remembers where it is, so that a mistake can say so."""

    path: Path
    check: str = ""

    def wrong(self, what: str, key: str = "", *, allowed: str = "", do: str = "") -> NoReturn:
        places = (str(self.path), self.check, f"key '{key}'" if key else "")
        raise BadInput(what, where=", ".join(place for place in places if place), allowed=allowed, do=do)

    def suite(self, raw: dict[str, Any]) -> Suite:
        self.known(raw, _SUITE_KEYS, "")
        name = self.text(raw, "name", default=self.path.stem)
        title = self.text(raw, "title", default=name)
        source = self.text(raw, "source", default="")
        label = self.text(raw, "label", default="")
        tables = raw.get("check", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self.wrong("checks are not written as tables", "check", allowed="one [[check]] for each check")
        if not tables:
            self.wrong("the suite has no check", "check", allowed="at least one [[check]]")
        checks: list[Check] = []
        seen: dict[str, int] = {}
        for number, table in enumerate(tables, 1):
            check = self.one(table, number, label)
            if check.id in seen:
                self.wrong(f"the id '{check.id}' is that of check {seen[check.id]} already", "id")
            seen[check.id] = number
            checks.append(check)
        content = json.dumps([name, label, tables], sort_keys=True, ensure_ascii=False, default=str)
        fingerprint = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return Suite(name, title, source, tuple(checks), fingerprint, self.path)

    def one(self, raw: dict[str, Any], number: int, label: str) -> Check:
        given = raw.get("id")
        self.check = f"check '{given}'" if isinstance(given, str) and given else f"check {number}"
        self.known(raw, _CHECK_KEYS, "")
        id_ = self.text(raw, "id")
        kind = self.text(raw, "kind")
        if kind not in FITS:
            self.wrong(f"there is no kind '{kind}'", "kind", allowed=nearest(kind, FITS))
        expect = self.expectation(raw.get("expect"))
        if expect.kind not in FITS[kind]:
            self.wrong(f"{kind} does not fit '{expect.kind}'", "expect", allowed=" or ".join(FITS[kind]))
        label = self.text(raw, "label", default=label)
        if not label:
            self.wrong("the check has no label", "label", do="name one here or at the head of the suite")
        variants = raw.get("variants", "each")
        if variants not in ("each", "one"):
            self.wrong("unknown variants", "variants", allowed='"each" or "one"')
        edit = raw.get("edit")
        edits, sentences = self.edits(edit)
        return Check(
            id=id_,
            kind=cast(Kind, kind),
            title=self.text(raw, "title", default=id_),
            label=label,
            edits=edits,
            sentences=sentences,
            expect=expect,
            gold=self.bit(raw["gold"], "gold") if "gold" in raw else None,
            each=variants == "each",
            tags=self.tags(raw.get("tags", {})),
            edit=MappingProxyType(cast(dict[str, Any], edit)),
        )

    def edits(self, raw: object) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
        if not isinstance(raw, dict):
            self.wrong("the check has no edit", "edit", allowed="a table with one of " + ", ".join(_EDITS))
        self.known(raw, (*_EDITS, "agreement"), "edit")
        named = [name for name in _EDITS if name in raw]
        if len(named) != 1:
            self.wrong(
                f"the check has {len(named)} edits", "edit", allowed="exactly one of " + ", ".join(_EDITS)
            )
        if "agreement" in raw and named != ["person"]:
            self.wrong("agreement belongs to a shift of person", "edit.agreement", allowed="with person = …")
        match named[0]:
            case "append":
                sentences = self.sentences(raw["append"])
                return tuple(append(sentence) for sentence in sentences), sentences
            case "replace":
                return (_remembered(replace_words(self.words(raw["replace"]))),), ()
            case "noise":
                return (_remembered(noise(self.noise(raw["noise"]))),), ()
            case _:
                edit = shift_person(self.person(raw["person"]), agreement=self.agreement(raw))
                return (_remembered(edit),), ()

    def sentences(self, raw: object) -> tuple[str, ...]:
        if not isinstance(raw, list) or not raw:
            self.wrong("no sentences to append", "edit.append", allowed="a list of at least one sentence")
        for number, sentence in enumerate(raw, 1):
            if not isinstance(sentence, str) or not sentence.strip():
                self.wrong(f"sentence {number} is empty or no text", "edit.append")
            if sentence in raw[: number - 1]:
                self.wrong(f"sentence {number} is there twice", "edit.append")
        return tuple(raw)

    def words(self, raw: object) -> dict[str, str]:
        if not isinstance(raw, dict) or not raw:
            self.wrong("no words to replace", "edit.replace", allowed='a table such as { he = "she" }')
        for word, said in raw.items():
            if not (word[:1].isalnum() and word[-1:].isalnum()):
                self.wrong(
                    f"'{word}' is no word", f"edit.replace.{word}", allowed="a letter or digit at both ends"
                )
            if not isinstance(said, str) or not said.strip():
                self.wrong("the replacement is empty or no text", f"edit.replace.{word}")
            if word.lower() == said.lower():
                self.wrong("the replacement changes nothing", f"edit.replace.{word}")
        if len({word.lower() for word in raw}) < len(raw):
            self.wrong("a word is there twice", "edit.replace", allowed="each word once, whatever its case")
        return raw

    def person(self, raw: object) -> Person:
        if raw not in get_args(Person):
            self.wrong("unknown person", "edit.person", allowed=", ".join(get_args(Person)))
        return cast(Person, raw)

    def noise(self, raw: object) -> Noise:
        if raw not in get_args(Noise):
            self.wrong("unknown noise", "edit.noise", allowed=", ".join(get_args(Noise)))
        return cast(Noise, raw)

    def agreement(self, raw: dict[str, Any]) -> bool:
        if not isinstance(said := raw.get("agreement", False), bool):
            self.wrong("agreement is no true or false", "edit.agreement", allowed="true or false")
        return said

    def expectation(self, raw: object) -> Expectation:
        if raw == "same_label":
            return Expectation("same_label")
        shape = '"same_label", { label = 0 }, { not_down = 0.1 }, { not_up = 0.1 } or { steady = 0.1 }'
        if not isinstance(raw, dict) or len(raw) != 1:
            self.wrong("the expectation is missing or not one of those known", "expect", allowed=shape)
        self.known(raw, ("label", "not_down", "not_up", "steady"), "expect")
        ((kind, value),) = raw.items()
        if kind == "label":
            return Expectation("label", label=self.bit(value, "expect.label"))
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
            self.wrong("the tolerance is no number from 0 to below 1", f"expect.{kind}", allowed=shape)
        return Expectation(cast(ExpectationKind, kind), by=float(value))

    def tags(self, raw: object) -> Mapping[str, str]:
        if not isinstance(raw, dict) or not all(isinstance(value, str) for value in raw.values()):
            self.wrong("tags are not all text", "tags", allowed='a table such as { item = "1" }')
        for name in raw:
            if name in _NO_TAGS:
                self.wrong(
                    f"a tag may not be called '{name}': findings say it themselves",
                    f"tags.{name}",
                    allowed=f"any other name than {', '.join(_NO_TAGS)}",
                    do="rename the tag",
                )
        return MappingProxyType(raw)

    def bit(self, value: object, key: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1):
            self.wrong("the label is neither 0 nor 1", key, allowed="0 or 1")
        return value

    def text(self, raw: dict[str, Any], key: str, default: str | None = None) -> str:
        value = raw.get(key, default)
        if value is None:
            self.wrong(f"'{key}' is missing", key, allowed="some text")
        if not isinstance(value, str) or (key in raw and not value.strip()):
            self.wrong(f"'{key}' is empty or no text", key, allowed="some text")
        return value

    def known(self, raw: dict[str, Any], keys: tuple[str, ...], within: str) -> None:
        for key in raw:
            if key not in keys:
                place = f"{within}.{key}" if within else key
                self.wrong(f"unknown key '{key}'", place, allowed=nearest(key, keys))
