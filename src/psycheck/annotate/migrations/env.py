"""What Alembic runs: migrate on the connection that `open_database` holds."""

from alembic import context

from psycheck.annotate.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True
)
context.run_migrations()
