"""The page of `bias`: which lists lean to which gender, how much by chance, and by which words."""

import math
from collections.abc import Sequence

from psycheck.finding import Finding
from psycheck.report.charts import Lane
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, decimal, ends, p_value, percent, plain, span, spans
from psycheck.report.page import draw
from psycheck.report.tables import Table, table_of
from psycheck.report.words import listed, name_of
from psycheck.run import Run

SIDES = {"F": "female", "M": "male"}
CERTAIN = 0.05
TOO_FEW = "too_few_lists"
CARRIERS = 20
Line = tuple[str, str, Lane]  # of a plot: its name, more words, its track


def render_bias(run: Run) -> str:
    """Draw the page of a bias run as one HTML file without a script; it computes nothing."""
    findings = run.findings
    return draw(
        "direct_bias",
        run,
        encoder=run.plan["encoder"],
        contextual=run.plan["kind"] == "contextual",
        lists=run.plan["lists"],
        verdict=bias_verdict(findings),
        learned=bias_sentences(findings),
        summary=bias_table(findings),
        components=_components(findings),
        random_pairs=bool(_of(findings, "explained_variance_chance")),
        dots=[_words_plot(findings, str(one["name"])) for one in run.plan["lists"]],
        variants=_variants(findings),
        neighbours=_neighbours(findings),
    )


def _components(findings: Sequence[Finding]) -> list[Line]:
    """The figure of section 5: the share of variance of every component, a line where random pairs are."""
    chance = {f.where["component"]: f.value for f in _of(findings, "explained_variance_chance")}
    rows = []
    for f in _of(findings, "explained_variance"):
        random = chance.get(f.where["component"])
        note = "" if random is None else f"random {percent(random)}"
        name = f"Component {f.where['component']}"
        title = f"{name}: {percent(f.value, 1)}{'; ' + note if note else ''}"
        figures = spans(percent(f.value), span(f, 0), note)
        rows.append((name, "", Lane(title, figures, random, ends(f), ((f.value, ""),))))
    return rows


def _words_plot(findings: Sequence[Finding], name: str) -> tuple[str, float, list[Line], list[Line], Table]:
    """The words of a list on a scale to the next tenth: by symptom, and those with the largest cosines."""
    words = [f for f in _of(findings, "projection") if f.where["list"] == name]
    reach = max(0.1, math.ceil(max(abs(f.value) for f in words) * 10) / 10)
    drawn = [(w, 0.5 + 0.5 * w.value / reach, f"{w.where['word']}: {decimal(w.value)}") for w in words]
    symptoms, most = [], []
    for f in _of(findings, "direct_bias_symptom"):
        if f.where["list"] == name:
            value, _, interval = plain(f, prose=True).partition(" (")
            figures = spans(f"{value} {f.where['direction']}", interval.rstrip(")"), f"n {count(f.n)}")
            own = f.where["symptom"]
            marks = tuple((at, title) for w, at, title in drawn if w.where.get("symptom") == own)
            symptoms.append((_symptom(f), "", Lane(_symptom(f), figures, 0.5, None, marks)))
    for w, at, title in drawn[:CARRIERS]:
        ends_at = (min(0.5, at), max(0.5, at))
        lane = Lane(title, spans(decimal(w.value)), 0.5, ends_at, ((at, ""),), low=w.value < 0)
        most.append((w.where["word"], _symptom(w), lane))
    rows = ((w.where["word"], _symptom(w) or "–", decimal(w.value)) for w in words)
    every = table_of("bias_words", rows, number=str(len(words)), list=name)
    return name, reach, symptoms, most, every


def _symptom(finding: Finding) -> str:
    return name_of("symptoms", finding.where.get("symptom", ""))


def bias_verdict(findings: Sequence[Finding]) -> str:
    """Which lists lean on gender more than random topics, and which lie further to one side."""
    every = _of(findings, "direct_bias_p_holm")
    tests = [f for f in every if f.tested]
    least = min(tests or every, key=lambda f: f.value)
    one = _one(findings, "direct_bias", least.where["list"])
    names = listed([f.where["list"] for f in tests or every])
    name = f"Direct Bias of {one.where['list']}" if len(every) > 1 else "Direct Bias"
    if not tests:
        return sentence("bias.not_compared", lists=names, bias=f"{name} {plain(one)}, n {count(one.n)}")
    figures = _against(findings, one, least)
    more = [f for f in tests if f.value < CERTAIN]
    shifted = [f for f in _of(findings, "signed_mean_p_holm") if f.tested and f.value < CERTAIN]
    if not more and not shifted and TOO_FEW in least.flags:
        numbers = {key: count(least.counts[key]) for key in ("lists", "tests", "lists_needed")}
        return sentence("bias.too_few", names=names, bias=f"{name} {figures}", **numbers)
    words = sentence("bias.not_more", lists=names, bias=f"{name} {figures}")
    if more:
        lists = [f.where["list"] for f in more]
        biases = [_one(findings, "direct_bias", name) for name in lists]
        sizes = [_against(findings, *one) for one in zip(biases, more, strict=True)]
        if len(more) > 1:
            sizes = [f"of {name} {figures}" for name, figures in zip(lists, sizes, strict=True)]
        words = sentence("bias.more", lists=listed(lists), bias="; ".join(sizes))
    for f in shifted:
        mean, chance = (_one(findings, m, f.where["list"]) for m in ("signed_mean", "signed_mean_chance"))
        side = "one side" if _undetermined(findings, f) else f"the {_side(mean, chance)} side"
        figures = _against(findings, mean, f)
        words += " " + sentence("bias.further", list=f.where["list"], side=side, mean=figures)
    undetermined = dict.fromkeys(f.where["list"] for f in (*more, *shifted) if _undetermined(findings, f))
    if undetermined:
        words += " " + sentence("bias.undetermined", lists=listed(list(undetermined)))
    return words


def _undetermined(findings: Sequence[Finding], one: Finding) -> bool:
    """Whether other definitions of the gender direction put the list on the other side."""
    variants = [f for f in _of(findings, "direct_bias_variant") if f.where["list"] == one.where["list"]]
    return len({f.where["direction"] for f in variants}) > 1


def _against(findings: Sequence[Finding], one: Finding, p: Finding) -> str:
    """A figure, what random lists give, and its adjusted p-value."""
    usual = decimal(_one(findings, f"{one.measure}_chance", one.where["list"]).value)
    return f"{plain(one)}, n {count(one.n)}, random lists {usual}, {_adjusted(p)}"


def _side(mean: Finding, chance: Finding) -> str:
    return "female" if mean.value > chance.value else "male"


def bias_sentences(findings: Sequence[Finding]) -> list[str]:
    """One sentence per list on the side it leans to, and one on the gender direction itself."""
    sentences = [_leaning(findings, mean) for mean in _of(findings, "signed_mean")]
    first, *usual = (
        f
        for measure in ("explained_variance", "explained_variance_chance")
        for f in _of(findings, measure)
        if f.where["component"] == "1"
    )
    share = {"share": percent(first.value), "pairs": count(first.n)}
    if usual:
        return [*sentences, sentence("bias.direction_random", random=percent(usual[0].value), **share)]
    return [*sentences, sentence("bias.direction", **share)]


def _leaning(findings: Sequence[Finding], mean: Finding) -> str:
    name = mean.where["list"]
    chance, p = _one(findings, "signed_mean_chance", name), _one(findings, "signed_mean_p_holm", name)
    undetermined = _undetermined(findings, mean)
    side, than = "unclear" if mean.flags else "nearer", "alike"
    if not p.tested:
        than = "not_compared"
    elif p.value < CERTAIN:
        than = "elsewhere" if undetermined else "further"
    elif TOO_FEW in p.flags:
        than = "few"
    random = {"side": _side(mean, chance), "chance": decimal(chance.value), "p": _adjusted(p)}
    words = {"side": SIDES[mean.where["direction"]], "mean": plain(mean), "n": count(mean.n)}
    words |= {"list": name.capitalize(), "than": sentence(f"bias.lists_{than}", **random)}
    return sentence(f"bias.side_{'undetermined' if undetermined else side}", **words)


def _adjusted(p: Finding) -> str:
    return f"Holm-adjusted p\u00a0{p_value(p.value)}"


def bias_table(findings: Sequence[Finding]) -> Table:
    """One row per list: Direct Bias and the signed mean, each with what random lists give."""
    rows = []
    for bias in _of(findings, "direct_bias"):
        name = bias.where["list"]
        figures = [
            plain(_one(findings, f"{measure}{end}", name))
            for measure in ("direct_bias", "signed_mean")
            for end in ("", "_chance", "_p")
        ]
        side = bias.where["direction"] + ("?" if bias.flags else "")
        rows.append((name, side, *figures, count(bias.n), count(bias.counts.get("missing", 0))))
    return table_of("bias", rows)


def _variants(findings: Sequence[Finding]) -> Table:
    rows = []
    for f in _of(findings, "direct_bias_variant"):
        definition = name_of("direction", f"{f.where['centring']}_{f.where['lengths']}")
        rows.append((f.where["list"], definition, f.where["direction"], plain(f), count(f.n)))
    return table_of("bias_variants", rows)


def _neighbours(findings: Sequence[Finding]) -> Table | None:
    rows = []
    for f in _of(findings, "weat_effect", "rnd"):
        name, chance = f.where["list"], "–"
        title, p = f"WEAT, against {f.where.get('against')}", "weat_p"
        if f.measure == "rnd":
            title, p, chance = "RND", "rnd_p", plain(_one(findings, "rnd_chance", name))
        rows.append((name, title, plain(f), chance, plain(_one(findings, p, name)), count(f.n)))
    return table_of("bias_related", rows) if rows else None


def _of(findings: Sequence[Finding], *measures: str) -> list[Finding]:
    """The findings of these measures, in their order."""
    return [f for f in findings if f.measure in measures]


def _one(findings: Sequence[Finding], measure: str, name: str) -> Finding:
    return next(f for f in findings if f.measure == measure and f.where["list"] == name)
