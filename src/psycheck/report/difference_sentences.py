"""The sentences at the top of the page of `diff`."""

from collections.abc import Iterator

from psycheck.errors import counted
from psycheck.finding import Finding, Findings
from psycheck.report.headlines import ALPHA, Headline, headline
from psycheck.report.numbers import count, decimal, known_interval, percent, plain
from psycheck.report.shelf import by
from psycheck.report.words import listed, name_of

FIGURES = {"accuracy": "accuracy", "f1": "F1", "auc": "AUC"}
MOST = 3  # sentences of one kind
_AGAINST = 0.01  # what points the other way by less is no objection
_PAIR = by("corpus", "label", "model", "versus")
_TESTED = {"cue_p_holm": "cue_difference", "error_length_p_holm": "error_length_effect"}


def difference_headlines(findings: Findings) -> list[Headline]:
    """Who is better, where they part, how far they agree, what is missing, and what goes with errors."""
    pairs = [f for f in findings.where(measure="accuracy_difference") if f.tested]
    single = len(findings.where(measure="kappa")) == 1
    out = [*_better(findings, pairs, single=single)] if pairs else [headline("diff.untested")]
    if single and pairs:
        out += _apart(findings, pairs[0])
    return [*out, *_agreement(findings, single=single), *_unanswered(findings), *_errors(findings)]


def shown_differences(findings: Findings, pair: Finding) -> dict[str, Finding]:
    """The figures in which two models differ: p after Holm's correction, and an interval without 0."""
    holm = {(_PAIR(f), f.where["figure"]): f.value for f in findings.where(measure="difference_p_holm")}
    out = {}
    for figure in FIGURES:
        for f in findings.where(measure=f"{figure}_difference"):
            if _PAIR(f) == _PAIR(pair) and holm.get((_PAIR(f), figure), 1.0) < ALPHA and _off_zero(f):
                out[figure] = f
    return out


def place_named(finding: Finding, findings: Findings) -> str:
    """The corpus and the label, each only where there are several."""
    corpora, labels = (
        {f.where.get(key) for f in findings if f.where.get(key)} for key in ("corpus", "label")
    )
    corpus = f" on {finding.where['corpus']}" if len(corpora) > 1 else ""
    return corpus + (f", label {finding.where['label']}" if len(labels) > 1 else "")


def _off_zero(finding: Finding) -> bool:
    low, high = known_interval(finding) or (0.0, 0.0)
    return low > 0 or high < 0


def _better(findings: Findings, pairs: list[Finding], *, single: bool) -> Iterator[Headline]:
    shown = {_PAIR(pair): some for pair in pairs if (some := shown_differences(findings, pair))}
    differing = sorted((pair for pair in pairs if _PAIR(pair) in shown), key=lambda f: -abs(f.value))
    for pair in differing[:MOST]:
        ours, theirs = (
            {name: f for name, f in shown[_PAIR(pair)].items() if (f.value > 0) == positive}
            for positive in (True, False)
        )
        names = (pair.where["model"], pair.where["versus"])
        first, second = names if ours else names[::-1]
        words = {"first": first, "second": second, "place": place_named(pair, findings), "n": count(pair.n)}
        words["figures"] = _higher(ours or theirs, single=single)
        if ours and theirs:
            yield headline("diff.mixed", **words, others=_higher(theirs, single=single))
        elif against := _against(findings, pair, positive=not ours):
            yield headline("diff.higher", **words, others=_higher(against, single=False))
        else:
            yield headline("diff.better", **words)
    if not single:
        total = counted(len(pairs), "comparison")
        yield headline("diff.counted", shown=str(len(differing)), comparisons=total)
    elif not differing:
        (pair,) = pairs
        every = [f for name in FIGURES for f in findings.where(measure=f"{name}_difference") if f.tested]
        moved = [f"{FIGURES[f.measure.split('_')[0]]} differs by {plain(f)}" for f in every]
        words = {"first": pair.where["model"], "second": pair.where["versus"], "n": count(pair.n)}
        yield headline("diff.not_shown", **words, figures=listed(moved))


def _against(findings: Findings, pair: Finding, *, positive: bool) -> dict[str, Finding]:
    """The figures that point in this direction, shown beyond chance or not."""
    every = ((name, f) for name in FIGURES for f in findings.where(measure=f"{name}_difference"))
    mine = {name: f for name, f in every if _PAIR(f) == _PAIR(pair) and abs(f.value) > _AGAINST}
    return {name: f for name, f in mine.items() if (f.value > 0) == positive}


def _higher(figures: dict[str, Finding], *, single: bool) -> str:
    """What is higher, and by how much; with intervals only where nothing was picked."""
    words = []
    for name, f in figures.items():
        ends = [abs(end) for end in known_interval(f)]
        between = f" ({decimal(min(ends))}–{decimal(max(ends))})" if single else ""
        words.append(f"higher {FIGURES[name]} by {decimal(abs(f.value))}{between}")
    return listed(words)


def _apart(findings: Findings, pair: Finding) -> Iterator[Headline]:
    found = {f.where["gold"]: f for f in findings.where(measure="right_where_apart")}
    every = found["all"]
    if not every.n:
        return
    sides = []
    for side in ("only_this_right", "only_other_right"):
        by_gold = [f"{count(found[gold].counts[side])} annotated {gold}" for gold in ("1", "0")]
        sides.append(f"{count(every.counts[side])} ({', '.join(by_gold)})")
    words = {"apart": count(every.n), "n": count(every.counts["texts"]), "mine": sides[0], "others": sides[1]}
    yield headline("diff.apart", first=pair.where["model"], second=pair.where["versus"], **words)


def _agreement(findings: Findings, *, single: bool) -> Iterator[Headline]:
    kappas = sorted((f for f in findings.where(measure="kappa") if f.tested), key=lambda f: f.value)
    if not kappas:
        return
    if single:
        (share,) = findings.where(measure="agreement")
        yield headline("diff.agreement", share=plain(share), kappa=plain(kappas[0]))
        return
    least, most = kappas[0], kappas[-1]
    named = [f"{f.where['model']} and {f.where['versus']}{place_named(f, findings)}" for f in (least, most)]
    ends = {"least": decimal(least.value, 2), "most": decimal(most.value, 2)}
    yield headline("diff.agreements", fewest=named[0], alike=named[1], **ends)


def _unanswered(findings: Findings) -> Iterator[Headline]:
    silent = sorted((f for f in findings.where(measure="unanswered") if f.value > 0), key=lambda f: -f.value)
    model = by("corpus", "label", "model")
    f1s = {
        name: {model(f): plain(f) if name == "f1" else decimal(f.value) for f in findings.where(measure=name)}
        for name in ("f1", "f1_worst", "f1_best")
    }
    for f in silent[:MOST]:
        worst, best = (f1s[name].get(model(f), "–") for name in ("f1_worst", "f1_best"))
        yield headline(
            "diff.unanswered",
            model=f.where["model"],
            share=percent(f.value, 1),
            texts=counted(f.n, "annotated text"),
            place=place_named(f, findings),
            f1=f1s["f1"][model(f)],
            worst=worst,
            best=best,
        )


def _errors(findings: Findings) -> Iterator[Headline]:
    """What goes with errors, the lowest p first."""
    tests = [f for name in _TESTED for f in findings.where(measure=name) if f.tested]
    effects = {(f.measure, _place(f)): f for f in findings if f.measure in _TESTED.values()}
    found = []
    for test in sorted(tests, key=lambda f: f.value):
        effect = effects[_TESTED[test.measure], _place(test)]
        if test.value < ALPHA and _off_zero(effect):
            found.append(effect)
    for effect in found[:MOST]:
        gold, counts = effect.where["gold"], effect.counts
        words = {side: name_of("errors", f"{side}{gold}") for side in ("errors", "right")}
        words |= {"model": effect.where["model"], "place": place_named(effect, findings)}
        if effect.measure == "error_length_effect":
            lengths = {f"{side}_length": count(counts[f"characters_{side}"]) for side in ("errors", "right")}
            longer = "longer" if effect.value > 0 else "shorter"
            yield headline("diff.length", **words, **lengths, longer=longer)
        else:
            rates = {
                f"{side}_rate": percent(counts[f"{side}_with_cue"] / counts[side])
                for side in ("errors", "right")
            }
            yield headline("diff.cue", **words, **rates, says=name_of("cue_says", effect.where["cue"]))
    if tests and not found:
        yield headline("diff.no_cue", tests=counted(len(tests), "test"))


def _place(finding: Finding) -> tuple[str, ...]:
    return by("corpus", "label", "model", "gold", "cue")(finding)
