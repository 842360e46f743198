"""Whether the decision depends on gender: counterfactual pairs, and groups of a corpus (gender bias 2.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl

from psycheck.audits.figures import thresholds_of
from psycheck.audits.gender_pairs import EXAMPLES, JudgedPairs, gender_pairs, pair_texts
from psycheck.audits.groups import AMONG, comparisons, counted_rate, group_findings
from psycheck.audits.summary import holm_family
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Judgement, RunContext, Scores
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.item import Item
from psycheck.core.measure import Measure
from psycheck.report.gender_and_groups import fairness_section
from psycheck.statistics.classification import decide, firm
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.group_rates import Rate
from psycheck.text.gender.edits import Scope, scope_of

ALPHA = 0.05
SWAPPED = Scope(nouns=True, titles=True)
_TESTED = ("flip_excess", "score_difference", "equal_opportunity_difference", "demographic_parity_difference")


@dataclass(frozen=True, slots=True)
class Fairness:
    """Every text with gendered words beside its swapped counterpart, and every group column.

    A score of at least `threshold` is a positive decision, of exclusive classes the largest score is. `scope`
    says which words are swapped. A pair passes where both wordings are decided alike. Texts with a word whose
    swap cannot be decided are left out; the table of pairs lists them all, without scores. Each text is also
    asked for with a placebo, an edit of as many words and characters that leaves gender alone: a model that
    changes its mind on any edit, or with the length, has no excess of flips. `places` is the number of models
    times corpora of the run, for which the tests allow.
    """

    name: ClassVar = "fairness"
    position: ClassVar = 30
    options: ClassVar = None
    measures: ClassVar[tuple[str | Measure, ...]] = (
        *("flip_rate", "placebo_flip_rate", "undecided_rate", "score_shift"),
        *("fnr", "fpr", "positive_rate", "fnr_ratio"),
        *(f"{name}{test}" for name in _TESTED for test in ("", "_p", "_p_holm")),
        *(f"{name}{AMONG}" for name in _TESTED if name != "score_difference"),
    )

    section = staticmethod(fairness_section)
    threshold: float = 0.5
    scope: Scope = SWAPPED
    places: int = 1

    @classmethod
    def prepare(cls, context: RunContext, options: None, /) -> list["Fairness"]:
        """The audit of a run."""
        settings = context.settings
        scope = scope_of(settings.swap, settings.swap_person)
        return [cls(settings.fixed_threshold, scope, places=context.places)]

    def skips(self, corpus: Corpus, /) -> str | None:
        """Histories are compared by group alone."""
        if corpus.histories and not corpus.groups:
            return "the gender swap is not for histories, and the corpus has no groups"
        return None

    def ask(self, corpus: Corpus, /) -> Iterator[Item]:
        """Texts with gendered words, counterparts, placebos; all texts where the corpus has groups."""
        if corpus.groups:
            yield from corpus.items
        if not corpus.histories:
            yield from pair_texts(corpus, self.scope)

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Flips, rates of both wordings and of every group, their ratio and differences; p by Holm."""
        shared_labels = tuple(label for label in corpus.labels if label in scores.labels)
        # Flips need no annotations: without any, every label of the model is judged.
        labels = shared_labels or scores.labels
        truth = np.full((len(corpus), len(labels)), np.nan)
        if shared_labels:
            truth = firm(corpus.targets(labels))
        decided = partial(
            decide,
            threshold=thresholds_of(scores, self.threshold),
            exclusive=scores.traits.exclusive,
        )
        where = {
            "audit": self.name,
            "model": scores.model,
            "corpus": corpus.name,
        }
        # A verdict names some of all differences of the run: of pairs, and two of each pair of groups.
        tests_of_label = 2 * comparisons(corpus)
        if not corpus.histories:
            tests_of_label += len(_TESTED)
        tests = self.places * len(labels) * tests_of_label
        among = max(tests, 1)

        findings: list[Finding] = []
        tables: dict[str, pl.DataFrame] = {}
        if not corpus.histories:
            findings, tables["pairs"] = self._judge_pairs(
                corpus,
                scores,
                labels,
                truth,
                decided,
                where,
                among=among,
            )
        if corpus.groups:
            all_decided = decided(scores.of(corpus.items))
            for k, label in enumerate(labels):
                column = scores.labels.index(label)
                findings += group_findings(
                    corpus,
                    truth[:, k],
                    all_decided[:, column],
                    {**where, "label": label},
                    among=among,
                )
        return Judgement(tuple(with_holm(findings, self.places)), tables)

    def _judge_pairs(
        self,
        corpus: Corpus,
        scores: Scores,
        labels: Sequence[str],
        truth: FloatArray,
        decided: Callable[[FloatArray], FloatArray],
        where: Mapping[str, str],
        *,
        among: int,
    ) -> tuple[list[Finding], pl.DataFrame]:
        """The findings of the pairs, and the pairs; `truth` is (n, k)."""
        swapped = {"unit": "pairs", "swap": "+".join(self.scope.words)}
        # Only where it differs, so that the keys of runs made before stay the same.
        if self.scope.person != "all":
            swapped["swap_person"] = self.scope.person

        pairs = gender_pairs(corpus, scores, self.scope)
        # Copies of a text are one unit: a thousand reposts are no thousand observations.
        clusters = Clusters.of(corpus.units(), corpus.copies()).at(pairs.rows)
        decided_before = decided(pairs.before)
        decided_after = decided(pairs.after)
        decided_placebo = decided(pairs.placebo)

        undecided_rows = pairs.undecided[:EXAMPLES]
        undecided_ids = corpus.table["id"].gather(undecided_rows).to_list()
        undecided = Rate(len(pairs.undecided), len(corpus))
        findings = [counted_rate("undecided_rate", undecided, {**where, **swapped}, undecided_ids)]
        tables: list[pl.DataFrame] = []
        for k, label in enumerate(labels):
            column = scores.labels.index(label)
            judged = JudgedPairs(
                pairs=pairs,
                clusters=clusters,
                truth=truth[:, k],
                before=pairs.before[:, column],
                after=pairs.after[:, column],
                placebo=pairs.placebo[:, column],
                decided_before=decided_before[:, column],
                decided_after=decided_after[:, column],
                decided_placebo=decided_placebo[:, column],
            )
            here = {**where, "label": label, **swapped}
            findings += judged.findings(corpus, here, among=among)
            tables.append(judged.table(corpus, here))
        return findings, pl.concat(tables)


def with_holm(findings: Sequence[Finding], places: int = 1) -> list[Finding]:
    """Add the adjusted p-values; below 0.05 they are flagged.

    All tests of pairs and columns are one family: with one for pairs and one for columns, up to 11.5 % of the
    audits of null models raise some alarm. Each of several `places`, models and corpora, gets its share of
    the level (Bonferroni).
    """
    tests = [finding for finding in findings if finding.measure.endswith("_p")]
    adjusted_tests = iter(holm_family(tests))
    with_adjusted: list[Finding] = []
    for finding in findings:
        with_adjusted.append(finding)
        if finding.measure.endswith("_p"):
            # Holm within the place, Bonferroni over places: each is judged before the others are known.
            holm_test = next(adjusted_tests)
            p = min(places * holm_test.value, 1.0)
            flags = ("significant",) if p < ALPHA else holm_test.flags
            with_adjusted.append(replace(holm_test, value=p, flags=flags))
    return with_adjusted
