"""OTLP as JSON with the field names of protobuf (`resource_spans`), as Python's and Go's own JSON encoders write it.

All that OTLP carries arrives. Ids are base64 of their bytes, or hex; enums are numbers or names. A value that Go wrote
without its kind, because it is empty, zero or false, is refused.

Source of the layout: opentelemetry-proto; protobuf, `MessageToJson(preserving_proto_field_name=True)`; Go's
`encoding/json` on go.opentelemetry.io/proto/otlp.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Input, Reading, Source, Span

if TYPE_CHECKING:
    import io

    from labadapt.adapters.reading.documents import Found
    from labadapt.adapters.reading.otlp_json import ResourceSpans
    from labadapt.schema.problems import Problem, Where

_HUMP = re.compile(r"(?<=[a-z])[A-Z]")


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": _decode})


def _decode(stream: "io.BufferedReader", name: str, offset: int, reading: Reading) -> Iterator[Span]:
    import msgspec
    from labadapt.adapters.reading.otlp_json import Dialect, decode_as
    from labadapt.schema.problems import Refusal

    try:
        yield from decode_as(Dialect(msgspec.json.decode, _groups), stream, name, offset, reading)
    except Refusal as refusal:
        raise Refusal([_respelled(problem) for problem in refusal.problems]) from None


def _groups(found: "Found[Any]", _reading: Reading) -> "Iterator[tuple[ResourceSpans, str]]":
    import msgspec
    from labadapt.adapters.reading.documents import Misshapen
    from labadapt.adapters.reading.faults import Fault
    from labadapt.adapters.reading.keys import check_keys
    from labadapt.adapters.reading.otlp_json import Document, ResourceSpans, placed
    from labadapt.adapters.reading.shapes import refuse_other, shape_of
    from labadapt.adapters.reading.snake import camel

    check_keys(found.text, found.where)
    shape = shape_of(found.value)
    if shape is None or shape.source != "protojson":
        refuse_other(found.text, found.where, "protojson", "resource_spans")
    value: Any = None
    try:
        value = camel(found.value)
        if "scopeSpans" in value:
            return iter([(msgspec.convert(value, ResourceSpans), "")])
        return placed(msgspec.convert(value, Document).resource_spans, "/resource_spans")
    except Fault as fault:
        raise fault.at(_place(found, fault.pointer)) from None
    except msgspec.ValidationError as error:
        raise Misshapen(error, msgspec.json.encode(value), found.where) from None


def _place(found: "Found[Any]", pointer: str) -> "Where":
    """The place of a document, with the ids of the span on the way of a pointer."""
    from labadapt.adapters.reading.plain import readable
    from msgspec.structs import replace

    value, span = found.value, dict[str, Any]()
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step.replace("~1", "/").replace("~0", "~")]
        span = value if isinstance(value, dict) and "span_id" in value else span
    trace_id, span_id = readable(span.get("trace_id"), 16), readable(span.get("span_id"), 8)
    return replace(found.where, pointer="", trace_id=trace_id, span_ids=(span_id,) if span_id else ())


def _respelled(problem: "Problem") -> "Problem":
    """The problem with the field names that stand in the document."""
    from msgspec.structs import replace

    where = problem.where
    if where.pointer is None:
        return problem
    if problem.message.startswith("$"):
        path, colon, rest = problem.message.partition(": ")
        problem = replace(problem, message=_HUMP.sub(_low, path) + colon + rest)
    return replace(problem, where=replace(where, pointer=_HUMP.sub(_low, where.pointer)))


def _low(hump: re.Match[str]) -> str:
    return "_" + hump.group().lower()


SOURCE = Source(
    name="protojson",
    summary="OTLP as JSON with the field names of protobuf: resource_spans.",
    claims=claims_of("protojson"),
    decode=decode,
    export="spans.json",
)
