"""Which label of a model, a corpus and a suite are the same thing, said aloud where it is guessed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from psycheck.audits.suite import Suite
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, nearest, neighbours
from psycheck.model import Model
from psycheck.models.labels import nameless, nameless_score


def expected_labels(suites: Sequence[Suite], corpora: Sequence[Corpus]) -> tuple[str, ...]:
    """The labels that a run is about: those of the suites, or else those of the corpora."""
    tested = dict.fromkeys(check.label for suite in suites for check in suite.checks)
    return tuple(tested) or tuple(dict.fromkeys(label for corpus in corpora for label in corpus.labels))


def check_suites(suites: Sequence[Suite], corpora: Sequence[Corpus]) -> None:
    """Refuse a suite whose label is all but that of the corpora: one of the two is misspelt."""
    known = {label for corpus in corpora for label in corpus.labels}
    for suite in suites:
        for check in suite.checks:
            if check.label in known or not get_close_matches(check.label, known, n=1, cutoff=0.8):
                continue
            raise BadInput(
                f"suite '{suite.name}' tests '{check.label}', which no corpus is annotated for",
                where=f"check {check.id}",
                allowed=nearest(check.label, known),
                do="mend the label in the suite, or rename the column: --label COLUMN=NAME",
            )


def check_tested(suites: Sequence[Suite], model: str, labels: Sequence[str]) -> None:
    """Refuse a suite that tests what a model does not score, before anything is scored."""
    for suite in suites:
        for check in suite.checks:
            if check.label not in labels:
                raise BadInput(
                    f"suite '{suite.name}' tests '{check.label}'; model '{model}' does not score it",
                    where=f"check {check.id}",
                    allowed=nearest(check.label, labels),
                    do="name the model's label for it: append ?label=NAME to the model",
                )


def check_annotated(corpora: Sequence[Corpus], model: str, labels: Sequence[str]) -> None:
    """Refuse a corpus that is annotated for nothing that a model scores, before anything is scored."""
    for corpus in corpora:
        if corpus.labels and not set(corpus.labels) & set(labels):
            raise BadInput(
                f"model '{model}' and corpus '{corpus.name}' share no label",
                where=f"the model is taken to score {_some(labels)}; the corpus has {_some(corpus.labels)}",
                allowed="at least one label of the same name",
                do="rename the label of the corpus (--label COLUMN=NAME) or of the model (?label=NAME)",
            )


def check_trained_on(
    said: Mapping[str, Sequence[str]], models: Sequence[Model], corpora: Sequence[Corpus]
) -> list[str]:
    """Refuse a model that this run does not have; say which corpora it does not have, as it need not."""
    names, known = [model.name for model in models], [corpus.name for corpus in corpora]
    notes = []
    for model, trained in said.items():
        if model and model not in names:
            raise BadInput(
                f"no model of this run is called '{model}'", where="trained_on", allowed=nearest(model, names)
            )
        for corpus in trained:
            if corpus not in known:
                near = neighbours(corpus, known)
                notes.append(f"trained_on: '{corpus}' is no corpus of this run{'; ' if near else ''}{near}")
    return list(dict.fromkeys(notes))


def align_corpora(
    corpora: Sequence[Corpus], models: Sequence[Model], expected: Sequence[str]
) -> tuple[list[Corpus], list[str]]:
    """Give the nameless label of a corpus the name of the one label that is meant."""
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


def align_model(
    model: Model, corpora: Sequence[Corpus], expected: Sequence[str]
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
    if not wanted:
        raise BadInput(
            f"no corpus of this run has a label, and no suite names one for model '{model.name}'",
            do="name the label column (--label), or a suite",
        )
    raise BadInput(
        f"model '{model.name}' scores {_some(names)}; corpora and suites speak of {_some(wanted)}",
        allowed=nearest(names[0], wanted),
        do="if they are the same thing, say so: append ?label=NAME to the model, or --label COLUMN=NAME",
    )


def _some(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
