"""Compare corpora as a run: open them, compare or warn, and write the results."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

from psycheck.corpora.cautions import Caution, caution_table, warnings_of
from psycheck.corpora.distances import Comparing, Comparison, Encode, classes_of, compare, steps
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra, counted
from psycheck.finding import Findings
from psycheck.model import Encoder
from psycheck.models.open import open_encoder
from psycheck.run import Run
from psycheck.runs.environment import described, environment_of
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.answers import encode_once
from psycheck.scoring.engine import Progress, silent

TFIDF = "tfidf"
_LIBRARIES = ("POT", "openTSNE", "cleanlab", "rensa")


@writes_run("corpora", "encoder")
def compare_corpora(
    corpora: Sequence[CorpusLike],
    *,
    by: Sequence[str] = (),
    encoder: str | Encoder | None = None,
    warn: bool = False,
    show_texts: bool = False,
    out: str | Path | None = None,
    how: Comparing | None = None,
    progress: Progress = silent,
) -> Run:
    """Compare corpora, or the classes of one (`by`), and look for leaks and shortcuts (`warn`).

    `encoder` is "minilm", "hf:FOLDER", "tfidf" or an Encoder; None is MiniLM if installed, else TF–IDF. One
    corpus without `by` needs `warn`. With `show_texts` cautions name their word whatever it is, and words
    that set corpora apart are shown if 5 texts of a side have them.
    """
    how = how or Comparing()
    opened = [open_corpus(source) for source in corpora]
    if by and len(opened) != 1:
        raise BadInput(f"cannot split {len(opened)} corpora into classes", allowed="`by` with one corpus")
    sides = classes_of(opened[0], by) if by else opened
    if len(sides) < 2 and not warn:
        raise BadInput(
            "nothing to compare with",
            allowed="two corpora or more, one with `by=LABEL`, or `warn`",
            do="psycheck compare FIRST SECOND",
        )
    step = counting(
        progress, "compare", len(opened) * warn + (steps(len(sides), how) if len(sides) > 1 else 0)
    )
    cautions: list[Caution] = []
    for corpus in opened if warn else ():
        cautions += warnings_of(corpus, seed=how.seed, show=show_texts)
        step("cautions")
    notes = notes_of(opened)
    found, used = Comparison((), {}, ()), None
    if len(sides) > 1:
        if {"vectors", "map"} & set(how.parts):
            used, encoder_notes = encoder_of(encoder)
            notes += encoder_notes
        found = compare(sides, encode_with(used), how, step, show=show_texts)
        notes += [f"{counted(n, 'text')} in no class: {why}" for why, n in sides[0].left_out.items() if by]
    warned = {"cautions": caution_table(cautions)} if cautions else {}
    run = Run(
        plan={
            "verb": "compare",
            "corpora": described(sides)["corpora"],
            "by": list(by),
            "encoder": used.name if used else TFIDF,
            "warn": warn,
            "show_texts": show_texts,
            **asdict(how),
            "parts": list(how.parts),
        },
        environment=compared_with(opened, used),
        findings=Findings((*(caution.finding() for caution in cautions), *found.findings)),
        tables={**found.tables, **warned},
        notes=(*notes, *found.notes),
        folder=Path(out) if out is not None else None,
    )
    return run if run.folder is None else save(run, run.folder)


def counting(progress: Progress, name: str, total: int) -> Callable[[str], None]:
    """A function to call with each finished part of long work, which reports the progress."""
    started, done = monotonic(), count(1)

    def step(part: str) -> None:
        progress(f"{name}, {part}", next(done), total, monotonic() - started)

    return step


def encoder_of(wanted: str | Encoder | None) -> tuple[Encoder | None, list[str]]:
    """The encoder (None: TF–IDF), and a note if the default is not installed."""
    if wanted == TFIDF:
        return None, []
    try:
        return open_encoder("minilm" if wanted is None else wanted), []
    except MissingExtra as error:
        if wanted is not None:
            raise
        return None, [f"vectors are TF–IDF: {error.what}"]


def encode_with(encoder: Encoder | None) -> Encode | None:
    """An encoder as `compare` takes it: vectors that are in the store are not computed again."""
    return None if encoder is None else (encoder.name, partial(encode_once, encoder))


def notes_of(corpora: Sequence[Corpus]) -> list[str]:
    """What was guessed about each corpus, how many of its rows were left out, and its clusters."""
    notes = [f"{corpus.name}: {note}" for corpus in corpora for note in corpus.notes]
    for c in corpora:
        notes += [f"{c.name}: {counted(n, 'row')} left out ({why})" for why, n in c.left_out.items()]
    return [*notes, *(note for corpus in corpora for note in corpus.clustering())]


def compared_with(corpora: Sequence[Corpus], encoder: Encoder | None) -> dict[str, Any]:
    """The environment of a comparison: versions of its libraries, and the encoder's fingerprint."""
    return environment_of([encoder] if encoder is not None else [], corpora, libraries=_LIBRARIES)
