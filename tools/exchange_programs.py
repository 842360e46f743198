"""Give an export of annotations to the real Label Studio and Argilla, and compare what they give back.

    python -m tools.exchange_programs FOLDER ENVIRONMENTS

FOLDER holds `tasks.json` and `tasks.xml` (`psycheck annotate export … label-studio`) and `records.json`
(`… argilla`). The programs are installed into ENVIRONMENTS, each in a virtual environment of its own, unless
they are there already: what they need contradicts what psycheck needs.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from psycheck.annotate.argilla import from_argilla
from psycheck.annotate.exchanged_records import Answered
from psycheck.annotate.label_studio import from_label_studio

LABEL_STUDIO = ("label-studio==1.23.2",)
# The client imports requests, which it does not name.
ARGILLA = ("argilla==2.8.0", "requests")
TOKEN = "a-token-of-this-machine-alone-0123456789"
_STARTS_WITHIN = 300  # seconds
# Reads each record as the client does, and writes what it has understood.
_ARGILLA_PROGRAM = """
import json, sys
from argilla import Record
records = json.load(open(sys.argv[1], encoding="utf-8"))
records_back = [Record.from_dict(record).to_dict() for record in records]
json.dump(records_back, open(sys.argv[2], "w", encoding="utf-8"))
"""


def environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """The programs of a virtual environment with these packages; it is made where there is none."""
    programs = folder / "bin"
    if not (programs / "python").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([programs / "pip", "install", "--quiet", *packages], check=True)
    return programs


@contextmanager
def label_studio(programs: Path, folder: Path) -> Iterator[httpx.Client]:
    """A running Label Studio with an account, and a client that is logged in."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    account = ("--username", "lead@example.org", "--password", "a password of ours", "--user-token", TOKEN)
    command = [str(programs / "label-studio"), "start", "--no-browser", "--port", str(port), *account]
    settings = {
        **os.environ,
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_COLLECT_ANALYTICS": "0",
    }
    address = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, env=settings, cwd=folder, stdout=log, stderr=log)
    try:
        client = httpx.Client(base_url=address, headers={"authorization": f"Token {TOKEN}"}, timeout=120)
        _wait_for(client, server)
        yield client
    finally:
        server.terminate()
        server.wait()


def _wait_for(client: httpx.Client, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            if client.get("/api/version").is_success:
                return
        if server.poll() is not None:
            break
        time.sleep(1)
    raise SystemExit("Label Studio did not start")


def through_label_studio(client: httpx.Client, setup: str, tasks: list[Any]) -> list[Any]:
    """Make a project with a labelling set-up, import tasks, and export them again."""
    made = client.post("/api/projects", json={"title": "study", "label_config": setup})
    made.raise_for_status()
    project = made.json()["id"]
    client.post(f"/api/projects/{project}/validate", json={"label_config": setup}).raise_for_status()

    imported = client.post(f"/api/projects/{project}/import", json=tasks)
    imported.raise_for_status()
    counts = imported.json()
    print(f"Label Studio: {counts['task_count']} tasks, {counts['annotation_count']} annotations imported")

    exported = client.get(f"/api/projects/{project}/export", params={"exportType": "JSON"})
    exported.raise_for_status()
    tasks_back: list[Any] = exported.json()
    return tasks_back


def through_argilla(programs: Path, records: Path, folder: Path) -> list[Any]:
    """What Argilla's client makes of records."""
    back = folder / "records.json"
    subprocess.run([programs / "python", "-c", _ARGILLA_PROGRAM, records, back], check=True)
    records_back: list[Any] = json.loads(back.read_text("utf-8"))
    print(f"Argilla: {len(records_back)} records read")
    return records_back


def differences(before: list[Answered], after: list[Answered]) -> int:
    """How many items say something else than before, or are missing."""
    after_by_id = {answered.item: answered for answered in after}
    differing = sum(after_by_id.get(answered.item) != answered for answered in before)
    return differing + abs(len(after) - len(before))


def main() -> int:
    """Print what each program took and gave back; 1 if anything differs."""
    folder, environments = Path(sys.argv[1]), Path(sys.argv[2])
    environments.mkdir(parents=True, exist_ok=True)
    tasks = json.loads((folder / "tasks.json").read_text("utf-8"))
    setup = (folder / "tasks.xml").read_text("utf-8")
    records = json.loads((folder / "records.json").read_text("utf-8"))

    with tempfile.TemporaryDirectory() as scratch:
        programs = environment(environments / "label-studio", LABEL_STUDIO)
        with label_studio(programs, Path(scratch)) as client:
            tasks_back = through_label_studio(client, setup, tasks)
        programs = environment(environments / "argilla", ARGILLA)
        records_back = through_argilla(programs, folder / "records.json", Path(scratch))

    in_tasks = differences(from_label_studio(tasks), from_label_studio(tasks_back))
    in_records = differences(from_argilla(records), from_argilla(records_back))
    print(f"items that differ: {in_tasks} of {len(tasks)} tasks, {in_records} of {len(records)} records")
    return int(in_tasks + in_records > 0)


if __name__ == "__main__":
    sys.exit(main())
