"""What a symptom reader makes of the sentences of three suites: python benchmarks/symptom_suites.py [READER].

The suites say of each sentence whether what it speaks of is the writer's and of today (`status`, `subject`),
or whether a symptom of anxiety is there (`comorbidity`). All sentences are ours. Printed is how many of each
group are named, with a Wilson interval.
"""

import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import numpy as np

import psycheck
from psycheck.models.opening import open_model
from psycheck.statistics.intervals import wilson
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import NAMED, weighted

SUITES = Path(psycheck.__file__).parent / "audits" / "suites"
GROUPS = {"status": "status", "subject": "subject", "comorbidity": "added"}


def sentences_of(suite: str) -> dict[str, list[str]]:
    """The sentences that a suite appends, by the tag that says what is so."""
    checks = tomllib.loads((SUITES / f"{suite}.toml").read_text("utf-8"))["check"]
    groups: dict[str, list[str]] = defaultdict(list)
    for check in checks:
        groups[check["tags"][GROUPS[suite]]] += check["edit"]["append"]
    return groups


def main(spec: str) -> None:
    """Print a row per suite and group."""
    model = open_model(spec)
    assert isinstance(model, SymptomModel)
    print("| suite | group | sentences | named |")
    print("|---|---|---|---|")
    for suite in GROUPS:
        for group, sentences in sentences_of(suite).items():
            weights = weighted(model.tag(sentences))
            named = int(np.count_nonzero(weights.max(axis=1) >= NAMED))
            low, high = wilson(named, len(sentences))
            share = f"{named} ({named / len(sentences):.0%}, {low:.0%}–{high:.0%})"
            print(f"| {suite} | {group} | {len(sentences)} | {share} |")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "symptoms:default")
