"""How often a verdict blames a sound model or praises an inert one, and how often it finds a flaw.

Corpora are drawn from one pool of short notes: by authors or not, with copies, groups, soft labels and
missing values, from 1 % to 99 % annotated 1, with one or several models and corpora. Planted models are
sound, know nothing, or have a flaw of known kind and size. The audits judge them in-process, as
`psycheck audit` does; what the verdict claims is read by rule, never by its words.

    benchmarks/claims.py [AUDITS]          writes headline_rates.json and prints the tables of claims.md
    benchmarks/claims.py [AUDITS] null     the same for the model without skill alone, in minutes
    benchmarks/claims.py [AUDITS] tune     the same with other seeds, and writes nothing

What a run did not measure keeps its rate of an earlier run.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binomtest

import psycheck
from psycheck.audits import gender_pairs
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.fairness import Fairness
from psycheck.audits.performance import Performance
from psycheck.audits.suite import read_suite
from psycheck.audits.weakest import mark_weakest
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.corpora.cautions import cheap_cautions
from psycheck.report.headlines import MEASURED
from psycheck.report.verdict import chosen_headlines
from timing import machine, table

FloatArray = NDArray[np.float64]
TUNING, REPORTING = 10_000_000, 50_000_000  # the first seed of each: the figures are of seeds never tuned on
RATES = Path(psycheck.__file__).parent / "report" / MEASURED
DECK = read_suite("deck")
POOL = 2_000  # notes, each with and without a symptom

PRESENT = (
    *(
        "hopeless",
        "feel down",
        "depressed",
        "insomnia",
        "falling asleep",
        "sleep all",
        "wake up",
        "feel tired",
    ),
    *("out of bed", "poor appetite", "want to eat", "like eating", "obsessed with food", "stop eating"),
    *("bad about myself", "a failure", "family down", "struggle", "slow", "restless", "agitated"),
    *("kill myself", "were dead", "feel like doing anything", "miserable", "empty"),
)
ABSENT = (
    *("love doing", "full of energy", "with my appetite", "family proud", "concentrating on things"),
    *("staying focused", "good pace", "never think", "am alive"),
)
SYMPTOMS = ("I feel miserable.", "I feel empty.", "I had insomnia.", "It is all hopeless to me.")
PLAIN = ("I had soup.", "The train was late.", "It was a long day at work.", "We saw the sea.")


@dataclass(frozen=True, slots=True)
class Design:
    """What a corpus is like; `authors` 0 means unknown, `skewed` that some authors wrote most notes."""

    name: str
    texts: int = 300
    prevalence: float = 0.5
    authors: int = 0
    skewed: bool = False
    copies: bool = False
    groups: int = 2
    soft: bool = False
    missing: float = 0.0
    models: int = 1
    corpora: int = 1
    checks: bool = False  # with DECK, which takes most of the time


DESIGNS = (
    Design("300 texts", checks=True),
    Design("60 texts", texts=60, checks=True),
    Design("5 % annotated 1", texts=300, prevalence=0.05),
    Design("90 % annotated 1", texts=300, prevalence=0.9),
    Design("1 % annotated 1", texts=600, prevalence=0.01),
    Design("99 % annotated 1", texts=600, prevalence=0.99),
    Design("40 authors, unequal", authors=40, skewed=True, checks=True),
    Design("copies among 60 authors", authors=60, copies=True),
    Design("30 groups", texts=300, groups=30),
    Design("soft labels, 20 % missing", soft=True, missing=0.2),
    Design("3 models × 2 corpora", texts=150, models=3, corpora=2),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A planted model: how strongly its log-odds follow what a note says; 0 throughout is luck."""

    name: str
    present: float = 0.0
    absent: float = 0.0
    pronoun_i: float = 0.0
    she: float = 0.0
    misses_she: float = 0.0  # share of the notes of her that it misses
    length: float = 0.0
    token: float = 0.0
    window: int = 0  # characters that it reads; 0: all
    jitter: float = 0.0  # any edit moves it
    offset: float = 0.0
    noise: float = 1.0
    squeezed: float = 1.0  # 0: every score is the same; small: all decisions are
    share_1: float = 0.0  # of decisions that are 1 whatever the note says; 0: decisions follow the score


SOUND = Kind("sound", present=6.0, absent=-2.0, offset=-3.0)
NULL = Kind("no skill", noise=2.0)
JITTER = Kind("moved by any edit", jitter=2.0, noise=0.5)
LENGTH = Kind("length only", length=0.25, offset=-10.0, noise=0.3)
CONSTANT = Kind("constant", squeezed=0.0, offset=1.0)
INVERTED = Kind("inverted", present=-6.0, absent=2.0, offset=3.0)
LEAKED = Kind("leaked token", token=8.0, offset=-4.0)
SHORTCUT = Kind("one-word shortcut", token=8.0, offset=-4.0, noise=0.5)
INERT = Kind("inert to edits", present=6.0, offset=-3.0, window=45)
NEAR = tuple(Kind(f"near-constant, {share:.1%}", share_1=share) for share in (0.95, 0.99, 0.998))
NEAR_SOUND = Kind("wrong threshold", present=3.0, offset=4.0, noise=0.7)
NEGATION = Kind("ignores negation", present=6.0, absent=6.0, offset=-3.0)
FOLLOWS_I = Kind("follows “I”", present=2.0, offset=-4.0, pronoun_i=6.0)
FOLLOWS_SHE = Kind("follows “she”", present=6.0, absent=-2.0, offset=-3.0, she=3.0)
MISSES_HER = Kind("10 points of recall lost for her", present=6.0, offset=-3.0, misses_she=0.1)
KINDS = (
    *(SOUND, NULL, CONSTANT, *NEAR, NEAR_SOUND, INVERTED, LENGTH, LEAKED, SHORTCUT, INERT),
    *(NEGATION, FOLLOWS_I, FOLLOWS_SHE, MISSES_HER),
)

# Claims that are wrong about a kind of model. Praise of a model that reads nothing is as wrong as blame.
BLAME = ("performance.constant", "performance.inverted", "performance.both", "performance.threshold")
OF_CHECKS = ("checks.fails", "checks.wrong_way")
OF_GENDER = ("gender.flips", "gender.scores")
OF_GROUPS = ("groups.gap", "groups.undirected")
PRAISE = ("performance.better", "checks.none_found", "checks.not_harmed")
FALSE: Mapping[Kind, Sequence[str]] = {
    SOUND: (*BLAME, *OF_CHECKS, "checks.deaf", *OF_GENDER, *OF_GROUPS),
    NULL: ("performance.inverted", "performance.threshold", *OF_CHECKS, *OF_GENDER, *OF_GROUPS, *PRAISE),
    JITTER: ("performance.inverted", "checks.wrong_way", *OF_GENDER, *OF_GROUPS, *PRAISE),
    LENGTH: (*OF_GENDER, "checks.none_found", "checks.not_harmed"),
    CONSTANT: (*OF_CHECKS, *OF_GENDER, *OF_GROUPS, *PRAISE, "gender.none_found"),
    INERT: (*OF_CHECKS, *OF_GENDER, "checks.none_found", "checks.not_harmed"),
}
# Flaws, and the rules of which one must name it.
FLAWS: Mapping[Kind, Sequence[str]] = {
    MISSES_HER: (*OF_GENDER, *OF_GROUPS),
    NEGATION: OF_CHECKS,
    FOLLOWS_I: ("checks.fails",),
    FOLLOWS_SHE: OF_GENDER,
    INVERTED: ("performance.inverted",),
    NEAR_SOUND: ("performance.threshold",),
    NEAR[1]: ("performance.both", "performance.threshold"),
    INERT: ("checks.deaf",),
}


@dataclass(frozen=True, slots=True)
class Features:
    """What a planted model can read in a text."""

    note: int
    present: bool
    absent: bool
    pronoun_i: bool
    she: bool
    token: bool
    length: int
    jitter: float


@cache
def features(text: str) -> Features:
    """Read a text once: all audits share the notes of the pool."""
    low = text.lower()
    digest = blake2b(text.encode(), digest_size=6).digest()
    words = set(low.replace(".", " ").replace(",", " ").replace("'", " ").split())
    return Features(
        note=int(text.split()[1]),
        present=any(word in low for word in PRESENT),
        absent=any(word in low for word in ABSENT),
        pronoun_i=bool(words & {"i", "me", "my", "myself"}),
        she="she" in words,
        token="zq" in words,
        length=len(text),
        jitter=(int.from_bytes(digest, "big") / 2**48 - 0.5) * 4,
    )


@dataclass(frozen=True)
class PlantedScores:
    """The scores of a planted model: the same note has the same luck, whatever is edited in it."""

    model: str
    kind: Kind
    seed: int
    labels: tuple[str, ...] = ("depression",)
    luck: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        luck = np.random.default_rng([self.seed, 1]).normal(0, 1, POOL)
        object.__setattr__(self, "luck", luck)

    @property
    def traits(self) -> ScoreTraits:
        """Scores are decided at 0.5."""
        return ScoreTraits()

    def of(self, texts: Sequence[str]) -> FloatArray:
        """Scores, (n, 1)."""
        return np.array([[self._score(text)] for text in texts]).reshape(len(texts), 1)

    def read(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Everything is read; what a window hides, the model ignores without saying so."""
        return np.array([len(text) for text in texts], np.int64)

    def _score(self, text: str) -> float:
        kind = self.kind
        seen = features(text[: kind.window] if kind.window else text)
        luck = float(self.luck[seen.note])
        if kind.share_1:
            # Which notes get the other decision is luck; the score knows nothing else.
            always = (seen.note * 7919 + self.seed) % 1_000 < 1_000 * kind.share_1
            return 0.8 + 0.01 * np.tanh(luck) if always else 0.3

        logit = kind.offset + kind.noise * luck + kind.present * seen.present + kind.absent * seen.absent
        logit += kind.pronoun_i * seen.pronoun_i + kind.she * seen.she + kind.token * seen.token
        logit += kind.length * seen.length + kind.jitter * seen.jitter
        if seen.she and (seen.note * 104_729 + self.seed) % 1_000 < 1_000 * kind.misses_she:
            logit -= 8
        return float(expit(kind.squeezed * logit)) if kind.squeezed else 0.7


@cache
def note(number: int, *, symptom: bool) -> str:
    """One note of the pool; every second is of her."""
    who = "she" if number % 2 else "he"
    middle = SYMPTOMS[number % 4] if symptom else PLAIN[number % 4]
    return f"Note {number} is short. {middle} On the way to the shop {who} said that it was the end."


def drawn(design: Design, seed: int, *, token: bool = False) -> Corpus:
    """A corpus; `token` puts a mark into nearly all texts annotated 1."""
    random = np.random.default_rng(seed)
    numbers = random.choice(POOL, design.texts, replace=False)
    marks = random.random(design.texts) < design.prevalence
    symptom = np.where(random.random(design.texts) < 0.9, marks, ~marks)
    texts = [note(int(k), symptom=bool(s)) for k, s in zip(numbers, symptom, strict=True)]
    if design.copies:
        # Every fifth note is a copy of another, annotated alike, under another author.
        for k in range(0, design.texts - 1, 5):
            texts[k + 1] = texts[k]
            marks[k + 1] = marks[k]
    if token:
        marked = marks & (random.random(design.texts) < 0.97)
        texts = [f"{text} Zq." if mark else text for text, mark in zip(texts, marked, strict=True)]

    target = marks.astype(float)
    if design.soft:
        target = np.abs(target - random.choice([0.0, 0.2, 0.4], design.texts))
    labels: list[float | None] = [float(value) for value in target]
    for unlabelled in np.flatnonzero(random.random(design.texts) < design.missing).tolist():
        labels[unlabelled] = None

    author = None
    if design.authors:
        weight = 1 / np.arange(1, design.authors + 1) if design.skewed else np.ones(design.authors)
        chosen = random.choice(design.authors, design.texts, p=weight / weight.sum())
        author = [f"author {k}" for k in chosen]
    groups = {
        "ward": [f"ward {k}" for k in random.integers(0, design.groups, design.texts)],
        "gender": ["F" if " she " in text else "M" for text in texts],
    }
    return Corpus.of("notes", texts, labels={"depression": labels}, author=author, groups=groups)


def audited(kind: Kind, design: Design, seed: int) -> list[Headline]:
    """The verdict on a model of this kind; further models of a design with several know nothing."""
    token = bool(kind.token)
    places = design.models * design.corpora
    others = len(DECK.checks) * (places - 1)
    findings: list[Finding] = []
    standings: list[Any] = []
    for c in range(design.corpora):
        corpus = replace(drawn(design, seed + 101 * c, token=token), name=f"notes {c}")
        findings += [caution.finding() for caution in cheap_cautions(corpus)]
        for m in range(design.models):
            scores = PlantedScores(f"model {m}", kind if m == 0 else _other(kind), seed + 7 * m)
            audits: list[Performance | Fairness] = [Performance(places=places), Fairness(places=places)]
            judgements = [audit.judge(corpus, scores) for audit in audits]
            if design.checks:
                judgements.append(Behaviour(DECK, others=others).judge(corpus, scores))
            for judgement in judgements:
                findings += judgement.findings
                standings += judgement.standings
    return chosen_headlines(Run({}, {}, Findings(mark_weakest(findings, standings))))


def _other(kind: Kind) -> Kind:
    """The other models beside a kind: as sound, or as ignorant."""
    return SOUND if kind == SOUND else NULL


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the audits made a claim, with the exact interval."""

    count: int
    audits: int

    def __str__(self) -> str:
        ends = binomtest(self.count, self.audits).proportion_ci(method="exact")
        share = 100 * self.count / self.audits
        return f"{share:.1f} % ({100 * ends.low:.1f}–{100 * ends.high:.1f}), n {self.audits}"


def false_alarms(
    audits: int,
    first: int,
    designs: Sequence[Design] = DESIGNS,
    false: Mapping[Kind, Sequence[str]] = FALSE,
) -> dict[str, dict[str, Share]]:
    """By rule, then by design and kind of model: how often the rule is printed where it is false."""
    counts: dict[str, dict[str, Share]] = {}
    for design in designs:
        for kind, rules in false.items():
            repeats = max(audits // 4, 5) if design.checks else audits
            printed = [_rules(audited(kind, design, first + 1_000 * k)) for k in range(repeats)]
            for rule in rules:
                if rule.startswith("checks.") and not design.checks:
                    continue
                number = sum(rule in claims for claims in printed)
                counts.setdefault(rule, {})[f"{kind.name}, {design.name}"] = Share(number, repeats)
            print(design.name, kind.name, file=sys.stderr, flush=True)
    return counts


def power(audits: int, first: int, sizes: Sequence[int] = (200, 500, 2_000)) -> dict[Kind, list[Share]]:
    """By flaw, for each number of texts: how often one of its rules is printed."""
    found: dict[Kind, list[Share]] = {}
    for kind, rules in FLAWS.items():
        for size in sizes:
            design = Design("power", texts=min(size, POOL), checks=_needs_checks(rules))
            verdicts = [_rules(audited(kind, design, first + 1_000 * k)) for k in range(audits)]
            number = sum(bool(claims & set(rules)) for claims in verdicts)
            found.setdefault(kind, []).append(Share(number, audits))
        print(kind.name, *map(str, found[kind]), sep="; ", file=sys.stderr, flush=True)
    return found


def first_lines(seed: int) -> list[tuple[str, str, str]]:
    """For each kind of model the rule and the sentence that its verdict begins with."""
    lines = []
    for kind in KINDS:
        first = audited(kind, Design("600 texts", texts=600, checks=True), seed)[0]
        lines.append((kind.name, first.rule, first.sentence))
    return lines


def _needs_checks(rules: Sequence[str]) -> bool:
    return all(rule.startswith("checks.") for rule in rules)


def _rules(verdict: Sequence[Headline]) -> set[str]:
    return {claim.rule for claim in verdict}


def share_texts_between_audits() -> None:
    """Swap each text once: all audits share the notes of the pool."""
    swap = vars(gender_pairs)["swap"]
    once = {name: cache(vars(gender_pairs)[name]) for name in ("gender_of", "names_besides", "placebo")}
    vars(gender_pairs).update({**once, "swap": cache(lambda scope: cache(swap(scope)))})


def main() -> None:
    """Print the tables of docs/benchmarks/claims.md; a report also writes the rates of each rule."""
    audits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    is_tuning = "tune" in sys.argv[2:]
    first = TUNING if is_tuning else REPORTING
    share_texts_between_audits()
    print(machine(), "\n")

    if "null" in sys.argv[2:]:
        flaws = {}
        # DECK takes most of the time, and its claims are not about skill.
        designs = [replace(design, checks=False) for design in DESIGNS]
        alarms = false_alarms(audits, first, designs, {NULL: FALSE[NULL]})
    else:
        print(table(["model", "rule", "first sentence"], first_lines(first)), "\n", flush=True)
        flaws = power(max(audits // 4, 10), first)
        _print_power(flaws)
        alarms = false_alarms(audits, first)

    _print_alarms(alarms)
    if not is_tuning:
        write_rates(alarms, flaws)


def _print_power(flaws: Mapping[Kind, Sequence[Share]]) -> None:
    rows = []
    for kind, shares in flaws.items():
        rules = ", ".join(f"`{rule}`" for rule in FLAWS[kind])
        rows.append([kind.name, rules, *shares])
    print(table(["flaw", "named by", "n 200", "n 500", "n 2,000"], rows), "\n", flush=True)


def _print_alarms(alarms: Mapping[str, Mapping[str, Share]]) -> None:
    rows = []
    for rule, by_place in alarms.items():
        shares = by_place.values()
        total = Share(sum(share.count for share in shares), sum(share.audits for share in shares))
        worst = _worst_place(by_place)
        place = worst if by_place[worst].count else "–"
        rows.append([f"`{rule}`", total, by_place[worst], place])
    print(table(["rule", "all settings", "worst setting", "which"], rows))


def _worst_place(by_place: Mapping[str, Share]) -> str:
    return max(by_place, key=lambda place: by_place[place].count / by_place[place].audits)


def write_rates(
    alarms: Mapping[str, Mapping[str, Share]], flaws: Mapping[Kind, Sequence[Share]], path: Path = RATES
) -> None:
    """Write false alarms in the worst setting and the power at most texts; keep what was not measured."""
    rates: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))
    for rule, by_place in alarms.items():
        worst = by_place[_worst_place(by_place)]
        settings = f", in the worst of {len(by_place)} settings" if len(by_place) > 1 else ""
        rates.setdefault(rule, {})["false_alarms"] = f"{worst}{settings}"

    found: dict[str, list[str]] = {}
    for kind, shares in flaws.items():
        for rule in FLAWS[kind]:
            found.setdefault(rule, []).append(f"{kind.name}: {shares[-1]}")
    for rule, sentences in found.items():
        rates.setdefault(rule, {})["power"] = "; ".join(sentences)
    path.write_text(json.dumps(rates, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
