"""The design of PsySym on the user's corpora: symptoms in sentences, candidates, conditions in histories."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Literal

import numpy as np

from psycheck import (
    Corpus,
    CorpusLike,
    Finding,
    Findings,
    Recipe,
    Run,
    SymptomModel,
    Trained,
    against_controls,
    describe_inputs,
    evaluate_symptoms,
    held_out,
    histories_by_author,
    measured,
    open_corpus,
    open_model,
    preset,
    read_graph,
    run_environment,
    save_run,
    score_texts,
    train_model,
    train_symptoms,
    train_symptoms_by_disease,
    training_folder,
    with_control_sentences,
    writes_run,
)
from psycheck.core.errors import BadInput
from psycheck.core.finding import Interval
from psycheck.core.progress import Progress, Say, quiet, silent
from psycheck.report.studies.psysym_tables import ALL, CONTROLS, DETECTION, EACH, ONE, RETRIEVAL, paper_notes
from psycheck.statistics import classification as measures
from psycheck.statistics.classification import FloatArray
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.multilabel import label_figures
from psycheck.studies.psysym_retrieval import retrieval_figures

# The ways of Table 2 to treat symptoms that were not annotated.
Missing = Literal["negative", "masked", "enhanced"]
WAYS: tuple[Missing, ...] = ("negative", "masked", "enhanced")
# The group column that names the queue from which a sentence was annotated: that of one disease.
DISEASE = "disease"
# The queue of sentences that belong to no disease.
CONTROL = "control"
# The start of the linear baseline of Table 2.
TFIDF = "tfidf+lr"
AUC_BY_DISEASE = "symptom_auc_by_disease"

_TFIDF_TITLE = "TF–IDF + LR"
_UNWEIGHTED = "status=no&subject=no"
# What a model of histories reads, as Tables 5 and 9 name it; {symptoms} is the symptom model of the study.
FEATURES = {
    _TFIDF_TITLE: "history:tfidf+lr",
    "embeddings": "history:embeddings?encoder={encoder}",
    "symptoms": f"history:symptoms?{_UNWEIGHTED}&symptoms=symptoms:{{symptoms}}",
    "symptoms, reweighted": "history:symptoms?symptoms=symptoms:{symptoms}",
}
# The shipped settings of each: the two kinds of symptoms differ in what is read, not in how it is learned.
PRESETS = {
    _TFIDF_TITLE: "history-tfidf",
    "embeddings": "history-embeddings",
    "symptoms": "history-symptoms",
    "symptoms, reweighted": "history-symptoms",
}
Step = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Design:
    """What all parts of the study share: where trainings are kept, what is trained, and how it reports."""

    folder: Path
    recipe: Recipe
    seeds: int
    progress: Progress
    say: Say

    def symptom_recipes(self) -> list[Recipe]:
        """The recipe with every seed; nothing of a linear baseline is random, so one is enough for it."""
        return self.recipe.with_seeds(self.seeds if self.recipe.kind == "hf" else 1)

    def announce(self, title: str) -> Step:
        """Say what is trained, and return the function that reports its progress."""
        self.say(f"{title} …")
        started = monotonic()
        last_done = 0

        def step(done: int, total: int) -> None:
            nonlocal started, last_done
            # A teacher, or the model of a disease, is followed by the next training.
            if done < last_done:
                started = monotonic()
            last_done = done
            self.progress(f"{title}: training", done, total, monotonic() - started)

        return step


@writes_run("sentences", "people", "controls")
def study_psysym(
    sentences: CorpusLike = "demo:sentences",
    people: CorpusLike | None = "demo:people",
    *,
    out: str | Path,
    controls: CorpusLike | None = None,
    recipe: Recipe | None = None,
    seeds: int = 1,
    encoder: str = "minilm",
    graph: str | Path | None = None,
    dictionaries: Sequence[str | Path] = (),
    store: str | Path | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Train symptom models in every way of Table 2, and detect conditions from their symptoms.

    `sentences` are annotated with symptoms (the group `disease` names the queue of each, "control" is none);
    `people` are posts of authors annotated with conditions, None to leave out Tables 5 and 9. Both need
    train, dev and test. Table 2 leaves controls out; the models of 5.2 and 5.3 learn with them, in balanced
    batches, and give the symptoms of histories; `controls` are further ones (`with_control_sentences`).
    `dictionaries` (`read_dictionary`) are further rows of Table
    10. The folder gets `study.md` and `report.html`; finished trainings are reused.
    """
    corpus = open_corpus(sentences)
    control_notes = []
    if controls is not None:
        corpus, note = with_control_sentences(corpus, open_corpus(controls))
        control_notes.append(note)
    corpora = [corpus]
    authors = None if people is None else against_controls(histories_by_author(open_corpus(people)))
    if authors is not None:
        corpora.append(authors)
    for opened in corpora:
        _refuse_without_test(opened)

    folder = Path(out)
    design = _Design(
        folder=folder,
        recipe=(recipe or preset("symptoms")).with_(labels=()),
        seeds=seeds,
        progress=progress,
        say=say,
    )
    findings = list(_relevance(design, corpus))
    control_findings, models = _with_controls(design, corpus)
    findings += control_findings
    findings += _retrieval(corpus, encoder, graph, dictionaries, Path(store) if store else None, progress)
    if authors is not None:
        findings += _detection(design, authors, models[0], encoder)

    # Read next to the published tables, our figures would otherwise look like a failed replication.
    notes = ["the published figures are of other corpora and models than ours", *control_notes]
    for opened in corpora:
        notes += opened.notes
    run = Run(
        plan={
            "verb": "study psysym",
            **describe_inputs(corpora),
            "recipe": design.recipe.as_dict(),
            "encoder": encoder,
            "seeds": seeds,
        },
        environment=run_environment(models, corpora),
        findings=Findings(findings),
        notes=(*notes, *paper_notes()),
        folder=folder,
    )
    return save_run(run, folder)


def _refuse_without_test(corpus: Corpus) -> None:
    if held_out(corpus) is None:
        raise BadInput(
            f"corpus '{corpus.name}' has no test split",
            code="corpus.no-test-split",
            allowed="a split column with train, dev and test",
        )


def _relevance(design: _Design, corpus: Corpus) -> Iterator[Finding]:
    """Table 2: one model per disease, and one for all with each way to treat missing labels."""
    annotated = _without_controls(corpus)
    test = annotated.part("test")

    yield from _one_model_per_disease(design, annotated, test, Recipe(start=TFIDF), _TFIDF_TITLE)
    if design.recipe.start != TFIDF:
        for recipe in design.recipe.with_seeds(design.seeds):
            yield from _one_model_per_disease(design, annotated, test, recipe, "encoder")

    for recipe in design.symptom_recipes():
        for missing in WAYS:
            model = _train_for_all(design, annotated, recipe, missing)
            where = _where(ONE, missing, recipe.seed)
            yield from _placed(evaluate_symptoms(model, test), where, AUC_BY_DISEASE)


def _one_model_per_disease(
    design: _Design, annotated: Corpus, test: Corpus, recipe: Recipe, method: str
) -> list[Finding]:
    """The AUC of each disease by its own model on its own test sentences, and their mean."""
    folder = training_folder(design.folder, f"each-{recipe.seed}", recipe, annotated)
    step = design.announce(f"{method}, one model per disease, seed {recipe.seed}")
    trained_models = train_symptoms_by_disease(annotated, recipe, folder, progress=step)

    findings: list[Finding] = []
    for disease, trained in trained_models.items():
        own_sentences = test.only(_rows_of_disease(test, disease))
        findings += evaluate_symptoms(_open_symptom_model(trained), own_sentences)
    return _with_mean(findings, _where(EACH, method, recipe.seed))


def _with_controls(design: _Design, corpus: Corpus) -> tuple[list[Finding], list[SymptomModel]]:
    """Sections 5.2 and 5.3: all test sentences, with and without controls in training.

    Also the models that histories use: those with balanced batches.
    """
    test = corpus.part("test")
    findings: list[Finding] = []
    balanced_models: list[SymptomModel] = []

    for recipe in design.symptom_recipes():
        balanced = _train_for_all(design, corpus, recipe.with_(balanced=True), "enhanced")
        unbalanced = _train_for_all(design, corpus, recipe, "enhanced")
        without_controls = _train_for_all(design, _without_controls(corpus), recipe, "enhanced")
        balanced_models.append(balanced)

        for method, model, measures_of_method in (
            ("balanced sampler", balanced, ("symptom_auc", "symptom_f1", "status_mae")),
            ("controls, no sampler", unbalanced, ("symptom_auc", "symptom_f1")),
            ("trained without controls", without_controls, ("symptom_auc", "symptom_f1")),
        ):
            where = _where(CONTROLS, method, recipe.seed)
            findings += _placed(evaluate_symptoms(model, test), where, *measures_of_method)
    return findings, balanced_models


def _detection(design: _Design, authors: Corpus, model: SymptomModel, encoder: str) -> Iterator[Finding]:
    """Tables 5 and 9: F1 of each condition against controls, on the test authors."""
    test = authors.part("test")
    for method, start_pattern in FEATURES.items():
        start = start_pattern.format(symptoms=model.name, encoder=encoder)
        # Nothing of TF–IDF is random.
        seeds = 1 if method == _TFIDF_TITLE else design.seeds
        for number in range(seeds):
            recipe = preset(PRESETS[method], start=start, seed=design.recipe.seed + number)
            folder = training_folder(design.folder, f"histories-{recipe.seed}", recipe, authors)
            step = design.announce(f"{method}, seed {recipe.seed}")
            trained = train_model(authors, recipe, folder, progress=step)

            history_model = open_model(trained.spec)
            columns = [history_model.labels.index(label) for label in test.labels]
            scores = score_texts(history_model, test.items)[:, columns]
            yield from conditions(test, scores, _where(DETECTION, method, recipe.seed))


def _train_for_all(design: _Design, corpus: Corpus, recipe: Recipe, missing: Missing) -> SymptomModel:
    """One model for the symptoms of all diseases."""
    batches = ", balanced" if recipe.balanced else ""
    step = design.announce(f"one model for all, {missing}{batches}, seed {recipe.seed}")
    folder = training_folder(design.folder, f"{missing}-{recipe.seed}", recipe, corpus)
    trained = train_symptoms(corpus, recipe, folder, missing=missing, progress=step)
    return _open_symptom_model(trained)


def _open_symptom_model(trained: Trained) -> SymptomModel:
    model = open_model(f"symptoms:{trained.folder}", name=str(trained.folder))
    if not isinstance(model, SymptomModel):
        raise TypeError(f"'{trained.folder}' is not a symptom model")
    return model


def _without_controls(corpus: Corpus) -> Corpus:
    if DISEASE not in corpus.groups:
        return corpus
    queues = corpus.group(DISEASE)
    return corpus.only([queue is not None and queue != CONTROL for queue in queues])


def _rows_of_disease(corpus: Corpus, disease: str) -> list[bool]:
    if DISEASE not in corpus.groups:
        raise BadInput(
            f"corpus '{corpus.name}' does not say for which disease a sentence was annotated",
            code="corpus.no-disease-group",
            allowed=f"a group column '{DISEASE}'",
            do=f"name it (`groups={DISEASE}`)",
        )
    return [queue == disease for queue in corpus.group(DISEASE)]


def _where(experiment: str, arm: str, seed: int) -> dict[str, str]:
    return {"study": "psysym", "experiment": experiment, "arm": arm, "seed": str(seed)}


def _placed(findings: Sequence[Finding], where: dict[str, str], *measure_names: str) -> list[Finding]:
    """The findings of some measures in their place of the study; a model is known by how it was trained."""
    placed = []
    for finding in findings:
        if finding.measure in measure_names:
            without_model = {key: value for key, value in finding.where.items() if key != "model"}
            placed.append(replace(finding, where={**without_model, **where}))
    return placed


def _with_mean(findings: Sequence[Finding], where: dict[str, str]) -> list[Finding]:
    """The AUC of each disease by its own model, and their mean, for which diseases count as independent."""
    placed = _placed(findings, where, AUC_BY_DISEASE)
    each = [finding for finding in placed if finding.where["disease"] != ALL and finding.tested]
    if not each:
        return [measured(AUC_BY_DISEASE, np.nan, 0, interval=None, where={**where, "disease": ALL})]

    mean = float(np.mean([finding.value for finding in each]))
    half_widths = [(finding.interval[1] - finding.interval[0]) / 2 for finding in each if finding.interval]
    # Each disease has its own model and sentences, so their errors are independent and their squares add up.
    half_width = np.nan
    if len(half_widths) == len(each):
        half_width = float(np.sqrt(np.sum(np.square(half_widths)))) / len(each)
    interval: Interval = (max(0.0, mean - half_width), min(1.0, mean + half_width))
    mean_finding = measured(
        AUC_BY_DISEASE,
        mean,
        len(each),
        interval=interval,
        where={**each[0].where, "disease": ALL},
    )
    return [*each, mean_finding]


def _retrieval(
    corpus: Corpus,
    encoder: str,
    graph: str | Path | None,
    dictionaries: Sequence[str | Path],
    store: Path | None,
    progress: Progress,
) -> Iterator[Finding]:
    """Table 10: precision and recall of retrieval at a similarity of 0.5, on annotated sentences."""
    methods = retrieval_figures(
        _without_controls(corpus),
        graph=read_graph(graph),
        encoder=encoder,
        dictionaries=dictionaries,
        store=store,
        progress=progress,
    )
    for figures in methods:
        where = {**_where(RETRIEVAL, figures.method, 0), "corpus": corpus.name}
        counts = {"without": figures.without}
        yield measured(
            "retrieval_precision",
            figures.precision,
            figures.symptoms,
            interval=figures.precision_interval,
            where=where,
            counts=counts,
        )
        yield measured(
            "retrieval_recall",
            figures.recall,
            figures.symptoms,
            interval=figures.recall_interval,
            where=where,
            counts=counts,
        )


def conditions(test: Corpus, scores: FloatArray, where: dict[str, str]) -> Iterator[Finding]:
    """F1 and AUC of each condition among its authors and controls, and the mean F1."""
    targets = test.targets()
    clusters = Clusters.of(test.units(), test.copies())

    mean_f1 = "macro_f1_across_labels"
    over_labels = label_figures(
        measures.gold(targets),
        measures.decide(scores) == 1,
        measures.usable(targets, scores),
        clusters,
    )
    estimate, labels_used, interval = over_labels[mean_f1]
    yield measured(
        mean_f1, estimate.value, labels_used, interval=interval, where={**where, "corpus": test.name}
    )

    for column, label in enumerate(test.labels):
        label_targets = targets[:, column]
        label_scores = scores[:, column]
        intervals = classification_intervals(label_targets, label_scores, clusters)
        values = {
            "f1": measures.f1(measures.confusion(label_targets, label_scores)).value,
            "auc": measures.auc(label_targets, label_scores).value,
        }
        for measure, value in values.items():
            yield measured(
                measure,
                value,
                int(measures.usable(label_targets, label_scores).sum()),
                interval=intervals.get(measure),
                where={**where, "corpus": test.name, "label": label},
                counts={"annotated": int(np.nansum(label_targets))},
            )
