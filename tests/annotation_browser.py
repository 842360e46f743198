"""People with a browser of their own, and what they do on the pages of annotation."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from playwright.sync_api import Browser, Page

from annotation_site import PASSWORD
from psycheck.annotate.accounts import accept, invite
from psycheck.annotate.database import open_database


@contextmanager
def server(url: str) -> Iterator[str]:
    """The address of `psycheck annotate serve` in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "psycheck", "annotate", "serve", url, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            httpx.get(f"{address}/login")
            break
        except httpx.TransportError:
            assert process.poll() is None
            time.sleep(0.1)
    yield address
    process.terminate()
    process.wait()


class Person:
    """Somebody with a browser of their own; whatever it complains about or loads from elsewhere is kept."""

    def __init__(self, browser: Browser, address: str, **settings: Any) -> None:
        self.page: Page = browser.new_context(base_url=address, **settings).new_page()
        self.page.set_default_timeout(60_000)
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "request",
            lambda sent: None if sent.url.startswith(address) else self.complaints.append(sent.url),
        )

    def enter(self, place: str, name: str) -> Page:
        """Log in, or accept an invitation."""
        self.page.goto(place)
        self.page.fill("[name=name]", name)
        self.page.fill("[name=password]", PASSWORD)
        self.page.click("button.main")
        self.page.wait_for_selector("h1:has-text('Projects')")
        return self.page


def add_server_owner(url: str) -> None:
    """A new database with the account of "olga", who may create projects."""
    db = open_database(url, new=True)
    accept(db, invite(db, None, None, "owner"), "olga", PASSWORD)
    db.close()


def create_project_page(page: Page, settings: str) -> None:
    page.click("text=Create a project")
    page.fill("[name=settings]", settings)
    page.click("button.main")
    page.wait_for_selector("text=Labels out")


def import_texts(page: Page, kind: str, rows: list[dict[str, Any]]) -> None:
    lines = "\n".join(map(json.dumps, rows)).encode()
    page.set_input_files("[name=file]", {"name": "rows.jsonl", "mimeType": "text/plain", "buffer": lines})
    page.select_option("[name=kind]", kind)
    page.click("text=Import")
    page.wait_for_selector(f"text={len(rows)} text")


def make_invitation(page: Page, role: str) -> str:
    """The link that the page of members makes."""
    page.click("nav a:has-text('Members')")
    page.select_option("[name=role]", role)
    page.click("text=Make an invitation link")
    return page.inner_text("#link").strip()


def press_answers(page: Page, *answers: bool) -> None:
    """Answer each label with its key: yes, or with Shift no."""
    for number, answer in enumerate(answers, start=1):
        page.keyboard.press(str(number) if answer else f"Shift+Digit{number}")


def go_on(page: Page, text: str) -> None:
    """Save with the keyboard and wait until another text, or no text, is there."""
    page.keyboard.press("Enter")
    page.wait_for_function("text => document.querySelector('.words')?.textContent.trim() !== text", arg=text)


def shown_text(page: Page) -> str:
    return page.inner_text(".words").strip()
