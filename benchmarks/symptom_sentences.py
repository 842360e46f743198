"""Draw the sentences on which symptom readers are measured: python benchmarks/symptom_sentences.py FILE.

First 400 sentences, at random within each source of PSYCHECK_DATA (by default ../shared/data), half of them
for choosing thresholds and half to be measured once. Then, once that half had been measured, others for a
second measurement: "random" ones in the same way, "searched" ones with a word for each symptom, so that rare
symptoms have enough, and "suicidal" ones in which somebody speaks of dying (`symptom_searches.toml`: words,
never a reader). Once these had been measured, too, they served for learning and choosing, and a third draw
followed: "final" ones at random and "final_suicidal" ones with the same words for dying, from posts of which
nobody had labelled a sentence. FILE holds the texts and stays outside the repository; what is kept here is
`symptom_truth.csv`: ids, hashes of the texts, halves or parts, and labels.
"""

import csv
import json
import os
import random
import re
import sys
import tomllib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from psycheck.text.clean import split_sentences

SEED = 20261118
SECOND_SEED = 20261119
THIRD_SEED = 20261120
SEARCHES = Path(__file__).with_name("symptom_searches.toml")
NAMES = Path(__file__).with_name("symptom_named.csv")
LEARNED = Path(__file__).with_name("symptom_learned.csv")
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

# The second draw. Its test part of Dreaddit was read by nobody before.
DRAWN_AT_RANDOM = {
    "depression_reddit": 60,
    "depression_tweets": 30,
    "counselchat": 45,
    "dreaddit_test": 40,
    "sad": 15,
    "psytar_posts": 30,
}
SEARCHED = 8  # sentences per symptom

# The third draw: from a third of the posts, none of which any reader learned from.
DRAWN_AT_LAST = {
    "depression_reddit": 80,
    "depression_tweets": 40,
    "counselchat": 60,
    "dreaddit_test": 50,
    "sad": 20,
    "psytar_posts": 50,
}
FINAL_SUICIDAL_SENTENCES = 150
KEPT_SHARE = 3  # one post of three is kept for the third draw
SUICIDAL_SENTENCES = 260


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


def draw_second(folder: Path) -> list[dict[str, str]]:
    """The sentences of the second draw with their part: "random", "searched" or "suicidal"."""
    known_hashes = {sentence["sha256"] for sentence in draw(folder)} | _hashes_of(NAMES)
    sentences = {}
    for name in DRAWN_AT_RANDOM:
        pairs = sentences_of(folder / f"{name}.csv")
        sentences[name] = [pair for pair in pairs if _hash_of(pair[1]) not in known_hashes]

    drawn = []
    for name, size in DRAWN_AT_RANDOM.items():
        chance = random.Random(f"{SECOND_SEED}:{name}")
        pairs = chance.sample(sentences[name], size)
        drawn += [("random", pair) for pair in pairs]

    searches = tomllib.loads(SEARCHES.read_text("utf-8"))
    # Every source gives the same share of what is searched for: the largest would give nearly all.
    for symptom, words in searches["symptoms"].items():
        chance = random.Random(f"{SECOND_SEED}:{symptom}")
        drawn += [("searched", pair) for pair in _searched(sentences, [words], SEARCHED, chance)]
    chance = random.Random(f"{SECOND_SEED}:suicidal")
    search = searches["suicidal"]
    patterns = [search["words"], search["writer"]]
    written_of = {name: sentences[name] for name in search["sources"]}
    drawn += [("suicidal", pair) for pair in _searched(written_of, patterns, SUICIDAL_SENTENCES, chance)]
    return _without_repeats(drawn)


def draw_third(folder: Path) -> list[dict[str, str]]:
    """The sentences of the third draw with their part: "final" or "final_suicidal"."""
    sentences = _of_new_posts(folder)
    drawn = []
    for name, size in DRAWN_AT_LAST.items():
        chance = random.Random(f"{THIRD_SEED}:{name}")
        pairs = chance.sample(sentences[name], size)
        drawn += [("final", pair) for pair in pairs]

    chance = random.Random(f"{THIRD_SEED}:suicidal")
    search = tomllib.loads(SEARCHES.read_text("utf-8"))["suicidal"]
    patterns = [search["words"], search["writer"]]
    written_of = {name: sentences[name] for name in search["sources"]}
    pairs = _searched(written_of, patterns, FINAL_SUICIDAL_SENTENCES, chance)
    drawn += [("final_suicidal", pair) for pair in pairs]
    return _without_repeats(drawn)


def _of_new_posts(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Ids and texts of the sentences, by source, of kept posts of which nobody had labelled a sentence."""
    earlier = draw(folder) + draw_second(folder)
    known_hashes = {sentence["sha256"] for sentence in earlier} | _hashes_of(NAMES)
    known_posts = {post_of(sentence["id"]) for sentence in earlier} | _posts_of(LEARNED)

    def is_new(sentence_id: str, text: str) -> bool:
        post = post_of(sentence_id)
        is_unknown = post not in known_posts and _hash_of(text) not in known_hashes
        return is_kept(post) and is_unknown

    return {
        name: [pair for pair in sentences_of(folder / f"{name}.csv") if is_new(*pair)]
        for name in DRAWN_AT_LAST
    }


def post_of(sentence_id: str) -> str:
    """The post (file:row) of a sentence (file:row:sentence)."""
    return sentence_id.rpartition(":")[0]


def is_kept(post: str) -> bool:
    """Whether a post is kept for the third draw: nothing is learned from it."""
    return int(_hash_of(f"{THIRD_SEED}:{post}"), 16) % KEPT_SHARE == 0


def _posts_of(file: Path) -> set[str]:
    """The posts of the sentences of a table of labels."""
    with file.open(encoding="utf-8", newline="") as table:
        return {post_of(row["id"]) for row in csv.DictReader(table)}


def _hashes_of(file: Path) -> set[str]:
    """The hashes of the sentences of a table of labels."""
    with file.open(encoding="utf-8", newline="") as table:
        return {row["sha256"] for row in csv.DictReader(table)}


def _hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _searched(
    sentences: dict[str, list[tuple[str, str]]],
    patterns: Sequence[str],
    size: int,
    chance: random.Random,
) -> list[tuple[str, str]]:
    """So many sentences in which all patterns occur, from each source in turn, at random within it."""
    hits_by_source = []
    for source_sentences in sentences.values():
        hits = []
        for sentence_id, text in source_sentences:
            plain = text.lower().replace("’", "'")
            if all(re.search(pattern, plain) for pattern in patterns):
                hits.append((sentence_id, text))
        chance.shuffle(hits)
        hits_by_source.append(hits)

    chosen: list[tuple[str, str]] = []
    while len(chosen) < size and any(hits_by_source):
        for hits in hits_by_source:
            if hits and len(chosen) < size:
                chosen.append(hits.pop())
    return chosen


def _without_repeats(drawn: Sequence[tuple[str, tuple[str, str]]]) -> list[dict[str, str]]:
    """Each text once, in the part that drew it first."""
    rows: dict[str, dict[str, str]] = {}
    for part, (sentence_id, text) in drawn:
        text_hash = _hash_of(text)
        row = {"id": sentence_id, "half": part, "sha256": text_hash, "text": text}
        rows.setdefault(text_hash, row)
    return list(rows.values())


def main() -> None:
    """Write the sentences of all draws, one JSON object per line."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    drawn = draw(folder) + draw_second(folder) + draw_third(folder)
    lines = [json.dumps(sentence, ensure_ascii=False) for sentence in drawn]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
