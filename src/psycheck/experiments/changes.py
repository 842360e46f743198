"""What improving changed: the pass rate of each check and symptom."""

from collections.abc import Sequence

from psycheck.finding import Finding
from psycheck.measures.fairness import paired_difference
from psycheck.report.studies.improve import TRAINED_ON

RATE, PLAIN = "sentence_check_pass_rate", "plain"
Passed = dict[tuple[str, str, str, str], dict[str, bool]]  # (arm, seed, suite, check) → id → passed


def rate_changes(rates: Sequence[Finding], passed: Passed) -> list[Finding]:
    """How far the pass rate of each check, and of each symptom and polarity, moved; seeds are pooled.

    A case is one text with one check and seed, as both arms judged it: `counts` has passed and n before and
    after, and the `texts` that the cases are of. A check that training used is marked, and left out of the
    figures of its symptom, which only cover sentences that the model has not seen.
    """
    tried = [f for f in rates if f.measure == RATE]
    out: list[Finding] = []
    for suite in dict.fromkeys(f.where["suite"] for f in tried):
        mine = [f for f in tried if f.where["suite"] == suite]
        arms = dict.fromkeys(f.where["arm"] for f in mine if f.where["arm"] != PLAIN)
        for arm in arms:
            for check in dict.fromkeys(f.where["check"] for f in mine):
                out += _change([f for f in mine if f.where["check"] == check], passed, arm, "check")
            learned = {f.where["check"] for f in mine if TRAINED_ON in f.flags and f.where["arm"] == arm}
            groups = dict.fromkeys((f.where.get("symptom", ""), f.where.get("polarity", "")) for f in mine)
            for symptom, polarity in groups:
                group = [
                    f
                    for f in mine
                    if (f.where.get("symptom", ""), f.where.get("polarity", "")) == (symptom, polarity)
                    and f.where["check"] not in learned
                ]
                if symptom and group:
                    out += _change(group, passed, arm, "symptom")
    return out


def _change(rates: Sequence[Finding], passed: Passed, arm: str, by: str) -> list[Finding]:
    """The change over the cases that both arms judged, with the paired interval of its checks and seeds.

    Each check and seed has one pair per text, and Newcombe's interval for pairs. All use the same texts,
    so pooling them gives no more texts: the ends are the means of their ends, weighted by their cases. (The
    deviation of a mean is at most the mean of the deviations, whatever their correlation.)
    """
    after = [f for f in rates if f.where["arm"] == arm]
    pairs: list[list[tuple[str, bool, bool]]] = []
    for f in after:
        place = (f.where["seed"], f.where["suite"], f.where["check"])
        old, new = (passed.get((side, *place), {}) for side in (PLAIN, arm))
        pairs.append([(text, old[text], new[text]) for text in old if text in new])
    n = sum(map(len, pairs))
    if not n:
        return []
    keys = ("audit", "corpus", "suite", "label", "symptom", "category", "polarity")
    where = {key: rates[0].where[key] for key in keys if key in rates[0].where} | {"arm": arm, "by": by}
    if by == "check":
        where |= {"check": rates[0].where["check"], "title": rates[0].where.get("title", "")}
    before_passed = sum(old for mine in pairs for _, old, _ in mine)
    after_passed = sum(new for mine in pairs for *_, new in mine)
    counts = {"passed_before": before_passed, "n_before": n, "passed_after": after_passed, "n_after": n}
    counts["texts"] = len({text for mine in pairs for text, *_ in mine})
    flags = (TRAINED_ON,) if any(TRAINED_ON in f.flags for f in after) else ()
    low = high = 0.0
    for mine in filter(None, pairs):
        ends = paired_difference([new for *_, new in mine], [old for _, old, _ in mine]).interval
        low, high = low + ends[0] * len(mine) / n, high + ends[1] * len(mine) / n
    value = (after_passed - before_passed) / n
    return [Finding("pass_rate_change", value, n, (low, high), where, counts, flags=flags)]
