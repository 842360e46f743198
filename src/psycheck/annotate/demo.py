"""Filled projects to look at: generated texts, and the labels of three generated annotators."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from random import Random
from typing import Final

from psycheck.annotate.accounts import accept, invite, join
from psycheck.annotate.adjudication import conflict, conflicts, resolve
from psycheck.annotate.answers import Answers, Span, Status
from psycheck.annotate.database import Database
from psycheck.annotate.inspection import batches, correct, finish_inspection, inspected
from psycheck.annotate.membership import Person, Role, create_project, task
from psycheck.annotate.project import Task, parse_project
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.submission import skip, submit
from psycheck.annotate.transfer import import_corpus
from psycheck.corpora.open import open_corpus
from psycheck.corpus import Corpus

PASSWORD: Final = "psycheck-demo"
ACCOUNTS: Final[Mapping[str, Role]] = {
    "olga": "owner",
    "ada": "annotator",
    "ben": "annotator",
    "cleo": "annotator",
    "ruth": "reviewer",
    "ivo": "adjudicator",
}
_ERRORS: Final = {"ada": 0.04, "ben": 0.08, "cleo": 0.22}  # how often each marks a label wrongly
_TEST, _GOLD, _ITEMS = 4, 3, 40  # per queue
_KINDS: Final = ("screening", "gold", "item")
_LEFT: Final = 12  # items per queue that nobody has seen, so that there is something to do


def fill_demo(db: Database, seed: int = 0) -> tuple[tuple[str, str, str], ...]:
    """Make accounts and two projects with labels; returns name, role and password of each account."""
    owner = accept(db, invite(db, None, None, "owner"), "olga", PASSWORD)
    people = {"olga": owner}
    for name, corpus in (("symptoms", "demo:sentences"), ("conditions", "demo:forum")):
        text = files("psycheck.annotate").joinpath(f"demo_{name}.toml").read_text("utf-8")
        made = task(db, owner, create_project(db, owner, parse_project(text), text))
        for one, role in ACCOUNTS.items():
            if role != "owner":
                token = invite(db, owner, made.id, role)
                people[one] = (
                    join(db, people[one], token) if one in people else accept(db, token, one, PASSWORD)
                )
        _fill(db, made, people, open_corpus(corpus), Random(seed))
    return tuple((name, role, PASSWORD) for name, role in ACCOUNTS.items())


def _fill(db: Database, of: Task, people: Mapping[str, Person], corpus: Corpus, rng: Random) -> None:
    """Import texts, let the annotators answer, and let some of it be inspected and adjudicated."""
    truth: dict[str, Answers] = {}
    for queue in of.queues:
        texts = _drawn(of, queue, corpus, rng)
        truth |= zip(texts.texts, _known(of, queue, texts), strict=True)
        reasons = {text: _why(of, truth[text]) for text in texts.texts}
        ends = (_TEST, _TEST + _GOLD, len(texts))
        for kind, start, end in zip(_KINDS, (0, *ends), ends, strict=False):
            keep = [start <= place < end for place in range(len(texts))]
            import_corpus(
                db, people["olga"], of.id, texts.only(keep), kind=kind, queue=queue or None, reasons=reasons
            )
    for name, errors in _ERRORS.items():
        for queue in of.queues:
            _answer(db, people[name], of, queue, truth, errors, rng)
    _inspect(db, people["ruth"], of)
    for item in conflicts(db, people["ivo"], of.id)[::3]:
        resolve(db, people["ivo"], item, truth[conflict(db, people["ivo"], item).text])


def _drawn(of: Task, queue: str, corpus: Corpus, rng: Random) -> Corpus:
    """Texts for a queue, in an order that puts clear examples of its labels first, for test and gold."""
    if queue:
        corpus = corpus.only([one == queue for one in corpus.group("disease")])
    labels = [label for label in of.labels(queue) if label in corpus.labels]
    clear = corpus.targets(labels).sum(axis=1) > 0
    places = list(range(len(corpus)))
    rng.shuffle(places)
    first = [place for place in places if clear[place]][: _TEST + _GOLD]
    rest = [place for place in places if place not in first][:_ITEMS]
    return Corpus(corpus.name, corpus.table[[*first, *rest]])


def _known(of: Task, queue: str, corpus: Corpus) -> Iterator[Answers]:
    """The truth of generated texts."""
    labels = of.labels(queue)
    values = corpus.targets(labels)
    unsure = corpus.targets(["uncertain"])[:, 0] if "uncertain" in corpus.labels else values[:, 0] * 0
    for row, doubt, text in zip(values, unsure, corpus.texts, strict=True):
        marks = {label: int(value == 1) for label, value in zip(labels, row, strict=True)}
        status: Status = "uncertain" if doubt > 0.5 else "present"
        yes = [label for label, mark in marks.items() if mark]
        if of.project.task == "symptoms":
            yield Answers(marks, dict.fromkeys(yes, status))
        else:
            yield Answers(marks, spans=tuple(Span(label, 0, len(text.split(".")[0])) for label in yes))


def _answer(
    db: Database, who: Person, of: Task, queue: str, truth: Mapping[str, Answers], errors: float, rng: Random
) -> None:
    """Answer the test and most items of a queue; a careless annotator fails the test of the last queue."""
    fails = errors > 0.2 and queue == of.queues[-1] and len(of.queues) > 1
    for number in range(_TEST + _GOLD + _ITEMS - _LEFT):
        given = next_item(db, who, of.id, queue)
        if isinstance(given, Nothing):
            return
        if number % 17 == 16:
            skip(db, who, given.id)
            continue
        answers = _mistaken(
            of, truth[given.text], 1.0 if fails else errors * (given.stage != "screening"), rng
        )
        submit(db, who, given.id, answers, seconds=rng.uniform(4, 25), token=f"demo-{given.id:08d}")


def _mistaken(of: Task, right: Answers, errors: float, rng: Random) -> Answers:
    """Answers with mistakes: a label missed, or one too many."""
    marks = {label: mark if rng.random() >= errors else 0 for label, mark in right.marks.items()}
    if rng.random() < errors:
        marks[rng.choice(list(marks))] ^= 1
    yes = [label for label, mark in marks.items() if mark]
    status: dict[str, Status] = {}
    if of.project.task == "symptoms":
        usual: Status = next(iter(right.status.values()), "present")
        status = {label: usual if rng.random() > 2 * errors else "uncertain" for label in yes}
    return Answers(marks, status, tuple(one for one in right.spans if marks[one.label]))


def _inspect(db: Database, who: Person, of: Task) -> None:
    """Find nothing wrong with any batch but the first and the last, which wait."""
    for batch in batches(db, who, of.id)[1:-1]:
        for sample in inspected(db, who, batch.id)[1]:
            correct(db, who, sample.assignment, sample.given)
        finish_inspection(db, who, batch.id)


def _why(of: Task, answers: Answers) -> str:
    """The reason for the labels of a test item: what each symptom is."""
    about = {one.name: f"{one.title}: {one.clinician[0]}" for one in of.diseases.symptom}
    yes = [about.get(label, f"The post tells of {label}.") for label, mark in answers.marks.items() if mark]
    return " ".join(yes)
