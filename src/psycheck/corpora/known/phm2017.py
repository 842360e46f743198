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
from pathlib import Path
from random import Random

from psycheck.corpora.known.release import Item, Loaded, Release
from psycheck.files.streams import Lines

_MENTIONS = {"0": "non-health", "1": "awareness", "2": "other", "3": "self"}
_PERSONAL = ("other", "self")
_TEXTS = ("*tweets*.csv", "*tweets*.tsv", "*tweets*.jsonl", "*texts*.csv", "*texts*.tsv", "*texts*.jsonl")
_SEED = 0

_Tweet = tuple[str, str, str, str | None]


def load(release: Release) -> Loaded:
    """Personal mentions of depression, and as many of the other diseases."""
    tweets = list(_tweets(release, release.file("PHM2017*.txt", "PHM2017*.tsv")))
    texts = _texts(release) if any(text is None for *_, text in tweets) else {}
    left_out: Counter[str] = Counter()
    mentions: dict[str, list[Item]] = defaultdict(list)
    for number, disease, mention, own in tweets:
        text = own if own is not None else texts.get(number)
        if mention not in _PERSONAL:
            left_out["no personal mention"] += 1
        elif text is None or not text.strip():
            left_out["tweet without a text"] += 1
        else:
            kind = "depression" if disease.startswith("depress") else disease
            labels = {"depression": float(kind == "depression")}
            groups = {"disease": disease, "mention": mention}
            mentions[kind].append(Item(number, text, labels, groups=groups))
    positive = mentions.pop("depression", [])
    controls = even_sample(mentions, len(positive), Random(_SEED))
    drawn_away = sum(map(len, mentions.values())) - len(controls)
    left_out["control beyond the number of depression tweets"] = drawn_away
    return Loaded([*positive, *controls], left_out)


def even_sample(kinds: dict[str, list[Item]], wanted: int, random: Random) -> list[Item]:
    """So many items, as evenly over the kinds as they allow; a kind that has too few gives all it has."""
    shares = dict.fromkeys(sorted(kinds), 0)
    left = min(wanted, sum(map(len, kinds.values())))
    while left:
        for kind in shares:
            if left and shares[kind] < len(kinds[kind]):
                shares[kind] += 1
                left -= 1
    return [item for kind, share in shares.items() for item in random.sample(kinds[kind], share)]


def _tweets(release: Release, path: Path) -> Iterator[_Tweet]:
    """Id, disease, mention, and the text if the line holds it."""
    lines = Lines(path, row=1)
    for line in lines:
        fields = [part.strip() for part in line.rstrip("\r\n").split("\t")]
        if not any(fields):
            lines.same_row()
            continue
        if len(fields) not in (3, 4) or fields[2] not in _MENTIONS or not fields[0]:
            raise release.wrong("expected id, disease and 0 to 3, separated by tabs", lines.where())
        yield fields[0], fields[1].lower(), _MENTIONS[fields[2]], fields[3] if len(fields) == 4 else None
        lines.next_row()


def _texts(release: Release) -> dict[str, str]:
    found = [] if release.path.is_file() else release.files(*_TEXTS)
    if not found:
        raise release.missing("tweets.csv (columns id and text, fetched by the ids in PHM2017.txt)")
    texts: dict[str, str] = {}
    for path in found:
        sheet = release.table(path, ("id", "tweet_id", "id_str"), ("text", "full_text", "tweet"))
        words = sheet.words("text", "full_text", "tweet")
        rows = zip(sheet.keys("id", "tweet_id", "id_str"), words, strict=True)
        texts |= {number: text for number, text in rows if text is not None}
    return texts
