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

from psycheck.audits.measured import thresholds_of
from psycheck.corpora.histories import as_taken
from psycheck.corpora.write import write_into
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput
from psycheck.files.write import together, writing
from psycheck.measures.classification import decide
from psycheck.measures.clustered import Clusters
from psycheck.measures.raters import alpha_interval, krippendorff_alpha, majority_share
from psycheck.model import FloatArray, Model, Reply, Replying
from psycheck.runs.environment import environment_of
from psycheck.scoring.answers import Answers, answers
from psycheck.scoring.engine import Progress, silent
from psycheck.scoring.limits import NO_LIMITS, Limits
from psycheck.scoring.view import RememberedScores
from psycheck.settings.reader import Limit
from psycheck.train.card import without_nan
from psycheck.verbs.score import pieces_of
from psycheck.verbs.threshold import DEV, Threshold, choose_thresholds, set_aside

CARD, CARD_TEXT, RATIONALE = ".card.json", ".card.md", ".rationale.jsonl"
_ROUNDING = 1e-9
_FROM_HALF = Limit("0.5 to 1", lambda value: 0.5 <= value <= 1)
_PAIR = Limit("LOW:HIGH, both from 0.5 to 1", lambda pair: len(pair) == 2 and pair[0] <= pair[1])


@dataclass(frozen=True, slots=True)
class Labelling:
    """How scores become labels, and which labels are kept.

    `as_labels`: hard is 0 or 1 at the threshold, soft the mean score of the models, votes the share of the
    raters (models, or samples of a model) that decide for 1. A label is kept if its confidence (the larger of
    the mean score and 1 minus that) lies in `confidence`, and if at least `min_agreement` of its raters vote
    alike. With `complete`, a text is kept only if it keeps every label.
    """

    as_labels: Literal["hard", "soft", "votes"] = "hard"
    threshold: Threshold = 0.5
    confidence: Annotated[tuple[Annotated[float, _FROM_HALF], ...], _PAIR] = (0.5, 1.0)
    min_agreement: Annotated[float, _FROM_HALF] = 0.5
    complete: bool = False


@dataclass(frozen=True, slots=True)
class SilverCorpus:
    """A corpus with silver labels, its card, and what models gave as reasons: id, model, rationale."""

    corpus: Corpus
    card: Mapping[str, Any]
    rationales: tuple[Mapping[str, str], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Rated:
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
) -> tuple[SilverCorpus, int]:
    """Silver labels of a whole corpus by one or several models, and how many texts could not be scored."""
    if as_taken([corpus], models)[0].histories:
        what = f"model '{models[0].name}' scores histories, and silver labels are for texts"
        raise BadInput(what, key="as_labels", do="write the scores of authors instead")
    _parts(models, corpus, how)  # refused before anything is scored
    how_asked: dict[str, Any] = {"store": store, "progress": progress, "limits": limits, "say": say}
    with answers(models, pieces_of(corpus), **how_asked) as found:
        return silver_corpus(found, corpus, how), sum(tally.failed for tally in found.tallies.values())


def silver_corpus(found: Answers, corpus: Corpus, how: Labelling) -> SilverCorpus:
    """Label a corpus by the answers of one or several models about all of its texts."""
    labels = tuple(dict.fromkeys(label for view in found.views for label in view.labels))
    (judged,), dev = _parts(found.models, corpus, how)
    pairs = zip(found.models, found.views, strict=True)
    rated = [_rated(model, view, labels, judged.texts, dev, how) for model, view in pairs]
    votes = [vote for one in rated for vote in one.votes]
    mean = _mean([one.scores for one in rated])
    if how.as_labels == "hard":
        # One rater decides by itself; several decide by their mean score, at the mean of their thresholds.
        cut = np.mean([one.thresholds for one in rated], axis=0)
        values = votes[0] if len(votes) == 1 else np.where(np.isnan(mean), np.nan, mean >= cut)
    else:
        values = mean if how.as_labels == "soft" else _mean(votes)
    ballots = np.stack(votes, axis=2)  # (n, k, raters)
    kept, counts = _kept(values, mean, ballots, how)
    stays: NDArray[np.bool_] = np.asarray(kept.all(axis=1) if how.complete else kept.any(axis=1))
    if not stays.any():
        what, allowed = "no text keeps a silver label", "at least one"
        raise BadInput(what, allowed=allowed, do="relax `confidence`, `min_agreement` or `complete`")
    values = np.where(kept, values, np.nan)
    columns = [pl.Series(LABEL + label, values[:, k].copy()).fill_nan(None) for k, label in enumerate(labels)]
    gold = [column for column in judged.table.columns if column.startswith(LABEL)]
    made = replace(judged, table=judged.table.drop(gold).with_columns(columns)).only(stays)
    aside = {"dev texts, used for the threshold": len(corpus) - len(judged)}
    lost = {"texts without a label left": int((~stays).sum()), "texts written": len(made)}
    card = {
        **environment_of(found.models, [corpus], tallies=found.tallies),
        "name": made.name,
        "fingerprint": made.fingerprint(),
        "labels": {label: _counted(made.targets([label])[:, 0]) for label in labels},
        "how": asdict(how),
        "thresholds": {one.model: dict(zip(labels, one.thresholds.tolist(), strict=True)) for one in rated},
        "raters": len(votes),
        "agreement": dict(_agreement(labels, ballots, judged)) if len(votes) > 1 else {},
        "counts": {"texts": len(corpus), **aside, **counts, **lost},
        "notes": [note for one in rated for note in one.notes],
    }
    return SilverCorpus(made, card, tuple(_rationales(found, made)))


def silver_files(path: Path) -> tuple[Path, Path, Path]:
    """The card for programs, the card for people and the file of reasons beside a silver corpus."""
    stem = path.name.partition(".")[0]
    card, text, rationale = (path.with_name(stem + ending) for ending in (CARD, CARD_TEXT, RATIONALE))
    return card, text, rationale


def write_silver(made: SilverCorpus, path: Path) -> list[Path]:
    """Write the corpus, its cards and, if there are any, the reasons: all or none, for their owner alone."""
    card, text, rationale = silver_files(path)
    with writing(path), together([rationale]) as part_of:
        write_into(part_of(path), made.corpus, path)
        part_of(card).write_text(
            json.dumps(without_nan(made.card), indent=1, ensure_ascii=False) + "\n", "utf-8"
        )
        part_of(text).write_text(_card_text(made.card), "utf-8")
        if made.rationales:
            with part_of(rationale).open("w", encoding="utf-8") as lines:
                lines.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in made.rationales)
    return [path, card, text, *([rationale] if made.rationales else [])]


def _parts(
    models: Sequence[Model], corpus: Corpus, how: Labelling
) -> tuple[Sequence[Corpus], Sequence[Corpus]]:
    """The texts to label, and those that the threshold is chosen on."""
    if how.threshold != DEV:
        return [corpus], []
    return set_aside([corpus], {model.name: model.labels for model in models})


def _rated(
    model: Model,
    view: RememberedScores,
    labels: Sequence[str],
    texts: Sequence[str],
    dev: Sequence[Corpus],
    how: Labelling,
) -> _Rated:
    """The scores and votes of one model in columns for all labels; NaN for those that it does not score."""
    own = [labels.index(label) for label in view.labels]

    def placed(columns: FloatArray) -> FloatArray:
        out = np.full((len(columns), len(labels)), np.nan)
        out[:, own] = columns
        return out

    cut = np.full(len(labels), 0.5 if how.threshold == DEV else how.threshold)
    cut[own] = thresholds_of(view, float(cut[0]))
    notes: tuple[str, ...] = ()
    if how.threshold == DEV:
        chosen = choose_thresholds(view, dev)
        cut[own], notes = chosen.values, chosen.notes
    exclusive = bool(getattr(model, "exclusive", False))
    votes = (decide(one, cut[own], exclusive=exclusive) for one in _samples(model, view, texts))
    return _Rated(model.name, placed(view.of(texts)), tuple(map(placed, votes)), cut, notes)


def _kept(
    values: FloatArray, mean: FloatArray, ballots: FloatArray, how: Labelling
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Which labels are kept, (n, k), and how many are not, by reason."""
    sure, (low, high) = np.maximum(mean, 1 - mean), how.confidence
    agreed = np.stack([majority_share(ballots[:, k]) for k in range(ballots.shape[1])], axis=1)
    kept, counts = np.ones(values.shape, bool), {}
    for why, holds in (
        ("labels not answered", ~np.isnan(values)),
        ("labels outside the range of confidence", (sure >= low - _ROUNDING) & (sure <= high + _ROUNDING)),
        ("labels with too little agreement", agreed >= how.min_agreement - _ROUNDING),
    ):
        counts[why] = int((kept & ~holds).sum())
        kept &= holds
    return kept, counts


def _samples(model: Model, view: RememberedScores, texts: Sequence[str]) -> Iterator[FloatArray]:
    """The scores of each rater, (n, k): of a model that was asked several times, one for each sample."""
    replies = view.replies(texts) if isinstance(model, Replying) else []
    most = max((1 + len(reply.others) for reply in replies if reply), default=1)
    if most == 1 or not isinstance(model, Replying):
        yield view.of(texts)
        return
    for number in range(most):
        scores = np.full((len(texts), len(view.labels)), np.nan)
        for row, reply in enumerate(replies):
            if reply and number <= len(reply.others):
                scores[row] = model.read_reply(Reply((reply.text, *reply.others)[number]))
        yield scores


def _mean(arrays: Sequence[FloatArray]) -> FloatArray:
    """The mean of what is known, cell by cell; NaN where nothing is."""
    stacked = np.stack(arrays)
    known = (~np.isnan(stacked)).sum(axis=0)
    return np.where(known > 0, np.nansum(stacked, axis=0) / np.maximum(known, 1), np.nan)


def _agreement(
    labels: Sequence[str], ballots: FloatArray, corpus: Corpus
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Krippendorff's alpha of the raters for each label, over all texts, before any filter."""
    clusters = Clusters.of(corpus.units())
    for k, label in enumerate(labels):
        votes = ballots[:, k]
        shared = (~np.isnan(votes)).sum(axis=1) > 1
        alike = float(majority_share(votes)[shared].mean()) if shared.any() else math.nan
        yield (
            label,
            {
                "krippendorff_alpha": krippendorff_alpha(votes)[0],
                "interval": alpha_interval(votes, clusters),
                "texts": int(shared.sum()),
                "majority_share": alike,
            },
        )


def _rationales(found: Answers, made: Corpus) -> Iterator[Mapping[str, str]]:
    """The reasons that models gave for the labels of the texts that were kept."""
    for model, view in zip(found.models, found.views, strict=True):
        if not hasattr(model, "rationale"):
            continue
        for id_, reply in zip(made.ids, view.replies(made.texts), strict=True):
            if reply and (reason := model.rationale(reply)):
                yield {"id": id_, "model": model.name, "rationale": reason}


def _counted(values: FloatArray) -> dict[str, int]:
    """How many labels say 1, 0 and neither."""
    sides = {"one": values > 0.5, "zero": values < 0.5, "undecided": values == 0.5, "none": np.isnan(values)}
    return {side: int(there.sum()) for side, there in sides.items()}


def shown_alpha(one: Mapping[str, Any]) -> str:
    """Alpha with its interval and the number of texts, in words."""
    (low, high), value = one["interval"], one["krippendorff_alpha"]
    if math.isnan(value):
        return "not defined: all votes are the same"
    ends = "" if math.isnan(low) else f" ({low:.2f} to {high:.2f})"
    return f"{value:.2f}{ends}, {one['texts']:,} texts"


def _card_text(card: Mapping[str, Any]) -> str:
    from jinja2 import Environment

    template = Path(__file__).with_name("silver_card.md").read_text("utf-8")
    return Environment(autoescape=False).from_string(template).render(**card).rstrip() + "\n"
