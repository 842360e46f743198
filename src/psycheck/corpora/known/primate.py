"""PRIMATE 2022: Reddit posts annotated for which questions of the PHQ-9 they answer.

`primate_dataset.json` is a list of objects with `post_title`, `post_text` and `annotations`: nine pairs of a
question and "yes" or "no", as the owners' repository shows. The labels are the nine symptoms under the names
that psycheck uses; 1 means that the post answers the question, which is not the same as having the symptom.
"""

from typing import Any

from psycheck.corpora.known.release import Item, Loaded, Release, joined

_ANSWERS = {"yes": 1.0, "no": 0.0}


def load(release: Release) -> Loaded:
    """One text for each post: its title and its words."""
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
        items.append(Item(str(number), text, _labels(release, post.get("annotations"), where)))
    return Loaded(items)


def _labels(release: Release, annotations: Any, where: str) -> dict[str, float | None]:
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
