"""The page of `bias`: what leans to which gender, how much by chance, and by which words."""

from collections.abc import Sequence

from psycheck.finding import Finding
from psycheck.report.charts import axis
from psycheck.report.direct_bias_plots import components, of_measure, words_plot
from psycheck.report.numbers import count, decimal, p_value, percent, plain, unbroken
from psycheck.report.page import draw
from psycheck.report.tables import Table
from psycheck.report.words import listed
from psycheck.run import Run

SIDES = {"F": "female", "M": "male"}
CERTAIN = 0.05
TOO_FEW = "too_few_lists"
_VARIANTS = {
    ("pairs", "unit"): "each pair centred on its mean, vectors of length 1 (Bolukbasi et al.)",
    ("pairs", "raw"): "each pair centred on its mean, vectors as they are",
    ("differences", "unit"): "differences centred on their mean, vectors of length 1",
}


def render_bias(run: Run) -> str:
    """Draw the page of a bias run as one HTML file without a script; it computes nothing."""
    names = [str(one["name"]) for one in run.plan["lists"]]
    return draw(
        "direct_bias",
        run,
        encoder=run.plan["encoder"],
        contextual=run.plan["kind"] == "contextual",
        lists=run.plan["lists"],
        verdict=unbroken(bias_verdict(run.findings)),
        learned=[unbroken(sentence) for sentence in bias_sentences(run.findings)],
        summary=bias_table(run.findings),
        components=components(run.findings),
        random_pairs=bool(of_measure(run.findings, "explained_variance_chance")),
        axis=axis(),
        dots=[words_plot(run.findings, name) for name in names],
        variants=_variants(run.findings),
        neighbours=_neighbours(run.findings),
    )


def bias_verdict(findings: Sequence[Finding]) -> str:
    """One sentence: whether words lean on gender more than random words, else whether to one side."""
    every = of_measure(findings, "direct_bias_p_holm")
    tests = [f for f in every if f.tested]
    least = min(tests or every, key=lambda f: f.value)
    one = _one(findings, "direct_bias", least.where["list"])
    names, of = listed([f.where["list"] for f in every]), f" of {one.where['list']}" if len(every) > 1 else ""
    if not tests:
        return (
            f"Words of {names} are not compared with random words, of which the encoder knows too few: "
            f"Direct Bias{of} {plain(one)}, n {count(one.n)}."
        )
    names = listed([f.where["list"] for f in tests])
    chance = _one(findings, "direct_bias_chance", least.where["list"])
    figures = f"{plain(one)}, n {count(one.n)}, random lists {decimal(chance.value)}, {_said_p(least)}"
    if least.value < CERTAIN:
        return (
            f"Words of {one.where['list']} lean on the gender direction more than random words do: "
            f"Direct Bias {figures}."
        )
    if TOO_FEW in least.flags:
        lists, tested, needed = (count(least.counts[key]) for key in ("lists", "tests", "lists_needed"))
        return (
            f"{lists} random lists are too few to show whether words of {names} lean on the gender direction "
            f"more than random words do: with {tested} tests at least {needed} are needed. "
            f"Direct Bias{of} {figures}."
        )
    said = f"Words of {names} lean on the gender direction no more than random words do"
    shifted = min((f for f in of_measure(findings, "signed_mean_p_holm") if f.tested), key=lambda f: f.value)
    if shifted.value < CERTAIN:
        name = shifted.where["list"]
        mean, usual = _one(findings, "signed_mean", name), _one(findings, "signed_mean_chance", name)
        side = "female" if mean.value > usual.value else "male"
        return (
            f"{said}, but those of {name} lie further to the {side} side: mean cosine {plain(mean)}, "
            f"n {count(mean.n)}, random lists {decimal(usual.value)}, {_said_p(shifted)}."
        )
    return f"{said}: Direct Bias{of} {figures}."


def bias_sentences(findings: Sequence[Finding]) -> list[str]:
    """One sentence a list on the side to which it leans, and one on the gender direction itself."""
    said = []
    for mean in of_measure(findings, "signed_mean"):
        name = mean.where["list"]
        chance, p = _one(findings, "signed_mean_chance", name), _one(findings, "signed_mean_p_holm", name)
        side = SIDES[mean.where["direction"]]
        leans = f"on average nearer to the {side} side"
        if mean.flags:
            leans = f"on average on neither side for certain (the sign says {side})"
        figures = f"{name.capitalize()}: {leans}, {plain(mean)}, n {count(mean.n)}"
        if not p.tested:
            said.append(f"{figures}; not compared with random lists.")
            continue
        further = "female" if mean.value > chance.value else "male"
        than = "no different from random lists"
        if p.value < CERTAIN:
            than = f"further to the {further} side than random lists"
        elif TOO_FEW in p.flags:
            than = "too few random lists to tell whether it differs from them"
        said.append(f"{figures}; {than}, whose mean is {decimal(chance.value)} ({_said_p(p)}).")
    first = next(f for f in of_measure(findings, "explained_variance") if f.where["component"] == "1")
    usual = [f for f in of_measure(findings, "explained_variance_chance") if f.where["component"] == "1"]
    random = f"; the first direction of random pairs holds {percent(usual[0].value)}" if usual else ""
    said.append(
        f"The gender direction holds {percent(first.value)} of the variance of the differences of "
        f"{count(first.n)} pairs{random}."
    )
    return said


def _said_p(adjusted: Finding) -> str:
    return f"p\u00a0{p_value(adjusted.value)} by Holm"


def bias_table(findings: Sequence[Finding]) -> Table:
    """One row a list: Direct Bias and the signed mean, each beside what chance gives."""
    rows = []
    for bias in of_measure(findings, "direct_bias"):
        name = bias.where["list"]
        signed = _one(findings, "signed_mean", name)
        rows.append(
            (
                name,
                bias.where["direction"] + ("?" if bias.flags else ""),
                plain(bias),
                plain(_one(findings, "direct_bias_chance", name)),
                p_value(_one(findings, "direct_bias_p", name).value),
                plain(signed),
                plain(_one(findings, "signed_mean_chance", name)),
                p_value(_one(findings, "signed_mean_p", name).value),
                count(bias.n),
                count(bias.counts.get("missing", 0)),
            )
        )
    head = (
        "List",
        "Side",
        "Direct Bias",
        "random lists",
        "p",
        "Signed mean",
        "random lists",
        "p",
        "n",
        "not known",
    )
    return Table(
        "Direct Bias (95 % interval over words; range of random lists; p not corrected)",
        head,
        tuple(rows),
        words=2,
    )


def _variants(findings: Sequence[Finding]) -> Table:
    rows = [
        (
            f.where["list"],
            _VARIANTS[f.where["centring"], f.where["lengths"]],
            f.where["direction"],
            plain(f),
            count(f.n),
        )
        for f in of_measure(findings, "direct_bias_variant")
    ]
    head = ("List", "How the gender direction is made", "Side", "Direct Bias (95 % interval)", "n")
    return Table("The same with the gender direction made otherwise", head, tuple(rows), words=3)


def _neighbours(findings: Sequence[Finding]) -> Table | None:
    rows = []
    for f in findings:
        if f.measure not in ("weat_effect", "rnd"):
            continue
        name = f.where["list"]
        called = f"WEAT, against {f.where['against']}" if f.measure == "weat_effect" else "RND"
        p = _one(findings, "weat_p" if f.measure == "weat_effect" else "rnd_p", name)
        chance = plain(_one(findings, "rnd_chance", name)) if f.measure == "rnd" else "–"
        rows.append((name, called, plain(f), chance, p_value(p.value), count(f.n)))
    head = ("List", "Measure", "Value (95 % interval)", "Random lists", "p", "n")
    return (
        Table("Neighbouring measures; above 0 is nearer to female", head, tuple(rows), words=2)
        if rows
        else None
    )


def _one(findings: Sequence[Finding], measure: str, name: str) -> Finding:
    return next(f for f in findings if f.measure == measure and f.where["list"] == name)
