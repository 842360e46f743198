"""The sentences at the top of the page of `diff`."""

from collections.abc import Iterator

from psycheck.core.errors import counted
from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.report.display_names import listed, name_of
from psycheck.report.headlines import headline
from psycheck.report.numbers import count, decimal, known_interval, percent, plain
from psycheck.report.sections import by

ALPHA = 0.05
FIGURES = {
    "accuracy": "accuracy",
    "f1": "F1",
    "auc": "AUC",
}
MOST = 3  # sentences of one kind
_AGAINST = 0.01  # what points the other way by less is no objection
_PAIR = by(
    "corpus",
    "label",
    "model",
    "versus",
)
_TESTED = {"cue_p_holm": "cue_difference", "error_length_p_holm": "error_length_effect"}


def difference_headlines(findings: Findings) -> list[Headline]:
    """Who is better, where they part, how far they agree, what is missing, and what goes with errors."""
    pairs = [f for f in findings.where(measure="accuracy_difference") if f.tested]
    single = len(findings.where(measure="kappa")) == 1
    headlines: list[Headline] = []
    if pairs:
        headlines += _better(findings, pairs, single=single)
    else:
        headlines.append(headline("diff.untested"))

    # Of several pairs, the page has a table of where they part.
    if single and pairs:
        headlines += _apart(findings, pairs[0])
    headlines += _agreement(findings, single=single)
    headlines += _unanswered(findings)
    headlines += _errors(findings)
    return headlines


def shown_differences(findings: Findings, pair: Finding) -> dict[str, Finding]:
    """The figures in which two models differ: p after Holm's correction, and an interval without 0."""
    holm = {}
    for test in findings.where(measure="difference_p_holm"):
        holm[_PAIR(test), test.where["figure"]] = test.value

    shown = {}
    for figure in FIGURES:
        # Without a test nothing is shown, whatever the interval says.
        is_significant = holm.get((_PAIR(pair), figure), 1.0) < ALPHA
        for difference in findings.where(measure=f"{figure}_difference"):
            is_of_pair = _PAIR(difference) == _PAIR(pair)
            if is_significant and is_of_pair and _off_zero(difference):
                shown[figure] = difference
    return shown


def place_named(finding: Finding, findings: Findings) -> str:
    """The corpus and the label, each only where there are several."""
    corpora = {f.where["corpus"] for f in findings if f.where.get("corpus")}
    labels = {f.where["label"] for f in findings if f.where.get("label")}

    words = ""
    if len(corpora) > 1:
        words += f" on {finding.where['corpus']}"
    if len(labels) > 1:
        words += f", label {finding.where['label']}"
    return words


def _off_zero(finding: Finding) -> bool:
    # Without an interval, 0 is not excluded.
    low, high = known_interval(finding) or (0.0, 0.0)
    return low > 0 or high < 0


def _better(findings: Findings, pairs: list[Finding], *, single: bool) -> Iterator[Headline]:
    """Who is better in each of the clearest pairs, and how many pairs differ at all."""
    differing = [pair for pair in pairs if shown_differences(findings, pair)]
    # The largest difference is what a reader asks for first.
    differing.sort(key=lambda pair: -abs(pair.value))
    for pair in differing[:MOST]:
        yield _difference_headline(findings, pair, single=single)
    # How many were compared belongs to the picked ones: some differ by chance.
    if not single:
        total = counted(len(pairs), "comparison")
        yield headline(
            "diff.counted",
            differing,
            shown=str(len(differing)),
            comparisons=total,
        )
    elif not differing:
        yield _not_shown_headline(findings, pairs[0])


def _difference_headline(findings: Findings, pair: Finding, *, single: bool) -> Headline:
    """Two models that differ: one is better, or each at something."""
    differences = shown_differences(findings, pair)
    higher_for_first = {name: f for name, f in differences.items() if f.value > 0}
    higher_for_second = {name: f for name, f in differences.items() if f.value <= 0}
    models = (pair.where["model"], pair.where["versus"])
    # The better one is the subject, whichever was named first.
    better, worse = models if higher_for_first else models[::-1]
    values = {
        "first": better,
        "second": worse,
        "place": place_named(pair, findings),
        "n": count(pair.n),
        "figures": _higher(higher_for_first or higher_for_second, single=single),
    }
    behind = list(differences.values())
    if higher_for_first and higher_for_second:
        higher = _higher(higher_for_second, single=single)
        return headline(
            "diff.mixed",
            behind,
            others=higher,
            **values,
        )

    against = _against(findings, pair, positive=not higher_for_first)
    if against:
        higher = _higher(against, single=False)
        return headline(
            "diff.higher",
            [*behind, *against.values()],
            others=higher,
            **values,
        )
    return headline("diff.better", behind, **values)


def _not_shown_headline(findings: Findings, pair: Finding) -> Headline:
    """Two models that are not shown to differ, and by how much each figure does."""
    tested = []
    sizes = []
    for figure, name in FIGURES.items():
        for difference in findings.where(measure=f"{figure}_difference"):
            if difference.tested:
                tested.append(difference)
                sizes.append(f"{name} differs by {plain(difference)}")
    return headline(
        "diff.not_shown",
        tested,
        first=pair.where["model"],
        second=pair.where["versus"],
        n=count(pair.n),
        figures=listed(sizes),
    )


def _against(findings: Findings, pair: Finding, *, positive: bool) -> dict[str, Finding]:
    """The figures that point in this direction, shown beyond chance or not."""
    against = {}
    for name in FIGURES:
        for difference in findings.where(measure=f"{name}_difference"):
            is_clear = abs(difference.value) > _AGAINST
            points_there = (difference.value > 0) == positive
            if _PAIR(difference) == _PAIR(pair) and is_clear and points_there:
                against[name] = difference
    return against


def _higher(figures: dict[str, Finding], *, single: bool) -> str:
    """What is higher, and by how much; with intervals only where nothing was picked."""
    words = []
    for name, f in figures.items():
        between = ""
        if single:
            ends = [abs(end) for end in known_interval(f)]
            between = f" ({decimal(min(ends))}–{decimal(max(ends))})"
        size = decimal(abs(f.value))
        words.append(f"higher {FIGURES[name]} by {size}{between}")
    return listed(words)


def _apart(findings: Findings, pair: Finding) -> Iterator[Headline]:
    """Which of two models is right where they decide differently."""
    by_annotation = {f.where["gold"]: f for f in findings.where(measure="right_where_apart")}
    every = by_annotation["all"]
    if not every.n:
        return
    sides = []
    for side in ("only_this_right", "only_other_right"):
        counts = []
        for gold in ("1", "0"):
            texts = by_annotation[gold].counts[side]
            counts.append(f"{count(texts)} annotated {gold}")
        sides.append(f"{count(every.counts[side])} ({', '.join(counts)})")
    words = {
        "apart": count(every.n),
        "n": count(every.counts["texts"]),
        "mine": sides[0],
        "others": sides[1],
    }
    yield headline(
        "diff.apart",
        [every],
        first=pair.where["model"],
        second=pair.where["versus"],
        **words,
    )


def _agreement(findings: Findings, *, single: bool) -> Iterator[Headline]:
    kappas = [f for f in findings.where(measure="kappa") if f.tested]
    if not kappas:
        return

    # The least and the most alike pair; those between are in the matrix.
    kappas.sort(key=lambda f: f.value)
    if single:
        (share,) = findings.where(measure="agreement")
        yield headline(
            "diff.agreement",
            [share, kappas[0]],
            share=plain(share),
            kappa=plain(kappas[0]),
        )
        return
    least, most = kappas[0], kappas[-1]
    named = []
    for kappa in (least, most):
        models = f"{kappa.where['model']} and {kappa.where['versus']}"
        named.append(models + place_named(kappa, findings))
    ends = {"least": decimal(least.value, 2), "most": decimal(most.value, 2)}
    yield headline(
        "diff.agreements",
        [least, most],
        fewest=named[0],
        alike=named[1],
        **ends,
    )


def _unanswered(findings: Findings) -> Iterator[Headline]:
    silent = [f for f in findings.where(measure="unanswered") if f.value > 0]
    # The most silent first: its figures rest on the fewest texts.
    silent.sort(key=lambda f: -f.value)

    # F1 if all missing answers were wrong, or all right, bounds what they could change.
    model = by("corpus", "label", "model")
    f1 = {model(f): plain(f) for f in findings.where(measure="f1")}
    f1_worst = {model(f): decimal(f.value) for f in findings.where(measure="f1_worst")}
    f1_best = {model(f): decimal(f.value) for f in findings.where(measure="f1_best")}
    for f in silent[:MOST]:
        yield headline(
            "diff.unanswered",
            [f],
            model=f.where["model"],
            share=percent(f.value, 1),
            texts=counted(f.n, "annotated text"),
            place=place_named(f, findings),
            f1=f1[model(f)],
            worst=f1_worst.get(model(f), "–"),
            best=f1_best.get(model(f), "–"),
        )


def _errors(findings: Findings) -> Iterator[Headline]:
    """What goes with errors, the lowest p first."""
    tests: list[Finding] = []
    for measure in _TESTED:
        tests += [test for test in findings.where(measure=measure) if test.tested]
    tests.sort(key=lambda test: test.value)
    effects = {(f.measure, _place(f)): f for f in findings if f.measure in _TESTED.values()}
    clear_effects = []
    for test in tests:
        effect = effects[_TESTED[test.measure], _place(test)]
        # Test and interval must agree: one of them alone may be chance.
        if test.value < ALPHA and _off_zero(effect):
            clear_effects.append(effect)

    for effect in clear_effects[:MOST]:
        yield _error_headline(effect, findings)
    if tests and not clear_effects:
        yield headline("diff.no_cue", tests=counted(len(tests), "test"))


def _error_headline(effect: Finding, findings: Findings) -> Headline:
    """A cue, or the length, that goes with the errors of a model."""
    gold = effect.where["gold"]
    counts = effect.counts
    values = {
        "errors": name_of("errors", f"errors{gold}"),
        "right": name_of("errors", f"right{gold}"),
        "model": effect.where["model"],
        "place": place_named(effect, findings),
    }
    if effect.measure == "error_length_effect":
        return headline(
            "diff.length",
            [effect],
            errors_length=count(counts["characters_errors"]),
            right_length=count(counts["characters_right"]),
            longer="longer" if effect.value > 0 else "shorter",
            **values,
        )
    return headline(
        "diff.cue",
        [effect],
        errors_rate=percent(counts["errors_with_cue"] / counts["errors"]),
        right_rate=percent(counts["right_with_cue"] / counts["right"]),
        says=name_of("cue_says", effect.where["cue"]),
        **values,
    )


def _place(finding: Finding) -> tuple[str, ...]:
    return by(
        "corpus",
        "label",
        "model",
        "gold",
        "cue",
    )(finding)
