"""Labels out of a project: the judgement table, merged corpora, and the full trail."""

from collections.abc import Iterator
from typing import Any, Final, Literal

import polars as pl

from psycheck.annotate.database import Database
from psycheck.annotate.membership import Person
from psycheck.corpus import Corpus

Merge = Literal["any", "majority", "adjudicated", "share"]
MERGES: Final[tuple[Merge, ...]] = ("any", "majority", "adjudicated", "share")


def judgements(db: Database, who: Person | None, of: int) -> pl.DataFrame:
    """What annotators said of the items, in long form, without gold, tests and void answers; for the owner.

    Columns: `item`, `annotator`, `label`, `value` (0 or 1), `status`, `time`, `seconds`, and `queue`.
    """
    raise NotImplementedError


def merged(db: Database, who: Person | None, of: int, how: Merge) -> Corpus:
    """The items with answers as a corpus, their answers merged into one value per label; for the owner."""
    raise NotImplementedError


def trail(db: Database, who: Person | None, of: int) -> Iterator[dict[str, Any]]:
    """Every event of a project in order, for a JSONL file; answers with spans and flags, but no texts."""
    raise NotImplementedError


def exported(
    db: Database, who: Person, of: int, what: Literal["judgements", "trail"] | Merge
) -> tuple[str, bytes]:
    """A file to download: its name, made of the project's, and its content (JSON lines)."""
    raise NotImplementedError
