"""`psycheck score`: scores or silver labels of a whole corpus.

What scores is imported in the functions that use it: `psycheck score --help` needs none of it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_json, print_notes
from psycheck.commands.table_files import check_table_file, write_table
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted
from psycheck.core.item import Item, digest_of
from psycheck.core.model import Model, capabilities_of
from psycheck.core.progress import Progress, silent

if TYPE_CHECKING:
    from psycheck.commands.silver_labels import Labelling
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.opening import CorpusPlan
    from psycheck.scoring.engine import Piece
    from psycheck.scoring.limits import Limits
    from psycheck.scoring.tally import Tally

_INCOMPLETE = 3  # exit code
_ONLY_FOR_ONE_FILE = ("as_labels", "threshold", "more_models", "store", "dry_run", "json_")
_ONLY_FOR_LABELS = ("more_models", "confidence", "min_agreement", "complete", "keep_positive")


@opt.verb("score", (*opt.TRAINING, "time"))
def score_cli(
    ctx: typer.Context,
    columns: "Columns",
    model: str,
    corpus: str,
    more_models: list[str] | None = None,
    out: Path = Path("scores.csv"),
    confidence: str | None = None,
    split: str | None = None,
    format_: str | None = None,
    store: Path | None = None,
    dry_run: bool = False,
    json_: bool = False,
    fast: bool = False,
) -> None:
    """Score every text of a corpus; the file holds ids and scores, or texts with silver labels."""
    from psycheck.audits.jobs import check_pools
    from psycheck.commands.score_shards import is_sharded
    from psycheck.corpora.opening import corpus_plan
    from psycheck.io.settings import read_settings
    from psycheck.models.opening import fast_spec, open_model
    from psycheck.scoring.engine import LOCAL, open_engine
    from psycheck.scoring.limits import Limits

    # Options without effect, unknown names and outputs that cannot be written are refused before scoring.
    writes_labels = opt.given(ctx, "as_labels")
    if not writes_labels:
        what = "scoring without --as-labels"
        opt.refuse(ctx, _ONLY_FOR_LABELS, what, "is for silver labels: add --as-labels hard")
    how = _labelling(ctx, confidence)
    engine = ctx.params["engine"] or LOCAL
    open_engine(engine)  # an unknown name is refused before a corpus or a model is opened
    specs = [model, *(more_models or ())]
    if fast:
        specs = list(map(fast_spec, specs))
    plan = corpus_plan(corpus, columns, split, format_)
    if is_sharded(plan.path, str(out)):
        opt.refuse(ctx, _ONLY_FOR_ONE_FILE, "scoring file by file", "is for a corpus in one file")
        _score_shards(specs[0], plan, out, engine)
        return
    _refuse_output(out, plan, specs, writes_labels=writes_labels)

    opened = _open_corpus(plan, how)
    models = [open_model(spec) for spec in specs]
    for opened_model in models:
        print_notes(capabilities_of(opened_model).notes, opened_model.name)
    print_notes(check_pools(models, [opened]))

    if dry_run:
        _print_dry_run(models, opened, store, ctx, as_json=json_)
        return
    asking: dict[str, Any] = {
        "as_json": json_,
        "store": store,
        "limits": read_settings(Limits, opt.values_for(ctx, Limits)),
        "say": lambda note: print_notes([note]),
        "engine": engine,
    }
    if writes_labels:
        failed = _write_labels(models, opened, how, out, **asking)
    else:
        # Without --threshold the file holds scores alone.
        failed = _write_scores(models[0], opened, how.threshold, out, **asking)

    # The file is written all the same; the exit code tells scripts that scores are missing.
    if failed:
        missing = f"{counted(failed, 'text')} without a score: no score or label in the file"
        print_notes([missing], even_if_quiet=True)
        raise typer.Exit(_INCOMPLETE)


def _print_dry_run(
    models: Sequence[Model], corpus: Corpus, store: Path | None, ctx: typer.Context, *, as_json: bool
) -> None:
    """Print how many texts lack a score, and about what they take."""
    from psycheck.commands.audit_console import print_forecast
    from psycheck.corpora.posting_histories import as_taken
    from psycheck.io.settings import read_settings
    from psycheck.scoring.answers import forecast
    from psycheck.scoring.limits import Limits

    limits = read_settings(Limits, opt.values_for(ctx, Limits))
    tallies: dict[str, Tally] = {}
    for model in models:
        (taken,) = as_taken([corpus], [model])
        tallies |= forecast([model], partial(pieces_of, taken), store, limits)
    print_forecast({name: asdict(tally) for name, tally in tallies.items()}, as_json=as_json)


def _score_shards(spec: str, plan: "CorpusPlan", out: Path, engine: str) -> None:
    """Score a corpus of many files into a folder of as many, and print what was done."""
    from psycheck.commands.score_shards import score_shards
    from psycheck.models.opening import open_model

    if out.suffix:
        raise BadInput(
            f"cannot write the scores of many files to '{out.name}'",
            code="shards.out-is-a-file",
            key="out",
            allowed="a folder",
        )
    model = open_model(spec)
    print_notes(capabilities_of(model).notes, model.name)
    with ProgressLine() as line:
        # As typed: a path would join the two slashes of a URL.
        target = out.as_posix().replace(":/", "://")
        tally = score_shards(model, plan, target, engine=engine, progress=line)

    print_notes(tally.complaints)
    before = f", {tally.reused:,} of them before" if tally.reused else ""
    typer.echo(
        f"{counted(tally.shards, 'file')} scored{before}; {counted(tally.texts, 'text')} now: {target}"
    )
    if tally.failed:
        print_notes([f"{counted(tally.failed, 'text')} without a score: no score in the file"])
        raise typer.Exit(_INCOMPLETE)


def _labelling(ctx: typer.Context, confidence: str | None) -> "Labelling":
    """How scores become labels, from the options."""
    from psycheck.audits.thresholds import threshold_of
    from psycheck.commands.silver_labels import Labelling
    from psycheck.io.settings import read_settings

    values = opt.values_for(ctx, Labelling)
    if "threshold" in values:
        values["threshold"] = threshold_of(values["threshold"])
    if confidence is not None:
        values["confidence"] = [threshold_of(end) for end in confidence.split(":")]
    return read_settings(Labelling, values)


def _refuse_output(out: Path, plan: "CorpusPlan", specs: Sequence[str], *, writes_labels: bool) -> None:
    """Refuse, before anything is opened, an output of an unknown kind or one that is an input."""
    from psycheck.commands.silver_labels import silver_files
    from psycheck.corpora.opening import corpus_path
    from psycheck.corpora.writing import refuse_kind
    from psycheck.io.writing import refuse_overwriting
    from psycheck.models.opening import paths_of_spec

    inputs = [path for spec in specs for path in paths_of_spec(spec)]
    corpus_file = corpus_path(plan)
    if corpus_file is not None:
        inputs.append(corpus_file)
    if writes_labels:
        refuse_kind(out)
        refuse_overwriting([out, *silver_files(out)], inputs)
    else:
        check_table_file(out, inputs)


def _open_corpus(plan: "CorpusPlan", how: "Labelling") -> Corpus:
    """Open the corpus, with its dev split if the threshold comes from there, and print its notes."""
    from psycheck.audits.thresholds import DEV, open_with_dev
    from psycheck.corpora.opening import open_corpus

    opened = open_with_dev(plan) if how.threshold == DEV else open_corpus(plan)
    print_notes(opened.notes, opened.name)
    left_out = opened.left_out.items()
    print_notes((f"{counted(rows, 'row')} left out ({why})" for why, rows in left_out), opened.name)
    return opened


def _write_labels(
    models: Sequence[Model], corpus: Corpus, how: "Labelling", out: Path, *, as_json: bool, **asking: Any
) -> int:
    """Write a corpus with silver labels, and print what was done; returns how many texts failed."""
    from psycheck.commands.silver_labels import label_corpus, shown_alpha, write_silver

    with ProgressLine() as line:
        labelled, failed = label_corpus(models, corpus, how, progress=line, **asking)
        files = write_silver(labelled, out)

    print_notes(labelled.card["notes"])
    if as_json:
        print_json(files=list(map(str, files)), texts=len(labelled.corpus), failed=failed)
        return failed
    texts = counted(len(labelled.corpus), "text")
    file_names = ", ".join(map(str, files))
    typer.echo(f"{texts} of {len(corpus):,} labelled: {file_names}")
    for label, agreement in labelled.card["agreement"].items():
        typer.echo(f"agreement on {label}: Krippendorff's alpha {shown_alpha(agreement)}")
    return failed


def _write_scores(
    model: Model,
    corpus: Corpus,
    threshold: float | Literal["dev"] | None,
    out: Path,
    *,
    as_json: bool,
    **asking: Any,
) -> int:
    """Write a table of scores, and print what was done; returns how many texts failed."""
    with ProgressLine() as line:
        table, failed, notes = score_corpus(model, corpus, threshold=threshold, progress=line, **asking)
        write_table(table, out)
    print_notes(notes)
    unit = "author" if capabilities_of(model).takes == "histories" else "text"
    has_score = pl.any_horizontal(pl.col(label).is_not_null() for label in model.labels)
    scored = table.filter(has_score).height
    if as_json:
        print_json(files=[str(out)], texts=scored, failed=failed)
        return failed
    total = "" if scored == len(table) else f" of {len(table):,}"
    typer.echo(f"{counted(scored, unit)}{total} scored: {out}")
    return failed


def score_corpus(
    model: Model,
    corpus: Corpus,
    *,
    threshold: float | Literal["dev"] | None = None,
    store: Path | None = None,
    progress: Progress = silent,
    limits: "Limits | None" = None,
    say: Callable[[str], None] = lambda note: None,
    engine: str | None = None,
) -> tuple[pl.DataFrame, int, tuple[str, ...]]:
    """A table of ids with a score per label (null: no usable answer), how many texts lack one, and notes.

    With a threshold it also has a column NAME_silver of 0 and 1 for each label; of exclusive classes the one
    with the largest score is 1. A threshold from dev leaves the silver labels of dev texts empty. The last
    column, `text_hash`, names the text of each row, so that the file can be opened as `scores:FILE`. `engine`
    names what scores the texts (default: the local engine).
    """
    from psycheck.audits.figures import thresholds_of
    from psycheck.audits.thresholds import DEV, choose_thresholds, set_aside
    from psycheck.corpora.posting_histories import as_taken
    from psycheck.scoring.answers import answers
    from psycheck.scoring.engine import LOCAL
    from psycheck.scoring.limits import NO_LIMITS
    from psycheck.statistics.classification import decide

    notes_before = corpus.notes
    (corpus,) = as_taken([corpus], [model])  # texts, or the histories of authors
    for note in corpus.notes[len(notes_before) :]:
        say(f"{corpus.name}: {note}")

    # A corpus without dev is refused here, before it is scored.
    dev: Sequence[Corpus] = []
    if threshold == DEV:
        _, dev = set_aside([corpus], {model.name: model.labels})

    notes: tuple[str, ...] = ()
    with answers(
        [model],
        pieces_of(corpus),
        store=store,
        progress=progress,
        limits=limits or NO_LIMITS,
        say=say,
        engine=engine or LOCAL,
    ) as answered:
        view = answered.views[0]
        tally = answered.tallies[model.name]
        scores = view.of(corpus.items)
        thresholds = thresholds_of(view, 0.5)
        if isinstance(threshold, float | int):
            # What the user typed comes before what a model brings along.
            thresholds = np.full(len(view.labels), float(threshold))
        if dev:
            chosen = choose_thresholds(view, dev)
            thresholds = chosen.values
            notes = chosen.notes

    labels = None
    if threshold is not None:
        labels = decide(scores, thresholds, exclusive=capabilities_of(model).exclusive)
        if dev:
            is_dev = [split == DEV for split in corpus.strings("split")]
            labels[is_dev] = np.nan
    table = _score_table(model.labels, corpus.ids, corpus.items, scores, labels)
    for reason, count in view.complaints.items():
        notes += (f"{counted(count, 'text')} without an answer: {reason}",)
    return table, tally.without_score, (*notes, *tally.notes_on_replies())


def _score_table(
    names: Sequence[str],
    ids: Sequence[str],
    items: Sequence[Item],
    scores: FloatArray,
    labels: FloatArray | None,
) -> pl.DataFrame:
    """One row per text: id, score and, if there are `labels` (n, k), the label of each name, and a hash."""
    from psycheck.models.score_file import SILVER

    columns = [pl.Series("id", ids, pl.String)]
    for k, name in enumerate(names):
        # NaN, "no usable answer", is an empty cell: not every program reads "NaN" as missing.
        score_column = pl.Series(name, scores[:, k].copy())
        columns.append(score_column.fill_nan(None))
        if labels is not None:
            label_column = pl.Series(f"{name}{SILVER}", labels[:, k])
            columns.append(label_column.fill_nan(None).cast(pl.Int8))

    hashes = [digest_of(item).hex() for item in items]
    columns.append(pl.Series("text_hash", hashes, pl.String))
    return pl.DataFrame(columns)


def pieces_of(corpus: Corpus) -> "Iterator[Piece]":
    """The texts or histories of a corpus in pieces to score."""
    from psycheck.corpora.fixed_order import in_fixed_order
    from psycheck.scoring.answers import in_equal_shares

    # What shares a batch decides on the last digits, and the order of the file must not.
    return in_equal_shares([piece.items for piece in in_fixed_order(corpus).slices()])
