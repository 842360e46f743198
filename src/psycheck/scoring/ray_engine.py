"""The Ray engine: batches are scored by actors of a cluster, and their answers are committed here.

Ray Data sends the batches, holds them back where memory is short, and sends those of a lost worker to another
one. They are the batches of the local engine, so that the scores are the same to the last digit wherever
an actor computes as this machine does.
"""

import logging
import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

from psycheck.core.arrays import IntArray
from psycheck.core.errors import BadInput, MissingExtra
from psycheck.core.item import Item, sizes_of
from psycheck.core.model import Grounded, Model, Replying
from psycheck.models.opening import spec_of
from psycheck.scoring.local import LocalEngine, fails_on_every_text
from psycheck.scoring.ray_batch import BatchScores, ScoreBatches
from psycheck.scoring.task import ScoringTask, in_batches
from psycheck.scoring.todo import Todo

RAY = "ray"

_BATCHES_PER_BLOCK = 16  # sent to an actor, and committed, at once
_BLOCKS_PER_ACTOR = 4  # at least, so that a slow actor does not keep all others waiting
_POLL_SECONDS = 0.2  # between looks at what other processes have claimed
_ALLOWED = "ray, ray://HOST:PORT, each with ?actors=N behind it"


@dataclass(frozen=True, slots=True)
class RayEngine:
    """Scores with the actors of a cluster at `address`, "" for one that is started on this machine.

    `actors` is how many open the model, 0 for one per processor (per GPU where there are any). Models that
    exist in this process only are refused; those that reply in words, or rest on others, are scored here.
    """

    address: str = ""
    actors: int = 0

    @classmethod
    def of_spec(cls, spec: str) -> "RayEngine":
        """The engine of "ray", "ray://HOST:PORT" or either with "?actors=N"."""
        address, _, query = spec.partition("?")
        options = dict(parse_qsl(query, keep_blank_values=True))
        actors = options.pop("actors", "0")
        is_cluster = address.startswith("ray://") and len(address) > len("ray://")
        if options or not actors.isdecimal() or not (is_cluster or address == RAY):
            raise BadInput(
                f"cannot read the engine '{spec}'",
                code="engine.bad-spec",
                key="engine",
                allowed=_ALLOWED,
            )
        return cls(address if is_cluster else "", int(actors))

    def score(self, task: ScoringTask, todo: Todo, /) -> None:
        """Score the items on the cluster, and commit each block of batches as it arrives."""
        # A server answers as fast as it can whoever asks, and limits hold for the run as a whole.
        if isinstance(task.model, Replying | Grounded):
            LocalEngine().score(task, todo)
            return
        spec = portable_spec(task.model)
        # The longest first, as the local engine has them.
        left: IntArray = np.argsort(-sizes_of(todo.items), kind="stable")
        with task.view.claims():
            while len(left):
                claimed, left, met = task.view.claim(todo.items, todo.hashes, left=left, most=len(left))
                task.tally.remembered += met
                if len(claimed):
                    self._score_claimed(task, spec, todo, claimed)
                elif not met:
                    # Others are at work on all that is left.
                    task.sleep(_POLL_SECONDS)

    def _score_claimed(self, task: ScoringTask, spec: str, todo: Todo, rows: IntArray) -> None:
        """Score the items at these rows, and commit their scores as they arrive, in any order."""
        batches = [todo.take(np.array(batch)) for batch in in_batches(rows.tolist(), task.batch_size)]
        rows_of_batches = [
            {"place": place, "items": _packed(batch.items)} for place, batch in enumerate(batches)
        ]
        blocks = len(batches) // _BATCHES_PER_BLOCK
        for row in self.map_rows(rows_of_batches, ScoreBatches, (spec,), blocks=blocks):
            batch = batches[int(row["place"])]
            scored: BatchScores = pickle.loads(row["scores"])
            answered = batch.take(scored.rows)
            task.view.add(answered.items, scored.scores, answered.hashes, read=scored.read)

            task.view.complaints.update(scored.complaints)
            task.tally.scored += len(scored.rows)
            task.tally.failed += len(batch.items) - len(scored.rows)
            task.report()
        if task.view.complaints and not len(task.view):
            raise fails_on_every_text(task)

    def map_rows(
        self, rows: Sequence[dict[str, Any]], worker: type, arguments: tuple[Any, ...], *, blocks: int
    ) -> Iterator[dict[str, Any]]:
        """What the actors return for each row, as it arrives: each makes one worker, of these arguments.

        Rows are sent, and return, block by block. A lost actor is started again by Ray Data, which sends what
        it was at work on anew.
        """
        if not rows:
            return
        ray = joined_cluster(self.address)
        resources = ray.cluster_resources()
        gpus = int(resources.get("GPU", 0))
        actors = self.actors or gpus or int(resources.get("CPU", 1))
        blocks = min(len(rows), max(blocks, _BLOCKS_PER_ACTOR * actors))

        dataset = ray.data.from_items(list(rows), override_num_blocks=blocks)
        mapped = dataset.map(
            worker,
            fn_constructor_args=arguments,
            compute=ray.data.ActorPoolStrategy(size=min(actors, blocks)),
            num_cpus=1,
            num_gpus=1 if gpus else 0,
        )
        yield from mapped.iter_rows()


def portable_spec(model: Model) -> str:
    """The spec by which other processes open a model; one that exists in this process only is refused."""
    spec = spec_of(model)
    if not spec:
        raise BadInput(
            f"model '{model.name}' exists in this process only",
            code="engine.model-without-spec",
            allowed="a model that others can open: hf:FOLDER, sklearn:FILE, python:MODULE:OBJECT …",
            do="save the model, or use the local engine",
        )
    return spec


def _packed(items: Sequence[Item]) -> bytes:
    """Items as bytes: texts and histories alike."""
    return pickle.dumps(list(items))


def joined_cluster(address: str) -> Any:
    """The module `ray`, joined to the cluster at an address; "" starts one on this machine."""
    # psycheck sends nothing anywhere, and neither may what it starts.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Its own log of what it starts and stops would run through our progress.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        ray = import_module("ray")
        import_module("ray.data")
    except ImportError as error:
        raise MissingExtra("the engine 'ray'", "scale") from error

    if not ray.is_initialized():
        settings: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        if not address:
            settings["include_dashboard"] = False
        try:
            ray.init(address or "local", **settings)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise BadInput(
                f"the Ray cluster does not answer ({type(error).__name__})",
                code="engine.no-cluster",
                where=address or "this machine",
                do="check `ray status` on the cluster, and that its port for clients (10001) can be reached",
            ) from error

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    return ray
