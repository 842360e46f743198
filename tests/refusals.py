"""How a test says which mistake it expects: by the stable code of the error, not by its words."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from psycheck.core.errors import PsycheckError


@contextmanager
def refused(code: str, **parts: str) -> Iterator[pytest.ExceptionInfo[PsycheckError]]:
    """Expect an error with this code, whose `where`, `key`, `allowed` or `do` contain these values."""
    with pytest.raises(PsycheckError) as caught:
        yield caught
    assert caught.value.code == code, f"{caught.value.code or 'no code'}: {caught.value.what}"
    for part, value in parts.items():
        assert value in getattr(caught.value, part)
