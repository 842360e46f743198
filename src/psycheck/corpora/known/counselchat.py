"""counselchat: questions to counsellors with the topics under which they were asked.

`20200325_counsel_chat.csv` and `counselchat-data.csv` have one row per answer: `questionID`,
`questionTitle`, `questionText`, `topic` (or `topics`, separated by commas), the answer, and in the older one
`split`. A text is one question, its title and its words, with the topics of all its rows; it is 1 for
depression or anxiety if they are among them, and not annotated if it has no topic. A table with `text`,
`depression`, `anxiety` and `topics` (`counselchat.csv`) is read too.
"""

from collections import defaultdict

from psycheck.corpora.columns import split_name
from psycheck.corpora.known.release import Item, Loaded, Release, joined, load_table


def load(release: Release) -> Loaded:
    """One text for each question."""
    sheet = release.table(release.file(*release.layout["files"]["whole"]))
    if not sheet.find("questionText"):
        return load_table(release)
    numbers, titles = sheet.keys("questionID"), sheet.words("questionTitle")
    texts, splits = sheet.words("questionText"), sheet.words("split")
    topics: dict[str, set[str]] = defaultdict(set)
    for number, listed in zip(numbers, sheet.words("topics", "topic"), strict=True):
        topics[number] |= {topic.strip().casefold() for topic in (listed or "").split(",") if topic.strip()}
    first = {number: row for row, number in reversed(list(enumerate(numbers)))}
    items = []
    for number, row in sorted(first.items(), key=lambda pair: pair[1]):
        mine = topics[number]
        labels = {label: float(label in mine) if mine else None for label in release.known.labels}
        split = split_name(splits[row] or "") or None
        items.append(Item(number, joined(titles[row], texts[row]), labels, split=split))
    return Loaded(items)
