"""The answers of models: from the store where it holds them, else computed once and stored.

Nothing outside this room calls `score`, `encode` or `encode_spans`.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycheck.core.arrays import FloatArray
from psycheck.core.item import Item, digest_of
from psycheck.core.kept import keeping
from psycheck.core.model import Model, Partial, Replying
from psycheck.core.progress import Progress, silent
from psycheck.models.opening import open_model
from psycheck.models.output import checked_scores
from psycheck.scoring.engine import LOCAL, Piece, foretell, gather, open_engine, score_once
from psycheck.scoring.limits import NO_LIMITS, Limits, expected_tally
from psycheck.scoring.recheck import of_all_sizes
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.retries import Sleep, patiently
from psycheck.scoring.store import Store, default_store
from psycheck.scoring.tally import Tally
from psycheck.scoring.todo import unknown

_TIMED = 16  # items that are scored to estimate how long all take


@dataclass(frozen=True, slots=True)
class Answers:
    """The scores of each model, looked up by item, and what scoring took, by model name."""

    models: tuple[Model, ...]
    views: tuple[RememberedScores, ...]
    tallies: Mapping[str, Tally]


@contextmanager
def answers(
    models: Iterable[str | Path | Model],
    pieces: Iterable[Piece],
    *,
    names: Mapping[str, tuple[str, ...]] | None = None,
    store: Path | None = None,
    progress: Progress = silent,
    sleep: Sleep = time.sleep,
    limits: Limits = NO_LIMITS,
    say: Callable[[str], None] = lambda note: None,
    rounds: Callable[[RememberedScores], Iterable[Piece]] | None = None,
    engine: str = LOCAL,
) -> Iterator[Answers]:
    """Score the items of all pieces with each model, except for those whose scores the store holds.

    A model is a spec or an opened model; `names` are the labels under which audits know its columns, by model
    name (default: its own); `store` is the store file (default: the user's). `limits` are what models that
    reply in words may be sent; what asking them will take is told (`say`) before the first request. `rounds`
    are pieces that depend on a model's answers: each is scored before the next is drawn, and `pieces` only
    foretell how many they are. `engine` names what scores (`psycheck ls engines`).
    """
    opened = tuple(_opened(model) for model in models)
    tallies = {model.name: Tally() for model in opened}
    settings: dict[str, Any] = {
        "progress": progress,
        "sleep": sleep,
        "limits": limits,
        "tallies": tallies,
        "engine": open_engine(engine),
    }

    # What is computed from texts and scores, here or by whoever judges them, is kept beside the scores.
    with closing(Store(store or default_store())) as opened_store, keeping(opened_store):
        views = []
        for model in opened:
            labels = names[model.name] if names else model.labels
            views.append(RememberedScores(opened_store, model, labels))
        scored = list(zip(opened, views, strict=True))

        if rounds is None:
            score_once(scored, pieces, say=say, **settings)
        else:
            # What is asked depends on earlier answers, so each round is scored before the next is drawn.
            foretell(scored, gather(pieces), limits, say)
            for model, view in scored:
                for piece in rounds(view):
                    score_once([(model, view)], [piece], **settings)
        yield Answers(opened, tuple(views), tallies)


def _opened(model: str | Path | Model) -> Model:
    if isinstance(model, str | Path):
        return open_model(model)
    return model


def in_equal_shares(parts: Sequence[Iterable[Item]]) -> Iterator[Piece]:
    """Pieces that count as equally long in the progress."""
    for place, items in enumerate(parts, start=1):
        yield place / len(parts), items


def scores_of(model: Model, items: Sequence[Item]) -> FloatArray:
    """The scores of texts or histories, (n, k), without the store: for a model that is still being made."""
    scores = patiently(lambda: model.score(items), model.name)
    return checked_scores(
        scores,
        len(items),
        model.labels,
        model=model.name,
    )


def not_scored(
    models: Iterable[Model],
    pieces: Callable[[], Iterable[Piece]],
    store: Path | None,
) -> Iterator[Any]:
    """The distinct items that one of the models, which may run on another machine, has not scored yet."""
    seen: set[bytes] = set()
    with closing(Store(store or default_store())) as opened_store:
        for model in models:
            view = RememberedScores(opened_store, model, model.labels)
            for _, _, items in gather(pieces()):
                unscored: Iterable[Item] = unknown(view, items).items
                # A file of scores is asked itself: what it holds need not be written out again.
                if isinstance(model, Partial):
                    unscored = model.missing(list(unscored))

                for item in unscored:
                    digest = digest_of(item)
                    if digest not in seen:
                        seen.add(digest)
                        yield item


def forecast(
    models: Iterable[Model],
    pieces: Callable[[], Iterable[Piece]],
    store: Path | None,
    limits: Limits = NO_LIMITS,
) -> dict[str, Tally]:
    """What scoring would take, by model name: `scored` counts the items to score, `seconds` is an estimate.

    The estimate comes from a few items of all sizes; their scores are stored. A model that replies in words
    is asked nothing: `requests`, tokens and `cost` are what it expects.
    """
    tallies = {}
    with closing(Store(store or default_store())) as opened_store:
        for model in models:
            view = RememberedScores(opened_store, model, model.labels)
            if isinstance(model, Replying):
                chunks = gather(pieces())
                tally = expected_tally(model, view, chunks, limits)
            else:
                tally = _timed_tally(model, view, pieces())
            tallies[model.name] = tally
    return tallies


def _timed_tally(model: Model, view: RememberedScores, pieces: Iterable[Piece]) -> Tally:
    """What scoring would take, with the seconds foreseen from a few items of the first chunk."""
    tally = Tally()
    seen: set[int] = set()
    sample: list[Item] = []
    for _, asked, items in gather(pieces):
        todo = unknown(view, items)
        # Nothing is stored here, so what was met in an earlier chunk is still unknown to the store.
        unscored = [item for item in todo.items if hash(item) not in seen]
        seen.update(map(hash, unscored))

        tally.asked += asked
        tally.remembered += len(todo.met)
        tally.scored += len(unscored)
        if unscored and not sample:
            sample = of_all_sizes(unscored, _TIMED)

    tally.distinct = tally.remembered + tally.scored
    # Where the store holds everything, there is nothing to time.
    if sample:
        everything: Piece = (1.0, sample)
        tallies = score_once([(model, view)], [everything])
        sample_tally = tallies[model.name]
        seconds_per_item = sample_tally.seconds / len(sample)
        tally.seconds = seconds_per_item * tally.scored
    return tally
