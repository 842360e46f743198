"""psycheck finds out what a model that reads mental health from text has really learned.

The public names below are imported when first used, so that `import psycheck` stays light. The designs of the
papers in `psycheck.studies` are written with these names alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from psycheck.audits.behaviour import Behaviour
    from psycheck.audits.differences import Answered as LabelAnswers
    from psycheck.audits.error_cues import outcome_lengths
    from psycheck.audits.figures import measured
    from psycheck.audits.performance import Performance, shared_labels
    from psycheck.audits.suite import Check, Suite, read_suite
    from psycheck.audits.summary import across_corpora as pass_rates_across_corpora
    from psycheck.audits.summary import across_models as correlated_pass_rates
    from psycheck.audits.summary import holm_families
    from psycheck.commands.audit import audit
    from psycheck.commands.bias import encoder_bias
    from psycheck.commands.compare import compare_corpora
    from psycheck.commands.compare import encoder_of as encoder_or_tfidf
    from psycheck.commands.compare import notes_of as corpus_notes
    from psycheck.commands.measure_symptoms import evaluate_symptoms
    from psycheck.commands.python_verbs import (
        bias,
        compare,
        curate,
        diff,
        explain,
        improve,
        score,
        train,
    )
    from psycheck.commands.score import score_corpus
    from psycheck.commands.similar_sentences import nearest_of as symptom_similarity
    from psycheck.core.audit import Audit, Judgement
    from psycheck.core.corpus import Corpus
    from psycheck.core.errors import PsycheckError
    from psycheck.core.finding import Finding, Findings
    from psycheck.core.measure import Measure
    from psycheck.core.model import Encoder, Model
    from psycheck.core.run import Run
    from psycheck.corpora.curate.lexicons import rankings as emotion_rankings
    from psycheck.corpora.distances import Comparing
    from psycheck.corpora.distances import classes_of as corpus_classes
    from psycheck.corpora.distances import compare as corpus_distances
    from psycheck.corpora.opening import CorpusLike, open_corpus
    from psycheck.corpora.posting_histories import against_controls
    from psycheck.corpora.posting_histories import by_author as histories_by_author
    from psycheck.corpora.reading import read_corpus
    from psycheck.corpora.word_dictionaries import read_dictionary
    from psycheck.llm.prompts import Prompt, read_prompt
    from psycheck.models.opening import open_encoder, open_model
    from psycheck.runs.environment import described as describe_inputs
    from psycheck.runs.environment import environment_of as run_environment
    from psycheck.runs.folder import open_run, writes_run
    from psycheck.runs.pages import save as save_run
    from psycheck.scoring.answers import answers
    from psycheck.scoring.answers import scores_of as score_texts
    from psycheck.scoring.limits import Limits
    from psycheck.scoring.results import compute_once
    from psycheck.scoring.tally import Tally
    from psycheck.scoring.vectors import encode_once as encode_texts
    from psycheck.studies.angst_study import study_angst
    from psycheck.studies.corpora_study import study_corpora
    from psycheck.studies.deck_study import study_deck
    from psycheck.studies.gender_study import study_gender
    from psycheck.studies.psysym_study import study_psysym
    from psycheck.symptoms.graph import Graph, Symptom, read_graph
    from psycheck.symptoms.reader import SymptomModel
    from psycheck.training.arm_figures import ArmResult, compare_arms, compare_plain_models
    from psycheck.training.arms import Experiment, Retraining, best_arm, plan_experiment, score_label
    from psycheck.training.arms import judge_with_room as judge_checks
    from psycheck.training.control_sentences import with_controls as with_control_sentences
    from psycheck.training.fit import Trained, training_folder
    from psycheck.training.fit import fit as fit_model
    from psycheck.training.fit import train as train_model
    from psycheck.training.learners import Grid as LearnerGrid
    from psycheck.training.learners import cut_folds as learner_folds
    from psycheck.training.learners import grid as learner_grid
    from psycheck.training.learners import learners as learner_names
    from psycheck.training.learners import search as search_learner
    from psycheck.training.parts import held_out
    from psycheck.training.recipe import Recipe, preset, study_recipe
    from psycheck.training.recipe import space as search_space
    from psycheck.training.search import search as search_recipe
    from psycheck.training.sentence_arms import train_arms
    from psycheck.training.symptom_models import train_each as train_symptoms_by_disease
    from psycheck.training.symptom_models import train_symptoms


# Where each name is defined: a module or, if it has another name there, "module:name".
_HOMES = {
    "ArmResult": "psycheck.training.arm_figures",
    "Audit": "psycheck.core.audit",
    "Behaviour": "psycheck.audits.behaviour",
    "Check": "psycheck.audits.suite",
    "Comparing": "psycheck.corpora.distances",
    "Corpus": "psycheck.core.corpus",
    "CorpusLike": "psycheck.corpora.opening",
    "Encoder": "psycheck.core.model",
    "Experiment": "psycheck.training.arms",
    "Finding": "psycheck.core.finding",
    "Findings": "psycheck.core.finding",
    "Graph": "psycheck.symptoms.graph",
    "Judgement": "psycheck.core.audit",
    "LabelAnswers": "psycheck.audits.differences:Answered",
    "LearnerGrid": "psycheck.training.learners:Grid",
    "Limits": "psycheck.scoring.limits",
    "Measure": "psycheck.core.measure",
    "Model": "psycheck.core.model",
    "Performance": "psycheck.audits.performance",
    "Prompt": "psycheck.llm.prompts",
    "PsycheckError": "psycheck.core.errors",
    "Recipe": "psycheck.training.recipe",
    "Retraining": "psycheck.training.arms",
    "Run": "psycheck.core.run",
    "Suite": "psycheck.audits.suite",
    "Symptom": "psycheck.symptoms.graph",
    "SymptomModel": "psycheck.symptoms.reader",
    "Tally": "psycheck.scoring.tally",
    "Trained": "psycheck.training.fit",
    "against_controls": "psycheck.corpora.posting_histories",
    "answers": "psycheck.scoring.answers",
    "audit": "psycheck.commands.audit",
    "best_arm": "psycheck.training.arms",
    "bias": "psycheck.commands.python_verbs",
    "compare": "psycheck.commands.python_verbs",
    "compare_arms": "psycheck.training.arm_figures",
    "compare_corpora": "psycheck.commands.compare",
    "compare_plain_models": "psycheck.training.arm_figures",
    "compute_once": "psycheck.scoring.results",
    "corpus_classes": "psycheck.corpora.distances:classes_of",
    "corpus_distances": "psycheck.corpora.distances:compare",
    "corpus_notes": "psycheck.commands.compare:notes_of",
    "correlated_pass_rates": "psycheck.audits.summary:across_models",
    "curate": "psycheck.commands.python_verbs",
    "describe_inputs": "psycheck.runs.environment:described",
    "diff": "psycheck.commands.python_verbs",
    "emotion_rankings": "psycheck.corpora.curate.lexicons:rankings",
    "encode_texts": "psycheck.scoring.vectors:encode_once",
    "encoder_bias": "psycheck.commands.bias",
    "encoder_or_tfidf": "psycheck.commands.compare:encoder_of",
    "evaluate_symptoms": "psycheck.commands.measure_symptoms",
    "explain": "psycheck.commands.python_verbs",
    "fit_model": "psycheck.training.fit:fit",
    "held_out": "psycheck.training.parts",
    "histories_by_author": "psycheck.corpora.posting_histories:by_author",
    "holm_families": "psycheck.audits.summary",
    "improve": "psycheck.commands.python_verbs",
    "judge_checks": "psycheck.training.arms:judge_with_room",
    "learner_folds": "psycheck.training.learners:cut_folds",
    "learner_grid": "psycheck.training.learners:grid",
    "learner_names": "psycheck.training.learners:learners",
    "measured": "psycheck.audits.figures",
    "open_corpus": "psycheck.corpora.opening",
    "open_encoder": "psycheck.models.opening",
    "open_model": "psycheck.models.opening",
    "open_run": "psycheck.runs.folder",
    "outcome_lengths": "psycheck.audits.error_cues",
    "pass_rates_across_corpora": "psycheck.audits.summary:across_corpora",
    "plan_experiment": "psycheck.training.arms",
    "preset": "psycheck.training.recipe",
    "read_corpus": "psycheck.corpora.reading",
    "read_dictionary": "psycheck.corpora.word_dictionaries",
    "read_graph": "psycheck.symptoms.graph",
    "read_prompt": "psycheck.llm.prompts",
    "read_suite": "psycheck.audits.suite",
    "run_environment": "psycheck.runs.environment:environment_of",
    "save_run": "psycheck.runs.pages:save",
    "score": "psycheck.commands.python_verbs",
    "score_corpus": "psycheck.commands.score",
    "score_label": "psycheck.training.arms",
    "score_texts": "psycheck.scoring.answers:scores_of",
    "search_learner": "psycheck.training.learners:search",
    "search_recipe": "psycheck.training.search:search",
    "search_space": "psycheck.training.recipe:space",
    "shared_labels": "psycheck.audits.performance",
    "study_angst": "psycheck.studies.angst_study",
    "study_corpora": "psycheck.studies.corpora_study",
    "study_deck": "psycheck.studies.deck_study",
    "study_gender": "psycheck.studies.gender_study",
    "study_psysym": "psycheck.studies.psysym_study",
    "study_recipe": "psycheck.training.recipe",
    "symptom_similarity": "psycheck.commands.similar_sentences:nearest_of",
    "train": "psycheck.commands.python_verbs",
    "train_arms": "psycheck.training.sentence_arms",
    "train_model": "psycheck.training.fit:train",
    "train_symptoms": "psycheck.training.symptom_models",
    "train_symptoms_by_disease": "psycheck.training.symptom_models:train_each",
    "training_folder": "psycheck.training.fit",
    "with_control_sentences": "psycheck.training.control_sentences:with_controls",
    "writes_run": "psycheck.runs.folder",
}

__all__ = [
    "ArmResult",
    "Audit",
    "Behaviour",
    "Check",
    "Comparing",
    "Corpus",
    "CorpusLike",
    "Encoder",
    "Experiment",
    "Finding",
    "Findings",
    "Graph",
    "Judgement",
    "LabelAnswers",
    "LearnerGrid",
    "Limits",
    "Measure",
    "Model",
    "Performance",
    "Prompt",
    "PsycheckError",
    "Recipe",
    "Retraining",
    "Run",
    "Suite",
    "Symptom",
    "SymptomModel",
    "Tally",
    "Trained",
    "against_controls",
    "answers",
    "audit",
    "best_arm",
    "bias",
    "compare",
    "compare_arms",
    "compare_corpora",
    "compare_plain_models",
    "compute_once",
    "corpus_classes",
    "corpus_distances",
    "corpus_notes",
    "correlated_pass_rates",
    "curate",
    "describe_inputs",
    "diff",
    "emotion_rankings",
    "encode_texts",
    "encoder_bias",
    "encoder_or_tfidf",
    "evaluate_symptoms",
    "explain",
    "fit_model",
    "held_out",
    "histories_by_author",
    "holm_families",
    "improve",
    "judge_checks",
    "learner_folds",
    "learner_grid",
    "learner_names",
    "measured",
    "open_corpus",
    "open_encoder",
    "open_model",
    "open_run",
    "outcome_lengths",
    "pass_rates_across_corpora",
    "plan_experiment",
    "preset",
    "read_corpus",
    "read_dictionary",
    "read_graph",
    "read_prompt",
    "read_suite",
    "run_environment",
    "save_run",
    "score",
    "score_corpus",
    "score_label",
    "score_texts",
    "search_learner",
    "search_recipe",
    "search_space",
    "shared_labels",
    "study_angst",
    "study_corpora",
    "study_deck",
    "study_gender",
    "study_psysym",
    "study_recipe",
    "symptom_similarity",
    "train",
    "train_arms",
    "train_model",
    "train_symptoms",
    "train_symptoms_by_disease",
    "training_folder",
    "with_control_sentences",
    "writes_run",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'psycheck' has no attribute {name!r}")
    module, _, name_there = _HOMES[name].partition(":")
    return getattr(import_module(module), name_there or name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
