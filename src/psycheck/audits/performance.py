"""How well a model agrees with what was annotated: figures for each label, with n, interval and mistakes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from psycheck.audits.figures import measured, thresholds_of
from psycheck.audits.label_performance import LabelAnswers, label_findings, ledger
from psycheck.audits.scale_items import ITEM_MEASURES, item_findings, scale_items
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Judgement, RunContext, Scores
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.core.item import Item
from psycheck.core.measure import Measure
from psycheck.report.performance_tables import performance_section
from psycheck.statistics.classification import decide, firm, gold, usable
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.multilabel import label_figures

# What scores of 0 and 1 alone cannot tell.
GRADED = frozenset(
    ("auc", "auc_among_claims", "average_precision", "brier", "log_loss", "ece", "reliability")
)
HARD = "AUC, average precision, Brier score, log loss and calibration are not available"
_MOST_LISTED = 10  # labels in a message


@dataclass(frozen=True)
class Performance:
    """Classification and calibration of every label that both the corpus and the model have.

    A score of at least `threshold` is a predicted 1; of exclusive classes the largest score is. A soft label
    of exactly 0.5 is undecided: it is counted and left out. Intervals are clustered by author, or by text
    where no author is known (`statistics.clustered`); `seed` is for the noise of the calibration error.
    `places` is the number of models times corpora of the run, for which the claims allow.
    """

    name: ClassVar = "performance"
    position: ClassVar = 10
    options: ClassVar = None
    measures: ClassVar[tuple[str | Measure, ...]] = (
        *("accuracy", "precision", "recall", "f1", "macro_f1", "auc", "average_precision"),
        *("weighted_precision", "weighted_f1"),
        *("brier", "log_loss", "ece", "hard_brier", "hard_auc", "prevalence", "f1_worst", "f1_best"),
        *("decided_1_share", "auc_among_claims", "hard_auc_among_claims", "accuracy_over_trivial"),
        *("hamming", "exact_match", "macro_f1_across_labels", "weighted_precision_across_labels"),
        *("weighted_recall_across_labels", "weighted_f1_across_labels", "reliability", "threshold"),
        *ITEM_MEASURES,
    )

    section = staticmethod(performance_section)
    threshold: float = 0.5
    seed: int = 0
    places: int = 1

    @classmethod
    def prepare(cls, context: RunContext, options: None, /) -> list["Performance"]:
        """The audit of a run; a model that shares no label with a labelled corpus is refused."""
        for model, labels in context.labels.items():
            for corpus in context.corpora:
                if corpus.labels:
                    shared_labels(corpus, model, labels)
        settings = context.settings
        return [cls(settings.fixed_threshold, settings.seed, context.places)]

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise BadInput(
                f"threshold {self.threshold} is out of range",
                code="threshold.out-of-range",
                allowed="0 to 1",
            )

    def skips(self, corpus: Corpus, /) -> str | None:
        """Texts without a label cannot be right or wrong."""
        if corpus.labels:
            return None
        return "the corpus has no labels"

    def ask(self, corpus: Corpus, /) -> Iterable[Item]:
        """Every text or history of the corpus, as it is."""
        return corpus.items

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Measure each shared label, and all of them together where there are several."""
        labels = shared_labels(corpus, scores.model, scores.labels)
        targets = corpus.targets(labels)  # (n, k)
        all_scores = scores.of(corpus.items)
        # With all columns: of exclusive labels the highest score decides, shared with the corpus or not.
        all_decided = decide(
            all_scores,
            thresholds_of(scores, self.threshold),
            exclusive=scores.traits.exclusive,
        )
        columns = [scores.labels.index(label) for label in labels]
        label_scores = all_scores[:, columns]
        decided = all_decided[:, columns]
        where = {
            "audit": self.name,
            "model": scores.model,
            "corpus": corpus.name,
        }
        clusters = Clusters.of(corpus.units(), corpus.copies())
        ids = corpus.ids

        findings: list[Finding] = []
        tables: list[pl.DataFrame] = []
        for k, label in enumerate(labels):
            answers = LabelAnswers(
                ids=ids,
                targets=targets[:, k],
                scores=label_scores[:, k],
                decided=decided[:, k],
                clusters=clusters,
                where={**where, "label": label},
                seed=self.seed,
                claims=self.places * len(labels),
            )
            tables.append(_predictions(answers))
            for finding in label_findings(answers):
                is_meaningless = scores.traits.hard and finding.measure in GRADED
                if not is_meaningless:
                    findings.append(finding)

        if len(labels) > 1:
            where_of_all = {**where, "label": "all"}
            findings += _across_labels(firm(targets), decided, clusters, where_of_all)
        # By the labels of the model: a corpus may have annotations of a part of the scale alone.
        all_items = scale_items(scores.labels)
        items = {label: item for label, item in all_items.items() if label in labels}
        findings += item_findings(labels, items, targets, decided, clusters, where)
        return Judgement(tuple(findings), {"predictions": pl.concat(tables)})


def _across_labels(
    targets: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The figures of all labels together, targets and predictions (n, k)."""
    texts, labels = targets.shape
    counts = {
        "texts": texts,
        "labels": labels,
        **ledger(targets, decided),
    }
    figures = label_figures(
        gold(targets),
        decided == 1,
        usable(targets, decided),
        clusters,
    )
    for name, (value, n, interval) in figures.items():
        yield measured(
            name,
            value.value,
            n,
            interval=interval,
            where=where,
            counts=counts,
            flags=value.flags,
        )


def _predictions(answers: LabelAnswers) -> pl.DataFrame:
    """One row per text, ids only; null where not annotated or not answered.

    `unit` numbers the authors, `copy` the distinct texts where copies reach across authors.
    """
    copies = answers.clusters.copies
    table = pl.DataFrame(
        {
            "id": answers.ids,
            "target": answers.targets,
            "score": answers.scores,
            "decided": answers.decided,
            "unit": answers.clusters.codes,
            "copy": pl.Series([None] * len(answers.ids) if copies is None else copies, dtype=pl.Int64),
        }
    )
    # Null, as JSON and CSV have no NaN.
    return table.select(
        pl.lit(answers.where["model"]).alias("model"),
        pl.lit(answers.where["corpus"]).alias("corpus"),
        "id",
        pl.lit(answers.where["label"]).alias("label"),
        pl.col("target", "score").fill_nan(None),
        pl.col("decided").fill_nan(None).cast(pl.Int8),
        "unit",
        "copy",
    )


def stored_clusters(texts: pl.DataFrame) -> Clusters:
    """What belongs together by the columns `unit` and `copy`; null copies: none reaches across units."""
    copies = texts["copy"]
    is_nested = copies.null_count() > 0
    return Clusters.of(
        texts["unit"].to_numpy(),
        None if is_nested else copies.to_numpy(),
    )


def shared_labels(corpus: Corpus, model: str, scored: Sequence[str]) -> tuple[str, ...]:
    """The labels of a corpus that a model scores; none is an error."""
    labels = tuple(label for label in corpus.labels if label in scored)
    # An audit without a figure would look like one that passed.
    if not labels:
        raise BadInput(
            f"model '{model}' and corpus '{corpus.name}' share no label",
            code="labels.none-shared",
            where=f"the model scores {some_labels(scored)}; the corpus has {some_labels(corpus.labels)}",
            allowed="at least one label of the same name",
            do="rename the label of the corpus (`labels=COLUMN=NAME`) or of the model (?label=NAME)",
        )
    return labels


def some_labels(labels: Sequence[str]) -> str:
    """A few labels, and how many more there are."""
    if not labels:
        return "no label"
    listed = ", ".join(labels[:_MOST_LISTED])
    more = len(labels) - _MOST_LISTED
    if more > 0:
        return f"{listed} and {more} more"
    return listed
