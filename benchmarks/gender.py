"""How gender bias reaches a classifier: real clinical notes, and our own with and without a planted link.

    python benchmarks/gender.py [--out runs/gender] [--vectors SPEC]… [--tune] [--only NAME]…

Reads clinical_notes from $PSYCHECK_DATA (default ../shared/data) and skips it where it is absent. Vectors
and decisions are kept in the folder: the same command goes on after a kill. Writes docs/benchmarks/gender.md,
with figures only, never a text. `--vectors vectors:FILE` adds static vectors to those of MiniLM and TF–IDF.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl

from demo_texts import generate
from psycheck.core.corpus import Corpus
from psycheck.core.run import Run
from psycheck.report.studies.gender_tables import answers, tables_of
from psycheck.studies.gender_study import study_gender
from psycheck.text.gender.edits import Scope
from psycheck.training.recipe import preset
from timing import machine

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "gender.md"
NOTES, PLANTED, GENERATED = 1_500, 0.8, 21
EACH = 50  # 200 training texts: as many as leave the forest's 50 depths bearable on one core
SEEDS, DRAWS = 5, 3
ALL = Scope(nouns=True, titles=True)
PLAIN = ("svm", "lr")
TUNED = preset("fast", epochs=2, max_length=128)
TITLE = "Gender bias on its way to a classifier"
READ = Path(__file__).with_name("gender_read.md")  # what the figures show, written by hand after a run
Job = tuple[str, Corpus, str, dict[str, Any]]


def clinical(folder: Path) -> Corpus | None:
    """The clinical notes, each text once; None where the file is absent."""
    path = folder / "clinical_notes.csv"
    if not path.is_file():
        return None
    table = pl.read_csv(path).unique("text", maintain_order=True)
    marks = table["mentions_depression"].to_list()
    return Corpus.of("clinical notes", table["text"].to_list(), labels={"depression": marks})


def timed(title: str, corpus: Corpus, out: Path, **settings: Any) -> Run:
    """Carry a study out, and say what it took."""
    began = monotonic()
    run = study_gender(corpus, out=out, say=print, **settings)
    print(f"{title}: {monotonic() - began:.0f} s")
    return run


def section(title: str, run: Run, *, paper: bool) -> list[str]:
    """What a study found, as lines of the page."""
    cuts = run.plan["cuts"][0]
    lines = [
        f"## {title}: {run.plan['encoder']}",
        "",
        f"{run.plan['seeds']} seed{'s' * (run.plan['seeds'] > 1)}, {cuts['train']} training texts "
        f"(balance: {run.plan['balance']}), {cuts['pairs']} pairs.",
        "",
        *(f"- {answer.sentence}" for answer in answers(run.findings)),
        "",
    ]
    for table in tables_of(run.findings):
        rows = tuple(row for row in table.rows if paper or row[0] != "published")
        shown = replace(table, rows=rows, note="")
        lines.append(shown.to_markdown(f"### {table.caption}"))
    return [*lines, "### Notes", "", *(f"- {note}" for note in run.notes), ""]


def jobs(real: Corpus | None, vectors: Sequence[str], *, tune: bool) -> list[Job]:
    """What is studied: the title, the corpus, the folder, the settings."""
    planted = generate("notes", NOTES, GENERATED, association=PLANTED)
    plain = generate("notes", NOTES, GENERATED)
    ours: dict[str, Any] = {"balance": "class", "each": EACH, "seeds": DRAWS}
    mini: dict[str, Any] = {"encoder": "minilm", **ours}
    out: list[Job] = []
    if real is not None:
        said = ("minilm", *vectors)
        out = [("Clinical notes", real, "clinical", {"encoder": encoder}) for encoder in said]
        again = {"seeds": SEEDS}
        out += [
            ("Clinical notes, five draws", real, "draws", {"encoder": encoder, **again}) for encoder in said
        ]
    title = "Our notes, a planted link"
    whole = f"{title}, nouns and titles swapped too"
    lexical = {**ours, "encoder": "tfidf", "names": PLAIN}
    out += [
        (title, planted, "planted", lexical),
        (title, planted, "planted", mini),
        (whole, planted, "nouns", {**lexical, "scope": ALL}),
        (whole, planted, "nouns", {**mini, "scope": ALL}),
        ("Our notes, nothing planted", plain, "plain", {**mini, "scope": ALL}),
    ]
    if tune:
        tuned = {**mini, "names": (), "recipes": [TUNED], "scope": ALL}
        out.append((f"{whole}, fine-tuned", planted, "tuned", tuned))
    return out


def main() -> None:
    """Run all studies, or those named, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("runs/gender"))
    parser.add_argument("--vectors", action="append", default=[])
    parser.add_argument("--tune", action="store_true", help="also fine-tune MiniLM on our notes")
    parser.add_argument(
        "--only", action="append", default=[], help="clinical, draws, planted, nouns, plain, tuned"
    )
    asked = parser.parse_args()
    real = clinical(Path(os.environ.get("PSYCHECK_DATA", "../shared/data")))
    if real is None:
        print("the clinical notes are left out: clinical_notes.csv not found (set PSYCHECK_DATA)")
    lines = [
        f"# {TITLE}",
        "",
        f"`python benchmarks/gender.py --vectors vectors:FILE --tune`: {machine()}. One thread.",
        "",
        READ.read_text("utf-8"),
    ]
    for title, corpus, name, settings in jobs(real, asked.vectors, tune=asked.tune):
        if not asked.only or name in asked.only:
            place = asked.out / name / Path(settings["encoder"]).stem
            lines += section(title, timed(title, corpus, place, **settings), paper=corpus is real)
    if not asked.only:
        PAGE.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
        print(f"written: {PAGE.name}")


if __name__ == "__main__":
    main()
