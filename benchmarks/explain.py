"""Whether `explain` names the symptoms that were planted, and whether planted wrong labels lead the suspects.

Authors of the demo generator: what each post says of which symptom is known, and some authors are labelled
wrongly. How `knowledge/suspects.py` weighs evidence was chosen on authors of the seeds 101 and 102 alone.
`perfect` tags are made from what was planted: what is left is the fault of the ranking.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from sklearn.metrics import roc_auc_score

from demo_texts import NONE, generate_people
from psycheck.commands.tag import make_tags
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.progress import silent
from psycheck.corpora.opening import open_corpus
from psycheck.statistics.intervals import percentiles
from psycheck.symptoms.explanation import Explaining, Posts, explain_posts, symptoms_of
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.suspects import UNLABELLED, WITHOUT, evidence_of, rank_suspects
from psycheck.symptoms.tagged_posts import annotations_of, weighted_posts
from timing import machine, table

MODELS = sys.argv[1:] or ["symptoms:descriptions"]
PERFECT = "perfect"
WEIGHTS = {"present": 0.9, "uncertain": 0.45, "past": 0.4, "negated": 0.3, "other": 0.1}  # of perfect tags
SEEDS, AUTHORS, DRAWS = (11, 12, 13), 240, 300
THRESHOLDS = (0.3, 0.5, 0.7)
GRAPH = read_graph()
Pairs = set[tuple[str, str]]


def planted_symptoms(corpus: Corpus, status: str = "") -> Pairs:
    """The authors and symptoms that some post mentions, with this status or with any."""
    told = corpus.table.select("author", pl.col("group:mentions").str.split(" ")).drop_nulls()
    pairs = told.explode("group:mentions").iter_rows()
    return {
        (author, one.split(":")[0]) for author, one in pairs if one.endswith(f":{status}" if status else "")
    }


def planted_labels(corpus: Corpus) -> Pairs:
    """The authors and conditions whose label is wrong."""
    wrong = set()
    rows = corpus.table.unique("author").filter(pl.col("group:planted").fill_null("") != "")
    for row in rows.iter_rows(named=True):
        true = set(row["group:planted"].split(",")) - {NONE}
        labels = {label for label in corpus.labels if row[LABEL + label] > 0.5}
        wrong |= {(row["author"], label) for label in true ^ labels}
    return wrong


def rates(counts: FloatArray) -> FloatArray:
    """Precision and recall over all authors, then their means per author, of (authors, 3) counts."""
    right, found, planted = counts.sum(0)
    each = np.divide(
        counts[:, :1], counts[:, 1:], where=counts[:, 1:] > 0, out=np.full((len(counts), 2), np.nan)
    )
    return np.array([right / found, right / planted, *np.nanmean(each, axis=0)])


def naming(authors: list[str], found: Pairs, planted: Pairs) -> list[str]:
    """Precision and recall of the symptoms named, with intervals over authors."""
    sets = [[author for author, _ in pairs] for pairs in (found & planted, found, planted)]
    counts = np.array([[own.count(author) for own in sets] for author in authors], float)
    random = np.random.default_rng(0)
    draws = np.array([rates(counts[random.integers(len(counts), size=len(counts))]) for _ in range(DRAWS)])
    ends = [percentiles(column) for column in draws.T]
    return [
        f"{100 * value:.0f} ({100 * low:.0f}–{100 * high:.0f})"
        for value, (low, high) in zip(rates(counts), ends, strict=True)
    ]


def ranking(suspects: pl.DataFrame, wrong: Pairs) -> list[str]:
    """Planted labels among as many and twice as many suspects, their authors likewise; AUC of the ranking."""
    ranked = suspects.sort("rank")
    pairs = ranked.select("author", "label").rows()
    hit, number = np.array([pair in wrong for pair in pairs]), sum(pair in wrong for pair in pairs)
    if not number:
        return ["0", *["–"] * 5]
    units = ranked["author"].rank("dense").to_numpy() - 1
    order, random, draws = -np.arange(len(pairs)), np.random.default_rng(0), []
    for _ in range(DRAWS):
        times = np.bincount(
            random.integers(units.max() + 1, size=units.max() + 1), minlength=units.max() + 1
        )[units]
        draws.append(roc_auc_score(hit, order, sample_weight=times) if (times * hit).any() else np.nan)
    low, high = percentiles(np.array(draws))
    area = f"{roc_auc_score(hit, order):.3f} ({low:.3f}–{high:.3f})"
    first = [f"{hit[:top].sum()} of {number}" for top in (number, 2 * number)]
    people, planted = list(dict.fromkeys(author for author, _ in pairs)), {author for author, _ in wrong}
    whose = f"{len(planted & set(people[: len(planted)]))} of {len(planted)}"
    return [f"{number} of {len(pairs):,}", *first, whose, area, f"{np.flatnonzero(hit).max() + 1}"]


def posts_of(corpus: Corpus, model: str) -> Posts:
    """The posts with the weights that a model gives them."""
    if model == PERFECT:
        return perfect(corpus)
    with TemporaryDirectory() as work:
        tags, _ = make_tags(corpus, model, Path(work), silent)
        names = symptoms_of(tags.collect_schema().names(), GRAPH, model)
        return weighted_posts(corpus, tags, names, model)[0]


def perfect(corpus: Corpus) -> Posts:
    """The posts with weights that follow from what was planted in them."""
    names = [one.name for one in GRAPH.symptom]
    weights = np.zeros((len(corpus), len(names)), np.float32)
    for row, mentions in enumerate(corpus.group("mentions")):
        for symptom, status in (one.split(":") for one in (mentions or "").split()):
            place = row, names.index(symptom)
            weights[place] = max(weights[place], WEIGHTS[status])
    plain = corpus.table.select("id", "author", when=pl.lit(None, pl.Int64), sentences=pl.lit(1))
    return Posts(plain, weights, tuple(names))


def main() -> None:
    """Print both tables, a row per model and set of authors."""
    corpora = {"shipped (demo:people)": open_corpus("demo:people")}
    corpora |= {f"seed {seed}": generate_people(AUTHORS, seed) for seed in SEEDS}
    named, ranked = [], []
    for model in MODELS:
        for title, corpus in corpora.items():
            posts, short = posts_of(corpus, model), model.rpartition("/")[2].removeprefix("symptoms:")
            for threshold in THRESHOLDS if model != PERFECT else (0.5,):
                mentions = explain_posts(posts, GRAPH, Explaining(threshold=threshold)).mentions
                found = set(mentions.select("author", "symptom").rows())
                present = naming(posts.authors, found, planted_symptoms(corpus, "present"))
                any_status = naming(posts.authors, found, planted_symptoms(corpus))[:2]
                named.append([short, title, threshold, *present, *any_status])
            labels, _ = annotations_of(corpus, GRAPH)
            suspects = rank_suspects(posts.authors, evidence_of(posts, GRAPH, labels), labels)
            wrong = planted_labels(corpus)
            sides = [ranking(suspects.filter(kind=kind), wrong)[1] for kind in (WITHOUT, UNLABELLED)]
            ranked.append([short, title, *ranking(suspects, wrong), *sides])
            print(named[-1], ranked[-1], flush=True, file=sys.stderr)
    head = [
        "tags",
        "authors",
        "threshold",
        "precision",
        "recall",
        "precision per author",
        "recall per author",
    ]
    print(machine() + "\n")
    print(table([*head, "precision, any status", "recall, any status"], named) + "\n")
    figures = ["planted", "among as many", "among twice as many", "authors among as many", "AUC"]
    head = ["tags", "authors", *figures, "rank of the last"]
    print(table([*head, "of conditions without symptoms", "of symptoms without condition"], ranked))


if __name__ == "__main__":
    main()
