"""The key of an encrypted database: made, read and checked."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from psycheck.core.errors import BadInput, library
from psycheck.io.writing import private_folder, writing

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

KEY_VARIABLE: Final = "PSYCHECK_ANNOTATE_KEY"


def read_key(file: Path | None) -> bytes | None:
    """The key from a file, or from the environment variable PSYCHECK_ANNOTATE_KEY; None without either."""
    if file is None:
        return os.environ.get(KEY_VARIABLE, "").encode() or None
    try:
        return file.read_bytes().strip()
    except OSError as error:
        raise BadInput(
            f"cannot read the key file ({error.strerror})",
            code="key.unreadable",
            where=str(file),
        ) from error


def make_key(file: Path) -> bytes:
    """Write a new key to a file that its owner alone can read; an existing file is kept and read."""
    if file.exists():
        return read_key(file) or b""
    library("cryptography", "encryption", "annotate")
    from cryptography.fernet import Fernet

    key: bytes = Fernet.generate_key()
    with writing(file):
        private_folder(file.resolve().parent)
        # Refused if another process has just made the file: its key must not be lost.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(key + b"\n")
            os.fsync(opened.fileno())
    return key


def cipher_of(key: bytes | None) -> "Fernet | None":
    """What encrypts with a key; None without one."""
    if key is None:
        return None
    library("cryptography", "encryption", "annotate")
    from cryptography.fernet import Fernet

    try:
        return Fernet(key)
    except ValueError as error:
        raise BadInput(
            "the key is not a key",
            code="key.malformed",
            allowed="32 bytes in URL-safe base64",
            do="make one with psycheck annotate new FOLDER --key-file FILE",
        ) from error
