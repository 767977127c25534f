"""What a Langfuse server answers: a page of rows with a place in the list, or an error with a message."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from labadapt.schema.problems import Problem, Refusal

KEY_REMOVED = b"[key removed]"
_LONGEST_MESSAGE = 200


class _Meta(msgspec.Struct, rename="camel"):
    cursor: str | None = None
    page: int | None = None
    total_pages: int | None = None
    total_items: int | None = None


class _Envelope(msgspec.Struct):
    data: list[dict[str, Any]]
    meta: _Meta


@dataclass(frozen=True, slots=True)
class Page:
    """One answer: its bytes as they arrived, its rows, and where the list goes on.

    A list with cursors goes on while there is a `cursor`; one with page numbers has `total` rows in `pages` pages.
    """

    raw: bytes
    rows: list[dict[str, Any]]
    cursor: str | None = None
    pages: int | None = None
    total: int | None = None


def page_of(body: bytes) -> Page:
    """The page that an answer holds; one object, as a dataset is, is a page of one row. Raises ``BAD_ANSWER``."""
    try:
        document = msgspec.json.decode(body)
        if isinstance(document, dict) and "data" not in document:
            return Page(raw=body, rows=[document])
        envelope = msgspec.convert(document, _Envelope)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(_bad_answer(body, error)) from None
    meta = envelope.meta
    return Page(
        raw=body, rows=envelope.data, cursor=meta.cursor or None, pages=meta.total_pages, total=meta.total_items
    )


def _bad_answer(body: bytes, error: Exception) -> Problem:
    what = "a web page, not JSON" if _is_markup(body) else "not what the interface promises"
    return Problem(
        code="BAD_ANSWER",
        message=f"the answer is {what}",
        found=None if _is_markup(body) else str(error),
        hint="Check that LANGFUSE_BASE_URL is the address of Langfuse (server 4 or newer), not of something before it.",
    )


def _is_markup(body: bytes) -> bool:
    return body.lstrip()[:1] == b"<"


def text_of(row: dict[str, Any], key: str) -> str:
    """A text that every row of its kind has. Raises ``BAD_ANSWER`` where it is missing or no text."""
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise Refusal(
            Problem(code="BAD_ANSWER", message=f"a row of the answer has no {key}", found=repr(value), expected="text")
        )
    return value


class ErrorAnswer(Refusal):
    """The server answered with an error; `status` is that of HTTP."""

    def __init__(self, status: int, body: bytes) -> None:
        """Make the problem of it: ``ANSWERED_WITH_ERROR``."""
        self.status = status
        super().__init__(_status_problem(status, body))


def _status_problem(status: int, body: bytes) -> Problem:
    """The problem of an answer with an error status: the status, and the server's own message where it has one."""
    said = _message(body)
    name = _NAMES.get(status, "")
    return Problem(
        code="ANSWERED_WITH_ERROR",
        message=f"the server answered {status}{f' {name}' if name else ''}{f': {said}' if said else ''}",
        hint=_hint(status),
    )


def _message(body: bytes) -> str:
    """The message of an error's JSON, or a short plain text; a web page says nothing."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        document = None if _is_markup(body) else body.decode("utf-8", "replace").strip()
    if isinstance(document, dict):
        document = next((document[key] for key in ("message", "error") if isinstance(document.get(key), str)), None)
    return document[:_LONGEST_MESSAGE] if isinstance(document, str) else ""


_NAMES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


def _hint(status: int) -> str | None:
    if 300 <= status < 400:
        return "A redirect is not followed, for the keys would go with it: set LANGFUSE_BASE_URL to where it leads."
    return _HINTS.get(status) or ("Try again later; the SDK asked three times." if status >= 500 else None)


_HINTS = {
    401: "Check LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY, and that LANGFUSE_BASE_URL is the server of that project.",
    403: "The keys must be of a project, and may read it.",
    404: "Reading live needs a Langfuse server of version 4 or newer; read an older one's saved files.",
    422: "The server could not answer in its own time: narrow the search with --since.",
    429: "The plan's rate limit is used up: wait a minute, or convert fewer runs at once.",
}


def removed_keys(body: bytes, keys: Iterable[str]) -> tuple[bytes, int]:
    """The bytes without any of the keys, and how often one stood there.

    An instrumentation writes the public key into each observation's metadata.
    """
    pattern = b"|".join(re.escape(key.encode()) for key in keys if key)
    return re.subn(pattern, KEY_REMOVED, body) if pattern else (body, 0)
