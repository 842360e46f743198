"""How often `diff` raises an alarm on two equally noisy models, and how often it finds a planted difference.

Both models see the annotation through noise of the same size, so that neither is better; cues and lengths
are drawn at random, so that none goes with errors. An alarm is a sentence that headlines.toml marks as one.
Arguments: pairs per design (200), first seed. Aim: each kind in at most 5 % of the pairs.
"""

import sys
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from psycheck.audits.differences import Answered, difference_findings
from psycheck.audits.error_cues import error_findings
from psycheck.core.finding import Findings
from psycheck.report.diff_sentences import difference_headlines
from psycheck.statistics.clustered import Clusters
from timing import machine, table

PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 0
CUES = {"past": 0.2, "other_person": 0.03, "diagnosis": 0.08, "medication": 0.05, "other_disorder": 0.15}
KINDS = ("difference", "cue or length", "any")


@dataclass(frozen=True, slots=True)
class Design:
    """Texts, share annotated 1, authors (0: each text its own), models, noise; `plant` adds to the last's."""

    name: str
    texts: int
    share: float = 0.4
    authors: int = 0
    models: int = 2
    labels: int = 1
    noise: float = 1.0
    alike: float = 0.5
    hard: bool = False
    plant: float = 0.0


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


def drawn(one: Design, seed: int) -> list[tuple[Answered, tuple[np.ndarray, dict[str, np.ndarray]]]]:
    """The answers of models about the labels of one corpus, with lengths and cues of its texts."""
    random, n = np.random.default_rng(seed), one.texts
    author = random.integers(0, one.authors, n) if one.authors else np.arange(n)
    within = np.sqrt(one.alike) if one.authors else 0.0

    def trait() -> np.ndarray:
        own = random.normal(0, 1, int(author.max()) + 1)[author]
        drawn: np.ndarray = within * own + np.sqrt(1 - within**2) * random.normal(0, 1, n)
        return drawn

    characters = np.exp(6 + 0.7 * trait())
    cues = {name: trait() < np.quantile(trait(), rate) for name, rate in CUES.items()}
    out = []
    for k in range(one.labels):
        latent = trait()
        gold = (latent > np.quantile(latent, 1 - one.share)).astype(float)
        noise = [one.noise + one.plant * (m == one.models - 1) for m in range(one.models)]
        scores = np.column_stack([1 / (1 + np.exp(-(2 * gold - 1 + size * trait()))) for size in noise])
        decided = (scores >= 0.5).astype(float)
        models = tuple(f"model {m + 1}" for m in range(one.models))
        answered = Answered(
            *("null", f"label {k + 1}", models, tuple(map(str, range(n))), gold),
            *(decided if one.hard else scores, decided, Clusters.of(author)),
        )
        out.append((answered, (characters, cues)))
    return out


def alarms(one: Design, seed: int) -> Counter[str]:
    """The alarms of one comparison by kind."""
    answered = drawn(one, seed)
    findings = Findings([*difference_findings([a for a, _ in answered]), *error_findings(answered)])
    raised = [h.rule for h in difference_headlines(findings) if h.alarm]
    found: Counter[str] = Counter()
    found["difference"] = any(name in ("diff.better", "diff.mixed") for name in raised)
    found["cue or length"] = any(name in ("diff.cue", "diff.length") for name in raised)
    found["any"] = bool(raised)
    return found


def shares(one: Design, pairs: int) -> list[str]:
    """The share of comparisons with an alarm of each kind, in percent."""
    raised = [alarms(one, FIRST + k) for k in range(pairs)]
    return [f"{100 * np.mean([one[kind] for one in raised]):.1f}" for kind in KINDS]


def main() -> None:
    """Print false alarms by design, then how often a planted difference is found."""
    print(f"{machine()}; {PAIRS} comparisons each, in percent\n")
    rows = [[design.name, *shares(design, PAIRS)] for design in DESIGNS]
    print(table(["equal models", *KINDS], rows), "\n", flush=True)
    rows = []
    for design in (DESIGNS[0], DESIGNS[2], DESIGNS[6]):
        found = [shares(replace(design, plant=plant), max(PAIRS // 4, 1))[0] for plant in (0.3, 0.6, 1.2)]
        rows.append([design.name, *found])
    print(table(["the second is noisier by", "0.3", "0.6", "1.2"], rows))


if __name__ == "__main__":
    main()
