"""DECK Table 3 and ANGST Tables 2 and 8, ours next to the published ones."""

from collections.abc import Mapping, Sequence

from psycheck.finding import Finding
from psycheck.report.numbers import plain
from psycheck.report.shelf import by, grouped
from psycheck.report.studies.papers import MARK, contradicted, document, marked, published
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
        _table("ANGST Table 2: classes of one corpus", ANGST_2, _APART, within, "corpus"),
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
    marks = grouped(
        contradicted(DECK_3, ANGST_2, ANGST_8), lambda one: f"{one[0].upper()} {one[1]}: {one[2]['mark']}"
    )
    for reason, rows in marks.items():
        out.append(f"{reason} ({', '.join(row['value'] for _, _, row in rows)})")
    return out


def _table(
    caption: str, name: str, measures: Mapping[str, str], findings: Sequence[Finding], *lead: str
) -> Table:
    """The published rows, then ours: one row per pair, one column per measure."""
    keys = (*lead, "first", "second")
    printed = published(name)
    cells = [(("published", *(row[key] for key in keys)), row["measure"], marked(row)) for row in printed]
    cells += [((OURS, *by(*keys)(f)), f.measure, plain(f)) for f in findings if f.measure in measures]
    rows = []
    for pair, mine in grouped(cells, lambda cell: cell[0]).items():
        held = {measure: cell for _, measure, cell in mine}
        rows.append((*pair, *(held.get(one, "–") for one in measures)))
    return Table(caption, ("whose", *keys, *measures.values()), tuple(rows), words=1 + len(keys))
