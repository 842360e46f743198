"""The checks of each suite and label: plots, heat map, means, sentences and the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.dots import Place, Plot, plots
from psycheck.report.numbers import count, figure, percent, span, spans
from psycheck.report.shelf import Key, Shelf, by
from psycheck.report.tables import Table
from psycheck.report.words import name_of, natural, order, place_names, place_of

MEANS = ("pass_rate_mean", "pass_rate_sd")
BY = ("category", "polarity", "kind", "symptom")
LEDGER = ("generated", "passed", "failed", "unchanged", "unseen", "unanswered", "undecided")


@dataclass(frozen=True, slots=True)
class Block:
    """The section of one suite and one label; `open_plot` and `open_ledger` start unfolded."""

    name: str
    plots: tuple[Plot, ...]
    heat: "Heat | None"
    means: Table | None
    sentences: Table | None
    ledgers: tuple[Table, ...]
    open_plot: int = 0
    open_ledger: int = 0


@dataclass(frozen=True, slots=True)
class Heat:
    """Checks × models and corpora: the text of each cell, and its shade (0 passes … 4 fails)."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[tuple[str, int], ...]], ...]


def blocks(shelf: Shelf, named: Finding | None = None) -> tuple[Block, ...]:
    """Take the findings on behaviour, by suite and label; the plot of `named` starts unfolded."""
    checks = shelf.take(
        lambda f: f.measure == "pass_rate" and bool(f.where.get("check")),
        by("suite", "label", "check", "model", "corpus"),
    )
    sentences = shelf.take(
        lambda f: f.measure == "sentence_pass_rate" and bool(f.where.get("check")),
        by("suite", "label", "check", "variant", "sentence", "model", "corpus"),
    )
    means = shelf.take(lambda f: f.measure in MEANS and "by" in f.where, _mean_key)
    means = {_adopted(key, checks): finding for key, finding in means.items()}
    heads = dict.fromkeys(key[:2] for key in (*checks, *sentences, *(key[1:3] for key in means)))
    suites = {suite for suite, _ in heads}
    labels = {label for _, label in heads}
    out = []
    for suite, label in heads:
        name = [f"suite {suite}"] if len(suites) > 1 else []
        name += [f"label {label}" if label else "all labels"] if len(labels) > 1 else []
        mine, by_sentence = (
            [finding for key, finding in found.items() if key[:2] == (suite, label)]
            for found in (checks, sentences)
        )
        own_means = {key: finding for key, finding in means.items() if key[1:3] == (suite, label)}
        block = _block(", ".join(name), mine, by_sentence, own_means)
        out.append(_opened(block, mine, place_of(named)) if named in mine and named else block)
    return tuple(out)


def _opened(block: Block, checks: list[Finding], place: Place) -> Block:
    """The block with the plot and the ledger of a place unfolded."""
    plot = next(k for k, one in enumerate(block.plots) if place in one.places)
    places = list(dict.fromkeys(place_of(f) for f in checks))
    return replace(block, open_plot=plot, open_ledger=places.index(place))


def _adopted(key: Key, checks: Mapping[Key, Finding]) -> Key:
    """The key of a mean; one over corpora has no label, and takes that of its suite if there is one only."""
    measure, suite, label, *rest = key
    labels = {other[1] for other in checks if other[0] == suite}
    return (measure, suite, label or (labels.pop() if len(labels) == 1 else ""), *rest)


def _mean_key(finding: Finding) -> tuple[str, ...]:
    where = finding.where
    kind = where["by"]
    return (finding.measure, *by("suite", "label")(finding), kind, where.get(kind, ""), *place_of(finding))


def _block(
    name: str, checks: list[Finding], sentences: list[Finding], means: Mapping[tuple[str, ...], Finding]
) -> Block:
    places = list(dict.fromkeys(place_of(f) for f in (*checks, *sentences)))
    called = place_names(places)
    cells = {(f.where["check"], place_of(f)): f for f in checks}
    listed = list({f.where["check"]: f for f in sorted(checks, key=order)}.values())
    dir_means = {
        (key[5], key[6]): finding
        for key, finding in means.items()
        if key[0] == "pass_rate_mean" and key[3:5] == ("kind", "DIR")
    }
    return Block(
        name,
        plots(places, called, listed, cells, dir_means) if checks else (),
        _heat(places, called, listed, cells) if len(places) > 1 and checks else None,
        _means(means),
        _sentence_table(sentences, places, called) if sentences else None,
        tuple(
            _ledger(
                called[place] if len(places) > 1 else "",
                [cells[f.where["check"], place] for f in listed if (f.where["check"], place) in cells],
            )
            for place in places
        ),
    )


def _heat(
    places: list[Place],
    called: Mapping[Place, str],
    listed: list[Finding],
    cells: Mapping[tuple[str, Place], Finding],
) -> Heat:
    rows = []
    for check in listed:
        name = check.where["check"]
        drawn = []
        for place in places:
            finding = cells.get((name, place))
            if finding is None or not finding.tested:
                drawn.append(("not run" if finding is None else "not tested", -1))
            else:
                drawn.append((percent(finding.value), min(4, int(5 * (1 - finding.value)))))
        rows.append((name, _short(check), tuple(drawn)))
    return Heat(tuple(called[place] for place in places), tuple(rows))


def _short(check: Finding) -> str:
    where = check.where
    if symptom := where.get("symptom"):
        return ", ".join(filter(None, (name_of("symptoms", symptom), where.get("polarity"))))
    return where.get("title", "")


def _means(means: Mapping[Key, Finding]) -> Table | None:
    """Mean and standard deviation over the checks of a category, polarity, kind …, as in DECK's Table 5."""
    if not means:
        return None
    places = list(dict.fromkeys((key[5], key[6]) for key in means))
    shown = {place: (place[0], "all corpora" if place[1] == "all" else place[1]) for place in places}
    names = place_names(list(shown.values()))
    head = next(iter(means))[1:3]
    groups = list(dict.fromkeys((key[3], key[4]) for key in means))
    groups.sort(key=lambda group: [*BY, group[0]].index(group[0]))
    rows = []
    for position, (kind, value) in enumerate(groups):
        cells = [
            _mean_sd(*(means.get((measure, *head, kind, value, *place)) for measure in MEANS))
            for place in places
        ]
        first = position == 0 or groups[position - 1][0] != kind
        name = name_of("symptoms" if kind == "symptom" else "values", value)
        rows.append((name_of("by", kind) if first else "", name, *cells))
    return Table(
        "Mean pass rate of the checks, its 95 % interval, and the standard deviation (sd) between the checks",
        ("By", "Group", *(names[shown[place]] if len(places) > 1 else "Mean" for place in places)),
        tuple(rows),
        words=2,
    )


def _mean_sd(mean: Finding | None, sd: Finding | None) -> Markup:
    either = mean or sd
    if either is None:
        return figure(None)
    checks = either.counts.get("checks", either.n)
    between = f"sd {100 * sd.value:.1f}" if sd is not None and sd.tested else "no sd"
    figures = spans("–")
    if mean is not None and mean.tested:
        figures = spans(percent(mean.value, 1), span(mean, 1))
    return figures + Markup(' <span class="n sd">{}, {}</span>').format(between, counted(checks, "check"))


def _sentence_table(sentences: list[Finding], places: list[Place], called: Mapping[Place, str]) -> Table:
    key = by("check", "variant", "sentence")
    cells = {(key(f), place_of(f)): f for f in sentences}
    rows = [
        (
            check,
            sentence or f"variant {variant}",
            *(figure(cells.get(((check, variant, sentence), p))) for p in places),
        )
        for check, variant, sentence in sorted(
            dict.fromkeys(key(f) for f in sentences), key=lambda k: (natural(k[0]), natural(k[1]))
        )
    ]
    return Table(
        "Pass rate of each sentence (value, 95 % interval, n)",
        ("Check", "Sentence", *(called[p] if len(places) > 1 else "Pass rate" for p in places)),
        tuple(rows),
        words=2,
    )


def _ledger(name: str, mine: list[Finding]) -> Table:
    met = {name for finding in mine for name in finding.counts}
    names = [name for name in LEDGER if name in met or name != "undecided"]
    names += sorted(met - set(LEDGER))
    rows = ((f.where["check"], *(count(f.counts.get(name, 0)) for name in names)) for f in mine)
    return Table(
        "generated = passed + failed + unchanged + unseen + unanswered" + (f", {name}" if name else ""),
        ("Check", *(name.replace("_", " ") for name in names)),
        tuple(rows),
    )
