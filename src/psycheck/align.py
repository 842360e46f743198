"""Which label of a model, a corpus and a suite are the same thing, said aloud where it is guessed."""

from collections.abc import Sequence
from dataclasses import replace

from psycheck.audits.suite import Suite
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, nearest
from psycheck.model import Model

# Names that say "the label" and no more; they take the name of the one label that is meant.
NAMELESS = frozenset({"label", "labels", "class", "target", "y", "gold", "positive", "score", "1", "true"})


def expected_labels(suites: Sequence[Suite], corpora: Sequence[Corpus]) -> tuple[str, ...]:
    """The labels that a run is about: those of the suites, or else those of the corpora."""
    tested = dict.fromkeys(check.label for suite in suites for check in suite.checks)
    return tuple(tested) or tuple(dict.fromkeys(label for corpus in corpora for label in corpus.labels))


def align_corpora(
    corpora: Sequence[Corpus], models: Sequence[Model], expected: Sequence[str]
) -> tuple[list[Corpus], list[str]]:
    """Give the nameless label of a corpus the name of the one label that is meant."""
    meant = expected[0] if len(expected) == 1 else None
    if meant is None or meant in NAMELESS:
        meant = next(
            (m.labels[0] for m in models if len(m.labels) == 1 and m.labels[0] not in NAMELESS), None
        )
    out, notes = [], []
    for corpus in corpora:
        nameless = [label for label in corpus.labels if label.casefold() in NAMELESS]
        if meant and len(corpus.labels) == 1 and nameless and nameless[0] != meant:
            corpus = replace(corpus, table=corpus.table.rename({LABEL + nameless[0]: LABEL + meant}))
            notes.append(f"{corpus.name}: the label '{nameless[0]}' is taken as '{meant}'")
        out.append(corpus)
    return out, notes


def align_model(
    model: Model, corpora: Sequence[Corpus], expected: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """The names under which a model's columns are judged."""
    wanted = list(dict.fromkeys([*expected, *(label for corpus in corpora for label in corpus.labels)]))
    by_fold = {label.casefold(): label for label in wanted}
    names = tuple(by_fold.get(label.casefold(), label) for label in model.labels)
    if any(name in wanted for name in names):
        return names, []
    if len(names) == 1:
        sole = expected[0] if len(expected) == 1 else wanted[0] if len(wanted) == 1 else None
        if sole:
            return (sole,), [f"model '{model.name}': its one score '{names[0]}' is taken as '{sole}'"]
    if not wanted:
        raise BadInput(
            f"no corpus of this run has a label, and no suite names one for model '{model.name}'",
            do="name the label column (--label), or a suite",
        )
    raise BadInput(
        f"model '{model.name}' scores {_some(names)}; corpora and suites speak of {_some(wanted)}",
        allowed=nearest(names[0], wanted),
        do="name the model's label: add ?label=NAME to the model, or rename a column: --label COLUMN=NAME",
    )


def _some(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
