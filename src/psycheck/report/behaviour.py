"""The checks of each suite and label: plots, heat map, means, sentences and the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.charts import Place, Plot, plots
from psycheck.report.numbers import count, figure, percent, span, spans
from psycheck.report.shelf import Key, Shelf, by, unique
from psycheck.report.tables import Table
from psycheck.report.words import name_of, natural, order, place_names, place_of

MEANS = ("pass_rate_mean", "pass_rate_sd")
BY = ("category", "polarity", "kind", "symptom")
LEDGER = ("generated", "passed", "failed", "unchanged", "unseen", "unanswered", "undecided")


@dataclass(frozen=True, slots=True)
class Block:
    """The section of one suite and one label; the plot and the ledger of `opened` start unfolded."""

    name: str
    opened: Place | None
    called: Mapping[Place, str]
    checks: tuple[Finding, ...]
    cells: Mapping[tuple[str, Place], Finding]
    plots: tuple[Plot, ...]
    means: Table | None
    sentences: Table | None
    ledgers: Mapping[Place, Table]


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
    averages = shelf.take(
        lambda f: f.measure in MEANS and "by" in f.where,
        lambda f: by("suite", "label", "by", f.where["by"], "model", "corpus", "measure")(f),
    )
    means: dict[Key, dict[Key, Finding]] = {}
    for (suite, label, *rest), f in averages.items():
        # A mean over corpora has no label, and takes that of its suite if there is one only.
        labels = {key[1] for key in checks if key[0] == suite}
        head = (suite, label or (labels.pop() if len(labels) == 1 else ""))
        means.setdefault(head, {})[tuple(rest)] = f
    heads = unique(key[:2] for key in (*checks, *sentences, *means))
    several_suites, several_labels = (len({head[at] for head in heads}) > 1 for at in (0, 1))
    out = []
    for head in heads:
        suite, label = head
        name = [f"suite {suite}"] if several_suites else []
        name += [f"label {label}" if label else "all labels"] if several_labels else []
        mine, by_sentence = ([f for k, f in found.items() if k[:2] == head] for found in (checks, sentences))
        opened = place_of(named) if named is not None and named in mine else None
        out.append(_block(", ".join(name), opened, mine, by_sentence, means.get(head, {})))
    return tuple(out)


def _block(
    name: str,
    opened: Place | None,
    found: list[Finding],
    sentences: list[Finding],
    means: Mapping[Key, Finding],
) -> Block:
    places = unique(place_of(f) for f in (*found, *sentences))
    called = place_names(places)
    cells = {(f.where["check"], place_of(f)): f for f in found}
    checks = tuple({f.where["check"]: f for f in sorted(found, key=order)}.values())
    dir_means = {
        (model, corpus): f
        for (*group, model, corpus, measure), f in means.items()
        if measure == "pass_rate_mean" and group == ["kind", "DIR"]
    }
    ledgers = {
        place: _ledger(
            f", {called[place]}" if len(places) > 1 else "",
            [cells[key] for check in checks if (key := (check.where["check"], place)) in cells],
        )
        for place in places
    }
    return Block(
        name,
        opened or next(iter(places), None),
        called,
        checks,
        cells,
        tuple(plots(called, checks, cells, dir_means)) if checks else (),
        _means(means) if means else None,
        _sentence_table(sentences, called) if sentences else None,
        ledgers,
    )


def _means(means: Mapping[Key, Finding]) -> Table:
    """Mean and standard deviation over the checks of a category, polarity, kind …, as in DECK's Table 5."""
    places = unique((key[2], key[3]) for key in means)
    shown = [(model, "all corpora" if corpus == "all" else corpus) for model, corpus in places]
    names = place_names(shown)
    groups = sorted(unique(key[:2] for key in means), key=lambda group: [*BY, group[0]].index(group[0]))
    rows = []
    last = ""
    for kind, value in groups:
        cells = [_mean_sd(*(means.get((kind, value, *place, m)) for m in MEANS)) for place in places]
        name = name_of("symptoms" if kind == "symptom" else "values", value)
        rows.append((name_of("by", kind) if kind != last else "", name, *cells))
        last = kind
    return Table(
        "Mean pass rate of the checks, its 95 % interval, and the standard deviation (sd) between the checks",
        ("By", "Group", *(names[place] if len(places) > 1 else "Mean" for place in shown)),
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


def _sentence_table(sentences: list[Finding], called: Mapping[Place, str]) -> Table:
    key = by("check", "variant", "sentence")
    cells = {(key(f), place_of(f)): f for f in sentences}
    rows = [
        (check, sentence or f"variant {variant}", *(figure(cells.get((k, place))) for place in called))
        for k in sorted(unique(map(key, sentences)), key=lambda k: (natural(k[0]), natural(k[1])))
        for check, variant, sentence in [k]
    ]
    return Table(
        "Pass rate of each sentence (value, 95 % interval, n)",
        ("Check", "Sentence", *(name if len(called) > 1 else "Pass rate" for name in called.values())),
        tuple(rows),
        words=2,
    )


def _ledger(place: str, checks: list[Finding]) -> Table:
    met = {name for f in checks for name in f.counts}
    names = [name for name in LEDGER if name in met or name != "undecided"]
    names += sorted(met - set(LEDGER))
    return Table(
        "generated = passed + failed + unchanged + unseen + unanswered" + place,
        ("Check", *(name.replace("_", " ") for name in names)),
        tuple((f.where["check"], *(count(f.counts.get(name, 0)) for name in names)) for f in checks),
    )
