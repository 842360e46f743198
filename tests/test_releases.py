"""What an installation promises: the extras, the lines that name them, and the files of the servers."""

import re
from pathlib import Path

import yaml

from tools.try_wheel import COMMANDS, extras_for_users

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "docs" / "how-to" / "annotate-server"


def test_all_is_every_extra_for_users() -> None:
    extras = extras_for_users()
    (everything,) = extras.pop("all")
    named = re.fullmatch(r"psycheck\[([\w,-]+)\]", everything)
    assert named
    assert set(named[1].split(",")) == set(extras)


def test_every_extra_that_an_error_names_exists() -> None:
    extras = set(extras_for_users())
    called = re.compile(r"(?:MissingExtra|library)\((?:[^()]|\([^()]*\))*?\"([a-z-]+)\"\s*,?\s*\)")
    named = {
        (path.name, extra)
        for path in (ROOT / "src").rglob("*.py")
        for extra in called.findall(path.read_text("utf-8"))
    }
    assert len(named) > 10
    assert {(name, extra) for name, extra in named if extra not in extras} == set()


def test_the_wheel_is_tried_with_every_extra() -> None:
    tried = {extra for command in COMMANDS for extra in command.needs}
    assert tried == set(extras_for_users()) - {"all"}


def test_images_are_built_from_files_that_exist_and_are_sent() -> None:
    sent = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    for dockerfile in (ROOT / "Dockerfile", SERVER / "Dockerfile"):
        copies = re.findall(r"^COPY (.+) \S+$", dockerfile.read_text("utf-8"), re.MULTILINE)
        copied = {name for line in copies for name in line.split()}
        assert copied == set(sent), dockerfile
        assert all((ROOT / name).exists() for name in copied), dockerfile


def test_the_server_of_the_compose_file_is_built_from_its_folder() -> None:
    services = yaml.safe_load((SERVER / "compose.yaml").read_text("utf-8"))["services"]
    build = services["annotate"]["build"]
    context = (SERVER / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()
    assert services["proxy"]["volumes"][0].startswith("./Caddyfile:")
