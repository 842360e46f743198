"""DECK Table 3 and ANGST Tables 2 and 8, ours next to the published ones."""

from collections.abc import Mapping, Sequence

from psycheck.finding import Finding
from psycheck.report.numbers import plain
from psycheck.report.studies.layout import document
from psycheck.report.studies.papers import MARK, marked, published
from psycheck.report.tables import Table
from psycheck.run import Run

DECK_3, ANGST_2, ANGST_8 = "deck-table-3", "angst-table-2", "angst-table-8"
OURS = "ours"
_APART = {"jsd_unigram": "JSD unigram", "jsd_bigram": "JSD bigram"}
_APART |= {"mmd2_pair_mean": "MMD mean", "mmd2_pair_median": "MMD median", "mmd2": "MMD², unbiased"}
_CLASSIFIER = {"adversarial_accuracy": "accuracy", "adversarial_f1": "F1"}
_CLASSIFIER |= {"adversarial_auc": "ROC-AUC", "adversarial_mcc": "MCC"}
_CLOUDS = {"wasserstein": "W1", "wasserstein_chance": "W1 by chance", "wasserstein_sliced": "W1, sliced"}


def corpora_tables(run: Run) -> str:
    """All tables in Markdown, and what must be known to read them."""
    intro = (
        "# How far corpora and their classes are apart: ours and the published figures",
        "",
        f"Published as printed; {MARK} marks a figure that its paper contradicts (see the notes). Ours with",
        f"the 95 % interval. Vectors: {run.plan['encoder']}. Distances of other vectors have other units:",
        "compare ours with ours, and the order of ours with the order of theirs.",
    )
    return document(intro, tables_of(run.findings), run.notes)


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The tables that hold a figure of ours, in the order of the papers."""
    between = [f for f in findings if f.where.get("level") == "between corpora"]
    within = [f for f in findings if f.where.get("level") == "between classes"]
    tables = (
        _table("DECK Table 3: 1-Wasserstein distance between corpora", DECK_3, _CLOUDS, between),
        _table("ANGST Table 2: classes of one corpus", ANGST_2, _APART, within, ("corpus",)),
        _table("ANGST Table 8: domain classifier", ANGST_8, _CLASSIFIER, between),
    )
    return [table for table in tables if any(row[0] == OURS for row in table.rows)]


def paper_notes() -> list[str]:
    """Where the papers contradict themselves, or leave open what is needed to repeat them."""
    out = [
        "DECK does not say which layer its sentence embeddings are of, nor on how many texts W1 was taken.",
        "ANGST A.2 takes the mean over 1,000 random pairs of texts; its bandwidth is not given. Ours is the "
        "median distance, and a pair's value is 2 − 2k(x, y).",
    ]
    marks: dict[str, list[str]] = {}
    for name in (DECK_3, ANGST_2, ANGST_8):
        paper, _, table = name.partition("-")
        for row in published(name):
            if row["mark"]:
                reason = f"{paper.upper()} {table.replace('-', ' ')}: {row['mark']}"
                marks.setdefault(reason, []).append(row["value"])
    return [*out, *(f"{reason} ({', '.join(values)})" for reason, values in marks.items())]


def _table(
    caption: str,
    name: str,
    measures: Mapping[str, str],
    findings: Sequence[Finding],
    lead: tuple[str, ...] = (),
) -> Table:
    """The published rows, then ours: one row per pair, one column per measure."""
    keys = (*lead, "first", "second")
    cells = [
        (("published", *(row[key] for key in keys)), row["measure"], marked(row)) for row in published(name)
    ]
    cells += [
        ((OURS, *(f.where[key] for key in keys)), f.measure, plain(f))
        for f in findings
        if f.measure in measures
    ]
    pairs: dict[tuple[str, ...], dict[str, str]] = {}
    for pair, measure, cell in cells:
        pairs.setdefault(pair, {})[measure] = cell
    rows = tuple((*pair, *(held.get(one, "–") for one in measures)) for pair, held in pairs.items())
    return Table(caption, ("whose", *keys, *measures.values()), rows, words=1 + len(keys))
