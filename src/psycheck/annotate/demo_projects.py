"""Filled projects to look at: generated texts, and the labels of three generated annotators."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import Any, Final

from psycheck.annotate.accounts import accept, invite, join
from psycheck.annotate.adjudication import conflict, conflicts, resolve
from psycheck.annotate.annotator_answers import Answers, Span, Status
from psycheck.annotate.database import Database
from psycheck.annotate.inspection import batches, correct, finish_inspection, inspected
from psycheck.annotate.membership import Person, Role, create_project, task
from psycheck.annotate.project import Task, parse_project
from psycheck.annotate.queue import Assignment, Nothing, next_item
from psycheck.annotate.submission import skip, submit
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus
from psycheck.corpora.opening import open_corpus

PASSWORD: Final = "psycheck-demo"
ACCOUNTS: Final[Mapping[str, Role]] = {
    "olga": "owner",
    "ada": "annotator",
    "ben": "annotator",
    "cleo": "annotator",
    "ruth": "reviewer",
    "ivo": "adjudicator",
}
_ERROR_RATES: Final = {"ada": 0.04, "ben": 0.08, "cleo": 0.22}  # how often each marks a label wrongly
_CARELESS: Final = 0.2  # the error rate above which an annotator fails a test
_PROJECTS: Final = {"symptoms": "demo:sentences", "conditions": "demo:forum"}  # with their corpora
# Texts per queue.
_TEST: Final = 10
_GOLD: Final = 3
_ITEMS: Final = 40
_LEFT: Final = 12  # items that nobody has seen, so that there is something to do


def fill_demo(db: Database, seed: int = 0) -> tuple[tuple[str, str, str], ...]:
    """Make accounts and two projects with labels; returns name, role and password of each account."""
    # Through the same functions as real people: the demo shows no state that they could not reach.
    owner = accept(db, invite(db, None, None, "owner"), "olga", PASSWORD)
    people = {"olga": owner}
    for name, corpus in _PROJECTS.items():
        settings = files("psycheck.annotate").joinpath(f"demo_{name}.toml").read_text("utf-8")
        project_id = create_project(db, owner, parse_project(settings), settings)
        _add_members(db, owner, project_id, people)
        _fill(db, task(db, owner, project_id), people, open_corpus(corpus), Random(seed))
    return tuple((name, role, PASSWORD) for name, role in ACCOUNTS.items())


def _add_members(db: Database, owner: Person, project_id: int, people: dict[str, Person]) -> None:
    """Let everybody join a project; those who have no account yet are added to `people`."""
    for name, role in ACCOUNTS.items():
        if role == "owner":
            continue
        # Hashing a password takes long: an account is made once and joins the second project.
        token = invite(db, owner, project_id, role)
        if name in people:
            people[name] = join(db, people[name], token)
        else:
            people[name] = accept(db, token, name, PASSWORD)


def _fill(
    db: Database,
    project_task: Task,
    people: Mapping[str, Person],
    corpus: Corpus,
    rng: Random,
) -> None:
    """Import texts, let the annotators answer, and let some of it be inspected and adjudicated."""
    truth: dict[str, Answers] = {}
    for queue in project_task.queues:
        texts = _draw(project_task, queue, corpus, rng)
        # A generated text has one disease: no queue replaces the answers of another.
        truth |= zip(texts.texts, _true_answers(project_task, queue, texts), strict=True)
        _import(db, people["olga"], project_task, queue, texts, truth)

    for name, error_rate in _ERROR_RATES.items():
        for queue in project_task.queues:
            _answer(db, people[name], project_task, queue=queue, truth=truth, error_rate=error_rate, rng=rng)

    _inspect(db, people["ruth"], project_task, truth)
    adjudicator = people["ivo"]
    # Every third: the others wait for whoever tries the demo.
    for item_id in conflicts(db, adjudicator, project_task.id)[::3]:
        text = conflict(db, adjudicator, item_id).text
        resolve(db, adjudicator, item_id, truth[text])


def _draw(project_task: Task, queue: str, corpus: Corpus, rng: Random) -> Corpus:
    """Texts for a queue; the first, for test and gold, have labels and none by turns."""
    if queue:
        corpus = corpus.only([disease == queue for disease in corpus.group("disease")])
    labels = [label for label in project_task.labels(queue) if label in corpus.labels]
    has_label = corpus.targets(labels).sum(axis=1) > 0

    places = list(range(len(corpus)))
    rng.shuffle(places)
    labelled = [place for place in places if has_label[place]]
    unlabelled = [place for place in places if not has_label[place]]
    # A test needs both answers, or guessing could not be told from skill.
    by_turns = [place for pair in zip(labelled, unlabelled, strict=False) for place in pair]

    first = by_turns[: _TEST + _GOLD]
    remaining = [place for place in places if place not in first][:_ITEMS]
    return Corpus(corpus.name, corpus.table[[*first, *remaining]])


def _import(
    db: Database,
    owner: Person,
    project_task: Task,
    queue: str,
    texts: Corpus,
    truth: Mapping[str, Answers],
) -> None:
    """Import the first texts as the test, the next as hidden gold, and all others as items."""
    reasons = {text: _reason(project_task, truth[text]) for text in texts.texts}
    first_item = _TEST + _GOLD
    parts = (
        ("screening", range(_TEST)),
        ("gold", range(_TEST, first_item)),
        ("item", range(first_item, len(texts))),
    )
    for kind, part in parts:
        import_corpus(
            db,
            owner,
            project_task.id,
            texts.only([place in part for place in range(len(texts))]),
            kind=kind,
            queue=queue or None,
            reasons=reasons,
        )


def _true_answers(project_task: Task, queue: str, corpus: Corpus) -> list[Answers]:
    """The truth of generated texts."""
    labels = project_task.labels(queue)
    values = corpus.targets(labels)
    uncertain: Sequence[Any] = [0.0] * len(corpus)
    if "uncertain" in corpus.labels:
        uncertain = corpus.targets(["uncertain"])[:, 0].tolist()

    answers = []
    for row, doubt, text in zip(values, uncertain, corpus.texts, strict=True):
        marks = {label: int(value == 1) for label, value in zip(labels, row, strict=True)}
        positive = [label for label, mark in marks.items() if mark]
        if project_task.project.task == "symptoms":
            status: Status = "uncertain" if doubt > 0.5 else "present"
            answers.append(Answers(marks, status=dict.fromkeys(positive, status)))
        else:
            first_sentence = len(text.split(".")[0])
            spans = tuple(Span(label, 0, first_sentence) for label in positive)
            answers.append(Answers(marks, spans=spans))
    return answers


def _answer(
    db: Database,
    who: Person,
    project_task: Task,
    *,
    queue: str,
    truth: Mapping[str, Answers],
    error_rate: float,
    rng: Random,
) -> None:
    """Answer the test and most items of a queue; a careless annotator fails the test of the last queue."""
    several_queues = len(project_task.queues) > 1
    fails_test = error_rate > _CARELESS and several_queues and queue == project_task.queues[-1]

    for number in range(_TEST + _GOLD + _ITEMS - _LEFT):
        assignment = next_item(db, who, project_task.id, queue)
        if isinstance(assignment, Nothing):
            return
        # Some texts are skipped, so that the owner's pages have some to show.
        if number % 17 == 16:
            skip(db, who, assignment.id)
            continue

        rate = 1.0 if fails_test else _error_rate_for(assignment, error_rate)
        answers = _with_mistakes(project_task, truth[assignment.text], rate, rng)
        submit(
            db,
            who,
            assignment.id,
            answers,
            seconds=rng.uniform(4, 25),
            token=f"demo-{assignment.id:08d}",
        )


def _error_rate_for(assignment: Assignment, error_rate: float) -> float:
    """Nobody makes mistakes in a test, unless they are to fail it."""
    return 0.0 if assignment.stage == "screening" else error_rate


def _with_mistakes(project_task: Task, right: Answers, error_rate: float, rng: Random) -> Answers:
    """Answers with mistakes: a label missed, or one too many."""
    marks = {label: mark if rng.random() >= error_rate else 0 for label, mark in right.marks.items()}
    if rng.random() < error_rate:
        changed_label = rng.choice(list(marks))
        marks[changed_label] = 1 - marks[changed_label]

    status: dict[str, Status] = {}
    if project_task.project.task == "symptoms":
        # A generated text has one status for all its symptoms.
        right_status: Status = next(iter(right.status.values()), "present")
        for label, mark in marks.items():
            if mark:
                status[label] = right_status if rng.random() > 2 * error_rate else "uncertain"

    spans = tuple(span for span in right.spans if marks[span.label])
    return Answers(marks, status=status, spans=spans)


def _inspect(
    db: Database,
    who: Person,
    project_task: Task,
    truth: Mapping[str, Answers],
) -> None:
    """Inspect all batches but the first and the last, which wait."""
    for batch in batches(db, who, project_task.id)[1:-1]:
        # A sample that guessing might have passed grows when it is finished.
        while batch.state == "waiting":
            _, sample = inspected(db, who, batch.id)
            for drawn in sample:
                correct(db, who, drawn.assignment, truth[drawn.text])
            batch = finish_inspection(db, who, batch.id)


def _reason(project_task: Task, answers: Answers) -> str:
    """The reason for the labels of a test item: what each symptom is."""
    descriptions = {
        symptom.name: f"{symptom.title}: {symptom.clinician[0]}" for symptom in project_task.diseases.symptom
    }
    positive = [label for label, mark in answers.marks.items() if mark]
    return " ".join(descriptions.get(label, f"The post tells of {label}.") for label in positive)
