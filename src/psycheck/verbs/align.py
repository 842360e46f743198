"""Which labels of models, corpora and suites are the same; what is guessed becomes a note."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from psycheck.audits.behaviour import refuse_unscored
from psycheck.audits.performance import shared_labels, some_labels
from psycheck.audits.suite import Suite
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, nearest, neighbours
from psycheck.model import Model
from psycheck.models.labels import nameless, nameless_score


class Aligned(NamedTuple):
    """Corpora with their labels renamed, the names of each model's columns, and notes on what was guessed."""

    corpora: list[Corpus]
    names: dict[str, tuple[str, ...]]
    notes: list[str]


def align(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    suites: Sequence[Suite],
    *,
    annotated: bool = True,
    strict: bool = True,
) -> Aligned:
    """Give labels of models, corpora and suites the same names, and refuse those that do not fit together.

    With `annotated` every labelled corpus must have a label that each model scores; with `strict` each model
    must score a label that a corpus or a suite has.
    """
    # The labels that a run is about: those of the suites, or else those of the corpora.
    tested = dict.fromkeys(check.label for suite in suites for check in suite.checks)
    expected = tuple(tested) or tuple(dict.fromkeys(label for corpus in corpora for label in corpus.labels))
    renamed, notes = _align_corpora(corpora, models, expected)
    _check_suites(suites, renamed)
    names = {}
    for model in models:
        names[model.name], guessed = align_model(model, renamed, expected, strict=strict)
        notes += guessed
        for suite in suites:
            refuse_unscored(suite, model.name, names[model.name])
        for corpus in renamed:
            if annotated and corpus.labels:
                shared_labels(corpus, model.name, names[model.name])
    return Aligned(renamed, names, notes)


def align_model(
    model: Model, corpora: Sequence[Corpus], expected: Sequence[str], *, strict: bool = True
) -> tuple[tuple[str, ...], list[str]]:
    """The names under which a model's columns are judged; only a nameless one takes another name."""
    wanted = list(dict.fromkeys([*expected, *(label for corpus in corpora for label in corpus.labels)]))
    by_fold = {label.casefold(): label for label in wanted}
    names = tuple(by_fold.get(label.casefold(), label) for label in model.labels)
    if any(name in wanted for name in names):
        return names, []
    if len(names) == 1 and nameless_score(names[0]):
        sole = expected[0] if len(expected) == 1 else wanted[0] if len(wanted) == 1 else None
        if sole:
            return (sole,), [f"model '{model.name}': its one score '{names[0]}' is taken as '{sole}'"]
    if not strict:
        return names, []
    if not wanted:
        raise BadInput(
            f"no corpus of this run has a label, and no suite names one for model '{model.name}'",
            do="name the label column (--label), or a suite",
        )
    raise BadInput(
        f"model '{model.name}' scores {some_labels(names)}; corpora and suites have {some_labels(wanted)}",
        allowed=nearest(names[0], wanted),
        do="if they are the same, rename one: append ?label=NAME to the model, or use --label COLUMN=NAME",
    )


def check_trained_on(
    trained_on: Mapping[str, Sequence[str]], models: Sequence[Model], corpora: Sequence[Corpus]
) -> list[str]:
    """Refuse a model that this run does not have; note corpora that it does not have, as it need not."""
    names, known = [model.name for model in models], [corpus.name for corpus in corpora]
    notes = []
    for model, trained in trained_on.items():
        if model and model not in names:
            raise BadInput(
                f"no model of this run is called '{model}'", where="trained_on", allowed=nearest(model, names)
            )
        for corpus in trained:
            if corpus not in known:
                near = neighbours(corpus, known)
                notes.append(
                    f"trained_on: '{corpus}' is not a corpus of this run{'; ' if near else ''}{near}"
                )
    return list(dict.fromkeys(notes))


def _align_corpora(
    corpora: Sequence[Corpus], models: Sequence[Model], expected: Sequence[str]
) -> tuple[list[Corpus], list[str]]:
    """Give the nameless label of a corpus the name of the one label that the run is about."""
    meant = expected[0] if len(expected) == 1 else None
    if meant is None or nameless(meant):
        meant = next((m.labels[0] for m in models if len(m.labels) == 1 and not nameless(m.labels[0])), None)
    out, notes = [], []
    for corpus in corpora:
        sole = corpus.labels[0] if len(corpus.labels) == 1 else ""
        if meant and sole != meant and nameless(sole):
            corpus = replace(corpus, table=corpus.table.rename({LABEL + sole: LABEL + meant}))
            notes.append(f"{corpus.name}: the label '{sole}' is taken as '{meant}'")
        out.append(corpus)
    return out, notes


def _check_suites(suites: Sequence[Suite], corpora: Sequence[Corpus]) -> None:
    """Refuse a suite whose label is almost that of a corpus: one of the two is misspelt."""
    known = {label for corpus in corpora for label in corpus.labels}
    for suite in suites:
        for check in suite.checks:
            if check.label not in known and get_close_matches(check.label, known, n=1, cutoff=0.8):
                raise BadInput(
                    f"suite '{suite.name}' tests '{check.label}', which no corpus is annotated for",
                    where=f"check {check.id}",
                    allowed=nearest(check.label, known),
                    do="correct the label in the suite, or rename the column: --label COLUMN=NAME",
                )
