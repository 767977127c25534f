"""Holds what the test server answers, and what it is asked, to the published interface (api.yaml)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

HERE = Path(__file__).parent


class AskedRequest:
    """A request of the test server, as openapi-core wants it."""

    def __init__(self, request: Any) -> None:
        self.host_url = "http://127.0.0.1"
        self.path = "/api/public/" + request.path
        self.method = "get"
        self.parameters = RequestParameters(query=ImmutableMultiDict(request.query), header=Headers({}))
        self.body, self.content_type = None, ""


class GivenResponse:
    """Its answer, likewise."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status_code, self.data, self.content_type = status, body, "application/json"
        self.headers = Headers({"Content-Type": "application/json"})


class Interface:
    """`violations` holds what was asked or answered otherwise than the interface says. `seen` keeps what was found of a
    request and answer, for many tests make the same."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self.seen: dict[tuple[str, bytes], list[str]] = {}
        self._interface = OpenAPI.from_dict(yaml.safe_load((HERE / "api.yaml").read_text()))

    def __call__(self, request: Any, status: int, body: bytes) -> None:
        key = request.raw, body
        if key not in self.seen:
            self.seen[key] = list(self._found(request, status, body))
        self.violations += self.seen[key]

    def _found(self, request: Any, status: int, body: bytes) -> Iterator[str]:
        asked = AskedRequest(request)
        for errors in (
            self._interface.iter_request_errors(asked),
            self._interface.iter_apicall_response_errors(asked, GivenResponse(status, body)),
        ):
            for error in errors:
                detail = [str(inner.message) for inner in getattr(error, "schema_errors", [])]
                yield f"{request.raw[:100]}: {error}: {detail[:3] or error.__cause__}"
