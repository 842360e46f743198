"""The sentences of headlines.toml: how one is made, and the reference of all of them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.report.display_names import file_text, words_of

MEASURED = "headline_rates.json"  # written by benchmarks/claims.py
_COLUMNS = ("rule", "sentence", "when", "severity", "remedy")
_ENTRY_KEYS = ("words", "when", "severity", "remedy")
_TEST_COLUMNS = ("rule", "figures", "test", "corrected over", "least n", "false alarms", "power")


def headline(rule: str, behind: Iterable[Finding] = (), least: float = 0.0, /, **values: str) -> Headline:
    """A sentence of headlines.toml with its values; `behind` are the findings that it is made from."""
    entry = _entry(rule)
    return Headline(
        rule=rule,
        sentence=str(entry["words"]).format(**values),
        severity=entry["severity"],
        remedy=str(entry["remedy"]),
        figures=tuple(figure_of(finding) for finding in behind),
        least=least,
    )


def sentence(rule: str, /, **values: str) -> str:
    """The words of a sentence of headlines.toml with its values."""
    return headline(rule, **values).sentence


def praises(rule: str) -> bool:
    """Whether a sentence speaks well of a model, which a caution or a critical sentence forbids."""
    return bool(_entry(rule).get("praise", False))


def least_n(rule: str) -> int:
    """The number of texts, pairs or authors below which a claim is not made."""
    return int(_entry(rule).get("least_n", 0))


def figure_of(finding: Finding) -> Mapping[str, str]:
    """How a headline names a finding behind it: its measure and where it was measured."""
    return {"measure": finding.measure, **finding.where}


def _entry(rule: str) -> dict[str, Any]:
    kind, _, name = rule.partition(".")
    entry: dict[str, Any] = words_of("headlines")[kind][name]
    return entry


def reference() -> str:
    """The text of docs/reference/headlines.md."""
    # A copy: the prefaces are taken out of it, and the words are cached.
    kinds = dict(words_of("headlines"))
    lines = [kinds.pop("preface").lstrip(), *_table_head(_COLUMNS)]
    tests = ["", kinds.pop("tests_preface").strip(), "", *_table_head(_TEST_COLUMNS)]
    measured = json.loads(file_text(MEASURED))
    for kind, entries in kinds.items():
        for name, entry in entries.items():
            rule = f"{kind}.{name}"
            cells = [entry[key] for key in _ENTRY_KEYS]
            lines.append(_row(f"`{rule}`", *cells))
            # Only claims have a test; remarks and cautions have none to be wrong.
            if "test" in entry:
                tests.append(_test_row(rule, entry, measured.get(rule, {})))
    return "\n".join([*lines, *tests]) + "\n"


def _test_row(rule: str, entry: Mapping[str, Any], measured: Mapping[str, str]) -> str:
    """What a claim rests on, and how often it is wrong and how often it is made where it should be."""
    figures = ", ".join(f"`{measure}`" for measure in entry["figures"])
    false_alarms = measured.get("false_alarms", "–")
    power = measured.get("power", "–")
    return _row(
        f"`{rule}`",
        figures,
        entry["test"],
        entry["family"],
        str(entry["least_n"]),
        false_alarms,
        power,
    )


def _table_head(columns: Iterable[str]) -> tuple[str, str]:
    names = list(columns)
    return _row(*names), f"|{'---|' * len(names)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
