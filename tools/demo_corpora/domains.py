"""Generates the corpora of one domain each: who writes, how often, and what their labels are."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.demo.opening import DOMAINS, corpus_from_domain_rows
from tools.demo_corpora.compose import WORDS, Author, Written, compose
from tools.demo_corpora.distinct import NearDuplicateIndex, unseen
from tools.demo_corpora.wording import bank

# The share of authors with the state, by domain.
DEPRESSED = {"tweets": 0.40, "forum": 0.55, "interviews": 0.25, "notes": 0.35}
# The share of anxious authors among the depressed and among the others.
ANXIOUS = {True: 0.50, False: 0.18}
# The share of authors with an episode in the past among those without the state.
HISTORY = 0.25
# The share of labels that are flipped, to imitate annotation errors.
NOISE = 0.04

_TEXTS_PER_AUTHOR = {"tweets": 4, "forum": 2, "interviews": 6, "notes": 2}
_SPLITS = ("train", "train", "test", "train", "dev", "train", "train", "test", "train", "dev")
# Texts of at least so many words are never near-duplicates.
_LONG = 50
_FIRST_DAY = datetime(2022, 1, 3)


def generate(domain: str, n: int, seed: int, *, association: float = 0.0) -> Corpus:
    """Write `n` synthetic texts of a domain.

    `association` plants a dependence of the author's state on gender: it is the share of women among the
    depressed minus that among the others (the phi coefficient, where the genders are balanced).
    """
    return corpus_from_domain_rows(domain, domain_rows(domain, n, seed, association=association))


def domain_rows(domain: str, n: int, seed: int, *, association: float = 0.0) -> list[dict[str, Any]]:
    """The texts with their labels and groups, in order of time."""
    _refuse_impossible(domain, n, association)
    author_count = max(1, round(n / _TEXTS_PER_AUTHOR[domain]))
    authors = _draw_authors(domain, author_count, seed, association)

    rows: list[dict[str, Any]] = []
    earlier_texts: set[str] = set()
    shortest_text = WORDS[domain][0]
    index = NearDuplicateIndex() if shortest_text < _LONG else None

    for author, text_count in zip(authors, _texts_of_each_author(len(authors), n), strict=True):
        rng = Random(f"{seed}/{domain}/{author.id}")
        day = _FIRST_DAY + timedelta(days=int(rng.random() * 600))

        for _ in range(text_count):
            written = unseen(partial(compose, domain, author, rng), author.split, earlier_texts, index)
            day += timedelta(days=1 + int(rng.random() * 40))
            time = _time_of_day(domain, author, day, rng)
            rows.append(_row(domain, author, written, time, rng))

    rows.sort(key=lambda row: (row["time"], row["author"]))
    return [{"id": f"{domain}-{number:04d}", **row} for number, row in enumerate(rows, start=1)]


def _refuse_impossible(domain: str, n: int, association: float) -> None:
    if domain not in DOMAINS:
        raise BadInput(
            f"there is no demo domain '{domain}'",
            code="demo.unknown-domain",
            allowed=nearest(domain, DOMAINS),
        )
    if n < 1:
        raise BadInput(f"cannot write {n} texts", code="demo.too-few-texts", allowed="1 or more")
    if not -1 <= association <= 1:
        raise BadInput(
            f"association {association} is out of range",
            code="demo.association-out-of-range",
            allowed="-1 to 1",
        )


def _draw_authors(domain: str, count: int, seed: int, association: float) -> list[Author]:
    """Authors by quota of state and gender, which are independent unless `association` is set."""
    rng = Random(f"{seed}/{domain}/authors")
    depressed_count = round(DEPRESSED[domain] * count)

    people: list[tuple[bool, str, str]] = []
    for depressed, size in ((True, depressed_count), (False, count - depressed_count)):
        sign = 1 if depressed else -1
        women = round(size * (0.5 + sign * association / 2))
        for gender in ["woman"] * women + ["man"] * (size - women):
            split = _SPLITS[len(people) % len(_SPLITS)]
            people.append((depressed, gender, split))
    people.sort(key=lambda _: rng.random())

    authors = []
    for number, (depressed, gender, split) in enumerate(people, start=1):
        anxious = rng.random() < ANXIOUS[depressed]
        author = Author(
            id=f"{domain[0]}{number:03d}",
            gender=gender,
            depressed=depressed,
            anxious=anxious,
            history=not depressed and rng.random() < HISTORY,
            split=split,
            style=_draw_style(rng),
        )
        authors.append(author)
    return authors


def _draw_style(rng: Random) -> Mapping[str, float]:
    """An author's habits of writing, which do not depend on the state."""
    habits = bank("mixture")["style"].items()
    return {habit: shares[int(rng.random() * len(shares))] for habit, shares in habits}


def _texts_of_each_author(authors: int, n: int) -> list[int]:
    """How many texts each author writes: n in all, some authors more than others."""
    counts = [1 + (position % 3) for position in range(authors)]

    while (missing := n - sum(counts)) != 0:
        step = 1 if missing > 0 else -1
        for position in range(min(abs(missing), authors)):
            counts[position] = max(0, counts[position] + step)

    return counts


def _time_of_day(domain: str, author: Author, day: datetime, rng: Random) -> str:
    """When a text was written: in office hours, or on any hour, at night more often by the depressed."""
    if domain in ("interviews", "notes"):
        first_hour, hours = 8, 9
    else:
        at_night = 0.3 if author.depressed else 0.15
        first_hour, hours = (0, 5) if rng.random() < at_night else (7, 17)

    hour = first_hour + int(rng.random() * hours)
    minute = int(rng.random() * 60)
    return day.replace(hour=hour, minute=minute).isoformat(timespec="minutes")


def _row(domain: str, author: Author, written: Written, time: str, rng: Random) -> dict[str, Any]:
    mentions = list(dict.fromkeys(written.mentions))
    # The status of the first mention is that of the text; `mentions` has them all.
    status = mentions[0][1] if mentions else None
    symptoms = [symptom for symptom, its_status in mentions if its_status == status]

    return {
        "text": written.text,
        "author": author.id,
        "time": time,
        "split": author.split,
        "depression": _noisy_label(author.depressed, rng),
        "anxiety": _noisy_label(author.anxious, rng),
        "gender": author.gender,
        "subject": written.subject,
        "source": domain,
        "symptom": ",".join(dict.fromkeys(symptoms)) or None,
        "status": status,
        "mentions": " ".join(f"{symptom}:{its_status}" for symptom, its_status in mentions) or None,
    }


def _noisy_label(state: bool, rng: Random) -> int:
    flipped = rng.random() < NOISE
    return int(state != flipped)
