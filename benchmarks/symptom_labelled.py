"""Write the labelled sentences that symptoms:default learns from: python benchmarks/symptom_labelled.py FILE.

`symptom_learned.csv` holds ids, hashes and labels; the texts come from PSYCHECK_DATA (by default
../shared/data) and stay outside the repository. FILE is for `psycheck symptoms train --from-bank
--labelled FILE`. No sentence is from a post in which `symptom_truth.csv` has one, and none from the
tweets, whose licence is not known.
"""

import csv
import os
import sys
from hashlib import sha256
from pathlib import Path

from symptom_sentences import sentences_of

LEARNED = Path(__file__).with_name("symptom_learned.csv")
SOURCES = ("depression_reddit", "counselchat", "dreaddit_train", "sad", "psytar_posts")
COLUMNS = ("text", "symptom", "status", "subject")


def texts_by_hash(folder: Path) -> dict[str, str]:
    """The texts of all sentences of the sources, by their hashes."""
    texts = [text for name in SOURCES for _, text in sentences_of(folder / f"{name}.csv")]
    with (folder / "goemotions" / "train.tsv").open(encoding="utf-8") as lines:
        texts += [" ".join(line.split("\t")[0].split()) for line in lines]
    return {sha256(text.encode()).hexdigest(): text for text in texts}


def labelled_rows(folder: Path) -> list[tuple[str, str, str, str]]:
    """A row per sentence and symptom: text, symptom, status and subject."""
    texts = texts_by_hash(folder)
    with LEARNED.open(encoding="utf-8", newline="") as table:
        return [
            (texts[row["sha256"]], row["symptom"], row["status"], row["subject"])
            for row in csv.DictReader(table)
        ]


def main() -> None:
    """Write the rows as CSV."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    with Path(sys.argv[1]).open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(COLUMNS)
        writer.writerows(labelled_rows(folder))


if __name__ == "__main__":
    main()
