"""How often `diff` finds a planted difference; how often it raises an alarm on equals, claims.py tells.

Models see the annotation through noise; cues and lengths are drawn at random, so that none goes with errors.

    benchmarks/diff.py [PAIRS] [FIRST SEED]
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.differences import Answered, difference_findings
from psycheck.audits.error_cues import error_findings
from psycheck.core.finding import Findings
from psycheck.report.diff_sentences import difference_headlines
from psycheck.statistics.clustered import Clusters
from timing import machine, table

FloatArray = NDArray[np.float64]
# What `error_findings` reads about the texts of an answer: their lengths, and where each cue is.
Texts = tuple[FloatArray, Mapping[str, NDArray[np.bool_]]]

CUES = {
    "past": 0.2,
    "other_person": 0.03,
    "diagnosis": 0.08,
    "medication": 0.05,
    "other_disorder": 0.15,
}
NOISY_CUE = "past"
DIFFERENCES = {"diff.better", "diff.mixed", "diff.higher"}
PLANTED = (0.3, 0.6, 1.2)


@dataclass(frozen=True, slots=True)
class Design:
    """Models on one corpus; without `authors` each text is its own, `plant` is further noise of the last.

    `noisy_cue` and `noisy_length` are further noise in texts with a cue, and in those longer than most.
    """

    name: str
    texts: int
    share: float = 0.4  # of texts annotated 1
    authors: int = 0
    models: int = 2
    labels: int = 1
    noise: float = 1.0
    alike: float = 0.5  # how much of a trait of a text belongs to its author
    hard: bool = False  # answers are yes or no
    plant: float = 0.0
    noisy_cue: float = 0.0
    noisy_length: float = 0.0


DESIGNS = (
    Design("300 texts", 300),
    Design("60 texts", 60),
    Design("2,000 texts", 2_000),
    Design("300 texts, 10 % annotated 1", 300, share=0.1),
    Design("300 texts, yes or no", 300, hard=True),
    Design("300 texts, nearly perfect", 300, noise=0.3),
    Design("60 authors, 600 texts", 600, authors=60),
    Design("25 authors, 500 texts", 500, authors=25),
    Design("300 texts, 4 models, 2 labels", 300, models=4, labels=2),
)


def drawn(design: Design, seed: int) -> list[tuple[Answered, Texts]]:
    """The answers of models about the labels of one corpus, with lengths and cues of its texts."""
    random = np.random.default_rng(seed)
    author = random.integers(0, design.authors, design.texts) if design.authors else np.arange(design.texts)

    characters = np.exp(6 + 0.7 * _trait(design, author, random))
    cues = {}
    for name, rate in CUES.items():
        limit = np.quantile(_trait(design, author, random), rate)
        cues[name] = _trait(design, author, random) < limit

    is_long = characters > np.quantile(characters, 0.75)
    difficulty = design.noisy_cue * cues[NOISY_CUE] + design.noisy_length * is_long
    answers: list[tuple[Answered, Texts]] = []
    for label in range(design.labels):
        latent = _trait(design, author, random)
        gold = (latent > np.quantile(latent, 1 - design.share)).astype(float)
        scores = np.column_stack(
            [_scores(design, model, gold, author, random, difficulty) for model in range(design.models)]
        )
        decided = (scores >= 0.5).astype(float)
        answered = Answered(
            "null",
            f"label {label + 1}",
            tuple(f"model {model + 1}" for model in range(design.models)),
            tuple(str(text) for text in range(design.texts)),
            gold,
            decided if design.hard else scores,
            decided,
            Clusters.of(author),
        )
        answers.append((answered, (characters, cues)))
    return answers


def _trait(design: Design, author: NDArray[np.int64], random: np.random.Generator) -> FloatArray:
    """A trait of each text, (n,), standard normal; texts of one author are alike."""
    of_author = random.normal(0, 1, int(author.max()) + 1)[author]
    of_text = random.normal(0, 1, len(author))
    alike = design.alike if design.authors else 0.0
    trait: FloatArray = np.sqrt(alike) * of_author + np.sqrt(1 - alike) * of_text
    return trait


def _scores(
    design: Design,
    model: int,
    gold: FloatArray,
    author: NDArray[np.int64],
    random: np.random.Generator,
    difficulty: FloatArray,
) -> FloatArray:
    """The annotation as a model sees it, (n,)."""
    is_last = model == design.models - 1
    noise = design.noise + design.plant * is_last + difficulty
    scores: FloatArray = 1 / (1 + np.exp(-(2 * gold - 1 + noise * _trait(design, author, random))))
    return scores


def rules(design: Design, seed: int) -> set[str]:
    """The rules of the verdict of one comparison."""
    answers = drawn(design, seed)
    differences = difference_findings([answered for answered, _ in answers])
    findings = Findings([*differences, *error_findings(answers)])
    return {claim.rule for claim in difference_headlines(findings)}


def main() -> None:
    """Print how often a planted difference is found."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"{machine()}; {pairs} comparisons each, in percent\n")
    rows = []
    for design in (DESIGNS[0], DESIGNS[2], DESIGNS[6]):
        cells = []
        for plant in PLANTED:
            planted = replace(design, plant=plant)
            hits = [bool(DIFFERENCES & rules(planted, first + k)) for k in range(pairs)]
            cells.append(f"{100 * np.mean(hits):.1f}")
        rows.append([design.name, *cells])
    print(table(["the second is noisier by", *map(str, PLANTED)], rows))


if __name__ == "__main__":
    main()
