"""The encodings of text files besides UTF-8: UTF-16, and the ones of older spreadsheets."""

import codecs
from collections.abc import Iterator
from itertools import chain

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SAMPLE = 4096  # bytes at the start of a file that show whether every second one is NUL
_MOSTLY = 0.3
_OLDER = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}


class LineDecoder:
    """Decodes the lines of a file: UTF-8, or Windows-1252 from the first line that is not valid UTF-8.

    A file that holds characters of UTF-8 before such a line is damaged, and is not decoded in another way.
    `note` says what was assumed, "" if nothing was.
    """

    def __init__(self) -> None:
        self.note = ""
        self._older = ""
        self._has_utf_8 = False

    def decode(self, line: bytes) -> str:
        """The text of a line; UnicodeDecodeError if the file is damaged."""
        # Most lines of most files: nothing to decide.
        if line.isascii():
            return line.decode("ascii")
        if self._older:
            return self._decode_older(line)
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            if self._has_utf_8:
                raise
            self._assume(line)
            return self._decode_older(line)
        self._has_utf_8 = True
        return text

    def _assume(self, line: bytes) -> None:
        # Latin-1 has control characters where Windows-1252 has curly quotes or nothing.
        try:
            line.decode("cp1252")
            self._older = "cp1252"
        except UnicodeDecodeError:
            self._older = "latin-1"
        self.note = f"Guessed that the file is encoded in {_OLDER[self._older]}: it is not valid UTF-8."

    def _decode_older(self, line: bytes) -> str:
        # Two characters of Windows-1252 that form one of UTF-8 are rare: rather both encodings are mixed.
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return line.decode(self._older)
        raise UnicodeDecodeError("utf-8", line, 0, 1, "two encodings in one file")


def utf_16_of(first_bytes: bytes) -> str | None:
    """The kind of UTF-16 in which a file begins, by its mark or by its NUL bytes; None for anything else."""
    for mark, encoding in _UTF_16.items():
        if first_bytes.startswith(mark):
            return encoding

    sample = first_bytes[:_SAMPLE]
    if len(sample) < len(_UTF_16) * 2:
        return None
    even = sample[0::2].count(0) / len(sample)
    odd = sample[1::2].count(0) / len(sample)
    if odd > _MOSTLY and not even:
        return "utf-16-le"
    return "utf-16-be" if even > _MOSTLY and not odd else None


def as_utf_8(first: bytes, chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The chunks of a file of UTF-16 as UTF-8, without a mark; a damaged end becomes U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    is_first = True
    for chunk in chain([first], chunks):
        text = decoder.decode(chunk)
        if is_first:
            text = text.removeprefix("\ufeff")
            is_first = False
        yield text.encode("utf-8", "surrogatepass")
    yield decoder.decode(b"", final=True).encode("utf-8")
