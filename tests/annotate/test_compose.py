"""The compose file's server: its command and its health check, as they stand there, on a real PostgreSQL.

No Docker engine is needed: what the containers would run is run here.
"""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import create_engine, text

from annotators import SYMPTOMS

FOLDER = Path(__file__).parents[2] / "docs" / "how-to" / "annotate-server"
HOST = "annotate.example.org"


def in_container(words: list[str], settings: Mapping[str, str], port: int) -> list[str]:
    """A command of the compose file as the container gets it, on another port."""
    line = "\0".join(words)
    line = re.sub(r"\$\{(\w+)[^}]*\}", lambda match: settings[match[1]], line).replace("$$", "$")
    return line.replace("127.0.0.1:8420", f"127.0.0.1:{port}").split("\0")


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The URL of an empty schema."""
    admin = create_engine(postgres.replace("postgresql://", "postgresql+psycopg://"))
    with admin.begin() as connection:
        connection.execute(text("CREATE SCHEMA compose"))
    yield f"{postgres}&options=-csearch_path%3Dcompose"
    admin.dispose()


def test_the_server_of_the_compose_file_becomes_healthy(database: str, tmp_path: Path) -> None:
    service: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))["services"][
        "annotate"
    ]
    settings = {"ANNOTATE_HOST": HOST, "POSTGRES_PASSWORD": "unused", "PSYCHECK_ANNOTATE_KEY": ""}
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "DATABASE": database, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    (tmp_path / "project.toml").write_text(SYMPTOMS)
    new = ["psycheck", "annotate", "new", database, "--project", str(tmp_path / "project.toml")]
    subprocess.run(new, check=True, capture_output=True, env=environment)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = in_container(service["command"], settings, port)
    command[-1] += f" --port {port}"
    check = in_container(service["healthcheck"]["test"][1:], settings, port)
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + 60
            while (healthy := subprocess.run(check, capture_output=True, env=environment).returncode) != 0:
                assert server.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.2)
            assert healthy == 0
        finally:
            server.terminate()
