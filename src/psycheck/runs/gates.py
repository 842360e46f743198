"""Gates: bounds on findings that decide the exit code."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from psycheck.errors import BadInput, nearest
from psycheck.finding import Finding
from psycheck.measure import Measure, measure_of
from psycheck.run import GateResult

_GATE = re.compile(
    r"\s*(?P<measure>\w+)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>-?\d*\.?\d+%?)\s*(?:where\s+(?P<where>.+))?$"
)
_ALLOWED = "MEASURE >= BOUND [where KEY=VALUE [and KEY=VALUE …]], for example: pass_rate>=0.7 where kind=DIR"


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on every finding of one measure that fits `where`."""

    measure: str
    min: float | None = None
    max: float | None = None
    strict: bool = False
    where: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    no_worse_than: str | None = None

    def __str__(self) -> str:
        equal = "" if self.strict else "="
        bounds = [f">{equal}{self.min:g}"] if self.min is not None else []
        bounds += [f"<{equal}{self.max:g}"] if self.max is not None else []
        bounds += [f"no worse than {self.no_worse_than}"] if self.no_worse_than else []
        where = " and ".join(f"{key}={value}" for key, value in self.where.items())
        bound = " and ".join(bounds)
        space = " " if bound.startswith("no") else ""
        return self.measure + space + bound + (f" where {where}" if where else "")


def parse_gate(text: str) -> Gate:
    """Read a gate such as "pass_rate>=0.7 where kind=DIR and corpus=posts"."""
    found = _GATE.match(text)
    if not found:
        raise BadInput(f"gate not understood: {text!r}", where="--gate", allowed=_ALLOWED)
    number = found["bound"]
    bound = float(number.rstrip("%")) / (100 if number.endswith("%") else 1)
    where = {}
    for part in re.split(r"\s+and\s+|\s*,\s*", found["where"].strip()) if found["where"] else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise BadInput(f"gate condition not understood: {part!r}", where="--gate", allowed=_ALLOWED)
        where[key] = value.strip("'\"")
    upper = found["sign"].startswith("<")
    return Gate(
        found["measure"],
        min=None if upper else bound,
        max=bound if upper else None,
        strict=not found["sign"].endswith("="),
        where=where,
    )


def check_gates(gates: Iterable[Gate], measures: Collection[str | Measure], tags: Iterable[str] = ()) -> None:
    """Refuse, before anything is scored, a measure or a key that the requested audits do not have.

    `measures` are names of the catalogue, or entries of outside audits; `tags` are those of the checks.
    """
    entries = [measure_of(one) if isinstance(one, str) else one for one in measures]
    known = {measure.name: measure for measure in entries}
    for gate in gates:
        if gate.measure not in known:
            raise _no_measure(gate, known)
        measure = known[gate.measure]
        _refuse_key(gate, {*measure.keys, *(tags if measure.tagged else ())})
        if gate.no_worse_than and measure.better == "none":
            raise BadInput(
                f"no value of '{measure.name}' is better than another, so no run can be worse",
                where=str(gate),
                allowed="no_worse_than for measures with a better direction (docs/reference/measures.md)",
                do="set a bound instead: min or max",
            )


def refuse_own_baseline(gates: Iterable[Gate], out: Path | None) -> None:
    """Refuse a gate that compares a run with the folder it is written to: a second run would always hold."""
    for gate in gates:
        if out is not None and gate.no_worse_than and Path(gate.no_worse_than).resolve() == out.resolve():
            raise BadInput(
                f"the baseline run and the output are the same folder: {out}",
                where=str(gate),
                allowed="no_worse_than = the folder of an earlier run, out = another folder",
                do="keep the baseline in a folder of its own and write this run elsewhere: --out",
            )


def judge_gates(
    gates: Sequence[Gate],
    findings: Sequence[Finding],
    earlier: Mapping[str, Sequence[Finding]] | None = None,
    more: Iterable[Measure] = (),
) -> tuple[GateResult, ...]:
    """Apply every gate to the findings; `earlier` maps a baseline run's name to its findings."""
    outside, runs = tuple(more), earlier or {}
    return tuple(_judge(gate, findings, runs.get(gate.no_worse_than or "", ()), outside) for gate in gates)


def _judge(
    gate: Gate, findings: Sequence[Finding], then: Sequence[Finding], more: Sequence[Measure]
) -> GateResult:
    measured = [finding for finding in findings if finding.measure == gate.measure]
    if not measured:
        raise _no_measure(gate, {finding.measure for finding in findings})
    wanted = {key: value.casefold() for key, value in gate.where.items()}
    met = [f for f in measured if all(f.where.get(k, "").casefold() == v for k, v in wanted.items())]
    if not met:
        _refuse_key(gate, {key for finding in measured for key in finding.where})
        return GateResult(str(gate), False, 0, (), "no finding matches; what is not tested does not pass")
    if untested := tuple(finding for finding in met if not finding.tested):
        return GateResult(str(gate), False, len(met), untested, f"{len(untested)} of {len(met)} not tested")
    # A single model is compared with a single model; among several, each with the one of the same name.
    named = any(len({f.where.get("model", "") for f in some} - {""}) > 1 for some in (then, met))
    before = {_key(finding, named): finding for finding in then if finding.tested}
    if gate.no_worse_than and (alone := tuple(f for f in met if _key(f, named) not in before)):
        reason = f"{len(alone)} of {len(met)} have no counterpart in {gate.no_worse_than}"
        return GateResult(str(gate), False, len(met), alone, reason)
    failing = tuple(f for f in met if not _holds(gate, f, before.get(_key(f, named)), more))
    share = f"{len(failing)} of {len(met)} outside" if failing else f"all {len(met)} within"
    return GateResult(str(gate), not failing, len(met), failing, f"{share} the bound")


def _no_measure(gate: Gate, known: Iterable[str]) -> BadInput:
    return BadInput(
        f"gate on a measure that this run does not have: '{gate.measure}'",
        where=str(gate),
        allowed=nearest(gate.measure, known),
    )


def _refuse_key(gate: Gate, known: Iterable[str]) -> None:
    for key in gate.where:
        if key not in known:
            raise BadInput(
                f"gate has a condition on '{key}', which findings of '{gate.measure}' do not have",
                where=str(gate),
                allowed=nearest(key, known),
            )


def _holds(gate: Gate, finding: Finding, baseline: Finding | None, more: Sequence[Measure]) -> bool:
    value = finding.value
    if gate.min is not None and (value <= gate.min if gate.strict else value < gate.min):
        return False
    if gate.max is not None and (value >= gate.max if gate.strict else value > gate.max):
        return False
    return baseline is None or not measure_of(gate.measure, more).worsened(baseline.value, value)


def _key(finding: Finding, named: bool) -> tuple[object, ...]:
    """What identifies a figure in two runs; the model counts only if `named`."""
    rest = sorted((k, v) for k, v in finding.where.items() if named or k != "model")
    return (finding.measure, *rest)
