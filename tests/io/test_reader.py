"""The one settings reader: what it accepts, and the error for everything else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from psycheck.core.errors import BadInput
from psycheck.io.settings import AT_LEAST_1, NOT_BLANK, Limit, check_values, read_settings, read_toml
from refusals import refused

SHARE = Limit("0 to 1", lambda share: 0 <= share <= 1)


@dataclass(frozen=True, slots=True)
class Part:
    id: Annotated[str, NOT_BLANK]
    weight: Annotated[float, SHARE] = 1


@dataclass(frozen=True, slots=True)
class Whole:
    name: str
    count: Annotated[int, AT_LEAST_1] | None = None
    on: bool = False
    kind: Literal["small", "large"] = "small"
    bit: Literal[0, 1] = 0
    names: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    inner: Part | None = None
    part: tuple[Part, ...] = ()
    table: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file: Path | None = None
    anything: Any = None


def test_values_become_what_the_annotations_say() -> None:
    raw = {
        "name": "a",
        "count": np.int64(3),
        "kind": "large",
        "names": "one",
        "sizes": [1, 2],
        "inner": {"id": "x", "weight": 0},
        "part": [{"id": "y"}],
        "table": {"m": ["posts"]},
        "file": "a.csv",
        "anything": [1],
    }
    assert read_settings(Whole, raw) == Whole(
        "a",
        3,
        kind="large",
        names=("one",),
        sizes=(1, 2),
        inner=Part("x", 0),
        part=(Part("y"),),
        table={"m": ("posts",)},
        file=Path("a.csv"),
        anything=[1],
    )


@pytest.mark.parametrize(
    ("raw", "what", "key", "allowed"),
    [
        ({"nmae": 1}, "unknown key 'nmae'", "nmae", "did you mean 'name'?"),
        ({}, "'name' is missing", "name", "a string"),
        ({"name": 1}, "'name' must be a string", "name", "a string"),
        ({"count": 1.5}, "'count' must be an integer", "count", "an integer"),
        ({"count": True}, "'count' must be an integer", "count", "an integer"),
        ({"count": 0}, "'count' is out of range: 0", "count", "1 or more"),
        ({"on": 1}, "'on' must be true or false", "on", "true or false"),
        ({"kind": "larg"}, "unknown kind 'larg'", "kind", "small, large (did you mean 'large'?)"),
        ({"bit": 2}, "unknown bit '2'", "bit", "0, 1"),
        ({"bit": True}, "unknown bit", "bit", "0, 1"),
        ({"names": 3}, "'names' must be a list of strings", "names", "a list of strings"),
        ({"sizes": 3}, "'sizes' must be a list of integers", "sizes", "a list of integers"),
        ({"part": [3]}, "'part' must be a list of tables", "part", "a list of tables"),
        ({"inner": {"id": "x", "weight": 2}}, "'inner.weight' is out of range: 2", "inner.weight", "0 to 1"),
        ({"inner": {"di": "x"}}, "unknown key 'di'", "inner.di", "id, weight"),
        ({"inner": {"id": " "}}, "'inner.id' is empty", "inner.id", "a non-empty string"),
        ({"table": {"m": 1}}, "'table.m' must be a list of strings", "table.m", "a list of strings"),
        ({"file": 1}, "'file' must be a path", "file", "a path"),
    ],
)
def test_an_error_says_what_where_and_what_is_allowed(
    raw: dict[str, Any], what: str, key: str, allowed: str
) -> None:
    if what != "'name' is missing":
        raw = {"name": "a", **raw}
    with pytest.raises(BadInput) as caught:
        read_settings(Whole, raw, "plan.toml")
    error = caught.value
    assert error.what.startswith(what)
    assert error.where == f"plan.toml, key '{key}'"
    assert allowed in error.allowed
    with pytest.raises(BadInput) as caught:
        read_settings(Whole, raw)
    assert (caught.value.where, caught.value.key) == ("", key)  # the caller knows the value by its name


def test_an_entry_of_a_list_is_named_by_its_id_or_its_number() -> None:
    for part, place in (({"id": "y", "weight": 2}, "part 'y'"), ({"weight": 2}, "part 2")):
        with pytest.raises(BadInput) as caught:
            read_settings(Whole, {"name": "a", "part": [{"id": "x"}, part]}, "plan.toml")
        assert caught.value.where.startswith(f"plan.toml, {place}, key '")


def test_a_dataclass_can_check_itself() -> None:
    @dataclass(frozen=True)
    class Own:
        sizes: tuple[int, ...] = ()
        share: Annotated[float, SHARE] = 0.5

        def __post_init__(self) -> None:
            check_values(self)

    assert Own([1, 2]).sizes == (1, 2)  # type: ignore[arg-type]  # a list, as from JSON
    assert Own(share=1).share == 1
    with refused("settings.out-of-range", what="'share' is out of range: 1.5"):
        Own(share=1.5)


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    with refused("toml.cannot-read"):
        read_toml(path, "plan")
    path.write_bytes(b'name = "\xe9"')
    with refused("toml.not-utf-8") as caught:
        read_toml(path, "plan")
    assert caught.value.where == f"{path}, byte 8"
    path.write_text("a = [")
    with refused("toml.not-valid"):
        read_toml(path, "plan")
