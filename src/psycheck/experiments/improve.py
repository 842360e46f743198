"""Retrain a model on the checks that it failed, or on both genders, and prove it on corpora it never saw."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from psycheck.audits.suite import read_suite
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest
from psycheck.experiments.arm_findings import findings_of
from psycheck.experiments.arms import SAMPLE, Arms, Say, Ways, arms_of, one_seed
from psycheck.experiments.asking import dir_checks
from psycheck.experiments.gender_arms import one_gender_seed
from psycheck.measures.bootstrap import RESAMPLES
from psycheck.run import Run
from psycheck.runs.environment import environment_of
from psycheck.runs.pages import save
from psycheck.scoring.engine import Progress, silent
from psycheck.text.gender.edits import Scope, scope_of
from psycheck.train.card import RECORD, read_record
from psycheck.train.fit import opened
from psycheck.train.parts import parts_of
from psycheck.train.recipe import Recipe, used, with_seed

AUDIT = "improve"
DECK, GENDER = "deck", "gender"
UNDECIDED_BY_ID = " (by id: undecided_rate in findings.jsonl)"


def improve(
    start: str | Path | Recipe,
    corpus: CorpusLike,
    others: Sequence[CorpusLike] = (),
    *,
    out: str | Path,
    augment: str = "deck",
    swap: Sequence[str] | None = None,
    swap_person: str | None = None,
    seeds: int = 1,
    texts: int | None = None,
    store: str | Path | None = None,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
    say: Say = lambda _: None,
    **changes: Any,
) -> Run:
    """Retrain with sentences of DIR checks or with swapped texts; measure both models at home and elsewhere.

    `start` is a folder that `train` wrote from this corpus, or a recipe. Every further seed trains anew. All
    arms are measured on the test split and on the others (their test split where they have one), at 0.5, at a
    threshold chosen on dev, and by AUC; sentences are tried on `texts` texts of dev (40). `changes` are
    fields of `Ways`: suite, unseen, which, share, agreeing, balance, control. What was trained or scored once
    is not trained or scored again. With `augment` "gender" every text of train and dev that names a gender
    gets a swapped counterpart, and flips and false negative rates are measured too; `swap` (pronouns) and
    `swap_person` (all) say which words are swapped, in training and in these pairs. What belongs to the other
    kind of augmenting is refused.
    """
    ways = ways_of(changes)
    if augment not in (DECK, GENDER):
        raise BadInput(f"cannot augment with '{augment}'", allowed=nearest(augment, (DECK, GENDER)))
    if augment != GENDER and (swap is not None or swap_person is not None):
        raise BadInput("nothing is swapped here", do="--swap and --swap-person go with --augment gender")
    of_sentences = [*changes, *(["texts"] if texts is not None else [])]
    if augment == GENDER and (idle := [name for name in of_sentences if name != "control"]):
        raise BadInput(
            f"no sentences are appended here, so these settings do nothing: {', '.join(idle)}",
            allowed="control, swap, swap_person and seeds",
            do="leave them out; they go with --augment deck",
        )
    scope = scope_of(swap or (), swap_person or "all")
    if seeds < 1:
        raise BadInput(f"seeds = {seeds}", allowed="1 or more")
    folder, recipe = _start(start)
    arms = arms_of(
        open_corpus(corpus),
        [open_corpus(one) for one in others],
        recipe,
        [dir_checks(read_suite(name)) for name in (ways.suite, ways.unseen) if name and augment == DECK],
        Path(out),
        audit=AUDIT,
        texts=SAMPLE if texts is None else texts,
        store=Path(store) if store else None,
        progress=progress,
        say=say,
    )
    if folder is not None:
        _same_texts(folder, arms.corpus, recipe)
    for number in range(seeds):
        seeded, known = with_seed(recipe, recipe.seed + number), folder if number == 0 else None
        if augment == GENDER:
            one_gender_seed(arms, seeded, ways.control, known, scope)
        else:
            one_seed(arms, seeded, ways, known)
    if augment == DECK and not any(arms.chosen.values()):
        raise BadInput(
            f"no DIR check of '{arms.suites[0].name}' is below the mean: all pass alike",
            do="learn from all of them: --which all",
        )
    findings = findings_of(arms, resamples)
    run = Run(
        plan={"augment": augment, **_swapping(augment, scope), **_plan(arms, recipe, ways, seeds)},
        environment=environment_of(arms.models, [arms.corpus, *arms.tests[1:]], arms.suites),
        findings=tuple(findings),
        notes=(*_notes(arms, augment), *arms.notes),
        folder=arms.out,
    )
    save(run, arms.out)
    return run


def ways_of(changes: Mapping[str, Any]) -> Ways:
    """The ways with some changed; what is unknown or out of range is an error."""
    known = {one.name for one in fields(Ways)}
    for name in changes:
        if name not in known:
            raise BadInput(f"improve() has no setting '{name}'", allowed=nearest(name, known))
    ways = replace(Ways(), **changes)
    if ways.which not in ("below_mean", "all"):
        raise BadInput(f"which = '{ways.which}'", allowed="below_mean, all")
    if not 0 < ways.share <= 1:
        raise BadInput(f"share = {ways.share}", allowed="above 0 and up to 1")
    return ways


def _start(start: str | Path | Recipe) -> tuple[Path | None, Recipe]:
    """A finished training and its recipe, or a recipe alone."""
    if isinstance(start, Recipe):
        return None, start
    folder = Path(str(start).removeprefix("hf:"))
    if not (folder / RECORD).is_file():
        raise BadInput(
            f"'{folder}' is no folder that train wrote: its recipe is not known",
            allowed=f"a folder with {RECORD}, or a named recipe",
            do="psycheck train CORPUS --out FOLDER first; psycheck ls recipes says which have a name",
        )
    return folder, opened(folder).recipe


def _same_texts(folder: Path, corpus: Corpus, recipe: Recipe) -> None:
    """Plain and augmented can be compared only if the plain model learned from these very texts."""
    learned = read_record(folder)["trained_on"]["train"]["fingerprint"]
    if learned != parts_of(corpus, recipe).train.fingerprint():
        raise BadInput(
            f"the model was not trained on the train split of corpus '{corpus.name}' as it is now",
            where=str(folder),
            allowed="the corpus that train was given, with the same columns and splits",
            do="name that corpus first, or a recipe instead of the folder",
        )


def _notes(arms: Arms, augment: str) -> list[str]:
    if augment == DECK:
        return [
            f"sentences were tried on {len(arms.asked)} texts of dev; "
            "checks that training used are marked 'trained_on'"
        ]
    added = [
        f"{name}: {c['added']} texts added to the {c['texts']} of train and dev; {c['undecided']} undecided "
        f"texts were not swapped{UNDECIDED_BY_ID if c['undecided'] else ''}" + _besides(c)
        for name, c in arms.counts.items()
    ]
    # The page of the swapped pairs has no column for them.
    cuts = {f"{row.arm}-{row.seed}": f"{row.threshold:.3f}" for row in arms.rows}
    return [*added, f"thresholds chosen on dev: {', '.join(' '.join(one) for one in cuts.items())}"]


def _besides(counts: Mapping[str, int]) -> str:
    """What a swap left to be seen, and what would take it."""
    besides = counts["named_besides"]
    said = f"; {besides} of them name a gender by a noun or title, too, which stays (--swap nouns,titles)"
    return said if besides else ""


def _swapping(augment: str, scope: Scope) -> dict[str, Any]:
    return {"swap": list(scope.words), "swap_person": scope.person} if augment == GENDER else {}


def _plan(arms: Arms, recipe: Recipe, ways: Ways, seeds: int) -> dict[str, Any]:
    return {
        "verb": "improve",
        "models": [{"name": model.name, "labels": list(model.labels)} for model in arms.models],
        "corpora": [
            {"name": c.name, "texts": len(c), "labels": list(c.labels), "left_out": dict(c.left_out)}
            for c in arms.tests
        ],
        "suites": [{"name": s.name, "title": s.title, "checks": len(s.checks)} for s in arms.suites],
        "trained_on": {model.name: [arms.corpus.name] for model in arms.models},
        "threshold": 0.5,
        "recipe": used(recipe),
        "ways": {one.name: getattr(ways, one.name) for one in fields(ways)},
        "seeds": seeds,
        "sentences_tried_on": len(arms.asked) if arms.suites else 0,
        "chosen": arms.chosen,
        "augmented": arms.counts,
    }
