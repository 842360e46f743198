"""How gender bias reaches a classifier: four training sets, several learners, each test text worded twice."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from psycheck import (
    Corpus,
    CorpusLike,
    Encoder,
    Finding,
    Findings,
    LearnerGrid,
    PsycheckError,
    Recipe,
    Run,
    encoder_bias,
    holm_families,
    learner_grid,
    learner_names,
    open_corpus,
    open_encoder,
    open_run,
    run_environment,
    save_run,
    writes_run,
)
from psycheck.core.errors import BadInput
from psycheck.core.progress import Progress, Say, quiet, silent
from psycheck.report.studies.gender_tables import ORIGINAL, paper_notes
from psycheck.studies.gender_classifiers import (
    TFIDF,
    TFIDF_TITLE,
    Setting,
    encoded,
    finetune,
    search_learners,
    title_of,
)
from psycheck.studies.gender_draws import Balance, Cut, Training, cut, fewer, training_of
from psycheck.studies.gender_rows import AUDIT, Decided, changes, figures, pair_rows, unseen_notes
from psycheck.studies.gender_texts import Gendered, How, gendered_texts, label_of
from psycheck.studies.gender_transfer import transfer_findings
from psycheck.text.gender.edits import Scope

EncoderLike = str | Path | Encoder
PRONOUNS = Scope()
# The p-values that are adjusted by Holm, seed by seed.
P_VALUES = ("mcnemar_p", "fnr_mcnemar_p", "flip_rate_change_p")
DIRECT_BIAS = ("direct_bias", "direct_bias_p", "signed_mean")


@writes_run("corpus", "encoder")
def study_gender(
    corpus: CorpusLike,
    *,
    out: str | Path,
    encoder: EncoderLike | Sequence[EncoderLike] = "minilm",
    names: Sequence[str] | None = None,
    recipes: Sequence[Recipe] = (),
    label: str | None = None,
    record: str | None = None,
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

    `names` are the learners of the grids (default: all), on the vectors of `encoder`, or of each of several;
    "tfidf" stands for TF–IDF of words, which knows nothing but the training texts. `recipes` are further
    models to fine-tune. `record` names the group of the corpus that says whom a text is about; without it
    the words do. `scope` chooses the words to swap, `how` the wording of neutral texts; `balance` and `each`
    how training texts are drawn, once per seed; `pairs` limits the test; `direct_bias` also measures that of
    the encoders, and sets it against its effect on the classifiers. The folder gets `study.md`, each table
    next to the published one, and `pairs.parquet`, every decision by id. Vectors and decisions are kept in
    it: call again after an interruption to resume.
    """
    opened = open_corpus(corpus)
    names = learner_names() if names is None else names
    grids = [learner_grid(name) for name in names]
    titles = [learner.title for learner in grids] + [title_of(recipe) for recipe in recipes]
    _refuse_impossible(titles, seeds, pairs)

    texts = gendered_texts(opened, label_of(opened, label), scope, how, record=record)
    cuts = _draw_cuts(texts, balance=balance, each=each, pairs=pairs, seeds=seeds)

    folder = Path(out)
    trainings = [training_of(texts, one_cut, seed) for seed, one_cut in enumerate(cuts)]
    # Models that are fine-tuned have vectors of their own.
    vectors = opened_encoders(encoder) if grids else [None]
    rows: list[Decided] = []
    encoder_notes: list[str] = []
    for place, opened_encoder in enumerate(vectors):
        setting, notes = _encode_all(Setting(folder, opened_encoder, progress, say), trainings)
        rows += _classify_pairs(setting, grids, recipes if place == 0 else (), trainings)
        encoder_notes += notes
    encoders = [opened_encoder for opened_encoder in vectors if opened_encoder is not None]

    run = Run(
        plan={
            "verb": "study gender",
            "models": [{"name": title, "labels": [texts.label]} for title in titles],
            "corpora": [_described(opened, texts)],
            "threshold": 0.5,
            "cuts": [_described_cut(one_cut) for one_cut in cuts],
            **_described_learners(grids, recipes, vectors),
            "balance": balance,
            "record": record,
            "neutral": how,
            "scope": _described_scope(scope),
            "seeds": seeds,
            "chosen": _chosen_parameters(rows),
        },
        environment=run_environment(encoders, [opened]),
        findings=Findings(_findings(rows, texts)),
        tables={"pairs": pair_rows(rows)},
        notes=(
            *_notes(opened, texts, cuts),
            *unseen_notes(rows),
            *encoder_notes,
            *_convergence_notes(rows),
            *paper_notes(),
        ),
        folder=folder,
    )
    if direct_bias and encoders:
        for one_encoder in encoders:
            # Of one encoder in the folder of older versions.
            place_of_bias = folder / "bias" if len(encoders) == 1 else folder / "bias" / one_encoder.name
            run = _with_direct_bias(run, one_encoder, place_of_bias)
        transfer = transfer_findings(run.findings, [one_encoder.name for one_encoder in encoders])
        run = replace(run, findings=Findings((*run.findings, *transfer)))
    return save_run(run, folder)


def opened_encoders(encoder: EncoderLike | Sequence[EncoderLike]) -> list[Encoder | None]:
    """The encoders, each with its own name; None stands for TF–IDF."""
    several = isinstance(encoder, Sequence) and not isinstance(encoder, str)
    specs: Sequence[EncoderLike] = encoder if several else [encoder]  # type: ignore[assignment, list-item]
    opened = [None if spec == TFIDF else open_encoder(spec) for spec in specs]
    names = [TFIDF if one_encoder is None else one_encoder.name for one_encoder in opened]
    if len(set(names)) < len(names):
        raise BadInput(
            "two of the encoders have the same name",
            code="study.same-encoder-name",
            allowed="each encoder once",
            do="give one of them a name: vectors:FILE?name=NAME",
        )
    return opened


def _draw_cuts(
    texts: Gendered,
    *,
    balance: Balance,
    each: int | None,
    pairs: int | None,
    seeds: int,
) -> list[Cut]:
    """Train and test of every seed."""
    cuts = []
    for seed in range(seeds):
        full_cut = cut(texts, balance=balance, each=each, seed=seed)
        cuts.append(fewer(texts, full_cut, pairs, seed))
    return cuts


def _encode_all(setting: Setting, trainings: Sequence[Training]) -> tuple[Setting, list[str]]:
    """The setting with the vectors of all wordings, and notes; texts that seeds share are encoded once."""
    every_text: list[str] = []
    for training in trainings:
        every_text += training.every_text()
    vectors, notes = encoded(setting.encoder, every_text, setting.store, setting.progress)
    return replace(setting, vectors=vectors), notes


def _classify_pairs(
    setting: Setting,
    grids: Sequence[LearnerGrid],
    recipes: Sequence[Recipe],
    trainings: Sequence[Training],
) -> list[Decided]:
    """The decisions of every learner and every fine-tuned model, seed by seed."""
    rows: list[Decided] = []
    for training in trainings:
        rows += search_learners(setting, grids, training)
        for recipe in recipes:
            # Another seed draws other texts, and also starts from other weights.
            seeded_recipe = recipe.with_(
                labels=[training.texts.label],
                seed=recipe.seed + training.seed,
            )
            rows += finetune(setting, seeded_recipe, training)
    return rows


def _convergence_notes(rows: Sequence[Decided]) -> list[str]:
    return [f"{row.name}: the last fit reached its iteration limit" for row in rows if not row.converged]


def _described_scope(scope: Scope) -> dict[str, Any]:
    return {
        "nouns": scope.nouns,
        "titles": scope.titles,
        "names": scope.names,
        "person": scope.person,
    }


def _refuse_impossible(titles: Sequence[str], seeds: int, pairs: int | None) -> None:
    if not titles:
        raise BadInput(
            "the study has no learner",
            code="study.no-learner",
            allowed=", ".join(learner_names()),
        )
    if len(set(titles)) < len(titles):
        raise BadInput(
            "two of the learners have the same name",
            code="study.same-learner-name",
            allowed="one of each",
        )
    if seeds < 1:
        raise BadInput(f"seeds = {seeds}", code="study.too-few-seeds", allowed="1 or more")
    if pairs is not None and pairs < 2:
        raise BadInput(f"pairs = {pairs}", code="study.too-few-pairs", allowed="2 or more")


def _described(corpus: Corpus, texts: Gendered) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "texts": len(corpus),
        "labels": [texts.label],
        "left_out": {**corpus.left_out, **texts.left_out},
    }


def _described_cut(one_cut: Cut) -> dict[str, int]:
    return {"train": len(one_cut.train), "pairs": len(one_cut.test), "shared": one_cut.shared}


def _described_grid(learner: LearnerGrid) -> dict[str, Any]:
    tuned = {name: list(values) for name, values in learner.tuned.items()}
    return {"fixed": dict(learner.fixed), "tuned": tuned}


def _described_learners(
    grids: Sequence[LearnerGrid], recipes: Sequence[Recipe], encoders: Sequence[Encoder | None]
) -> dict[str, Any]:
    names = [TFIDF_TITLE if one_encoder is None else one_encoder.name for one_encoder in encoders]
    return {
        "grids": {learner.name: _described_grid(learner) for learner in grids},
        "recipes": [recipe.as_dict() for recipe in recipes],
        "encoder": ", ".join(names) if grids else "their own vectors",
    }


def _chosen_parameters(rows: Sequence[Decided]) -> dict[str, Any]:
    """What each search chose; models that are fine-tuned search nothing."""
    return {row.name: row.parameters for row in rows if row.parameters}


def _findings(rows: Sequence[Decided], texts: Gendered) -> list[Finding]:
    """The figures of every classifier, its changes against original, and the share of texts used."""
    findings: list[Finding] = []
    for row in rows:
        findings += figures(row)

    # Every training is compared with the one on original texts, by the same learner on the same draw.
    originals = {(row.learner, row.encoder, row.seed): row for row in rows if row.experiment == ORIGINAL}
    for row in rows:
        if row.experiment != ORIGINAL:
            findings += changes(row, originals[row.learner, row.encoder, row.seed])

    # Each kind of test over learners and trainings is one family, within a seed
    # (docs/decisions/10-gender-measures.md).
    for measure in P_VALUES:
        findings += holm_families(findings, measure, ("seed",))

    total = len(texts) + sum(texts.left_out.values())
    findings.append(
        Finding(
            "gendered_share",
            len(texts) / total,
            total,
            where={"audit": AUDIT, "corpus": texts.corpus, "label": texts.label},
            counts={reason.replace(" ", "_"): count for reason, count in texts.left_out.items()},
            examples=texts.undecided,
        )
    )
    return findings


def _with_direct_bias(run: Run, encoder: Encoder, place: Path) -> Run:
    """The run with Direct Bias of the depression words in the vectors, or with a note why it is missing."""

    def without(reason: str) -> Run:
        return replace(run, notes=(*run.notes, f"Direct Bias of {encoder.name} is missing: {reason}"))

    # Saved first, so that a failure from here on cannot lose what was trained.
    save_run(without("the study ended before it was measured"), run.folder)
    try:
        bias = _finished_bias(encoder, place)
        if bias is None:
            bias = encoder_bias(encoder, lists=["depression"], out=place)
    except PsycheckError as error:
        # An encoder that cannot be measured must not cost the study its tables.
        return without(error.what)

    findings = []
    for finding in bias.findings:
        if finding.measure in DIRECT_BIAS:
            findings.append(replace(finding, where={**finding.where, "audit": AUDIT}))
    return replace(run, findings=Findings((*run.findings, *findings)))


def _finished_bias(encoder: Encoder, folder: Path) -> Run | None:
    """The Direct Bias of this very encoder, if an earlier call measured it."""
    if not (folder / "findings.jsonl").is_file():
        return None
    bias = open_run(folder)
    # A folder of the same name may hold the figures of another encoder.
    measured_models = bias.environment.get("models", {}).values()
    fingerprints = [model.get("fingerprint") for model in measured_models]
    return bias if encoder.fingerprint in fingerprints else None


def _notes(corpus: Corpus, texts: Gendered, cuts: Sequence[Cut]) -> list[str]:
    notes = [
        *corpus.notes,
        *corpus.clustering(),
        "the published figures are of other corpora and vectors than ours",
        f"{texts.corpus}: {len(texts)} of {len(corpus)} texts are about one gender and can be swapped "
        "completely",
    ]
    if texts.recorded:
        notes.append(
            f"{texts.corpus}: the gender of {texts.recorded} of them is that of the record; the words of "
            f"{texts.contradicted} of these name the other one alone"
        )
    unpaired = int((~texts.paired).sum())
    if unpaired:
        notes.append(
            f"{texts.corpus}: {unpaired} texts without a gendered word are trained on and make no test pair"
        )
    notes += [f"{texts.corpus}: {count} left out ({reason})" for reason, count in texts.left_out.items()]
    if texts.besides:
        notes.append(
            f"{texts.corpus}: {texts.besides} of the {len(texts)} also name a gender by noun or title, which "
            "stays in every wording, so a model can still use it unless they are swapped too"
        )

    first = cuts[0]
    notes.append(f"trained on {len(first.train)} texts, tested on {len(first.test)} pairs, with each seed")
    if any(one_cut.shared for one_cut in cuts):
        notes.append(f"{first.shared} texts are not tested on because their author is trained on")
    if any(one_cut.beyond for one_cut in cuts):
        notes.append(f"{first.beyond} further texts are not tested on: the number of pairs is limited")
    if any(part not in ("", "train", "test") for part in texts.parts):
        notes.append("splits other than test are trained on: the search cuts its own folds")
    return notes
