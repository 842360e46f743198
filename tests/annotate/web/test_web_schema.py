"""Generated requests against every route: whatever is sent, the server answers and does not fail."""

import re
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from annotation_site import HOSTILE, Browser, World
from psycheck.annotate.web.access import ACCESS

_PARTS = ("method", "url", "params", "data", "headers")

QUERY = ["queue", "before", "id", "label", "annotator", "state", "after", "flagged"]
FIELDS = [
    "csrf",
    "name",
    "password",
    "settings",
    "queue",
    "assignment",
    "token",
    "seconds",
    "do",
    "relevant",
    "spans",
    "status-depressed_mood",
    "label-depression",
    "label-anxiety",
    "identifying",
    "decision",
    "role",
    "item",
    "kind",
    "confidence",
    "comment",
    "language",
    "here",
    "old",
    "author",
    "sure",
    "digest",
    "version",
]


def _schema(world: World, csrf: str) -> dict[str, Any]:
    """A schema of all pages, with the fields that their forms have."""
    text = {"type": "string", "maxLength": 60}
    known = {
        "csrf": {"const": csrf},
        "do": {
            "enum": ["next", "skip", "undo", "pause", "resume", "flag", "clear", "free", "close", HOSTILE]
        },
        "kind": {"enum": ["item", "gold", "screening", HOSTILE]},
        "label-depression": {"enum": ["yes", "no", HOSTILE]},
        "label-anxiety": {"enum": ["yes", "no"]},
        "assignment": {"enum": [str(world.at["claim"]), "0", "-1", "x", "9" * 40]},
        "seconds": {"enum": ["1.5", "nan", "inf", "-1", "x", ""]},
        "spans": {
            "enum": ["", "[]", "[1]", '[{"label": "depression", "start": 0, "end": 3}]', "[" * 500, "{}"]
        },
    }
    body = {
        "type": "object",
        "properties": {one: known.get(one, text) for one in FIELDS},
        "required": ["csrf"],
    }
    paths: dict[str, Any] = {}
    for page in ACCESS:
        method, _, path = page.partition(" ")
        if path == "/logout":
            continue
        operation: dict[str, Any] = {
            "parameters": [_path_parameter(name) for name in re.findall(r"\{(\w+)\}", path)],
            "responses": {"200": {"description": ""}},
        }
        if method == "POST":
            content = {"application/x-www-form-urlencoded": {"schema": body}}
            operation["requestBody"] = {"required": True, "content": content}
        else:
            operation["parameters"] += [_query_parameter(name) for name in QUERY]
        paths.setdefault(path, {})[method.lower()] = operation
    return {"openapi": "3.0.0", "info": {"title": "annotate", "version": "1"}, "paths": paths}


def _path_parameter(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "minLength": 1}
    if name == "project":
        schema = {"enum": ["conditions", "symptoms", "other"]}
    elif name in ("item", "batch", "assignment", "person"):
        schema = {"type": "integer"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": "string", "maxLength": 40}}


def _failures(world: World, browser: Browser, operation: Any) -> list[tuple[str, str, int]]:
    """The generated requests of one route that the server fails on; empty if it answers all of them."""
    failed = []

    @given(case=operation.as_strategy())
    @settings(max_examples=6, database=None, suppress_health_check=list(HealthCheck))
    def ask(case: Any) -> None:
        sent = case.as_transport_kwargs(base_url=world.address)
        answer = browser.request(**{part: sent[part] for part in _PARTS if part in sent})
        if answer.status_code >= 500:
            failed.append((case.method, case.path, answer.status_code))

    ask()
    return failed


@pytest.mark.parametrize("name", ["owner", "annotator"])
def test_no_generated_request_makes_the_server_fail(name: str, world: World) -> None:
    browser = world.browser(name)
    schema: Any = schemathesis.openapi.from_dict(_schema(world, browser.csrf))
    every = [one.ok() for one in schema.get_all_operations()]
    assert len(every) == len(ACCESS) - 1  # all but the log-out
    operations = [
        one for one in every if name == "owner" or name in ACCESS[f"{one.method.upper()} {one.path}"]
    ]
    assert [one for operation in operations for one in _failures(world, browser, operation)] == []
