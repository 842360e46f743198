"""How often a verdict blames a sound model or praises an inert one, and how often it finds a flaw.

The audits judge planted models (planted_models.py) in-process, as `psycheck audit` does; the claims of other
pages are drawn by page_claims.py and history_claims.py. What is claimed is read by rule, never by its words.

    benchmarks/claims.py AUDITS PART [tune] [from=K] [to=K]

Parts: `lines` (the first line about each kind of model), `power`, `alarms`, `pages`, `page_power`, and
`write`, which makes headline_rates.json and the tables of docs/benchmarks/claims.md from all that was
measured. Parts can be run apart, and in several processes (`from` and `to` number the designs, or the
settings of pages): each adds to claim_counts.json. `tune` takes other seeds and writes nothing. Kinds of
model that raised no alarm while the rules were chosen are audited `FEW` times: none of 60 leaves 6 % open.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence

import history_claims
import page_claims
from claim_rates import (
    ALARMS,
    POWER,
    Share,
    add_counts,
    alarm_table,
    beyond,
    counted,
    read_counts,
    write_rates,
)
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
    MISSES_A_GROUP,
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
from trials import Rates, rates_of

# The first seed of each. Figures are of seeds that nothing was tuned on: those from 50,000,000 on were
# reported before the bench drew from a larger pool.
TUNING, REPORTING = 10_000_000, 400_000_000
SIZES = (200, 500, 2_000)
FEW = 60

DESIGNS: Sequence[Design] = (
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
    "performance.hardly_better",
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
# They raised no alarm while the rules were chosen.
QUIET = (LENGTH, CONSTANT, INERT)

# Flaws, and the rules of which one must name it.
FLAWS: Mapping[Kind, Sequence[str]] = {
    MISSES_HER: OF_GENDER,
    MISSES_A_GROUP: OF_GROUPS,
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
    NULL: ("performance.hardly_better",),
    SOUND: ("performance.better",),
    CONSTANT: ("performance.constant",),
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
) -> Iterator[Rates]:
    """For each design and kind of model: how often a rule is printed where it is false."""
    for design in designs:
        for kind, rules in false.items():
            if design.models * design.corpora > MANY_PLACES and kind not in (SOUND, NULL):
                continue
            applicable = [rule for rule in rules if design.checks or not rule.startswith("checks.")]
            # The further models of a design know nothing, whatever the first is.
            is_quiet = kind in QUIET and design.models == 1
            number = min(audits, FEW) if is_quiet else audits
            printed = [rules_of(kind, design, first + 1_000 * k) for k in range(number)]
            shares = counted(printed, applicable)

            setting = f"{kind.name}, {design.name}"
            seen = ", ".join(f"{rule} {share.count}" for rule, share in shares.items() if share.count)
            print(setting, seen or "none", sep=": ", file=sys.stderr, flush=True)
            yield {rule: {setting: share} for rule, share in shares.items()}


def power(audits: int, first: int, sizes: Sequence[int] = SIZES) -> Iterator[Rates]:
    """For each flaw and number of texts: how often one of the rules that must name it is printed."""
    for kind, rules in FLAWS.items():
        needs_checks = all(rule.startswith("checks.") for rule in rules)
        for size in sizes:
            design = Design("power", texts=size, checks=needs_checks)
            printed = [rules_of(kind, design, first + 1_000 * k) for k in range(audits)]
            share = Share(sum(bool(claims & set(rules)) for claims in printed), audits)

            setting = f"{kind.name}, {size:,} texts"
            print(setting, share, sep=": ", file=sys.stderr, flush=True)
            yield {rule: {setting: share} for rule in rules}


def first_lines(seed: int) -> list[tuple[str, str, str]]:
    """For each kind of model the rule and the sentence that its verdict begins with."""
    design = Design("600 texts", texts=600, checks=True)
    lines = []
    for kind in KINDS:
        verdict = chosen_headlines(audited(kind, design, seed))
        lines.append((kind.name, verdict[0].rule, verdict[0].sentence))
    return lines


def power_table(powers: Rates) -> str:
    """One row per flaw: the rules that must name it, and how often one does at each number of texts."""
    rows = []
    for kind, rules in FLAWS.items():
        settings = powers[rules[0]]
        shares = [settings[f"{kind.name}, {size:,} texts"] for size in SIZES]
        rows.append([kind.name, ", ".join(f"`{rule}`" for rule in rules), *shares])
    return table(["flaw", "named by", *(f"n {size:,}" for size in SIZES)], rows)


def page_power_table(powers: Rates) -> str:
    """One row per flaw that the pages of `diff`, `improve`, cautions and histories must name."""
    rows = []
    for trial in [*page_claims.trials(), *history_claims.trials()]:
        if trial.is_flaw:
            rule = trial.rules[0]
            rules = ", ".join(f"`{name}`" for name in trial.rules)
            rows.append([trial.setting, rules, powers[rule][trial.setting]])
    return table(["flaw", "named by", "named"], rows)


def measured(part: str, audits: int, first: int, settings: slice) -> Iterator[tuple[str, Rates]]:
    """What a part measures, setting by setting, and which of both it is: alarms or power."""
    pages = [*page_claims.trials(), *history_claims.trials()]
    if part == "alarms":
        yield from ((ALARMS, rates) for rates in false_alarms(audits, first, DESIGNS[settings]))
    elif part == "power":
        yield from ((POWER, rates) for rates in power(audits, first))
    elif part == "pages":
        nulls = [trial for trial in pages if not trial.is_flaw]
        yield from ((ALARMS, rates_of(trial, audits, first)) for trial in nulls[settings])
    elif part == "page_power":
        flaws = [trial for trial in pages if trial.is_flaw]
        yield from ((POWER, rates_of(trial, audits, first)) for trial in flaws[settings])


def write() -> None:
    """Make the shipped rates of all that was measured, and print the tables of the docs."""
    alarms = read_counts(ALARMS)
    powers = read_counts(POWER)
    write_rates(alarms, powers)
    print(power_table(powers), "\n")
    print(page_power_table(powers), "\n")
    print(alarm_table(alarms), "\n")
    print("More than 5 %, or an upper bound above 8 %:", *beyond(alarms) or ["none"], sep="\n- ")


def main(arguments: Sequence[str]) -> None:
    """Measure one part, or write what all of them measured."""
    audits = int(arguments[0])
    part = arguments[1]
    is_tuning = "tune" in arguments
    ends = dict(argument.split("=") for argument in arguments if "=" in argument)
    settings = slice(int(ends.get("from", 0)), int(ends.get("to", 1_000)))
    first = TUNING if is_tuning else REPORTING
    share_texts_between_audits()

    print(machine(), "\n")
    if part == "lines":
        print(table(["model", "rule", "first sentence"], first_lines(first)))
    elif part == "write":
        write()
    for kind, rates in measured(part, audits, first, settings):
        if not is_tuning:
            add_counts(kind, rates)


if __name__ == "__main__":
    main(sys.argv[1:])
