"""Which features find a condition in a history? PsySym's Tables 5 and 9 on synthetic authors, six draws.

python benchmarks/histories.py [--draws 6] [--authors 200] [--out runs/histories] [--tables]

Each draw trains on the train and dev authors of `generate_people(240, seed)` and is measured on authors of
another seed, without those whose label was made wrong on purpose. Symptoms are weighed without training
(symptoms:descriptions), and by models that learned from `demo:sentences`: a logistic regression on MiniLM
vectors (frozen), and what `symptoms train --balanced` makes of TF–IDF (words) and of MiniLM (tuned).
Finished arms are kept in the folder: the same command goes on after a kill.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from demo_texts import generate_people
from psycheck.core.corpus import Corpus
from psycheck.corpora.opening import open_corpus
from psycheck.corpora.posting_histories import against_controls, by_author
from psycheck.io.writing import written
from psycheck.models.hf import HfEncoder
from psycheck.models.opening import open_model
from psycheck.scoring.answers import scores_of
from psycheck.statistics.classification import auc, confusion, f1
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.training.fit import fit
from psycheck.training.recipe import preset, preset_of
from psycheck.training.symptom_models import train_symptoms
from timing import machine, table

AUTHORS = 240
RARE = "eating_disorder"
PLAIN = "status=no&subject=no"
# The start of each arm; {frozen}, {words} and {tuned} are the folders of the trained symptom models.
ARMS = {
    "TF–IDF + LR": "history:tfidf+lr",
    "embeddings, mean + LR": "history:embeddings+lr",
    "embeddings, CNN": "history:embeddings",
    "symptoms (descriptions), LR": "history:symptoms+lr",
    "symptoms (descriptions), CNN": f"history:symptoms?{PLAIN}",
    "symptoms (descriptions), CNN, reweighted": "history:symptoms",
    "symptoms (frozen), LR": "history:symptoms+lr?symptoms=symptoms:{frozen}",
    "symptoms (frozen), CNN": f"history:symptoms?{PLAIN}&symptoms=symptoms:{{frozen}}",
    "symptoms (frozen), CNN, reweighted": "history:symptoms?symptoms=symptoms:{frozen}",
    "both (frozen), CNN": "history:both?symptoms=symptoms:{frozen}",
    "symptoms (words), LR": "history:symptoms+lr?symptoms=symptoms:{words}",
    "symptoms (words), CNN, reweighted": "history:symptoms?symptoms=symptoms:{words}",
    "symptoms (tuned), LR": "history:symptoms+lr?symptoms=symptoms:{tuned}",
    "symptoms (tuned), CNN, reweighted": "history:symptoms?symptoms=symptoms:{tuned}",
}
TEXT = ("TF–IDF + LR", "embeddings, mean + LR", "embeddings, CNN")


def remember_vectors() -> None:
    """Encode each distinct sentence once in this process: several models here read the same vectors."""
    encode, every = HfEncoder.encode, dict[str, dict[str, np.ndarray]]()

    def once(self: HfEncoder, texts: Sequence[str], /) -> np.ndarray:
        known = every.setdefault(self.fingerprint, {})
        new = list(dict.fromkeys(text for text in texts if text not in known))
        known.update(zip(new, encode(self, new), strict=True) if new else ())
        return np.stack([known[text] for text in texts])

    HfEncoder.encode = once  # type: ignore[method-assign]  # only in this benchmark


def people(seed: int, authors: int) -> Corpus:
    """Synthetic authors as histories, each label against controls."""
    return against_controls(by_author(generate_people(authors, seed)))


def measured(seed: int) -> Corpus:
    """Test authors whose labels are right."""
    corpus = people(1000 + seed, ARGUMENTS.authors)
    return corpus.only([not planted for planted in corpus.group("planted")])


def symptom_model(name: str, out: Path) -> Path:
    """A symptom model from `demo:sentences`."""
    sentences, folder = open_corpus("demo:sentences"), out / name
    if name == "frozen":
        fit(sentences, preset("frozen", class_weights=True), folder)
    else:
        recipe = preset({"tuned": "symptoms", "words": "tfidf"}[name], balanced=True)
        train_symptoms(sentences, recipe, folder, missing="enhanced")
    return folder


def draw(seed: int, out: Path) -> dict[str, Any]:
    """Scores of all arms on the test authors of one draw, kept as they come."""
    file, learned, test = out / f"draw-{seed}.json", people(seed, AUTHORS), measured(seed)
    found: dict[str, Any] = {"labels": test.labels, "targets": test.targets().tolist(), "scores": {}}
    if file.is_file():
        found = json.loads(file.read_text())
    for name, start in ARMS.items():
        if name in found["scores"]:
            continue
        began = monotonic()
        how = {"criterion": "dev_f1"} if "+lr" in start else {}
        kinds = [kind for kind in ("frozen", "words", "tuned") if f"{{{kind}}}" in start]
        read = {kind: symptom_model(kind, out) for kind in kinds}
        one = preset(str(preset_of(start)), start=start.format(**read), seed=seed, **how)
        folder = out / f"{seed}" / "".join(c if c.isalnum() else "-" for c in name)
        model = fit(learned, one, folder)
        found["scores"][name] = scores_of(open_model(model.spec), test.items).tolist()
        with written(file) as part:
            part.write_text(json.dumps(found))
        print(f"draw {seed}, {name}: {monotonic() - began:.0f} s", flush=True)
    return found


def tables(draws: list[dict[str, Any]]) -> str:
    """F1 and AUC by condition over the test authors of all draws, and those of each draw."""
    labels = list(draws[0]["labels"])
    targets = np.concatenate([np.array(one["targets"], float) for one in draws])
    units = Clusters.single(len(targets))
    rows, aucs, gaps = [], [], []
    by_arm = {arm: np.concatenate([np.array(one["scores"][arm], float) for one in draws]) for arm in ARMS}
    for arm, scores in by_arm.items():
        cells, areas = [], []
        for k in range(len(labels)):
            known = ~np.isnan(targets[:, k])
            t, s, u = targets[known, k], scores[known, k], units.at(known)
            ends = classification_intervals(t, s, u, decided=(s >= 0.5).astype(float))
            cells.append(_cell(100 * f1(confusion(t, s)).value, [100 * end for end in ends["f1"]], 0))
            areas.append(_cell(auc(t, s).value, ends["auc"], 2))
        means = [_mean_f1(one, arm) for one in draws]
        rows.append((arm, f"{np.mean(means):.1f} ({', '.join(f'{m:.1f}' for m in means)})", *cells))
        aucs.append((arm, *areas))
    k = labels.index(RARE)
    known = ~np.isnan(targets[:, k])
    for arm in ARMS:
        for text in TEXT if arm not in TEXT else ():
            gaps.append((arm, text, _gap(targets[known, k], by_arm[arm][known, k], by_arm[text][known, k])))
    counts = ", ".join(f"{label} {int(np.nansum(targets[:, j]))}" for j, label in enumerate(labels))
    return "\n\n".join(
        [
            f"{len(targets)} test authors, annotated 1: {counts}; {machine()}.",
            "F1 × 100 (95 % interval by author); the mean of the conditions by draw in brackets.",
            table(["", "mean (draws)", *labels], rows),
            "AUC (95 % interval by author).",
            table(["", *labels], aucs),
            f"`{RARE}`: difference of F1 × 100 (95 % interval, authors drawn 2,000 times).",
            table(["", "against", "difference"], gaps),
        ]
    )


def _cell(value: float, ends: Any, digits: int) -> str:
    return f"{value:.{digits}f} ({ends[0]:.{digits}f}–{ends[1]:.{digits}f})"


def _mean_f1(one: dict[str, Any], arm: str) -> float:
    targets, scores = np.array(one["targets"], float), np.array(one["scores"][arm], float)
    figures = []
    for t, s in zip(targets.T, scores.T, strict=True):
        known = ~np.isnan(t)
        figures.append(f1(confusion(t[known], s[known])).value)
    return 100 * float(np.nanmean(figures))


def _gap(targets: np.ndarray, mine: np.ndarray, other: np.ndarray) -> str:
    """The difference of two F1 on the same authors, with a bootstrap interval."""
    yes, a, b = targets > 0.5, mine >= 0.5, other >= 0.5
    rows = np.random.default_rng(0).integers(0, len(yes), (2_000, len(yes)))

    def score(said: np.ndarray, truth: np.ndarray) -> np.ndarray:
        both = (said & truth).sum(axis=-1)
        return np.asarray(2 * both / np.maximum(said.sum(axis=-1) + truth.sum(axis=-1), 1))

    drawn = 100 * (score(a[rows], yes[rows]) - score(b[rows], yes[rows]))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{100 * float(score(a, yes) - score(b, yes)):+.0f} ({low:+.0f} to {high:+.0f})"


def main() -> None:
    """Run the draws that are not finished, and print the tables."""
    out = Path(ARGUMENTS.out)
    remember_vectors()
    out.mkdir(parents=True, exist_ok=True)
    done = []
    for seed in range(ARGUMENTS.draws):
        if ARGUMENTS.tables:
            done.append(json.loads((out / f"draw-{seed}.json").read_text()))
        else:
            done.append(draw(seed, out))
    if done:
        print(tables(done))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--authors", type=int, default=200)
    parser.add_argument("--out", default="runs/histories")
    parser.add_argument("--tables", action="store_true")
    ARGUMENTS = parser.parse_args()
    main()
