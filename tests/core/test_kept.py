from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from psycheck.core.arrays import FloatArray
from psycheck.core.kept import keeping, kept


class Shelf:
    """A shelf in memory."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, FloatArray] = {}

    def result(self, key: bytes) -> FloatArray | None:
        return self.numbers.get(key)

    def add_result(self, key: bytes, numbers: FloatArray) -> None:
        self.numbers[key] = numbers


@pytest.fixture
def code(tmp_path: Path) -> Path:
    file = tmp_path / "code.py"
    file.write_text("old code")
    return file


def counting(result: bytes) -> tuple[Callable[[], bytes], list[int]]:
    """A computation, and a list with an entry for each time that it was done."""
    calls: list[int] = []

    def compute() -> bytes:
        calls.append(1)
        return result

    return compute, calls


@pytest.mark.parametrize("result", [b"", b"seven b", b"8 bytes!", np.array([np.nan, -0.0]).tobytes()])
def test_what_was_computed_is_read_back_byte_for_byte(result: bytes, code: Path) -> None:
    compute, calls = counting(result)
    with keeping(Shelf()):
        assert kept("job", [b"a"], compute, code=code) == result
        assert kept("job", [b"a"], compute, code=code) == result
    assert len(calls) == 1


def test_without_a_shelf_it_is_computed_every_time(code: Path) -> None:
    compute, calls = counting(b"x")
    kept("job", [b"a"], compute, code=code)
    kept("job", [b"a"], compute, code=code)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("name", "inputs"), [("other", [b"ab", b"c"]), ("job", [b"a", b"bc"]), ("job", [b"abc"])]
)
def test_another_name_or_input_is_another_result(name: str, inputs: list[bytes], code: Path) -> None:
    compute, calls = counting(b"x")
    with keeping(Shelf()):
        kept("job", [b"ab", b"c"], compute, code=code)
        kept(name, inputs, compute, code=code)
    assert len(calls) == 2


def test_other_code_computes_anew(code: Path, tmp_path: Path) -> None:
    compute, calls = counting(b"x")
    other = tmp_path / "other.py"
    other.write_text("new code")
    with keeping(Shelf()):
        kept("job", [b"a"], compute, code=code)
        kept("job", [b"a"], compute, code=other)
    assert len(calls) == 2


def test_the_shelf_holds_neither_inputs_nor_results_in_clear(code: Path) -> None:
    shelf = Shelf()
    with keeping(shelf):
        kept("job", [b"a private text"], lambda: b"a private result", code=code)
    ((key, numbers),) = shelf.numbers.items()
    assert b"private" not in key + numbers.tobytes()
