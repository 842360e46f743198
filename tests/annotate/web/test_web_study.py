"""A whole study of 60 posts in a browser, on a laptop and on a phone: from the import to the exports.

Three annotators with evidence, a reviewer, an adjudicator, and a study lead who frees a text, flags another
and exports. `tools/exchange_programs.py` gives the exports to Label Studio and Argilla: with the environment
variable ANNOTATION_STUDY set to a folder, they and a picture of each page stay there.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

from annotation_browser import (
    Person,
    add_server_owner,
    create_project_page,
    go_on,
    import_texts,
    make_invitation,
    press_answers,
    server,
    shown_text,
)
from process import psycheck
from psycheck.annotate.database import database_url

POSTS = 60
TESTS, GOLD, BATCH = 10, 4, 20
ANNOTATORS = ("ada", "ben", "cleo")
LABELS = ("depression", "anxiety")
PROJECT = f"""
name = "study"
title = "Low mood and fear in posts"
task = "conditions"
labels = ["depression", "anxiety"]
annotators_per_item = 3
instructions = "Read the whole post, then answer for each label. Mark the words that made you answer yes."
[descriptions]
depression = "The writer has felt low or empty for most of two weeks."
anxiety = "The writer is afraid, tense or in panic without a danger."
[inspection]
batch = {BATCH}
share = 0.25
[gold]
every = 15
[page]
confidence = true
comment = true
[welfare]
warning = "The posts tell of distress."
break_after = 0
daily_cap = 0
contacts = ["The psychologist of the team"]
"""
# What makes an answer yes. The emoji are two units long for browsers, and one character for us.
EVIDENCE = {"depression": "nothing feels worth doing", "anxiety": "my heart races on every bus"}
LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "device_scale_factor": 2}
_FORMS = (
    "judgements", "evidence", "gold-evidence", "agreement", "trail", "flagged", "any", "majority", "share",
    "adjudicated", "label-studio", "argilla",
)  # fmt: skip


@dataclass(frozen=True)
class Post:
    """A post with its true labels."""

    id: str
    text: str
    truth: tuple[bool, bool]
    author: str

    @property
    def number(self) -> int:
        return int(self.id.partition("-")[2])

    def row(self, **more: Any) -> dict[str, Any]:
        return {"id": self.id, "text": self.text, **more}


def make_posts(kind: str, n: int) -> dict[str, Post]:
    """Posts by text: half of them about depression, a third about anxiety."""
    posts = {}
    for number in range(n):
        truth = number % 2 == 0, number % 3 == 0
        phrases = [EVIDENCE[label] for label, is_true in zip(LABELS, truth, strict=True) if is_true]
        middle = ", and ".join(phrases) or "we repaired the garden fence"
        text = f"{kind} {number} 😶 It was a long week: {middle}. 🌧️ Tomorrow my sister comes to visit."
        posts[text] = Post(f"{kind}-{number}", text, truth, author=f"author-{number % 12}")
    return posts


@dataclass
class Study:
    """The people of a study, what they saw and what they said."""

    people: dict[str, Person]
    posts: dict[str, Post]
    by_touch: bool
    pictures: Path | None
    said: dict[str, dict[str, tuple[bool, bool]]] = field(default_factory=dict)
    marked: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    pages: dict[str, None] = field(default_factory=dict)

    def look(self, name: str, page: Page) -> None:
        """See that a page fits the screen, and keep a picture of it the first time."""
        if name in self.pages:
            return
        self.pages[name] = None
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        if self.by_touch:
            small = page.evaluate(_SMALL_TARGETS)
            assert small == [], name
        if self.pictures is not None:
            width = page.viewport_size["width"] if page.viewport_size else 0
            page.screenshot(path=self.pictures / f"{name}-{width}.png", full_page=True)


_SMALL_TARGETS = """
[...document.querySelectorAll('main button, main a.button, .answers label, label.check')]
  .filter(target => target.offsetParent && target.getBoundingClientRect().height < 43.5)
  .map(target => target.textContent.trim())
"""


def true_answers(post: Post, annotator: str) -> tuple[bool, bool]:
    """What an annotator says: ben overlooks the anxiety of every twelfth post."""
    depression, anxiety = post.truth
    return depression, anxiety and not (annotator == "ben" and post.number % 12 == 0)


def mark_phrase(study: Study, page: Page, label: str, phrase: str) -> None:
    """Mark a phrase as evidence for a label: by two taps, or by drawing over it with the mouse."""
    page.evaluate(
        "label => document.querySelector(`input[name=evidence][value=${label}]`).click()",
        label,
    )
    words = page.locator(".words [data-start]")
    texts = words.all_inner_texts()
    phrase_words = phrase.split()
    n = len(phrase_words)
    first = next(
        place
        for place in range(len(texts))
        if [word.strip(".,:") for word in texts[place : place + n]] == phrase_words
    )
    last = first + n - 1
    if study.by_touch:
        words.nth(first).tap()
        words.nth(last).tap()
        return

    begin, end = words.nth(first).bounding_box(), words.nth(last).bounding_box()
    assert begin is not None
    assert end is not None
    page.mouse.move(begin["x"] + 1, begin["y"] + begin["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - 1, end["y"] + end["height"] / 2)
    page.mouse.up()


def answer_post(study: Study, page: Page, post: Post, name: str) -> None:
    """Answer a post, with evidence where the answer is yes; ben marks less of it than the others."""
    answers = true_answers(post, name)
    marked = {}
    for label, answer in zip(LABELS, answers, strict=True):
        if answer:
            words = EVIDENCE[label].split()
            marked[label] = " ".join(words[:2] if name == "ben" else words)
            mark_phrase(study, page, label, marked[label])
    press_answers(page, *answers)
    study.marked[name][post.id] = marked
    study.said[name][post.id] = answers


def take_test(study: Study, page: Page) -> None:
    page.wait_for_selector("h1:has-text('screening test')")
    for _ in range(TESTS):
        text = shown_text(page)
        study.look("screening-text", page)
        press_answers(page, *study.posts[text].truth)
        go_on(page, text)
    page.wait_for_selector("h1:has-text('100 of 100')")
    study.look("screening-result", page)
    page.click("text=Begin to label")


def annotate_all(study: Study, name: str) -> None:
    """Answer until nothing is left; ada skips a post, and cleo says that another identifies somebody."""
    page = study.people[name].page
    page.wait_for_selector(".words")
    while page.locator(".words").count():
        text = shown_text(page)
        post = study.posts[text]
        if name == "ada" and post.id == "post-5" and "freed" not in study.pages:
            page.keyboard.press("s")
            page.wait_for_function(
                "text => document.querySelector('.words')?.textContent.trim() !== text", arg=text
            )
            continue
        answer_post(study, page, post, name)
        if name == "cleo" and post.id == "post-7":
            page.keyboard.press("i")
        if post.id == "post-0":
            page.locator("[name=confidence][value='3']").check(force=True)
            page.fill("[name=comment]", "Both are said plainly.")
            study.look(f"work-{name}", page)
            page.locator("h1").first.click()
        go_on(page, text)
    page.wait_for_selector("text=All done")
    study.look("all-done", page)


def inspect_batches(study: Study) -> int:
    """The reviewer answers the samples of all batches as they truly are; returns how many batches."""
    page = study.people["ruth"].page
    page.goto("/p/study/batches")
    batches = 0
    while page.locator("caption", has_text="Waiting").count():
        study.look("batches", page)
        page.locator("table", has=page.locator("caption", has_text="Waiting")).locator("a").first.click()
        while page.locator("#finish button.main").count():
            while page.locator("a.main").count():
                study.look("batch", page)
                page.click("a.main")
                while page.locator("#answer").count():
                    study.look("inspect", page)
                    press_answers(page, *study.posts[shown_text(page)].truth)
                    with page.expect_navigation():
                        page.keyboard.press("Enter")
            study.look("batch-inspected", page)
            with page.expect_navigation():
                page.click("text=Finish the inspection")
        batches += 1
        page.goto("/p/study/batches")
    return batches


def resolve_conflicts(study: Study) -> dict[str, tuple[bool, bool]]:
    """The adjudicator decides each conflict by the truth, and takes over the evidence of one annotator."""
    page = study.people["ivo"].page
    page.goto("/p/study/conflicts")
    study.look("conflicts", page)
    resolved = {}
    page.click("text=Resolve the first")
    while page.locator("#answer").count():
        post = study.posts[shown_text(page)]
        press_answers(page, *post.truth)
        for label in LABELS:
            title = label.capitalize()
            said = page.locator(".spans li", has_text=re.compile(f"{title}, .*{EVIDENCE[label]}"))
            said.locator("button").first.click()
        assert page.locator("#span-list li").count() == len(LABELS)
        study.look("conflict", page)
        resolved[post.id] = post.truth
        with page.expect_navigation():
            page.click("button.main")
    return resolved


@pytest.fixture
def pictures() -> Path | None:
    """Where exports and pictures stay, if anywhere."""
    folder = os.environ.get("ANNOTATION_STUDY")
    if folder is None:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)


@pytest.mark.slow
@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["1280", "390"])
def test_a_study_of_60_posts_from_import_to_export(
    chromium: Browser, screen: dict[str, Any], tmp_path: Path, pictures: Path | None
) -> None:
    url = database_url(tmp_path / "annotate")
    add_server_owner(url)
    posts, tests, gold = (
        make_posts(kind, n) for kind, n in (("post", POSTS), ("test", TESTS), ("gold", GOLD))
    )
    with server(url) as address:
        names = ("olga", *ANNOTATORS, "ruth", "ivo")
        study = Study(
            people={name: Person(chromium, address, **screen) for name in names},
            posts={**posts, **tests, **gold},
            by_touch="has_touch" in screen,
            pictures=pictures,
            said={name: {} for name in ANNOTATORS},
            marked={name: {} for name in ANNOTATORS},
        )
        owner = study.people["olga"].page
        study.people["olga"].page.goto("/login")
        study.look("login", owner)
        study.people["olga"].enter("/login", "olga")
        study.look("projects", owner)
        set_up(study, owner, posts, tests, gold)

        for name in ANNOTATORS:
            page = study.people[name].page
            page.click("text=Low mood and fear in posts")
            study.look("home", page)
            page.click("a.button:has-text('Begin')")
            take_test(study, page)
            annotate_all(study, name)
        free_skipped_text(study, owner)
        batches = inspect_batches(study)
        resolved = resolve_conflicts(study)
        files = export_all(study, owner, tmp_path)
        assert {name: person.complaints for name, person in study.people.items() if person.complaints} == {}

    assert batches == len(ANNOTATORS) * POSTS // BATCH
    assert set(resolved) == {f"post-{number}" for number in range(0, POSTS, 12)}
    check_exports(study, files, resolved)
    if pictures is not None:
        keep_for_other_programs(url, tmp_path, pictures / f"exports-{screen['viewport']['width']}")


def set_up(
    study: Study,
    owner: Page,
    posts: dict[str, Post],
    tests: dict[str, Post],
    gold: dict[str, Post],
) -> None:
    """Make the project, import all texts, and let everybody in."""
    create_project_page(owner, PROJECT)
    for kind, known in (("screening", tests), ("gold", gold)):
        rows = [
            post.row(depression=int(post.truth[0]), anxiety=int(post.truth[1]), why=f"why {post.id}")
            for post in known.values()
        ]
        import_texts(owner, kind, rows)
    import_texts(owner, "item", [post.row(author=post.author) for post in posts.values()])
    study.look("dashboard-empty", owner)
    roles = {**dict.fromkeys(ANNOTATORS, "annotator"), "ruth": "reviewer", "ivo": "adjudicator"}
    for name, role in roles.items():
        link = make_invitation(owner, role)
        study.look("members", owner)
        study.people[name].page.goto(link)
        study.look("invitation", study.people[name].page)
        study.people[name].enter(link, name)


def free_skipped_text(study: Study, owner: Page) -> None:
    """The lead finds the text that ada skipped and offers it again; ada answers it now."""
    owner.goto("/p/study/dashboard")
    owner.wait_for_selector("text=everybody who may label it has answered or skipped it")
    owner.goto("/p/study/texts?state=stuck")
    study.look("texts", owner)
    owner.click("text=post-5")
    study.look("text", owner)
    owner.click("button[value=free]")
    study.pages["freed"] = None
    ada = study.people["ada"].page
    ada.goto("/p/study/work")
    annotate_all(study, "ada")


def export_all(study: Study, owner: Page, folder: Path) -> dict[str, Path]:
    """The lead looks at the pages of figures and downloads every export."""
    owner.goto("/p/study/dashboard")
    owner.wait_for_selector("#agreement svg")
    study.look("dashboard", owner)
    for name in ("settings", "agreement"):
        owner.goto(f"/p/study/{name}")
        study.look(name, owner)
    owner.goto("/account")
    study.look("account", owner)

    files = {}
    for form in _FORMS:
        # Chromium lets one page start ten downloads.
        owner.goto("/p/study/dashboard")
        with owner.expect_download() as download:
            owner.click(f"a[href$='/export/{form}']")
        files[form] = folder / f"{form}.{'json' if form in ('label-studio', 'argilla') else 'jsonl'}"
        download.value.save_as(files[form])
    return files


def records(file: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, file.read_text("utf-8").splitlines())


def check_exports(study: Study, files: dict[str, Path], resolved: dict[str, tuple[bool, bool]]) -> None:
    """Every export holds what was said on the pages, without the post that was flagged."""
    by_id = {post.id: post for post in study.posts.values()}
    expected = {
        (name, id_, label): int(answer)
        for name, said in study.said.items()
        for id_, answers in said.items()
        for label, answer in zip(LABELS, answers, strict=True)
        if id_.startswith("post-") and id_ != "post-7"
    }
    assert len(expected) == 59 * 3 * 2
    rows = pl.read_ndjson(files["judgements"]).to_dicts()
    assert {(row["annotator"], row["item"], row["label"]): row["value"] for row in rows} == expected
    assert [record["item"] for record in records(files["flagged"])] == ["post-7"]

    # The words that were marked are the words that come out, whoever counts emoji how.
    marked = {
        (record["annotator"], record["item"]): {
            span["label"]: by_id[record["item"]].text[span["start"] : span["stop"]].strip(".,:")
            for span in record["spans"]
        }
        for record in records(files["evidence"])
        if record["annotator"] in ANNOTATORS
    }
    for name in ANNOTATORS:
        for id_, phrases in study.marked[name].items():
            if phrases and (name, id_, LABELS[0]) in expected:
                assert marked[name, id_] == phrases, (name, id_)

    # Two of three marked the whole phrase: it stands. The adjudicator's stands where there is one.
    standing = {(record["item"], record["label"]): record for record in records(files["gold-evidence"])}
    for (id_, label), record in standing.items():
        (span,) = record["spans"]
        assert by_id[id_].text[span["start"] : span["stop"]].strip(".,:") == EVIDENCE[label]
        assert record["by"] == ("adjudicator" if id_ in resolved else "majority")
    positive = sum(sum(post.truth) for post in study.posts.values() if post.id.startswith("post-"))
    assert len(standing) == positive - sum(by_id["post-7"].truth)

    gold = pl.read_ndjson(files["adjudicated"])
    truth = {post.text: post.truth for post in study.posts.values()}
    for row in gold.to_dicts():
        assert (bool(row["label:depression"]), bool(row["label:anxiety"])) == truth[row["text"]]
    assert gold.height == 59
    tasks = json.loads(files["label-studio"].read_text("utf-8"))
    assert len(tasks) == 59


def keep_for_other_programs(url: str, folder: Path, kept: Path) -> None:
    """Write the exports for Label Studio and Argilla with what belongs to them."""
    kept.mkdir(exist_ok=True)
    for form, name in (("label-studio", "tasks.json"), ("argilla", "records.json")):
        command = ("annotate", "export", url, form, "--out", str(kept / name), "--force")
        done = psycheck(folder, *command)
        assert done.returncode == 0, done.stderr
