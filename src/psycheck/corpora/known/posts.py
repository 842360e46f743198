"""Small corpora of posts and questions: Depression-Reddit, counselchat and PRIMATE."""

from collections import defaultdict
from typing import Any

from psycheck.corpora.columns import split_name
from psycheck.corpora.known.release import Item, Loaded, Release, joined, load_table

_FOLDERS = {"reddit_depression": 1.0, "reddit_non_depression": 0.0}
_ANSWERS = {"yes": 1.0, "no": 0.0}


def depression_reddit(release: Release) -> Loaded:
    """Depression-Reddit (Pirina and Çöltekin, 2018): posts of a depression forum, and of other forums.

    The authors' repository holds one text file a post, named by its writer, in `reddit_depression/` and
    `reddit_non_depression/` (UTF-8, or Latin-1 as their own program reads them). The version with splits in
    the IMHI benchmark is one table with `text`, `depression` (or `label`) and `split`, called
    `depression_reddit.csv`.
    """
    homes = [release.path, release.path / "Data_Collector"]
    home = next((home for home in homes if all((home / name).is_dir() for name in _FOLDERS)), None)
    if home is None:
        return load_table(release)
    items = []
    for folder, mark in _FOLDERS.items():
        paths = sorted(p for p in (home / folder).glob("*.txt") if not p.name.startswith("."))
        if not paths:
            raise release.missing(f"{folder}/*.txt")
        for path in paths:
            content, labels, groups = release.content(path), {"depression": mark}, {"source": folder}
            try:
                text = content.decode("utf-8-sig").strip()
            except UnicodeDecodeError:
                text = content.decode("latin-1").strip()
            items.append(Item(f"{folder}/{path.stem}", text, labels, author=path.stem, groups=groups))
    return Loaded(items)


def counselchat(release: Release) -> Loaded:
    """counselchat: questions to counsellors with the topics under which they were asked.

    `20200325_counsel_chat.csv` and `counselchat-data.csv` have one row per answer: `questionID`,
    `questionTitle`, `questionText`, `topic` (or `topics`, separated by commas), the answer, and in the older
    one `split`. A text is one question, its title and its words, with the topics of all its rows; it is 1 for
    depression or anxiety if they are among them, and not annotated if it has no topic. A table with `text`,
    `depression`, `anxiety` and `topics` (`counselchat.csv`) is read too.
    """
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


def primate(release: Release) -> Loaded:
    """PRIMATE 2022: Reddit posts annotated for which questions of the PHQ-9 they answer.

    `primate_dataset.json` is a list of objects with `post_title`, `post_text` and `annotations`: nine pairs
    of a question and "yes" or "no", as the owners' repository shows. The labels are the nine symptoms under
    the names that psycheck uses; 1 means that the post answers the question, which is not the same as having
    the symptom.
    """
    path = release.file("primate_dataset.json", "primate*.json")
    posts = release.json(path)
    if not isinstance(posts, list):
        raise release.wrong("the file is not a list of posts", str(path))
    items = []
    for number, post in enumerate(posts, start=1):
        where = f"{path}, post {number}"
        if not isinstance(post, dict) or not isinstance(post.get("post_text"), str):
            raise release.wrong("the post has no post_text", where)
        title = post.get("post_title")
        text = joined(title if isinstance(title, str) else None, post["post_text"])
        items.append(Item(str(number), text, _answered(release, post.get("annotations"), where)))
    return Loaded(items)


def _answered(release: Release, annotations: Any, where: str) -> dict[str, float | None]:
    questions = release.layout["questions"]
    labels: dict[str, float | None] = dict.fromkeys(questions.values())
    if not isinstance(annotations, list):
        raise release.wrong("the post has no list of annotations", where)
    for place, pair in enumerate(annotations, start=1):
        if not isinstance(pair, list) or len(pair) != 2:
            raise release.wrong(f"annotation {place} is not a pair of a question and an answer", where)
        question, answer = (str(part).strip().casefold() for part in pair)
        label = next((name for start, name in questions.items() if question.startswith(start)), None)
        if label is None or answer not in _ANSWERS:
            raise release.wrong(f"annotation {place} is not a question of the PHQ-9 with yes or no", where)
        labels[label] = _ANSWERS[answer]
    return labels
