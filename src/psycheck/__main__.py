"""`python -m psycheck` is the command line."""

from psycheck.cli.main import run

run()
