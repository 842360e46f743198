"""Retrain a model on failed checks, on both genders or on symptoms, and test it on corpora it never saw."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from psycheck.audits.suite import read_suite
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.errors import BadInput, counted, nearest
from psycheck.experiments import arms as design
from psycheck.experiments.arms import BETTER, CONTROL, SAMPLE, Say, Ways, quiet
from psycheck.experiments.gender_arms import gender_arms
from psycheck.experiments.rows import PLAIN, ArmResult, checks_by_seed, findings_of
from psycheck.finding import Findings
from psycheck.run import Run
from psycheck.runs.environment import described, environment_of
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.engine import Progress, silent
from psycheck.settings.reader import read_settings
from psycheck.text.gender.edits import scope_of
from psycheck.train.card import RECORD, read_record
from psycheck.train.fit import opened
from psycheck.train.recipe import Recipe, used

AUDIT = "improve"
DECK, GENDER = "deck", "gender"
AUGMENT, GROUND = "augment", "ground"
IDLE = ("which", "share", "agreeing", "control")  # settings that a grounded model has no use for


@writes_run("start", "corpus", "others", "changes")
def improve(
    start: str | Path | Recipe,
    corpus: CorpusLike,
    others: Sequence[CorpusLike] = (),
    *,
    out: str | Path,
    how: str = AUGMENT,
    augment: str = "deck",
    swap: Sequence[str] | None = None,
    swap_person: str | None = None,
    seeds: int = 1,
    texts: int | None = None,
    store: str | Path | None = None,
    progress: Progress = silent,
    say: Say = quiet,
    **changes: Any,
) -> Run:
    """Retrain with sentences, with swapped texts or on symptoms; measure all models at home and elsewhere.

    `start` is a folder that `train` wrote from this corpus, or a recipe. Every further seed trains anew. All
    arms are measured on the test split and on the others (their test split where they have one), at 0.5, at a
    threshold chosen on dev, and by AUC; sentences are tried on `texts` texts of dev (40). `changes` are
    fields of `Ways`: suite, unseen, which, share, agreeing, balance, control. Finished trainings and scores
    are reused. With `augment` "gender" every text of train and dev that names a gender gets a swapped
    counterpart, and flips and false negative rates are measured too; `swap` (pronouns) and `swap_person`
    (all) choose the words to swap, in training and in these pairs. Settings of the other kind of augmenting
    are an error. With `how` "ground" no text is changed: the arm "grounded" is a logistic regression on the
    evidence for the symptoms of PHQ-9.
    """
    known = [field.name for field in fields(Ways)]
    for name in changes:
        if name not in known:
            raise BadInput(f"improve() has no setting '{name}'", allowed=nearest(name, known))
    ways = read_settings(Ways, changes)
    if how not in (AUGMENT, GROUND):
        raise BadInput(f"cannot improve by '{how}'", allowed=nearest(how, (AUGMENT, GROUND)))
    grounds = how == GROUND
    unasked = [name for name in IDLE if name in changes] + ["augment"] * (augment != DECK)
    if grounds and unasked:
        raise BadInput(
            f"how = 'ground' changes no text; settings without effect: {', '.join(unasked)}",
            allowed="suite, unseen, texts, balance and seeds",
            do="remove them, or use `how=augment`",
        )
    if augment not in (DECK, GENDER):
        raise BadInput(f"cannot augment with '{augment}'", allowed=nearest(augment, (DECK, GENDER)))
    if augment != GENDER and (swap is not None or swap_person is not None):
        raise BadInput("augment = 'deck' swaps nothing", do="swap words with `augment=gender`")
    of_sentences = [*changes, *(["texts"] if texts is not None else [])]
    if augment == GENDER and (idle := [name for name in of_sentences if name != "control"]):
        raise BadInput(
            f"augment = 'gender' appends no sentences; settings without effect: {', '.join(idle)}",
            allowed="control, swap, swap_person and seeds",
            do="remove them, or use `augment=deck`",
        )
    scope = scope_of(swap or (), swap_person or "all")
    folder, recipe = _start(start)
    several = design.seeded(recipe, seeds)
    setting = design.setting_of(
        open_corpus(corpus),
        [open_corpus(one) for one in others],
        recipe,
        [read_suite(name) for name in (ways.suite, ways.unseen) if name and augment == DECK],
        Path(out),
        audit=AUDIT,
        texts=SAMPLE if texts is None else texts,
        store=Path(store) if store else None,
        progress=progress,
        say=say,
    )
    train = setting.parts.train
    # Plain and augmented can be compared only if the plain model learned from these very texts.
    if folder and read_record(folder)["trained_on"]["train"]["fingerprint"] != train.fingerprint():
        raise BadInput(
            f"the model was not trained on the train split of corpus '{setting.corpus.name}' as it is now",
            where=str(folder),
            allowed="the corpus the model was trained on, with the same columns and splits",
            do="name that corpus first, or a recipe instead of the folder",
        )
    names = ways.arms(recipe) if augment == DECK else [PLAIN, BETTER, CONTROL][: 2 + ways.control]
    names = ways.grounded(recipe) if grounds else names
    ahead = len(names) * seeds - (folder is not None)
    tests = ", ".join(f"{test.name} ({len(test):,})" for test in setting.tests)
    say(
        f"{counted(ahead, 'training')} ahead: {', '.join(names)}; {counted(seeds, 'seed')}; "
        f"{counted(len(train), 'text')} of train and {len(setting.parts.dev):,} of dev; "
        f"test texts per model: {tests}"
    )
    arms: list[ArmResult] = []
    for one in several:
        first = one is several[0]
        if grounds:
            arms += design.grounded_arms(setting, one, ways, folder if first else None)
        elif augment == GENDER:
            arms += gender_arms(setting, one, ways.control, folder if first else None, scope, first=first)
        else:
            arms += design.sentence_arms(setting, one, ways, folder if first else None)
    checks = checks_by_seed(arms)
    if augment == DECK and not grounds and not any(checks.values()):
        raise BadInput(
            f"no DIR check of '{setting.suites[0].name}' is below the mean: all have the same pass rate",
            do="learn from all of them: `which=all`",
        )
    counts = {f"{arm.arm}-{arm.seed}": dict(arm.augmented) for arm in arms if arm.augmented}
    models = [arm.model for arm in arms]
    plan = {
        "how": how,
        "augment": "" if grounds else augment,
        "verb": AUDIT,
        "models": [{"name": model.name, "labels": list(model.labels)} for model in models],
        **described(setting.tests, setting.suites),
        "trained_on": {model.name: [setting.corpus.name] for model in models},
        "threshold": 0.5,
        "recipe": used(recipe),
        "seeds": seeds,
        "sentences_tried_on": len(setting.probe) if setting.suites else 0,
        "ways": asdict(ways),
        "chosen": checks,
        "augmented": counts,
    }
    if augment == GENDER:
        plan |= {"swap": list(scope.words), "swap_person": scope.person}
        notes = _gender_notes(arms, counts)
    else:
        tried = f"sentences were tried on {len(setting.probe)} texts of dev"
        notes = [tried if grounds else f"{tried}; checks that training used are marked 'trained_on'"]
    clustering = [note for test in setting.tests for note in test.clustering()]
    run = Run(
        plan=plan,
        environment=environment_of(models, [setting.corpus, *setting.tests[1:]], setting.suites),
        findings=Findings(findings_of(arms, setting.probe)),
        notes=(*notes, *clustering, *(note for arm in arms for note in arm.notes)),
        folder=setting.out,
    )
    return save(run, setting.out)


def _start(start: str | Path | Recipe) -> tuple[Path | None, Recipe]:
    """A finished training and its recipe, or a recipe alone."""
    if isinstance(start, Recipe):
        return None, start
    folder = Path(str(start).removeprefix("hf:"))
    if not (folder / RECORD).is_file():
        raise BadInput(
            f"'{folder}' was not written by psycheck train: it has no recipe",
            allowed=f"a folder with {RECORD}, or a named recipe",
            do="run psycheck train CORPUS --out FOLDER first, or choose a recipe (psycheck ls recipes)",
        )
    return folder, opened(folder).recipe


def _gender_notes(arms: Sequence[ArmResult], counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """How many texts were added, and the thresholds, for which the page of pairs has no column."""
    out = []
    for name, c in counts.items():
        note = f"{name}: {c['added']} texts added to the {c['texts']} of train and dev; "
        note += f"{c['undecided']} undecided texts were not swapped"
        note += " (by id: undecided_rate in findings.jsonl)" if c["undecided"] else ""
        if c["named_besides"]:
            note += f"; {c['named_besides']} of them also name a gender by a noun or title, which stays"
        out.append(note)
    thresholds = [f"{arm.arm}-{arm.seed} {arm.rows[0].threshold:.3f}" for arm in arms]
    return [*out, f"thresholds chosen on dev: {', '.join(thresholds)}"]
