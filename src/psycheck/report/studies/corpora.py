"""DECK Table 3 and ANGST Tables 2 and 8, ours beside the published ones."""

from collections.abc import Mapping, Sequence

from psycheck.finding import Finding
from psycheck.report.numbers import plain
from psycheck.report.studies.markdown import markdown
from psycheck.report.studies.papers import MARK, marked, published
from psycheck.report.tables import Table
from psycheck.run import Run

DECK_3, ANGST_2, ANGST_8 = "deck-table-3", "angst-table-2", "angst-table-8"
OURS = "ours"
_APART = {"jsd_unigram": "JSD unigram", "jsd_bigram": "JSD bigram"}
_APART |= {"mmd2_pair_mean": "MMD mean", "mmd2_pair_median": "MMD median", "mmd2": "MMD², unbiased"}
_TOLD = {"adversarial_accuracy": "accuracy", "adversarial_f1": "F1"}
_TOLD |= {"adversarial_auc": "ROC-AUC", "adversarial_mcc": "MCC"}
_CLOUDS = {"wasserstein": "W1", "wasserstein_chance": "W1 by chance", "wasserstein_sliced": "W1, sliced"}


def corpora_tables(run: Run) -> str:
    """All tables in Markdown, and what must be known to read them."""
    parts = [
        "# How far corpora and their classes are apart: ours beside the published figures",
        "",
        f"Published as printed; {MARK} marks a figure that its paper contradicts (see the notes). Ours with",
        f"the 95 % interval. Vectors: {run.plan['encoder']}. Distances of other vectors have other units:",
        "compare ours with ours, and the order of ours with the order of theirs.",
        "",
    ]
    for table in tables_of(run.findings):
        parts += [f"## {table.caption}", "", *markdown(table.head, table.rows), ""]
    return "\n".join([*parts, "## Notes", "", *(f"- {note}" for note in run.notes)]) + "\n"


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The tables that hold a figure of ours, in the order of the papers."""
    between = [f for f in findings if f.where.get("level") == "between corpora"]
    within = [f for f in findings if f.where.get("level") == "between classes"]
    tables = (
        _table("DECK Table 3: 1-Wasserstein distance between corpora", DECK_3, _CLOUDS, between),
        _table("ANGST Table 2: classes of one corpus", ANGST_2, _APART, within, ("corpus",)),
        _table("ANGST Table 8: telling corpora apart", ANGST_8, _TOLD, between),
    )
    return [table for table in tables if any(row[0] == OURS for row in table.rows)]


def paper_notes() -> list[str]:
    """Where the papers contradict themselves, or leave open what is needed to repeat them."""
    out = [
        "DECK does not say which layer its sentence embeddings are of, nor on how many texts W1 was taken.",
        "ANGST A.2 takes the mean over 1,000 random pairs of texts; its bandwidth is not given. Ours is the "
        "median distance, and a pair's value is 2 − 2k(x, y).",
    ]
    said: dict[str, list[str]] = {}
    for name in (DECK_3, ANGST_2, ANGST_8):
        for row in published(name):
            if row["mark"]:
                paper, _, table = name.partition("-")
                said.setdefault(f"{paper.upper()} {table.replace('-', ' ')}: {row['mark']}", []).append(
                    row["value"]
                )
    return [*out, *(f"{reason} ({', '.join(values)})" for reason, values in said.items())]


def _table(
    caption: str,
    name: str,
    measures: Mapping[str, str],
    findings: Sequence[Finding],
    lead: tuple[str, ...] = (),
) -> Table:
    """The published rows, then ours: one for each pair, one column for each measure."""
    keys = (*lead, "first", "second")
    theirs = _rows(
        [({key: row[key] for key in keys}, row["measure"], marked(row)) for row in published(name)],
        "published",
        keys,
        measures,
    )
    ours = _rows(
        [(f.where, f.measure, plain(f)) for f in findings if f.measure in measures], OURS, keys, measures
    )
    head = ("whose", *keys, *measures.values())
    return Table(caption, head, (*theirs, *ours), words=1 + len(keys))


def _rows(
    cells: Sequence[tuple[Mapping[str, str], str, str]],
    whose: str,
    keys: Sequence[str],
    measures: Mapping[str, str],
) -> list[tuple[str, ...]]:
    pairs: dict[tuple[str, ...], dict[str, str]] = {}
    for where, measure, cell in cells:
        pairs.setdefault(tuple(where[key] for key in keys), {})[measure] = cell
    return [(whose, *pair, *(held.get(one, "–") for one in measures)) for pair, held in pairs.items()]
