"""Versions of a project, evidence and flags of adjudicators and reviewers, upkeep."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add tables and columns; every project that exists begins with its version 1."""
    op.add_column("project", sa.Column("version", sa.Integer(), server_default="1", nullable=False))
    op.add_column("project", sa.Column("ended", sa.Float(), nullable=True))
    op.add_column("item", sa.Column("flag", sa.String(), nullable=True))
    op.add_column("item", sa.Column("closed", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("assignment", sa.Column("version", sa.Integer(), server_default="1", nullable=False))
    op.add_column("assignment", sa.Column("confidence", sa.Integer(), nullable=True))
    op.add_column("assignment", sa.Column("comment", sa.Text(), nullable=True))
    op.add_column("invitation", sa.Column("made", sa.Float(), server_default="0", nullable=False))

    op.create_table(
        "version",
        sa.Column("project", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=True),
        sa.Column("made", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["project.id"]),
        sa.ForeignKeyConstraint(["person"], ["person.id"]),
        sa.PrimaryKeyConstraint("project", "number"),
    )
    op.execute(
        "INSERT INTO version (project, number, settings, made) SELECT id, 1, settings, made FROM project"
    )
    op.create_table(
        "password_link",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.id"]),
        sa.PrimaryKeyConstraint("digest"),
    )
    _create_span_table("resolution_span", refers_to="item")
    _create_span_table("correction_span", refers_to="assignment")


def _create_span_table(name: str, refers_to: str) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(refers_to, sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("stop", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint([refers_to], [f"{refers_to}.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(f"{name}_{refers_to}", name, [refers_to], unique=False)
