"""The labels of models, corpora and suites under the same names; what does not fit together is refused."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from psycheck.audits.suite import Suite
from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.core.model import Model
from psycheck.models.label_names import means_the_same, nameless, nameless_score

_MISSPELT = 0.8  # similarity of two labels from which one of them is likely misspelt
_LISTED = 10  # labels that a message lists


@dataclass(frozen=True, slots=True)
class Alignment:
    """Corpora whose labels are named as in the run, the names of each model's columns, notes on guesses."""

    corpora: tuple[Corpus, ...]
    labels: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]


def align(
    models: Sequence[Model],
    corpora: Sequence[Corpus],
    suites: Sequence[Suite],
    *,
    strict: bool,
) -> Alignment:
    """Give labels of models, corpora and suites the same names.

    With `strict` every model must score a label that a corpus or a suite has; audits from outside may do
    without.
    """
    expected = _expected_labels(corpora, suites)
    renamed, notes = _name_labels(corpora, models, expected)
    _refuse_misspelt_labels(suites, renamed)

    labels: dict[str, tuple[str, ...]] = {}
    for model in models:
        names, guesses = align_model(model, renamed, expected, strict=strict)
        labels[model.name] = names
        notes += guesses
    return Alignment(tuple(renamed), labels, tuple(notes))


def align_model(
    model: Model,
    corpora: Sequence[Corpus],
    expected: Sequence[str],
    *,
    strict: bool = True,
) -> tuple[tuple[str, ...], list[str]]:
    """The names under which a model's columns are judged, with notes; only a nameless one is renamed.

    With `strict` the model must score a label that a corpus or a suite has.
    """
    all_labels = [*expected, *_annotated_labels(corpora)]
    run_labels = list(dict.fromkeys(all_labels))
    # "Depression" of a model is "depression" of a corpus.
    by_folded_name = {label.casefold(): label for label in run_labels}
    names = tuple(by_folded_name.get(label.casefold(), label) for label in model.labels)
    if any(name in run_labels for name in names):
        return names, []

    # One score and one label: only a name that says another thing keeps them apart.
    sole = _sole_label(expected, run_labels)
    if sole and len(names) == 1:
        (name,) = names
        if nameless_score(name) or means_the_same(name, sole):
            note = f"model '{model.name}': its only score '{name}' is used for '{sole}'"
            return (sole,), [note]

    if not strict:
        return names, []
    if not run_labels:
        raise BadInput(
            f"no corpus of this run has a label, and no suite names one for model '{model.name}'",
            code="labels.none-in-run",
            do="name the label column (`labels`), or a suite",
        )
    raise BadInput(
        f"model '{model.name}' scores {listed_labels(names)}; "
        f"corpora and suites have {listed_labels(run_labels)}",
        code="labels.no-match",
        allowed=nearest(names[0], run_labels),
        do="if they are the same, rename one: append ?label=NAME to the model, or use `labels=COLUMN=NAME`",
    )


def listed_labels(labels: Sequence[str]) -> str:
    """A few labels, and how many more there are."""
    if not labels:
        return "no label"
    listed = ", ".join(labels[:_LISTED])
    unlisted = len(labels) - _LISTED
    if unlisted > 0:
        listed += f" and {unlisted} more"
    return listed


def _expected_labels(corpora: Sequence[Corpus], suites: Sequence[Suite]) -> tuple[str, ...]:
    """The labels that a run is about: those of the suites, or else those of the corpora."""
    tested: dict[str, None] = {}
    for suite in suites:
        tested.update(dict.fromkeys(check.label for check in suite.checks))
    return tuple(tested) or _annotated_labels(corpora)


def _annotated_labels(corpora: Sequence[Corpus]) -> tuple[str, ...]:
    """The labels of all corpora, each once, in order."""
    labels: dict[str, None] = {}
    for corpus in corpora:
        labels.update(dict.fromkeys(corpus.labels))
    return tuple(labels)


def _sole_label(expected: Sequence[str], run_labels: Sequence[str]) -> str | None:
    """The one label that the run is about, if there is only one."""
    if len(expected) == 1:
        return expected[0]
    # Suites and corpora together may still name only one.
    if len(run_labels) == 1:
        return run_labels[0]
    return None


def _refuse_misspelt_labels(suites: Sequence[Suite], corpora: Sequence[Corpus]) -> None:
    """Refuse a suite's label that is almost that of a corpus: one of the two is misspelt."""
    annotated = _annotated_labels(corpora)
    for suite in suites:
        for check in suite.checks:
            if check.label in annotated:
                continue
            # A label that is like none of them may be tested without annotations.
            if get_close_matches(check.label, annotated, n=1, cutoff=_MISSPELT):
                raise BadInput(
                    f"suite '{suite.name}' tests '{check.label}', which no corpus is annotated for",
                    code="labels.misspelt-in-suite",
                    where=f"check {check.id}",
                    allowed=nearest(check.label, annotated),
                    do="correct the label in the suite, or rename the column: `labels=COLUMN=NAME`",
                )


def _name_labels(
    corpora: Sequence[Corpus],
    models: Sequence[Model],
    expected: Sequence[str],
) -> tuple[list[Corpus], list[str]]:
    """Give the nameless label of a corpus the name of the one label that the run is about."""
    meant = _meant_label(models, expected)
    renamed: list[Corpus] = []
    notes: list[str] = []
    for corpus in corpora:
        sole = corpus.labels[0] if len(corpus.labels) == 1 else ""
        if not meant or sole == meant:
            renamed.append(corpus)
        elif nameless(sole) or means_the_same(sole, meant):
            renamed.append(_with_label_renamed(corpus, sole, meant))
            notes.append(f"{corpus.name}: the label '{sole}' is used for '{meant}'")
        else:
            renamed.append(corpus)
    return renamed, notes


def _meant_label(models: Sequence[Model], expected: Sequence[str]) -> str | None:
    """What a nameless label can only mean: the one label of the run, or of the first model with one name."""
    if len(expected) == 1 and not nameless(expected[0]):
        return expected[0]

    for model in models:
        if len(model.labels) != 1:
            continue
        (label,) = model.labels
        if not nameless(label):
            return label
    return None


def _with_label_renamed(corpus: Corpus, old: str, new: str) -> Corpus:
    """The corpus with a label under another name, also where it is a split of a larger one."""
    table = corpus.table.rename({LABEL + old: LABEL + new})
    whole = corpus.whole
    if whole is not None:
        whole = _with_label_renamed(whole, old, new)
    return replace(corpus, table=table, whole=whole)
