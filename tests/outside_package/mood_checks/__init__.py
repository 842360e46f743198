"""An audit, a model kind, a measure, a file format and a suite from outside psycheck."""

from pathlib import Path

SUITE = Path(__file__).with_name("moods.toml")
