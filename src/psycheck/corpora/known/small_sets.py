"""Small corpora of posts and questions: Depression-Reddit, counselchat and PRIMATE."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psycheck.corpora.columns import split_name
from psycheck.corpora.known.release import Item, Loaded, Release, joined
from psycheck.corpora.known.table_loader import load_table

_FOLDERS = {"reddit_depression": 1.0, "reddit_non_depression": 0.0}
_ANSWERS = {"yes": 1.0, "no": 0.0}


def depression_reddit(release: Release) -> Loaded:
    """Depression-Reddit (Pirina and Çöltekin, 2018): posts of a depression forum, and of other forums.

    The authors' repository holds one text file a post, named by its writer, in `reddit_depression/` and
    `reddit_non_depression/` (UTF-8, or Latin-1 as their own program reads them). The version with splits in
    the IMHI benchmark is one table with `text`, `depression` (or `label`) and `split`, called
    `depression_reddit.csv`.
    """
    home = _home_of_folders(release)
    if home is None:
        return load_table(release)

    items = []
    for folder, mark in _FOLDERS.items():
        # Sorted, because the order of a folder differs between file systems.
        texts = sorted((home / folder).glob("*.txt"))
        paths = [path for path in texts if not path.name.startswith(".")]
        if not paths:
            raise release.missing(f"{folder}/*.txt")
        for path in paths:
            item = Item(
                id=f"{folder}/{path.stem}",
                text=_decoded(release.content(path)).strip(),
                labels={"depression": mark},
                author=path.stem,
                groups={"source": folder},
            )
            items.append(item)
    return Loaded(items)


def _home_of_folders(release: Release) -> Path | None:
    """The folder that holds the folders of both classes, if there is one."""
    for home in (release.path, release.path / "Data_Collector"):
        if all((home / folder).is_dir() for folder in _FOLDERS):
            return home
    return None


def _decoded(content: bytes) -> str:
    # UTF-8 first: Latin-1 reads any bytes without an error, so it would hide a UTF-8 file.
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


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

    questions = sheet.keys("questionID")
    titles = sheet.words("questionTitle")
    texts = sheet.words("questionText")
    splits = sheet.words("split")
    topics_of_questions: dict[str, set[str]] = defaultdict(set)
    for question, topics in zip(questions, sheet.words("topics", "topic"), strict=True):
        topics_of_questions[question] |= _topics_in(topics or "")

    # Each answer repeats its question: the first row of a question has its text.
    first_rows: dict[str, int] = {}
    for row, question in enumerate(questions):
        first_rows.setdefault(question, row)

    items = []
    for question, row in first_rows.items():
        labels = _labels_of_topics(topics_of_questions[question], release.known.labels)
        item = Item(
            id=question,
            text=joined(titles[row], texts[row]),
            labels=labels,
            split=split_name(splits[row] or "") or None,
        )
        items.append(item)
    return Loaded(items)


def _topics_in(listed: str) -> set[str]:
    """The topics of a list that commas separate."""
    topics = (topic.strip().casefold() for topic in listed.split(","))
    return {topic for topic in topics if topic}


def _labels_of_topics(topics: set[str], labels: Sequence[str]) -> dict[str, float | None]:
    """1 for each label that is among the topics; nothing is annotated without a topic."""
    if not topics:
        return dict.fromkeys(labels)
    return {label: float(label in topics) for label in labels}


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
        raise release.wrong("the file is not a list of posts", str(path), code="release.not-a-list")

    items = []
    for number, post in enumerate(posts, start=1):
        where = f"{path}, post {number}"
        if not isinstance(post, dict) or not isinstance(post.get("post_text"), str):
            raise release.wrong("the post has no post_text", where, code="release.missing-field")

        title = post.get("post_title")
        if not isinstance(title, str):
            title = None
        text = joined(title, post["post_text"])
        labels = _answered(release, post.get("annotations"), where)
        items.append(
            Item(
                id=str(number),
                text=text,
                labels=labels,
            )
        )
    return Loaded(items)


def _answered(release: Release, annotations: Any, where: str) -> dict[str, float | None]:
    """The symptoms by the answers to the questions of the PHQ-9; a question that is missing is None."""
    questions = release.layout["questions"]
    labels: dict[str, float | None] = dict.fromkeys(questions.values())
    if not isinstance(annotations, list):
        raise release.wrong("the post has no list of annotations", where, code="release.no-labels")

    for place, pair in enumerate(annotations, start=1):
        if not isinstance(pair, list) or len(pair) != 2:
            raise release.wrong(
                f"annotation {place} is not a pair of a question and an answer",
                where,
                code="release.not-an-annotation",
            )

        question, answer = (str(part).strip().casefold() for part in pair)
        # The catalogue names the questions by their first words.
        matching = [name for start, name in questions.items() if question.startswith(start)]
        if not matching or answer not in _ANSWERS:
            raise release.wrong(
                f"annotation {place} is not a question of the PHQ-9 with yes or no",
                where,
                code="release.not-an-annotation",
            )
        labels[matching[0]] = _ANSWERS[answer]
    return labels
