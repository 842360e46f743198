import tomllib
import tracemalloc

import pytest

from psycheck.io.toml import MOST_PARTS, parse_toml


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 32_000 + " = 1",
        "[" + "a." * 32_000 + "a]",
        "a = {" + "b." * 32_000 + "b = 1}",
        "\n".join(f"k{row}" + ".a" * 4_000 + " = 1" for row in range(8)),
    ],
)
def test_64_kb_of_dotted_keys_are_refused_in_little_memory(text: str) -> None:
    tracemalloc.start()
    with pytest.raises(tomllib.TOMLDecodeError, match="line 1"):
        parse_toml(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6


def test_the_longest_key_that_is_allowed_is_read() -> None:
    tables = parse_toml(".".join(["a"] * MOST_PARTS) + " = 1")
    depth = 0
    while isinstance(tables, dict):
        tables = tables["a"]
        depth += 1
    assert depth == MOST_PARTS


def test_many_lines_of_allowed_keys_take_little_memory() -> None:
    text = "\n".join(f"k{row}" + ".a" * (MOST_PARTS - 1) + " = 1" for row in range(160))  # 64 kB
    tracemalloc.start()
    parse_toml(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6


def test_dots_in_texts_are_not_keys() -> None:
    assert parse_toml('text = "so tired ........ really"') == {"text": "so tired ........ really"}
    assert parse_toml("") == {}
    decimals = ", ".join(["0.5"] * 1_000)
    assert parse_toml(f"levels = [{decimals}]") == {"levels": [0.5] * 1_000}
