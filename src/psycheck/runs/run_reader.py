"""What a run can say with more than itself: texts of cases, gates, tables, a picture."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from psycheck.audits.gates import judge_gates, parse_gate
from psycheck.audits.suite import Check, Suite, read_suite
from psycheck.core.corpus import Corpus
from psycheck.core.measure import Measure
from psycheck.core.run import GateResult, Run
from psycheck.report.latex_tables import latex_tables
from psycheck.report.notebook_plot import notebook_plot
from psycheck.runs.reopened_corpus import corpus_of


@dataclass(frozen=True)
class Reader:
    """Answers what `psycheck.core.run_results.Results` is asked.

    `corpora` and `suites` are those of a run that was made in this process; those of a run that was opened
    are read again.
    """

    corpora: tuple[Corpus, ...] = ()
    suites: tuple[Suite, ...] = ()

    @cached_property
    def _corpus_by_name(self) -> Mapping[str, Corpus]:
        return {corpus.name: corpus for corpus in self.corpora}

    def gate(self, run: Run, gate: str, /) -> GateResult:
        """Judge one gate."""
        # An outside audit may not be installed where its run is opened: the run holds its measures.
        own_measures: list[Measure] = []
        for audit in run.own_audits:
            own_measures += audit.measures
        parsed = parse_gate(gate)
        (result,) = judge_gates([parsed], run.findings, {}, own_measures)
        return result

    def with_texts(self, run: Run, cases: pl.DataFrame, /) -> pl.DataFrame:
        """The cases with the text of the corpus and the text that the model read."""
        checks = self._checks(run)
        # Each corpus once: an opened run has to read it from its file again.
        corpus_names = cases["corpus"].unique().to_list()
        texts_by_corpus = {name: self._texts(run, name) for name in corpus_names}

        texts: list[str] = []
        edited: list[str | None] = []
        for case in cases.iter_rows(named=True):
            text_by_id = texts_by_corpus[case["corpus"]]
            text, fitted = text_by_id[case["id"]]
            check = checks.get((case["suite"], case["check"]))
            texts.append(text)
            edited.append(_edited(check, case["variant"], text, fitted))
        return cases.with_columns(
            pl.Series("text", texts, pl.String),
            pl.Series("edited", edited, pl.String),
        )

    def latex(self, run: Run, /) -> str:
        """The main tables for LaTeX."""
        return latex_tables(run)

    def plot(self, run: Run, /) -> str:
        """One picture of the run as inline SVG."""
        return notebook_plot(run)

    def _corpus(self, run: Run, name: str) -> Corpus:
        corpus = self._corpus_by_name.get(name)
        if corpus is None:
            return corpus_of(run, name)
        return corpus

    def _texts(self, run: Run, name: str) -> dict[str, tuple[str, str | None]]:
        """The text of each id, and its shortened form; None where that is not known any more."""
        corpus = self._corpus(run, name)
        was_shortened = bool(run.plan.get("fit"))
        is_read_again = name not in self._corpus_by_name
        fitted: list[str | None] = list(corpus.fitted)
        if was_shortened and is_read_again:
            # How much was cut depended on the model's window, which an opened run does not have.
            fitted = [None] * len(corpus)

        texts = zip(corpus.texts, fitted, strict=True)
        return dict(zip(corpus.ids, texts, strict=True))

    def _checks(self, run: Run) -> dict[tuple[str, str], Check]:
        suites = self.suites or tuple(self._reopened_suites(run))
        checks: dict[tuple[str, str], Check] = {}
        for suite in suites:
            for check in suite.checks:
                checks[suite.name, check.id] = check
        return checks

    @staticmethod
    def _reopened_suites(run: Run) -> Iterator[Suite]:
        fingerprints = run.environment.get("suites", {})
        for name, fingerprint in fingerprints.items():
            suite = read_suite(name)
            # Another version of a suite has other sentences: what the model read cannot be shown.
            if suite.fingerprint == fingerprint:
                yield suite


def _edited(
    check: Check | None,
    variant: int,
    text: str,
    fitted: str | None,
) -> str | None:
    """The text of one variant of a check, counted from 1; None where it cannot be made again."""
    if check is None:
        return None
    # Only sentences are added to shortened texts.
    original = fitted if check.sentences else text
    if original is None:
        return None
    edit = check.edits[variant - 1]
    return edit(original).text


def readable(run: Run) -> Run:
    """The run with a reader, if it has none."""
    # A run of this process knows its corpora as they were: it need not read them again.
    if run.reader is not None:
        return run
    return replace(run, reader=Reader())
