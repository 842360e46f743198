"""`psycheck compare`: how far corpora or classes are apart, and where a corpus leaks or gives labels away.

What compares is imported in the functions that use it: `psycheck compare --help` needs none of it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, caution_lines, print_run
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, MissingExtra, counted
from psycheck.core.finding import Findings
from psycheck.core.model import Encoder
from psycheck.core.progress import Progress, counting, silent
from psycheck.core.run import Run
from psycheck.corpora.opening import CorpusLike, CorpusPlan, corpus_plans, open_corpus
from psycheck.runs.folder import writes_run

if TYPE_CHECKING:
    from psycheck.corpora.cautions import Caution
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.distances import Comparing, Encode

TFIDF = "tfidf"
_LIBRARIES = ("POT", "openTSNE", "cleanlab", "rensa")

# The parts of a comparison that use an option.
_PARTS_BY_OPTION = {
    "encoder": ("vectors", "map"),
    "sample": ("vectors", "map"),
    "texts": ("words", "adversarial"),
    "permutations": ("vectors",),
}
_PARTS_WITH_VECTORS = {"vectors", "map"}


@opt.verb("compare")
def compare_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpora: list[str],
    by: list[str] | None = None,
    warn: bool = False,
    show_texts: bool = False,
    encoder: str | None = None,
    out: Path = Path("runs/compare"),
    split: str | None = None,
    json_: bool = False,
) -> None:
    """Find leaks and shortcuts in corpora, and measure how far apart they, or the classes of one, are."""
    from psycheck.corpora.distances import Comparing
    from psycheck.io.settings import read_settings

    how = read_settings(Comparing, opt.values_for(ctx, Comparing))
    compares = len(corpora) > 1 or bool(by)
    _refuse_unused_options(ctx, how.parts if compares else ())

    with ProgressLine() as line:
        run = compare_corpora(
            corpus_plans(corpora, columns, split),
            by=by or (),
            encoder=encoder,
            warn=warn,
            show_texts=show_texts,
            out=out,
            how=how,
            progress=line,
        )
    print_run(run, out, _console_lines(run), as_json=json_)


def _refuse_unused_options(ctx: typer.Context, parts: tuple[str, ...]) -> None:
    """Refuse options that the requested parts of a comparison would ignore."""
    if parts:
        what = f"compare --part {' --part '.join(parts)}"
    else:
        what = "compare of one corpus without --by"
        opt.refuse(ctx, ("parts",), what, "with two corpora, or with --by LABEL")

    # An option without effect would make the user believe that it had one.
    for option, using_parts in _PARTS_BY_OPTION.items():
        if not set(using_parts) & set(parts):
            opt.refuse(ctx, (option,), what, f"with --part {' or '.join(using_parts)}")


def _console_lines(run: Run) -> Iterator[str]:
    from psycheck.report.cautions import CAUTION
    from psycheck.report.comparison_page import matrices

    # What puts every figure in doubt is read before the figures.
    yield from caution_lines(run.findings.where(measure="caution"))
    for table in matrices(run.findings):
        yield table.to_console() + "\n"
    # The cautions of the verdict stand above the tables already.
    yield " ".join(claim.sentence for claim in run.headlines if claim.rule.partition(".")[0] != CAUTION)


@writes_run("corpora", "encoder")
def compare_corpora(
    corpora: Sequence[CorpusLike],
    *,
    by: Sequence[str] = (),
    encoder: str | Encoder | None = None,
    warn: bool = False,
    show_texts: bool = False,
    out: str | Path | None = None,
    how: "Comparing | None" = None,
    progress: Progress = silent,
) -> Run:
    """Look for leaks and shortcuts in each corpus, and compare the corpora, or the classes of one (`by`).

    `encoder` is "minilm", "hf:FOLDER", "tfidf" or an Encoder; None is MiniLM if installed, else TF–IDF. With
    `warn` doubtful labels and personal data are looked for too, which takes minutes. With `show_texts`
    cautions name their word whatever it is, and words that set corpora apart are shown if 5 texts of a side
    have them.
    """
    from psycheck.corpora.cautions import caution_table
    from psycheck.corpora.distances import Comparing, Comparison, compare
    from psycheck.corpora.fixed_order import in_fixed_order
    from psycheck.runs.environment import described
    from psycheck.runs.pages import save

    how = how or Comparing()
    opened = [in_fixed_order(_open_with_all_splits(source)) for source in corpora]
    sides = _sides_of(opened, by)
    compares = len(sides) > 1

    # Cautions are about all of each corpus, not about one split or the classes of `by`.
    whole_corpora = [corpus.whole or corpus for corpus in opened]
    comparison_steps = how.steps(len(sides)) if compares else 0
    step = counting(progress, "compare", len(whole_corpora) + comparison_steps)

    cautions = _cautions_of(
        whole_corpora,
        step,
        seed=how.seed,
        warn=warn,
        show_texts=show_texts,
    )
    caution_findings = [caution.finding() for caution in cautions]

    notes = [*notes_of(opened), *_notes_on_cautions(whole_corpora, warn=warn)]
    comparison = Comparison(findings=(), tables={}, notes=())
    opened_encoder = None
    if compares:
        if _needs_encoder(how):
            opened_encoder, encoder_notes = encoder_of(encoder)
            notes += encoder_notes
        comparison = compare(sides, _encode_with(opened_encoder), how, step, show=show_texts)
        if by:
            notes += _class_notes(sides)

    tables = dict(comparison.tables)
    if cautions:
        tables["cautions"] = caution_table(cautions)

    run = Run(
        plan={
            "verb": "compare",
            "corpora": described(sides)["corpora"],
            "by": list(by),
            "encoder": TFIDF if opened_encoder is None else opened_encoder.name,
            "warn": warn,
            "cautions": "all" if warn else "cheap",
            "show_texts": show_texts,
            **asdict(how),
            "parts": list(how.parts),
        },
        environment=_environment(opened, opened_encoder),
        findings=Findings((*caution_findings, *comparison.findings)),
        tables=tables,
        notes=(*notes, *comparison.notes),
        folder=Path(out) if out is not None else None,
    )
    return save(run, run.folder)


def _open_with_all_splits(source: CorpusLike) -> Corpus:
    """The split of a corpus that is compared, which keeps the whole corpus for cautions."""
    from psycheck.corpora.judged_split import ALL, judged_part

    if not isinstance(source, CorpusPlan):
        return open_corpus(source)
    whole = open_corpus(replace(source, split=None))
    return judged_part(whole, source.split or ALL)


def _cautions_of(
    corpora: Sequence[Corpus],
    step: Callable[[str], None],
    *,
    seed: int,
    warn: bool,
    show_texts: bool,
) -> "list[Caution]":
    """Leaks and shortcuts of each corpus, with `warn` doubtful labels too; `step` is called after each."""
    from psycheck.corpora.cautions import cheap_cautions, warnings_of

    search = warnings_of if warn else cheap_cautions
    cautions: list[Caution] = []
    for corpus in corpora:
        cautions += search(corpus, seed=seed, show=show_texts)
        step("cautions")
    return cautions


def _notes_on_cautions(corpora: Sequence[Corpus], *, warn: bool) -> list[str]:
    """What was not looked for; nothing with `warn`, which looks for everything."""
    from psycheck.corpora.cautions import not_searched

    if warn:
        return []
    notes = list(chain.from_iterable(map(not_searched, corpora)))
    return [*notes, "doubtful labels and personal data were not looked for: `warn`"]


def _needs_encoder(how: "Comparing") -> bool:
    """True if a part compares vectors; the others compare words, and need no weights to be read."""
    return bool(_PARTS_WITH_VECTORS & set(how.parts))


def _sides_of(corpora: Sequence[Corpus], by: Sequence[str]) -> Sequence[Corpus]:
    """What is compared with each other: the corpora, or the classes of the only one."""
    from psycheck.corpora.distances import classes_of

    if by and len(corpora) != 1:
        raise BadInput(
            f"cannot split {len(corpora)} corpora into classes",
            code="compare.classes-of-several-corpora",
            allowed="`by` with one corpus",
        )
    return classes_of(corpora[0], by) if by else corpora


def _class_notes(classes: Sequence[Corpus]) -> list[str]:
    """How many texts of a corpus are in none of its classes; each class knows it of all of them."""
    left_out = classes[0].left_out
    return [f"{counted(texts, 'text')} in no class: {why}" for why, texts in left_out.items()]


def encoder_of(encoder: str | Encoder | None) -> tuple[Encoder | None, list[str]]:
    """The encoder (None: TF–IDF), and a note if the default is not installed."""
    from psycheck.models.opening import open_encoder

    if encoder == TFIDF:
        return None, []
    if encoder is not None:
        return open_encoder(encoder), []
    try:
        return open_encoder("minilm"), []
    # Only the default may be replaced: an encoder that the user named is refused if it is missing.
    except MissingExtra as error:
        return None, [f"vectors are TF–IDF: {error.what}"]


def _encode_with(encoder: Encoder | None) -> "Encode | None":
    """An encoder as `compare` takes it: vectors that are in the store are not computed again."""
    from psycheck.scoring.vectors import encode_once

    return None if encoder is None else (encoder.name, partial(encode_once, encoder))


def notes_of(corpora: Sequence[Corpus]) -> list[str]:
    """What was guessed about each corpus, how many of its rows were left out, and its clusters."""
    # By kind of note, not by corpus, so that guesses stand together and can be compared.
    notes = []
    for corpus in corpora:
        notes += [f"{corpus.name}: {note}" for note in corpus.notes]
    for corpus in corpora:
        left_out = corpus.left_out.items()
        notes += [f"{corpus.name}: {counted(rows, 'row')} left out ({why})" for why, rows in left_out]
    for corpus in corpora:
        notes += corpus.clustering()
    return notes


def _environment(corpora: Sequence[Corpus], encoder: Encoder | None) -> dict[str, Any]:
    """The environment of a comparison: versions of its libraries, and the encoder's fingerprint."""
    from psycheck.runs.environment import environment_of

    encoders = [encoder] if encoder is not None else []
    return environment_of(encoders, corpora, libraries=_LIBRARIES)
