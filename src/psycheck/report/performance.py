"""Performance, calibration, length and correlations across models, as tables and reliability curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.report.charts import reliability
from psycheck.report.numbers import count, decimal, figure, p_value, plain, spans
from psycheck.report.shelf import Key, Shelf, by
from psycheck.report.tables import Table
from psycheck.report.words import lower_is_better, name_of, place_names

KNOWN = frozenset({"audit", "model", "corpus", "label", "bin", "mean_score", "threshold"})
HARD = ("hard_brier", "hard_auc")
DEPENDENT = "not_independent"  # explained once below the table, not in every cell
MAIN = ("f1", "macro_f1", "auc", "brier")


@dataclass(frozen=True, slots=True)
class Curve:
    """A reliability curve with its name and the note below it."""

    name: str
    chart: Mapping[str, object]
    note: str


@dataclass(frozen=True, slots=True)
class Performance:
    """The performance section of one label."""

    name: str
    matrices: tuple[Table, ...]
    full: Table
    hard: Table | None


def is_performance(finding: Finding) -> bool:
    """Whether a finding belongs to the performance of a model as a whole."""
    return finding.where.get("audit") == "performance" and set(finding.where) <= KNOWN


def performance(shelf: Shelf, plan: Mapping[str, Any]) -> tuple[Performance, ...]:
    """Take the findings on performance: one matrix per main measure, then all measures."""
    taken = shelf.take(
        lambda f: is_performance(f) and f.measure != "reliability",
        lambda f: (f.measure, *by("label", "model", "corpus")(f)),
    )
    labels = list(dict.fromkeys(key[1] for key in taken))
    return tuple(_of_label(label, len(labels) > 1, taken, plan) for label in labels)


def distribution(model: str, corpus: str, plan: Mapping[str, Any]) -> str:
    """Whether a model was trained on a corpus; empty if the plan does not tell."""
    trained = (plan.get("trained_on") or {}).get(model)
    if not trained:
        return ""
    return "in distribution" if corpus in trained else "out of distribution"


def _of_label(
    label: str, several: bool, taken: Mapping[Key, Finding], plan: Mapping[str, Any]
) -> Performance:
    mine = {(key[0], key[2:4]): finding for key, finding in taken.items() if key[1] == label}
    places = list(dict.fromkeys((place[0], place[1]) for _, place in mine))
    called = place_names(places)
    measures = [m for m in dict.fromkeys(measure for measure, _ in mine) if m not in HARD]
    matrices = []
    if len(places) > 1:
        models = list(dict.fromkeys(model for model, _ in places))
        corpora = list(dict.fromkeys(corpus for _, corpus in places))
        for measure in (m for m in MAIN if m in measures):
            rows = tuple(
                (model, *(_marked(mine.get((measure, (model, corpus))), plan) for corpus in corpora))
                for model in models
            )
            better = "lower is better" if lower_is_better(measure) else "higher is better"
            matrices.append(Table(f"{name_of('measures', measure)} ({better})", ("Model", *corpora), rows))
    head = tuple(
        f"{called[p]}{f' ({d})' if (d := distribution(*p, plan)) else ''}"
        if len(places) > 1
        else "Value, interval, n"
        for p in places
    )

    def measure_rows(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (
                name_of("measures", m) + (" (lower is better)" if lower_is_better(m) else ""),
                *(figure(mine.get((m, place))) for place in places),
            )
            for m in names
        )

    full = Table("All measures", ("Measure", *head), measure_rows(measures))
    hard = Table(
        "The same figures from hard labels",
        ("Measure", *head),
        measure_rows([m for m in HARD if any(measure == m for measure, _ in mine)]),
        note="For comparison with the DECK paper only, which computes both from 0/1 decisions: "
        "its Brier score is 1 − accuracy. They do not measure calibration.",
    )
    name = "" if not several else "All labels together" if label in ("", "all") else f"Label {label}"
    return Performance(name, tuple(matrices), full, hard if hard.rows else None)


def _marked(finding: Finding | None, plan: Mapping[str, Any]) -> Markup:
    if finding is None:
        return figure(None)
    where = distribution(finding.where.get("model", ""), finding.where.get("corpus", ""), plan)
    mark = Markup(' <span class="{}">{}</span>').format("in" if where.startswith("in") else "out", where)
    return figure(finding) + mark if where else figure(finding)


def curves(
    shelf: Shelf, findings: Sequence[Finding], plan: Mapping[str, Any]
) -> tuple[tuple[Curve, ...], Table | None]:
    """Take the reliability findings: one curve per model, corpus and label, and a table."""
    ece = {by("model", "corpus", "label")(f): f for f in findings if f.measure == "ece" and is_performance(f)}
    taken = shelf.take(
        lambda f: f.measure == "reliability" and _is_number(f.where.get("mean_score")),
        by("model", "corpus", "label", "bin"),
    )
    heads = list(dict.fromkeys(key[:3] for key in taken))
    called = place_names([(model, corpus) for model, corpus, _ in heads])
    labels = {label for _, _, label in heads}
    out, rows = [], []
    for head in heads:
        bins = sorted(
            ((float(f.where["mean_score"]), f) for key, f in taken.items() if key[:3] == head),
            key=lambda b: b[0],
        )
        name = called[head[0], head[1]] + (f", {head[2]}" if len(labels) > 1 else "")
        error = ece.get(head)
        figures = f"calibration error {plain(error, prose=True)}, n {count(error.n)}" if error else ""
        note = "; ".join(filter(None, (figures, distribution(head[0], head[1], plan))))
        out.append(Curve(name, reliability(bins, name), note))
        for score, finding in bins:
            rows.append((name, finding.where.get("bin", ""), decimal(score, 2), figure(finding)))
    head_row = ("Where", "Bin", "Mean score", "Share annotated 1")
    return tuple(out), Table("The bins of the curves", head_row, tuple(rows)) if rows else None


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def length(shelf: Shelf) -> Table | None:
    """Take the findings on length: medians of failed and of passed texts, effect and p."""
    keys = ("model", "corpus", "suite", "label", "unit", "feature")
    taken = shelf.take(
        lambda f: f.measure in ("length_p", "length_effect", "length_median"),
        lambda f: (f.measure, f.where.get("outcome", ""), *by(*keys)(f)),
    )
    heads = list(dict.fromkeys(key[2:] for key in taken))
    if not heads:
        return None
    varied = [i for i in range(5) if len({head[i] for head in heads}) > 1]
    rows = []
    for head in heads:
        medians = [taken.get(("length_median", outcome, *head)) for outcome in ("failed", "passed")]
        effect, p = taken.get(("length_effect", "", *head)), taken.get(("length_p", "", *head))
        rows.append(
            (
                *(head[i] for i in varied),
                name_of("features", head[5]),
                *(_median(median) for median in medians),
                figure(effect and replace(effect, flags=tuple(f for f in effect.flags if f != DEPENDENT))),
                p_value(p.value) if p is not None else "–",
            )
        )
    names = ("Model", "Corpus", "Suite", "Label", "Unit")
    return Table(
        "Length of texts that failed and that passed DIR checks (medians; Mann–Whitney test)",
        (*(names[i] for i in varied), "Feature", "Failed", "Passed", "Effect", "p"),
        tuple(rows),
        words=len(varied) + 1,
        note="Effect: rank-biserial correlation, above 0 if failed texts are longer. With the unit case, a "
        "text counts once per check (these are not independent); with the unit text, once.",
    )


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
    heads = list(dict.fromkeys(key[1:] for key in taken))
    if not heads:
        return None
    names = {
        "pearson_p": "p of r",
        "t_p": "p of t-test",
        "t_ppaired": "p, paired t",
        "t_punpaired": "p, unpaired t",
    }
    tests = ["pearson_r", *(test for test in names if any(key[0] == test for key in taken))]
    rows = []
    for head in heads:
        r, *ps = (taken.get((test, *head)) for test in tests)
        shown = ("–" if p is None else p_value(p.value) for p in ps)
        rows.append((f"{head[2]} checks and accuracy", " ".join(filter(None, head[:2])), figure(r), *shown))
    return Table(
        "Do models that classify better also behave better? (DECK 5.2)",
        ("Compared", "Suite", "Pearson r", *(names[test] for test in tests[1:])),
        tuple(rows),
        words=2,
    )
