"""What psycheck asks of an audit, and what an audit is given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import polars as pl

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.item import Item
from psycheck.core.measure import Measure
from psycheck.core.model import AnswersOf, Model


class Scores(Protocol):
    """The scores of one model, looked up by item; an audit sees nothing else of a model."""

    @property
    def model(self) -> str:
        """The name of the model that gave them."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns are."""

    @property
    def traits(self) -> "ScoreTraits":
        """How the scores become decisions."""

    def of(self, items: Sequence[Any]) -> FloatArray:
        """The scores of items that were asked for, (n, k); NaN where the model gave no usable answer."""

    def read(self, items: Sequence[Any]) -> IntArray:
        """How many characters of each item the model took in, (n,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTraits:
    """How scores become decisions, and what they can show.

    `exclusive` and `thresholds` are those of the model's `Capabilities`, or thresholds chosen on dev;
    `reads_all`: the model reads every item whole; `hard`: it answers in words and only 0 or 1, which ranks
    nothing.
    """

    exclusive: bool = False
    thresholds: tuple[float, ...] = ()
    reads_all: bool = False
    hard: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an audit found: the findings, and the tables of cases behind them (ids, never texts).

    `standings` tell where each check of a suite stands among all checks of the run: behaviour alone has them.
    """

    findings: tuple[Finding, ...]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    standings: tuple[Any, ...] = ()


@runtime_checkable
class Audit(Protocol):
    """First says which texts it needs scored, then measures from the scores alone.

    It may also be `Selective` (it does not judge every corpus), `Titled` or `Drawn` (its section of the
    report), or `Grounding` (it needs another model's answers before it can ask).
    """

    @property
    def name(self) -> str:
        """A short name for the plan and the report."""

    @property
    def measures(self) -> tuple[str | Measure, ...]:
        """The measures that it can report: names of the catalogue, or measures of its own."""

    def ask(self, corpus: Corpus, /) -> Iterable[Item]:
        """The texts, or histories, that must be scored, repeats allowed; called on slices of a corpus."""

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Measure the whole corpus with one model's scores."""


@runtime_checkable
class Selective(Protocol):
    """An audit that does not judge every corpus."""

    def skips(self, corpus: Corpus, /) -> str | None:
        """Why it does not judge a corpus; None where it does."""


@runtime_checkable
class Titled(Protocol):
    """An audit whose section of the report has a heading of its own."""

    @property
    def title(self) -> str:
        """The heading."""


@runtime_checkable
class Drawn(Protocol):
    """An audit that draws its own section of the report; without it a table of its findings is shown."""

    def section(self, findings: Any, /) -> Any:
        """Text, or HTML as `markupsafe.Markup`; shipped audits return sections of `psycheck.report`."""


@runtime_checkable
class Grounding(Audit, Protocol):
    """An audit that cannot ask before other models have answered, such as which posts are evidence.

    The line scores what it needs first, through the same store, and gives the audit's corpora what it makes
    of the answers.
    """

    @property
    def needs(self) -> tuple[Model, ...]:
        """The models whose answers it needs."""

    def needed(self, corpus: Corpus, /) -> Iterable[Item]:
        """What they are asked about."""

    def ground(self, corpora: Sequence[Corpus], answers: Sequence[AnswersOf], /) -> list[Corpus]:
        """The corpora with what the answers of `needs`, in their order, say about them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The models, corpora and settings of a run, from which an audit prepares itself.

    The corpora have their labels aligned; `labels` are the names of each model's columns, by model name.
    `suites` are those that the settings name. `settings` are `psycheck.audits.plan.Settings`.
    """

    models: tuple[Model, ...]
    corpora: tuple[Corpus, ...]
    labels: Mapping[str, tuple[str, ...]]
    suites: tuple[Any, ...]
    settings: Any

    @property
    def places(self) -> int:
        """Models times corpora: a report picks the worst of so many, and tests allow for that."""
        return len(self.models) * len(self.corpora)

    @property
    def histories(self) -> bool:
        """Whether the models score authors with all their posts."""
        return any(corpus.histories for corpus in self.corpora)


@runtime_checkable
class AuditKind(Protocol):
    """What a `psycheck.audits` entry point names if the audit depends on the run: it prepares itself.

    `options` is a frozen dataclass of the options after "?" in `--audit NAME?key=value`, or None. An entry
    point may also name an `Audit` object, or a class of audits whose arguments are the options.
    """

    options: type | None

    def prepare(self, context: RunContext, options: Any, /) -> Sequence[Audit]:
        """The audits of a run, none where it has nothing to ask; what cannot work is refused here."""
