"""How often the pages of `diff`, `improve`, histories and cautions claim what is not so.

Two models of one quality, arms that learned nothing, histories whose rates lie exactly at the bound of a
claim, and labels that have nothing to do with the texts. Called by claims.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl

from claim_rates import Share, counted, merged
from diff import DESIGNS as PAIRS_OF_MODELS
from diff import rules as rules_of_pair
from psycheck.audits.history_edits import Histories
from psycheck.audits.history_evidence import EVIDENCE, OTHER_POST
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus, History
from psycheck.core.finding import Findings
from psycheck.core.run import Run
from psycheck.corpora.cautions import cheap_cautions
from psycheck.corpora.posting_histories import by_author
from psycheck.demo.opening import DOMAINS, open_demo
from psycheck.models.opening import open_model
from psycheck.report.history_edits import history_headlines
from psycheck.report.studies.improve_tables import improvement_headlines
from psycheck.statistics.thresholds import best_threshold
from psycheck.training.arm_figures import ArmResult, Scored, improvement_findings

Alarms = dict[str, dict[str, Share]]
OF_DIFF = ("diff.better", "diff.higher", "diff.mixed", "diff.cue", "diff.length")
OF_IMPROVE = ("improve.rises", "improve.falls", "improve.mixed")
OF_CAUTIONS = (
    "caution.single_word",
    "caution.keyword_label",
    "caution.encoding_debris",
    "caution.label_of_source",
    "caution.length",
)


def false_alarms(audits: int, first: int) -> Alarms:
    """By rule and setting: how often it is printed where it is false."""
    return merged(
        of_diff(audits, first),
        of_improve(audits, first),
        of_histories(audits, first),
        of_cautions(audits, first),
    )


def of_diff(audits: int, first: int) -> Alarms:
    """Two or more models that are equally noisy."""
    alarms: Alarms = {}
    for design in PAIRS_OF_MODELS:
        printed = [rules_of_pair(design, first + k) for k in range(audits)]
        for rule, share in counted(printed, OF_DIFF).items():
            alarms.setdefault(rule, {})[f"equal models, {design.name}"] = share
    return alarms


@dataclass(frozen=True, slots=True)
class Tests:
    """The corpora that arms are tested on; `authors` 0 means that each text is its own."""

    name: str
    texts: int
    corpora: int = 3
    arms: int = 1
    seeds: int = 2
    prevalence: float = 0.5
    authors: int = 0


TESTS = (
    Tests("300 texts, 3 corpora", 300),
    Tests("60 texts, 3 corpora", 60),
    Tests("300 texts, 10 % annotated 1", 300, prevalence=0.1),
    Tests("40 authors, 400 texts", 400, authors=40),
    Tests("300 texts, 6 corpora, 3 arms", 300, corpora=6, arms=3),
)


def of_improve(audits: int, first: int) -> Alarms:
    """Arms that are as good as the unchanged model."""
    alarms: Alarms = {}
    for tests in TESTS:
        printed = []
        for k in range(audits):
            probe = Corpus.of("probe", ["a text"])
            findings = improvement_findings(_equal_arms(tests, first + k), probe)
            printed.append({claim.rule for claim in improvement_headlines(findings)})
        for rule, share in counted(printed, OF_IMPROVE).items():
            alarms.setdefault(rule, {})[f"equal arms, {tests.name}"] = share
    return alarms


def _equal_arms(tests: Tests, seed: int) -> list[ArmResult]:
    """The unchanged model and arms that see the annotation through noise of the same size."""
    random = np.random.default_rng(seed)
    targets_and_units = [_targets_and_units(tests, random) for _ in range(tests.corpora)]
    arms = []
    for arm in ("plain", "augmented", "control", "other")[: tests.arms + 1]:
        for training_seed in range(tests.seeds):
            rows = tuple(
                _scored(tests, random, arm, training_seed, corpus, targets, units)
                for corpus, (targets, units) in enumerate(targets_and_units)
            )
            arms.append(ArmResult(arm, training_seed, open_model(_unused), rows, (), {}, {}))
    return arms


def _targets_and_units(tests: Tests, random: np.random.Generator) -> tuple[FloatArray, np.ndarray]:
    units = random.integers(0, tests.authors, tests.texts) if tests.authors else np.arange(tests.texts)
    targets = (random.random(tests.texts) < tests.prevalence).astype(float)
    return targets, units


def _scored(
    tests: Tests,
    random: np.random.Generator,
    arm: str,
    seed: int,
    corpus: int,
    targets: FloatArray,
    units: np.ndarray,
) -> Scored:
    """The scores of an arm on a test: authors are partly alike in how well they are read."""
    dev_targets = (random.random(200) < tests.prevalence).astype(float)
    dev_scores = _noisy(dev_targets, random.normal(0, 1, 200))
    threshold = best_threshold(dev_targets, dev_scores)
    of_author = random.normal(0, 0.6, int(units.max()) + 1)[units] if tests.authors else 0.0
    return Scored(
        audit="improve",
        arm=arm,
        model="model",
        trained_on="corpus 0",
        corpus=f"corpus {corpus}",
        label="depression",
        seed=seed,
        threshold=threshold,
        targets=targets,
        scores=_noisy(targets, of_author + random.normal(0, 0.8, len(targets))),
        units=units,
    )


def _noisy(targets: FloatArray, noise: FloatArray) -> FloatArray:
    scores: FloatArray = 1 / (1 + np.exp(-(2 * targets - 1 + noise)))
    return scores


def _unused(texts: Sequence[str]) -> list[float]:
    """The model of an arm, which nobody asks."""
    return [0.5 for _ in texts]


SYMPTOM = "so empty and tired"
Reader = Callable[[History], float]


@dataclass(frozen=True)
class HistoryScores:
    """Scores of a function of a history."""

    read_history: Reader
    model: str = "planted"
    labels: tuple[str, ...] = ("depression",)

    @property
    def traits(self) -> ScoreTraits:
        """Scores are decided at 0.5."""
        return ScoreTraits()

    def of(self, items: Sequence[History]) -> FloatArray:
        """Scores, (n, 1)."""
        return np.array([[self.read_history(item)] for item in items]).reshape(-1, 1)

    def read(self, items: Sequence[History]) -> np.ndarray:
        """Everything is read."""
        return np.array([item.size for item in items])


def of_histories(audits: int, first: int) -> Alarms:
    """Models whose rate lies exactly at the bound from which a claim is made."""
    alarms: Alarms = {}
    for authors in (30, 120):
        for name, rules, reader in (
            ("half react to evidence", ("histories.evidence",), _half_react),
            ("one in ten moves with any post", ("histories.post_appended",), _one_in_ten_moves),
        ):
            printed = []
            for k in range(audits):
                corpus = _people(authors, first + k)
                judgement = Histories().judge(corpus, HistoryScores(reader))
                run = Run({}, {}, Findings(judgement.findings))
                printed.append({claim.rule for claim in history_headlines(run)})
            for rule, share in counted(printed, rules).items():
                alarms.setdefault(rule, {})[f"{name}, {authors} authors"] = share
    return alarms


def _luck(history: History) -> float:
    """A number from 0 to 1 that belongs to an author: each of their posts names it."""
    return float(history.posts[0].split()[0]) if history.posts else 0.0


def _half_react(history: History) -> float:
    """Half of the authors keep a high score without their evidence."""
    mentions = any(SYMPTOM in post for post in history.posts)
    return 0.9 if mentions or _luck(history) < 0.5 else 0.1


def _one_in_ten_moves(history: History) -> float:
    """For one author in ten the score falls with a strange post at the end."""
    mentions = any(SYMPTOM in post for post in history.posts)
    ends_strangely = bool(history.posts) and history.posts[-1].startswith("0 ")
    if ends_strangely and _luck(history) >= 0.9:
        return 0.6
    return 0.9 if mentions else 0.1


def _people(authors: int, seed: int) -> Corpus:
    """Authors of ten posts, three of which mention a symptom; each post names the luck of its author."""
    random = np.random.default_rng(seed)
    texts = []
    names = []
    for author in range(authors):
        luck = random.uniform(0.01, 1)
        told = set(random.permutation(10)[:3].tolist())
        for place in range(10):
            subject = SYMPTOM if place in told else "a walk in the park"
            texts.append(f"{luck} {author} {place} {subject}")
            names.append(f"author {author}")
    corpus = by_author(Corpus.of("people", texts, author=names))
    weights = [[0.9 * (SYMPTOM in post) for post in _posts(item)] for item in corpus.items]
    strange_posts = pl.Series(OTHER_POST, ["0 we had pasta"] * len(corpus))
    weighed = corpus.table.with_columns(pl.Series(EVIDENCE + "depression", weights), strange_posts)
    return replace(corpus, table=weighed)


def _posts(item: object) -> Sequence[str]:
    return item.posts if isinstance(item, History) else ()


@cache
def _demo_texts() -> tuple[str, ...]:
    """The texts of all demo corpora: tweets, posts, interviews and notes."""
    return tuple(text for domain in DOMAINS for text in open_demo(domain).texts)


def of_cautions(audits: int, first: int) -> Alarms:
    """Labels that have nothing to do with texts, lengths and sources."""
    alarms: Alarms = {}
    texts = np.array(_demo_texts(), dtype=object)
    designs: Mapping[str, tuple[int, float]] = {
        "60 texts": (60, 0.5),
        "400 texts": (400, 0.5),
        "400 texts, 5 % annotated 1": (400, 0.05),
        "400 texts, 2 % annotated 1": (400, 0.02),
        "100 texts, 5 % annotated 1": (100, 0.05),
    }
    for name, (number, prevalence) in designs.items():
        printed = []
        for k in range(audits):
            random = np.random.default_rng(first + k)
            marks = random.permutation(np.arange(number) < max(round(number * prevalence), 2))
            corpus = Corpus.of(
                "chance",
                list(random.choice(texts, number, replace=False)),
                labels={"depression": marks.astype(float).tolist()},
                groups={"source": [f"source {s}" for s in random.integers(0, 8, number)]},
            )
            printed.append({f"caution.{caution.name}" for caution in cheap_cautions(corpus)})
        for rule, share in counted(printed, OF_CAUTIONS).items():
            alarms.setdefault(rule, {})[f"chance labels, {name}"] = share
    return alarms
