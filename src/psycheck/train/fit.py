"""Train a model from a corpus by a recipe, into a folder that `open_model` opens."""

import json
import shutil
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra, ModelFailure, PsycheckWarning, StoreFailure, counted
from psycheck.model import FloatArray
from psycheck.train.card import RECORD, described, numbers, read_record, versions, write_record
from psycheck.train.figures import figures
from psycheck.train.linear import MODEL_FILE, fit_tfidf, save_sklearn
from psycheck.train.parts import Parts, held_out, part_of, parts_of
from psycheck.train.recipe import TFIDF, Recipe, kind_of, recipe_of, settled, used

if TYPE_CHECKING:
    from psycheck.train.finetune import AfterEpoch, Progress

FORMAT = 1  # raised when the same recipe would give other weights
SPECS = {"hf": "hf:{folder}", "sklearn": f"sklearn:{{folder}}/{MODEL_FILE}", "frozen": "frozen:{folder}"}


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished training: where it lies, how it is opened, and its figures.

    `key` names recipe, data and start weights together: equal keys, equal training. `curve` holds the dev
    figures after each epoch (for the linear baselines: for each strength tried). `seconds` is the time of
    the last, perhaps resumed, call; `reused` says that it was there already.
    """

    folder: Path
    spec: str
    recipe: Recipe
    labels: tuple[str, ...]
    key: str
    dev: dict[str, float]
    test: dict[str, float]
    curve: tuple[dict[str, float], ...]
    seconds: float
    reused: bool = False


def train(
    corpus: Corpus | tuple[Corpus, Corpus],
    recipe: Recipe,
    folder: Path,
    *,
    test: Corpus | None = None,
    progress: "Progress | None" = None,
) -> Trained:
    """Train on the train split, choose on dev, measure on `test` (or the corpus's test split, if any).

    The folder appears complete or not at all. Until then the checkpoints lie beside it, in FOLDER.training;
    after a kill the same call goes on from the last one to the same weights. What is finished is not
    trained again. `progress(done, total)` hears of each step.
    """
    folder = Path(folder)
    trained = fit(corpus, recipe, folder, progress=progress)
    test = held_out(corpus) if test is None else test
    if test is None:
        return trained
    _measure_test(folder, test, recipe)
    return opened(folder, reused=trained.reused)


def with_dev(corpus: Corpus, dev: Corpus) -> tuple[tuple[Corpus, Corpus], Corpus | None]:
    """Train of one corpus and dev of another, each by its split or whole where it has none; and test, if any.

    Warns where texts of dev stand in train too: what is chosen on them is chosen by memory.
    """
    train = corpus.part("train") if "split" in corpus.table else corpus
    measured = dev.part("dev") if "split" in dev.table else dev
    seen = set(train.texts)
    if again := sum(text in seen for text in measured.texts):
        warnings.warn(
            f"{again:,} of {counted(len(measured), 'text')} of dev '{dev.name}' "
            f"{'stands' if again == 1 else 'stand'} in train '{corpus.name}' too: dev figures are too good",
            PsycheckWarning,
            stacklevel=2,
        )
    test = held_out(corpus)
    return (train, measured), held_out(dev) if test is None else test


def fit(
    corpus: Corpus | tuple[Corpus, Corpus],
    recipe: Recipe,
    folder: Path,
    *,
    progress: "Progress | None" = None,
    after_epoch: "AfterEpoch | None" = None,
) -> Trained:
    """`train` without a look at test; `after_epoch(epoch, figures)` hears of each epoch and may raise."""
    parts = parts_of(corpus, recipe)
    start = {"name": recipe.start, "fingerprint": _start_mark(recipe)}
    # Older versions let values that the start does not use decide the key, too.
    keys = [training_key(parts, one, start["fingerprint"]) for one in (settled(recipe), recipe)]
    key, reused = keys[0], _is_finished(folder, keys)
    if not reused:
        work = folder.with_name(f"{folder.name}.training") / key[:16]
        with _told(recipe, folder):
            _train_into(folder, work, parts, recipe, start, key, progress, after_epoch)
    return opened(folder, reused=reused)


def opened(folder: Path, *, reused: bool = True) -> Trained:
    """What a finished folder says of itself."""
    record = read_record(folder)
    test = record.get("test")
    return Trained(
        folder=folder,
        spec=SPECS[record["kind"]].format(folder=folder),
        recipe=recipe_of(record["recipe"]),
        labels=tuple(record["labels"]),
        key=record["key"],
        dev=numbers(record["dev"]),
        test=numbers(test["figures"]) if test else {},
        curve=tuple(numbers(point) for point in record["curve"]),
        seconds=record["seconds"],
        reused=reused,
    )


def training_key(parts: Parts, recipe: Recipe, start: str) -> str:
    """A name for all that decides the weights: recipe, labels, train, dev and the weights started from."""
    # Where dev came from and which name the start goes by do not matter once both are known.
    said = {
        name: value
        for name, value in recipe.as_dict().items()
        if name not in ("dev_share", "start", "labels")
    }
    data = [parts.labels, parts.train.fingerprint(), parts.dev.fingerprint()]
    text = json.dumps([FORMAT, kind_of(recipe), said, data, start], sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def score_saved(folder: Path, kind: str, texts: list[str]) -> FloatArray:
    """Score texts with what a training wrote, (n, k)."""
    from psycheck.models.open import open_model
    from psycheck.models.options import ModelOptions
    from psycheck.scoring.answers import scores_of

    if kind == "frozen":
        from psycheck.models.frozen import open_frozen

        return scores_of(open_frozen(str(folder), ModelOptions()), texts)
    return scores_of(open_model(SPECS[kind].format(folder=folder)), texts)


def _train_into(
    folder: Path,
    work: Path,
    parts: Parts,
    recipe: Recipe,
    start: dict[str, str],
    key: str,
    progress: "Progress | None",
    after_epoch: "AfterEpoch | None",
) -> None:
    began = time.monotonic()
    partial = work / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    said, save = _fit(parts, recipe, work, progress, after_epoch)
    partial.mkdir(parents=True)
    save(partial)
    record = {
        "format": FORMAT,
        "key": key,
        "spec": SPECS[said["kind"]].format(folder="FOLDER"),  # wherever it will lie
        "labels": list(parts.labels),
        "recipe": used(recipe),
        "seed": recipe.seed,
        "start": start,
        "trained_on": described(parts, recipe.dev_share),
        "test": None,
        "seconds": time.monotonic() - began,
        "versions": versions(),
        **said,
    }
    write_record(record, partial)
    partial.replace(folder)
    shutil.rmtree(work)
    if not any(work.parent.iterdir()):
        work.parent.rmdir()


def _fit(
    parts: Parts,
    recipe: Recipe,
    work: Path,
    progress: "Progress | None",
    after_epoch: "AfterEpoch | None",
) -> tuple[dict[str, Any], Callable[[Path], None]]:
    """What is to be recorded, and how to write the weights into a folder."""
    if kind_of(recipe) == "sklearn":
        pipeline, heads = fit_tfidf(parts, recipe)
        said: dict[str, Any] = {"kind": "sklearn", "dev": heads.dev, "curve": heads.curve, "window": None}
        return said, lambda out: save_sklearn(pipeline, out)
    if kind_of(recipe) == "frozen":
        from psycheck.train.frozen import fit_frozen, save_frozen

        heads, encoder = fit_frozen(parts, recipe)
        said = {"kind": "frozen", "dev": heads.dev, "curve": heads.curve, "window": encoder.max_length}
        return said, lambda out: save_frozen(heads, encoder, parts, recipe, out)

    from psycheck.train.finetune import finetune

    tuned = finetune(parts, recipe, work / "checkpoints", progress=progress, after_epoch=after_epoch)

    def save(out: Path) -> None:
        tuned.model.save_pretrained(out)
        tuned.tokenizer.save_pretrained(out)

    return {"kind": "hf", "dev": tuned.dev, "curve": tuned.curve, "window": tuned.window}, save


def _measure_test(folder: Path, test: Corpus, recipe: Recipe) -> None:
    """Add the figures on test to the record, unless they are there already."""
    record = read_record(folder)
    mark = test.fingerprint()
    if record["test"] and record["test"]["fingerprint"] == mark:
        return
    labels = tuple(record["labels"])
    part, _ = part_of(test, labels)
    if not len(part):
        raise BadInput(f"test corpus '{test.name}' has no text annotated for {', '.join(labels)}")
    with _told(recipe, folder):
        scores = score_saved(folder, record["kind"], part.texts)
        found = figures(part.targets, scores, labels)
        record["test"] = {"corpus": test.name, "fingerprint": mark, "n": len(part), "figures": found}
        write_record(record, folder)


def _is_finished(folder: Path, keys: Collection[str]) -> bool:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    if not (folder / RECORD).is_file():
        raise BadInput(
            f"'{folder}' is in use by something else",
            allowed="a new or empty folder",
            do="name another folder",
        )
    if read_record(folder)["key"] not in keys:
        raise BadInput(
            f"'{folder}' holds another training (other recipe, texts or start weights)",
            do="name another folder, or remove this one",
        )
    return True


def _start_mark(recipe: Recipe) -> str:
    if recipe.start == TFIDF:
        return TFIDF
    from psycheck.train.frozen import encoder_of
    from psycheck.train.start import start_fingerprint

    return start_fingerprint(encoder_of(recipe) if kind_of(recipe) == "frozen" else recipe.start)


@contextmanager
def _told(recipe: Recipe, folder: Path) -> Iterator[None]:
    """What a library raises for want of memory, disk or an extra becomes one clear error."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(f"training '{recipe.start}'", "train") from error
    except _write_errors() as error:
        raise _unwritten(error, folder) from error
    except (MemoryError, RuntimeError) as error:
        if "failed writing file" in str(error):  # so torch says that a checkpoint did not fit
            raise _unwritten(error, folder) from error
        if not _is_out_of_memory(error):
            raise
        half = max(1, recipe.batch // 2)
        less = (
            f"batch = {half} and accumulate = {recipe.accumulate * 2}, the same update with half the memory"
            if recipe.batch > 1
            else f"max_length below {recipe.max_length}, or a smaller model"
        )
        raise ModelFailure(
            f"out of memory at batch = {recipe.batch}, max_length = {recipe.max_length}",
            where=str(folder),
            do=f"{less}; checkpoints are kept",
        ) from error


def _write_errors() -> tuple[type[Exception], ...]:
    try:
        from safetensors import SafetensorError
    except ImportError:
        return (OSError,)
    return (OSError, SafetensorError)


def _unwritten(error: Exception, folder: Path) -> StoreFailure:
    return StoreFailure(
        f"the training cannot be written ({getattr(error, 'strerror', None) or type(error).__name__})",
        where=str(folder),
        do="make room or name another folder; the same command then goes on from the last checkpoint",
    )


def _is_out_of_memory(error: Exception) -> bool:
    said = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in said or "can't allocate memory" in said
