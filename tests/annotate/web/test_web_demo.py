"""`psycheck annotate demo`: every page of every role has something to show."""

import tomllib

import pytest

from annotation_site import Browser, served
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.demo_projects import ACCOUNTS, PASSWORD, fill_demo
from psycheck.annotate.web.pages import HERE, PATTERNS

PAGES = {
    "ada": {
        "/": "Symptoms in sentences",
        "/p/symptoms": "Worked examples",
        "/p/symptoms/about?queue=anxiety": "19 symptoms",
        "/p/symptoms/work?queue=depression": "Which symptoms is the sentence about",
        "/p/symptoms/work?queue=depression&before=0": "your answer",
        "/p/symptoms/screening?queue=depression": "passed: 100 of 100",
        "/p/conditions/work": "Contains identifying details",
    },
    "cleo": {"/p/symptoms/screening?queue=anxiety": "not passed"},
    "ruth": {"/p/symptoms/batches": "accepted", "/p/conditions/batches": "Waiting for inspection"},
    "ivo": {"/p/symptoms/conflicts": "Resolve the first", "/p/conditions/conflicts": "Resolve the first"},
    "olga": {
        "/p/symptoms/dashboard": "Hidden gold",
        # Fewer than 60 texts with the rarer answer: the value has no interval.
        "/p/conditions/agreement": "class=&#34;dot&#34;",
        "/p/conditions/texts?state=conflict": "forum-",
        "/p/conditions/members": "Make an invitation link",
        "/p/conditions/settings": "version 1",
        "/p/symptoms/export/share": '"label:sleep_disturbance"',
        "/new": "name = ",
    },
}


def test_every_page_of_the_demo_has_content(tmp_path_factory: pytest.TempPathFactory) -> None:
    db = open_database(database_url(tmp_path_factory.mktemp("demo")), new=True)
    accounts = fill_demo(db)
    assert [(name, role) for name, role, _ in accounts] == list(ACCOUNTS.items())
    with served(db) as address:
        for name, pages in PAGES.items():
            browser = Browser(address)
            browser.post("/login", name=name, password=PASSWORD).raise_for_status()
            for path, words in pages.items():
                shown = browser.get(path)
                assert shown.status_code == 200, (name, path)
                assert words.replace("&#34;", '"') in shown.text, (name, path)
    db.close()


def _luminance(colour: str) -> float:
    colour = colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast_in_both_schemes(scheme: int) -> None:
    style = (HERE / "static" / "app.css").read_text("utf-8").split(":root {")[1 + scheme].split("}")[0]
    pairs = (part.split(":") for part in style.replace("\n", "").split(";") if "--" in part)
    colours = {name.strip().removeprefix("--"): value.strip() for name, value in pairs}
    grounds = {"pale": "ink", "blue": "on-blue", **{f"e{pattern}": "on-mark" for pattern in range(PATTERNS)}}
    grounds |= dict.fromkeys(("ground", "wash"), "ink soft blue orange")
    for ink, ground in [(ink, ground) for ground, inks in grounds.items() for ink in inks.split()]:
        low, high = sorted((_luminance(colours[ink]), _luminance(colours[ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


def test_the_access_table_names_known_roles_only() -> None:
    table = tomllib.loads((HERE / "access.toml").read_text("utf-8"))["access"]
    known = {"anyone", "account", "server", "annotator", "reviewer", "adjudicator", "owner"}
    assert {one for who in table.values() for one in who} <= known
