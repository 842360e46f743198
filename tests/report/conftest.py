"""A run with invented numbers and texts of our own, as the audits would leave it."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run, Shown

# The bench of claims is imported once: in its folder a `scoring.py` would hide tests/scoring if it stayed.
BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")
sys.path.append(BENCHMARKS)
__import__("claims")
sys.path.remove(BENCHMARKS)

MakeRun = Callable[..., Run]

PRONOUNS = (
    ("T1", "INV", "he becomes she", 0.981),
    ("T2", "INV", "she becomes he", 0.994),
    ("T3", "MFT", "I becomes they", 0.702),
    ("T4", "MFT", "I becomes he", 0.731),
    ("T5", "MFT", "I becomes she", 0.745),
    ("T6", "MFT", "they, he and she become I", math.nan),
)
SYMPTOMS = (
    ("T7", "interest", "1", "COG", "presence", "adds: no wish to do anything", 0.81),
    ("T8", "interest", "1", "COG", "absence", "adds: fond of all activities", 0.66),
    ("T9", "mood", "2", "COG", "presence", "adds one of 3 sentences on feeling down", 0.92),
    ("T10", "mood", "2", "COG", "absence", "adds: full of excitement", 0.71),
    ("T11", "sleep", "3", "SOM", "presence", "adds one of 4 sentences on sleep", 0.84),
    ("T12", "energy", "4", "SOM", "presence", "adds one of 2 sentences on being tired", 0.88),
    ("T13", "energy", "4", "SOM", "absence", "adds: rested and awake", 0.69),
    ("T14", "appetite", "5", "SOM", "presence", "adds one of 5 sentences on eating", 0.77),
    ("T15", "appetite", "5", "SOM", "absence", "adds: a normal appetite", 0.73),
    ("T18", "concentration", "7", "COG", "presence", "adds: a struggle to focus", 0.79),
    ("T19", "concentration", "7", "COG", "absence", "adds one of 3 sentences on staying focused", 0.7),
    ("T22", "suicide", "9", "SUI", "presence", "adds one of 2 sentences on wishing to die", 0.83),
    ("T23", "suicide", "9", "SUI", "absence", "adds one of 3 sentences on never thinking of it", 0.61),
)


def wilson(p: float, n: int) -> tuple[float, float]:
    z = 1.959964
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def behaviour(model: str, corpus: str, shift: float, label: str = "depression") -> Iterator[Finding]:
    place = {"audit": "behaviour", "model": model, "corpus": corpus, "suite": "deck", "label": label}
    for check, kind, title, value in PRONOUNS:
        tested = not math.isnan(value)
        n, value = (800, max(0.0, value + shift / 3)) if tested else (0, value)
        passed = round(value * n) if tested else 0
        yield Finding(
            "pass_rate",
            passed / n if tested else math.nan,
            n,
            interval=wilson(passed / n, n) if tested else None,
            where={**place, "check": check, "kind": kind, "title": title, "topic": "pronouns"},
            counts=_ledger(passed, n - passed, 2000 - n),
            examples=("p17", "p203"),
            flags=() if tested else ("not_tested",),
        )
    values = [min(0.99, value + shift) for *_, value in SYMPTOMS]
    mean = sum(values) / len(values)
    for (check, symptom, item, category, polarity, title, _), value in zip(SYMPTOMS, values, strict=True):
        passed = round(value * 1990)
        tags = {
            "symptom": symptom,
            "item": item,
            "scale": "PHQ-9",
            "category": category,
            "polarity": polarity,
        }
        yield Finding(
            "pass_rate",
            passed / 1990,
            1990,
            interval=wilson(passed / 1990, 1990),
            where={**place, "check": check, "kind": "DIR", "title": title, **tags},
            counts={**_ledger(passed, 1990 - passed, 0), "unseen": 10},
            examples=("p17", "p4"),
            flags=("below_dir_mean",) if value < mean else (),
        )
    for variant, sentence in ((1, "I have insomnia"), (2, "I have trouble falling asleep")):
        where = {**place, "check": "T11", "kind": "DIR", "variant": str(variant), "sentence": sentence}
        yield Finding(
            "sentence_pass_rate",
            0.9 - variant / 50,
            1990,
            interval=wilson(0.9 - variant / 50, 1990),
            where=where,
        )
    groups = [("kind", "DIR", mean, 13), ("category", "COG", 0.766, 6), ("category", "SOM", 0.782, 5)]
    groups += [
        ("category", "SUI", 0.72, 2),
        ("polarity", "presence", 0.834, 7),
        ("polarity", "absence", 0.683, 6),
    ]
    for by, name, value, checks in groups:
        where = {**place, "by": by, by: name}
        yield Finding(
            "pass_rate_mean",
            value,
            1990,
            interval=(value - 0.008, value + 0.009),
            where=where,
            counts={"checks": checks},
        )
        yield Finding("pass_rate_sd", 0.0871, checks, where=where, counts={"checks": checks})


def performance(model: str, corpus: str, shift: float, label: str = "depression") -> Iterator[Finding]:
    where = {"audit": "performance", "model": model, "corpus": corpus, "label": label}
    counts = {"texts": 2000, "annotated": 2000, "unanswered": 0, "not_annotated": 0}
    high = {"accuracy": 0.84, "precision": 0.82, "recall": 0.79, "f1": 0.805, "macro_f1": 0.833, "auc": 0.91}
    low = {"brier": 0.121, "log_loss": 0.402, "ece": 0.064, "hard_brier": 0.16}
    for measure, value in {**high, "average_precision": 0.88, "hard_auc": 0.834}.items():
        at = value + shift
        yield Finding(measure, at, 2000, interval=(at - 0.019, at + 0.018), where=where, counts=counts)
    for measure, value in low.items():
        at = value - shift / 2
        yield Finding(measure, at, 2000, interval=(at - 0.009, at + 0.008), where=where, counts=counts)
    yield Finding("prevalence", 0.412, 2000, interval=wilson(0.412, 2000), where=where, counts=counts)
    for position in range(10):
        score = 0.05 + position / 10
        share, n = (
            min(0.97, max(0.02, score + shift + 0.08 * (score - 0.5))),
            400 if position in (0, 9) else 150,
        )
        bin_ = {**where, "bin": str(position + 1), "mean_score": f"{score:.4f}"}
        yield Finding("reliability", share, n, interval=wilson(share, n), where=bin_)


def length(model: str, corpus: str) -> Iterator[Finding]:
    for feature, failed, passed in (("words", 31.0, 44.5), ("word_length", 4.21, 4.3)):
        where = {"audit": "length", "model": model, "corpus": corpus, "feature": feature, "unit": "case"}
        yield Finding("length_median", failed, 5120, where={**where, "outcome": "failed"})
        yield Finding("length_median", passed, 17880, where={**where, "outcome": "passed"})
        yield Finding("length_effect", -0.137, 23000, where=where)
        yield Finding("length_p", 0.0004, 23000, where=where)


@pytest.fixture
def make_run() -> MakeRun:
    return build


def build(
    models: tuple[str, ...] = ("minilm",),
    corpora: tuple[str, ...] = ("posts",),
    labels: tuple[str, ...] = ("depression",),
    texts: bool = False,
    **fields: Any,
) -> Run:
    findings: list[Finding] = []
    shown: list[Shown] = []
    for m, model in enumerate(models):
        for c, corpus in enumerate(corpora):
            shift = -0.11 * c - 0.06 * m
            for label in labels:
                findings += behaviour(model, corpus, shift, label)
                findings += performance(model, corpus, shift, label)
            findings += length(model, corpus)
            shown += cases(model, corpus, texts)
    checks = [f for f in findings if f.measure == "pass_rate" and f.tested]
    for f in checks:
        ends = binomtest(f.counts["passed"], f.n).proportion_ci(1 - 0.05 / len(checks), method="exact")
        wide = (float(ends.low), float(ends.high))
        among = {"checks": len(checks)}
        findings.append(
            Finding("pass_rate_among_checks", f.value, f.n, interval=wide, where=f.where, counts=among)
        )
    if len(models) > 1:
        where = {"audit": "across", "suite": "deck", "kind": "DIR"}
        findings += [
            Finding("pearson_r", 0.016, 4, interval=(-0.953, 0.957), where=where),
            Finding("pearson_p", 0.973, 4, where=where),
            Finding("t_p", 0.0313, 4, where={**where, "test": "paired"}),
            Finding("t_p", 0.0417, 4, where={**where, "test": "unpaired"}),
        ]
    plan: Mapping[str, Any] = {
        "models": list(models),
        "corpora": [
            {
                "name": name,
                "path": f"{name}.csv",
                "texts": 2000,
                "labels": list(labels),
                "left_out": {"empty_text": 3},
            }
            for name in corpora
        ],
        "suites": ["deck"],
        "threshold": 0.5,
        "trained_on": {model: [corpora[0]] for model in models} if len(corpora) > 1 else {},
        "seed": 1,
    }
    environment = {
        "psycheck": "0.1.0",
        "python": "3.11.7",
        "date": "2026-03-02 14:10 UTC",
        "models": dict.fromkeys(models, "9f2c1d"),
        "texts": {"asked": 74000, "distinct": 41210, "scored": 41210},
    }
    notes = ("posts: column 'body' was taken for the text.",)
    return Run(
        **{
            "plan": plan,
            "environment": environment,
            "findings": Findings(findings),
            "shown": tuple(shown),
            "notes": notes,
            **fields,
        }
    )


def cases(model: str, corpus: str, texts: bool) -> Iterator[Shown]:
    start = "The rain has not stopped since Monday and my sister is at work. "
    for check in ("T3", "T8", "T23"):
        added = "I never think about hurting myself"
        for number in range(12):
            text = start + added if texts else None
            spans = ((len(start), len(start) + len(added)),) if texts else ()
            outcome = "failed" if number < 5 else "passed"
            after = 0.71 - number / 40
            yield Shown(model, corpus, "deck", check, f"p{number}", outcome, 0.42, after, 1, text, spans)
        yield Shown(
            model, corpus, "deck", check, "p99", "unanswered", math.nan, 0.5, 1, start if texts else None
        )


def _ledger(passed: int, failed: int, unchanged: int) -> dict[str, int]:
    generated = passed + failed + unchanged
    rest = {"unchanged": unchanged, "unseen": 0, "unanswered": 0, "undecided": 0}
    return {"generated": generated, "passed": passed, "failed": failed, **rest}
