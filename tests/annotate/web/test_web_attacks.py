"""What strangers, colleagues and their files cannot do."""

import asyncio
import json
import re
import time
from html.parser import HTMLParser
from io import BytesIO
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from annotation_site import HOSTILE, PASSWORD, Browser, World, served
from psycheck.annotate.membership import ROLES
from psycheck.annotate.tables import member, person
from psycheck.annotate.web.access import ACCESS
from psycheck.annotate.web.guard import SMALL_BODY

VISITORS = ("", "x-owner", *ROLES)


def _path(page: str, world: World) -> tuple[str, str]:
    method, _, path = page.partition(" ")
    known = {**world.at, "project": "conditions", "token": "guess", "form": "judgements", "name": "app.css"}
    return method, path.format(**known) + (
        "?queue=" if path.endswith(("/work", "/about", "/screening")) else ""
    )


def _sent(browser: Browser, method: str, path: str, **fields: str) -> httpx.Response:
    return browser.get(path) if method == "GET" else browser.post(path, **fields)


@pytest.fixture(scope="module")
def browsers(world: World) -> dict[str, Browser]:
    return {name: world.browser(name) for name in VISITORS}


@pytest.mark.parametrize("page", sorted(ACCESS))
def test_every_page_for_every_role_and_for_nobody(
    page: str, world: World, browsers: dict[str, Browser]
) -> None:
    method, path = _path(page, world)
    who = ACCESS[page]
    for name in VISITORS:
        browser = world.browser(name) if page == "POST /logout" else browsers[name]
        code = _sent(browser, method, path).status_code
        if "anyone" in who:
            expected = code not in (401, 403, 405) and code < 500
        elif name == "":
            expected = code == (303 if method == "GET" else 401)
        elif who == ("account",):
            expected = code in (200, 303, 400)  # 400: a form without its fields
        elif who == ("server",):
            expected = code in (200, 400) if name.endswith("owner") else code == 403
        elif name == "x-owner":
            expected = code == 404
        elif name in who:
            expected = code not in (401, 403, 405) and code < 500
        else:
            expected = code == 403
        assert expected, (page, name, code)


@pytest.mark.parametrize("page", sorted(page for page in ACCESS if page.startswith("POST")))
def test_a_form_without_a_token_or_with_that_of_another_session_is_refused(
    page: str, world: World, browsers: dict[str, Browser]
) -> None:
    _, path = _path(page, world)
    name = next((role for role in ROLES if role in ACCESS[page]), "owner")
    for stolen in ("", "x", browsers["x-owner"].csrf, "é" * 20):
        refused = browsers[name].post(path, csrf=stolen, name="owner", password=PASSWORD)
        assert refused.status_code == 403, (page, stolen)


def test_a_visitor_cannot_log_in_with_the_token_of_another_visitor(world: World) -> None:
    one, other = world.browser(), world.browser()
    one.token()
    assert one.post("/login", csrf=other.token(), name="owner", password=PASSWORD).status_code == 403
    bare = httpx.post(
        f"{world.address}/login", data={"csrf": other.token(), "name": "owner", "password": PASSWORD}
    )
    assert bare.status_code == 403


def test_a_session_that_a_stranger_planted_is_worth_nothing_after_the_log_in(world: World) -> None:
    browser = world.browser("second")
    planted = dict(browser.cookies)
    victim = world.browser()
    for cookie in browser.cookies.jar:
        victim.cookies.jar.set_cookie(cookie)
    victim.csrf = browser.csrf
    victim.post("/login", name="annotator", password=PASSWORD)
    assert victim.cookies["psycheck-session"] != planted["psycheck-session"]
    assert httpx.get(f"{world.address}/", cookies=planted).status_code == 303


def test_logging_out_ends_the_session_on_the_server(world: World) -> None:
    browser = world.browser("second")
    kept = dict(browser.cookies)
    assert browser.post("/logout").status_code == 303
    assert httpx.get(f"{world.address}/", cookies=kept).headers["location"] == "/login"


def test_the_cookie_is_signed_and_out_of_reach_of_scripts_and_other_sites(world: World) -> None:
    browser = world.browser()
    answer = httpx.Client.post(
        browser, "/login", data={"csrf": browser.token(), "name": "second", "password": PASSWORD}
    )
    cookie = next(one for one in answer.headers.get_list("set-cookie") if "session" in one)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    value = browser.cookies["psycheck-session"]
    for forged in (value[:-1], value.rpartition(".")[0], "x" + value):
        assert httpx.get(f"{world.address}/", cookies={"psycheck-session": forged}).status_code == 303


def test_failed_log_ins_are_slowed_down_and_say_nothing_of_the_name(world: World) -> None:
    browser = world.browser()
    answers = [browser.post("/login", name=name, password="wrong").text for name in ("spare", "nobody")]
    assert all("the name or the password is wrong" in one for one in answers)
    codes = [browser.post("/login", name="spare", password="wrong").status_code for _ in range(6)]
    assert codes[-1] == 429
    assert browser.post("/login", name="spare", password=PASSWORD).status_code == 429


class _Page(HTMLParser):
    """What a browser would run or load from a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def _assert_harmless(answer: httpx.Response) -> None:
    page = _Page(answer.text)
    scripts = [attributes.get("src") for tag, attributes in page.found if tag == "script"]
    assert scripts in ([], ["/static/htmx.min.js", "/static/app.js"])
    for tag, attributes in page.found:
        assert tag not in ("img", "iframe", "object", "style", "base"), tag
        assert not [name for name in attributes if name.startswith(("on", "style", "hx-on"))], attributes
        for name in ("href", "src", "action", "hx-get", "hx-post"):
            assert (attributes.get(name) or "/").startswith(("/", "#")), attributes
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"


def test_script_in_posts_names_and_project_files_stays_text(
    world: World, browsers: dict[str, Browser]
) -> None:
    shown = 0
    for page, who in ACCESS.items():
        name = next((role for role in ROLES if role in who), "owner")
        if page == "GET /healthz":
            continue
        if page.startswith("GET") and "/export/" not in page and "/static/" not in page:
            answer = browsers[name].get(_path(page, world)[1])
            _assert_harmless(answer)
            shown += "&lt;script&gt;alert(1)" in answer.text
    assert shown >= 8  # the hostile text was on these pages


def test_script_in_imports_and_names_stays_text(world: World, browsers: dict[str, Browser]) -> None:
    owner = browsers["owner"]
    rows = json.dumps(
        {"text": f"imported {HOSTILE}", "label:depression": 1, "group:disease": HOSTILE, HOSTILE: "x"}
    )
    for kind, name in (("item", f"{HOSTILE}.jsonl"), ("gold", "a.jsonl"), (HOSTILE, "a.jsonl")):
        _assert_harmless(owner.post("/p/conditions/import", kind=kind, files={"file": (name, rows)}))
    _assert_harmless(owner.post("/p/conditions/members", role=HOSTILE))
    _assert_harmless(owner.post("/new", settings=f"name = '''{HOSTILE}'''"))
    _assert_harmless(world.browser().post("/login", name=HOSTILE, password=HOSTILE))
    link = owner.post("/p/conditions/members", role="annotator").text
    token = re.findall(r"/invitation/([\w-]+)", link)[0]
    refused = world.browser().post(f"/invitation/{token}", name=HOSTILE, password=PASSWORD)
    assert refused.status_code == 400
    _assert_harmless(refused)


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2fapp.py", "%2e%2e/access.toml", "/etc/passwd", "app.css%00", "."]
)
def test_no_path_leaves_the_folder(name: str, world: World, browsers: dict[str, Browser]) -> None:
    for place in ("/static", "/p/conditions/export", "/p/conditions/export/any/.."):
        answer = browsers["owner"].get(f"{place}/{name}")
        assert answer.status_code in (303, 404), (place, name)
        assert "import" not in answer.text


def test_the_name_of_an_upload_is_never_a_path(world: World, browsers: dict[str, Browser]) -> None:
    rows = json.dumps({"id": "evil", "text": "harmless"})
    answer = browsers["owner"].post(
        "/p/conditions/import", kind="item", files={"file": ("../../../tmp/evil.jsonl", rows)}
    )
    assert answer.status_code == 200
    assert "1 text added" in answer.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b"{" * 5000),
        ("a.jsonl", b"\xff\xfe\x00\x01"),
        ("a.csv", b""),
        ("a.csv", b"a,b\n1,2,3\n"),
        ("a.parquet", b"PAR1" + b"\x00" * 64),
        ("a.exe", b"MZ"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfd" + b"\x00" * 32),
        ("a.toml", b"x = 1"),
        ("", b"text\nhello\n"),
    ],
)
def test_malformed_imports_are_explained_without_a_place_on_the_server(
    name: str, content: bytes, world: World, browsers: dict[str, Browser]
) -> None:
    answer = browsers["owner"].post(
        "/p/conditions/import", kind="item", files={"file": (name, BytesIO(content))}
    )
    assert answer.status_code == 400
    assert "/tmp" not in answer.text


def test_large_bodies_are_refused_unless_an_owner_imports(world: World, browsers: dict[str, Browser]) -> None:
    large = "x" * (SMALL_BODY + 1)
    assert browsers["annotator"].post("/p/conditions/work", relevant=large).status_code == 413
    assert world.browser().post("/login", name=large, password="x").status_code == 413
    rows = "\n".join(json.dumps({"text": f"long {k} " + "y" * 40_000}) for k in range(20))
    assert world.browser().post("/p/conditions/import", files={"file": ("a.jsonl", rows)}).status_code == 413
    # It is read, and then refused for what it holds: nothing says what the texts are for.
    assert (
        browsers["owner"].post("/p/conditions/import", files={"file": ("a.jsonl", rows)}).status_code == 400
    )


def test_guessed_numbers_of_other_people_and_projects_do_not_exist(
    world: World, browsers: dict[str, Browser]
) -> None:
    there = world.elsewhere
    answers = {"label-depression": "yes", "label-anxiety": "no", "token": "x" * 16, "queue": ""}
    for number in (there["claim"], world.at["assignment"], 10**8):
        browser = browsers["annotator"] if number != world.at["assignment"] else world.browser("second")
        for do in ("next", "skip"):
            sent = browser.post("/p/conditions/work", assignment=str(number), do=do, **answers)
            assert sent.status_code in (404, 409), (number, do)
    for path in (f"batches/{there['batch']}", f"batches/{10**8}", "batches/0", f"batches/{10**30}"):
        assert browsers["reviewer"].get(f"/p/conditions/{path}").status_code == 404, path
    assert browsers["reviewer"].post(f"/p/conditions/batches/{there['batch']}").status_code == 404
    assert browsers["adjudicator"].get(f"/p/conditions/conflicts/{there['item']}").status_code == 404
    assert (
        browsers["adjudicator"].post(f"/p/conditions/conflicts/{there['item']}", **answers).status_code == 404
    )
    assert browsers["owner"].post(f"/p/conditions/texts/{there['item']}", do="requeue").status_code == 404
    assert browsers["owner"].post(f"/p/conditions/members/{there['person']}", do="pause").status_code == 404
    assert browsers["owner"].get("/p/other/dashboard").status_code == 404


def test_a_page_of_one_project_shows_nothing_of_another_in_which_one_has_the_role_too(world: World) -> None:
    with world.db.write() as connection:
        hashed = connection.scalar(select(person.c.password).where(person.c.name == "adjudicator"))
        row = {"name": "of-both", "password": hashed, "owner": False, "made": 0.0}
        (who,) = connection.execute(person.insert().values(row)).inserted_primary_key or (0,)
        for project in world.projects.values():
            values = {"project": project, "person": who, "role": "adjudicator", "paused": False}
            connection.execute(member.insert().values(values))
    browser, item = world.browser("of-both"), world.elsewhere["item"]
    assert browser.get(f"/p/other/conflicts/{item}").status_code == 200
    assert browser.get(f"/p/conditions/conflicts/{item}").status_code == 404
    assert browser.post(f"/p/conditions/conflicts/{item}").status_code == 404


def test_nobody_answers_in_the_place_of_another(world: World, browsers: dict[str, Browser]) -> None:
    stolen = browsers["annotator"].get("/p/conditions/work?queue=&before=0").text
    number = re.findall(r'name="assignment" value="(\d+)"', stolen)[0]
    sent = world.browser("second").post("/p/conditions/work", assignment=number, do="skip", queue="")
    assert sent.status_code == 404


def test_an_adjudicator_and_a_reviewer_do_not_learn_what_they_should_not(
    world: World, browsers: dict[str, Browser]
) -> None:
    page = browsers["adjudicator"].get(f"/p/conditions/conflicts/{world.at['item']}").text
    assert "Annotator A" in page
    assert ">second<" not in page
    for name in ("annotator", "reviewer", "adjudicator"):
        assert browsers[name].get("/p/conditions/export/judgements").status_code == 403


def test_another_host_name_does_not_reach_a_server_on_loopback(world: World) -> None:
    from psycheck.annotate.web.app import create_app

    inside = httpx.ASGITransport(create_app(world.db, {"localhost"}))

    async def codes() -> list[int]:
        async with httpx.AsyncClient(transport=inside) as client:
            return [
                (await client.get(f"http://{host}/login")).status_code for host in ("localhost:1", "evil.org")
            ]

    assert asyncio.run(codes()) == [200, 400]


def test_behind_a_proxy_the_cookie_is_secure_and_bound_to_the_host(world: World) -> None:
    forwarded = {"x-forwarded-proto": "https"}
    with served(world.db, proxy_headers=True, forwarded_allow_ips="127.0.0.1,::1") as address:
        answer = httpx.get(f"{address}/login", headers=forwarded)
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-visitor=")
        assert "Secure" in cookie
        assert "strict-transport-security" in answer.headers
    with served(world.db, proxy_headers=False) as address:
        assert "Secure" not in httpx.get(f"{address}/login", headers=forwarded).headers["set-cookie"]


def test_no_log_quotes_a_text(
    world: World, browsers: dict[str, Browser], caplog: Any, monkeypatch: Any
) -> None:
    from psycheck.annotate.web import labelling

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("my secret text")

    monkeypatch.setattr(labelling, "own_progress", fails)
    answer = browsers["annotator"].get("/p/conditions")
    assert answer.status_code == 500
    while "RuntimeError" not in caplog.text:  # the answer may come before the line of the log
        time.sleep(0.01)
    assert "secret" not in answer.text + caplog.text
    assert "GET /p/{project} failed" in caplog.text


def test_a_page_of_the_owner_reaches_nothing_of_another_project(
    world: World, browsers: dict[str, Browser]
) -> None:
    owner, there = browsers["owner"], world.elsewhere
    assert owner.get(f"/p/conditions/texts/{there['item']}").status_code == 404
    for do in ("requeue", "free", "close", "open", "flag", "clear", "erase"):
        sent = owner.post(f"/p/conditions/texts/{there['item']}", do=do, sure="yes")
        assert sent.status_code == 404, do
    for do in ("pause", "remove", "log-out", "password"):
        assert owner.post(f"/p/conditions/members/{there['person']}", do=do).status_code == 404, do
    for path in ("settings", "end", "authors", "invitations", "members"):
        assert owner.post(f"/p/other/{path}", do="end", sure="yes", digest="x").status_code == 404, path
    assert owner.post("/p/conditions/invitations", digest="x").status_code == 404


@pytest.mark.parametrize(
    ("role", "requests"),
    [
        (
            "annotator",
            [("POST", "work", {"do": "skip"}), ("POST", "work", {"do": "undo"}), ("POST", "screening", {})],
        ),
        (
            "reviewer",
            [
                ("GET", "batches", {}),
                ("GET", "batches/{batch}", {}),
                ("GET", "batches/{batch}/{assignment}", {}),
                ("POST", "batches/{batch}/{assignment}", {"label-depression": "yes", "label-anxiety": "no"}),
                ("POST", "batches/{batch}", {}),
                ("POST", "batches", {}),
            ],
        ),
        (
            "adjudicator",
            [
                ("GET", "conflicts", {}),
                ("GET", "conflicts/{item}", {}),
                ("POST", "conflicts/{item}", {"label-depression": "yes", "label-anxiety": "no"}),
            ],
        ),
    ],
)
def test_who_is_paused_can_do_nothing_in_any_role(
    role: str, requests: list[tuple[str, str, dict[str, str]]], world: World, browsers: dict[str, Browser]
) -> None:
    owner, person = browsers["owner"], world.people[role].id
    assert owner.post(f"/p/conditions/members/{person}", do="pause").status_code == 303
    fields = {"assignment": str(world.at["claim"]), "queue": "", "token": "x" * 16}
    for method, path, more in requests:
        address = f"/p/conditions/{path.format(**world.at)}"
        assert _sent(browsers[role], method, address, **{**fields, **more}).status_code == 409, (method, path)
    assert browsers[role].get("/p/conditions").status_code == 200
    assert owner.post(f"/p/conditions/members/{person}", do="resume").status_code == 303


def test_a_language_chosen_on_a_page_leads_to_no_other_site(world: World) -> None:
    browser = world.browser()
    browser.token()
    for here in ("https://evil.org/", "//evil.org", "/\\evil.org", ""):
        answered = browser.post("/language", language="de", here=here)
        assert answered.headers["location"] == "/", here
    assert "Anmelden" in browser.get("/login").text
