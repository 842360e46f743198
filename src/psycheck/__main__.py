"""`python -m psycheck` is the command line."""

from psycheck.commands.main import run

run()
