"""Attribute values: `AnyValue` of protobuf and of OTLP JSON to plain Python, the same for both.

Source of the mapping: opentelemetry-proto, common.proto; OTLP specification, "JSON Protobuf Encoding"; for NaN,
infinities and base64 the JSON mapping of proto3. A `doubleValue` of null is NaN: JavaScript writes it so.
"""

import base64
import binascii
import math
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec
from labadapt.adapters.reading import wire
from labadapt.adapters.reading.faults import Fault
from msgspec import UNSET, UnsetType

MAX_DEPTH = 32  # levels of lists and maps in one attribute; no producer nests deeper, and both encodings carry it


def _too_deep() -> Fault:
    return Fault("TOO_DEEP", f"its lists and maps are nested deeper than {MAX_DEPTH} levels")


def _put(made: dict[str, Any], key: str, value: Any) -> None:
    if key in made and not same(made[key], value):
        raise Fault("BAD_FIELD", f'the key "{key[:80]}" stands twice in its map, with different values')
    made[key] = value


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same in type and content; NaN is the same as NaN, 1 is not the same as true."""
    return repr(one) == repr(other)


# -- protobuf ----------------------------------------------------------------------------------------------------------


def from_protobuf(raw: bytes) -> Any:
    """The value of one serialised `AnyValue`; None when it holds nothing. Raises `Fault`."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue

    if deeper(raw):
        raise _too_deep()
    try:
        return _plain(AnyValue.FromString(raw))
    except DecodeError:
        raise Fault("BAD_ENCODING", "its bytes do not parse, or its text is not UTF-8") from None


_KINDS = frozenset({"string_value", "bool_value", "int_value", "double_value", "bytes_value"})


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        made: dict[str, Any] = {}
        for pair in value.kvlist_value.values:
            _put(made, pair.key, _plain(pair.value))
        return made
    if kind in _KINDS:
        return getattr(value, kind)
    if value.ByteSize():  # a field that is unknown, or that only profiles may have
        raise Fault("BAD_FIELD", "it is of a kind that attributes of spans do not have")
    return None


def deeper(raw: bytes) -> bool:
    """Whether lists and maps in a serialised `AnyValue` are nested beyond `MAX_DEPTH`.

    Each level has a tag byte of its own, so that counting two bytes rules most values out at C speed.
    """
    if raw.count(b"\x2a") + raw.count(b"\x32") <= MAX_DEPTH:
        return False
    try:
        level = _containers(raw, 0, len(raw))
        for _ in range(MAX_DEPTH):
            level = [inner for container in level for inner in _inside(raw, *container)]
    except wire.Cut:
        return False  # damaged: said by the parser
    return bool(level)


def _containers(raw: bytes, start: int, end: int) -> list[tuple[int, int, int]]:
    """The list or map in the `AnyValue` at a place: its field number (5 list, 6 map), and its place."""
    return [
        (number, first, last) for number, kind, first, last in wire.fields(raw, start, end)
        if kind == 2 and number in {5, 6}
    ]  # fmt: skip


def _inside(raw: bytes, container: int, start: int, end: int) -> list[tuple[int, int, int]]:
    """The lists and maps directly in a list or map."""
    found = []
    for number, kind, first, last in wire.fields(raw, start, end):
        if (number, kind) == (1, 2):
            found += _containers(raw, first, last) if container == 5 else _of_pair(raw, first, last)
    return found


def _of_pair(raw: bytes, start: int, end: int) -> list[tuple[int, int, int]]:
    places = [(first, last) for number, kind, first, last in wire.fields(raw, start, end) if (number, kind) == (2, 2)]
    return [inner for place in places for inner in _containers(raw, *place)]


# -- OTLP JSON ---------------------------------------------------------------------------------------------------------


class JsonValue(msgspec.Struct, rename="camel", gc=False, forbid_unknown_fields=True):
    """`AnyValue` in OTLP JSON. int64 may be text, a double may be text (``NaN``), and null means absent.

    Elsewhere unknown fields are stepped over, as OTLP asks; here one would be a value that nobody reads.
    """

    string_value: str | UnsetType | None = UNSET
    bool_value: bool | UnsetType | None = UNSET
    int_value: int | str | UnsetType | None = UNSET
    double_value: float | str | UnsetType | None = UNSET
    array_value: "JsonList | UnsetType | None" = UNSET
    kvlist_value: "JsonMap | UnsetType | None" = UNSET
    bytes_value: str | UnsetType | None = UNSET


class JsonList(msgspec.Struct, gc=False):
    """`ArrayValue` in OTLP JSON."""

    values: list[JsonValue] | None = None


class JsonPair(msgspec.Struct, gc=False):
    """`KeyValue` in OTLP JSON."""

    key: str = ""
    value: JsonValue | None = None


class JsonMap(msgspec.Struct, gc=False):
    """`KeyValueList` in OTLP JSON."""

    values: list[JsonPair] | None = None


_kinds: Callable[[JsonValue], tuple[Any, ...]] = attrgetter(*JsonValue.__struct_fields__)
_DOUBLES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_INT64 = re.compile(r"-?[0-9]{1,19}")
_DOUBLE = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def from_json(value: JsonValue | None) -> Any:
    """The value of one `AnyValue` in OTLP JSON; None when it holds nothing. Raises `Fault`."""
    return _of_json(value, 0)


def _of_json(value: JsonValue | None, depth: int) -> Any:
    if value is None:
        return None
    kinds = _kinds(value)
    if kinds.count(UNSET) == len(kinds) - 1:
        kind = next(index for index, written in enumerate(kinds) if written is not UNSET)
        return _made(JsonValue.__struct_fields__[kind], kinds[kind], depth)
    several = [name for name in JsonValue.__struct_fields__ if _is_set(value, name)]
    if len(several) > 1:
        raise Fault("BAD_FIELD", "it holds two values", found=", ".join(several), expected="one")
    return _made(several[0], getattr(value, several[0]), depth) if several else None


def _made(kind: str, written: Any, depth: int) -> Any:
    if written is None and kind != "double_value":
        return None
    if isinstance(written, JsonList | JsonMap):
        if depth >= MAX_DEPTH:
            raise _too_deep()
        return _nested(written, depth + 1)
    return _SCALARS[kind](written) if kind in _SCALARS else written


def _is_set(value: JsonValue, name: str) -> bool:
    written = getattr(value, name)
    return written is not UNSET and (written is not None or name == "double_value")


def _nested(written: JsonList | JsonMap, depth: int) -> Any:
    if isinstance(written, JsonList):
        return [_of_json(item, depth) for item in written.values or ()]
    made: dict[str, Any] = {}
    for pair in written.values or ():
        _put(made, pair.key, _of_json(pair.value, depth))
    return made


def check_depth(value: JsonValue) -> None:
    """Refuse a value nested beyond `MAX_DEPTH`, without making anything of it. Raises `Fault`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inner(outer)]
    if any(_is_set(inner, "array_value") or _is_set(inner, "kvlist_value") for inner in level):
        raise _too_deep()


def _inner(value: JsonValue) -> list[JsonValue]:
    if isinstance(value.array_value, JsonList):
        return value.array_value.values or []
    if isinstance(value.kvlist_value, JsonMap):
        return [pair.value for pair in value.kvlist_value.values or () if pair.value is not None]
    return []


def _int64(value: int | str) -> int:
    if isinstance(value, str):
        if not _INT64.fullmatch(value):
            raise Fault("BAD_FIELD", "its intValue is no integer of 64 bits", found=value[:40])
        value = int(value)
    if not -(2**63) <= value < 2**63:
        raise Fault("BAD_FIELD", "its intValue does not fit 64 bits", found=str(value)[:40])
    return value


def _double(value: float | str | None) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, str):
        return float(value)
    if value in _DOUBLES:
        return _DOUBLES[value]
    if not _DOUBLE.fullmatch(value) or math.isinf(number := float(value)):
        raise Fault("BAD_FIELD", "its doubleValue is no number that a double can hold", found=value[:40])
    return number


def _bytes(value: str) -> bytes:
    text = value.replace("-", "+").replace("_", "/")  # the mapping takes both alphabets, padded or not
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Fault("BAD_FIELD", "its bytesValue is not base64", found=value[:40]) from None


_SCALARS: dict[str, Any] = {"int_value": _int64, "double_value": _double, "bytes_value": _bytes}
