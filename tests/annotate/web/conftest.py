"""A server with work in every state, one per file of tests."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from annotation_site import World, build, served
from psycheck.annotate.database import database_url, open_database


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A running server with two projects, and an account for every role."""
    db = open_database(database_url(tmp_path_factory.mktemp("annotate")), new=True)
    filled = build(db)
    with served(db) as address:
        yield replace(filled, address=address)
    db.close()
