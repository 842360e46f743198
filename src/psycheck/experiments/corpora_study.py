"""How far corpora and their classes are apart: DECK Table 3, ANGST Tables 2 and 8."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl

from psycheck.corpora.distances import Comparing, classes_of, compare, steps
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.finding import Finding, Findings
from psycheck.model import Encoder
from psycheck.report.studies.corpora import paper_notes
from psycheck.run import Run
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.engine import Progress, silent
from psycheck.verbs.compare import compared_with, counting, encode_with, encoder_of, notes_of

# Which parts of a comparison the tables ask for; the map is for the eye.
BETWEEN = ("vectors", "adversarial", "map")
WITHIN = ("words", "vectors")
_MOST_TOGETHER = 2  # labels whose combinations are classes, as in ANGST; more labels are taken one by one
_FEWEST = 10


@writes_run("corpora", "encoder")
def study_corpora(
    corpora: Sequence[CorpusLike],
    *,
    out: str | Path | None = None,
    encoder: str | Encoder | None = None,
    how: Comparing | None = None,
    progress: Progress = silent,
) -> Run:
    """Measure the distances between corpora (Tables 3 and 8) and between the classes of each (Table 2).

    Two labels make up to four classes ("depression", "anxiety", both, none); one label, or each of more than
    two, makes two. `encoder` is as for `compare_corpora`; DECK took sentence embeddings of its own models,
    ANGST those of RoBERTa. Of `how.parts`, corpora are compared by vectors, adversarial and map, classes by
    words and vectors. The folder gets `report.html` and `study.md`, each table next to the published one.
    """
    how = how or Comparing()
    opened = [open_corpus(corpus) for corpus in corpora]
    names = [corpus.name for corpus in opened]
    if not opened or len(set(names)) < len(names):
        raise BadInput(
            "two corpora have the same name" if opened else "no corpus given",
            allowed="one corpus or more",
            do="write NAME=PATH",
        )
    between = replace(how, parts=tuple(part for part in how.parts if part in BETWEEN))
    within = replace(how, parts=tuple(part for part in how.parts if part in WITHIN))
    notes = notes_of(opened)
    compared = [("", opened, between)] if len(opened) > 1 and between.parts else []
    for corpus in opened if within.parts else ():
        together, left_out = _classes(corpus)
        compared += [(corpus.name, classes, within) for classes in together]
        notes += left_out
    if not compared:
        raise BadInput(
            "nothing to compare",
            where=", ".join(names),
            allowed=f"two corpora or more ({', '.join(BETWEEN)}), or a label with two classes of {_FEWEST}"
            f" texts ({', '.join(WITHIN)})",
            do="name a second corpus, or a label with `labels`",
        )
    used: Encoder | None = None
    if any({"vectors", "map"} & set(wanted.parts) for _, _, wanted in compared):
        used, about = encoder_of(encoder)
        notes += about
    total = sum(steps(len(sides), wanted) for _, sides, wanted in compared)
    step = counting(progress, "study corpora", total)
    findings: list[Finding] = []
    tables: dict[str, pl.DataFrame] = {}
    for name, sides, wanted in compared:
        found = compare(sides, encode_with(used), wanted, step)
        place = {"audit": "study", "study": "corpora", "level": f"between {'classes' if name else 'corpora'}"}
        place |= {"corpus": name} if name else {}
        findings += [replace(one, where={**one.where, **place}) for one in found.findings]
        tables |= found.tables
        notes += [f"{name}: {note}" if name else note for note in found.notes]
    run = Run(
        plan={
            "verb": "study corpora",
            "corpora": names,
            "encoder": used.name if used else "tfidf",
            **asdict(how),
            "parts": list(how.parts),
        },
        environment=compared_with(opened, used),
        findings=Findings(findings),
        tables=tables,
        notes=(*dict.fromkeys(notes), *paper_notes()),
        folder=Path(out) if out is not None else None,
    )
    return run if run.folder is None else save(run, run.folder)


def _classes(corpus: Corpus) -> tuple[list[list[Corpus]], list[str]]:
    """The classes that are compared with each other, label by label or combined; and what is left out."""
    together = [corpus.labels] if len(corpus.labels) <= _MOST_TOGETHER else [(one,) for one in corpus.labels]
    out: list[list[Corpus]] = []
    notes: list[str] = []
    for by in together if corpus.labels else ():
        try:
            classes = classes_of(corpus, by)
        except BadInput as error:
            notes.append(f"Table 2 omits {corpus.name}, {', '.join(by)}: {error.what}")
            continue
        large = [one for one in classes if len(one) >= _FEWEST]
        small = [one.name for one in classes if len(one) < _FEWEST]
        notes += [f"Table 2 omits {corpus.name}, '{one}': fewer than {_FEWEST} texts" for one in small]
        if len(large) > 1:
            out.append(large)
    if not corpus.labels:
        notes.append(f"Table 2 omits {corpus.name}: it has no labels")
    return out, notes
