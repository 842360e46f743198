"""What people ask a run for in Python: failures, scores, gates, tables, a short summary."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from psycheck.core.errors import BadInput, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from psycheck.core.finding import Findings
    from psycheck.core.headline import Headline
    from psycheck.core.run import GateResult, Run

_KEY_FIGURES = ("f1", "auc", "pass_rate_mean", "flip_rate", "direct_bias")  # in a notebook


class RunReader(Protocol):
    """What can be said of a run with more than the run itself: its texts, the store, the rules of gates.

    `psycheck.runs.run_reader` has the one that runs are given when they are saved or opened.
    """

    def gate(self, run: "Run", gate: str, /) -> "GateResult":
        """Judge one gate."""

    def with_texts(self, run: "Run", cases: pl.DataFrame, /) -> pl.DataFrame:
        """The cases with their texts, in the columns `text` and `edited`."""

    def latex(self, run: "Run", /) -> str:
        """The main tables for LaTeX."""

    def plot(self, run: "Run", /) -> str:
        """One picture of the run as inline SVG; "" if there is nothing to draw."""


class Results:
    """The part of `Run` that answers questions; a run has the fields that are declared here."""

    __slots__ = ()

    if TYPE_CHECKING:
        plan: Mapping[str, Any]
        findings: "Findings"
        tables: Mapping[str, pl.DataFrame]
        gates: "tuple[GateResult, ...]"
        headlines: "tuple[Headline, ...]"
        incomplete: int
        folder: "Path | None"
        reader: "RunReader | None"

    @property
    def scores(self) -> pl.DataFrame:
        """The score of each annotated text: model, corpus, id, label, target, score, decided."""
        predictions = self._table("predictions", "performance")
        return predictions.drop("unit", "copy", strict=False)

    def failures(
        self,
        check: str | Sequence[str] | None = None,
        *,
        model: str | None = None,
        corpus: str | None = None,
        texts: bool = False,
    ) -> pl.DataFrame:
        """The cases of behavioural checks that failed, those that moved the score most first.

        `check`, `model` and `corpus` choose some of them. With `texts` the frame has the columns `text` (as
        in the corpus) and `edited` (as the model read it): these are people's words.
        """
        cases = self._table("cases", "behaviour")
        chosen: dict[str, Sequence[str]] = {}
        if check is not None:
            chosen["check"] = [check] if isinstance(check, str) else check
        if model is not None:
            chosen["model"] = [model]
        if corpus is not None:
            chosen["corpus"] = [corpus]

        # Names as text: categories of two tables cannot be compared.
        named = pl.col(pl.Categorical).cast(pl.String)
        failed = cases.with_columns(named).filter(pl.col("outcome") == "failed").drop("outcome")
        for column, names in chosen.items():
            _refuse_unknown(column, names, cases[column].cast(pl.String).unique().to_list())
            failed = failed.filter(pl.col(column).is_in(names))
        # NaN would rank above every change.
        change = (pl.col("after") - pl.col("before")).abs().fill_nan(0.0)
        failed = failed.sort(change, descending=True, maintain_order=True)
        if texts:
            return self._reader().with_texts(self._run(), failed)
        return failed

    def passes(self, gate: str, *more: str) -> "GateResult":
        """Whether a gate such as "f1>=0.8" holds: false if not, with the gate and the value as its text.

        Of several gates the first that fails counts.
        """
        # All are judged, so that a gate that is misspelt is an error even behind one that fails.
        results = [self._reader().gate(self._run(), each) for each in (gate, *more)]
        return next((result for result in results if not result.holds), results[0])

    def to_latex(self) -> str:
        """The main tables for a paper (booktabs): performance, and the pass rate of each check."""
        return self._reader().latex(self._run())

    def __repr__(self) -> str:
        """One short line: what was run, how it ended, and where it is."""
        verb = self.plan.get("verb") or "audit"
        parts = [f"{len(self.findings):,} findings"]
        if self.gates:
            held = sum(gate.holds for gate in self.gates)
            parts.append(f"{held} of {len(self.gates)} gates hold")
        if self.incomplete:
            parts.append(f"{self.incomplete:,} texts could not be scored")
        if self.headlines:
            parts.append(self.headlines[0].sentence)
        if self.folder is not None:
            parts.append(str(self.folder))
        return f"<Run of {verb}: {'; '.join(parts)}>"

    def _repr_html_(self) -> str:
        """A summary for a notebook: the verdict, gates, key figures and one picture; no texts."""
        items = [f"<li>{escape(line)}</li>" for line in self._summary_lines()]
        summary = f"<ul>{''.join(items)}</ul>"
        # Findings know how to show themselves.
        key_figures = type(self.findings)(
            finding for finding in self.findings if finding.measure in _KEY_FIGURES
        )
        table = key_figures._repr_html_() if key_figures else ""
        plot = self.reader.plot(self._run()) if self.reader is not None else ""
        return f"{summary}{plot}{table}"

    def _summary_lines(self) -> list[str]:
        lines = [headline.sentence for headline in self.headlines]
        lines.append(f"{len(self.findings):,} findings")

        failed_gates = [gate for gate in self.gates if not gate.holds]
        if self.gates:
            all_gates = len(self.gates)
            holding = all_gates - len(failed_gates)
            lines.append(f"{holding} of {all_gates} gates hold")
        lines += [f"gate fails: {gate.gate} ({gate.reason})" for gate in failed_gates]

        tested_checks = [check for check in self.findings.where(measure="pass_rate") if check.tested]
        if tested_checks:
            weakest = min(tested_checks, key=lambda check: check.value)
            lines.append(f"weakest check: {weakest.where.get('check')}, pass rate {weakest.value:.0%}")

        if self.incomplete:
            lines.append(f"{self.incomplete:,} texts could not be scored")
        if self.folder is not None:
            lines.append(f"report: {self.folder / 'report.html'}")
        return lines

    def _table(self, name: str, audit: str) -> pl.DataFrame:
        table = self.tables.get(name)
        if table is None:
            raise BadInput(
                f"the run has no {name}",
                code="run.no-table",
                where=str(self.folder or "run"),
                allowed=", ".join(self.tables) or "a run with tables",
                do=f"audit with `audits=['{audit}']` on a corpus with labels",
            )
        return table

    def _reader(self) -> RunReader:
        if self.reader is None:
            raise BadInput(
                "this run was neither saved nor opened by psycheck",
                code="run.no-reader",
                do="use the run that a verb returned, or open_run(FOLDER)",
            )
        return self.reader

    def _run(self) -> Any:
        return self


def _refuse_unknown(column: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise BadInput(
                f"no case has the {column} '{name}'",
                code="run.unknown-name",
                where=column,
                allowed=nearest(name, known),
            )
