"""What all verbs of `psycheck annotate` share: the database that they are given, and how invitations look."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psycheck.annotate.database import Database


def open_database_at(place: str, key_file: Path | None, *, new: bool = False) -> "Database":
    """Open the database in a folder, or of a URL."""
    from psycheck.annotate.database import database_url, open_database
    from psycheck.annotate.encryption_key import read_key

    return open_database(database_url(place), read_key(key_file), new=new)


def print_invitation(token: str, who: str) -> None:
    """Print the link of an invitation."""
    typer.echo(f"invitation for {who}, for one person within 7 days: /invitation/{token}")
