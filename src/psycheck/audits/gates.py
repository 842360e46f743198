"""Gates: bounds on findings that decide the exit code."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from psycheck.audits.baseline_gates import StoredAnswers, default_tolerance, loss_of, worse_than_baseline
from psycheck.audits.figures import measured_rate
from psycheck.core.errors import BadInput, nearest
from psycheck.core.finding import Finding
from psycheck.core.measure import Measure, measure_of
from psycheck.core.run import GateResult, Run
from psycheck.io.settings import AT_LEAST_0
from psycheck.report.numbers import count, plain
from psycheck.statistics.group_rates import Rate

_GATE = re.compile(
    r"\s*(?P<measure>\w+(?:\.(?:low|high))?)"
    r"\s*(?P<sign>>=|<=|>|<)"
    r"\s*(?P<bound>-?\d*\.?\d+%?)"
    r"\s*(?:where\s+(?P<where>.+))?$"
)
_CONDITIONS = re.compile(r"\s+and\s+|\s*,\s*")
_ALLOWED = (
    "MEASURE >= BOUND [where KEY=VALUE [and KEY=VALUE …]], for example: pass_rate>=0.7 where kind=DIR; "
    "MEASURE.low and MEASURE.high are the ends of the 95 % interval"
)
_SHARES = {"accuracy": "annotated", "pass_rate": "generated"}  # what `unanswered` is a share of
_MARKED = {"corpora": "the texts or labels of corpus", "suites": "the checks of suite"}
# How the figures of two runs were compared, as a gate prints it.
METHODS = {
    "paired": "paired test on stored answers, false alarms at most 5 %",
    "intervals": "by the intervals of both runs, as no answers to pair are stored: more losses are missed",
    "figures": "by the figures alone: no interval, chance alone can fail it",
}
_SETTINGS = ("threshold", "variants", "fit", "swap", "swap_person")  # decide what a figure means


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on every finding of one measure that fits `where`.

    The measure may end in `.low` or `.high`, the ends of its interval; `tolerance` is how much worse than
    the baseline a figure may be; None is 0.1 for a pass rate and 0.01 for all else.
    """

    measure: str
    min: float | None = None
    max: float | None = None
    strict: bool = False
    where: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    no_worse_than: str | None = None
    tolerance: Annotated[float, AT_LEAST_0] | None = None

    @property
    def allowed_loss(self) -> float:
        """How much worse than the baseline a figure may be."""
        if self.tolerance is None:
            return default_tolerance(self.name)
        return self.tolerance

    @property
    def name(self) -> str:
        """The measure without the end of its interval."""
        return self.measure.partition(".")[0]

    @property
    def end(self) -> str:
        """The end of the interval that is compared: low, high, or "" for the value itself."""
        return self.measure.partition(".")[2]

    def figure(self, finding: Finding) -> float:
        """The value that is compared, or the end of the interval; NaN if there is no interval."""
        if not self.end:
            return finding.value
        low, high = finding.interval or (math.nan, math.nan)
        return high if self.end == "high" else low

    def refused(
        self, what: str, allowed: str, do: str = "", *, code: str = "gate.cannot-be-judged"
    ) -> BadInput:
        """The error for a gate that cannot be judged."""
        return BadInput(
            what,
            code=code,
            where=str(self),
            allowed=allowed,
            do=do,
        )

    def __str__(self) -> str:
        equal = "" if self.strict else "="
        bounds: list[str] = []
        if self.min is not None:
            bounds.append(f">{equal}{self.min:g}")
        if self.max is not None:
            bounds.append(f"<{equal}{self.max:g}")
        if self.no_worse_than:
            bounds.append(f"no worse than {self.no_worse_than} by more than {self.allowed_loss:g}")

        bound = " and ".join(bounds)
        space = " " if bound.startswith("no") else ""
        conditions = [f"{key}={value}" for key, value in self.where.items()]
        condition = f" where {' and '.join(conditions)}" if conditions else ""
        return f"{self.measure}{space}{bound}{condition}"


def parse_gate(text: str) -> Gate:
    """Read a gate such as "pass_rate>=0.7 where kind=DIR and corpus=posts"."""
    match = _GATE.match(text)
    if not match:
        raise BadInput(
            f"gate not understood: {text!r}",
            code="gate.not-understood",
            key="gates",
            allowed=_ALLOWED,
        )
    # "70%" is 0.7, as measures are shares.
    number = match["bound"]
    bound = float(number.rstrip("%"))
    if number.endswith("%"):
        bound /= 100
    is_upper_bound = match["sign"].startswith("<")
    return Gate(
        measure=match["measure"],
        min=None if is_upper_bound else bound,
        max=bound if is_upper_bound else None,
        strict=not match["sign"].endswith("="),
        where=_conditions(match["where"].strip()) if match["where"] else {},
    )


def _conditions(text: str) -> dict[str, str]:
    """The conditions of a gate: "kind=DIR and corpus=posts"."""
    where: dict[str, str] = {}
    for condition in _CONDITIONS.split(text):
        key, _, value = condition.partition("=")
        key = key.strip()
        value = value.strip()
        if not (key and value):
            raise BadInput(
                f"gate condition not understood: {condition!r}",
                code="gate.condition-not-understood",
                key="gates",
                allowed=_ALLOWED,
            )
        where[key] = value.strip("'\"")
    return where


def check_gates(gates: Iterable[Gate], measures: Collection[str | Measure], tags: Iterable[str] = ()) -> None:
    """Refuse, before anything is scored, a measure or a key that the requested audits do not have.

    `measures` are names of the catalogue, or entries of outside audits; `tags` are those of the checks.
    """
    entries = [measure_of(measure) if isinstance(measure, str) else measure for measure in measures]
    measure_by_name = {measure.name: measure for measure in entries}
    # Nobody measures `unanswered`: gates make it of the counts of these figures.
    if measure_by_name.keys() & _SHARES:
        measure_by_name["unanswered"] = measure_of("unanswered")

    tag_names = tuple(tags)
    for gate in gates:
        if gate.name not in measure_by_name or gate.end not in ("", "low", "high"):
            raise _unknown_measure(gate, measure_by_name)
        measure = measure_by_name[gate.name]
        _refuse_unknown_keys(gate, {*measure.keys, *(tag_names if measure.tagged else ())})
        if gate.no_worse_than and measure.better == "none":
            raise gate.refused(
                f"no value of '{measure.name}' is better than another, so no run can be worse",
                "no_worse_than for measures with a better direction (docs/reference/measures.md)",
                "set a bound instead: min or max",
                code="gate.no-better-direction",
            )


def refuse_own_baseline(gates: Iterable[Gate], out: Path | None) -> None:
    """Refuse a gate that compares a run with the folder it is written to: a second run would always hold."""
    if out is None:
        return
    for gate in gates:
        if gate.no_worse_than and Path(gate.no_worse_than).resolve() == out.resolve():
            raise gate.refused(
                f"the baseline run and the output are the same folder: {out}",
                "no_worse_than = the folder of an earlier run, out = another folder",
                "keep the baseline in a folder of its own and write this run elsewhere: `out`",
                code="gate.own-baseline",
            )


def refuse_incomparable(gates: Iterable[Gate], runs: Mapping[str, Run], now: Run) -> None:
    """Refuse a baseline run whose texts, suites or settings differ: its figures do not mean the same."""
    for gate in gates:
        if not gate.no_worse_than:
            continue
        baseline = runs[gate.no_worse_than]
        corpus = gate.where.get("corpus", "")
        differences = [*_changed_inputs(baseline, now, corpus), *_changed_settings(baseline, now)]
        if differences:
            listed = ", ".join(differences)
            raise gate.refused(
                f"the baseline run cannot be compared with this one: they differ in {listed}",
                "a baseline with the same texts, suites and settings",
                f"audit the earlier model again in the same way, with `out={gate.no_worse_than}`",
                code="gate.incomparable-baseline",
            )


def _changed_inputs(baseline: Run, now: Run, only_corpus: str) -> list[str]:
    """The corpora and suites of both runs whose content differs; a gate may be on one corpus alone."""
    changed: list[str] = []
    for kind, description in _MARKED.items():
        earlier_marks = baseline.environment.get(kind, {})
        for name, mark in now.environment[kind].items():
            is_other_corpus = kind == "corpora" and only_corpus.casefold() not in ("", name.casefold())
            # What the baseline run did not have has no figure to compare: the gate itself says so.
            if mark != earlier_marks.get(name, mark) and not is_other_corpus:
                changed.append(f"{description} '{name}'")
    return changed


def _changed_settings(baseline: Run, now: Run) -> list[str]:
    """The settings that decide what a figure means and that differ, with both values."""
    values: dict[str, tuple[object, object]] = {}
    for key in _SETTINGS:
        current = now.plan[key]
        # An older run may not record a setting that came later: it is taken to be the same.
        values[key] = (baseline.plan.get(key, current), current)
    # A sample is noisier than a full run, and chosen by its answers.
    values["budget"] = (baseline.plan.get("budget", "none"), now.plan.get("budget", "none"))

    changed: list[str] = []
    for key, (earlier, current) in values.items():
        if earlier != current:
            changed.append(f"{key} ({earlier} → {current})")
    return changed


def judge_gates(
    gates: Sequence[Gate],
    findings: Sequence[Finding],
    earlier: Mapping[str, Sequence[Finding]] | None = None,
    more: Sequence[Measure] = (),
    answers: Mapping[str, StoredAnswers] | None = None,
) -> tuple[GateResult, ...]:
    """Apply every gate to the findings.

    `earlier` maps a baseline run's name to its findings, `answers` to what both runs stored.
    """
    baseline_runs = {name: _with_unanswered(run) for name, run in (earlier or {}).items()}
    now = _with_unanswered(findings)
    results = []
    for gate in gates:
        name = gate.no_worse_than or ""
        stored = (answers or {}).get(name, StoredAnswers())
        results.append(
            _judge(
                gate,
                now,
                baseline_runs.get(name, ()),
                more,
                stored,
            )
        )
    return tuple(results)


def _with_unanswered(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, and the shares of texts that the model gave no usable answer to."""
    shares: list[Finding] = []
    for finding in findings:
        total_key = _SHARES.get(finding.measure, "")
        total = finding.counts.get(total_key, 0)
        if total and "unanswered" in finding.counts:
            rate = Rate(finding.counts["unanswered"], total)
            shares.append(measured_rate("unanswered", rate, finding.where))
    return [*findings, *shares]


def _judge(
    gate: Gate,
    findings: Sequence[Finding],
    earlier: Sequence[Finding],
    more: Sequence[Measure],
    answers: StoredAnswers,
) -> GateResult:
    """Apply one gate; `earlier` are the findings of its baseline run."""
    matching = _matching(gate, findings)
    # A misspelt condition must not turn a gate green.
    if not matching:
        return GateResult(str(gate), False, 0, (), "no finding matches; what is not tested does not pass")
    baselines = _baselines(matching, earlier)

    margins = [_margin(gate, finding) for finding in matching]
    for reason, fails in _reasons_to_fail(gate, matching, baselines, margins):
        if any(fails):
            return _failed(gate, matching, baselines, fails, reason)

    if gate.no_worse_than:
        known_baselines = [baseline for baseline in baselines if baseline is not None]
        return _against_baseline(
            gate,
            matching,
            known_baselines,
            measure_of(gate.name, more),
            answers,
        )

    # The figure that would fail first is the one to show.
    nearest_to_bound = margins.index(min(margins))
    line = _line(matching[nearest_to_bound], None)
    n = len(matching)
    return GateResult(str(gate), True, n, (), f"all {n} within the bound", (line,))


def _reasons_to_fail(
    gate: Gate,
    matching: Sequence[Finding],
    baselines: Sequence[Finding | None],
    margins: Sequence[float],
) -> Iterator[tuple[str, list[bool]]]:
    """Why a gate may fail before its baseline is looked at, and which of its findings do."""
    yield "not tested", [not finding.tested for finding in matching]
    if gate.no_worse_than:
        without_baseline = [baseline is None for baseline in baselines]
        yield f"have no counterpart in {gate.no_worse_than}", without_baseline
    # A strict bound is not met by the bound itself, and a figure without an interval (NaN) is not inside.
    yield "outside the bound", [not _is_inside(gate, margin) for margin in margins]


def _is_inside(gate: Gate, margin: float) -> bool:
    return margin > 0 if gate.strict else margin >= 0


def _against_baseline(
    gate: Gate,
    matching: Sequence[Finding],
    baselines: Sequence[Finding],
    measure: Measure,
    answers: StoredAnswers,
) -> GateResult:
    """The result of a gate whose figures may be no worse than those of a baseline run."""
    losses = []
    for finding, baseline in zip(matching, baselines, strict=True):
        losses.append(
            loss_of(
                # What a gate compares may be an end of the interval, which has no interval of its own.
                _compared(gate, finding),
                _compared(gate, baseline),
                measure,
                gate.allowed_loss,
                answers,
            )
        )

    methods = ", ".join(dict.fromkeys(METHODS[loss.how] for loss in losses))
    worse = worse_than_baseline(losses)
    if any(worse):
        reason = f"worse by more than {gate.allowed_loss:g} ({methods})"
        return _failed(gate, matching, baselines, worse, reason)

    largest_loss = max(range(len(losses)), key=lambda k: losses[k].value)
    line = _line(matching[largest_loss], baselines[largest_loss])
    reason = f"none of {len(matching)} is shown to be worse by more than {gate.allowed_loss:g} ({methods})"
    return GateResult(str(gate), True, len(matching), (), reason, (line,))


def _compared(gate: Gate, finding: Finding) -> Finding:
    """The figure that a gate compares: the finding itself, or an end of its interval alone."""
    if not gate.end:
        return finding
    where = {**finding.where, "end": gate.end}
    return replace(
        finding,
        value=gate.figure(finding),
        interval=None,
        where=where,
    )


def _matching(gate: Gate, findings: Sequence[Finding]) -> list[Finding]:
    """The findings that a gate speaks of; an unknown measure or key is an error."""
    of_measure = [finding for finding in findings if finding.measure == gate.name]
    if not of_measure:
        raise _unknown_measure(gate, {finding.measure for finding in findings})
    conditions = {key: value.casefold() for key, value in gate.where.items()}

    def fits(finding: Finding) -> bool:
        where = {key: value.casefold() for key, value in finding.where.items()}
        return conditions.items() <= where.items()

    matching = [finding for finding in of_measure if fits(finding)]
    # Nothing fits: either no figure has these values, or a key is misspelt, which is an error.
    if not matching:
        _refuse_unknown_keys(gate, {key for finding in of_measure for key in finding.where})
    return matching


def _baselines(matching: Sequence[Finding], earlier: Sequence[Finding]) -> list[Finding | None]:
    """The finding of the baseline run for each finding, None where there is none.

    A single model is compared with a single model; among several, each with the one of the same name.
    """
    are_models_named = max(_models(earlier), _models(matching)) > 1

    def key(finding: Finding) -> tuple[str, frozenset[tuple[str, str]]]:
        where = dict(finding.where)
        if not are_models_named:
            where.pop("model", None)
        return finding.measure, frozenset(where.items())

    baseline_by_key = {key(finding): finding for finding in earlier if finding.tested}
    return [baseline_by_key.get(key(finding)) for finding in matching]


def _models(findings: Sequence[Finding]) -> int:
    """How many models the findings are about."""
    return len({finding.where.get("model", "") for finding in findings} - {""})


def _failed(
    gate: Gate,
    matching: Sequence[Finding],
    baselines: Sequence[Finding | None],
    fails: Sequence[bool],
    reason: str,
) -> GateResult:
    """The result of a gate that some of its findings fail."""
    failing = [k for k, is_failing in enumerate(fails) if is_failing]
    return GateResult(
        str(gate),
        False,
        len(matching),
        tuple(matching[k] for k in failing),
        f"{len(failing)} of {len(matching)} {reason}",
        tuple(_line(matching[k], baselines[k]) for k in failing),
    )


def _unknown_measure(gate: Gate, measures: Iterable[str]) -> BadInput:
    return gate.refused(
        f"gate on a measure that this run does not have: '{gate.measure}'",
        nearest(gate.measure, measures),
        code="gate.unknown-measure",
    )


def _refuse_unknown_keys(gate: Gate, keys: Collection[str]) -> None:
    for key in gate.where:
        if key not in keys:
            raise gate.refused(
                f"gate has a condition on '{key}', which findings of '{gate.measure}' do not have",
                nearest(key, keys),
                code="gate.unknown-key",
            )


def _margin(gate: Gate, finding: Finding) -> float:
    """How far a figure is inside the nearest of the bounds, below 0 outside; NaN if there is no figure."""
    value = gate.figure(finding)
    margins: list[float] = []
    if gate.min is not None:
        margins.append(value - gate.min)
    if gate.max is not None:
        margins.append(gate.max - value)
    if any(map(math.isnan, margins)):
        return math.nan
    return min(margins, default=math.inf)


def _line(finding: Finding, baseline: Finding | None) -> str:
    """A figure with its interval, its n and its baseline, and what it describes."""
    figure = f"{finding.measure} {plain(finding)}, n {count(finding.n)}"
    versus = f", baseline {plain(baseline)}" if baseline else ""
    described_by: list[str] = []
    for key, value in finding.where.items():
        if value and key != "title":
            described_by.append(f"{key} {value}")
    return f"{figure}{versus}: {', '.join(described_by)}"
