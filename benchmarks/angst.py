"""Depression, anxiety and both on real questions: fine-tuned MiniLM, TF–IDF and a small LLM in one table.

python benchmarks/angst.py [--seeds 3] [--out runs/angst] [--server URL]

Reads counselchat from $PSYCHECK_DATA (default ../shared/data) and writes figures only, never a text. The LLM
is SmolLM2-135M-Instruct behind llama.cpp's server on this machine, with one thread: a poor classifier, which
shows that an LLM can be asked, read and counted like any other model. Finished trainings are not repeated.
"""

import argparse
import os
import platform
import sys
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import polars as pl

from psycheck.core.corpus import GROUP, Corpus
from psycheck.core.run import Run
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.corpora.opening import open_corpus
from psycheck.corpora.split import linked, split_corpus
from psycheck.report.studies.angst_tables import MULTI, combination_table, together_table, usage_table
from psycheck.studies.angst_study import LABELS, study_angst
from psycheck.training.recipe import preset

SHARES = {"train": 5, "dev": 1, "test": 4}
# Not A.3's 30 epochs, which take ten times as long: fewer and larger steps. Both classes weigh the same,
# because one question in seven is annotated 1.
RECIPE = preset("fast", class_weights=True)
ASKED = "prompt=comorbidity&temperature=0&max_tokens=32&concurrency=1&timeout=300&name=SmolLM2-135M"


def questions(data: Path) -> Corpus:
    """Counselchat with splits; questions that are nearly the same are in one split."""
    corpus = open_corpus(data / "counselchat.csv", text="text", labels=LABELS)
    copies = linked(len(corpus), near_duplicates(corpus.texts))
    marked = corpus.table.with_columns(pl.Series(f"{GROUP}copies", [str(one) for one in copies.tolist()]))
    return split_corpus(replace(corpus, table=marked), SHARES, by=["copies"], seed=0)


def tables(run: Run) -> str:
    """The comorbidity table, its classes and what the answers took, ours alone."""
    together = together_table(run.findings)
    ours = replace(together, rows=tuple(row for row in together.rows if row[0] == "ours"))
    shown = (ours, combination_table(run.findings), usage_table(run.findings))
    return "\n".join(table.to_markdown() for table in shown)


def main() -> int:
    """Train, ask, and print the tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--out", type=Path, default=Path("runs/angst"))
    options.add_argument(
        "--server", help="address of a server that serves the LLM already: http://127.0.0.1:PORT/v1"
    )
    given = options.parse_args()
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    if not (data / "counselchat.csv").is_file():
        print(f"skipped: counselchat.csv is not in {data}; set PSYCHECK_DATA")
        return 0
    import torch

    torch.set_num_threads(1)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from smollm2 import serving_smollm2

    corpus = questions(data)
    with nullcontext(given.server) if given.server else serving_smollm2() as url:
        run = study_angst(
            [corpus],
            [f"llm:SmolLM2-135M-Instruct?base_url={url}&{ASKED}"],
            [RECIPE, replace(RECIPE, start="tfidf+lr")],
            out=given.out,
            tasks=[MULTI],
            seeds=given.seeds,
            say=partial(print, file=sys.stderr, flush=True),
        )
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine}")
    print(", ".join(f"{name} {len(corpus.part(name))}" for name in SHARES) + "\n")
    print(tables(run))
    return 0


if __name__ == "__main__":
    sys.exit(main())
