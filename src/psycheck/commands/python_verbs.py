"""The verbs as functions: train, compare, diff, score, explain, bias, curate and improve.

Each takes what people hold in memory, names columns by keywords, and hands over to the function that the
command line calls. What works is imported when a verb is called. `psycheck.audit` is in `commands/audit.py`.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack

from psycheck.commands.audit_keywords import open_models
from psycheck.commands.console import shown_progress
from psycheck.core.errors import BadInput, PsycheckWarning, counted
from psycheck.core.model import Encoder
from psycheck.core.progress import Progress
from psycheck.core.run import Run
from psycheck.corpora.column_keywords import KEYWORDS, ColumnKeywords, unknown_keyword
from psycheck.corpora.opening import CorporaLike, CorpusLike, open_corpora, open_corpus

if TYPE_CHECKING:
    import polars as pl

    from psycheck.commands.audit_keywords import ModelsLike
    from psycheck.commands.diff import RunLike
    from psycheck.models.opening import ModelLike
    from psycheck.training.fit import Trained
    from psycheck.training.recipe import Recipe

S = TypeVar("S")


def _split(
    keywords: Mapping[str, Any], settings: Sequence[str], verb: str
) -> tuple[ColumnKeywords, dict[str, Any]]:
    """The keywords that name columns, and those that are settings of the verb."""
    columns: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in KEYWORDS:
            columns[name] = value
        elif name in settings:
            values[name] = value
        else:
            raise unknown_keyword(name, (*KEYWORDS, *settings), verb)
    return ColumnKeywords(**columns), values  # type: ignore[typeddict-item]  # sorted by name above


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


# Train ----------------------------------------------------------------------------------------------------


class RecipeKeywords(TypedDict, total=False):
    """The fields of a recipe (`psycheck.Recipe` says what each means)."""

    epochs: float
    batch: int
    learning_rate: float
    weight_decay: float
    warmup: float
    max_length: int
    accumulate: int
    class_weights: bool
    patience: int
    criterion: Literal["dev_loss", "dev_f1"]
    dev_share: float
    padding: Literal["grouped", "fixed"]
    seed: int
    layers: int
    balanced: bool
    symptom_task: float
    probe: bool
    features: str


class TrainKeywords(ColumnKeywords, RecipeKeywords, total=False):
    """The columns of the corpus, and the recipe."""


def train(
    corpus: CorpusLike,
    *,
    out: str | Path,
    start: str = "minilm",
    preset: str | None = None,
    dev: CorpusLike | None = None,
    search: int = 0,
    progress: Progress | None = None,
    **keywords: Unpack[TrainKeywords],
) -> "Trained":
    """Train a model into the folder `out`, and return it: `audit` takes it as it is.

    `start` is "minilm", a model folder, a hub name, "tfidf+lr" or "encoder+lr"; `preset` names a recipe.
    `dev` is another corpus to choose on. With `search` that many trials choose the recipe first. Without a
    dev split a fifth of the texts is held out, by author. Finished work is not repeated.
    """
    from psycheck.training import search as searching
    from psycheck.training.fit import train as train_recipe
    from psycheck.training.fit import with_dev
    from psycheck.training.parts import DEV_SHARE, Data, dev_name
    from psycheck.training.recipe import Recipe, preset_of, space_of
    from psycheck.training.recipe import preset as recipe_named

    columns, values = _split(keywords, tuple(RecipeKeywords.__annotations__), "train")
    opened = open_corpus(corpus, **columns)
    if columns.get("label") or columns.get("labels"):
        values["labels"] = opened.labels
    preset = preset or preset_of(start)
    recipe = recipe_named(preset, start=start, **values) if preset else Recipe(start=start, **values)

    data: Data = opened
    test = None
    if dev is not None:
        data, test = with_dev(opened, open_corpus(dev, **columns))
    elif "dev_share" not in values and dev_name(opened) is None:
        recipe = recipe.with_(dev_share=DEV_SHARE)

    with shown_progress(progress) as report:

        def step(done: int, total: int) -> None:
            report("training", done, total, 0.0)

        if search:
            return searching.search(
                data,
                recipe,
                Path(out),
                trials=search,
                space=space_of(preset),
                test=test,
                progress=step,
            )
        return train_recipe(data, recipe, Path(out), test=test, progress=step)


# Compare --------------------------------------------------------------------------------------------------


class CompareKeywords(ColumnKeywords, total=False):
    """The columns of the corpora, and the settings of a comparison (`psycheck.Comparing`)."""

    parts: str | Sequence[str]
    texts: int
    sample: int
    permutations: int
    repeats: int
    words: int
    seed: int


_COMPARING = ("parts", "texts", "sample", "permutations", "repeats", "words", "seed")


def compare(
    *corpora: CorporaLike,
    by: str | Sequence[str] = (),
    encoder: str | Encoder | None = None,
    warn: bool = False,
    show_texts: bool = False,
    split: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[CompareKeywords],
) -> Run:
    """Measure how far apart corpora, or the classes of one (`by`), are; with `warn`, find leaks in each.

    `encoder` is "minilm", "hf:FOLDER", "tfidf" or an Encoder; None is MiniLM if installed, else TF–IDF.
    """
    from psycheck.commands.compare import compare_corpora
    from psycheck.corpora.distances import Comparing

    columns, values = _split(keywords, _COMPARING, "compare")
    if "parts" in values:
        values["parts"] = _listed(values["parts"])
    # Opened together, so that frames without a name are numbered.
    together: Any = corpora[0] if len(corpora) == 1 else list(corpora)
    opened = open_corpora(together, split=split, **columns)
    with shown_progress(progress) as report:
        return compare_corpora(
            opened,
            by=_listed(by),
            encoder=encoder,
            warn=warn,
            show_texts=show_texts,
            out=out,
            how=Comparing(**values),
            progress=report,
        )


# Diff -----------------------------------------------------------------------------------------------------


def diff(
    *runs: "RunLike | Sequence[RunLike]",
    labels: str | Sequence[str] = (),
    corpora: CorpusLike | Sequence[CorpusLike] = (),
    gates: str | Sequence[str] = (),
    show_texts: bool = False,
    out: str | Path | None = None,
) -> Run:
    """Compare the models of finished audits on the texts that they share; `gates` bound the differences.

    A run is the object that `audit` returns, or its folder. `corpora` says where texts are now, if they were
    moved.
    """
    from psycheck.commands.diff import diff as diff_runs

    several: list[Any] = []
    for entry in runs:
        several += entry if isinstance(entry, list | tuple) else [entry]
    moved: Any = corpora if isinstance(corpora, list | tuple) else [corpora]
    return diff_runs(
        several,
        labels=_listed(labels),
        corpora=moved,
        gates=_listed(gates),
        show_texts=show_texts,
        out=out,
    )


# Score ----------------------------------------------------------------------------------------------------


class ScoreKeywords(ColumnKeywords, total=False):
    """The columns of the corpus, and what may be sent to models that reply in words (`psycheck.Limits`)."""

    allow_remote: bool
    max_requests: int | None
    max_cost: float | None
    ask_again: Literal["unreadable"] | None


_LIMITS = ("allow_remote", "max_requests", "max_cost", "ask_again")


def score(
    model: "ModelsLike",
    corpus: CorpusLike,
    *,
    threshold: float | Literal["dev"] | None = None,
    split: str | None = None,
    store: str | Path | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[ScoreKeywords],
) -> "pl.DataFrame":
    """A frame of ids with a score per label (null: no usable answer) and the hash of each text.

    With a `threshold`, or "dev" for the best of the dev split, it also has a column NAME_silver of 0 and 1
    for each label. A warning says how many texts could not be scored.
    """
    from psycheck.commands.score import score_corpus
    from psycheck.scoring.limits import Limits

    columns, values = _split(keywords, _LIMITS, "score")
    models = open_models(model, positive=columns.get("positive"))
    if len(models) != 1:
        raise BadInput(
            f"there are {len(models)} models to score with",
            code="score.several-models",
            allowed="one model",
            do="call score() for each of them",
        )
    opened = open_corpus(corpus, split=split, **columns)
    with shown_progress(progress) as report:
        table, failed, _ = score_corpus(
            models[0],
            opened,
            threshold=threshold,
            store=None if store is None else Path(store),
            progress=report,
            limits=Limits(**values),
            engine=engine,
        )
    if failed:
        warnings.warn(f"{counted(failed, 'text')} could not be scored", PsycheckWarning, stacklevel=2)
    return table


# Explain --------------------------------------------------------------------------------------------------


class ExplainKeywords(ColumnKeywords, total=False):
    """The columns of the corpus, and from how many posts an author writes about a symptom."""

    min_posts: int


def explain(
    corpus: CorpusLike,
    *,
    model: "ModelLike | None" = None,
    authors: str | Sequence[str] = (),
    symptoms: str = "symptoms:default",
    tags: "str | Path | pl.DataFrame | pl.LazyFrame | None" = None,
    graph: str | Path | None = None,
    show_texts: bool = False,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[ExplainKeywords],
) -> Run:
    """Explain the posts of each author by symptoms, and find suspect labels; `authors` chooses some.

    With a `model` of histories or of texts its scores are explained, too.

    `symptoms` is the symptom model, `tags` what `psycheck symptoms tag` wrote, instead of it.
    """
    from psycheck.commands.explain import explain_people
    from psycheck.symptoms.explanation import Explaining

    columns, values = _split(keywords, ("min_posts",), "explain")
    with shown_progress(progress) as report:
        return explain_people(
            open_corpus(corpus, **columns),
            model=model,
            authors=_listed(authors),
            symptoms=symptoms,
            tags=tags,
            graph=graph,
            show_texts=show_texts,
            out=out,
            how=Explaining(**values),
            progress=report,
        )


# Bias -----------------------------------------------------------------------------------------------------


def bias(
    encoder: str | Path | Encoder,
    *,
    lists: str | Sequence[str] | None = None,
    words: str | Path | Sequence[str | Path] = (),
    sentence: str | None = None,
    centring: Literal["pairs", "differences"] = "pairs",
    lengths: Literal["unit", "raw"] = "unit",
    random_lists: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
) -> Run:
    """Measure Direct Bias: whether words of depression or anxiety are closer to one gender in an encoder."""
    from psycheck.audits.direct_bias.findings import Biasing
    from psycheck.commands.bias import encoder_bias

    how = Biasing(centring=centring, lengths=lengths, seed=seed)
    if random_lists is not None:
        how = Biasing(centring=centring, lengths=lengths, seed=seed, random_lists=random_lists)
    return encoder_bias(
        encoder,
        lists=None if lists is None else _listed(lists),
        words=[words] if isinstance(words, str | PathLike) else words,
        sentence=sentence,
        out=out,
        how=how,
    )


# Curate ---------------------------------------------------------------------------------------------------


class CurateKeywords(TypedDict, total=False):
    """What to keep of dumps (`psycheck.corpora.curate.settings.Curating` says what each means)."""

    conditions: Sequence[str]
    subreddits: Sequence[str]
    since: str | None
    until: str | None
    controls: bool
    min_words: int
    min_posts: int
    most_posts: int
    rank: Sequence[str]
    nrc: Path | None
    top_k: int
    sample: int
    control_authors: int
    control_posts: int
    near: float
    split: Mapping[str, float]
    split_by: Sequence[Literal["author", "subreddit", "time"]]
    hash_ids: bool
    seed: int


def curate(
    dumps: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    corpus: str | Path | None = None,
    salt: str | Path | None = None,
    **keywords: Unpack[CurateKeywords],
) -> Run:
    """Make a corpus from dumps of posts, and write it with its funnel into the folder `out`."""
    from psycheck.commands.curate import curate_dumps
    from psycheck.corpora.curate.settings import Curating
    from psycheck.io.settings import read_settings

    known = tuple(CurateKeywords.__annotations__)
    for name in keywords:
        if name not in known:
            raise unknown_keyword(name, known, "curate")
    return curate_dumps(
        [dumps] if isinstance(dumps, str | PathLike) else dumps,
        out=out,
        corpus=corpus,
        salt=salt,
        how=read_settings(Curating, dict(keywords)),
    )


# Improve --------------------------------------------------------------------------------------------------


class ImproveKeywords(ColumnKeywords, total=False):
    """The columns of the corpora, and how texts are augmented (`psycheck.Retraining`)."""

    suite: str
    unseen: str
    which: Literal["all", "below_mean"]
    share: float
    agreeing: bool
    balance: bool
    control: bool


_RETRAINING = ("suite", "unseen", "which", "share", "agreeing", "balance", "control")


def improve(
    start: "str | Path | Recipe | Trained",
    corpus: CorpusLike,
    others: CorporaLike = (),
    *,
    out: str | Path,
    how: Literal["augment", "ground"] = "augment",
    augment: Literal["deck", "gender"] = "deck",
    swap: str | Sequence[str] | None = None,
    swap_person: Literal["all", "main"] | None = None,
    seeds: int = 1,
    texts: int | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
    **keywords: Unpack[ImproveKeywords],
) -> Run:
    """Retrain a model on what it failed, and measure it on its corpus and on `others`.

    `start` is what `train` returned or wrote from this corpus, or a recipe. `say` gets a line about what is
    done next.
    """
    from psycheck.commands.improve import improve as improve_model
    from psycheck.core.progress import quiet
    from psycheck.training.fit import Trained

    columns, changes = _split(keywords, _RETRAINING, "improve")
    opened_others = open_corpora(others, **columns) if others else []
    with shown_progress(progress) as report:
        return improve_model(
            start.folder if isinstance(start, Trained) else start,
            open_corpus(corpus, **columns),
            opened_others,
            out=out,
            how=how,
            augment=augment,
            swap=None if swap is None else _listed(swap),
            swap_person=swap_person,
            seeds=seeds,
            texts=texts,
            store=store,
            progress=report,
            say=say or quiet,
            **changes,
        )
