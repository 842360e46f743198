"""First-person texts, which the paper leaves open (section 4): can features tell the writer's gender?

A probe learns the writer's gender, as the record gives it, from what the classifiers learn from, and is asked
about writers that it has not seen. Fairness is then measured by the record and by the probe, side by side.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np
import polars as pl

from psycheck import (
    Corpus,
    CorpusLike,
    Finding,
    Findings,
    LearnerGrid,
    Run,
    holm_families,
    learner_folds,
    learner_grid,
    measured,
    open_corpus,
    run_environment,
    save_run,
    search_learner,
    writes_run,
)
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import BadInput
from psycheck.core.progress import Progress, Say, quiet, silent
from psycheck.report.studies.gender_writers_tables import AS_WRITTEN, BY_PROBE, BY_RECORD, WITHOUT_GENDER
from psycheck.statistics import classification as measures
from psycheck.statistics.classification import BoolArray
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.statistics.group_rates import Rate, group_difference
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.studies.gender_classifiers import TFIDF_TITLE, Setting, encoded
from psycheck.studies.gender_rows import AUDIT
from psycheck.studies.gender_study import EncoderLike, opened_encoders
from psycheck.studies.gender_texts import FEMALE, MALE, label_of, recorded_genders
from psycheck.text.gender.edits import Scope, neutralise

FOLDS = 5
# The probe is the plainest learner: what it tells apart lies on the surface of the features.
PROBE = "lr"
# Everything that names a gender is made neutral for the second question.
ALL_WORDS = Scope(nouns=True, titles=True)
# Texts of either side: below, the folds of a fold would hold next to none.
FEWEST = 10
P_VALUES = ("equal_opportunity_difference_p", "demographic_parity_difference_p")


@dataclass(frozen=True, slots=True)
class _Writers:
    """Annotated texts whose writer's gender is on record, (n,) each."""

    corpus: Corpus
    label: str
    female: BoolArray
    marks: BoolArray
    clusters: Clusters
    folds: IntArray

    @property
    def where(self) -> dict[str, str]:
        """The `where` of every finding."""
        return {"audit": AUDIT, "corpus": self.corpus.name, "label": self.label}

    @property
    def owners(self) -> list[str]:
        """Texts of one owner stay in one fold."""
        return [str(unit) for unit in self.corpus.units()]


@writes_run("corpus", "encoder")
def study_writers(
    corpus: CorpusLike,
    *,
    out: str | Path,
    record: str,
    encoder: EncoderLike | Sequence[EncoderLike] = "minilm",
    names: Sequence[str] = (PROBE,),
    label: str | None = None,
    seed: int = 0,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Probe texts for the gender of their writers, and measure fairness by the record and by the probe.

    `record` names the group with the writer's gender. On the vectors of each encoder ("tfidf": words) a
    logistic regression learns the gender, and each of the learners `names` the label; all of them are asked
    about texts of five folds that they did not learn from, with an author's texts in one fold. The probe is
    tried on texts as they are written, and with every gendered word made neutral. The folder gets `study.md`
    and `writers.parquet`: what record, probe and classifiers say of each text, by id.
    """
    opened = open_corpus(corpus)
    writers, left_out = _writers(opened, label_of(opened, label), record, seed)
    folder = Path(out)
    texts = writers.corpus.texts
    neutral_words = neutralise(ALL_WORDS, "they")
    wordings = {
        AS_WRITTEN: texts,
        WITHOUT_GENDER: [neutral_words(text).text for text in texts],
    }

    findings: list[Finding] = []
    tables: list[pl.DataFrame] = []
    notes: list[str] = []
    encoders = opened_encoders(encoder)
    for opened_encoder in encoders:
        setting = Setting(folder, opened_encoder, progress, say)
        vectors, vector_notes = encoded(
            opened_encoder,
            [*wordings[AS_WRITTEN], *wordings[WITHOUT_GENDER]],
            setting.store,
            progress,
        )
        notes += vector_notes
        setting = Setting(folder, opened_encoder, progress, say, vectors)

        probed: dict[str, FloatArray] = {}
        for wording, worded in wordings.items():
            say(f"{setting.vectors_name}: the probe, {wording} …")
            probe = learner_grid(PROBE)
            probed[wording] = _out_of_fold(probe, setting, worded, writers.female, writers, seed)
            findings.append(_told_apart(writers, probed[wording], setting.vectors_name, wording))

        groups = {
            BY_RECORD: writers.female,
            BY_PROBE: probed[AS_WRITTEN] >= 0.5,
        }
        for name in names:
            learner = learner_grid(name)
            say(f"{setting.vectors_name}: {learner.title} …")
            scores = _out_of_fold(learner, setting, texts, writers.marks, writers, seed)
            decided = scores >= 0.5
            place = {**writers.where, "model": learner.title, "encoder": setting.vectors_name}
            for column, female in groups.items():
                findings += _fairness(writers, decided, female, {**place, "column": column})
            tables.append(_table(writers, place, probed[AS_WRITTEN], decided))

    # Each way to tell the gender is a family of tests.
    for measure in P_VALUES:
        findings += holm_families(findings, measure, ("column",))

    run = Run(
        plan={
            "verb": "study gender",
            "models": [{"name": learner_grid(name).title, "labels": [writers.label]} for name in names],
            "corpora": [{"name": opened.name, "fingerprint": opened.fingerprint(), "texts": len(opened)}],
            "encoder": ", ".join(
                TFIDF_TITLE if opened_encoder is None else opened_encoder.name for opened_encoder in encoders
            ),
            "record": record,
            "first_person": True,
            "folds": FOLDS,
            "seed": seed,
            "threshold": 0.5,
        },
        environment=run_environment(
            [opened_encoder for opened_encoder in encoders if opened_encoder is not None],
            [opened],
        ),
        findings=Findings(findings),
        tables={"writers": pl.concat(tables)},
        notes=(*opened.notes, *writers.corpus.clustering(), *left_out, *notes),
        folder=folder,
    )
    return save_run(run, folder)


def _writers(corpus: Corpus, label: str, record: str, seed: int) -> tuple[_Writers, list[str]]:
    """The annotated texts whose writer's gender is on record, with their folds; and what was left out."""
    genders = recorded_genders(corpus, record)
    targets = measures.firm(corpus.targets([label])[:, 0])
    is_known = np.array([gender is not None for gender in genders], bool)
    is_annotated = ~np.isnan(targets)
    is_used = is_known & is_annotated
    used = corpus.only(is_used)

    female = np.array([gender == FEMALE for gender in compress(genders, is_used)], bool)
    marks = measures.gold(targets[is_used])
    for what, side in (("gender", female), (f"label '{label}'", marks)):
        fewest = min(int(side.sum()), int((~side).sum()))
        if fewest < FEWEST:
            raise BadInput(
                f"too few texts to learn the {what}: {fewest} on one side",
                code="gender-study.too-few-writers",
                where=f"corpus '{corpus.name}'",
                allowed=f"{FEWEST} or more of either side, with gender and label",
            )

    strata = 2 * female.astype(np.int64) + marks
    owners = [str(unit) for unit in used.units()]
    writers = _Writers(
        corpus=used,
        label=label,
        female=female,
        marks=marks,
        clusters=Clusters.of(used.units(), used.copies()),
        folds=learner_folds(strata, owners, folds=FOLDS, seed=seed),
    )
    left_out = {
        "no gender on record": int((~is_known).sum()),
        "not annotated": int((is_known & ~is_annotated).sum()),
    }
    notes = [f"{corpus.name}: {count} left out ({reason})" for reason, count in left_out.items() if count]
    return writers, notes


def _out_of_fold(
    learner: LearnerGrid,
    setting: Setting,
    texts: Sequence[str],
    marks: BoolArray,
    writers: _Writers,
    seed: int,
) -> FloatArray:
    """The score of every text from a learner that saw neither it nor another of its author, (n,)."""
    owners = np.array(writers.owners)
    scores = np.full(len(texts), np.nan)
    for fold in range(FOLDS):
        is_asked = writers.folds == fold
        learned = list(compress(texts, ~is_asked))
        asked = list(compress(texts, is_asked))
        inner = learner_folds(
            marks[~is_asked].astype(np.int64),
            owners[~is_asked].tolist(),
            seed=seed,
        )
        searched = search_learner(
            learner,
            setting.features(learned),
            marks[~is_asked],
            inner,
            seed=seed,
        )
        scores[is_asked] = _scores(searched.model, setting.features(asked))
    return scores


def _scores(model: object, features: object) -> FloatArray:
    """Scores whose 0.5 is the decision of a fitted learner, (n,): margins become those by a sigmoid."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(features)[:, 1], np.float64)
    margins = np.asarray(model.decision_function(features), np.float64)  # type: ignore[attr-defined]
    return 1 / (1 + np.exp(-margins))


def _told_apart(writers: _Writers, scores: FloatArray, vectors: str, wording: str) -> Finding:
    """The AUC of the probe on writers that it has not seen; 0.5 is chance."""
    targets = writers.female.astype(np.float64)
    estimate = measures.auc(targets, scores)
    intervals = classification_intervals(targets, scores, writers.clusters)
    return measured(
        "writer_auc",
        estimate.value,
        len(scores),
        interval=intervals.get("auc"),
        where={**writers.where, "encoder": vectors, "wording": wording},
        counts={
            FEMALE: int(writers.female.sum()),
            MALE: int((~writers.female).sum()),
            "right": int(((scores >= 0.5) == writers.female).sum()),
            "units": writers.clusters.count,
        },
        flags=estimate.flags,
    )


def _fairness(
    writers: _Writers,
    decided: BoolArray,
    female: BoolArray,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """Misses of each gender, and both differences, by one way to tell the gender, (n,)."""
    groups = np.where(female, FEMALE, MALE)
    missed = ~decided
    for gender in (FEMALE, MALE):
        positive = (groups == gender) & writers.marks
        yield measured(
            "fnr",
            Rate(int((missed & positive).sum()), int(positive.sum())).value,
            int(positive.sum()),
            interval=ratio_interval(missed & positive, positive, writers.clusters),
            where={**where, "unit": "groups", "group": gender},
        )

    every_text = np.ones(len(decided), bool)
    for measure, among in (
        ("equal_opportunity_difference", writers.marks),
        ("demographic_parity_difference", every_text),
    ):
        gap = group_difference(decided * 1.0, groups, FEMALE, MALE, writers.clusters, among=among)
        place = {**where, "unit": "groups", "group": FEMALE, "versus": MALE}
        yield measured(measure, gap.value, sum(gap.n), interval=gap.interval, where=place)
        yield Finding(f"{measure}_p", gap.p, sum(gap.n), where=place)


def _table(
    writers: _Writers, place: Mapping[str, str], probe: FloatArray, decided: BoolArray
) -> pl.DataFrame:
    """What record, probe and classifier say of each text, by id; never the text."""
    return pl.DataFrame(
        {
            "model": [place["model"]] * len(decided),
            "encoder": [place["encoder"]] * len(decided),
            "id": writers.corpus.ids,
            "annotated": writers.marks,
            "decided": decided,
            "recorded_female": writers.female,
            "probed_female": probe,
        }
    )
