"""The generator of the demo corpora, for benchmarks that need more texts than are shipped."""

import sys
from pathlib import Path

# `python benchmarks/NAME.py` puts only this folder on the path; the generator is in tools/, next to it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.demo_corpora.domains import generate
from tools.demo_corpora.people import NONE, generate_people
from tools.demo_corpora.sentences import CONTROL, generate_sentences, sentence_rows

__all__ = ["CONTROL", "NONE", "generate", "generate_people", "generate_sentences", "sentence_rows"]
