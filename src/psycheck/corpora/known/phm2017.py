"""PHM2017 (DECK's TWPHMDEPR): tweets that name one of six diseases, annotated by whose health they tell of.

`PHM2017.txt` has no header and three fields separated by tabs: tweet id, disease keyword, and 0 non-health, 1
awareness, 2 other-mention or 3 self-mention. Tweets are released as ids: their texts are in a table that the
user fetched, with the columns `id` (or `tweet_id`) and `text`, or in a fourth field. DECK 4.2 takes the
tweets "labeled as depressed" and equally many of the other five diseases without saying which kinds of
mention; here both sides are personal mentions (2 and 3), so that the disease alone parts them, and the
controls are drawn with a fixed seed, evenly over the diseases.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from psycheck.corpora.known.release import Item, Loaded, Release
from psycheck.io.streams import Lines

_MENTIONS = {
    "0": "non-health",
    "1": "awareness",
    "2": "other",
    "3": "self",
}
_PERSONAL = ("other", "self")
_TEXTS = (
    "*tweets*.csv",
    "*tweets*.tsv",
    "*tweets*.jsonl",
    "*texts*.csv",
    "*texts*.tsv",
    "*texts*.jsonl",
)
_SEED = 0  # fixed, so that everybody who reads the release gets the same controls

# As the tools that fetch tweets by id call them.
_ID_COLUMNS = ("id", "tweet_id", "id_str")
_TEXT_COLUMNS = ("text", "full_text", "tweet")


@dataclass(frozen=True, slots=True)
class _Tweet:
    """One line of the release; `text` is None where it has only the id."""

    id: str
    disease: str
    mention: str
    text: str | None


def load(release: Release) -> Loaded:
    """Personal mentions of depression, and as many of the other diseases."""
    tweets = list(_tweets(release, release.file("PHM2017*.txt", "PHM2017*.tsv")))
    has_texts = all(tweet.text is not None for tweet in tweets)
    fetched_texts = {} if has_texts else _fetched_texts(release)

    left_out: Counter[str] = Counter()
    items_of_diseases: dict[str, list[Item]] = defaultdict(list)
    for tweet in tweets:
        text = tweet.text
        if text is None:
            text = fetched_texts.get(tweet.id)

        if tweet.mention not in _PERSONAL:
            left_out["no personal mention"] += 1
        elif text is None or not text.strip():
            left_out["tweet without a text"] += 1
        else:
            # The field is a keyword of the search: "depressed" counts as well.
            disease = "depression" if tweet.disease.startswith("depress") else tweet.disease
            items_of_diseases[disease].append(_item(tweet, text, disease))

    positives = items_of_diseases.pop("depression", [])
    controls = even_sample(items_of_diseases, len(positives), Random(_SEED))
    all_controls = sum(map(len, items_of_diseases.values()))
    left_out["control beyond the number of depression tweets"] = all_controls - len(controls)
    return Loaded([*positives, *controls], left_out)


def _item(tweet: _Tweet, text: str, disease: str) -> Item:
    return Item(
        id=tweet.id,
        text=text,
        labels={"depression": float(disease == "depression")},
        groups={"disease": tweet.disease, "mention": tweet.mention},
    )


def even_sample(kinds: dict[str, list[Item]], size: int, random: Random) -> list[Item]:
    """So many items, as evenly over the kinds as they allow; a kind that has too few gives all it has."""
    # One for each kind in turn, until there are enough: what a small kind lacks the others make up for.
    shares = dict.fromkeys(sorted(kinds), 0)
    left = min(size, sum(map(len, kinds.values())))
    while left:
        for kind in shares:
            if left and shares[kind] < len(kinds[kind]):
                shares[kind] += 1
                left -= 1

    sample = []
    for kind, share in shares.items():
        sample += random.sample(kinds[kind], share)
    return sample


def _tweets(release: Release, path: Path) -> Iterator[_Tweet]:
    """The tweets of the release, one per line, in order."""
    lines = Lines(path, row=1)
    for line in lines:
        fields = [part.strip() for part in line.rstrip("\r\n").split("\t")]
        # A blank line is not a row: an error names the row of the tweet, not the line of the file.
        if not any(fields):
            lines.same_row()
            continue
        is_row = len(fields) in (3, 4) and fields[0] != ""
        if not is_row or fields[2] not in _MENTIONS:
            raise release.wrong(
                "expected id, disease and 0 to 3, separated by tabs",
                lines.where(),
                code="release.unreadable-lines",
            )

        id_, disease, mention, *texts = fields
        yield _Tweet(
            id=id_,
            disease=disease.lower(),
            mention=_MENTIONS[mention],
            text=texts[0] if texts else None,
        )
        lines.next_row()


def _fetched_texts(release: Release) -> dict[str, str]:
    """The texts of tweets by id, from the tables that the user fetched."""
    paths = [] if release.path.is_file() else release.files(*_TEXTS)
    if not paths:
        raise release.missing("tweets.csv (columns id and text, fetched by the ids in PHM2017.txt)")

    texts: dict[str, str] = {}
    for path in paths:
        sheet = release.table(path, _ID_COLUMNS, _TEXT_COLUMNS)
        rows = zip(sheet.keys(*_ID_COLUMNS), sheet.words(*_TEXT_COLUMNS), strict=True)
        texts |= {id_: text for id_, text in rows if text is not None}
    return texts
