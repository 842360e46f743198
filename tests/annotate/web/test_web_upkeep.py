"""What an owner does while a project runs, on its pages in a real browser, and what annotators see of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from annotation_browser import Person, make_invitation
from annotation_site import PASSWORD, served
from psycheck.annotate.accounts import accept, invite
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.membership import create_project
from psycheck.annotate.project import parse_project
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus

SETTINGS = """
name = "symptoms"
title = "Symptoms in sentences"
task = "symptoms"
diseases = ["depression"]
annotators_per_item = 1
[welfare]
break_after = 0
daily_cap = 50
"""
SENTENCES = ("I cannot sleep.", "We went to the lake and could not sleep.", "She sleeps until noon.")


@pytest.fixture
def people(chromium: Browser, tmp_path: Path) -> Iterator[tuple[Page, Page]]:
    """The pages of an owner and of an annotator who has a sentence before them."""
    db = open_database(database_url(tmp_path / "annotate"), new=True)
    olga = accept(db, invite(db, None, None, "owner"), "olga", PASSWORD)
    project = create_project(db, olga, parse_project(SETTINGS), SETTINGS)
    ids = [f"s{number}" for number in range(len(SENTENCES))]
    authors = ["first", "second", "second"]
    import_corpus(db, olga, project, Corpus.of("ours", SENTENCES, ids=ids, author=authors))
    accept(db, invite(db, olga, project, "annotator"), "ada", PASSWORD)
    with served(db) as address:
        owner = Person(chromium, address).enter("/login", "olga")
        annotator = Person(chromium, address, timezone_id="Asia/Tokyo").enter("/login", "ada")
        annotator.goto("/p/symptoms/work?queue=depression")
        yield owner, annotator
        owner.context.close()
        annotator.context.close()
    db.close()


def test_new_settings_are_a_version_and_reach_the_work_page(people: tuple[Page, Page]) -> None:
    owner, annotator = people
    assert annotator.locator(".labels .hit").count() == 1
    assert annotator.inner_text(".meter span") == "0 done · 50 texts left today"

    owner.goto("/p/symptoms/settings")
    changed = SETTINGS.replace("daily_cap = 50", "daily_cap = 20")
    more = '[page]\nhints = false\n[descriptions]\nsleep_disturbance = "Also too much sleep."\n'
    owner.fill("[name=settings]", changed + more)
    owner.click("text=Save as a new version")
    owner.wait_for_selector("h1:has-text('version 2')")
    owner.click("details summary")
    assert "daily_cap = 50" in owner.inner_text("details pre")

    annotator.reload()
    assert annotator.locator(".labels .hit").count() == 0
    assert annotator.inner_text(".meter span") == "0 done · 20 texts left today"
    annotator.click("button[data-about=about-sleep_disturbance]")
    assert annotator.is_visible("text=Also too much sleep.")

    # A mistake is explained, and what was typed is kept.
    owner.fill("[name=settings]", changed.replace("task = ", "tasks = "))
    owner.click("text=Save as a new version")
    owner.wait_for_selector("div[role=alert]")
    assert "tasks = " in owner.input_value("[name=settings]")


def test_members_are_paused_given_passwords_and_removed(people: tuple[Page, Page]) -> None:
    owner, annotator = people
    owner.goto("/p/symptoms/members")
    ada = owner.locator("tr", has_text="ada")
    ada.locator("button[value=pause]").click()
    annotator.reload()
    assert annotator.locator("#answer").count() == 0
    owner.locator("tr", has_text="ada").locator("button[value=resume]").click()
    annotator.reload()
    assert annotator.locator("#answer").count() == 1

    # The link of the owner sets a new password once, and logs in.
    owner.locator("tr", has_text="ada").locator("button[value=password]").click()
    link = owner.inner_text("#link").strip()
    annotator.goto(link)
    annotator.fill("[name=password]", "a new password of ada")
    annotator.click("button.main")
    annotator.wait_for_selector("h1:has-text('Projects')")
    assert annotator.goto(link).status == 404  # type: ignore[union-attr] # a page that answers

    invitation = make_invitation(owner, "reviewer")
    owner.locator("table", has_text="Invitations that nobody has used").locator("button").click()
    owner.wait_for_selector("text=Invitations that nobody has used", state="detached")
    assert annotator.goto(invitation).status == 404  # type: ignore[union-attr] # a page that answers

    owner.locator("tr", has_text="ada").locator("button[value=remove]").click()
    owner.wait_for_selector("tr:has-text('ada')", state="detached")
    assert annotator.goto("/p/symptoms").status == 404  # type: ignore[union-attr] # a page that answers


def test_texts_are_searched_and_erased_and_the_project_ends(people: tuple[Page, Page]) -> None:
    owner, annotator = people
    annotator.locator("[name=relevant][value=sleep_disturbance]").check()
    annotator.keyboard.press("i")
    annotator.keyboard.press("Enter")
    annotator.wait_for_selector("text=1 done")

    owner.goto("/p/symptoms/texts")
    assert owner.locator("tbody tr").count() == len(SENTENCES)
    for field, value in (("label", "sleep_disturbance"), ("annotator", "ada"), ("state", "flagged")):
        owner.goto("/p/symptoms/texts")
        owner.select_option(f"[name={field}]", value)
        owner.click("text=Search")
        assert owner.locator("tbody tr").count() == 1, field
    owner.click("tbody a")
    assert owner.is_visible("text=Sleep disturbance")

    # Nothing is erased unless the owner says to be sure.
    owner.click("button[value=erase]")
    assert owner.is_visible("text=Nothing was erased")
    owner.check("[name=sure]")
    owner.click("button[value=erase]")
    owner.wait_for_selector("h1:has-text('Texts')")
    assert owner.locator("tbody tr").count() == len(SENTENCES) - 1
    owner.fill("[name=author]", "second")
    owner.check("[name=sure]")
    owner.click("text=Erase >> nth=-1")
    owner.wait_for_selector("text=erased.")

    owner.goto("/p/symptoms/settings")
    owner.click("text=End the project >> nth=-1")
    owner.wait_for_selector("text=Open the project")
    annotator.goto("/p/symptoms/work?queue=depression")
    assert annotator.locator("#answer").count() == 0

    # All pages in another language, until somebody chooses again.
    annotator.click("button[value=de]")
    assert annotator.get_attribute("html", "lang") == "de"
