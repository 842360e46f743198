"""How often an audit raises a false alarm, and how often it finds a planted effect of a given size.

Null models score a text by its hash and by its author, never by annotation, group or gender. Half of the
texts are annotated 1, so that such a model is as good as the best trivial answer. Alarms are read from the
sentences that the report prints (`Headline.alarm`, and the learned sentence on length). Such a model does
fail checks, because any edit changes its score, so "Fails most on …" is true of INV and DIR checks; it is a
false alarm if it says that the edit of an MFT check does harm, because none does on average. The column "MFT
only" is the sentence of a suite that has only the MFT checks of DECK. "Rate missed" counts the audits in
which the true pass rate of the named check is above the whole interval beside it, which must allow for the
choice of that check among all; "any or missed" counts these as false alarms, too. "Some rate missed" counts
the audits in which the adjusted interval of any of the checks misses its true pass rate on either side.

Aim: each kind of headline in at most 5 % of the audits, any headline in at most 10 %. Planted models differ
by one known effect. The second argument is the first seed.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from psycheck.audits import gender_pairs
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.fairness import Fairness
from psycheck.audits.performance import Performance
from psycheck.audits.suite import read_suite
from psycheck.audits.summary import holm_families
from psycheck.core.audit import Audit, ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.headlines import among_checks, checks_headline, harmed, weakest
from psycheck.report.verdict import chosen_headlines, learned
from timing import machine, table

FloatArray = NDArray[np.float64]
AUDITS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 0
KINDS = ("performance", "groups", "gender")
CHECKS = ("checks", "length")
DECK = read_suite("deck")
WORDS = ("slept", "worried", "cried", "ate", "walked", "called", "waited", "rested", "worked", "stayed in")

# All audits have the same texts: each is edited once.
_swap = vars(gender_pairs)["swap"]
_once = {name: cache(vars(gender_pairs)[name]) for name in ("gender_of", "names_besides")}
vars(gender_pairs).update({**_once, "swap": cache(lambda scope: cache(_swap(scope)))})


@dataclass(frozen=True, slots=True)
class Design:
    """A corpus: distinct texts, copies of each, authors (0: unknown), and columns with the number of groups.

    Columns named "text …" are drawn for each text, the others for each author. `alike` is the share of the
    variance of annotations and scores that lies between authors. `plant` is the effect of a planted model, in
    standard deviations of its score.
    """

    name: str
    texts: int
    copies: int = 1
    authors: int = 0
    columns: tuple[tuple[str, int], ...] = ()
    alike: float = 0.5
    plant: float = 0.0
    planted: str = ""
    models: int = 1
    corpora: int = 1


DESIGNS = (
    Design("300 texts, one column", 300, columns=(("text group", 2),)),
    Design("60 texts, one column", 60, columns=(("text group", 2),)),
    Design("42 texts twice, one column", 42, copies=2, columns=(("text section", 2),)),
    Design("40 authors, 800 texts, dialect of authors", 800, authors=40, columns=(("dialect", 2),)),
    Design("40 authors, 800 texts, column of texts", 800, authors=40, columns=(("text source", 2),)),
    Design(
        "65 authors, 650 texts, three columns",
        650,
        authors=65,
        columns=(("gender", 2), ("age", 4), ("text source", 3)),
    ),
    Design("25 authors, 500 texts, much alike", 500, authors=25, columns=(("dialect", 2),), alike=0.8),
    Design("three models, 300 texts, one column", 300, columns=(("text group", 2),), models=3),
    Design("two corpora of 40 authors, 400 texts", 400, authors=40, columns=(("dialect", 2),), corpora=2),
)


class Planted:
    """Scores by hash and by author, and by group or gender where an effect is planted; 0.5 divides them."""

    labels = ("depression",)

    def __init__(self, seed: int, own: FloatArray, noise: float, gendered: float) -> None:
        self.model = "null"
        self.seed, self.own, self.noise, self.gendered = seed, own, noise, gendered

    @property
    def traits(self) -> ScoreTraits:
        """How the scores become decisions."""
        return ScoreTraits()

    def of(self, items: Sequence[str]) -> FloatArray:
        """Scores, (n, 1)."""
        digests = [blake2b(f"{self.seed} {text}".encode(), digest_size=6).digest() for text in items]
        z = norm.ppf((np.array([int.from_bytes(one, "big") for one in digests]) + 0.5) / 2**48)
        numbers = [int(text.split(":", 1)[0].removeprefix("Note ")) for text in items]
        side = np.array([0.5 if " she " in text else -0.5 for text in items])
        scores: FloatArray = norm.cdf(self.own[numbers] + self.noise * z + self.gendered * side)[:, None]
        return scores

    def read(self, items: Sequence[str]) -> NDArray[np.int64]:
        """Everything is read."""
        return np.array([len(text) for text in items])


def asked_of(one: Design, seed: int) -> list[tuple[Corpus, Planted]]:
    """The corpora and models of one audit, each model on each corpus."""
    found = []
    for k in range(one.corpora):
        corpus, model = drawn(one, seed + 10_000_000 * k)
        random = np.random.default_rng(seed + 10_000_000 * k + 1)
        codes = np.unique(corpus.units()[: one.texts], return_inverse=True)[1]
        for m in range(one.models):
            own = model.own
            if m:  # another model has a leaning of its own towards each author
                own = random.normal(0, 1, len(own))[codes] * np.sqrt(one.alike if one.authors else 0.0)
            other = Planted(seed + 1_000_000 * m + k, own, model.noise, model.gendered)
            other.model = f"null {m}"
            found.append((replace(corpus, name=f"corpus {k}"), other))
    return found


def drawn(one: Design, seed: int) -> tuple[Corpus, Planted]:
    """A corpus with random authors, annotations and groups, and a model."""
    verbs = np.random.default_rng(0).choice(WORDS, (one.texts, 2))  # the same texts in all audits
    random = np.random.default_rng(seed)
    rows = np.tile(np.arange(one.texts), one.copies)
    texts = [f"Note {k}: and {'she' if k % 2 else 'he'} {a}, then I {b}." for k, (a, b) in enumerate(verbs)]
    author = random.integers(0, one.authors, one.texts) if one.authors else np.arange(one.texts)
    number = int(author.max()) + 1
    traits = random.normal(0, 1, (2, number))[:, author] * np.sqrt(one.alike if one.authors else 0.0)
    noise = float(np.sqrt(1 - one.alike)) if one.authors else 1.0
    marks = (traits[0] + random.normal(0, noise, one.texts) > 0).astype(float)
    groups, own = {}, traits[1]
    for name, count in one.columns:
        if name.startswith("text"):
            member = random.integers(0, count, len(rows))
        else:
            member = random.integers(0, count, number)[author][rows]
        groups[name] = [f"group {k}" for k in member]
        if one.planted == "groups":
            own = own + one.plant * (member[: one.texts] == 0)
    if one.planted == "performance":
        own = own - one.plant * (2 * marks - 1)
    corpus = Corpus.of(
        "null",
        [texts[k] for k in rows],
        labels={"depression": marks[rows].tolist()},
        author=[f"author {k}" for k in author[rows]] if one.authors else None,
        groups=groups,
    )
    return corpus, Planted(seed, own, noise, one.plant if one.planted == "gender" else 0.0)


@dataclass(frozen=True, slots=True)
class Alarms:
    """The kinds of alarm that one audit prints, and the checks behind its sentence on checks."""

    printed: frozenset[str]
    named: Finding | None
    checks: list[Finding]
    harm: bool

    def false(self) -> set[str]:
        """The kinds of alarm that are false."""
        harm = self.named is not None and "passed_unedited" in self.named.counts
        return {kind for kind in self.printed if kind != "checks" or harm}

    def missed(self, rates: dict[str, float]) -> bool:
        """Whether the interval of the named check lies below its true pass rate."""
        if self.named is None or self.named.interval is None:
            return False
        return self.named.interval[1] < rates[self.named.where["check"]]

    def missed_some(self, rates: dict[str, float]) -> bool:
        """Whether the interval of any check misses its true pass rate."""
        ends = [(f.interval, rates[f.where["check"]]) for f in self.checks if f.interval]
        return any(not low <= rate <= high for (low, high), rate in ends)


def audited(asked: list[tuple[Corpus, Planted]], *, checks: bool) -> Alarms:
    """What the report of one audit prints."""
    others = len(DECK.checks) * (len(asked) - 1)
    audits: list[Audit] = [
        Performance(),
        Fairness(places=len(asked)),
        *[Behaviour(DECK, length=True, others=others)] * checks,
    ]
    findings = [f for audit in audits for one in asked for f in audit.judge(*one).findings]
    findings += holm_families(findings, "accuracy_over_trivial_p", ())
    run = Run({}, {}, Findings(findings))
    printed = {claim.rule.partition(".")[0] for claim in chosen_headlines(run) if claim.alarm}
    printed |= {"length" for one in learned(run) if one.subject == "Length"}
    only = replace(run, findings=Findings(f for f in findings if f.where.get("kind") == "MFT"))
    sentence = checks_headline(only)
    tested = among_checks(run)
    low = weakest(tested)
    named = low if low and harmed(low) else None
    return Alarms(frozenset(printed), named, tested, bool(sentence and sentence.alarm))


def shares(one: Design, audits: int, *, checks: bool = True) -> list[str]:
    """The share of audits with each kind of false alarm, with any, and of the other columns, in percent."""
    raised = [audited(asked_of(one, FIRST + k), checks=checks) for k in range(audits)]
    every: dict[str, list[float]] = {}
    for f in (f for one in raised for f in one.checks):
        every.setdefault(f.where["check"], []).append(f.value)
    rates = {check: float(np.nanmean(values)) for check, values in every.items()}
    false = [one.false() for one in raised]
    columns = [[kind in found for found in false] for kind in (*KINDS, *CHECKS)]
    columns += [[bool(found) for found in false], [one.harm for one in raised]]
    missed = [one.missed(rates) for one in raised]
    columns += [missed, [bool(found) or late for found, late in zip(false, missed, strict=True)]]
    columns += [[one.missed_some(rates) for one in raised]]
    return [f"{100 * np.mean(column):.1f}" for column in columns]


def main() -> None:
    """Print the share of false alarms by corpus, then of planted effects found by kind and size."""
    print(f"{machine()}; {AUDITS} audits each, in percent\n", flush=True)
    rows = []
    for design in DESIGNS:
        rows.append([design.name, *shares(design, AUDITS)])
        print(rows[-1], file=sys.stderr, flush=True)
    others = ("any", "MFT only", "rate missed", "any or missed", "some rate missed")
    print(table(["corpus", *KINDS, *CHECKS, *others], rows), "\n", flush=True)
    rows = []
    for design in (DESIGNS[0], DESIGNS[3]):
        for kind in KINDS:
            found = []
            for plant in (0.2, 0.4, 0.8):
                planted = replace(design, plant=plant, planted=kind)
                found.append(shares(planted, max(AUDITS // 4, 1), checks=False)[KINDS.index(kind)])
            rows.append([design.name, kind, *found])
            print(rows[-1], file=sys.stderr, flush=True)
    print(table(["corpus", "planted", "0.2 sd", "0.4 sd", "0.8 sd"], rows))


if __name__ == "__main__":
    main()
