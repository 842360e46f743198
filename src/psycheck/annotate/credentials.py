"""Names, passwords and tokens: how they may look, and what of them is stored.

Passwords are stored as argon2 hashes, tokens as digests: who reads the database cannot use them.
"""

import re
import unicodedata
from functools import cache
from hashlib import sha256
from secrets import token_urlsafe
from threading import BoundedSemaphore
from typing import Any, Final

from psycheck.core.errors import BadInput, library

SHORTEST_PASSWORD: Final = 10
_LONGEST_PASSWORD: Final = 200
_NAME: Final = re.compile(r"\w[\w.@+-]{1,59}")  # a spreadsheet would run one that begins with @, + or -
_hashing = BoundedSemaphore(2)  # argon2 takes 64 MB each time


def folded_name(name: str) -> str:
    """A name as it is stored: one spelling for all that look alike."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def checked_name(name: str) -> str:
    """A new name as it is stored; one that cannot be used is refused."""
    folded = folded_name(name)
    if not _NAME.fullmatch(folded):
        raise BadInput(
            "this name cannot be used",
            code="account.bad-name",
            allowed="2 to 60 letters, digits and . _ @ + -, a letter or digit first",
            key="name",
        )
    return folded


def check_password(name: str, password: str) -> None:
    """Refuse a new password that is too short, too long, or the name."""
    fits = SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD
    if not fits or folded_name(password) == name:
        raise BadInput(
            "this password cannot be used",
            code="account.bad-password",
            allowed=f"{SHORTEST_PASSWORD} to {_LONGEST_PASSWORD} characters, and not your name",
            key="password",
        )


def digest_of(token: str) -> str:
    """What is stored of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def hash_password(password: str) -> str:
    """What is stored of a password."""
    with _hashing:
        return str(_hasher().hash(password.encode("utf-8", "surrogatepass")))


@cache
def hash_of_nobody() -> str:
    """The hash of a password that nobody knows, to be checked where an account does not exist."""
    return hash_password(token_urlsafe(16))


def is_password(hashed: str, password: str) -> bool:
    """Whether a password is the one that was hashed."""
    # Imported here: the extra is missing where nobody annotates.
    import argon2

    if len(password) > _LONGEST_PASSWORD:
        return False
    with _hashing:
        try:
            return bool(_hasher().verify(hashed, password.encode("utf-8", "surrogatepass")))
        except argon2.exceptions.VerificationError:
            return False


@cache
def _hasher() -> Any:
    return library("argon2", "annotation", "annotate").PasswordHasher()
