"""The checks of each suite and label: plots, heat map, means, sentences and the ledger."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.charts import Lane, Means, Place, Plot, Row, rate_lane
from psycheck.report.headlines import among_checks, weakest
from psycheck.report.numbers import count, figure, percent, rate, span, spans
from psycheck.report.shelf import Key, Section, Shelf, by, drawn, unique
from psycheck.report.tables import Table, table_of
from psycheck.report.words import name_of, natural, order, place_names, place_of

MEANS = ("pass_rate_mean", "pass_rate_sd")
DIR_MEAN = ("kind", "DIR", "pass_rate_mean")
PANELS = 3
BY = ("category", "polarity", "kind", "symptom")
LEDGER = ("generated", "passed", "failed", "unchanged", "unseen", "unanswered", "undecided")


@dataclass(frozen=True, slots=True)
class Block:
    """The section of one suite and one label; the plot and the ledger of `opened` start unfolded.

    `called` names the places, `checks` has each check once, `cells` all findings, `dir_means` the DIR means.
    """

    name: str
    opened: Place | None
    called: Mapping[Place, str]
    checks: tuple[Finding, ...]
    cells: Mapping[tuple[str, Place], Finding]
    dir_means: Mapping[Place, Finding]
    means: Table | None
    sentences: Table | None

    def plots(self) -> Iterator[Plot]:
        """One plot for few places, else one per model if it has several corpora; at most three panels."""
        models = unique(model for model, _ in self.called)
        split = PANELS < len(self.called) > len(models)
        for model in models if split else ("",):
            mine = [place for place in self.called if place[0] == model or not split]
            for start in range(0, len(mine), PANELS):
                part = tuple(mine[start : start + PANELS])
                panels = tuple((place[1] or place[0]) if model else self.called[place] for place in part)
                yield Plot(model, panels if len(self.called) > 1 else (), tuple(self._groups(part)), part)

    def _groups(self, places: tuple[Place, ...]) -> Iterator[tuple[str, Means, tuple[Row, ...]]]:
        """The name, means and rows of each group of checks; the DIR mean precedes the first DIR check."""
        mean_lanes = tuple(_mean_lane(self.dir_means.get(place)) for place in places)
        means = tuple(lane.mean if lane else None for lane in mean_lanes)
        groups: dict[str, list[Row]] = {}
        directed = set()
        for check in self.checks:
            where = check.where
            name = name_of("symptoms", where.get("symptom") or where.get("topic") or "other checks")
            name = name[:1].upper() + name[1:]
            if where.get("symptom") and where.get("item"):
                name += f" · {where.get('scale', '')} item {where['item']}"
            if where.get("kind") == "DIR":
                directed.add(name)
                if self.dir_means:
                    groups.setdefault("", [Row("", "Mean of the DIR checks", "", mean_lanes)])
            found = [self.cells.get((where["check"], place)) for place in places]
            lanes = tuple(_lane(f, mean) if f else None for f, mean in zip(found, means, strict=True))
            word = where.get("polarity", "") if where.get("symptom") else ""
            groups.setdefault(name, []).append(Row(where["check"], word, where.get("title", ""), lanes))
        for name, rows in groups.items():
            yield name, means if name in directed else (None,) * len(places), tuple(rows)

    def ledgers(self) -> Iterator[tuple[Place, Table]]:
        """What became of the cases of every check, place by place."""
        for place, called in self.called.items():
            mine = [f for check in self.checks if (f := self.cells.get((check.where["check"], place)))]
            met = {name for f in mine for name in f.counts}
            names = [name for name in LEDGER if name in met or name != "undecided"]
            names += sorted(met - set(LEDGER))
            rows = [(f.where["check"], *(count(f.counts.get(name, 0)) for name in names)) for f in mine]
            where = f", {called}" if len(self.called) > 1 else ""
            yield place, table_of("ledger", rows, [name.replace("_", " ") for name in names], place=where)


def _lane(finding: Finding, mean: float | None) -> Lane:
    title = f"{finding.where['check']}: {rate(finding)}"
    if finding.tested:
        title += f" of {count(finding.n)} pass"
        title += ", below the mean of the DIR checks" if "below_dir_mean" in finding.flags else ""
    return rate_lane(finding, title, mean if finding.where.get("kind") == "DIR" else None)


def _mean_lane(mean: Finding | None) -> Lane | None:
    if mean is None or not mean.tested:
        return None
    value, checks = percent(mean.value, 1), counted(mean.counts.get("checks", mean.n), "check")
    return Lane(f"Mean of the DIR checks: {value}", spans(value, span(mean, 1), checks), mean.value)


def checks_section(shelf: Shelf) -> list[Section]:
    """Every check, by symptom."""
    return drawn("checks", blocks(shelf))


def blocks(shelf: Shelf) -> tuple[Block, ...]:
    """Take the findings on behaviour, by suite and label; the plot of the weakest check starts unfolded."""
    named = weakest(among_checks(shelf.run))
    # The verdict has shown these: the same rates with other intervals.
    shelf.take(lambda f: f.measure == "pass_rate_among_checks", lambda f: tuple(f.where.values()))
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
    several_suites, several_labels = (len({key[at] for key in heads}) > 1 for at in (0, 1))
    out = []
    for suite, label in heads:
        name = [f"suite {suite}"] if several_suites else []
        name += [f"label {label}" if label else "all labels"] if several_labels else []
        mine, by_sentence = (
            [f for key, f in found.items() if key[:2] == (suite, label)] for found in (checks, sentences)
        )
        own_means = means.get((suite, label), {})
        places = unique(place_of(f) for f in (*mine, *by_sentence))
        called, wheres = place_names(places), [f.where for f in mine]
        out.append(
            Block(
                ", ".join(name),
                place_of(named) if named and named.where in wheres else next(iter(places), None),
                called,
                tuple({f.where["check"]: f for f in sorted(mine, key=order)}.values()),
                {(f.where["check"], place_of(f)): f for f in mine},
                {place_of(f): f for key, f in own_means.items() if key[:2] + key[4:] == DIR_MEAN},
                _means(own_means) if own_means else None,
                _sentence_table(by_sentence, called) if by_sentence else None,
            )
        )
    return tuple(out)


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
    return table_of("check_means", rows, [names[one] for one in shown] if len(places) > 1 else ["Mean"])


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
    return table_of("sentences", rows, called.values() if len(called) > 1 else ["Pass rate"])
