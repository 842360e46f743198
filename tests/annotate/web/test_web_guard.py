from pathlib import Path

import pytest

from psycheck.annotate.web.guard import host_name
from psycheck.annotate.web.serve import Serving, is_loopback
from refusals import refused


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:8420", "localhost"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:8420", "::1"),
        ("[::1]", "::1"),
        ("annotate.example.org", "annotate.example.org"),
        ("", ""),
    ],
)
def test_the_name_in_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


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
