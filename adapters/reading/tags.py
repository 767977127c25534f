"""What OpenTelemetry writes into the tags of a store that has no field for it, taken out of them again.

Source of the names: OpenTelemetry specification, "OpenTelemetry to non-OTLP exporters" (mapping), and its mapping to
Jaeger and to Zipkin. The tags that are taken out are those that an exporter adds; `internal.span.format` and
`w3c.tracestate` are of its transport and tell nothing of the span.
"""

from typing import Any, TypeAlias

from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import CODES, KINDS

Tags: TypeAlias = dict[str, tuple[Any, str]]  # key → value, JSON pointer
_TRANSPORT = ("internal.span.format", "w3c.tracestate")
_SCOPE = (("otel.scope.name", "otel.library.name"), ("otel.scope.version", "otel.library.version"))
_YES = (True, "true")


def scope(tags: Tags) -> tuple[str, str]:
    """Name and version of the instrumentation scope, taken out of the tags."""
    name, version = (_first(tags, keys) for keys in _SCOPE)
    for key in _TRANSPORT:
        tags.pop(key, None)
    return name, version


def _first(tags: Tags, keys: tuple[str, ...]) -> str:
    """The text of the first of some keys; all of them are taken out."""
    found = [value for key in keys if (value := _taken(tags, key))]
    return found[0] if found else ""


def _taken(tags: Tags, key: str) -> str:
    value, _ = tags.pop(key, ("", ""))
    return value if isinstance(value, str) else str(value)


def status(tags: Tags) -> tuple[int, str]:
    """Code and message of the status, taken out of the tags. Raises `Fault` for a code that is none.

    An `error` tag counts where no code stands; its text is the message, as the specification writes it for Zipkin.
    """
    if "otel.status_code" in tags:
        value, pointer = tags.pop("otel.status_code")
        code = Node(value, pointer).one_of(CODES)
        error = _error(tags) if code == CODES["ERROR"] else ""
        return code, _taken(tags, "otel.status_description") or error
    value, _ = tags.get("error", (None, ""))
    failed = value in _YES or (isinstance(value, str) and value not in {"", "false"})
    return (CODES["ERROR"], "" if value in _YES else str(value)) if failed else (0, "")


def _error(tags: Tags) -> str:
    """The text of the `error` tag that an exporter adds to a status of error."""
    value, _ = tags.pop("error", ("", ""))
    return value if isinstance(value, str) and value != "true" else ""


def kind(tags: Tags) -> int:
    """The kind of the span, taken out of the tags; 0 where none stands that is known."""
    value, _ = tags.get("span.kind", ("", ""))
    number = KINDS.get(str(value).upper(), 0)
    if number:
        del tags["span.kind"]
    return number


def dropped(tags: Tags) -> int:
    """How many attributes the exporter dropped, taken out of the tags. Raises `Fault`."""
    value, pointer = tags.pop("otel.dropped_attributes_count", (0, ""))
    return Node(value, pointer).count()
