"""Servers of ours that speak the protocols of OpenAI, Anthropic and Gemini on loopback, batches included.

Written from the requests that the providers' own client libraries send. `answer` says what becomes of a
request: its status and its body.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_POST = re.compile(r"<post-(\w+)>\n(.*)\n</post-\1>", re.DOTALL)
YES = '{"depression": "yes"}'

Body = dict[str, Any]
Answer = tuple[int, Body]


@dataclass
class Request:
    """A request as a server got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Body:
        return dict(json.loads(self.body))

    @property
    def post(self) -> str:
        """The post that a question is about."""
        return post_in(self.json)


def post_in(body: Body) -> str:
    """The post in a question of any protocol."""
    match = _POST.search(_texts(body))
    return match[2] if match else ""


def _texts(value: Any) -> str:
    """All strings of a body, one per line."""
    if isinstance(value, str):
        return value
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return "\n".join(filter(None, map(_texts, values)))


@dataclass
class Provider:
    """A running server: what it was asked, the batches that it holds, and whether these are ready."""

    answer: Callable[[Request], Answer]
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    batches: dict[str, list[tuple[str, Body]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    ready: bool = True
    state: str = ""  # of every batch, where it is not "ready"
    expired: set[str] = field(default_factory=set)  # posts that a batch does not get to
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def to(self, part: str) -> list[Request]:
        """The requests whose path has this part."""
        return [request for request in self.asked if part in request.path]

    def handed_over(self) -> list[str]:
        """The posts in all batches."""
        return [post_in(body) for questions in self.batches.values() for _, body in questions]


Route = Callable[[Provider, Request], Answer | bytes]


def error_of_openai(kind: str, message: str, **more: Any) -> Body:
    return {"error": {"message": message, "type": kind, **more}}


def completion(text: str, finish: str = "stop", **message: Any) -> Body:
    said = {"role": "assistant", "content": text, **message}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    return {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": usage,
    }


def openai_routes(server: Provider, request: Request) -> Answer | bytes:
    """Chat completions, files and batches."""
    path = request.path.split("?")[0]
    if path.endswith("/chat/completions"):
        return server.answer(request)
    if path.endswith("/files"):
        name = f"file-{len(server.files)}"
        server.files[name] = _uploaded(request)
        return 200, {"id": name, "object": "file", "purpose": "batch", "bytes": 1, "created_at": 1}
    if path.endswith("/content"):
        return server.files[path.split("/")[-2]]
    if path.endswith("/batches"):
        rows = [json.loads(line) for line in server.files[request.json["input_file_id"]].splitlines()]
        name = f"batch-{len(server.batches)}"
        server.batches[name] = [(row["custom_id"], row["body"]) for row in rows]
        return 200, _batch_of_openai(server, name)
    name = path.split("/")[-1]
    return (200, _batch_of_openai(server, name)) if name in server.batches else (404, {})


def _uploaded(request: Request) -> bytes:
    """The file in a form of several parts."""
    boundary = request.headers["content-type"].split("boundary=")[1].encode()
    parts = [part for part in request.body.split(b"--" + boundary) if b'name="file"' in part]
    return parts[0].split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")


def _batch_of_openai(server: Provider, name: str) -> Body:
    batch: Body = {
        "id": name,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": "f",
        "completion_window": "24h",
        "created_at": 1,
        "status": server.state or ("completed" if server.ready else "in_progress"),
    }
    if batch["status"] == "completed":
        good: list[dict[str, Any]] = []
        bad: list[dict[str, Any]] = []
        for key, body in server.batches[name]:
            if post_in(body) in server.expired:
                error = {"code": "batch_expired", "message": "not in time"}
                bad.append({"id": "r", "custom_id": key, "response": None, "error": error})
                continue
            status, answer = server.answer(Request("POST", "/batch", {}, json.dumps(body).encode()))
            row = {"id": "r", "custom_id": key, "response": {"status_code": status, "body": answer}}
            (good if status == 200 else bad).append(row | {"error": None})
        for kind, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                server.files[f"{name}-{kind}"] = "\n".join(map(json.dumps, reversed(rows))).encode()
                batch[kind] = f"{name}-{kind}"
    return batch


def message(*blocks: Body, stop: str = "end_turn") -> Body:
    usage = {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 7}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": usage,
    }


def text_block(text: str) -> Body:
    return {"type": "text", "text": text}


def anthropic_error(kind: str, words: str) -> Body:
    return {"type": "error", "error": {"type": kind, "message": words}}


def anthropic_routes(server: Provider, request: Request) -> Answer | bytes:
    """Messages, and batches of them."""
    path = request.path.split("?")[0]
    if path == "/v1/messages":
        return server.answer(request)
    if path == "/v1/messages/batches":
        name = f"msgbatch_{len(server.batches)}"
        rows = request.json["requests"]
        server.batches[name] = [(row["custom_id"], row["params"]) for row in rows]
        return 200, _batch_of_anthropic(server, name)
    name = path.split("/")[4]
    if name not in server.batches:
        return 404, anthropic_error("not_found_error", "no such batch")
    if not path.endswith("/results"):
        return 200, _batch_of_anthropic(server, name)
    rows = []
    for key, body in reversed(server.batches[name]):
        if post_in(body) in server.expired:
            rows.append({"custom_id": key, "result": {"type": "expired"}})
            continue
        status, answer = server.answer(Request("POST", "/batch", {}, json.dumps(body).encode()))
        result = (
            {"type": "succeeded", "message": answer}
            if status == 200
            else {"type": "errored", "error": answer}
        )
        rows.append({"custom_id": key, "result": result})
    return "\n".join(map(json.dumps, rows)).encode()


def _batch_of_anthropic(server: Provider, name: str) -> Body:
    return {
        "id": name,
        "type": "message_batch",
        "processing_status": "ended" if server.ready else "in_progress",
        "request_counts": {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
        "created_at": "2026-11-19T00:00:00Z",
        "expires_at": "2026-11-20T00:00:00Z",
        # Of another machine: nothing may be fetched from there.
        "results_url": "http://192.0.2.1/results",
    }


def content(*parts: Body, finish: str = "STOP", **more: Any) -> Body:
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 7, "thoughtsTokenCount": 3}
    said = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": said, "finishReason": finish, **more}], "usageMetadata": usage}


def gemini_error(code: int, status: str, words: str, *details: Body) -> Body:
    return {"error": {"code": code, "status": status, "message": words, "details": list(details)}}


def gemini_routes(server: Provider, request: Request) -> Answer | bytes:
    """Content that is generated, and batches of it."""
    path = request.path.split("?")[0]
    if path.endswith(":generateContent"):
        return server.answer(request)
    if path.endswith(":batchGenerateContent"):
        name = f"batches/{len(server.batches)}"
        rows = request.json["batch"]["inputConfig"]["requests"]["requests"]
        server.batches[name] = [(row["metadata"]["key"], row["request"]) for row in rows]
        return 200, _batch_of_gemini(server, name)
    name = "/".join(path.split("/")[-2:])
    return (200, _batch_of_gemini(server, name)) if name in server.batches else (404, {})


def _batch_of_gemini(server: Provider, name: str) -> Body:
    state = server.state or ("BATCH_STATE_SUCCEEDED" if server.ready else "BATCH_STATE_RUNNING")
    batch: Body = {"name": name, "metadata": {"model": "models/m", "state": state, "displayName": "b"}}
    if state == "BATCH_STATE_SUCCEEDED":
        rows = []
        for key, body in server.batches[name]:
            row: Body = {"metadata": {"key": key}}
            status, answer = server.answer(Request("POST", "/batch", {}, json.dumps(body).encode()))
            if post_in(body) in server.expired:
                row["error"] = {"code": 4, "message": "not in time"}
            elif status == 200:
                row["response"] = answer
            else:
                row["error"] = {"code": 3, "message": answer["error"]["message"]}
            rows.append(row)
        batch["metadata"]["output"] = {"inlinedResponses": {"inlinedResponses": rows}}
    return batch


@contextmanager
def providing(routes: Route, answer: Callable[[Request], Answer], **more: Any) -> Iterator[Provider]:
    """Serve on a free port of the loopback address, in a thread, until the block ends."""
    server = Provider(answer, **more)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, self.rfile.read(size))
            server.asked.append(request)
            outcome = routes(server, request)
            status, body = (200, outcome) if isinstance(outcome, bytes) else outcome
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            for name, value in server.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = _handle  # noqa: N815 - the names that the library calls

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server.port = listening.server_address[1]
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
