"""Does retraining on failed checks help on other corpora? MiniLM, three corpora, six directions, some seeds.

python benchmarks/improving.py [--seeds 3 | --seed 0] [--further] [--out runs/improving] [--tables] [--demo]

Reads depression_reddit, depression_tweets and counselchat from $PSYCHECK_DATA (default ../shared/data). What
is finished is kept in the folder, figures only, never a text: the same command goes on after a kill.
`--tables` prints the tables of the seeds that are finished; `--demo` tries everything on the shipped corpora.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl

from psycheck.audits.suite import read_suite, shipped_suites
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.corpora.opening import open_corpus
from psycheck.models.opening import open_model
from psycheck.statistics.classification import auc, confusion, f1, macro_f1
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.intervals import wilson
from psycheck.statistics.significance import holm
from psycheck.statistics.thresholds import best_threshold
from psycheck.training.arm_figures import Scored, against, differences
from psycheck.training.arms import dir_checks, score_label, sentence_cases
from psycheck.training.augment import augmented, reader_of
from psycheck.training.fit import train
from psycheck.training.recipe import preset
from psycheck.training.sentence_arms import additions_of
from timing import machine, table

NAMES = ("depression_reddit", "depression_tweets", "counselchat")
LABEL = "depression"
# The arms and how each changes the texts: share of texts, whose sentences (of checks below the mean).
ARMS: dict[str, dict[str, Any] | None] = {
    "plain": None,
    "augmented": {"share": 1.0},
    "random": {"share": 1.0, "sentences": "random"},
    "half": {"share": 0.5},
}
# Looked for afterwards: all DIR checks, so that both classes get sentences and none gives the class away;
# both classes weighed alike; and the two together.
FURTHER: dict[str, dict[str, Any] | None] = {
    "all-half": {"share": 0.5},
    "balanced": None,
    "all-half-balanced": {"share": 0.5},
}
RECIPE = preset("fast", epochs=2, max_length=64, labels=(LABEL,))
MOST = {"train": 600, "dev": 200, "test": 300}  # texts a corpus trains on, chooses on and is measured on
SAMPLE = 16  # dev texts that sentences are appended to


def corpora(folder: Path, *, demo: bool) -> list[Corpus]:
    """The three corpora, cut by their split column or 60/20/20 by class."""
    if demo:
        return [bounded(open_corpus(f"demo:{name}"), 96) for name in ("forum", "tweets", "interviews")]
    read = []
    for name in NAMES:
        table = pl.read_csv(folder / f"{name}.csv", infer_schema_length=None).unique(
            "text", maintain_order=True
        )
        split = table["split"].replace({"val": "dev"}).to_list() if "split" in table.columns else None
        corpus = Corpus.of(name, table["text"].to_list(), labels={LABEL: table[LABEL].to_list()}, split=split)
        read.append(bounded(corpus if split else cut(corpus)))
    return read


def cut(corpus: Corpus) -> Corpus:
    """60 % train, 20 % dev, 20 % test, each class alike."""
    random = np.random.default_rng(0)
    target = corpus.targets([LABEL])[:, 0]
    split = np.full(len(corpus), "train", dtype=object)
    for mark in (0.0, 1.0):
        rows = random.permutation(np.flatnonzero(target == mark))
        fifth = round(len(rows) / 5)
        split[rows[:fifth]], split[rows[fifth : 2 * fifth]] = "test", "dev"
    return replace(corpus, table=corpus.table.with_columns(pl.Series("split", split.tolist(), pl.String)))


def bounded(corpus: Corpus, most: int | None = None) -> Corpus:
    """At most so many texts of each split."""
    parts = []
    for split in ("train", "dev", "test"):
        parts.append(corpus.part(split).sample(most or MOST[split]).table)
    return replace(corpus, table=pl.concat(parts))


def one_seed(
    seed: int, home: list[Corpus], tests: list[Corpus], out: Path, results: "Results", further: bool
) -> None:
    """All arms from all corpora with one seed; what is there is not done again.

    `further` arms are trained where the plain model is finished, into lines of their own, so that they can
    run beside the others.
    """
    suite = dir_checks(read_suite("deck"))
    recipe = replace(RECIPE, seed=seed)
    read = reader_of(recipe)
    store = out / "scores.sqlite"
    kind = "further" if further else "arm"
    for corpus in home:
        asked = corpus.part("dev").sample(SAMPLE)
        home_key = {"seed": seed, "trained_on": corpus.name}
        if further and not results.has("arm", home_key | {"arm": "plain"}):
            continue
        chosen: list[str] = []
        for arm, how in ({"plain": ARMS["plain"], **FURTHER} if further else ARMS).items():
            key = home_key | {"arm": arm}
            known = results.has("arm" if arm == "plain" else kind, key)
            if known and arm != "plain":
                continue
            began, data = monotonic(), corpus
            counts: dict[str, int] = {}
            if how is not None:
                learned = [check for check in suite.checks if check.id in chosen or arm.startswith("all")]
                done = augmented(corpus, additions_of(learned), LABEL, read=read, seed=seed, **how)
                data, counts = done.corpus, dict(done.counts)
            mine = replace(recipe, class_weights=arm.endswith("balanced"))
            trained = train((data.part("train"), data.part("dev")), mine, out / "models" / name_of(key))
            model = open_model(trained.spec)
            if arm == "plain":
                rates = sentence_cases(model, asked, [suite], store)[0]
                below = [f.where["check"] for f in rates if "below_dir_mean" in f.flags]
                # A model that passes all alike has no check below the mean: then all are appended.
                chosen = below or [check.id for check in suite.checks]
            if known:
                continue
            # The threshold is chosen on dev as it was written: the texts it will meet have no sentence added.
            dev = corpus.part("dev")
            on_dev, *on_tests = score_label(model, [dev, *(c.part("test") for c in tests)], LABEL, store)
            results.add(
                kind,
                key
                | {
                    "checks": [check.id for check in suite.checks] if arm.startswith("all") else chosen,
                    "counts": counts,
                    "threshold": best_threshold(dev.targets([LABEL])[:, 0], on_dev),
                    "seconds": monotonic() - began,
                    "scores": {c.name: np.round(s, 6).tolist() for c, s in zip(tests, on_tests, strict=True)},
                },
            )


def sentences(seed: int, home: list[Corpus], out: Path, results: "Results", further: bool) -> None:
    """Pass rates on DECK and on sentences that training never saw."""
    suites = [dir_checks(read_suite(name)) for name in ("deck", "deck-unseen") if name in shipped_suites()]
    kind = "further" if further else "arm"
    for corpus in home:
        asked = corpus.part("dev").sample(SAMPLE)
        for arm in ("all-half", "all-half-balanced") if further else ("plain", "augmented"):
            for suite in suites:
                key = {"seed": seed, "trained_on": corpus.name, "arm": arm}
                if not results.has(kind, key) or results.has(f"{kind}-rates", key | {"suite": suite.name}):
                    continue
                model = open_model(f"hf:{out / 'models' / name_of(key)}")
                rates = sentence_cases(model, asked, [suite], out / "scores.sqlite")[0]
                rows = [
                    {k: f.where.get(k, "") for k in ("check", "symptom", "polarity")}
                    | {"passed": f.counts["passed"], "n": f.n}
                    for f in rates
                ]
                results.add(f"{kind}-rates", key | {"suite": suite.name, "rates": rows})


class Results:
    """Lines of JSON, one a finished piece of work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, kind: str) -> list[dict[str, Any]]:
        """All finished lines of a kind."""
        path = self.folder / f"{kind}.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def has(self, kind: str, key: dict[str, Any]) -> bool:
        """Whether this piece is finished."""
        return any(all(row.get(k) == v for k, v in key.items()) for row in self.read(kind))

    def add(self, kind: str, row: dict[str, Any]) -> None:
        """Write a finished piece down at once."""
        with (self.folder / f"{kind}.jsonl").open("ab", buffering=0) as file:
            file.write(f"{json.dumps(row)}\n".encode())  # one write, so that two processes may add
        keys = ("seed", "trained_on", "arm", "suite", "seconds", "checks")
        shown = {key: row[key] for key in keys if key in row}
        print(json.dumps({"kind": kind, **shown}), flush=True)


def name_of(key: dict[str, Any]) -> str:
    """The folder of a model."""
    return f"{key['trained_on']}-{key['arm']}-{key['seed']}"


def rows_of(results: Results, home: list[Corpus]) -> list[Scored]:
    """Corpora and seeds whose arms are all finished, as rows; a line that stands twice counts once."""
    parts = {corpus.name: corpus.part("test") for corpus in home}
    tests = {name: part.targets([LABEL])[:, 0] for name, part in parts.items()}
    found = {(r["arm"], r["trained_on"], r["seed"]): r for k in ("arm", "further") for r in results.read(k)}
    whole = {key[1:] for key in found if all((arm, *key[1:]) in found for arm in ARMS)}
    found = {key: row for key, row in found.items() if key[1:] in whole}
    return [
        Scored(
            "improve",
            arm,
            "minilm",
            trained_on,
            name,
            LABEL,
            seed,
            row["threshold"],
            tests[name],
            np.array(given),
            Clusters.of(parts[name].units(), parts[name].copies()),
        )
        for (arm, trained_on, seed), row in found.items()
        for name, given in row["scores"].items()
    ]


def by_place(rows: Iterable[Scored]) -> dict[tuple[str, str, str, str], list[Scored]]:
    """The seeds of each arm, model, training corpus and test."""
    out: dict[tuple[str, str, str, str], list[Scored]] = {}
    for one in rows:
        out.setdefault((one.arm, one.model, one.trained_on, one.corpus), []).append(one)
    return out


def figure_tables(rows: list[Scored]) -> list[str]:
    """Macro-F1, F1 and AUC of each arm, mean (sd) over seeds; other corpora first, then the own."""
    out = []
    head = ["trained on", "tested on", "arm", "seeds", "macro-F1 at 0.5", "macro-F1, dev threshold"]
    head += ["F1 at 0.5", "F1, dev threshold", "AUC"]
    for own in (False, True):
        lines = []
        for (arm, _, trained_on, corpus), group in by_place(r for r in rows if r.own == own).items():
            cells = [spread([drawn(one, *what) for one in group]) for what in WHAT]
            lines.append([trained_on, corpus, arm, len(group), *cells])
        lines.sort(key=lambda line: (line[0], line[1], [*ARMS, *FURTHER].index(str(line[2]))))
        if not own:
            lines += [["mean of six", "", arm, "", *means_over(rows, arm)] for arm in [*ARMS, *FURTHER]]
        out += [f"### {'The own corpus: the price' if own else 'Other corpora'}", "", table(head, lines), ""]
    return out


def means_over(rows: list[Scored], arm: str) -> list[str]:
    """The mean over all directions of each seed that has them all, then mean (sd) over seeds."""
    cells = []
    for what in WHAT:
        seeds: dict[int, list[float]] = {}
        for one in rows:
            if one.arm == arm and not one.own:
                seeds.setdefault(one.seed, []).append(drawn(one, *what))
        cells.append(spread([float(np.mean(values)) for values in seeds.values() if len(values) == 6]))
    return cells


def change_table(rows: list[Scored]) -> list[str]:
    """Paired changes of macro-F1 and AUC on other corpora with intervals over texts, and who went up."""
    at = {(one.arm, one.trained_on, one.corpus, one.seed): one for one in rows if not one.own}
    lines = []
    for name, first, second, decision in COMPARED:
        gains: dict[str, list[float]] = {"macro_f1": [], "auc": []}
        cells: list[list[object]] = []
        tested: list[list[float]] = []
        for trained_on, corpus in dict.fromkeys((key[1], key[2]) for key in at):
            seeds = [k[3] for k in at if k[:3] == (second, trained_on, corpus)]
            pairs = [
                (at[first, trained_on, corpus, s], at[second, trained_on, corpus, s])
                for s in seeds
                if (first, trained_on, corpus, s) in at
            ]
            if not pairs:
                continue
            if name.startswith("threshold"):
                pairs = [(replace(a, threshold=0.5), b) for a, b in pairs]
            found = {f.measure: f for f in differences(pairs) if f.where["decision"] in (decision, "ranking")}
            ps = [against(b, a, decision).value for a, b in pairs]
            change, area = found["macro_f1_change"], found["auc_change"]
            gains["macro_f1"] += [
                drawn(b, "macro_f1", decision) - drawn(a, "macro_f1", decision) for a, b in pairs
            ]
            gains["auc"] += [drawn(b, "auc", "ranking") - drawn(a, "auc", "ranking") for a, b in pairs]
            tested.append(ps)
            cells.append(
                [
                    name,
                    f"{trained_on} → {corpus}",
                    len(pairs),
                    signed(change),
                    f"{change.counts['up']}/{len(pairs)}",
                    "",
                    signed(area),
                ]
            )
        # Holm over all pairs of a comparison; back to the direction that each belongs to.
        adjusted = iter(holm([p for ps in tested for p in ps]).tolist())
        for cell, ps in zip(cells, tested, strict=True):
            cell[5] = f"{sum(next(adjusted) < 0.05 for _ in ps)}/{len(ps)}"
        lines += cells
        up = sum(gain > 0 for gain in gains["macro_f1"])
        n = len(gains["macro_f1"])
        lines.append(
            [
                f"**{name}**",
                "**all**",
                n,
                f"**{np.mean(gains['macro_f1']):+.3f}**",
                f"{up}/{n}",
                "",
                f"**{np.mean(gains['auc']):+.3f}**",
            ]
        )
    head = ["comparison", "direction", "pairs", "macro-F1 (95 % over texts)", "up", "McNemar, Holm < 0.05"]
    return [table([*head, "AUC"], lines), ""]


def choice_table(rows: list[Scored]) -> list[str]:
    """The arm that is best for two corpora to train on, and how it does for the third: no hindsight."""
    at = {(one.arm, one.trained_on, one.corpus, one.seed): one for one in rows if not one.own}
    arms, homes = list(dict.fromkeys(k[0] for k in at)), list(dict.fromkeys(k[1] for k in at))
    lines = []
    for decision in ("0.5", "dev"):

        def mean(arm: str, some: Sequence[str], decision: str = decision) -> float:
            mine = [one for key, one in at.items() if key[0] == arm and key[1] in some]
            return float(np.mean([drawn(one, "macro_f1", decision) for one in mine]))

        for held in homes:
            rest = [home for home in homes if home != held]
            means = {arm: mean(arm, rest) for arm in arms}
            best = max(means, key=means.__getitem__)
            lines.append([decision, held, best, f"{mean('plain', [held]):.3f}", f"{mean(best, [held]):.3f}"])
    return [table(["decision", "trained on", "arm chosen on the two others", "plain", "chosen"], lines), ""]


def sentence_table(results: Results) -> list[str]:
    """Pass rates by symptom before and after each arm, on the same texts; DECK below the mean apart."""
    learned = {(r["trained_on"], r["seed"]): set(r["checks"]) for r in results.read("arm")}
    lines = [row for kind in ("arm-rates", "further-rates") for row in results.read(kind)]
    found = {(r["suite"], r["arm"], r["trained_on"], r["seed"]): r["rates"] for r in lines}
    sums: dict[tuple[str, str, str, str], list[int]] = {}  # passed and tried before, passed and tried after
    for (suite, arm, trained_on, seed), after in found.items():
        before = found.get((suite, "plain", trained_on, seed))
        if arm == "plain" or before is None:
            continue
        for side, rates in ((0, before), (2, after)):
            for rate in rates:
                kind = suite
                if suite == "deck":
                    below = rate["check"] in learned[trained_on, seed]
                    kind = "deck, below the mean" if below else "deck, the others"
                for symptom in (rate["symptom"], "all"):
                    cell = sums.setdefault((arm, kind, symptom, rate["polarity"]), [0, 0, 0, 0])
                    cell[side] += rate["passed"]
                    cell[side + 1] += rate["n"]
    rows = []
    for key, cell in sorted(sums.items()):
        shown = []
        for passed, n in (cell[:2], cell[2:]):
            low, high = wilson(passed, n)
            shown.append(f"{passed / n:.2f} ({low:.2f} to {high:.2f})")
        rows.append([*key, cell[1], *shown])
    return [table(["arm", "sentences", "symptom", "polarity", "cases", "plain", "after"], rows), ""]


WHAT = (("macro_f1", "0.5"), ("macro_f1", "dev"), ("f1", "0.5"), ("f1", "dev"), ("auc", "ranking"))
# What is compared with what, at which decision; the first sets plain at 0.5 against plain at the threshold.
COMPARED = (
    ("threshold from dev, plain", "plain", "plain", "dev"),
    ("augmented − plain, at 0.5", "plain", "augmented", "0.5"),
    ("augmented − plain, dev threshold", "plain", "augmented", "dev"),
    ("half − plain, dev threshold", "plain", "half", "dev"),
    ("all-half − plain, at 0.5", "plain", "all-half", "0.5"),
    ("all-half − plain, dev threshold", "plain", "all-half", "dev"),
    ("balanced − plain, at 0.5", "plain", "balanced", "0.5"),
    ("balanced − plain, dev threshold", "plain", "balanced", "dev"),
    ("all-half-balanced − plain, at 0.5", "plain", "all-half-balanced", "0.5"),
    ("all-half-balanced − plain, dev threshold", "plain", "all-half-balanced", "dev"),
    ("all-half-balanced − balanced, at 0.5", "balanced", "all-half-balanced", "0.5"),
    ("all-half-balanced − balanced, dev threshold", "balanced", "all-half-balanced", "dev"),
    ("random − plain, dev threshold", "plain", "random", "dev"),
    ("augmented − random, dev threshold", "random", "augmented", "dev"),
)


def drawn(one: Scored, measure: str, decision: str) -> float:
    """One figure of one row."""
    if measure == "auc":
        return auc(one.targets, one.scores).value
    cells = confusion(one.targets, one.scores, one.at(decision))
    return (f1 if measure == "f1" else macro_f1)(cells).value


def spread(values: Sequence[float]) -> str:
    """Mean (standard deviation)."""
    if not values:
        return "–"
    return f"{np.mean(values):.3f}" + (f" ({np.std(values, ddof=1):.3f})" if len(values) > 1 else "")


def signed(finding: Finding) -> str:
    """A change with its interval."""
    low, high = finding.interval or (np.nan, np.nan)
    return f"{finding.value:+.3f} ({low:+.3f} to {high:+.3f})"


def main() -> int:
    """Run what is missing."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--seed", type=int, help="this seed alone, to run several beside each other")
    options.add_argument("--from", dest="home", choices=NAMES, help="train on this corpus alone, likewise")
    options.add_argument("--out", type=Path, default=Path("runs/improving"))
    options.add_argument("--demo", action="store_true")
    options.add_argument("--further", action="store_true", help="the arms that were looked for afterwards")
    options.add_argument("--tables", action="store_true")
    given = options.parse_args()
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    if not given.demo and not all((data / f"{name}.csv").is_file() for name in NAMES):
        print(f"skipped: {', '.join(NAMES)} are not in {data}; set PSYCHECK_DATA")
        return 0
    home = corpora(data, demo=given.demo)
    results = Results(given.out)
    if given.tables:
        rows = rows_of(results, home)
        print(
            "\n".join(
                [
                    machine(),
                    "",
                    *figure_tables(rows),
                    *change_table(rows),
                    *choice_table(rows),
                    *sentence_table(results),
                ]
            )
        )
        return 0
    for seed in range(given.seeds) if given.seed is None else [given.seed]:
        chosen = [corpus for corpus in home if given.home in (None, corpus.name)]
        one_seed(seed, chosen, home, given.out, results, given.further)
        sentences(seed, chosen, given.out, results, given.further)
    return 0


if __name__ == "__main__":
    sys.exit(main())
