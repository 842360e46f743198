"""Draw the sentences on which symptom readers are measured: python benchmarks/symptom_sentences.py FILE.

400 sentences, at random within each source of PSYCHECK_DATA (by default ../shared/data), half of them for
choosing thresholds and half to be measured once. FILE holds their texts and stays outside the repository;
what is kept here is `symptom_truth.csv`: ids, hashes of the texts, halves and labels.
"""

import csv
import json
import os
import random
import sys
from hashlib import sha256
from pathlib import Path

from psycheck.text.clean import split_sentences

SEED = 20261118
MOST_CHARACTERS = 400
FEWEST_WORDS = 3

# How many sentences of each file are drawn: more from those in which people write about themselves at length.
DRAWN = {
    "depression_reddit": 110,
    "depression_tweets": 60,
    "counselchat": 80,
    "dreaddit_train": 70,
    "sad": 30,
    "psytar_posts": 50,
}


def sentences_of(file: Path) -> list[tuple[str, str]]:
    """Ids (file:row:sentence) and texts of the sentences of a corpus that can be read alone."""
    with file.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))

    sentences = []
    for row_number, row in enumerate(rows):
        for place, sentence in enumerate(split_sentences(row["text"])):
            sentence = " ".join(sentence.split())
            if len(sentence.split()) >= FEWEST_WORDS and len(sentence) <= MOST_CHARACTERS:
                sentences.append((f"{file.stem}:{row_number}:{place}", sentence))
    return sentences


def draw(folder: Path) -> list[dict[str, str]]:
    """The drawn sentences with their half: "choose" or "measure"."""
    drawn = []
    for name, size in DRAWN.items():
        # One generator per file: another file, or another number of its sentences, changes nothing here.
        chance = random.Random(f"{SEED}:{name}")
        sentences = chance.sample(sentences_of(folder / f"{name}.csv"), size)
        for place, (sentence_id, text) in enumerate(sentences):
            drawn.append(
                {
                    "id": sentence_id,
                    "half": "choose" if place % 2 else "measure",
                    "sha256": sha256(text.encode()).hexdigest(),
                    "text": text,
                }
            )
    return drawn


def main() -> None:
    """Write the sentences, one JSON object per line."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    lines = [json.dumps(sentence, ensure_ascii=False) for sentence in draw(folder)]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
