"""Train a model from a corpus by a recipe, into a folder that `open_model` opens."""

import json
import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, MissingExtra, ModelFailure, PsycheckWarning, StoreFailure, counted
from psycheck.corpora.text_digests import TextDigests, digests_of, texts_in, write_digests
from psycheck.io.writing import private_folder, sole_writer
from psycheck.models.opening import open_model
from psycheck.models.tfidf_file import TFIDF_FILE, save_tfidf
from psycheck.scoring.answers import scores_of
from psycheck.training.card import RECORD, described, numbers, read_record, versions, write_record
from psycheck.training.dev_figures import figures
from psycheck.training.linear import fit_frozen, fit_tfidf
from psycheck.training.parts import AfterEpoch, Data, Fitted, Parts, Progress, held_out, part_of, parts_of
from psycheck.training.recipe import HISTORY, LEARNER, Recipe, kind_of, recipe_of, start_fingerprint, used

# Raised when the same recipe would give other weights.
FORMAT = 1
SPECS = {
    "hf": "hf:{folder}",
    "sklearn": f"sklearn:{{folder}}/{TFIDF_FILE}",
    "frozen": "frozen:{folder}",
    LEARNER: "learner:{folder}",
    HISTORY: "history:{folder}",
}


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished training: its folder, the spec to open it with, and its figures.

    `key` identifies recipe, data and start weights: equal keys, equal training. `curve` holds the dev figures
    after each epoch (for the linear baselines: for each strength tried). `seconds` is the time of the last,
    perhaps resumed, call; `reused` is true if the folder was already complete.
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
    corpus: Data,
    recipe: Recipe,
    folder: Path,
    *,
    test: Corpus | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train on the train split, choose on dev, measure on `test` (or the corpus's test split, if any).

    The folder appears only when it is complete. Until then the checkpoints are in FOLDER.training; after a
    crash the same call resumes from the last one and ends with the same weights. A finished training is not
    repeated. `progress(done, total)` is called after each step.
    """
    folder = Path(folder)
    corpus = _data_as_learned(corpus, recipe)
    trained = fit(corpus, recipe, folder, progress=progress)
    if test is None:
        test = held_out(corpus)
    if test is None:
        return trained

    _measure_on_test(trained, _as_learned(test, recipe), recipe)
    return opened(folder, reused=trained.reused)


def _data_as_learned(data: Data, recipe: Recipe) -> Data:
    """`_as_learned` of a corpus, or of train and dev."""
    if isinstance(data, tuple):
        return _as_learned(data[0], recipe), _as_learned(data[1], recipe)
    return _as_learned(data, recipe)


def _as_learned(corpus: Corpus, recipe: Recipe) -> Corpus:
    """The corpus of a recipe for histories, by author; any other as it is."""
    if kind_of(recipe) != HISTORY:
        return corpus
    # Only then: models of histories rest on symptom models, which take a while to import.
    from psycheck.training.history_models import by_author_as_learned

    return by_author_as_learned(corpus, recipe)


def _measure_on_test(trained: Trained, test: Corpus, recipe: Recipe) -> None:
    """Add the figures on test to the record of a training, unless it has those of these texts."""
    record = read_record(trained.folder)
    fingerprint = test.fingerprint()
    if record["test"] and record["test"]["fingerprint"] == fingerprint:
        return

    part, _ = part_of(test, trained.labels)
    if not len(part):
        raise BadInput(
            f"test corpus '{test.name}' has no text annotated for {', '.join(trained.labels)}",
            code="train.no-annotation",
        )
    with _clear_errors(recipe, trained.folder):
        scores = scores_of(open_model(trained.spec), part.texts)
        entry = {
            "corpus": test.name,
            "fingerprint": fingerprint,
            "n": len(part),
            "figures": figures(part.targets, scores, trained.labels),
        }
        write_record(record | {"test": entry}, trained.folder)


def with_dev(corpus: Corpus, dev: Corpus) -> tuple[tuple[Corpus, Corpus], Corpus | None]:
    """Train of one corpus and dev of another (its split, or all of it where there are no splits), and test.

    Warns if dev texts also occur in train, because dev figures are then too good.
    """
    train = corpus.part("train") if "split" in corpus.table else corpus
    measured = dev.part("dev") if "split" in dev.table else dev
    train_texts = set(train.texts)
    shared = sum(text in train_texts for text in measured.texts)
    if shared:
        occur = "occurs" if shared == 1 else "occur"
        warnings.warn(
            f"{shared:,} of {counted(len(measured), 'text')} of dev '{dev.name}' also "
            f"{occur} in train '{corpus.name}': dev figures are too good",
            PsycheckWarning,
            stacklevel=2,
        )
    test = held_out(corpus)
    return (train, measured), held_out(dev) if test is None else test


def fit(
    corpus: Data,
    recipe: Recipe,
    folder: Path,
    *,
    progress: Progress | None = None,
    after_epoch: AfterEpoch | None = None,
) -> Trained:
    """`train` without test figures; `after_epoch(epoch, figures)` is called per epoch and may raise."""
    parts = parts_of(_data_as_learned(corpus, recipe), recipe)
    start = {"name": recipe.start, "fingerprint": start_fingerprint(recipe)}
    # In older versions the key also depended on values that the start does not use.
    settled = recipe_of(used(recipe))  # equal trainings have equal recipes
    key = training_key(parts, settled, start["fingerprint"])
    older_key = training_key(parts, recipe, start["fingerprint"])
    if _holds_something(folder):
        _refuse_other_content(folder, (key, older_key))
        return opened(folder)

    work = folder.with_name(f"{folder.name}.training") / key[:16]
    partial = work / "partial"
    with sole_writer(work.parent), _clear_errors(recipe, folder):
        if (folder / RECORD).is_file():  # another process has finished it just now
            return fit(corpus, recipe, folder)
        began = time.monotonic()
        shutil.rmtree(partial, ignore_errors=True)
        fitted = _fit(parts, recipe, work / "checkpoints", progress, after_epoch)
        texts = texts_in([*parts.train.texts, *parts.dev.texts])
        # The key of a training is its salt: digests of two models cannot be matched with each other.
        _save_privately(fitted, digests_of(texts, salt=key), partial)

        kind = kind_of(recipe)
        record = {
            "format": FORMAT,
            "key": key,
            "spec": SPECS[kind].format(folder="FOLDER"),  # the folder may be moved
            "labels": list(parts.labels),
            "recipe": used(recipe),
            "seed": recipe.seed,
            "start": start,
            "trained_on": described(parts, recipe.dev_share),
            "test": None,
            "seconds": time.monotonic() - began,
            "versions": versions(),
            "kind": kind,
            "dev": fitted.dev,
            "curve": fitted.curve,
            "window": fitted.window,
        }
        write_record(record, partial)

        # One step that cannot be interrupted: the folder is there with everything in it, or not at all.
        private_folder(folder.parent)
        partial.replace(folder)
        shutil.rmtree(work)
    with suppress(OSError):  # checkpoints of another training stay
        work.parent.rmdir()
    return opened(folder, reused=False)


def _holds_something(folder: Path) -> bool:
    """Whether there is a file of this name, or a folder that is not empty."""
    if not folder.exists():
        return False
    return not folder.is_dir() or any(folder.iterdir())


def _refuse_other_content(folder: Path, keys: tuple[str, ...]) -> None:
    """Refuse a folder that holds anything but the finished training with one of these keys."""
    if not (folder / RECORD).is_file():
        raise BadInput(
            f"'{folder}' holds other files",
            code="train.folder-not-empty",
            allowed="a new or empty folder",
            do="choose another folder",
        )
    if read_record(folder)["key"] not in keys:
        raise BadInput(
            f"'{folder}' holds another training (other recipe, texts or start weights)",
            code="train.other-training",
            do="choose another folder, or remove this one",
        )


def _save_privately(fitted: Fitted, digests: TextDigests, folder: Path) -> None:
    """Save a model so that only its owner can read it: weights may hold words of the training texts."""
    private_folder(folder)
    fitted.save(folder)
    write_digests(digests, folder)
    # Libraries write with the usual rights; until now the folder around them kept everybody else out.
    for file in folder.rglob("*"):
        file.chmod(0o700 if file.is_dir() else 0o600)


def opened(folder: Path, *, reused: bool = True) -> Trained:
    """Read a finished training from its folder."""
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


def training_folder(root: Path, name: str, recipe: Recipe, *corpora: Corpus) -> Path:
    """Where an experiment keeps a training: equal recipes on equal texts have the same folder."""
    fingerprints = [corpus.fingerprint() for corpus in corpora]
    content = json.dumps(recipe.as_dict(), sort_keys=True) + "".join(fingerprints)
    digest = blake2b(content.encode(), digest_size=4).hexdigest()
    return root / "models" / f"{name}-{digest}"


def training_key(parts: Parts, recipe: Recipe, start: str) -> str:
    """A hash of everything that decides the weights: recipe, labels, train, dev and the start weights."""
    # The origin of dev and the name of the start do not matter once their contents are known.
    in_contents = ("dev_share", "start", "labels")
    values = recipe.as_dict()
    for name in in_contents:
        values.pop(name, None)
    data: list[object] = [parts.labels, parts.train.fingerprint(), parts.dev.fingerprint()]
    if kind_of(recipe) == LEARNER:
        # Its folds keep the texts of an author together.
        data.append(parts.train.owners)
    text = json.dumps([FORMAT, kind_of(recipe), values, data, start], sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _fit(
    parts: Parts,
    recipe: Recipe,
    checkpoints: Path,
    progress: Progress | None,
    after_epoch: AfterEpoch | None,
) -> Fitted:
    kind = kind_of(recipe)
    if kind == "hf":
        # torch takes seconds to import, and the linear baselines do without it.
        from psycheck.training.finetune import finetune

        return finetune(
            parts,
            recipe,
            checkpoints,
            progress=progress,
            after_epoch=after_epoch,
        )
    if kind == HISTORY:
        from psycheck.training.history_models import fit_histories

        return fit_histories(parts, recipe, progress)

    if kind == "frozen":
        fitted = fit_frozen(parts, recipe)
    elif kind == LEARNER:
        from psycheck.training.learner_models import fit_learner

        fitted = fit_learner(parts, recipe)
    else:
        pipeline, heads = fit_tfidf(parts, recipe)
        fitted = Fitted(
            dev=heads.dev,
            curve=heads.curve,
            window=None,
            save=lambda folder: save_tfidf(pipeline, folder),
        )
    # A baseline is one step.
    if progress is not None:
        progress(1, 1)
    return fitted


@contextmanager
def _clear_errors(recipe: Recipe, folder: Path) -> Iterator[None]:
    """Replace a library's error about missing memory, disk space or an extra by a clear one."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(f"training '{recipe.start}'", "train") from error
    except Exception as error:
        message = str(error).lower()
        # PyTorch and safetensors raise errors of their own where a file cannot be written.
        unwritten = "failed writing file" in message or type(error).__name__ == "SafetensorError"
        if isinstance(error, OSError) or unwritten:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise StoreFailure(
                f"the training cannot be written ({reason})",
                code="train.cannot-write",
                where=str(folder),
                do="free space or name another folder, then run the same command again to resume",
            ) from error
        names_memory = "out of memory" in message or "can't allocate memory" in message
        out_of_memory = isinstance(error, RuntimeError) and names_memory
        if not isinstance(error, MemoryError) and not out_of_memory:
            raise
        raise ModelFailure(
            f"out of memory at batch = {recipe.batch}, max_length = {recipe.max_length}",
            code="train.out-of-memory",
            where=str(folder),
            do=f"{_less_memory(recipe)}; checkpoints are kept",
        ) from error


def _less_memory(recipe: Recipe) -> str:
    """Settings that need less memory."""
    if recipe.batch == 1:
        return f"max_length below {recipe.max_length}, or a smaller model"
    half_batch = max(1, recipe.batch // 2)
    return (
        f"batch = {half_batch} and accumulate = {recipe.accumulate * 2}, the same update with half the memory"
    )
