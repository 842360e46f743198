"""`psycheck suite`: check a suite of your own, select sentences for one."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt
from psycheck.core.errors import counted

if TYPE_CHECKING:
    from psycheck.core.arrays import FloatArray

app = typer.Typer(help="Check a suite, or select its sentences.", no_args_is_help=True, rich_markup_mode=None)


@app.command("check")
@opt.verb("suite check")
def check_cli(file: str) -> None:
    """Validate a suite and summarise it."""
    from psycheck.audits.suite import read_suite

    suite = read_suite(file)
    counts = Counter(check.kind for check in suite.checks)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    checks = counted(len(suite.checks), "check")
    variant_count = sum(len(check.edits) for check in suite.checks)
    variants = counted(variant_count, "variant")
    typer.echo(f"{suite.name}: {checks} ({kinds}), {variants}; valid")


@app.command("select")
@opt.verb("suite select")
def select_cli(
    candidates: Path,
    models: list[str],
    out: Path | None = None,
    label: str = "depression",
    allow_remote: bool = False,
) -> None:
    """Keep the sentences that most models classify as expected with median confidence above 0.5."""
    import numpy as np

    from psycheck.audits.sentence_choice import read_candidates, select_sentences, write_suite
    from psycheck.io.writing import refuse_overwriting
    from psycheck.models.opening import paths_of_spec

    # Before the models vote, which may take long or cost money.
    if out is not None:
        model_files = [path for spec in models for path in paths_of_spec(spec)]
        refuse_overwriting([out], [candidates, *model_files])

    candidate_sentences = read_candidates(candidates)
    sentences = [candidate.sentence for candidate in candidate_sentences]
    scores = [_scores_of(spec, sentences, label, allow_remote=allow_remote) for spec in models]

    choices = select_sentences(candidate_sentences, np.stack(scores))
    for choice in choices:
        mark = "kept" if choice.kept else "left"
        votes = f"{choice.votes} of {choice.models}"
        typer.echo(f"{mark}  {votes}  median {choice.median:.2f}  {choice.candidate.sentence}")
    kept_count = sum(choice.kept for choice in choices)
    typer.echo(f"{kept_count} of {len(choices)} kept")

    if out is not None:
        write_suite(choices, out, name=out.stem, label=label)
        typer.echo(f"suite: {out}")


def _scores_of(spec: str, sentences: Sequence[str], label: str, *, allow_remote: bool) -> "FloatArray":
    """The scores that a model gives sentences for a label, (n,)."""
    from psycheck.audits.alignment import align_model
    from psycheck.models.opening import open_model
    from psycheck.scoring.answers import answers
    from psycheck.scoring.limits import Limits

    # The model may call the label by another name.
    model = open_model(spec)
    names, _ = align_model(model, [], [label])
    with answers([model], [(1.0, sentences)], limits=Limits(allow_remote)) as answered:
        scores = answered.views[0].of(sentences)
        return scores[:, names.index(label)]
