"""The sentences of `bias`: which lists lean on the gender direction, and to which side."""

from collections.abc import Sequence

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.report.display_names import listed
from psycheck.report.headlines import headline, sentence
from psycheck.report.numbers import count, decimal, p_value, percent, plain

SIDES = {"F": "female", "M": "male"}
ALPHA = 0.05
TOO_FEW = "too_few_lists"


def bias_headlines(findings: Sequence[Finding]) -> list[Headline]:
    """Which lists lean on gender more than random topics, and which lie further to one side."""
    all_tests = measured(findings, "direct_bias_p_holm")
    tests = [test for test in all_tests if test.tested]
    if not tests:
        return [_not_compared(findings, all_tests)]

    # How far a list lies from the middle and to which side are two questions, and two tests.
    shift_tests = measured(findings, "signed_mean_p_holm")
    more = [test for test in tests if test.value < ALPHA]
    shifted = [test for test in shift_tests if test.tested and test.value < ALPHA]
    if more:
        first = _more_headline(findings, more)
    else:
        # Where a shift is significant, the random lists were enough to show it.
        first = _not_more_headline(findings, all_tests, tests, may_be_too_few=not shifted)

    headlines = [first]
    headlines += [_shifted_headline(findings, test) for test in shifted]

    # The side of a list means nothing if it depends on how the gender direction is defined.
    undetermined = [test for test in (*more, *shifted) if _undetermined(findings, test)]
    if undetermined:
        lists = list(dict.fromkeys(test.where["list"] for test in undetermined))
        headlines.append(
            headline(
                "bias.undetermined",
                undetermined,
                lists=listed(lists),
            )
        )
    return headlines


def _not_compared(findings: Sequence[Finding], tests: Sequence[Finding]) -> Headline:
    # Nothing was compared: the figures of one list stand for what is known.
    first_test = min(tests, key=lambda test: test.value)
    bias = measured_for(findings, "direct_bias", first_test.where["list"])
    figures = f"{_bias_name(bias, tests)} {plain(bias)}, n {count(bias.n)}"
    lists = listed([test.where["list"] for test in tests])
    return headline(
        "bias.not_compared",
        [bias],
        lists=lists,
        bias=figures,
    )


def _not_more_headline(
    findings: Sequence[Finding],
    all_tests: Sequence[Finding],
    tests: Sequence[Finding],
    *,
    may_be_too_few: bool,
) -> Headline:
    """No list leans more than random topics; named is the list with the smallest p."""
    least = min(tests, key=lambda test: test.value)
    bias = measured_for(findings, "direct_bias", least.where["list"])
    figures = f"{_bias_name(bias, all_tests)} {_against_random(findings, bias, least)}"
    lists = listed([test.where["list"] for test in tests])
    if may_be_too_few and TOO_FEW in least.flags:
        numbers = {key: count(least.counts[key]) for key in ("lists", "tests", "lists_needed")}
        return headline(
            "bias.too_few",
            [bias, least],
            names=lists,
            bias=figures,
            **numbers,
        )
    return headline(
        "bias.not_more",
        [bias, least],
        lists=lists,
        bias=figures,
    )


def _bias_name(bias: Finding, tests: Sequence[Finding]) -> str:
    return f"Direct Bias of {bias.where['list']}" if len(tests) > 1 else "Direct Bias"


def _more_headline(findings: Sequence[Finding], more: Sequence[Finding]) -> Headline:
    """The lists that lean on gender more than random topics."""
    biases = [measured_for(findings, "direct_bias", test.where["list"]) for test in more]
    sizes = []
    for bias, test in zip(biases, more, strict=True):
        size = _against_random(findings, bias, test)
        if len(more) > 1:
            size = f"of {bias.where['list']} {size}"
        sizes.append(size)
    lists = listed([test.where["list"] for test in more])
    return headline(
        "bias.more",
        [*biases, *more],
        lists=lists,
        bias="; ".join(sizes),
    )


def _shifted_headline(findings: Sequence[Finding], test: Finding) -> Headline:
    """A list that lies further to one side than random topics."""
    name = test.where["list"]
    mean = measured_for(findings, "signed_mean", name)
    chance = measured_for(findings, "signed_mean_chance", name)
    side = "one side" if _undetermined(findings, test) else f"the {_side(mean, chance)} side"
    figures = _against_random(findings, mean, test)
    return headline(
        "bias.further",
        [mean, test],
        list=name,
        side=side,
        mean=figures,
    )


def _undetermined(findings: Sequence[Finding], about: Finding) -> bool:
    """Whether other definitions of the gender direction put the list on the other side."""
    name = about.where["list"]
    variants = [f for f in measured(findings, "direct_bias_variant") if f.where["list"] == name]
    # Two sides among the definitions: the side is an artefact of one of them.
    directions = {variant.where["direction"] for variant in variants}
    return len(directions) > 1


def _against_random(findings: Sequence[Finding], finding: Finding, test: Finding) -> str:
    """A figure, what random lists give, and its adjusted p-value."""
    chance = measured_for(
        findings,
        f"{finding.measure}_chance",
        finding.where["list"],
    )
    usual = decimal(chance.value)
    return f"{plain(finding)}, n {count(finding.n)}, random lists {usual}, {_adjusted_p(test)}"


def _side(mean: Finding, chance: Finding) -> str:
    # Against random lists, not against 0: all words of an encoder may lie on one side.
    return "female" if mean.value > chance.value else "male"


def bias_sentences(findings: Sequence[Finding]) -> list[str]:
    """One sentence per list on the side it leans to, and one on the gender direction itself."""
    sentences = [_leaning(findings, mean) for mean in measured(findings, "signed_mean")]
    return [*sentences, _direction_sentence(findings)]


def _direction_sentence(findings: Sequence[Finding]) -> str:
    """How much of the variance of the pairs the gender direction explains."""
    first_components = [finding for finding in findings if finding.where.get("component") == "1"]
    share = measured(first_components, "explained_variance")[0]
    random_share = measured(first_components, "explained_variance_chance")
    values = {"share": percent(share.value), "pairs": count(share.n)}
    # Older runs did not measure what random pairs explain.
    if random_share:
        return sentence(
            "bias.direction_random",
            random=percent(random_share[0].value),
            **values,
        )
    return sentence("bias.direction", **values)


def _leaning(findings: Sequence[Finding], mean: Finding) -> str:
    """The side that a list leans to, and whether random lists do, too."""
    name = mean.where["list"]
    chance = measured_for(findings, "signed_mean_chance", name)
    test = measured_for(findings, "signed_mean_p_holm", name)
    undetermined = _undetermined(findings, mean)
    compared = sentence(
        f"bias.lists_{_compared_with_random(test, undetermined=undetermined)}",
        side=_side(mean, chance),
        chance=decimal(chance.value),
        p=_adjusted_p(test),
    )

    certainty = "unclear" if mean.flags else "nearer"
    if undetermined:
        certainty = "undetermined"
    return sentence(
        f"bias.side_{certainty}",
        side=SIDES[mean.where["direction"]],
        mean=plain(mean),
        n=count(mean.n),
        list=name.capitalize(),
        than=compared,
    )


def _compared_with_random(test: Finding, *, undetermined: bool) -> str:
    """The rule of the part of a sentence that compares a list with random lists."""
    # No p-value: the words must not sound like a result.
    if not test.tested:
        return "not_compared"
    if test.value < ALPHA:
        return "elsewhere" if undetermined else "further"
    return "few" if TOO_FEW in test.flags else "alike"


def _adjusted_p(test: Finding) -> str:
    return f"Holm-adjusted p\u00a0{p_value(test.value)}"


def measured(findings: Sequence[Finding], *measures: str) -> list[Finding]:
    """The findings of these measures, in their order."""
    return [finding for finding in findings if finding.measure in measures]


def measured_for(findings: Sequence[Finding], measure: str, name: str) -> Finding:
    """The finding of a measure on one list."""
    return next(f for f in findings if f.measure == measure and f.where["list"] == name)
