"""Every sentence at the top of a report: it appears when due, and not where its condition is just missed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import psycheck
from claim_findings import flips, gap, performance, reaction
from planted import NEGATIVE, POSITIVE, Planted, constant, counts_i
from psycheck.commands.explain import explain_people
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report import bias_page, cohort_page, comparison_page, curation_page
from psycheck.report.bias_sentences import bias_sentences
from psycheck.report.diff_sentences import difference_headlines
from psycheck.report.display_names import words_of
from psycheck.report.explained_people import links_of, people_of
from psycheck.report.headlines import headline, reference
from psycheck.report.learned import learned
from psycheck.report.person_page import person_verdict
from psycheck.report.studies import angst_tables, deck_tables, gender_tables, psysym_tables
from psycheck.report.studies.gender_writers_tables import AS_WRITTEN, WITHOUT_GENDER, writer_answers
from psycheck.report.studies.improve_claims import improvement_headlines
from psycheck.report.studies.improve_tables import summary_lines
from psycheck.report.studies.psysym_tables import DETECTION, ONE
from psycheck.report.tested import sampled, unanswered, untested
from psycheck.report.verdict import headlines
from psycheck.symptoms.statements import Naming

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "headlines.md"
CATALOGUE = {
    f"{kind}.{name}"
    for kind, entries in words_of("headlines").items()
    if kind not in ("preface", "tests_preface", "performance", "checks", "gender", "groups")
    for name in entries
}
Interval = tuple[float, float] | None
Found = Sequence[Finding]


def run_of(found: Found, plan: Mapping[str, Any] | None = None, **fields: Any) -> Run:
    return Run(plan=plan or {}, environment={}, findings=Findings(found), **fields)


def check(passed: int, n: int, high: float | None = 1.0, kind: str = "INV", **more: Any) -> Finding:
    where = {"audit": "behaviour", "model": "m", "corpus": "c", "check": "T1", "kind": kind, "label": "low"}
    where |= {"topic": "pronouns", **more.pop("where", {})}
    flags = more.pop("flags", ())
    counts = {"generated": n, "passed": passed, "failed": n - passed, **more}
    if not n:
        return Finding("pass_rate", math.nan, 0, where=where, counts={"generated": 9, "unchanged": 9})
    interval = None if high is None else (max(0.0, passed / n - 0.1), high)
    return Finding("pass_rate", passed / n, n, interval=interval, where=where, counts=counts, flags=flags)


def length(effect: float, interval: Interval, significant: bool = True, unit: str = "text") -> Found:
    where = {"audit": "length", "model": "m", "corpus": "c", "unit": unit, "feature": "words"}
    flags = ("significant",) if significant else ()
    return [
        Finding("length_effect", effect, 300, interval=interval, where=where),
        Finding("length_p", 0.001, 300, where=where, flags=flags),
        Finding("length_median", 81.0, 100, where={**where, "outcome": "failed"}),
        Finding("length_median", 95.0, 200, where={**where, "outcome": "passed"}),
    ]


def calibration(*flags: str, value: float = 0.1) -> Finding:
    return Finding("ece", value, 200, interval=(0.05, 0.15), where={**ANNOTATED, "corpus": "c"}, flags=flags)


ANNOTATED = {"audit": "performance", "model": "m", "label": "low"}
INV = check(66, 66)  # a swap of pronouns


def macro_f1(value: float, corpus: str) -> Finding:
    return Finding(
        "macro_f1", value, 200, interval=(value - 0.1, value + 0.1), where={**ANNOTATED, "corpus": corpus}
    )


def silent(unanswered: int) -> Finding:
    where = {**ANNOTATED, "corpus": "c"}
    return Finding("accuracy", 0.8, 90, where=where, counts={"annotated": 100, "unanswered": unanswered})


def apart(first: str, second: str, value: float, interval: Interval) -> Finding:
    where = {"first": first, "second": second}
    return Finding("adversarial_auc", value, 200, interval=interval, where=where)


CAUTION = Finding("caution", 0.3, 100, where={"corpus": "c", "sentence": "Texts repeat.", "command": ""})


def caution(name: str, value: float = 0.3, corpus: str = "c") -> Finding:
    where = {"corpus": corpus, "caution": name, "sentence": f"It is {value}.", "command": "psycheck clean"}
    return Finding("caution", value, 100, where=where)


def bias(
    p: float = 0.5,
    p_mean: float = 0.5,
    *,
    few: bool = False,
    unclear: bool = False,
    turned: bool = False,
) -> Found:
    """The words of one list against random lists: p of Direct Bias and p of the signed mean."""
    where = {"list": "depression", "direction": "F"}
    flags = ("too_few_lists",) if few else ()
    counts = {"lists": 30, "tests": 2, "lists_needed": 40}
    variants = ("F", "M") if turned else ("F", "F")
    return [
        Finding("direct_bias", 0.03, 80, interval=(0.02, 0.04), where=where),
        Finding("direct_bias_chance", 0.02, 80, where=where),
        Finding("direct_bias_p_holm", p, 80, where=where, counts=counts, flags=flags),
        Finding(
            "signed_mean",
            0.02,
            80,
            interval=(0.01, 0.03),
            where=where,
            flags=("uncertain",) if unclear else (),
        ),
        Finding("signed_mean_chance", -0.01, 80, where=where),
        Finding("signed_mean_p_holm", p_mean, 80, where=where, counts=counts, flags=flags),
        Finding("explained_variance", 0.5, 10, where={"component": "1"}),
        *(Finding("direct_bias_variant", 0.03, 80, where={**where, "direction": d}) for d in variants),
    ]


RANDOM_PAIRS = Finding("explained_variance_chance", 0.15, 10, where={"component": "1"})
OTHERS, OWN = "out_of_distribution", "in_distribution"


def change(
    interval: Interval,
    arm: str = "augmented",
    decision: str = "dev",
    corpus: str = "forum",
    flag: str = OTHERS,
) -> Finding:
    measure = "auc_change" if decision == "ranking" else "macro_f1_change"
    where = {"arm": arm, "decision": decision, "corpus": corpus}
    return Finding(
        measure,
        0.02 if interval is None else sum(interval) / 2,
        80,
        interval=interval,
        where=where,
        flags=(flag,),
    )


UP, DOWN, FLAT = (0.01, 0.09), (-0.09, -0.01), (-0.04, 0.08)
RANKED = change(UP, decision="ranking")


def way(arm: str, value: float) -> Finding:
    flags = ("not_tested",) if math.isnan(value) else ()
    where = {"experiment": ONE, "arm": arm, "seed": "0", "disease": "all"}
    return Finding("symptom_auc_by_disease", value, 7, where=where, flags=flags)


def condition(value: float) -> Finding:
    flags = ("not_tested",) if math.isnan(value) else ()
    where = {"experiment": DETECTION, "arm": "symptoms", "seed": "0", "label": "ocd"}
    return Finding("f1", value, 40, where=where, counts={"annotated": 4}, flags=flags)


def rated(*values: float) -> list[Finding]:
    """The mean F1 of the labels of one model after the other."""
    place = {"experiment": "zero-shot", "arm": "multi-label", "label": "all", "seed": "0"}
    counts = {"annotated": 80, "unanswered": 0}
    return [
        Finding("macro_f1_across_labels", value, 2, where={"model": f"m{k}", **place}, counts=counts)
        for k, value in enumerate(values)
    ]


def writers(auc: float) -> list[Finding]:
    """How far a probe tells the writer's gender, as written and without gendered words."""
    return [
        Finding(
            "writer_auc",
            value,
            60,
            interval=(value - 0.1, value + 0.1),
            where={"encoder": "minilm", "wording": wording},
        )
        for wording, value in ((AS_WRITTEN, auc), (WITHOUT_GENDER, 0.5))
    ]


def tried(corpus: str, value: float = 0.7) -> Finding:
    """The macro-F1 on a corpus of a model that was trained on corpus a."""
    plain = {"model": "m", "arm": "plain", "decision": "0.5", "seed": "0"}
    return Finding(
        "macro_f1", value, 50, interval=(0.6, 0.8), where={"trained_on": "a", "corpus": corpus, **plain}
    )


def learner(*experiments: str) -> Found:
    where = {"model": "SVM", "encoder": "minilm", "seed": "0"}
    return [
        Finding(
            "flip_rate",
            0.1,
            50,
            interval=(0.05, 0.2),
            where={**where, "experiment": one},
            counts={"flipped": 5},
        )
        for one in experiments
    ]


def funnel(controls: bool) -> Found:
    steps = [("both", "posts", 900), ("both", "split", 40)] + [("control", "sample", 15)] * controls
    return [
        Finding("funnel", float(n), 1000, where={"side": side, "step": step}, counts={"authors": 9})
        for side, step, n in steps
    ]


def explained(weight: float, label: str) -> Run:
    """One author with one post of this weight of a symptom, labelled 1."""
    corpus = Corpus.of("posts", ["soup"], author=["a"], labels={label: [1]})
    return explain_people(corpus, tags=pl.DataFrame({"id": ["1"], "weight:depressed_mood": [weight]}))


def measured_reader() -> Run:
    """The same author, explained by a reader of which it is known how often it is right."""
    run = explained(0.5, "sarcasm")
    naming = Naming(thresholds={"low": 0.5}, precision=0.8, recall=0.5, sentences=200, source="sentences")
    return replace(run, plan={**run.plan, "naming": asdict(naming)})


SAME = performance(flags=("constant",))[0]
SYMPTOM = {"symptom": "sleep", "topic": ""}
MODELS = {"audit": "diff", "corpus": "c", "label": "low", "model": "a", "versus": "b"}


def compared(
    name: str = "accuracy",
    value: float = 0.1,
    interval: Interval = (0.02, 0.2),
    p: float = 0.01,
    **where: str,
) -> tuple[Finding, Finding]:
    """The difference of one figure between two models, and its p after Holm's correction."""
    place = {**MODELS, **where}
    return (
        Finding(f"{name}_difference", value, 100, interval=interval, where=place),
        Finding("difference_p_holm", p, 100, where={**place, "figure": name}),
    )


def agreeing(value: float = 0.6, **where: str) -> tuple[Finding, Finding]:
    place = {**MODELS, **where}
    return (
        Finding("agreement", 0.8, 100, interval=(0.7, 0.9), where=place),
        Finding("kappa", value, 100, interval=(0.4, 0.8) if value == value else None, where=place),
    )


def parting(mine: int = 6, others: int = 4) -> tuple[Finding, ...]:
    counts = {"texts": 100, "only_this_right": mine, "only_other_right": others}
    value, n = (mine / (mine + others), mine + others) if mine + others else (math.nan, 0)
    return tuple(
        Finding("right_where_apart", value, n, where={**MODELS, "gold": gold}, counts=counts)
        for gold in ("all", "1", "0")
    )


def missing(value: float, model: str = "a") -> tuple[Finding, ...]:
    place = {"audit": "diff", "corpus": "c", "label": "low", "model": model}
    f1s = [Finding(name, 0.5, 100, where=place) for name in ("f1", "f1_worst", "f1_best")]
    return Finding("unanswered", value, 100, where=place), *f1s


def cue(
    p: float = 0.01, interval: Interval = (0.02, 0.3), measure: str = "cue", cue: str = "past"
) -> tuple[Finding, Finding]:
    place = {"audit": "diff", "corpus": "c", "label": "low", "model": "a", "gold": "0"}
    place |= {"cue": cue} if measure == "cue" else {}
    counts = {"errors": 20, "right": 80, "errors_with_cue": 8, "right_with_cue": 8}
    counts |= {"characters_errors": 120, "characters_right": 90}
    effect = "cue_difference" if measure == "cue" else "error_length_effect"
    return (
        Finding(effect, 0.2, 100, interval=interval, where=place, counts=counts),
        Finding(f"{measure}_p_holm", p, 100, where=place, counts=counts),
    )


HIGHER, AGREEING, PARTING = compared(), agreeing(), parting()
LOWER_F1 = compared("f1", -0.1, (-0.2, -0.02))
THIRD = (*compared(p=0.5, versus="c"), *agreeing(0.3, versus="c"))
TWO = (*AGREEING, *PARTING)

BETTER = performance()[0]


# name: (findings with which it is due, findings that just miss its condition, one list each)
def edited(
    evidence: Interval = (0.7, 0.9),
    others: Interval = (0.93, 1.0),
    inserted: Interval = (0.93, 1.0),
    appended: Interval = (0.93, 1.0),
    first: Interval = (0.4, 0.6),
    last: Interval = (0.4, 0.6),
    n: int = 60,
) -> list[Finding]:
    """Edits of histories with these intervals; without cases for n 0."""
    rates = {"evidence_removed": evidence, "others_removed": others}
    rates |= {"post_inserted": inserted, "post_appended": appended, "first_post": first, "last_post": last}
    return [
        Finding(
            "history_change_rate" if edit in ("first_post", "last_post") else "history_pass_rate",
            sum(ends or (1.0, 1.0)) / 2 if n else math.nan,
            n,
            interval=ends if n else None,
            where={"audit": "histories", "model": "m", "corpus": "c", "label": "low", "edit": edit},
            flags=() if n else ("not_tested",),
        )
        for edit, ends in rates.items()
    ]


CAUTIONS = (
    *("training_texts", "duplicates_across_splits", "authors_across_splits", "single_word"),
    *("keyword_label", "encoding_debris", "label_of_source", "length"),
)
CASES: Mapping[str, tuple[Found | Run, Sequence[Found | Run]]] = {
    **{f"caution.{name}": ([caution(name)], [[], [caution("imbalance")], [CAUTION]]) for name in CAUTIONS},
    "caution.near_duplicates_across_splits": (
        [caution("near_duplicates_across_splits", 0.3), caution("duplicates_across_splits", 0.2)],
        [[caution("near_duplicates_across_splits", 0.3), caution("duplicates_across_splits", 0.3)]],
    ),
    "histories.evidence": (
        edited((0.2, 0.49)),
        [edited((0.2, 0.5)), edited(None), edited((0.2, 0.4), n=0)],
    ),
    "histories.others_removed": (
        edited(others=(0.6, 0.89)),
        [edited(others=(0.6, 0.9)), edited(others=None), edited((0.2, 0.4))],
    ),
    "histories.post_inserted": (
        edited(inserted=(0.6, 0.89)),
        [edited(inserted=(0.6, 0.9)), edited(others=(0.6, 0.89))],
    ),
    "histories.post_appended": (
        edited(appended=(0.6, 0.89)),
        [edited(appended=(0.6, 0.9)), edited(inserted=(0.6, 0.89))],
    ),
    "histories.last_post": (
        edited(last=(0.0, 0.19)),
        [
            edited(last=(0.0, 0.2)),
            edited(first=(0.0, 0.19), last=(0.0, 0.19)),  # no post decides: scores hardly ever change
            edited(first=(0.0, 0.19)),
        ],
    ),
    "histories.first_post": (edited(first=(0.0, 0.19)), [edited(last=(0.0, 0.19)), edited(first=None)]),
    "histories.sound": (edited(), [edited((0.5, 0.9)), edited(others=(0.6, 0.89)), edited(n=0)]),
    "histories.not_shown": (edited((0.4, 0.8)), [edited(), edited((0.2, 0.49))]),
    "histories.untested": (edited(n=0), [edited(), []]),
    "run.nothing": ([], [[*flips(0)], [BETTER], [check(1, 1)]]),
    "learned.pronouns_kept": (
        [check(66, 66), BETTER],
        [
            [check(66, 66, kind="MFT"), BETTER],  # the decision may have moved to the expected one
            [check(0, 0), check(66, 66, kind="MFT"), BETTER],  # the INV check was not tested
            [check(66, 66), SAME],
            [check(65, 66)],
        ],
    ),
    "learned.pronouns_passed": ([check(66, 66, kind="MFT")], [[check(66, 66)], [check(65, 66, kind="MFT")]]),
    "learned.symptoms_kept": (
        [check(9, 9, kind="DIR", where=SYMPTOM), reaction()],
        [
            [check(9, 9, kind="DIR", where=SYMPTOM), SAME, reaction()],
            [check(9, 9, kind="DIR", where=SYMPTOM), reaction((0.0, 0.1))],
            [check(8, 9, 0.9, "DIR", where=SYMPTOM)],
            [check(0, 0)],
        ],
    ),
    "learned.symptoms_passed": (
        [check(9, 9, kind="DIR", where=SYMPTOM), SAME],
        [[check(9, 9, kind="DIR", where=SYMPTOM), BETTER, reaction()]],
    ),
    "learned.length": (
        length(-0.3, (-0.4, -0.2)),
        [
            length(-0.299, (-0.4, -0.2)),
            length(-0.3, (-0.6, 0.0)),
            length(-0.3, (-0.4, -0.2), significant=False),
            length(-0.3, (-0.4, -0.2), unit="case"),
        ],
    ),
    "learned.pronouns_weakest": (
        [check(55, 66, 0.9)],
        [[INV], [check(55, 66, 0.9, "MFT", passed_unedited=50)]],
    ),
    "learned.pronouns_lowest": (
        [check(55, 66, 0.9, "MFT", passed_unedited=50)],
        [[check(55, 66, 0.9)], [check(55, 66, 0.87, "MFT", passed_unedited=66, flags=("harmed",))], [INV]],
    ),
    "learned.pronouns_untested": ([check(0, 0)], [[INV], [check(55, 66, 0.9)]]),
    "learned.symptoms_missed": (
        [check(8, 9, 0.9, "DIR", where=SYMPTOM)],
        [[check(9, 9, kind="DIR", where=SYMPTOM)], [check(8, 9, 0.9)], []],
    ),
    "learned.symptoms_untested": ([INV], [[check(9, 9, kind="DIR", where=SYMPTOM)]]),
    "learned.corpora": (
        [macro_f1(0.8, "a"), macro_f1(0.7, "b")],
        [[macro_f1(0.8, "a")], [macro_f1(0.8, "a"), macro_f1(math.nan, "b")]],
    ),
    "learned.corpora_untested": ([macro_f1(0.8, "a")], [[macro_f1(0.8, "a"), macro_f1(0.7, "b")]]),
    "learned.gender_pairs": ([*flips(0)], [[*flips(0, n=0)], [INV]]),
    "learned.gender_checks": ([INV], [[INV, *flips(0)], [check(66, 66, kind="MFT")], [check(0, 0)]]),
    "learned.gender_untested": ([*flips(0, n=0)], [[*flips(0)], [INV]]),
    "learned.groups_differ": (
        [*flips(0), *gap(-0.3, (-0.4, -0.2))],
        [[*flips(0), *gap(-0.3, (-0.4, -0.2), p=0.2)], [*flips(0)]],
    ),
    "learned.groups_blind": (
        [*gap(-0.3, (-0.6, 0.1), p=0.2), SAME],
        [[*gap(-0.3, (-0.6, 0.1), p=0.2), BETTER], [*gap(-0.3, (-0.4, -0.2)), SAME], [SAME]],
    ),
    "learned.groups_alike": (
        [*gap(-0.3, (-0.6, 0.1), p=0.2)],
        [
            [*gap(-0.3, (-0.4, -0.2))],
            [*gap(-0.3, (-0.6, 0.1), p=0.2), SAME],
            [*gap(-0.3, None, p=math.nan)],  # could not be tested
            [],
        ],
    ),
    "learned.groups_untested": (
        [*gap(-0.3, None, p=math.nan)],
        [[*gap(-0.3, (-0.6, 0.1), p=0.2)], []],
    ),
    "learned.groups_not_run": ([INV], [[INV, *gap(-0.3, None, p=math.nan)], [*flips(0)]]),
    "learned.calibration": ([calibration()], [[calibration("within_noise")], [calibration(value=math.nan)]]),
    "learned.calibration_chance": ([calibration("within_noise")], [[calibration()], []]),
    "learned.calibration_untested": ([], [[calibration()], [calibration("within_noise")]]),
    "tested.unanswered": ([silent(10)], [[silent(0)], []]),
    "tested.sampled": (run_of([check(9, 10, not_asked=90)], {"budget": 20}), [[INV], []]),
    "tested.no_value": ([check(0, 0)], [[INV], []]),
    "tested.not_run": ([INV, *flips(0)], [[INV, *flips(0), BETTER]]),
    "compare.furthest": (
        [
            apart("a", "b", 0.9, (0.85, 0.95)),
            apart("a", "c", 0.7, (0.65, 0.75)),
            apart("b", "c", 0.6, (0.58, 0.62)),
        ],
        [
            [apart("a", "b", 0.7, (0.6, 0.8)), apart("a", "c", 0.6, (0.5, 0.65))],  # the intervals overlap
            [apart("a", "b", 0.9, None), apart("a", "c", 0.6, (0.5, 0.65))],
            [  # the third overlaps the largest
                apart("a", "b", 0.9, (0.8, 0.95)),
                apart("a", "c", 0.8, (0.75, 0.85)),
                apart("b", "c", 0.6, (0.5, 0.7)),
            ],
            [  # … and here the smallest
                apart("a", "b", 0.9, (0.88, 0.95)),
                apart("a", "c", 0.7, (0.6, 0.8)),
                apart("b", "c", 0.6, (0.5, 0.65)),
            ],
            [apart("a", "b", 0.9, (0.85, 0.95))],
        ],
    ),
    "compare.unordered": (
        [apart("a", "b", 0.7, (0.6, 0.8)), apart("a", "c", 0.6, (0.5, 0.65))],
        [
            [apart("a", "b", 0.9, (0.85, 0.95)), apart("a", "c", 0.6, (0.5, 0.65))],
            [apart("a", "b", 0.7, (0.6, 0.8))],
        ],
    ),
    "compare.pair": (
        [apart("a", "b", 0.7, (0.6, 0.8)), apart("a", "c", math.nan, None)],
        [[apart("a", "b", 0.7, (0.6, 0.8)), apart("a", "c", 0.6, (0.5, 0.65))], [CAUTION]],
    ),
    "compare.cautions": ([CAUTION], [run_of([], {"warn": True}), [apart("a", "b", 0.7, (0.6, 0.8))]]),
    "compare.no_cautions": (
        run_of([], {"warn": True}),
        [[], run_of([CAUTION], {"warn": True}), run_of([apart("a", "b", 0.7, (0.6, 0.8))], {"warn": True})],
    ),
    "compare.nothing": ([], [run_of([], {"warn": True}), [CAUTION], [apart("a", "b", 0.7, (0.6, 0.8))]]),
    "bias.not_compared": (bias(math.nan, math.nan), [bias(), bias(0.01)]),
    "bias.too_few": (bias(few=True), [bias(), bias(0.01, few=True), bias(0.5, 0.01, few=True)]),
    "bias.not_more": (bias(0.05), [bias(0.049), bias(few=True), bias(math.nan, math.nan)]),
    "bias.more": (bias(0.049), [bias(0.05), bias(0.5, 0.01), bias(math.nan, math.nan)]),
    "bias.further": (bias(0.5, 0.049), [bias(0.5, 0.05), bias(0.01), bias(0.01, math.nan)]),
    "bias.undetermined": (bias(0.01, turned=True), [bias(0.01), bias(turned=True)]),
    "bias.side_nearer": (bias(), [bias(unclear=True), bias(turned=True)]),
    "bias.side_unclear": (bias(unclear=True), [bias(), bias(unclear=True, turned=True)]),
    "bias.side_undetermined": (bias(turned=True), [bias(), bias(unclear=True)]),
    "bias.lists_not_compared": (bias(math.nan, math.nan), [bias(), bias(few=True)]),
    "bias.lists_alike": (bias(0.01, 0.05), [bias(0.5, 0.049), bias(few=True), bias(math.nan, math.nan)]),
    "bias.lists_few": (bias(few=True), [bias(), bias(0.5, 0.049, few=True)]),
    "bias.lists_further": (bias(0.5, 0.049), [bias(0.5, 0.05), bias(0.5, 0.049, turned=True)]),
    "bias.lists_elsewhere": (bias(0.5, 0.049, turned=True), [bias(0.5, 0.05, turned=True), bias(0.5, 0.049)]),
    "bias.direction": (bias(), [[*bias(), RANDOM_PAIRS]]),
    "bias.direction_random": ([*bias(), RANDOM_PAIRS], [bias()]),
    "improve.rises": (
        [change(UP), change(FLAT, corpus="notes"), RANKED],
        [
            [change((0.0, 0.09)), RANKED],
            [change(None), RANKED],
            [change(UP, flag=OWN), change(FLAT), RANKED],  # on its own corpus alone
            [change(UP, "control"), change(UP, "balanced"), change(FLAT), RANKED],
            [change(UP, decision="0.5"), change(FLAT), RANKED],
            [change(UP, "plain"), change(FLAT), RANKED],
            [change(UP), change(DOWN, corpus="notes"), RANKED],
            # What decides from symptoms is judged by AUC alone.
            [change(UP, "grounded"), change(FLAT, "grounded", decision="ranking")],
        ],
    ),
    "improve.falls": (
        [change(DOWN), change(FLAT, corpus="notes")],
        [[change(FLAT)], [change((-0.09, 0.0))], []],
    ),
    "improve.mixed": (
        [change(UP), change(DOWN, corpus="notes")],
        [[change(UP), change(FLAT, corpus="notes")], [change(UP), change(DOWN, flag=OWN)]],
    ),
    "improve.not_shown": ([change(FLAT)], [[change(UP)], [change(DOWN)], [change(FLAT, decision="0.5")]]),
    "improve.threshold_first": (
        [change(UP, "plain"), change(FLAT)],
        [
            [change(FLAT, "plain"), change(FLAT)],
            [change(UP, "plain"), change(DOWN, "plain", corpus="notes"), change(FLAT)],
        ],
    ),
    "improve.threshold_suffices": (
        [change(UP, "plain"), change(FLAT)],
        [[change(UP, "plain"), change(UP), RANKED], [change(FLAT, "plain"), change(FLAT)]],
    ),
    "improve.control_too": (
        [change(UP), change(UP, "control"), RANKED],
        [[change(UP), change(FLAT, "control"), RANKED], [change(FLAT), change(UP, "control"), RANKED]],
    ),
    "improve.threshold": (
        [change(UP), change(FLAT, decision="ranking")],
        [[change(UP), RANKED], [change(FLAT)]],
    ),
    "improve.nothing": ([], [[change(FLAT)], [change(None)]]),
    "improve.means": ([change(FLAT)], [[], [replace(change(None), value=math.nan)]]),
    "study.gender": (learner("original", "augmented"), [learner("original"), learner("augmented")]),
    "study.writers": (writers(0.8), [[], rated(0.5)]),
    "study.deck": (
        [tried("a"), tried("b")],
        [[tried("a")], [tried("b")], [tried("a"), tried("b", math.nan)]],
    ),
    "study.angst_highest": (rated(0.5, 0.7), [rated(0.5), rated(0.5, math.nan)]),
    "study.angst_alone": (rated(0.5), [rated(0.5, 0.7), rated(math.nan), []]),
    "study.psysym_ways": (
        [way("masked", 0.9), way("negative", 0.8)],
        [[way("masked", 0.9)], [way("masked", 0.9), way("negative", math.nan)]],
    ),
    "study.psysym_rare": ([condition(0.4)], [[condition(math.nan)], [way("masked", 0.9)]]),
    "curate.kept": (funnel(False), [funnel(True)]),
    "curate.with_controls": (funnel(True), [funnel(False)]),
    "explain.person": (explained(0.5, "depression"), [explained(0.49, "depression")]),
    "explain.nothing": (explained(0.49, "depression"), [explained(0.5, "depression")]),
    "explain.cohort": (explained(0.5, "sarcasm"), [explained(0.5, "depression")]),
    "explain.suspects": (explained(0.5, "depression"), [explained(0.5, "sarcasm")]),
    "explain.reader": (measured_reader(), [explained(0.5, "sarcasm")]),
    "explain.unmeasured": (explained(0.5, "sarcasm"), [measured_reader()]),
    "diff.better": (
        [*HIGHER, *TWO],
        [
            [*compared(p=0.05), *TWO],
            [*compared(interval=(0.0, 0.2)), *TWO],
            [*compared(interval=None), *TWO],
            [*HIGHER, *LOWER_F1, *TWO],  # mixed
            [*HIGHER, *compared("f1", -0.1, (-0.2, 0.1), p=0.5), *TWO],  # the other way, though not shown
        ],
    ),
    "diff.higher": (
        [*compared("f1"), *compared("accuracy", -0.1, (-0.2, 0.1), p=0.5), *TWO],
        [
            [*compared("f1"), *compared("accuracy", -0.01, (-0.2, 0.1), p=0.5), *TWO],
            [*compared("f1"), *compared("accuracy", 0.1, (-0.1, 0.2), p=0.5), *TWO],
            [*compared("f1", p=0.05), *compared("accuracy", -0.1, (-0.2, 0.1), p=0.5), *TWO],
        ],
    ),
    "diff.mixed": (
        [*HIGHER, *LOWER_F1, *TWO],
        [
            [*HIGHER, *compared("f1", -0.1, (-0.2, 0.0)), *TWO],
            [*HIGHER, *compared("f1", -0.1, (-0.2, -0.02), p=0.2), *TWO],
            [*HIGHER, *compared("auc"), *TWO],
        ],
    ),
    "diff.not_shown": (
        [*compared(p=0.05), *TWO],
        [[*HIGHER, *TWO], [*compared(p=0.5), *TWO, *THIRD], [*compared(p=0.5), *compared("f1"), *TWO]],
    ),
    "diff.counted": ([*HIGHER, *AGREEING, *THIRD], [[*HIGHER, *TWO]]),
    "diff.untested": (
        [*compared(value=math.nan, interval=None, p=math.nan), *AGREEING],
        [[*HIGHER, *TWO], [*compared(p=0.5), *TWO]],
    ),
    "diff.apart": (
        [*HIGHER, *TWO],
        [[*compared(p=0.5), *AGREEING, *parting(0, 0)], [*HIGHER, *TWO, *THIRD]],
    ),
    "diff.agreement": ([*HIGHER, *TWO], [[*HIGHER, *agreeing(math.nan), *PARTING], [*HIGHER, *TWO, *THIRD]]),
    "diff.agreements": ([*HIGHER, *AGREEING, *THIRD], [[*HIGHER, *TWO]]),
    "diff.unanswered": ([*HIGHER, *TWO, *missing(0.02)], [[*HIGHER, *TWO, *missing(0.0)]]),
    "diff.cue": (
        [*HIGHER, *TWO, *cue()],
        [
            [*HIGHER, *TWO, *cue(p=0.05)],
            [*HIGHER, *TWO, *cue(interval=(0.0, 0.3))],
            [*HIGHER, *TWO, *cue(interval=None)],
        ],
    ),
    "diff.length": (
        [*HIGHER, *TWO, *cue(measure="error_length")],
        [
            [*HIGHER, *TWO, *cue(p=0.05, measure="error_length")],
            [*HIGHER, *TWO, *cue(interval=None, measure="error_length")],
        ],
    ),
    "diff.no_cue": (
        [*HIGHER, *TWO, *cue(p=0.05)],
        [[*HIGHER, *TWO, *cue()], [*HIGHER, *TWO], [*HIGHER, *TWO, *cue(0.3), *cue(measure="error_length")]],
    ),
}


def sentences(verdict: Iterable[Headline]) -> list[str]:
    return [claim.sentence for claim in verdict]


# Where the name `headline` is looked up.
MODULES = [
    *("cautions", "headlines", "verdict", "check_claims", "gender_claims"),
    *("group_claims", "performance_claims", "diff_sentences", "history_edits"),
    *("bias_sentences", "cohort_page", "comparison_page", "curation_page"),
    *(f"studies.{name}_tables" for name in ("angst", "deck", "gender", "gender_writers", "psysym")),
    "studies.improve_claims",
]


def top_of(kind: str, run: Run) -> list[str]:
    """What a page prints at its top, sentence by sentence."""
    found = run.findings
    match kind:
        case "learned":
            return [one.words for one in learned(run)]
        case "tested":
            return [*sampled(run), *unanswered(run), *untested(run)]
        case "compare":
            return sentences(comparison_page.verdict(run))
        case "bias":
            return [*sentences(bias_page.verdict(run)), *bias_sentences(found)]
        case "improve":
            return [*sentences(improvement_headlines(found)), *summary_lines(found)]
        case "study":
            studies = (gender_tables, angst_tables, psysym_tables, deck_tables)
            lines = [line for study in studies for line in sentences(study.verdict(run))]
            return [*lines, *sentences(writer_answers(found))]
        case "curate":
            return sentences(curation_page.verdict(run))
        case "explain":
            ((person, _, conditions),) = people_of(run)
            return [*sentences(cohort_page.verdict(run)), person_verdict(person, conditions, links_of(run))]
        case "diff":
            return sentences(difference_headlines(found))
        case _:
            return headlines(run)


def made_for(
    kind: str, case: Found | Run, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Headline], list[str]]:
    """The sentences of the file that a page asks for, and what it prints."""
    run = case if isinstance(case, Run) else run_of(case)
    made: list[Headline] = []

    def noted(rule: str, behind: Iterable[Finding] = (), least: float = 0.0, /, **values: str) -> Headline:
        made.append(headline(rule, behind, least, **values))
        return made[-1]

    for module in MODULES:
        monkeypatch.setattr(f"psycheck.report.{module}.headline", noted)
    return made, top_of(kind, run)


def printed(name: str, case: Found | Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of one sentence, as often as a page prints it."""
    made, top = made_for(name.partition(".")[0], case, monkeypatch)
    due = [claim.sentence for claim in made if claim.rule == name]
    return [sentence for sentence in due if any(sentence in words for words in top)]


def test_every_sentence_has_a_case_and_one_that_tries_to_provoke_it_wrongly() -> None:
    assert set(CASES) == CATALOGUE
    assert all(missed for _, missed in CASES.values())


@pytest.mark.parametrize("name", CASES)
def test_nothing_stands_at_the_top_that_is_not_in_the_file(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, top = made_for(name.partition(".")[0], CASES[name][0], monkeypatch)
    for words in top:
        for one in sorted(made, key=lambda one: -len(one.sentence)):  # whole sentences before parts of them
            words = words.replace(one.sentence, "")
        assert words.strip() == ""


@pytest.mark.parametrize("name", CASES)
def test_a_sentence_appears_when_due(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(printed(name, CASES[name][0], monkeypatch)) == 1


@pytest.mark.parametrize(("name", "at"), [(name, k) for name, (_, m) in CASES.items() for k in range(len(m))])
def test_a_sentence_does_not_appear_where_its_condition_is_just_missed(
    name: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed(name, CASES[name][1][at], monkeypatch) == []


def test_the_reference_is_made_from_the_sentences() -> None:
    assert REFERENCE.read_text("utf-8") == reference(), "run `make docs`"


def test_the_furthest_of_several_pairs_has_no_interval() -> None:
    one = apart("a", "b", 0.3, (0.28, 0.32))
    assert "0.300 (0.280–0.320)" in sentences(comparison_page.verdict(run_of([one])))[0]
    both = run_of([one, apart("a", "c", 0.1, (0.08, 0.12))])
    (several,) = sentences(comparison_page.verdict(both))
    assert "0.300, n" in several
    assert "0.28" not in several


@pytest.fixture(scope="module")
def texts() -> Corpus:
    """80 texts of ten kinds, annotated by whether they speak of a symptom."""
    rows = [f"{text} {k}." for k in range(8) for text in (*POSITIVE, *NEGATIVE)]
    marks = [float(k % 10 < 5) for k in range(80)]
    return Corpus.of("c", rows, labels={"depression": marks})


def test_a_model_that_looks_for_i_is_not_said_to_keep_its_decision(texts: Corpus) -> None:
    """Every text without "I" is decided 0, so the MFT checks pass because the decision moved."""
    looks_for_i = Planted("looks_for_i", lambda text: 0.9 if counts_i(text) else 0.1)
    every = psycheck.audit(looks_for_i, texts, suites=["deck"]).findings
    found = [f for f in every if f.where.get("check") in ("T3", "T4", "T5")]
    assert [f.value for f in found if f.measure == "pass_rate"] == [1.0] * 3
    said = learned(run_of(found))[0].words
    assert "no change of pronouns" not in said
    assert "no check that expects an unchanged decision was tested" in said
    # Unedited, the texts annotated 0 with "I", "my" or "me" are decided 1: none of these passes.
    assert [f.counts["passed_unedited"] for f in found if f.measure == "pass_rate"] == [0] * 3


def test_a_constant_model_earns_no_praise(texts: Corpus) -> None:
    run = psycheck.audit(Planted("constant", constant), texts, suites=["deck"])
    said = " ".join([*headlines(run), *(one.words for one in learned(run))])
    assert said.startswith("The model gives every text the same score: 1 is decided for ")
    for praise in (
        "No weakness",
        "No difference",
        "no difference between",
        "no change",
        "no sentence is missed",
    ):
        assert praise not in said
