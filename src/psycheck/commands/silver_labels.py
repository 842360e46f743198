"""Silver labels: a corpus annotated by models, with its card, their agreement and their reasons."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.audits.figures import thresholds_of
from psycheck.audits.thresholds import DEV, Threshold, choose_thresholds, set_aside
from psycheck.commands.score import pieces_of
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.errors import BadInput
from psycheck.core.model import Model, Reply, Replying, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.corpora.curate.disclosure import named_conditions
from psycheck.corpora.posting_histories import as_taken
from psycheck.corpora.writing import write_into
from psycheck.io.settings import Limit
from psycheck.io.writing import together, writing
from psycheck.runs.environment import environment_of
from psycheck.scoring.answers import Answers, answers
from psycheck.scoring.engine import LOCAL
from psycheck.scoring.limits import NO_LIMITS, Limits
from psycheck.scoring.remembered import RememberedScores
from psycheck.statistics.classification import decide
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.rater_agreement import alpha_interval, krippendorff_alpha, majority_share
from psycheck.training.card import without_nan

CARD = ".card.json"
CARD_TEXT = ".card.md"
RATIONALE = ".rationale.jsonl"
_ROUNDING = 1e-9
_DEFAULT_THRESHOLD = 0.5  # of models without one of their own
_FROM_HALF = Limit("0.5 to 1", lambda value: 0.5 <= value <= 1)
_PAIR = Limit("LOW:HIGH, both from 0.5 to 1", lambda pair: len(pair) == 2 and pair[0] <= pair[1])


@dataclass(frozen=True, slots=True)
class Labelling:
    """How scores become labels, and which labels are kept.

    `as_labels`: hard is 0 or 1 at the threshold, soft the mean score of the models, votes the share of the
    raters (models, or samples of a model) that decide for 1. A label is kept if its confidence (the larger of
    the mean score and 1 minus that) lies in `confidence`, and if at least `min_agreement` of its raters vote
    alike. With `complete`, a text is kept only if it keeps every label, with `keep_positive` only if one of
    its labels says 1 (ANGST A.1).
    """

    as_labels: Literal["hard", "soft", "votes"] = "hard"
    threshold: Threshold | None = None
    confidence: Annotated[tuple[Annotated[float, _FROM_HALF], ...], _PAIR] = (0.5, 1.0)
    min_agreement: Annotated[float, _FROM_HALF] = 0.5
    complete: bool = False
    keep_positive: bool = False


@dataclass(frozen=True, slots=True)
class SilverCorpus:
    """A corpus with silver labels, its card, and reasons of models: id, model, rationale, named disorders."""

    corpus: Corpus
    card: Mapping[str, Any]
    rationales: tuple[Mapping[str, str], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Ratings:
    """What one model says: scores (n, k) of all labels, the votes (n, k) of each rater, thresholds (k,)."""

    model: str
    scores: FloatArray
    votes: tuple[FloatArray, ...]
    thresholds: FloatArray
    notes: tuple[str, ...]


def label_corpus(
    models: Sequence[Model],
    corpus: Corpus,
    how: Labelling,
    *,
    store: Path | None = None,
    progress: Progress = silent,
    limits: Limits = NO_LIMITS,
    say: Callable[[str], None] = lambda note: None,
    engine: str = LOCAL,
) -> tuple[SilverCorpus, int]:
    """Silver labels of a whole corpus by one or several models, and how many texts could not be scored."""
    if as_taken([corpus], models)[0].histories:
        raise BadInput(
            f"model '{models[0].name}' scores histories, and silver labels are for texts",
            code="silver.model-of-histories",
            key="as_labels",
            do="write the scores of authors instead",
        )
    _with_dev_set_aside(models, corpus, how)  # a corpus without dev is refused before anything is scored

    with answers(
        models,
        pieces_of(corpus),
        store=store,
        progress=progress,
        limits=limits,
        say=say,
        engine=engine,
    ) as answered:
        for name, tally in answered.tallies.items():
            for note in tally.notes_on_replies():
                say(f"{name}: {note}")

        # A text that one LLM did not answer may have its label from another model.
        tallies = answered.tallies.values()
        failed = min(tally.unreadable for tally in tallies) + sum(tally.failed for tally in tallies)
        return silver_corpus(answered, corpus, how), failed


def silver_corpus(answered: Answers, corpus: Corpus, how: Labelling) -> SilverCorpus:
    """Label a corpus by the answers of one or several models about all of its texts."""
    all_labels = (label for view in answered.views for label in view.labels)
    labels = tuple(dict.fromkeys(all_labels))
    to_label, dev = _with_dev_set_aside(answered.models, corpus, how)
    ratings = [
        _rate(model, view, labels, to_label.texts, dev, how)
        for model, view in zip(answered.models, answered.views, strict=True)
    ]
    ballots = np.stack([votes for rating in ratings for votes in rating.votes], axis=2)  # (n, k, raters)
    # A model votes once for each of its samples, but its score counts once.
    mean_scores = _known_mean([rating.scores for rating in ratings])
    values = _label_values(ratings, mean_scores, how)

    keeps_label, counts = _keep_labels(values, mean_scores, ballots, how)
    keeps_text, counts["texts without a label of 1"] = _keep_texts(keeps_label, values, how)
    kept_values = np.where(keeps_label, values, np.nan)
    labelled = _with_labels(to_label, labels, kept_values).only(keeps_text)

    # One rater cannot disagree with itself: its agreement is left out of the card.
    raters = ballots.shape[2]
    agreement = dict(_agreement(labels, ballots, to_label)) if raters > 1 else {}
    sides = {label: _count_sides(labelled.targets([label])[:, 0]) for label in labels}
    thresholds = {
        rating.model: dict(zip(labels, rating.thresholds.tolist(), strict=True)) for rating in ratings
    }
    card = {
        **environment_of(answered.models, [corpus], tallies=answered.tallies),
        "name": labelled.name,
        "fingerprint": labelled.fingerprint(),
        "labels": sides,
        "how": asdict(how),
        "thresholds": thresholds,
        "raters": raters,
        "agreement": agreement,
        "counts": {
            "texts": len(corpus),
            "dev texts, used for the threshold": len(corpus) - len(to_label),
            **counts,
            "texts without a label left": int((~keeps_text).sum()),
            "texts written": len(labelled),
        },
        "notes": [note for rating in ratings for note in rating.notes],
    }
    return SilverCorpus(labelled, card, tuple(_rationales(answered, labelled)))


def silver_files(path: Path) -> tuple[Path, Path, Path]:
    """The card for programs, the card for people and the file of reasons beside a silver corpus."""
    stem = path.name.partition(".")[0]
    return (
        path.with_name(stem + CARD),
        path.with_name(stem + CARD_TEXT),
        path.with_name(stem + RATIONALE),
    )


def write_silver(silver: SilverCorpus, path: Path) -> list[Path]:
    """Write the corpus, its cards and, if there are any, the reasons: all or none, for their owner alone."""
    card, card_text, rationale = silver_files(path)
    with writing(path), together([rationale]) as part_of:
        write_into(part_of(path), silver.corpus, path)
        card_json = json.dumps(without_nan(silver.card), indent=1, ensure_ascii=False)
        part_of(card).write_text(card_json + "\n", "utf-8")
        part_of(card_text).write_text(_card_text(silver.card), "utf-8")
        if silver.rationales:
            with part_of(rationale).open("w", encoding="utf-8") as lines:
                for reason in silver.rationales:
                    lines.write(json.dumps(reason, ensure_ascii=False) + "\n")

    files = [path, card, card_text]
    return [*files, rationale] if silver.rationales else files


def _with_dev_set_aside(
    models: Sequence[Model], corpus: Corpus, how: Labelling
) -> tuple[Corpus, Sequence[Corpus]]:
    """The texts to label, and those that the threshold is chosen on."""
    if how.threshold != DEV:
        return corpus, []

    # Texts that chose the threshold would fit it too well: they get no silver labels.
    (to_label,), dev = set_aside([corpus], {model.name: model.labels for model in models})
    return to_label, dev


def _rate(
    model: Model,
    view: RememberedScores,
    labels: Sequence[str],
    texts: Sequence[str],
    dev: Sequence[Corpus],
    how: Labelling,
) -> _Ratings:
    """The scores and votes of one model in columns for all labels; NaN for those that it does not score."""
    columns = [labels.index(label) for label in view.labels]

    def in_columns_of_all(values: FloatArray) -> FloatArray:
        placed = np.full((len(values), len(labels)), np.nan)
        placed[:, columns] = values
        return placed

    asked_threshold = how.threshold if isinstance(how.threshold, float) else None
    thresholds = np.full(len(labels), asked_threshold or _DEFAULT_THRESHOLD)
    notes: tuple[str, ...] = ()
    if how.threshold == DEV:
        chosen = choose_thresholds(view, dev)
        thresholds[columns] = chosen.values
        notes = chosen.notes
    elif asked_threshold is None:
        thresholds[columns] = thresholds_of(view, _DEFAULT_THRESHOLD)

    exclusive = capabilities_of(model).exclusive
    votes = [
        decide(scores, thresholds[columns], exclusive=exclusive)
        for scores in _scores_of_raters(model, view, texts)
    ]
    return _Ratings(
        model=model.name,
        scores=in_columns_of_all(view.of(texts)),
        votes=tuple(in_columns_of_all(vote) for vote in votes),
        thresholds=thresholds,
        notes=notes,
    )


def _scores_of_raters(model: Model, view: RememberedScores, texts: Sequence[str]) -> Iterator[FloatArray]:
    """The scores of each rater, (n, k): of a model that was asked several times, one for each sample."""
    if not isinstance(model, Replying):
        yield view.of(texts)
        return

    # A text may have fewer samples than others, where a request failed; those it lacks stay NaN.
    replies = view.replies(texts)
    sample_counts = (1 + len(reply.others) for reply in replies if reply)
    samples = max(sample_counts, default=1)
    if samples == 1:
        yield view.of(texts)
        return

    for number in range(samples):
        scores = np.full((len(texts), len(view.labels)), np.nan)
        for row, reply in enumerate(replies):
            if reply and number <= len(reply.others):
                sample = (reply.text, *reply.others)[number]
                scores[row] = model.read_reply(Reply(sample))
        yield scores


def _label_values(ratings: Sequence[_Ratings], mean_scores: FloatArray, how: Labelling) -> FloatArray:
    """The label of each text, (n, k), before any is left out; NaN where nobody answered."""
    votes = [vote for rating in ratings for vote in rating.votes]
    if how.as_labels == "soft":
        return mean_scores
    if how.as_labels == "votes":
        return _known_mean(votes)
    if len(votes) == 1:
        return votes[0]
    # Several raters decide by their mean score, at the mean of their thresholds.
    threshold = np.mean([rating.thresholds for rating in ratings], axis=0)
    return np.where(np.isnan(mean_scores), np.nan, mean_scores >= threshold)


def _known_mean(arrays: Sequence[FloatArray]) -> FloatArray:
    """The mean of what is known, cell by cell; NaN where nothing is."""
    stacked = np.stack(arrays)
    counts = (~np.isnan(stacked)).sum(axis=0)
    sums = np.nansum(stacked, axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _keep_labels(
    values: FloatArray, mean_scores: FloatArray, ballots: FloatArray, how: Labelling
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Which labels are kept, (n, k), and how many are not, by the first reason against them."""
    low, high = how.confidence
    confidence = np.maximum(mean_scores, 1 - mean_scores)
    is_confident = (confidence >= low - _ROUNDING) & (confidence <= high + _ROUNDING)
    shares = [majority_share(ballots[:, k]) for k in range(ballots.shape[1])]
    agreement = np.stack(shares, axis=1)

    conditions = {
        "labels not answered": ~np.isnan(values),
        "labels outside the range of confidence": is_confident,
        "labels with too little agreement": agreement >= how.min_agreement - _ROUNDING,
    }
    keeps = np.ones(values.shape, bool)
    counts = {}
    for why, holds in conditions.items():
        # Each label counts under its first reason alone, so that the counts of the card add up.
        counts[why] = int((keeps & ~holds).sum())
        keeps &= holds
    return keeps, counts


def _keep_texts(
    keeps_label: NDArray[np.bool_], values: FloatArray, how: Labelling
) -> tuple[NDArray[np.bool_], int]:
    """Which texts are kept, (n,), and how many go because no label says 1; an error if none is kept."""
    has_label = np.asarray(keeps_label.all(axis=1) if how.complete else keeps_label.any(axis=1))
    keeps = has_label
    if how.keep_positive:
        # NaN compares as false: a label that nobody gave says nothing.
        with np.errstate(invalid="ignore"):
            says_1 = keeps_label & (values > 0.5)
        keeps = has_label & says_1.any(axis=1)
    if not keeps.any():
        raise BadInput(
            "no text keeps a silver label",
            code="silver.no-label-left",
            allowed="at least one",
            do="relax `confidence`, `min_agreement`, `complete` or `keep_positive`",
        )
    return keeps, int((has_label & ~keeps).sum())


def _with_labels(corpus: Corpus, labels: Sequence[str], values: FloatArray) -> Corpus:
    """The corpus with these labels, (n, k), instead of those that it has."""
    silver_columns = []
    for k, label in enumerate(labels):
        column = pl.Series(LABEL + label, values[:, k].copy())
        silver_columns.append(column.fill_nan(None))

    # Gold labels are dropped even if no model scores them: the file must not mix the two kinds.
    gold_columns = [column for column in corpus.table.columns if column.startswith(LABEL)]
    return replace(corpus, table=corpus.table.drop(gold_columns).with_columns(silver_columns))


def _agreement(
    labels: Sequence[str], ballots: FloatArray, corpus: Corpus
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Krippendorff's alpha of the raters for each label, over all texts, before any filter."""
    clusters = Clusters.of(corpus.units(), corpus.copies())
    for k, label in enumerate(labels):
        votes = ballots[:, k]
        # A text with one vote has nobody to agree with.
        has_several_votes = (~np.isnan(votes)).sum(axis=1) > 1
        shares = majority_share(votes)[has_several_votes]
        agreement = {
            "krippendorff_alpha": krippendorff_alpha(votes)[0],
            "interval": alpha_interval(votes, clusters),
            "texts": int(has_several_votes.sum()),
            "majority_share": float(shares.mean()) if len(shares) else math.nan,
        }
        yield label, agreement


def _rationales(answered: Answers, labelled: Corpus) -> Iterator[Mapping[str, str]]:
    """The reasons that models gave for the labels of the texts that were kept."""
    for model, view in zip(answered.models, answered.views, strict=True):
        if not hasattr(model, "rationale"):
            continue
        for id_, reply in zip(labelled.ids, view.replies(labelled.texts), strict=True):
            if reply is None:
                continue
            reason = model.rationale(reply)
            disorder = model.named_disorder(reply) if hasattr(model, "named_disorder") else ""
            if reason or disorder:
                row = {"id": id_, "model": model.name, "rationale": reason}
                # What an open-ended reply names, from which ANGST's silver labels were made (A.1).
                if disorder:
                    row["disorder"] = disorder
                # The conditions of the graph that the name or the reason holds.
                named = sorted({name for name, _ in named_conditions(f"{disorder}\n{reason}")})
                yield {**row, "named": ", ".join(named)} if named else row


def _count_sides(values: FloatArray) -> dict[str, int]:
    """How many labels say 1, 0 and neither."""
    sides = {
        "one": values > 0.5,
        "zero": values < 0.5,
        "undecided": values == 0.5,
        "none": np.isnan(values),
    }
    return {side: int(is_here.sum()) for side, is_here in sides.items()}


def shown_alpha(agreement: Mapping[str, Any]) -> str:
    """Alpha with its interval and the number of texts, in words."""
    alpha = agreement["krippendorff_alpha"]
    low, high = agreement["interval"]
    if math.isnan(alpha):
        return "not defined: all votes are the same"
    interval = "" if math.isnan(low) else f" ({low:.2f} to {high:.2f})"
    return f"{alpha:.2f}{interval}, {agreement['texts']:,} texts"


def _card_text(card: Mapping[str, Any]) -> str:
    """The card for people; jinja2 is imported only where a card is written."""
    from jinja2 import Environment

    template = Path(__file__).with_name("silver_card.md").read_text("utf-8")
    return Environment(autoescape=False).from_string(template).render(**card).rstrip() + "\n"
