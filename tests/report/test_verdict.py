import math
from collections.abc import Callable
from dataclasses import replace

from claim_findings import reaction
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.check_claims import weakest
from psycheck.report.display_names import why_untested
from psycheck.report.learned import learned
from psycheck.report.tested import untested
from psycheck.report.verdict import headlines

MakeRun = Callable[..., Run]


def _verdict(run: Run) -> str:
    return " ".join(headlines(run))


def of(*findings: Finding) -> Run:
    return Run(plan={}, environment={}, findings=Findings(findings))


def check(name: str, passed: int, n: int, interval: tuple[float, float], **where: str) -> Finding:
    place = {"audit": "behaviour", "model": "m", "corpus": "c", "check": name}
    return Finding("pass_rate", passed / n, n, interval=interval, where={**place, **where})


def test_the_verdict_names_the_weakest_check_with_interval_and_n(make_run: MakeRun) -> None:
    assert _verdict(make_run()) == (
        "Fails most on absence of suicidal ideation: T23, 61 % (58–64) of 1,990 texts pass; "
        "the range allows for the choice among 18 checks."
    )


def test_the_verdict_says_where_when_there_are_several(make_run: MakeRun) -> None:
    said = _verdict(make_run(models=("minilm", "roberta"), corpora=("posts", "tweets")))
    assert "absence of suicidal ideation, roberta on tweets: T23, 44 %" in said
    assert "suicidal ideation in tweets: T23" in _verdict(make_run(corpora=("posts", "tweets")))


def test_a_check_without_a_symptom_is_named_by_its_title() -> None:
    said = _verdict(of(check("T3", 590, 1000, (0.559, 0.62), title="I becomes they", topic="pronouns")))
    assert said == "Fails most on T3 (I becomes they): 59 % (56–62) of 1,000 texts pass."


def test_few_texts_do_not_outweigh_many() -> None:
    few = check("A", 0, 2, (0.0, 0.658))
    many = check("B", 600, 1000, (0.569, 0.63))
    assert weakest([few, many]) is many


def test_passing_without_a_reaction_is_no_praise() -> None:
    said = _verdict(of(check("A", 50, 50, (0.929, 1.0)), check("B", 9, 9, (0.701, 1.0))))
    assert said.startswith("No edit is shown to do harm in 2 checks, but this is not evidence: no check adds")


def test_untested_checks_are_never_a_pass() -> None:
    place = {"model": "m", "corpus": "c", "check": "T6"}
    run = of(Finding("pass_rate", math.nan, 0, where=place, counts={"generated": 0}, flags=("not_tested",)))
    assert "not a pass" in _verdict(run)
    assert untested(run)[0] == "T6: no text matches it."


def test_reasons_come_from_the_ledger(make_run: MakeRun) -> None:
    assert untested(make_run()) == [
        "T6: the edit changes no text.",
        "Not part of this run: fairness between groups.",
    ]


def test_the_reason_is_that_of_the_texts_that_the_edit_changed() -> None:
    def said(**counts: int) -> str:
        return why_untested(Finding("pass_rate", math.nan, 0, where={"check": "T1"}, counts=counts))

    silent = said(generated=60, unchanged=36, unseen=0, unanswered=24)
    assert silent == "the model gave no usable answer (24 of 24 changed texts)"
    both = said(generated=60, unchanged=50, unseen=7, unanswered=3)
    assert both == "the model does not read as far as the edit (7 of 10 changed texts)"
    assert said(generated=4, unchanged=4, undecided=4) == "every edit is ambiguous"
    assert said(generated=4, unchanged=4, undecided=1) == "the edit changes no text"


def test_an_untested_place_is_named_where_others_were_tested(make_run: MakeRun) -> None:
    run = make_run(corpora=("posts", "tweets"))
    blind = tuple(
        replace(f, value=math.nan, n=0, interval=None, counts={"generated": 5, "unseen": 5})
        if f.where.get("check") == "T9" and f.where["corpus"] == "tweets" and f.measure == "pass_rate"
        else f
        for f in run.findings
    )
    assert "T9 (on tweets): the model does not read as far as the edit (5 of 5 changed texts)." in untested(
        replace(run, findings=Findings(blind))
    )


def test_five_sentences_in_their_order(make_run: MakeRun) -> None:
    said = learned(make_run())
    assert [s.subject for s in said] == ["Pronouns", "Symptoms", "Another corpus", "Gender", "Calibration"]
    words = {s.subject: s.words for s in said}
    assert words["Pronouns"].startswith(
        "the weakest check is T3 (I becomes they): 70 % (65–75) of 800 texts pass"
    )
    assert "the most missed is absence of suicidal ideation (T23" in words["Symptoms"]
    assert "6 of 13 checks are below the mean" in words["Symptoms"]
    for subject in ("Pronouns", "Symptoms", "Gender"):
        assert "; the range allows for the choice among 18 checks" in words[subject]
    assert words["Another corpus"] == "not tested in this run: it has only one corpus."
    assert "98 % (96–99) of 800 texts keep their decision" in words["Gender"]
    assert "least often in T1 (he becomes she)" in words["Gender"]
    assert "a comparison of groups of authors was not tested in this run" in words["Gender"]
    assert "0.06 (0.06–0.07) on average (expected calibration error, n 2,000)" in words["Calibration"]


def test_where_no_sentence_is_missed_nothing_is_said_to_be_missed(make_run: MakeRun) -> None:
    run = make_run()
    perfect = tuple(
        replace(f, value=1.0, interval=(0.998, 1.0))
        if f.measure == "pass_rate" and "symptom" in f.where
        else f
        for f in run.findings
    )
    words = learned(replace(run, findings=Findings([*perfect, reaction()])))[1].words
    assert words.startswith("no sentence is missed; the least certain is ")
    assert "misses" not in words


def test_another_corpus_tells_in_from_out_of_distribution(make_run: MakeRun) -> None:
    said = learned(make_run(corpora=("posts", "tweets")))[2].words
    assert said == (
        "Macro F1 ranges from 0.83 (posts, in distribution, n 2,000) "
        "to 0.72 (tweets, out of distribution, n 2,000)."
    )


def test_of_several_models_the_one_with_the_widest_gap_between_corpora_is_named() -> None:
    def figure(model: str, corpus: str, value: float) -> Finding:
        where = {"audit": "performance", "model": model, "corpus": corpus, "label": "depression"}
        return Finding("macro_f1", value, 50, interval=(value - 0.1, value + 0.1), where=where)

    run = of(figure("a", "x", 0.8), figure("a", "y", 0.6), figure("b", "x", 0.5), figure("b", "y", 0.4))
    assert learned(run)[2].words == (
        "Macro F1 varies most within one model, from 0.80 (a on x, n 50) to 0.60 (a on y, n 50)."
    )


def test_groups_that_differ_are_named_once_a_column() -> None:
    def apart(column: str, group: str, measure: str) -> Finding:
        where = {"audit": "fairness", "unit": "groups", "model": "m", "corpus": "c", "column": column}
        where |= {"group": group, "versus": "the rest"}
        return Finding(f"{measure}_difference_p_holm", 0.01, 50, where=where, flags=("significant",))

    run = of(
        apart("age", "old", "equal_opportunity"),
        apart("age", "old", "demographic_parity"),
        apart("age", "young", "demographic_parity"),
        apart("town", "Ulm", "demographic_parity"),
    )
    words = {s.subject: s.words for s in learned(run)}["Gender"]
    assert words.endswith("groups differ by age (old and young) and town (Ulm) after Holm's correction.")


def test_nothing_is_claimed_where_training_is_not_known(make_run: MakeRun) -> None:
    run = replace(make_run(corpora=("posts", "tweets")), plan={})
    assert "distribution" not in learned(run)[2].words


def test_missing_subjects_are_said_to_be_not_tested() -> None:
    said = learned(of())
    assert not any(s.tested for s in said)
    assert all("not tested in this run" in s.words for s in said)


def _swap(name: str, passed: int, n: int, interval: tuple[float, float]) -> Finding:
    return check(name, passed, n, interval, kind="INV", topic="pronouns", title=name)


def test_none_of_several_equal_swaps_is_the_least() -> None:
    tied = of(_swap("T1", 50, 50, (0.929, 1.0)), _swap("T2", 9, 9, (0.701, 1.0)))
    words = {s.subject: s.words for s in learned(tied)}["Gender"]
    assert words.startswith("100 % (70–100) of 9 texts keep their decision when he and she are swapped;")
    parted = of(_swap("T1", 50, 50, (0.929, 1.0)), _swap("T2", 8, 9, (0.565, 0.98)))
    assert "least often in T2" in {s.subject: s.words for s in learned(parted)}["Gender"]


def test_one_text_is_spoken_of_as_one() -> None:
    run = of(_swap("T1", 0, 1, (0.0, 0.793)))
    assert "Fails most" not in _verdict(run)
    assert "of 1 text keeps its decision" in {s.subject: s.words for s in learned(run)}["Gender"]
