"""How often a claim is made: shares with exact intervals, their tables, and the files that hold them.

`COUNTS` has all settings, so that a bench can be run in parts; the shipped file of rates is made from it.
"""

import fcntl
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binomtest

import psycheck
from psycheck.report.headlines import MEASURED
from timing import table

RATES = Path(psycheck.__file__).parent / "report" / MEASURED
COUNTS = Path(__file__).with_name("claim_counts.json")
ALARMS, POWER = "alarms", "power"


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the audits made a claim, with the exact interval."""

    count: int
    audits: int

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.count / self.audits

    @property
    def upper(self) -> float:
        """The upper end of the interval."""
        return float(binomtest(self.count, self.audits).proportion_ci(method="exact").high)

    def __str__(self) -> str:
        ends = binomtest(self.count, self.audits).proportion_ci(method="exact")
        return f"{100 * self.value:.1f} % ({100 * ends.low:.1f}–{100 * ends.high:.1f}), n {self.audits}"


# By rule, then by setting.
Alarms = Mapping[str, Mapping[str, Share]]


def merged(*several: Alarms) -> dict[str, dict[str, Share]]:
    """The settings of several benches under one roof."""
    alarms: dict[str, dict[str, Share]] = {}
    for of_bench in several:
        for rule, by_setting in of_bench.items():
            alarms.setdefault(rule, {}).update(by_setting)
    return alarms


def counted(printed: Sequence[set[str]], rules: Sequence[str]) -> dict[str, Share]:
    """How often each rule is among what was printed."""
    return {
        rule: Share(sum(rule in rules_printed for rules_printed in printed), len(printed)) for rule in rules
    }


def alarm_table(alarms: Alarms) -> str:
    """One row per rule: all settings together, and the worst of them."""
    rows = []
    for rule, by_setting in alarms.items():
        shares = by_setting.values()
        total = Share(
            sum(share.count for share in shares),
            sum(share.audits for share in shares),
        )
        worst = worst_setting(by_setting)
        name = worst if by_setting[worst].count else "–"
        rows.append([f"`{rule}`", len(by_setting), total, by_setting[worst], name])
    return table(["rule", "settings", "all settings", "worst setting", "which"], rows)


def beyond(alarms: Alarms, *, most: float = 0.05, upper: float = 0.08) -> list[str]:
    """The settings in which a rule is wrong more often than is promised, or may be."""
    lines = []
    for rule, by_setting in alarms.items():
        for name, share in by_setting.items():
            if share.value > most or share.upper > upper:
                lines.append(f"`{rule}`, {name}: {share}")
    return lines


def worst_setting(by_setting: Mapping[str, Share]) -> str:
    """The setting with the highest share; of several the one with the highest upper end of its interval."""
    return max(by_setting, key=lambda name: (by_setting[name].value, by_setting[name].upper))


def add_counts(kind: str, measured: Alarms, path: Path = COUNTS) -> None:
    """Add what one run measured to the file of counts; a setting that was measured before is replaced."""
    with path.open("a+", encoding="utf-8") as file:
        # Several processes may measure at once.
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        counts = json.loads(text) if text else {ALARMS: {}, POWER: {}}
        for rule, by_setting in measured.items():
            for setting, share in by_setting.items():
                counts[kind].setdefault(rule, {})[setting] = [share.count, share.audits]
        file.truncate(0)
        file.write(json.dumps(counts, indent=1, ensure_ascii=False) + "\n")


def read_counts(kind: str, path: Path = COUNTS) -> dict[str, dict[str, Share]]:
    """What all runs together measured, by rule and setting."""
    counts = json.loads(path.read_text("utf-8"))[kind]
    return {
        rule: {setting: Share(*numbers) for setting, numbers in by_setting.items()}
        for rule, by_setting in counts.items()
    }


def write_rates(alarms: Alarms, powers: Alarms, path: Path = RATES) -> None:
    """Write, for each rule, its false alarms in the worst setting and its power in each."""
    rates: dict[str, dict[str, str]] = {}
    for rule, by_setting in sorted(alarms.items()):
        worst = by_setting[worst_setting(by_setting)]
        settings = f", in the worst of {len(by_setting)} settings" if len(by_setting) > 1 else ""
        rates.setdefault(rule, {})["false_alarms"] = f"{worst}{settings}"
    for rule, by_setting in sorted(powers.items()):
        sentences = [f"{setting}: {share}" for setting, share in by_setting.items()]
        rates.setdefault(rule, {})["power"] = "; ".join(sentences)
    path.write_text(json.dumps(rates, indent=1, ensure_ascii=False) + "\n", "utf-8")
