"""A Langfuse server for tests: the read path of version 4 over rows that a test gives it.

It answers as the real one does where labadapt could be misled: lists go on by cursor or by page, a comma in a filter
separates, field groups decide which keys a row has, metadata is cut without ``io``, ``version`` brings a dataset's
items as they were, and an experiment counts what lies in the requested time. Faults are told to it one by one.
"""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Row = dict[str, Any]
PUBLIC_KEY, SECRET_KEY = "pk-lf-local", "sk-lf-do-not-tell"
PREFIX = "/api/public/"

# fmt: off
OBSERVATION_GROUPS = {
    "core": {"id", "traceId", "startTime", "endTime", "projectId", "parentObservationId", "type"},
    "basic": {"name", "level", "statusMessage", "version", "environment", "bookmarked", "public", "userId",
              "sessionId", "isRootObservation"},
    "time": {"completionStartTime", "createdAt", "updatedAt"},
    "io": {"input", "output"},
    "metadata": {"metadata"},
    "model": {"model", "internalModelId", "modelParameters"},
    "usage": {"usageDetails", "inputUsage", "outputUsage", "totalUsage", "costDetails", "inputCost", "outputCost",
              "totalCost", "usagePricingTierId", "usagePricingTierName"},
    "prompt": {"promptId", "promptName", "promptVersion"},
    "metrics": {"latency", "timeToFirstToken"},
    "trace_context": {"traceName", "release", "tags"},
}
OBSERVATION_ALWAYS = OBSERVATION_GROUPS["core"] | {"modelId", "inputPrice", "outputPrice", "totalPrice"}
ITEM_GROUPS = {
    "core": {"id", "traceId", "startTime", "endTime", "level", "environment", "experimentId", "experimentName",
             "experimentItemId"},
    "dataset": {"experimentDatasetId", "experimentItemVersion"},
    "io": {"input", "output", "expectedOutput"},
    "metadata": {"metadata"},
    "itemMetadata": {"experimentItemMetadata"},
    "experimentMetadata": {"experimentMetadata", "experimentDescription"},
    "scores": {"scores"},
}
EXPERIMENT_GROUPS = {"core": set(), "metadata": {"metadata"}, "scores": {"scores"}}
# fmt: on


@dataclass
class Store:
    """What the project holds. Of a dataset item, every version: the last one that is not newer counts."""

    datasets: list[Row] = field(default_factory=list)
    dataset_items: list[Row] = field(default_factory=list)
    experiments: list[Row] = field(default_factory=list)
    experiment_items: list[Row] = field(default_factory=list)
    observations: list[Row] = field(default_factory=list)


@dataclass
class Request:
    """One request: its path below ``/api/public/`` and its parameters, of which each stands once."""

    path: str
    query: dict[str, str]
    raw: str

    def number(self, name: str, default: int, largest: int) -> int:
        value = int(self.query.get(name, default))
        if not 1 <= value <= largest:
            raise Answer(400, {"message": f"{name} must be between 1 and {largest}", "error": "InvalidRequestError"})
        return value

    def among(self, name: str) -> set[str] | None:
        return set(self.query[name].split(",")) if name in self.query else None


class Answer(Exception):
    """An answer other than a page."""

    def __init__(
        self, status: int, body: Any = None, headers: dict[str, str] | None = None, kind: str = "application/json"
    ):
        self.status, self.headers = status, {"Content-Type": kind, **(headers or {})}
        self.body = body.encode() if isinstance(body, str) else json.dumps(body).encode()


# -- faults: each takes the request, the page that would be answered, and may change it or raise -------------------

Fault = Callable[[Request, Row], None]


class Cut(Exception):
    """The connection ends in the middle of the answer."""


def once(fault: Fault) -> Fault:
    """The fault, the first time only."""
    return times(1, fault)


def times(count: int, fault: Fault) -> Fault:
    left = [count]

    def limited(request: Request, page: Row) -> None:
        if left[0]:
            left[0] -= 1
            fault(request, page)

    return limited


def on(path: str, fault: Fault) -> Fault:
    """The fault, for requests of this path only."""
    return lambda request, page: fault(request, page) if request.path == path else None


def error(status: int, body: Any = None, **more: Any) -> Fault:
    def fault(_request: Request, _page: Row) -> None:
        raise Answer(status, {"message": f"error {status}"} if body is None else body, **more)

    return fault


def cut(_request: Request, _page: Row) -> None:
    raise Cut


def slow(seconds: float) -> Fault:
    return lambda _request, _page: time.sleep(seconds)


def without(*ids: str) -> Fault:
    """Rows that are not readable yet."""

    def fault(_request: Request, page: Row) -> None:
        page["data"] = [row for row in page["data"] if row["id"] not in ids]

    return fault


def repeat_page() -> Fault:
    """The second page is the first again; the place in the list is the second's."""
    first: list[Row] = []

    def fault(request: Request, page: Row) -> None:
        if "cursor" not in request.query:
            first[:] = page["data"]
        else:
            page["data"] = list(first)

    return fault


# -- the server ----------------------------------------------------------------------------------------------------


class Langfuse:
    """The server while it runs. `requests` are those that arrived; `check` looks at every page that is answered."""

    def __init__(self, store: Store, check: Callable[[Request, int, bytes], None] | None = None) -> None:
        self.store, self.check = store, check
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.hosts: set[str] = set()
        self.spent = 0.0  # seconds in which answers were made and written
        self.largest = {"observations": 1000, "others": 100}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> "Langfuse":
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def answer(self, target: str, authorization: str) -> tuple[int, bytes, dict[str, str]]:
        parts = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        request = Request(parts.path.removeprefix(PREFIX), query, target)
        self.requests.append(request)
        try:
            _authorise(authorization)
            page = self._page(request)
            for fault in self.faults:
                fault(request, page)
        except Answer as answer:
            return answer.status, answer.body, answer.headers
        body = json.dumps(page, ensure_ascii=False, separators=(",", ":")).encode()
        if self.check is not None:
            self.check(request, 200, body)
        return 200, body, {"Content-Type": "application/json"}

    def _page(self, request: Request) -> Row:
        name = request.path
        if name.startswith("v2/datasets/"):
            return _dataset(self.store, unquote(name.removeprefix("v2/datasets/")), name)
        pages = {
            "v2/datasets": _datasets,
            "dataset-items": _dataset_items,
            "experiments": _experiments,
            "experiment-items": _experiment_items,
            "v2/observations": _observations,
        }
        if name == "projects":  # what the SDK asks before it runs an experiment
            return {
                "data": [{"id": "proj1", "name": "labadapt", "metadata": {}, "organization": {"id": "o", "name": "o"}}]
            }
        if name not in pages:
            raise Answer(404, {"message": "Not Found", "error": "NotFound"})
        return pages[name](self.store, request)


def _authorise(authorization: str) -> None:
    expected = "Basic " + base64.b64encode(f"{PUBLIC_KEY}:{SECRET_KEY}".encode()).decode()
    if authorization != expected:
        raise Answer(401, {"error": f"Invalid credentials {authorization}", "message": "Invalid credentials."})


def _dataset(store: Store, name: str, path: str) -> Row:
    if path.count("/") > 2:  # a slash that was not encoded is another path
        raise Answer(404, "<html>no such page</html>", kind="text/html")
    for row in store.datasets:
        if row["name"] == name:
            return dict(row)
    raise Answer(404, {"message": "Dataset not found", "error": "LangfuseNotFoundError"})


def _datasets(store: Store, request: Request) -> Row:
    return _numbered(store.datasets, request)


def _dataset_items(store: Store, request: Request) -> Row:
    name, version = request.query.get("datasetName"), request.query.get("version")
    if version is not None and name is None:
        raise Answer(400, {"message": "datasetName is required with version", "error": "InvalidRequestError"})
    if name is not None and name not in {row["name"] for row in store.datasets}:
        raise Answer(404, {"message": "Dataset not found", "error": "LangfuseNotFoundError"})
    current: dict[str, Row] = {}
    for row in sorted(store.dataset_items, key=lambda row: _moment(row["updatedAt"])):
        if name in {None, row["datasetName"]} and (version is None or _moment(row["updatedAt"]) <= _moment(version)):
            current[row["id"]] = row
    return _numbered(sorted(current.values(), key=lambda row: (row["createdAt"], row["id"]), reverse=True), request)


def _numbered(rows: list[Row], request: Request) -> Row:
    page, limit = request.number("page", 1, 10**9), request.number("limit", 50, 100)
    pages = -(-len(rows) // limit)
    meta = {"page": page, "limit": limit, "totalItems": len(rows), "totalPages": pages}
    return {"data": [dict(row) for row in rows[(page - 1) * limit : page * limit]], "meta": meta}


def _experiments(store: Store, request: Request) -> Row:
    since = _since(request)
    wanted = {name: request.among(name) for name in ("id", "name", "datasetId")}
    rows = []
    for experiment in store.experiments:
        items = [
            item
            for item in store.experiment_items
            if item["experimentId"] == experiment["id"] and _moment(item["startTime"]) >= since
        ]
        if items and all(among is None or experiment[name] in among for name, among in wanted.items()):
            start = max(_moment(experiment["startTime"]), since)
            rows.append({**experiment, "itemCount": len(items), "startTime": _written(start)})
    groups = request.query.get("fields", "core").split(",")
    dropped = set().union(*(keys for group, keys in EXPERIMENT_GROUPS.items() if group not in groups))
    rows = [{key: value for key, value in row.items() if key not in dropped} for row in rows]
    return _by_cursor(rows, request, 100, lambda row: (row["endTime"], row["id"]))


def _experiment_items(store: Store, request: Request) -> Row:
    since = _since(request)
    names = ("experimentId", "experimentName", "experimentItemId")
    wanted = {name: request.among(name) for name in names}
    rows = [
        row
        for row in store.experiment_items
        if _moment(row["startTime"]) >= since
        and all(among is None or row[name] in among for name, among in wanted.items())
    ]
    groups = request.query.get("fields", "core,dataset").split(",")
    kept = ITEM_GROUPS["core"].union(*(ITEM_GROUPS[group] for group in groups))
    rows = [{key: value for key, value in row.items() if key in kept} for row in rows]
    return _by_cursor(rows, request, 100, lambda row: (row["startTime"], row["id"]))


def _observations(store: Store, request: Request) -> Row:
    wanted: set[str] | None = request.among("traceId")
    for condition in json.loads(request.query.get("filter", "[]")):
        if (condition["type"], condition["column"], condition["operator"]) != ("stringOptions", "traceId", "any of"):
            raise Answer(400, {"message": "unknown filter", "error": "InvalidRequestError"})
        wanted = set(condition["value"])
    rows = [row for row in store.observations if wanted is None or row["traceId"] in wanted]
    groups = request.query.get("fields", "core,basic").split(",")
    if unknown := set(groups) - set(OBSERVATION_GROUPS):
        raise Answer(400, {"message": f"unknown field group {unknown}", "error": "InvalidRequestError"})
    kept = OBSERVATION_ALWAYS.union(*(OBSERVATION_GROUPS[group] for group in groups))
    shown = [{key: value for key, value in row.items() if key in kept} for row in rows]
    if "io" not in groups:
        shown = [_with_cut_metadata(row) for row in shown]
    return _by_cursor(shown, request, 1000, lambda row: (row["startTime"], row["traceId"], row["id"]))


def _with_cut_metadata(row: Row) -> Row:
    if "metadata" not in row:
        return row
    cut_values = {k: v[:200] if isinstance(v, str) else v for k, v in (row["metadata"] or {}).items()}
    return {**row, "metadata": cut_values}


def _by_cursor(rows: Iterable[Row], request: Request, largest: int, key: Callable[[Row], tuple[str, ...]]) -> Row:
    """The latest first; a cursor is the place after which the list goes on, whatever came or went meanwhile."""
    limit = request.number("limit", 50, largest)
    ordered = sorted(rows, key=key, reverse=True)
    if "cursor" in request.query:
        place = tuple(json.loads(base64.urlsafe_b64decode(request.query["cursor"])))
        ordered = [row for row in ordered if key(row) < place]
    page = ordered[:limit]
    meta = {}
    if len(ordered) > limit:
        meta = {"cursor": base64.urlsafe_b64encode(json.dumps(key(page[-1])).encode()).decode()}
    return {"data": page, "meta": meta}


def _since(request: Request) -> float:
    if "fromStartTime" not in request.query:
        raise Answer(400, {"message": "fromStartTime is required", "error": "InvalidRequestError"})
    return _moment(request.query["fromStartTime"])


def _moment(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def _written(moment: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _handler(server: Langfuse) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else the body waits for the acknowledgement of the head

        def do_GET(self) -> None:
            start = time.perf_counter()
            try:
                status, body, headers = server.answer(self.path, self.headers.get("Authorization", ""))
            except Cut:
                status, body, headers = (
                    200,
                    b'{"data": [',
                    {"Content-Type": "application/json", "Content-Length": "9999"},
                )
                self.close_connection = True
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):  # the client gave up waiting
                self.close_connection = True
            server.spent += time.perf_counter() - start

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
