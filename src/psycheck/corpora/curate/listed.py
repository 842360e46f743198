"""Listed subreddits, terms and accounts: what sets control authors and control posts apart."""

import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
LISTED = "listed"
# Capitals to small letters, apostrophes kept, every other ASCII mark to a space; UTF-8 stays whole.
_WORDS = bytes(
    byte + 32
    if chr(byte).isascii() and chr(byte).isupper()
    else byte
    if byte >= 128 or chr(byte).isalnum() or byte == 39
    else 32
    for byte in range(256)
)


def words_in(text: str) -> list[bytes]:
    """The words of a text in small letters, as bytes; quick, because every post of a dump passes here."""
    return text.replace("’", "'").encode("utf-8", "replace").translate(_WORDS).split()


def listed_subreddits() -> frozenset[str]:
    """The subreddits in which people write about mental health, in small letters."""
    return frozenset(_data()["subreddits"])


def subreddits_of(names: Iterable[str]) -> frozenset[str]:
    """The named subreddits in small letters; "listed" stands for the whole list."""
    plain = {name.lower().removeprefix("/").removeprefix("r/") for name in names}
    return frozenset((plain - {LISTED}) | (listed_subreddits() if LISTED in plain else set()))


def is_person() -> Callable[[str], bool]:
    """A test of whether an account's name, in small letters, may be a person's."""
    names = frozenset(_data()["accounts"]["names"])
    endings = tuple(_data()["accounts"]["endings"])
    return lambda name: name not in names and not name.endswith(endings)


def holds_term() -> Callable[[list[bytes]], bool]:
    """A test of whether the words of a post hold a listed term."""
    terms = [term.encode() for term in _data()["terms"]]
    single = frozenset(term for term in terms if b" " not in term)
    phrases = tuple(b" %b " % term for term in terms if b" " in term)
    begins = frozenset(term.split()[0] for term in terms if b" " in term)

    def holds(words: list[bytes]) -> bool:
        if not single.isdisjoint(words):
            return True
        if begins.isdisjoint(words):
            return False
        whole = b" %b " % b" ".join(words)
        return any(phrase in whole for phrase in phrases)

    return holds


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((_HERE / "listed.toml").read_text("utf-8"))
