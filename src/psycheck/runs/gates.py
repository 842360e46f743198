"""Gates: bounds on findings that decide the exit code."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from psycheck.audits.measured import measured_rate
from psycheck.errors import BadInput, nearest
from psycheck.finding import Finding
from psycheck.measure import Measure, described, measure_of
from psycheck.measures.fairness import Rate
from psycheck.report.numbers import count, plain
from psycheck.run import GateResult, Run
from psycheck.settings.reader import AT_LEAST_0

_GATE = re.compile(
    r"\s*(?P<measure>\w+(?:\.(?:low|high))?)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>-?\d*\.?\d+%?)\s*(?:where\s+(?P<where>.+))?$"
)
_ALLOWED = (
    "MEASURE >= BOUND [where KEY=VALUE [and KEY=VALUE …]], for example: pass_rate>=0.7 where kind=DIR; "
    "MEASURE.low and MEASURE.high are the ends of the 95 % interval"
)
_ROUNDING = 1e-12
_SHARES = {"accuracy": "annotated", "pass_rate": "generated"}  # what `unanswered` is a share of
_MARKED = {"corpora": "the texts or labels of corpus", "suites": "the checks of suite"}
_SETTINGS = ("threshold", "variants", "fit", "swap", "swap_person")  # decide what a figure means


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on every finding of one measure that fits `where`.

    The measure may end in `.low` or `.high`, the ends of its interval; `tolerance` is how much worse than
    the baseline a figure may be.
    """

    measure: str
    min: float | None = None
    max: float | None = None
    strict: bool = False
    where: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    no_worse_than: str | None = None
    tolerance: Annotated[float, AT_LEAST_0] = 0.0

    @property
    def name(self) -> str:
        """The measure without the end of its interval."""
        return self.measure.partition(".")[0]

    def figure(self, finding: Finding) -> float:
        """The value that is compared, or the end of the interval; NaN if there is no interval."""
        end = self.measure.partition(".")[2]
        ends = finding.interval or (math.nan, math.nan)
        return ends[end == "high"] if end else finding.value

    def refused(self, what: str, allowed: str, do: str = "") -> BadInput:
        """The error for a gate that cannot be judged."""
        return BadInput(what, where=str(self), allowed=allowed, do=do)

    def __str__(self) -> str:
        equal = "" if self.strict else "="
        bounds = [f">{equal}{self.min:g}"] if self.min is not None else []
        bounds += [f"<{equal}{self.max:g}"] if self.max is not None else []
        within = f" by more than {self.tolerance:g}" if self.tolerance else ""
        bounds += [f"no worse than {self.no_worse_than}{within}"] if self.no_worse_than else []
        where = " and ".join(f"{key}={value}" for key, value in self.where.items())
        bound = " and ".join(bounds)
        space = " " if bound.startswith("no") else ""
        return self.measure + space + bound + (f" where {where}" if where else "")


def parse_gate(text: str) -> Gate:
    """Read a gate such as "pass_rate>=0.7 where kind=DIR and corpus=posts"."""
    found = _GATE.match(text)
    if not found:
        raise BadInput(f"gate not understood: {text!r}", key="gates", allowed=_ALLOWED)
    number = found["bound"]
    bound = float(number.rstrip("%")) / (100 if number.endswith("%") else 1)
    where = {}
    for part in re.split(r"\s+and\s+|\s*,\s*", found["where"].strip()) if found["where"] else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise BadInput(f"gate condition not understood: {part!r}", key="gates", allowed=_ALLOWED)
        where[key] = value.strip("'\"")
    low, high = (None, bound) if found["sign"].startswith("<") else (bound, None)
    return Gate(found["measure"], low, high, strict=not found["sign"].endswith("="), where=where)


def check_gates(gates: Iterable[Gate], measures: Collection[str | Measure], tags: Iterable[str] = ()) -> None:
    """Refuse, before anything is scored, a measure or a key that the requested audits do not have.

    `measures` are names of the catalogue, or entries of outside audits; `tags` are those of the checks.
    """
    entries = [measure_of(one) if isinstance(one, str) else one for one in measures]
    known = {measure.name: measure for measure in entries}
    if known.keys() & _SHARES:
        known["unanswered"] = measure_of("unanswered")
    for gate in gates:
        if gate.name not in known or gate.measure.partition(".")[2] not in ("", "low", "high"):
            raise _no_measure(gate, known)
        measure = known[gate.name]
        _refuse_key(gate, {*measure.keys, *(tags if measure.tagged else ())})
        if gate.no_worse_than and measure.better == "none":
            raise gate.refused(
                f"no value of '{measure.name}' is better than another, so no run can be worse",
                "no_worse_than for measures with a better direction (docs/reference/measures.md)",
                "set a bound instead: min or max",
            )


def refuse_own_baseline(gates: Iterable[Gate], out: Path | None) -> None:
    """Refuse a gate that compares a run with the folder it is written to: a second run would always hold."""
    for gate in gates:
        if out is not None and gate.no_worse_than and Path(gate.no_worse_than).resolve() == out.resolve():
            raise gate.refused(
                f"the baseline run and the output are the same folder: {out}",
                "no_worse_than = the folder of an earlier run, out = another folder",
                "keep the baseline in a folder of its own and write this run elsewhere: `out`",
            )


def refuse_incomparable(gates: Iterable[Gate], runs: Mapping[str, Run], now: Run) -> None:
    """Refuse a baseline run whose texts, suites or settings differ: its figures do not mean the same."""
    for gate in [gate for gate in gates if gate.no_worse_than]:
        then, only = runs[gate.no_worse_than or ""], gate.where.get("corpus", "").casefold()
        differ = [
            f"{what} '{name}'"
            for kind, what in _MARKED.items()
            for name, mark in now.environment[kind].items()
            if mark != then.environment.get(kind, {}).get(name, mark)
            and (kind != "corpora" or only in ("", name.casefold()))
        ]
        pairs = {key: (then.plan.get(key, now.plan[key]), now.plan[key]) for key in _SETTINGS}
        pairs["budget"] = (then.plan.get("budget", "none"), now.plan.get("budget", "none"))
        differ += [f"{key} ({old} → {new})" for key, (old, new) in pairs.items() if old != new]
        if differ:
            raise gate.refused(
                f"the baseline run cannot be compared with this one: they differ in {', '.join(differ)}",
                "a baseline with the same texts, suites and settings",
                f"audit the earlier model again in the same way, with `out={gate.no_worse_than}`",
            )


def judge_gates(
    gates: Sequence[Gate],
    findings: Sequence[Finding],
    earlier: Mapping[str, Sequence[Finding]] | None = None,
    more: Sequence[Measure] = (),
) -> tuple[GateResult, ...]:
    """Apply every gate to the findings; `earlier` maps a baseline run's name to its findings."""
    runs = {name: _with_shares(then) for name, then in (earlier or {}).items()}
    now = _with_shares(findings)
    return tuple(_judge(gate, now, runs.get(gate.no_worse_than or "", ()), more) for gate in gates)


def _with_shares(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, and the shares of texts that the model gave no usable answer to."""
    shares = [
        measured_rate("unanswered", Rate(one.counts["unanswered"], one.counts[of]), one.where)
        for one in findings
        if (of := _SHARES.get(one.measure)) and one.counts.get(of) and "unanswered" in one.counts
    ]
    return [*findings, *shares]


def _judge(
    gate: Gate, findings: Sequence[Finding], then: Sequence[Finding], more: Sequence[Measure]
) -> GateResult:
    measured = [finding for finding in findings if finding.measure == gate.name]
    if not measured:
        raise _no_measure(gate, {finding.measure for finding in findings})
    wanted = {key: value.casefold() for key, value in gate.where.items()}
    met = [f for f in measured if all(f.where.get(k, "").casefold() == v for k, v in wanted.items())]
    if not met:
        _refuse_key(gate, {key for finding in measured for key in finding.where})
        return GateResult(str(gate), False, 0, (), "no finding matches; what is not tested does not pass")
    # A single model is compared with a single model; among several, each with the one of the same name.
    named = any(len({f.where.get("model", "") for f in some} - {""}) > 1 for some in (then, met))

    def key(finding: Finding) -> tuple[str, frozenset[tuple[str, str]]]:
        return finding.measure, frozenset((k, v) for k, v in finding.where.items() if named or k != "model")

    before = {key(finding): finding for finding in then if finding.tested}
    baselines = [before.get(key(finding)) for finding in met]

    def failed(which: Iterable[bool], reason: str) -> GateResult:
        rows = [k for k, fails in enumerate(which) if fails]
        lines = tuple(_line(met[k], baselines[k]) for k in rows)
        reason = f"{len(rows)} of {len(met)} {reason}"
        return GateResult(str(gate), False, len(met), tuple(met[k] for k in rows), reason, lines)

    if any(untested := [not finding.tested for finding in met]):
        return failed(untested, "not tested")
    if gate.no_worse_than and None in baselines:
        return failed([one is None for one in baselines], f"have no counterpart in {gate.no_worse_than}")
    measure = measure_of(gate.name, more) if gate.no_worse_than else described(gate.name)
    margins = [_margin(gate, f, baseline, measure) for f, baseline in zip(met, baselines, strict=True)]
    # A strict bound is not met by the bound itself, and a figure without an interval has no lower end.
    if any(outside := [not (m > 0 if gate.strict else m >= 0) for m in margins]):
        return failed(outside, "outside the bound")
    near = margins.index(min(margins))
    line = _line(met[near], baselines[near])
    return GateResult(str(gate), True, len(met), (), f"all {len(met)} within the bound", (line,))


def _no_measure(gate: Gate, known: Iterable[str]) -> BadInput:
    what = f"gate on a measure that this run does not have: '{gate.measure}'"
    return gate.refused(what, nearest(gate.measure, known))


def _refuse_key(gate: Gate, known: Iterable[str]) -> None:
    for key in gate.where:
        if key not in known:
            what = f"gate has a condition on '{key}', which findings of '{gate.measure}' do not have"
            raise gate.refused(what, nearest(key, known))


def _margin(gate: Gate, finding: Finding, baseline: Finding | None, measure: Measure) -> float:
    """How far a figure is inside the nearest of the bounds, below 0 outside; NaN if there is no figure."""
    value = gate.figure(finding)
    margins = [value - gate.min] if gate.min is not None else []
    margins += [gate.max - value] if gate.max is not None else []
    if baseline is not None:
        room = gate.tolerance - measure.loss(gate.figure(baseline), value)
        room = 0.0 if abs(room) < _ROUNDING else room
        # As good as the baseline is no worse, even where a strict bound stands beside it.
        margins.append(math.inf if gate.strict and room == 0 else room)
    return math.nan if any(map(math.isnan, margins)) else min(margins, default=math.inf)


def _line(one: Finding, baseline: Finding | None) -> str:
    """A figure with its interval, its n and its baseline, and what it describes."""
    then = f", baseline {plain(baseline)}" if baseline else ""
    where = ", ".join(f"{key} {value}" for key, value in one.where.items() if key != "title" and value)
    return f"{one.measure} {plain(one)}, n {count(one.n)}{then}: {where}"
