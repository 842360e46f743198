"""How often a verdict blames a sound model or praises an inert one, and how often it finds a flaw.

The audits judge planted models (planted_models.py) in-process, as `psycheck audit` does; the claims of other
pages are drawn by page_claims.py. What is claimed is read by rule, never by its words.

    benchmarks/claims.py AUDITS [PART …] [tune]

Parts: `lines` (the first line about each kind of model), `power`, `alarms`, `pages`; all without one. A run
writes headline_rates.json, and what it did not measure keeps its rate; `tune` takes other seeds and writes
nothing.
"""

import sys
from collections.abc import Mapping, Sequence

import page_claims
from claim_rates import Share, alarm_table, beyond, counted, merged, write_rates
from planted_models import (
    CONSTANT,
    FOLLOWS_I,
    FOLLOWS_SHE,
    HALF_NEGATION,
    INERT,
    INVERTED,
    JITTER,
    KINDS,
    LEANS_ON_I,
    LEANS_ON_SHE,
    LENGTH,
    MISSES_HER,
    NEAR,
    NEAR_SOUND,
    NEGATION,
    NULL,
    SOUND,
    Design,
    Kind,
    audited,
    share_texts_between_audits,
)
from psycheck.report.verdict import chosen_headlines
from timing import machine, table

# The first seed of each. Figures are of seeds that nothing was tuned on: those from 50,000,000 on were
# reported before the bench drew from a larger pool.
TUNING, REPORTING = 10_000_000, 200_000_000
SIZES = (200, 500, 2_000)

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
    Design("10 models × 5 corpora", texts=100, models=10, corpora=5),
)
MANY_PLACES = 10  # models × corpora from which only the sound and the ignorant are drawn: 1.5 s each

# Claims that are wrong about a kind of model. Praise of a model that reads nothing is as wrong as blame.
BLAME = (
    "performance.constant",
    "performance.inverted",
    "performance.both",
    "performance.threshold",
)
OF_CHECKS = ("checks.fails", "checks.wrong_way")
OF_GENDER = ("gender.flips", "gender.scores")
OF_GROUPS = ("groups.gap", "groups.undirected")
PRAISE = ("performance.better", "checks.none_found", "checks.not_harmed")
FALSE: Mapping[Kind, Sequence[str]] = {
    SOUND: (*BLAME, *OF_CHECKS, "checks.deaf", *OF_GENDER, *OF_GROUPS),
    NULL: (
        "performance.inverted",
        "performance.threshold",
        *OF_CHECKS,
        *OF_GENDER,
        *OF_GROUPS,
        *PRAISE,
    ),
    JITTER: ("performance.inverted", "checks.wrong_way", *OF_GENDER, *OF_GROUPS, *PRAISE),
    LENGTH: (*OF_GENDER, "checks.none_found", "checks.not_harmed"),
    CONSTANT: (*OF_CHECKS, *OF_GENDER, *OF_GROUPS, *PRAISE, "gender.none_found"),
    INERT: (*OF_CHECKS, *OF_GENDER, "checks.none_found", "checks.not_harmed"),
}
# Flaws, and the rules of which one must name it.
FLAWS: Mapping[Kind, Sequence[str]] = {
    MISSES_HER: (*OF_GENDER, *OF_GROUPS),
    NEGATION: OF_CHECKS,
    HALF_NEGATION: OF_CHECKS,
    FOLLOWS_I: ("checks.fails",),
    LEANS_ON_I: ("checks.fails",),
    FOLLOWS_SHE: OF_GENDER,
    LEANS_ON_SHE: OF_GENDER,
    INVERTED: ("performance.inverted",),
    NEAR_SOUND: ("performance.threshold",),
    NEAR[1]: ("performance.both", "performance.threshold"),
    INERT: ("checks.deaf",),
}


def rules_of(kind: Kind, design: Design, seed: int) -> set[str]:
    """The rules of the verdict on a model of this kind."""
    run = audited(kind, design, seed)
    return {claim.rule for claim in chosen_headlines(run)}


def false_alarms(
    audits: int,
    first: int,
    designs: Sequence[Design] = DESIGNS,
    false: Mapping[Kind, Sequence[str]] = FALSE,
) -> dict[str, dict[str, Share]]:
    """By rule, then by kind of model and design: how often the rule is printed where it is false."""
    alarms: dict[str, dict[str, Share]] = {}
    for design in designs:
        for kind, rules in false.items():
            if design.models * design.corpora > MANY_PLACES and kind not in (SOUND, NULL):
                continue
            setting = f"{kind.name}, {design.name}"
            applicable = [rule for rule in rules if design.checks or not rule.startswith("checks.")]
            printed = [rules_of(kind, design, first + 1_000 * k) for k in range(audits)]
            shares = counted(printed, applicable)
            for rule, share in shares.items():
                alarms.setdefault(rule, {})[setting] = share
            seen = ", ".join(f"{rule} {share.count}" for rule, share in shares.items() if share.count)
            print(setting, seen or "none", sep=": ", file=sys.stderr, flush=True)
    return alarms


def power(audits: int, first: int, sizes: Sequence[int] = SIZES) -> dict[Kind, list[Share]]:
    """By flaw, for each number of texts: how often one of its rules is printed."""
    powers: dict[Kind, list[Share]] = {}
    for kind, rules in FLAWS.items():
        needs_checks = all(rule.startswith("checks.") for rule in rules)
        for size in sizes:
            design = Design("power", texts=size, checks=needs_checks)
            printed = [rules_of(kind, design, first + 1_000 * k) for k in range(audits)]
            named = sum(bool(claims & set(rules)) for claims in printed)
            powers.setdefault(kind, []).append(Share(named, audits))
        print(kind.name, *powers[kind], sep="; ", file=sys.stderr, flush=True)
    return powers


def first_lines(seed: int) -> list[tuple[str, str, str]]:
    """For each kind of model the rule and the sentence that its verdict begins with."""
    design = Design("600 texts", texts=600, checks=True)
    lines = []
    for kind in KINDS:
        verdict = chosen_headlines(audited(kind, design, seed))
        lines.append((kind.name, verdict[0].rule, verdict[0].sentence))
    return lines


def power_table(powers: Mapping[Kind, Sequence[Share]]) -> str:
    """One row per flaw: its rules, and the power at each number of texts."""
    rows = []
    for kind, shares in powers.items():
        rules = ", ".join(f"`{rule}`" for rule in FLAWS[kind])
        rows.append([kind.name, rules, *shares])
    return table(["flaw", "named by", *(f"n {size:,}" for size in SIZES)], rows)


def powers_by_rule(powers: Mapping[Kind, Sequence[Share]]) -> dict[str, list[str]]:
    """For each rule the flaws that it must name, with the power at most texts."""
    sentences: dict[str, list[str]] = {}
    for kind, shares in powers.items():
        for rule in FLAWS[kind]:
            sentences.setdefault(rule, []).append(f"{kind.name}: {shares[-1]}")
    return sentences


def main(arguments: Sequence[str]) -> None:
    """Print the tables of docs/benchmarks/claims.md, and write the rates of each rule."""
    audits = int(arguments[0])
    is_tuning = "tune" in arguments
    parts = set(arguments[1:]) - {"tune"} or {"lines", "power", "alarms", "pages"}
    first = TUNING if is_tuning else REPORTING
    share_texts_between_audits()
    print(machine(), "\n")

    if "lines" in parts:
        print(table(["model", "rule", "first sentence"], first_lines(first)), "\n", flush=True)
    powers = power(max(audits // 4, 10), first) if "power" in parts else {}
    if powers:
        print(power_table(powers), "\n", flush=True)

    of_audits = false_alarms(audits, first) if "alarms" in parts else {}
    of_pages = page_claims.false_alarms(audits, first) if "pages" in parts else {}
    alarms = merged(of_audits, of_pages)
    if alarms:
        print(alarm_table(alarms), "\n")
        print("More than 5 %, or an upper bound above 8 %:", *beyond(alarms) or ["none"], sep="\n- ")
    if not is_tuning:
        write_rates(alarms, powers_by_rule(powers))


if __name__ == "__main__":
    main(sys.argv[1:])
