"""Where the server listens, whom it lets in, and what it writes about it."""

import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from annotation_site import Browser, World, served
from psycheck.annotate.database import Database, database_url, open_database
from psycheck.annotate.web import connections
from psycheck.annotate.web.connections import PatientProtocol
from psycheck.annotate.web.guard import RequestFormatter
from psycheck.annotate.web.serve import Serving, is_loopback
from psycheck.core.errors import StoreFailure
from refusals import refused


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.5", "annotate.example.org", "localhost.evil.org"]
)
def test_listening_beyond_this_machine_needs_tls_or_consent(host: str) -> None:
    with refused("serve.no-tls", key="host"):
        Serving(host=host)
    with refused("serve.no-tls", key="host"):
        Serving(host=host, behind_proxy=True)
    assert Serving(host=host, insecure=True).host == host


def test_this_machine_needs_no_tls(tmp_path: Path) -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert Serving(host="::1").address == "http://[::1]:8420/"
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    with refused("serve.incomplete-certificate"):
        Serving(certificate=certificate)
    with refused("serve.missing-file", where="c.pem"):
        Serving(certificate=certificate, key=key)
    certificate.touch()
    key.touch()
    assert Serving(host="0.0.0.0", certificate=certificate, key=key).address.startswith("https://")


def test_only_names_of_this_machine_reach_a_server_on_loopback() -> None:
    assert Serving().host_names == {"127.0.0.1", "localhost", "::1"}
    assert Serving(behind_proxy=True).host_names == frozenset()
    assert "annotate.example.org" in Serving(behind_proxy=True, names=("Annotate.example.org",)).host_names


@pytest.mark.parametrize("host", ["localhost", "LocalHost:8420", "127.0.0.1:80", "[::1]:8420", "[::1]"])
def test_names_of_this_machine_reach_a_server_on_loopback(host: str, world: World) -> None:
    with served(world.db, Serving().host_names) as address:
        assert httpx.get(f"{address}/login", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.org", "localhost.evil.org", "", "127.0.0.1.evil.org"])
def test_other_names_do_not_and_are_told_nothing(host: str, world: World) -> None:
    with served(world.db, Serving().host_names) as address:
        answer = httpx.get(f"{address}/login", headers={"host": host})
        assert answer.status_code == 400
        assert "psycheck" not in answer.text


def _half_request(address: str) -> socket.socket:
    host, _, port = address.removeprefix("http://").partition(":")
    opened = socket.create_connection((host, int(port)), timeout=5)
    opened.sendall(b"GET /login HTTP/1.1\r\nHost: localhost\r\nX-A: ")
    return opened


def _is_closed(opened: socket.socket) -> bool:
    """Whether the server closes a connection; the page that refuses a form may come first."""
    try:
        while opened.recv(1_000):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


def test_half_requests_beyond_the_limit_silence_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 50)
    with served(world.db, http=PatientProtocol) as address:
        half = [_half_request(address) for _ in range(130)]
        assert httpx.get(f"{address}/healthz", timeout=5).text == "ok"
        # The oldest were closed to make room.
        assert _is_closed(half[0])
        for opened in half:
            opened.close()


def test_a_request_that_is_not_finished_in_time_is_closed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.4)
    with served(world.db, http=PatientProtocol) as address:
        head = _half_request(address)
        body = _half_request(address)
        body.sendall(b"b\r\nContent-Length: 100\r\n\r\nabc")
        assert _is_closed(head)
        assert _is_closed(body)
        with httpx.Client(base_url=address) as client:
            assert [client.get("/healthz").text for _ in range(3)] == ["ok"] * 3


def test_large_headers_are_refused(world: World) -> None:
    with served(world.db, http=PatientProtocol) as address:
        assert httpx.get(f"{address}/login", headers={"x-a": "a" * 20_000}).status_code == 431


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[Database]:
    """A database that stops working once the server runs."""
    db = open_database(database_url(tmp_path / "annotate"), new=True)
    yield db
    db.close()


def test_a_line_of_the_log_has_time_level_and_the_id_that_the_answer_has_and_tells_of_503(
    broken: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    handler = logging.StreamHandler()
    handler.setFormatter(RequestFormatter())
    monkeypatch.setattr(handler, "emit", lambda record: lines.append(handler.format(record)))
    log = logging.getLogger("psycheck.annotate")
    log.addHandler(handler)
    log.setLevel(logging.INFO)

    def fails(*_: object) -> None:
        raise StoreFailure("gone", code="database.unusable")

    with served(broken) as address:
        browser = Browser(address)
        fine = browser.get("/login").headers["x-request-id"]
        monkeypatch.setattr(Database, "read", fails)
        answer = browser.get("/healthz")
    log.removeHandler(handler)
    assert answer.status_code == 503
    first, last = lines[0].split(), lines[-1].split()
    assert first[1:4] == ["INFO", f"[{fine}]", "GET"]
    assert last[1:3] == ["ERROR", f"[{answer.headers['x-request-id']}]"]
    assert last[3:6] == ["GET", "/healthz", "503"]
    assert last[-1] == "database.unusable"
    assert first[0].endswith("Z")
