"""Write the shipped files of the demo corpora again: `python -m tools.demo_corpora OUTDIR`."""

import sys
from pathlib import Path

from tools.demo_corpora.files import write_files

if len(sys.argv) != 2:
    sys.exit("usage: python -m tools.demo_corpora OUTDIR")

for written_path in write_files(Path(sys.argv[1])):
    sys.stdout.write(f"{written_path}\n")
