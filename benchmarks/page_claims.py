"""How often the pages of `diff` and `improve`, and cautions, claim what is not so, and name what is.

Models of one quality and arms that learned nothing, or that are noisier or better; labels that have nothing
to do with the texts, or go with a word, a length or a source. Called by claims.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from diff import DESIGNS as PAIRS_OF_MODELS
from diff import Design as PairDesign
from diff import rules as rules_of_pair
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.corpora.cautions import cheap_cautions
from psycheck.demo.opening import DOMAINS, open_demo
from psycheck.models.opening import open_model
from psycheck.report.studies.improve_claims import improvement_headlines
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.thresholds import best_threshold
from psycheck.training.arm_figures import ArmResult, Scored, improvement_findings
from trials import Trial

OF_DIFF = ("diff.better", "diff.higher", "diff.mixed", "diff.cue", "diff.length")
OF_IMPROVE = ("improve.threshold_first", "improve.rises", "improve.falls", "improve.mixed")
OF_CAUTIONS = (
    "caution.single_word",
    "caution.keyword_label",
    "caution.encoding_debris",
    "caution.label_of_source",
    "caution.length",
)


def trials() -> list[Trial]:
    """The trials of all pages here."""
    return [*_of_diff(), *_of_improve(), *_of_cautions()]


def _of_diff() -> list[Trial]:
    """Models that are equally noisy, and a second that is noisier, where a cue stands, or in long texts."""
    pages = [
        Trial(f"equal models, {design.name}", OF_DIFF, _page_of_pair(design)) for design in PAIRS_OF_MODELS
    ]
    for design in (PAIRS_OF_MODELS[0], PAIRS_OF_MODELS[2]):
        flaws = {
            "diff.better": ("the second is noisier by 0.6", replace(design, plant=0.6)),
            "diff.cue": ("texts with a cue are noisier", replace(design, noisy_cue=3.0)),
            "diff.length": ("long texts are noisier", replace(design, noisy_length=2.0)),
        }
        for rule, (flaw, planted) in flaws.items():
            page = _page_of_pair(planted)
            pages.append(Trial(f"{flaw}, {design.name}", (rule,), page, is_flaw=True))
    return pages


def _page_of_pair(design: PairDesign) -> Callable[[int], set[str]]:
    return lambda seed: rules_of_pair(design, seed)


@dataclass(frozen=True, slots=True)
class Tests:
    """The corpora that arms are tested on; `authors` 0 means that each text is its own.

    `gain` is how much more of the annotation a trained arm sees, `shift` moves all scores.
    """

    name: str
    texts: int
    corpora: int = 3
    arms: int = 1
    seeds: int = 2
    prevalence: float = 0.5
    authors: int = 0
    gain: float = 0.0
    shift: float = 0.0


TESTS = (
    Tests("300 texts, 3 corpora", 300),
    Tests("60 texts, 3 corpora", 60),
    Tests("300 texts, 10 % annotated 1", 300, prevalence=0.1),
    Tests("40 authors, 400 texts", 400, authors=40),
    Tests("300 texts, 6 corpora, 3 arms", 300, corpora=6, arms=3),
)


def _of_improve() -> list[Trial]:
    """Arms that are as good as the unchanged model, better or worse, and a model that decides too late."""
    pages = []
    for tests in TESTS:
        # Of a rare label 0.5 is not the best threshold of a sound model: dev does improve on it.
        false = OF_IMPROVE if tests.prevalence == 0.5 else OF_IMPROVE[1:]
        pages.append(Trial(f"equal arms, {tests.name}", false, _page_of_arms(tests)))
    for tests in (TESTS[0], TESTS[1]):
        flaws = {
            "improve.rises": ("the arm sees 60 % more", replace(tests, gain=0.6)),
            "improve.falls": ("the arm sees 50 % less", replace(tests, gain=-0.5)),
            "improve.threshold_first": ("all scores are high", replace(tests, shift=2.0)),
        }
        for rule, (flaw, planted) in flaws.items():
            page = _page_of_arms(planted)
            pages.append(Trial(f"{flaw}, {tests.name}", (rule,), page, is_flaw=True))
    return pages


def _page_of_arms(tests: Tests) -> Callable[[int], set[str]]:
    def drawn(seed: int) -> set[str]:
        probe = Corpus.of("probe", ["a text"])
        findings = improvement_findings(_arms(tests, seed), probe)
        return {claim.rule for claim in improvement_headlines(findings)}

    return drawn


def _arms(tests: Tests, seed: int) -> list[ArmResult]:
    """The unchanged model and arms that see the annotation through noise."""
    random = np.random.default_rng(seed)
    corpora = [_test_corpus(tests, random) for _ in range(tests.corpora)]
    arms = []
    for arm in ("plain", "augmented", "control", "other")[: tests.arms + 1]:
        for training_seed in range(tests.seeds):
            rows = tuple(
                _scored(tests, random, arm, training_seed, number, corpus)
                for number, corpus in enumerate(corpora)
            )
            arms.append(ArmResult(arm, training_seed, open_model(_unused), rows, (), {}, {}))
    return arms


@dataclass(frozen=True, slots=True)
class TestCorpus:
    """Annotations and authors of the texts, and the decision threshold of all arms.

    One threshold: else the arms would differ by the luck of theirs, which is no false alarm.
    """

    targets: FloatArray
    units: np.ndarray
    threshold: float


def _test_corpus(tests: Tests, random: np.random.Generator) -> TestCorpus:
    units = random.integers(0, tests.authors, tests.texts) if tests.authors else np.arange(tests.texts)
    targets = (random.random(tests.texts) < tests.prevalence).astype(float)

    dev_targets = (random.random(200) < tests.prevalence).astype(float)
    dev_scores = _noisy(_sides(dev_targets), tests.shift + random.normal(0, 1, 200))
    return TestCorpus(targets, units, best_threshold(dev_targets, dev_scores))


def _scored(
    tests: Tests,
    random: np.random.Generator,
    arm: str,
    seed: int,
    number: int,
    corpus: TestCorpus,
) -> Scored:
    """The scores of an arm on a test: authors are partly alike in how well they are read."""
    signal = 1.0 if arm == "plain" else 1 + tests.gain
    of_author = random.normal(0, 0.6, int(corpus.units.max()) + 1)[corpus.units] if tests.authors else 0.0
    noise = of_author + random.normal(0, 0.8, len(corpus.targets))
    return Scored(
        audit="improve",
        arm=arm,
        model="model",
        trained_on="corpus 0",
        corpus=f"corpus {number}",
        label="depression",
        seed=seed,
        threshold=corpus.threshold,
        targets=corpus.targets,
        scores=_noisy(signal * _sides(corpus.targets), tests.shift + noise),
        clusters=Clusters.of(corpus.units),
    )


def _sides(targets: FloatArray) -> FloatArray:
    return 2 * targets - 1


def _noisy(signal: FloatArray, noise: FloatArray) -> FloatArray:
    scores: FloatArray = 1 / (1 + np.exp(-(signal + noise)))
    return scores


def _unused(texts: Sequence[str]) -> list[float]:
    """The model of an arm, which nobody asks."""
    return [0.5 for _ in texts]


@cache
def _demo_texts() -> tuple[str, ...]:
    """The texts of all demo corpora: tweets, posts, interviews and notes."""
    return tuple(text for domain in DOMAINS for text in open_demo(domain).texts)


# Texts and the share annotated 1.
CHANCE: Mapping[str, tuple[int, float]] = {
    "60 texts": (60, 0.5),
    "400 texts": (400, 0.5),
    "400 texts, 5 % annotated 1": (400, 0.05),
    "400 texts, 2 % annotated 1": (400, 0.02),
    "100 texts, 5 % annotated 1": (100, 0.05),
}
# What is planted, and the caution that must name it.
LEAKS = {
    "a word in 95 % of the texts annotated 1": "caution.single_word",
    "words of one beginning in 90 %": "caution.keyword_label",
    "broken characters in 30 %": "caution.encoding_debris",
    "one source for 85 %": "caution.label_of_source",
    "three times as long": "caution.length",
}


def _of_cautions() -> list[Trial]:
    """Labels that have nothing to do with texts, lengths and sources, and labels that go with one."""
    pages = []
    for name, (number, prevalence) in CHANCE.items():
        page = _page_of_cautions(number, prevalence)
        pages.append(Trial(f"chance labels, {name}", OF_CAUTIONS, page))
    for leak, rule in LEAKS.items():
        for number in (100, 400):
            page = _page_of_cautions(number, 0.5, leak)
            pages.append(Trial(f"{leak}, {number} texts", (rule,), page, is_flaw=True))
    return pages


def _page_of_cautions(number: int, prevalence: float, leak: str = "") -> Callable[[int], set[str]]:
    def drawn(seed: int) -> set[str]:
        random = np.random.default_rng(seed)
        marks = random.permutation(np.arange(number) < max(round(number * prevalence), 2))
        texts = random.choice(np.array(_demo_texts(), dtype=object), number, replace=False).tolist()
        sources = [f"source {s}" for s in random.integers(0, 8, number)]
        for row in np.flatnonzero(marks):
            texts[row], sources[row] = _leaking(leak, texts[row], sources[row], random.random())

        corpus = Corpus.of(
            "chance",
            texts,
            labels={"depression": marks.astype(float).tolist()},
            groups={"source": sources},
        )
        return {f"caution.{caution.name}" for caution in cheap_cautions(corpus)}

    return drawn


def _leaking(leak: str, text: str, source: str, luck: float) -> tuple[str, str]:
    """A text annotated 1 and its source, with the leak planted in most of them."""
    rule = LEAKS.get(leak, "")
    if rule == "caution.single_word" and luck < 0.95:
        text += " Zanzibar."
    elif rule == "caution.keyword_label" and luck < 0.9:
        # Three words, none of which alone tells the label.
        text += (" Zanzibari.", " Zanzibarian.", " Zanzibars.")[int(luck / 0.3)]
    elif rule == "caution.encoding_debris" and luck < 0.3:
        text += " It â€™s late."
    elif rule == "caution.label_of_source" and luck < 0.85:
        source = "clinic"
    elif rule == "caution.length":
        text = " ".join([text] * 3)
    return text, source
