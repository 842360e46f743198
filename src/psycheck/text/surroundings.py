"""What stands beside a place in a text; "" or None beyond its ends.

Every look is bounded by a number of characters, so that the time that an edit takes grows with the length of
the text and no faster.
"""

from re import Match, Pattern


def character_before(text: str, at: int) -> str:
    """The character before a place; "" at the start of the text."""
    if at <= 0:
        return ""
    return text[at - 1]


def character_at(text: str, at: int) -> str:
    """The character at a place; "" at the end of the text."""
    return text[at : at + 1]


def text_before(text: str, at: int, reach: int) -> str:
    """The last characters before a place, `reach` at most."""
    return text[max(0, at - reach) : at]


def words_before(text: str, at: int, reach: int) -> list[str]:
    """The words before a place in lower case, in order; `reach` characters may cut the first one short."""
    return text_before(text, at, reach).lower().split()


def search_before(
    pattern: Pattern[str],
    text: str,
    at: int,
    reach: int,
) -> Match[str] | None:
    """The first match of a pattern within the last `reach` characters before a place."""
    return pattern.search(text, max(0, at - reach), at)
