"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables and indexes."""
    op.create_table(
        "failure",
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("times", sa.Integer(), server_default="0", nullable=False),
        sa.Column("since", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("who"),
    )
    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("password", sa.String(), nullable=False),
        sa.Column("owner", sa.Boolean(), nullable=False),
        sa.Column("made", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "project",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("graph", sa.Text(), nullable=True),
        sa.Column("positions", sa.Integer(), server_default="0", nullable=False),
        sa.Column("returns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("made", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "server",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "batch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), server_default="0", nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("reviewer", sa.Integer(), nullable=True),
        sa.Column("made", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["person"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project"],
            ["project.id"],
        ),
        sa.ForeignKeyConstraint(
            ["reviewer"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("batch_state", "batch", ["project", "state"], unique=False)
    op.create_table(
        "invitation",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=True),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("used_by", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project"],
            ["project.id"],
        ),
        sa.ForeignKeyConstraint(
            ["used_by"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("open", sa.Integer(), nullable=False),
        sa.Column("answered", sa.Integer(), server_default="0", nullable=False),
        sa.Column("conflict", sa.String(), nullable=True),
        sa.Column("made", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"],
            ["project.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project", "queue", "name"),
    )
    op.create_index(
        "item_conflict",
        "item",
        ["project", "conflict"],
        unique=False,
        sqlite_where=sa.text("conflict IS NOT NULL"),
        postgresql_where=sa.text("conflict IS NOT NULL"),
    )
    op.create_index(
        "item_next",
        "item",
        ["project", "queue", "kind", "lane", "position"],
        unique=False,
        sqlite_where=sa.text("open > 0"),
        postgresql_where=sa.text("open > 0"),
    )
    op.create_table(
        "member",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("day", sa.String(), server_default="", nullable=False),
        sa.Column("today", sa.Integer(), server_default="0", nullable=False),
        sa.Column("since_break", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last", sa.Float(), server_default="0", nullable=False),
        sa.Column("rests_until", sa.Float(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["person"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project"],
            ["project.id"],
        ),
        sa.PrimaryKeyConstraint("project", "person"),
    )
    op.create_index("member_person", "member", ["person"], unique=False)
    op.create_table(
        "session",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("csrf", sa.String(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index("session_person", "session", ["person"], unique=False)
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("token", sa.String(), nullable=True),
        sa.Column("identifying", sa.Boolean(), nullable=True),
        sa.Column("batch", sa.Integer(), nullable=True),
        sa.Column("inspected", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["item"],
            ["item.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project"],
            ["project.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("assignment_batch", "assignment", ["batch"], unique=False)
    op.create_index(
        "assignment_claimed",
        "assignment",
        ["project", "expires"],
        unique=False,
        sqlite_where=sa.text("state = 'claimed'"),
        postgresql_where=sa.text("state = 'claimed'"),
    )
    op.create_index(
        "assignment_once",
        "assignment",
        ["item", "person"],
        unique=True,
        sqlite_where=sa.text("state != 'void'"),
        postgresql_where=sa.text("state != 'void'"),
    )
    op.create_index(
        "assignment_own", "assignment", ["person", "project", "queue", "state", "ended"], unique=False
    )
    op.create_table(
        "gold",
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item"],
            ["item.id"],
        ),
        sa.PrimaryKeyConstraint("item", "label"),
    )
    op.create_table(
        "reason",
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item"],
            ["item.id"],
        ),
        sa.PrimaryKeyConstraint("item"),
    )
    op.create_table(
        "resolution",
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item"],
            ["item.id"],
        ),
        sa.PrimaryKeyConstraint("item", "label"),
    )
    op.create_table(
        "standing",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("returned_upto", sa.Integer(), server_default="0", nullable=False),
        sa.Column("fresh_upto", sa.Integer(), server_default="0", nullable=False),
        sa.Column("screening", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("since_gold", sa.Integer(), server_default="0", nullable=False),
        sa.Column("done", sa.Integer(), server_default="0", nullable=False),
        sa.Column("skipped", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seconds", sa.Float(), server_default="0", nullable=False),
        sa.Column("batch", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["batch"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project"],
            ["project.id"],
        ),
        sa.PrimaryKeyConstraint("project", "person", "queue"),
    )
    op.create_table(
        "suggestion",
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item"],
            ["item.id"],
        ),
        sa.PrimaryKeyConstraint("item", "model", "label"),
    )
    op.create_table(
        "correction",
        sa.Column("assignment", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment"],
            ["assignment.id"],
        ),
        sa.PrimaryKeyConstraint("assignment", "label"),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=True),
        sa.Column("item", sa.Integer(), nullable=True),
        sa.Column("assignment", sa.Integer(), nullable=True),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment"],
            ["assignment.id"],
        ),
        sa.ForeignKeyConstraint(
            ["item"],
            ["item.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project"],
            ["project.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("event_project", "event", ["project", "id"], unique=False)
    op.create_table(
        "judgement",
        sa.Column("assignment", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment"],
            ["assignment.id"],
        ),
        sa.PrimaryKeyConstraint("assignment", "label"),
    )
    op.create_table(
        "span",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment"],
            ["assignment.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("span_assignment", "span", ["assignment"], unique=False)
