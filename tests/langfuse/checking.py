"""Holds what the test server answers, and what it is asked, to the published interface (api.yaml)."""

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
    """`violations` holds what was asked or answered otherwise than the interface says; `seen` counts what was held."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self.seen = 0
        self._interface = OpenAPI.from_dict(yaml.safe_load((HERE / "api.yaml").read_text()))

    def __call__(self, request: Any, status: int, body: bytes) -> None:
        asked = AskedRequest(request)
        result = self._interface.unmarshal_request(asked)
        answered = self._interface.unmarshal_response(asked, GivenResponse(status, body))
        self.seen += 1
        for error in [*result.errors, *answered.errors]:
            detail = [str(inner.message) for inner in getattr(error, "schema_errors", [])] or [str(error.__cause__)]
            self.violations.append(f"{request.raw[:100]}: {error}: {detail[:3]}")
