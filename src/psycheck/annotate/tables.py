"""The tables of the annotation database; every change needs a migration in `migrations/versions`.

Times are seconds since 1970 (UTC). `item.text`, `item.about`, `reason.why` and `assignment.comment` are
encrypted where the database has a key.
"""

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    literal_column,
)
from sqlalchemy.dialects import postgresql, sqlite

metadata = MetaData()


def _id() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _ref(name: str, to: str, *, null: bool = False, key: bool = False) -> Column[int]:
    return Column(name, ForeignKey(f"{to}.id"), nullable=null, primary_key=key)


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


server = Table(
    "server", metadata, Column("name", String, primary_key=True), Column("value", Text, nullable=False)
)

person = Table(
    "person",
    metadata,
    _id(),
    Column("name", String, nullable=False, unique=True),
    Column("password", String, nullable=False),  # argon2
    Column("owner", Boolean, nullable=False),  # of the server: creates projects
    Column("made", Float, nullable=False),
)

session = Table(
    "session",
    metadata,
    Column("digest", String, primary_key=True),  # of the token that the cookie holds
    _ref("person", "person"),
    Column("csrf", String, nullable=False),
    Column("expires", Float, nullable=False),
    Index("session_person", "person"),
)

failure = Table(  # failed log-ins, by name and address
    "failure",
    metadata,
    Column("who", String, primary_key=True),
    _count("times"),
    Column("since", Float, nullable=False),
)

project = Table(
    "project",
    metadata,
    _id(),
    Column("name", String, nullable=False, unique=True),
    Column("settings", Text, nullable=False),  # the project file, TOML
    Column("graph", Text),  # the symptom graph, JSON; null for the shipped one
    _count("positions"),  # given to items so far
    _count("returns"),  # given to items that came back to the queue
    Column("made", Float, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),  # of the settings
    Column("ended", Float),  # when its owner ended it; null while it runs
)

version = Table(  # the settings of a project as they were, version by version
    "version",
    metadata,
    _ref("project", "project", key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("settings", Text, nullable=False),
    _ref("person", "person", null=True),
    Column("made", Float, nullable=False),
)

member = Table(
    "member",
    metadata,
    _ref("project", "project", key=True),
    _ref("person", "person", key=True),
    Column("role", String, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("day", String, nullable=False, server_default=""),  # that `today` counts
    _count("today"),
    _count("since_break"),
    Column("last", Float, nullable=False, server_default="0"),  # time of the last answer
    Column("rests_until", Float, nullable=False, server_default="0"),
    Index("member_person", "person"),
)

invitation = Table(
    "invitation",
    metadata,
    Column("digest", String, primary_key=True),
    _ref("project", "project", null=True),  # null: an owner of the server
    Column("role", String, nullable=False),
    Column("expires", Float, nullable=False),
    _ref("used_by", "person", null=True),
    Column("made", Float, nullable=False, server_default="0"),
)

password_link = Table(  # one-time links to set a new password
    "password_link",
    metadata,
    Column("digest", String, primary_key=True),  # of the token in the link
    _ref("person", "person"),
    Column("expires", Float, nullable=False),
)

item = Table(
    "item",
    metadata,
    _id(),
    _ref("project", "project"),
    Column("queue", String, nullable=False),  # the disease, or "" for conditions
    Column("kind", String, nullable=False),  # item, screening, gold
    Column("name", String, nullable=False),  # the id that the corpus gave it
    Column("text", Text, nullable=False),
    Column("about", Text, nullable=False),  # author, time, split and groups, JSON
    Column("lane", Integer, nullable=False),  # 0: came back to the queue, 1: not yet
    Column("position", Integer, nullable=False),
    Column("open", Integer, nullable=False),  # annotators that are still needed
    _count("answered"),
    Column("conflict", String),  # null, open, resolved
    Column("made", Float, nullable=False),
    Column("flag", String),  # null: as the annotators say; flagged or cleared by somebody who decides
    Column("closed", Boolean, nullable=False, server_default=false()),  # needs no more annotators
    UniqueConstraint("project", "queue", "name"),
)
# Conditions of partial indexes: only a query with the same words, not with a parameter, can use the index.
HAS_PLACE = item.c.open > literal_column("0")
Index("item_next", item.c.project, item.c.queue, item.c.kind, item.c.lane, item.c.position,
      sqlite_where=HAS_PLACE, postgresql_where=HAS_PLACE)  # fmt: skip
Index("item_conflict", item.c.project, item.c.conflict,
      sqlite_where=item.c.conflict.is_not(None), postgresql_where=item.c.conflict.is_not(None))  # fmt: skip

gold = Table(  # what the project's own judges say of screening and hidden gold items
    "gold",
    metadata,
    _ref("item", "item", key=True),
    Column("label", String, primary_key=True),
    Column("value", Integer, nullable=False),
    Column("status", String),
)

reason = Table("reason", metadata, _ref("item", "item", key=True), Column("why", Text, nullable=False))

suggestion = Table(
    "suggestion",
    metadata,
    _ref("item", "item", key=True),
    Column("model", String, primary_key=True),
    Column("label", String, primary_key=True),
    Column("score", Float, nullable=False),
)

standing = Table(  # where a member stands in a queue
    "standing",
    metadata,
    _ref("project", "project", key=True),
    _ref("person", "person", key=True),
    Column("queue", String, primary_key=True),
    Column(
        "returned_upto", Integer, nullable=False, server_default="0"
    ),  # nothing before it is left for them
    Column("fresh_upto", Integer, nullable=False, server_default="0"),
    Column("screening", String, nullable=False),  # open, passed, failed
    _count("tries"),
    Column("score", Float),  # of the last screening test
    _count("since_gold"),
    _count("done"),
    _count("skipped"),
    Column("seconds", Float, nullable=False, server_default="0"),
    Column("batch", ForeignKey("batch.id")),  # that is being filled
)

batch = Table(
    "batch",
    metadata,
    _id(),
    _ref("project", "project"),
    _ref("person", "person"),
    Column("queue", String, nullable=False),
    Column("state", String, nullable=False),  # filling, waiting, accepted, rejected
    _count("size"),
    Column("score", Float),
    _ref("reviewer", "person", null=True),
    Column("made", Float, nullable=False),
    Column("ended", Float),
    Index("batch_state", "project", "state"),
)

assignment = Table(
    "assignment",
    metadata,
    _id(),
    _ref("project", "project"),
    _ref("item", "item"),
    _ref("person", "person"),
    Column("queue", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("state", String, nullable=False),  # claimed, done, skipped, void
    Column("expires", Float, nullable=False),  # of the claim
    Column("ended", Float),  # answered or skipped
    Column("seconds", Float),
    Column("token", String),  # of the submission that was acknowledged
    Column("identifying", Boolean),
    Column("batch", ForeignKey("batch.id")),
    Column("inspected", Boolean, nullable=False),  # drawn for inspection
    Column("version", Integer, nullable=False, server_default="1"),  # of the settings when it was answered
    Column("confidence", Integer),  # 1 to 3
    Column("comment", Text),
)
LIVE = assignment.c.state != literal_column("'void'")
CLAIMED = assignment.c.state == literal_column("'claimed'")
Index("assignment_once", assignment.c.item, assignment.c.person, unique=True,
      sqlite_where=LIVE, postgresql_where=LIVE)  # fmt: skip
Index("assignment_claimed", assignment.c.project, assignment.c.expires,
      sqlite_where=CLAIMED, postgresql_where=CLAIMED)  # fmt: skip
Index("assignment_own", assignment.c.person, assignment.c.project, assignment.c.queue, assignment.c.state,
      assignment.c.ended)  # fmt: skip
Index("assignment_batch", assignment.c.batch)

judgement = Table(
    "judgement",
    metadata,
    _ref("assignment", "assignment", key=True),
    Column("label", String, primary_key=True),
    Column("value", Integer, nullable=False),
    Column("status", String),
)


def _span_table(name: str, refers_to: str) -> Table:
    """A table of evidence: the characters of a text from `start` up to `stop`, for a label."""
    return Table(
        name,
        metadata,
        _id(),
        _ref(refers_to, refers_to),
        Column("label", String, nullable=False),
        Column("start", Integer, nullable=False),
        Column("stop", Integer, nullable=False),
        Index(f"{name}_{refers_to}", refers_to),
    )


span = _span_table("span", "assignment")

correction_span = _span_table("correction_span", "assignment")
resolution_span = _span_table("resolution_span", "item")

correction = Table(  # what a reviewer says of an inspected assignment
    "correction",
    metadata,
    _ref("assignment", "assignment", key=True),
    Column("label", String, primary_key=True),
    Column("value", Integer, nullable=False),
    Column("status", String),
)

resolution = Table(  # what an adjudicator says of an item in conflict
    "resolution",
    metadata,
    _ref("item", "item", key=True),
    Column("label", String, primary_key=True),
    Column("value", Integer, nullable=False),
    Column("status", String),
)

event = Table(  # the trail: appended to, never changed
    "event",
    metadata,
    _id(),
    _ref("project", "project"),
    _ref("person", "person", null=True),
    _ref("item", "item", null=True),
    _ref("assignment", "assignment", null=True),
    Column("time", Float, nullable=False),
    Column("what", String, nullable=False),
    Column("detail", Text, nullable=False),  # JSON, without texts
    Index("event_project", "project", "id"),
)


def insert_row(connection: Connection, table: Table, **values: Any) -> int:
    """Insert a row into a table with a column `id`, and return its id."""
    key = connection.execute(table.insert().values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def insert_once(connection: Connection, table: Table) -> Any:
    """An INSERT that can pass over a row which another transaction has just made."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return insert(table)
