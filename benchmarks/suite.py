"""DECK on 2,000 texts with a trivial model: how much is sent, and what the framework itself costs.

The alternative is a loop in CheckList's manner: one call a test, the originals sent again each time, one
expectation called for each case. Both use the same edits and the same model; both are timed in this run, in
CPU seconds, best of five, beside the least that the job takes. Then the growth of time and memory: 10,000,
30,000 and 100,000 texts.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

import numpy as np

from demo_texts import generate
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.suite import Check, Suite, read_suite
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.model import Capabilities
from psycheck.scoring.answers import answers
from timing import machine, peak_megabytes, table, verdict

TEXTS = 2_000
GROWTH = (10_000, 30_000, 100_000)


@dataclass
class Trivial:
    """Scores a text by its length; counts what it is sent and how long it takes itself."""

    name: str = "trivial"
    labels: tuple[str, ...] = ("depression",)
    fingerprint: str = "trivial"
    sent: int = 0
    seconds: float = 0.0
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(batch=4096))
    distinct: set[str] = field(default_factory=set)
    remember: bool = False

    def score(self, texts: Sequence[str]) -> FloatArray:
        """The length of a text modulo 100, as a share."""
        started = process_time()
        out = np.fromiter((len(text) % 100 / 100 for text in texts), float, len(texts))[:, None]
        self.seconds += process_time() - started
        self.sent += len(texts)
        if self.remember:
            self.distinct.update(texts)
        return out


def psycheck_once(corpus: Corpus, suite: Suite, model: Trivial, path: Path) -> float:
    """Ask, score once, judge; the seconds that the model itself takes are left out."""
    started, before = process_time(), model.seconds
    audit = Behaviour(suite)
    parts = -(-len(corpus) // 2_000)
    pieces = (((k + 1) / parts, audit.ask(part)) for k, part in enumerate(corpus.slices(2_000)))
    with answers([model], pieces, store=path) as found:
        audit.judge(corpus, found.views[0])
    return process_time() - started - (model.seconds - before)


def checklist_style(corpus: Corpus, suite: Suite, model: Trivial) -> float:
    """A test at a time, as CheckList does it.

    One call a test with originals and edits together; predictions and class probabilities are then gathered
    example by example into arrays, an expectation is called for each member of an example against its
    original, and each example's answers are put together.
    """
    started, before = process_time(), model.seconds
    texts, gold = corpus.texts, corpus.targets(["depression"])[:, 0]
    for check in suite.checks:
        kept = [text for text, mark in zip(texts, gold, strict=True) if check.gold in (None, mark)]
        examples = [[text, *(edit(text).text for edit in check.edits)] for text in kept]
        sent = [(k, text) for k, example in enumerate(examples) for text in example]
        positive = model.score([text for _, text in sent])[:, 0]
        softmax = np.stack([1 - positive, positive], axis=1)
        decided = softmax.argmax(axis=1)
        labels: list[list[int]] = [[] for _ in examples]
        confidences: list[list[FloatArray]] = [[] for _ in examples]
        for (k, _), label, confidence in zip(sent, decided, softmax, strict=True):
            labels[k].append(label)
            confidences[k].append(confidence)
        expect = _expectation(check)
        passed = []
        for mine, sure in zip(map(np.array, labels), map(np.array, confidences), strict=True):
            answers = np.array([expect(mine[0], p, sure[0], c) for p, c in zip(mine, sure, strict=True)])
            passed.append(np.all(answers[1:]))
        np.array(passed, dtype=object)
    return process_time() - started - (model.seconds - before)


def bare_loop(corpus: Corpus, suite: Suite, model: Trivial) -> float:
    """The least that the job takes: edit, one call a test, compare whole arrays; nothing is kept or counted.

    No store, no ledger, no ids, no intervals: the limit, not an alternative.
    """
    started, before = process_time(), model.seconds
    texts, gold = corpus.texts, corpus.targets(["depression"])[:, 0]
    for check in suite.checks:
        kept = [text for text, mark in zip(texts, gold, strict=True) if check.gold in (None, mark)]
        edited = [edit(text).text for edit in check.edits for text in kept]
        scores = model.score(kept + edited)[:, 0]
        first, after = scores[: len(kept)], scores[len(kept) :].reshape(len(check.edits), -1)
        kind, by = check.expect.kind, check.expect.by
        if kind == "same_label":
            failed = (first >= 0.5) != (after >= 0.5)
        elif kind == "label":
            failed = (after >= 0.5) != bool(check.expect.label)
        else:
            failed = (first - after > by) if kind == "not_down" else (after - first > by)
        failed.any(axis=0).mean()
    return process_time() - started - (model.seconds - before)


def _expectation(check: Check) -> Callable[[int, int, FloatArray, FloatArray], bool]:
    kind, by = check.expect.kind, check.expect.by

    def expect(before: int, after: int, sure: FloatArray, changed: FloatArray) -> bool:
        if kind == "same_label":
            return bool(before == after)
        if kind == "label":
            return bool(after == check.expect.label)
        moved = changed[1] - sure[1]
        return bool(moved >= -by) if kind == "not_down" else bool(moved <= by)

    return expect


def compare() -> None:
    """The framework's own time against the loop's, and what is sent."""
    corpus = generate("tweets", TEXTS, 1)
    ours, theirs, least = [], [], []

    def suite() -> Suite:  # a suite remembers its edits: everybody gets a new one
        return read_suite("deck")

    with tempfile.TemporaryDirectory() as folder:
        for k in range(5):
            model = Trivial()
            ours.append(psycheck_once(corpus, suite(), model, Path(folder) / f"{k}.sqlite"))
            loop = Trivial()
            theirs.append(checklist_style(corpus, suite(), loop))
            least.append(bare_loop(corpus, suite(), Trivial()))
        counted = Trivial(remember=True)
        psycheck_once(corpus, suite(), counted, Path(folder) / "counted.sqlite")
        again = Trivial()
        second = psycheck_once(corpus, suite(), again, Path(folder) / "counted.sqlite")
    print(f"\n## DECK on {TEXTS:,} texts, trivial model ({machine()})\n")
    rows = [
        ["psycheck, first run", f"{counted.sent:,}", f"{len(counted.distinct):,}", f"{min(ours):.2f}"],
        ["psycheck, second run", f"{again.sent:,}", "0", f"{second:.2f}"],
        ["loop in CheckList's manner", f"{loop.sent:,}", f"{len(counted.distinct):,}", f"{min(theirs):.2f}"],
        ["bare loop, the limit", f"{loop.sent:,}", f"{len(counted.distinct):,}", f"{min(least):.2f}"],
    ]
    print(table(["", "texts sent", "distinct", "framework seconds"], rows))
    print("\n" + verdict("framework time, psycheck / loop", min(ours) / min(theirs), 0.5, at_least=False))
    print(verdict("texts sent / distinct", counted.sent / len(counted.distinct), 1, at_least=False))


def grow() -> None:
    """Time and peak memory for corpora of growing size, each in a process of its own, best of three."""
    rows, per_text = [], []
    for n in GROWTH:
        runs = [
            subprocess.run([sys.executable, __file__, str(n)], capture_output=True, text=True, check=True)
            for _ in range(3)
        ]
        sent, seconds, peak = min((run.stdout.split() for run in runs), key=lambda told: float(told[1]))
        per_text.append(float(seconds) / n)
        rows.append([f"{n:,}", f"{int(sent):,}", seconds, f"{1e6 * per_text[-1]:.0f}", peak])
    print(f"\n## DECK (exhaustive), growing corpora, trivial model ({machine()})\n")
    print(table(["texts", "texts sent", "seconds", "µs a text", "peak MB"], rows))
    print("\n" + verdict("peak MB at 100,000 texts", float(rows[-1][4]), 2000, at_least=False))
    print(verdict("time a text, 100,000 / 10,000", per_text[-1] / per_text[0], 1.3, at_least=False))


def one(n: int) -> None:
    """One size, in this process: texts sent, seconds, peak memory."""
    corpus, suite, model = generate("tweets", n, 1), read_suite("deck"), Trivial()
    with tempfile.TemporaryDirectory() as folder:
        seconds = psycheck_once(corpus, suite, model, Path(folder) / "s.sqlite") + model.seconds
    print(model.sent, f"{seconds:.1f}", f"{peak_megabytes():.0f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(int(sys.argv[1]))
    else:
        compare()
        grow()
