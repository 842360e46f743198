"""The design of PsySym on the user's corpora: symptoms in sentences, candidates, conditions in histories."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy as np

from psycheck.audits.measured import measured
from psycheck.corpora.histories import against_controls, by_author
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.experiments.arms import Say, quiet, seeded, training_folder
from psycheck.experiments.retrieval import retrieval_figures
from psycheck.finding import Finding, Findings, Interval
from psycheck.knowledge.graph import read_graph
from psycheck.measures import classification as measures
from psycheck.measures.clustered import Clusters
from psycheck.measures.multilabel import label_figures
from psycheck.models.open import open_model
from psycheck.models.options import ModelOptions
from psycheck.models.symptoms import SymptomModel, open_symptoms
from psycheck.report.studies.psysym import ALL, CONTROLS, DETECTION, EACH, ONE, RETRIEVAL, paper_notes
from psycheck.run import Run
from psycheck.runs.environment import described, environment_of
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.answers import scores_of
from psycheck.scoring.engine import Progress, silent
from psycheck.train.fit import Trained, train
from psycheck.train.parts import CONTROL, held_out
from psycheck.train.recipe import TFIDF, Recipe, kind_of, preset, preset_of
from psycheck.train.symptoms import DISEASE, Missing, train_each, train_symptoms
from psycheck.verbs.symptoms import evaluate_symptoms

WAYS: tuple[Missing, ...] = ("negative", "masked", "enhanced")
_PLAIN = "status=no&subject=no"
# What a model of histories reads, as Tables 5 and 9 name it; {symptoms} is the symptom model of the study.
FEATURES = {
    "TF–IDF + LR": "history:tfidf+lr",
    "embeddings": "history:embeddings?encoder={encoder}",
    "symptoms": f"history:symptoms?{_PLAIN}&symptoms=symptoms:{{symptoms}}",
    "symptoms, reweighted": "history:symptoms?symptoms=symptoms:{symptoms}",
}
Step = Callable[[int, int], None]


@writes_run("sentences", "people")
def study_psysym(
    sentences: CorpusLike = "demo:sentences",
    people: CorpusLike | None = "demo:people",
    *,
    out: str | Path,
    recipe: Recipe | None = None,
    seeds: int = 1,
    encoder: str = "minilm",
    graph: str | Path | None = None,
    store: str | Path | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Train symptom models in every way of Table 2, and detect conditions from their symptoms.

    `sentences` are annotated with symptoms (the group `disease` names the queue of each, "control" is none);
    `people` are posts of authors annotated with conditions, None to leave out Tables 5 and 9. Both need
    train, dev and test. Table 2 leaves controls out; the models of 5.2 and 5.3 learn with them, in balanced
    batches, and give the symptoms of histories. The folder gets `study.md` and `report.html`; finished
    trainings are reused.
    """
    corpus = open_corpus(sentences)
    authors = None if people is None else against_controls(by_author(open_corpus(people)))
    for one in (corpus, *([] if authors is None else [authors])):
        if held_out(one) is None:
            allowed = "a split column with train, dev and test"
            raise BadInput(f"corpus '{one.name}' has no test split", allowed=allowed)
    folder = Path(out)
    study = _Study(folder, (recipe or preset("symptoms")).with_(labels=()), seeds, progress, say)
    found = list(study.relevance(corpus))
    shared, models = study.with_controls(corpus)
    found += shared
    found += _retrieved(corpus, encoder, graph, store, progress)
    if authors is not None:
        found += study.detection(authors, models[0], encoder)
    run = Run(
        plan={
            "verb": "study psysym",
            **described([one for one in (corpus, authors) if one is not None]),
            "recipe": study.recipe.as_dict(),
            "encoder": encoder,
            "seeds": seeds,
        },
        environment=environment_of(models, [corpus, *([] if authors is None else [authors])]),
        findings=Findings(found),
        notes=(
            "the published figures are of other corpora and models than ours",
            *corpus.notes,
            *(() if authors is None else authors.notes),
            *paper_notes(),
        ),
        folder=folder,
    )
    return save(run, folder)


class _Study:
    """What all parts of the study share."""

    def __init__(self, folder: Path, recipe: Recipe, seeds: int, progress: Progress, say: Say) -> None:
        self.folder, self.recipe, self.seeds = folder, recipe, seeds
        self.progress, self.say = progress, say

    def relevance(self, corpus: Corpus) -> Iterator[Finding]:
        """Table 2: one model per disease, and one for all with each way to treat missing labels."""
        annotated = _without_controls(corpus)
        test = annotated.part("test")
        tfidf = Recipe(start=TFIDF)
        others = [] if self.recipe.start == TFIDF else seeded(self.recipe, self.seeds)
        for recipe in (tfidf, *others):
            method = "TF–IDF + LR" if recipe is tfidf else "encoder"
            place = training_folder(self.folder, f"each-{recipe.seed}", recipe, annotated)
            each = self._step(f"{method}, one model per disease, seed {recipe.seed}", recipe)
            trained = train_each(annotated, recipe, place, progress=each)
            parts = [
                one
                for disease, model in trained.items()
                for one in evaluate_symptoms(_opened(model), test.only(_of(test, disease)))
            ]
            where = _where(EACH, method, recipe.seed)
            yield from _by_disease(parts, where)
        for recipe in seeded(self.recipe, self.seeds if kind_of(self.recipe) == "hf" else 1):
            for missing in WAYS:
                model = self._one(annotated, recipe, missing)
                where = _where(ONE, missing, recipe.seed)
                yield from _placed(evaluate_symptoms(model, test), where, "symptom_auc_by_disease")

    def with_controls(self, corpus: Corpus) -> tuple[list[Finding], list[SymptomModel]]:
        """Sections 5.2 and 5.3: all test sentences, with and without controls in training.

        Also the models that histories use: those with balanced batches.
        """
        test, found, models = corpus.part("test"), list[Finding](), list[SymptomModel]()
        for recipe in seeded(self.recipe, self.seeds if kind_of(self.recipe) == "hf" else 1):
            learned = {
                "balanced sampler": self._one(corpus, recipe.with_(balanced=True), "enhanced"),
                "controls, no sampler": self._one(corpus, recipe, "enhanced"),
                "trained without controls": self._one(_without_controls(corpus), recipe, "enhanced"),
            }
            first, *_ = learned
            models.append(learned[first])
            for method, model in learned.items():
                kept = ("symptom_auc", "symptom_f1", *(["status_mae"] if method == first else []))
                found += _placed(evaluate_symptoms(model, test), _where(CONTROLS, method, recipe.seed), *kept)
        return found, models

    def detection(self, authors: Corpus, model: SymptomModel, encoder: str) -> Iterator[Finding]:
        """Tables 5 and 9: F1 of each condition against controls, on the test authors."""
        test, folder = authors.part("test"), str(model.name)
        for (method, start), number in ((one, n) for one in FEATURES.items() for n in range(self.seeds)):
            start = start.format(symptoms=folder, encoder=encoder)
            if start == FEATURES["TF–IDF + LR"] and number:
                continue  # nothing of it is random
            recipe = preset(str(preset_of(start)), start=start, seed=self.recipe.seed + number)
            place = training_folder(self.folder, f"histories-{recipe.seed}", recipe, authors)
            trained = train(
                authors, recipe, place, progress=self._step(f"{method}, seed {recipe.seed}", recipe)
            )
            opened = open_model(trained.spec)
            scores = scores_of(opened, test.items)[:, [opened.labels.index(one) for one in test.labels]]
            yield from conditions(test, scores, _where(DETECTION, method, recipe.seed))

    def _one(self, corpus: Corpus, recipe: Recipe, missing: Missing) -> SymptomModel:
        what = f"one model for all, {missing}{', balanced' if recipe.balanced else ''}, seed {recipe.seed}"
        place = training_folder(self.folder, f"{missing}-{recipe.seed}", recipe, corpus)
        trained = train_symptoms(corpus, recipe, place, missing=missing, progress=self._step(what, recipe))
        return _opened(trained)

    def _step(self, what: str, recipe: Recipe) -> Step:
        self.say(f"{what} …")
        started, last = monotonic(), 0

        def step(done: int, total: int) -> None:
            nonlocal started, last
            if done < last:  # a teacher, or the model of a disease, is followed by the next training
                started = monotonic()
            last = done
            self.progress(f"{what}: training", done, total, monotonic() - started)

        return step


def _opened(trained: Trained) -> SymptomModel:
    return open_symptoms(str(trained.folder), ModelOptions(name=str(trained.folder)))


def _without_controls(corpus: Corpus) -> Corpus:
    if DISEASE not in corpus.groups:
        return corpus
    return corpus.only([name is not None and name != CONTROL for name in corpus.group(DISEASE)])


def _of(corpus: Corpus, disease: str) -> list[bool]:
    if DISEASE not in corpus.groups:
        what = f"corpus '{corpus.name}' does not say for which disease a sentence was annotated"
        raise BadInput(what, allowed=f"a group column '{DISEASE}'", do=f"name it (`groups={DISEASE}`)")
    return [name == disease for name in corpus.group(DISEASE)]


def _where(experiment: str, arm: str, seed: int) -> dict[str, str]:
    return {"study": "psysym", "experiment": experiment, "arm": arm, "seed": str(seed)}


def _placed(findings: Sequence[Finding], where: dict[str, str], *kept: str) -> list[Finding]:
    """The findings of some measures in their place of the study; a model is known by how it was trained."""
    return [
        replace(one, where={**{key: of for key, of in one.where.items() if key != "model"}, **where})
        for one in findings
        if one.measure in kept
    ]


def _by_disease(parts: Sequence[Finding], where: dict[str, str]) -> list[Finding]:
    """The AUC of each disease by its own model, and their mean, for which diseases count as independent."""
    each = [
        one
        for one in _placed(parts, where, "symptom_auc_by_disease")
        if one.where["disease"] != ALL and one.tested
    ]
    widths = [(one.interval[1] - one.interval[0]) / 2 for one in each if one.interval]
    mean = float(np.mean([one.value for one in each])) if each else np.nan
    half = float(np.sqrt(np.sum(np.square(widths)))) / len(each) if len(widths) == len(each) > 0 else np.nan
    place = {**(each[0].where if each else where), "disease": ALL}
    interval: Interval = (max(0.0, mean - half), min(1.0, mean + half))
    return [*each, measured("symptom_auc_by_disease", mean, len(each), interval, place)]


def _retrieved(
    corpus: Corpus, encoder: str, graph: str | Path | None, store: str | Path | None, progress: Progress
) -> Iterator[Finding]:
    """Table 10: precision and recall of retrieval at a similarity of 0.5, on annotated sentences."""
    place = Path(store) if store else None
    every = retrieval_figures(
        _without_controls(corpus), graph=read_graph(graph), encoder=encoder, store=place, progress=progress
    )
    for one in every:
        where = {**_where(RETRIEVAL, one.method, 0), "corpus": corpus.name}
        counts = {"without": one.without}
        yield measured(
            "retrieval_precision", one.precision, one.symptoms, one.precision_interval, where, counts
        )
        yield measured("retrieval_recall", one.recall, one.symptoms, one.recall_interval, where, counts)


def conditions(test: Corpus, scores: measures.FloatArray, where: dict[str, str]) -> Iterator[Finding]:
    """F1 and AUC of each condition among its authors and controls, and the mean F1."""
    targets, clusters = test.targets(), Clusters.of(test.units())
    known, called = measures.usable(targets, scores), measures.decide(scores) == 1
    mean = "macro_f1_across_labels"
    of_all, used, interval = label_figures(measures.gold(targets), called, known, clusters)[mean]
    yield measured(mean, of_all.value, used, interval, {**where, "corpus": test.name})
    for k, label in enumerate(test.labels):
        t, s = targets[:, k], scores[:, k]
        table, ends = measures.confusion(t, s), measures.classification_intervals(t, s, clusters)
        place, n = {**where, "corpus": test.name, "label": label}, int(measures.usable(t, s).sum())
        counts = {"annotated": int(np.nansum(t))}
        yield measured("f1", measures.f1(table).value, n, ends.get("f1"), place, counts)
        yield measured("auc", measures.auc(t, s).value, n, ends.get("auc"), place, counts)
