"""How gender bias reaches a classifier: four training sets, several learners, each test text worded twice."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from psycheck.audits.summary import holm_families
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, PsycheckError
from psycheck.experiments import gender_classifiers as classifiers
from psycheck.experiments import gender_texts as wording
from psycheck.experiments.arms import Say, quiet
from psycheck.experiments.gender_classifiers import TFIDF, Setting, title_of
from psycheck.experiments.gender_rows import AUDIT, Decided, changes, figures, pair_rows, unseen_notes
from psycheck.experiments.gender_texts import Balance, Cut, Gendered, How
from psycheck.finding import Finding, Findings
from psycheck.model import Encoder
from psycheck.models.open import open_encoder
from psycheck.report.studies.gender import ORIGINAL, paper_notes
from psycheck.run import Run
from psycheck.runs.environment import environment_of
from psycheck.runs.folder import open_run, writes_run
from psycheck.runs.pages import save
from psycheck.scoring.engine import Progress, silent
from psycheck.text.gender.edits import Scope
from psycheck.train.grids import grid, learners
from psycheck.train.recipe import Recipe

PRONOUNS = Scope()


@writes_run("corpus", "encoder")
def study_gender(
    corpus: CorpusLike,
    *,
    out: str | Path,
    encoder: str | Path | Encoder = "minilm",
    names: Sequence[str] | None = None,
    recipes: Sequence[Recipe] = (),
    label: str | None = None,
    scope: Scope = PRONOUNS,
    how: How = "they",
    balance: Balance = "both",
    each: int | None = None,
    pairs: int | None = None,
    seeds: int = 1,
    direct_bias: bool = True,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Train on original, swapped, neutralised and augmented texts, and classify every test text twice.

    `names` are the learners of the grids (default: all), on the vectors of `encoder`; "tfidf" stands for
    TF–IDF of words, which knows nothing but the training texts. `recipes` are further models to fine-tune.
    `scope` chooses the words to swap, `how` the wording of neutral texts; `balance` and `each` how training
    texts are drawn, once per seed; `pairs` limits the test; `direct_bias` also measures that of the encoder.
    The folder gets `study.md`, each table next to the published one, and `pairs.parquet`, every decision by
    id. Vectors and decisions are kept in it: call again after an interruption to resume.
    """
    opened = open_corpus(corpus)
    grids = [grid(name) for name in (learners() if names is None else names)]
    titles = [one.title for one in grids] + [title_of(recipe) for recipe in recipes]
    if not titles:
        raise BadInput("the study has no learner", allowed=", ".join(learners()))
    if len(set(titles)) < len(titles):
        raise BadInput("two of the learners have the same name", allowed="one of each")
    if seeds < 1:
        raise BadInput(f"seeds = {seeds}", allowed="1 or more")
    if pairs is not None and pairs < 2:
        raise BadInput(f"pairs = {pairs}", allowed="2 or more")
    texts = wording.gendered_texts(opened, wording.label_of(opened, label), scope, how)
    cuts = [wording.cut(texts, balance=balance, each=each, seed=k) for k in range(seeds)]
    cuts = [wording.fewer(texts, one, pairs, k) for k, one in enumerate(cuts)]
    folder = Path(out)
    reader = None if encoder == TFIDF or not grids else open_encoder(encoder)
    trainings = [wording.training_of(texts, one, k) for k, one in enumerate(cuts)]
    setting = Setting(folder, reader, progress, say)
    every_text = [text for training in trainings for text in training.every_text()]
    vectors, unknown = classifiers.encoded(reader, every_text, setting.store, progress)
    setting = replace(setting, vectors=vectors)
    rows: list[Decided] = []
    for training in trainings:
        rows += classifiers.search_learners(setting, grids, training)
        for recipe in recipes:
            seeded = recipe.with_(labels=[texts.label], seed=recipe.seed + training.seed)
            rows += classifiers.finetune(setting, seeded, training)
    run = Run(
        plan={
            "verb": "study gender",
            "models": [{"name": title, "labels": [texts.label]} for title in titles],
            "corpora": [
                {
                    "name": opened.name,
                    "texts": len(opened),
                    "labels": [texts.label],
                    "left_out": {**opened.left_out, **texts.left_out},
                }
            ],
            "threshold": 0.5,
            "cuts": [{"train": len(c.train), "pairs": len(c.test), "shared": c.shared} for c in cuts],
            "grids": {
                one.name: {"fixed": dict(one.fixed), "tuned": {k: list(v) for k, v in one.tuned.items()}}
                for one in grids
            },
            "recipes": [recipe.as_dict() for recipe in recipes],
            "encoder": setting.vectors_name if grids else "their own vectors",
            "balance": balance,
            "neutral": how,
            "scope": {key: getattr(scope, key) for key in ("nouns", "titles", "names", "person")},
            "seeds": seeds,
            "chosen": {row.name: row.parameters for row in rows if row.parameters},
        },
        environment=environment_of([reader] if reader is not None else [], [opened]),
        findings=Findings(_findings(rows, texts)),
        tables={"pairs": pair_rows(rows)},
        notes=(
            *_notes(opened, texts, cuts),
            *unseen_notes(rows),
            *unknown,
            *(f"{row.name}: the last fit reached its iteration limit" for row in rows if not row.converged),
            *paper_notes(),
        ),
        folder=folder,
    )
    if direct_bias and reader is not None:
        run = _with_direct_bias(run, reader, folder)
    return save(run, folder)


def _findings(rows: Sequence[Decided], texts: Gendered) -> list[Finding]:
    out = [f for row in rows for f in figures(row)]
    original = {(row.learner, row.seed): row for row in rows if row.experiment == ORIGINAL}
    for row in rows:
        if row.experiment != ORIGINAL:
            out += changes(row, original[row.learner, row.seed])
    for measure in ("mcnemar_p", "fnr_mcnemar_p", "flip_rate_change_p"):
        out += holm_families(out, measure, ("seed",))
    total = len(texts) + sum(texts.left_out.values())
    where = {"audit": AUDIT, "corpus": texts.corpus, "label": texts.label}
    counts = {why.replace(" ", "_"): n for why, n in texts.left_out.items()}
    share = len(texts) / total
    out.append(Finding("gendered_share", share, total, None, where, counts, texts.undecided))
    return out


def _with_direct_bias(run: Run, encoder: Encoder, folder: Path) -> Run:
    """The run with Direct Bias of the depression words in the vectors, or with a note why it is missing."""
    from psycheck.verbs.bias import encoder_bias

    def without(why: str) -> Run:
        return replace(run, notes=(*run.notes, f"Direct Bias of {encoder.name} is missing: {why}"))

    # Saved first, so that a failure from here on cannot lose what was trained.
    save(without("the study ended before it was measured"), folder)
    place = folder / "bias"
    try:
        bias = open_run(place) if (place / "findings.jsonl").is_file() else None
        known = bias.environment.get("models", {}) if bias else {}
        if bias is None or encoder.fingerprint not in [one.get("fingerprint") for one in known.values()]:
            bias = encoder_bias(encoder, lists=["depression"], out=place)
    except PsycheckError as error:
        return without(error.what)
    wanted = ("direct_bias", "direct_bias_p")
    found = [replace(f, where={**f.where, "audit": AUDIT}) for f in bias.findings if f.measure in wanted]
    return replace(run, findings=Findings((*run.findings, *found)))


def _notes(corpus: Corpus, texts: Gendered, cuts: Sequence[Cut]) -> list[str]:
    total = len(corpus)
    out = [
        *corpus.notes,
        *corpus.clustering(),
        "the published figures are of other corpora and vectors than ours",
        f"{texts.corpus}: {len(texts)} of {total} texts name one gender and can be swapped completely",
    ]
    out += [f"{texts.corpus}: {n} left out ({why})" for why, n in texts.left_out.items()]
    if texts.besides:
        out.append(
            f"{texts.corpus}: {texts.besides} of the {len(texts)} also name a gender by noun or title, which "
            "stays in every wording, so a model can still use it unless they are swapped too"
        )
    first = cuts[0]
    out.append(f"trained on {len(first.train)} texts, tested on {len(first.test)} pairs, with each seed")
    if any(one.shared for one in cuts):
        out.append(f"{first.shared} texts are not tested on because their author is trained on")
    if any(one.beyond for one in cuts):
        out.append(f"{first.beyond} further texts are not tested on: the number of pairs is limited")
    if any(part not in ("", "train", "test") for part in texts.parts):
        out.append("splits other than test are trained on: the search cuts its own folds")
    return out
