"""Write the labelled sentences that symptoms:default learns from: python benchmarks/symptom_labelled.py FILE.

They are those of `symptom_learned.csv` and of the first two draws of `symptom_truth.csv`, which had been
measured before. Both hold ids, hashes and labels; the texts come from PSYCHECK_DATA (by default
../shared/data) and stay outside the repository. FILE is for `psycheck symptoms train --from-bank
--labelled FILE`. No sentence is from a post of the third draw, and none from the tweets, whose licence is not
known.
"""

import csv
import os
import sys
from hashlib import sha256
from pathlib import Path

from symptom_sentences import sentences_of

LEARNED = Path(__file__).with_name("symptom_learned.csv")
TRUTH = Path(__file__).with_name("symptom_truth.csv")
EARLIER = ("choose", "measure", "random", "searched", "suicidal")  # parts of the first two draws
SOURCES = ("depression_reddit", "counselchat", "dreaddit_train", "dreaddit_test", "sad", "psytar_posts")
COLUMNS = ("text", "symptom", "status", "subject")
Row = dict[str, str]


def texts_by_hash(folder: Path) -> dict[str, str]:
    """The texts of all sentences of the sources, by their hashes."""
    texts = [text for name in SOURCES for _, text in sentences_of(folder / f"{name}.csv")]
    with (folder / "goemotions" / "train.tsv").open(encoding="utf-8") as lines:
        texts += [" ".join(line.split("\t")[0].split()) for line in lines]
    return {sha256(text.encode()).hexdigest(): text for text in texts}


def labels() -> list[Row]:
    """The labels that a reader may learn from, one per symptom and sentence, with ids and hashes."""
    with LEARNED.open(encoding="utf-8", newline="") as table:
        learned = list(csv.DictReader(table))
    with TRUTH.open(encoding="utf-8", newline="") as table:
        earlier = [row for row in csv.DictReader(table) if row["half"] in EARLIER]
    # A sentence of two tables counts once, with the labels of two readers.
    hashes = {row["sha256"] for row in earlier}
    rows = earlier + [row for row in learned if row["sha256"] not in hashes]
    return [row for row in rows if row["id"].partition(":")[0] != "depression_tweets"]


def labelled_rows(folder: Path) -> list[tuple[str, str, str, str]]:
    """A row per sentence and symptom: text, symptom, status and subject."""
    texts = texts_by_hash(folder)
    return [(texts[row["sha256"]], row["symptom"], row["status"], row["subject"]) for row in labels()]


def main() -> None:
    """Write the rows as CSV."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    with Path(sys.argv[1]).open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(COLUMNS)
        writer.writerows(labelled_rows(folder))


if __name__ == "__main__":
    main()
