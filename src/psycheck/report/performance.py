"""Performance, calibration, length and correlations across models, as tables and reliability curves."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.report.numbers import count, decimal, figure, p_value, plain, spans
from psycheck.report.shelf import Section, Shelf, by, drawn, grouped, unique
from psycheck.report.tables import Table, table_of
from psycheck.report.words import lower_is_better, name_of, place_names, place_of, words_of
from psycheck.run import Run

KNOWN = frozenset({"audit", "model", "corpus", "label", "bin", "mean_score", "threshold"})
HARD = ("hard_brier", "hard_auc")
PLACE = ("model", "corpus", "label")
BINS, POINTS = 20, 200  # of a histogram; of a ROC curve at most about twice as many
MAIN = ("f1", "macro_f1", "auc", "brier")


Curve = tuple[str, list[tuple[float, Finding]], str]  # its name, its bins by mean score, a note
# Of a label: its name, the matrices of the main measures, all measures, those from hard labels.
Performance = tuple[str, list[Table], Table, Table | None]


def is_performance(finding: Finding) -> bool:
    """Whether a finding belongs to the performance of a model as a whole."""
    return finding.where.get("audit") == "performance" and set(finding.where) <= KNOWN


def performance_section(shelf: Shelf) -> list[Section]:
    """Performance on annotated texts, and calibration."""
    main = drawn("performance", performance(shelf), pictures(shelf.run))
    return main + drawn("calibration", *curves(shelf)) + drawn("items", items(shelf))


def length_section(shelf: Shelf) -> list[Section]:
    """Length, and correlations across models."""
    return drawn("length", [table for table in (length(shelf), across(shelf)) if table is not None])


def performance(shelf: Shelf) -> list[Performance]:
    """Take the findings on performance: one matrix per main measure, then all measures."""
    taken = shelf.take(
        lambda f: is_performance(f) and f.measure != "reliability",
        by("measure", "label", "model", "corpus"),
    )
    out = []
    labels = grouped(taken.values(), lambda f: f.where.get("label", ""))
    for label, mine in labels.items():
        name = "All labels together" if label in ("", "all") else f"Label {label}"
        out.append(_of_label(name if len(labels) > 1 else "", mine, shelf.run.plan))
    return out


def distribution(model: str, corpus: str, plan: Mapping[str, Any]) -> str:
    """Whether a model was trained on a corpus; empty if the plan does not tell."""
    trained = (plan.get("trained_on") or {}).get(model)
    if not trained:
        return ""
    return "in distribution" if corpus in trained else "out of distribution"


def _of_label(name: str, mine: list[Finding], plan: Mapping[str, Any]) -> Performance:
    found = {(f.measure, place_of(f)): f for f in mine}
    measures = unique(f.measure for f in mine)
    called = place_names(unique(place_of(f) for f in mine))
    models, corpora = (unique(place[at] for place in called) for at in (0, 1))
    matrices = []
    for measure in MAIN:
        if len(called) > 1 and measure in measures:
            rows = tuple(
                (model, *(_marked(found.get((measure, (model, corpus))), plan) for corpus in corpora))
                for model in models
            )
            better = "lower is better" if lower_is_better(measure) else "higher is better"
            matrices.append(Table(f"{name_of('measures', measure)} ({better})", ("Model", *corpora), rows))
    head = ["Value, interval, n"]
    if len(called) > 1:
        trained = {place: distribution(*place, plan) for place in called}
        head = [f"{c}{f' ({trained[place]})' if trained[place] else ''}" for place, c in called.items()]

    def table(kind: str, names: Iterable[str]) -> Table:
        rows = (
            (
                name_of("measures", measure) + (" (lower is better)" if lower_is_better(measure) else ""),
                *(figure(found.get((measure, place))) for place in called),
            )
            for measure in names
            if measure in measures
        )
        return table_of(kind, rows, head)

    full = table("measures", [measure for measure in measures if measure not in HARD])
    hard = table("hard_measures", HARD)
    return name, matrices, full, hard if hard.rows else None


def _marked(finding: Finding | None, plan: Mapping[str, Any]) -> Markup:
    where = distribution(*place_of(finding), plan) if finding else ""
    mark = Markup(' <span class="{}">{}</span>').format("in" if where.startswith("in") else "out", where)
    return figure(finding) + mark if where else figure(finding)


def curves(shelf: Shelf) -> tuple[list[Curve], Table | None]:
    """Take the reliability findings: one curve per model, corpus and label, and a table."""
    place, plan = by("model", "corpus", "label"), shelf.run.plan
    ece = {place(f): f for f in shelf.run.findings if f.measure == "ece" and is_performance(f)}
    taken = shelf.take(
        lambda f: (
            f.measure == "reliability" and f.where.get("mean_score", "").replace(".", "", 1).isdecimal()
        ),
        by("model", "corpus", "label", "bin"),
    )
    heads = grouped(taken.values(), place)
    called = place_names([(model, corpus) for model, corpus, _ in heads])
    several_labels = len({label for _, _, label in heads}) > 1
    out, rows = [], []
    for (model, corpus, label), mine in heads.items():
        bins = sorted(((float(f.where["mean_score"]), f) for f in mine), key=lambda b: b[0])
        name = called[model, corpus] + (f", {label}" if several_labels else "")
        error = ece.get((model, corpus, label))
        figures = f"calibration error {plain(error, prose=True)}, n {count(error.n)}" if error else ""
        out.append((name, bins, "; ".join(filter(None, (figures, distribution(model, corpus, plan))))))
        rows += [(name, f.where.get("bin", ""), decimal(score, 2), figure(f)) for score, f in bins]
    return out, table_of("reliability", rows) if rows else None


def pictures(run: Run) -> list[dict[str, Any]]:
    """Of every model, corpus and label with both classes: confusion matrix, ROC curve, histogram of scores.

    `roc` has the false and true positive rate at every score, from the highest on; `bars` the share of the
    texts annotated 0 and 1 in each of the equal bins of the score.
    """
    aucs = {by(*PLACE)(f): f for f in run.findings if f.measure == "auc" and is_performance(f) and f.tested}
    table = run.tables.get("predictions")
    if table is None or set(table.columns) != {*PLACE, "id", "target", "score"}:
        return []
    called = place_names(unique(place_of(f) for f in aucs.values()))
    several = len({place[2] for place in aucs}) > 1
    firm = table.drop_nulls(["target", "score"]).filter(pl.col("target") != 0.5)
    known = firm.with_columns(yes=pl.col("target") > 0.5)
    bins = (pl.col("score") * BINS).floor().clip(0, BINS - 1).cast(pl.Int64)
    share = pl.col("no", "yes") / pl.col("no", "yes").sum()
    sides = [(~pl.col("yes")).sum().alias("no"), pl.col("yes").sum()]
    out = []
    for (model, corpus, label), auc in aucs.items():
        part = known.filter(model=model, corpus=corpus, label=label)
        steps = part.group_by("score").agg(sides).sort("score", descending=True).select(share.cum_sum())
        bars = {at: rest for at, *rest in part.group_by(at=bins).agg(sides).select("at", share).iter_rows()}
        out.append(
            {
                "name": called[model, corpus] + (f", {label}" if several else ""),
                "counts": auc.counts,
                "auc": f"AUC {plain(auc, prose=True)}, n {count(auc.n)}",
                "roc": [(0, 0), *steps.gather_every(max(1, steps.height // POINTS)).iter_rows(), (1, 1)],
                "bars": [bars.get(at, (0, 0)) for at in range(BINS)],
            }
        )
    return out


def items(shelf: Shelf) -> list[Table]:
    """Take the findings on items of rating scales: one table per model, corpus and scale."""
    taken = shelf.take(
        lambda f: f.measure in ("item_invented", "item_missed"),
        by("measure", "model", "corpus", "scale", "item"),
    )
    heads = grouped(unique(key[1:] for key in taken), lambda key: key[:3])
    called = place_names(unique((model, corpus) for model, corpus, _ in heads))
    out = []
    for (model, corpus, scale), mine in heads.items():
        sides = [[taken.get((f"item_{side}", *key)) for key in mine] for side in ("invented", "missed")]
        rows = [(key[3], figure(one), figure(other)) for key, one, other in zip(mine, *sides, strict=True)]
        place = f", {called[model, corpus]}" if len(called) > 1 else ""
        out.append(table_of("items", rows, scale=scale, place=place))
    return out


def length(shelf: Shelf) -> Table | None:
    """Take the findings on length: medians of failed and of passed texts, effect and p."""
    taken = shelf.take(
        lambda f: f.measure in ("length_p", "length_effect", "length_median"),
        by("measure", "outcome", "model", "corpus", "suite", "label", "unit", "feature"),
    )
    heads = unique(key[2:] for key in taken)
    if not heads:
        return None
    varied = [i for i in range(5) if len({head[i] for head in heads}) > 1]
    rows = []
    for head in heads:
        failed, passed = (taken.get(("length_median", outcome, *head)) for outcome in ("failed", "passed"))
        effect, p = (taken.get((measure, "", *head)) for measure in ("length_effect", "length_p"))
        cells = (_median(failed), _median(passed), figure(effect), p_value(p.value) if p else "–")
        rows.append((*(head[i] for i in varied), name_of("features", head[5]), *cells))
    names = ("Model", "Corpus", "Suite", "Label", "Unit")
    table = table_of("length", rows)
    return replace(table, head=(*(names[i] for i in varied), *table.head), words=len(varied) + 1)


def _median(finding: Finding | None) -> Markup:
    if finding is None or not finding.tested:
        return figure(None)
    ends = "–".join(f"{end:,.1f}" for end in finding.interval or ())
    return spans(f"{finding.value:,.1f}", ends, f"n {count(finding.n)}")


def across(shelf: Shelf) -> Table | None:
    """Take the correlations across models of pass rates with accuracy."""
    taken = shelf.take(
        lambda f: (
            f.measure in ("pearson_r", "pearson_p", "t_p")
            and f.where.get("audit") == "across"
            and f.where.get("test", "") in ("", "paired", "unpaired")
        ),
        lambda f: (f.measure + f.where.get("test", ""), *by("suite", "label", "kind")(f)),
    )
    heads = unique(key[1:] for key in taken)
    if not heads:
        return None
    names = words_of("words")["across"]
    tests = ["pearson_r", *(test for test in names if any(key[0] == test for key in taken))]
    rows = []
    for head in heads:
        r, *ps = (taken.get((test, *head)) for test in tests)
        shown = ("–" if p is None else p_value(p.value) for p in ps)
        rows.append((f"{head[2]} checks and accuracy", " ".join(filter(None, head[:2])), figure(r), *shown))
    return table_of("across", rows, [names[test] for test in tests[1:]])
