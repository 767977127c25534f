"""Attribute values: `AnyValue` of protobuf and of OTLP JSON to plain Python, the same for both."""

import base64
import binascii
import math
from typing import Any

import msgspec
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

MAX_DEPTH = 32  # levels of lists and maps in one attribute; no producer nests deeper, and both encodings carry it


class BadValue(ValueError):
    """An attribute value that is not what the encoding says; the message says why. Never leaves the reading folder."""


class TooDeep(BadValue):
    """Lists or maps nested beyond `MAX_DEPTH`."""


def from_protobuf(raw: bytes) -> Any:
    """The value of one serialised `AnyValue`; None when it holds nothing. Raises `BadValue`."""
    if not raw:
        return None
    if raw[0] == 0x0A:  # string_value: nearly all of them
        size = raw[1]
        start = 2
        if size > 0x7F:
            size, start = _varint(raw, 1)
        if start + size == len(raw):
            try:
                return raw[start:].decode("utf-8")
            except UnicodeDecodeError as error:
                raise BadValue(f"text is not UTF-8 at byte {error.start}") from None
    if raw[0] == 0x18 and len(raw) < 10:  # int_value, and not negative
        value, end = _varint(raw, 1)
        if end == len(raw):
            return value
    return _plain(_parsed(raw), 0)


def _varint(raw: bytes, start: int) -> tuple[int, int]:
    value = shift = 0
    for index in range(start, min(len(raw), start + 10)):
        byte = raw[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, index + 1
        shift += 7
    raise BadValue("a length is cut")


def _parsed(raw: bytes) -> AnyValue:
    from google.protobuf.message import DecodeError

    try:
        return AnyValue.FromString(raw)
    except DecodeError:
        if raw.count(b"\x0a") > 2 * MAX_DEPTH:
            raise TooDeep("nested too deep, or damaged") from None
        raise BadValue("damaged") from None


def _plain(value: AnyValue, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise TooDeep(f"nested deeper than {MAX_DEPTH} levels")
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_plain(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _plain(pair.value, depth + 1) for pair in value.kvlist_value.values}
    return getattr(value, kind)


# -- OTLP JSON ---------------------------------------------------------------------------------------------------------


class JsonValue(msgspec.Struct, rename="camel"):
    """`AnyValue` in OTLP JSON. int64 may be text, a double may be text (``NaN``), and null means absent."""

    string_value: str | msgspec.UnsetType | None = msgspec.UNSET
    bool_value: bool | msgspec.UnsetType | None = msgspec.UNSET
    int_value: int | str | msgspec.UnsetType | None = msgspec.UNSET
    double_value: int | float | str | msgspec.UnsetType | None = msgspec.UNSET
    array_value: "JsonList | msgspec.UnsetType | None" = msgspec.UNSET
    kvlist_value: "JsonMap | msgspec.UnsetType | None" = msgspec.UNSET
    bytes_value: str | msgspec.UnsetType | None = msgspec.UNSET


class JsonList(msgspec.Struct):
    """`ArrayValue` in OTLP JSON."""

    values: list[JsonValue] | None = None


class JsonPair(msgspec.Struct):
    """`KeyValue` in OTLP JSON, inside of a value."""

    key: str = ""
    value: JsonValue | None = None


class JsonMap(msgspec.Struct):
    """`KeyValueList` in OTLP JSON."""

    values: list[JsonPair] | None = None


_decode = msgspec.json.Decoder(JsonValue).decode
_DOUBLES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def from_json(raw: bytes | msgspec.Raw) -> Any:
    """The value of one `AnyValue` in OTLP JSON; None when it holds nothing. Raises `BadValue`."""
    try:
        value = _decode(raw)
    except RecursionError:
        raise TooDeep("nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadValue(str(error)) from None
    return _of_json(value, 0)


def _of_json(value: JsonValue | None, depth: int) -> Any:  # noqa: PLR0911 - one return for each kind of the oneof
    if value is None:
        return None
    if isinstance(value.string_value, str):
        return value.string_value
    if depth > MAX_DEPTH:
        raise TooDeep(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value.bool_value, bool):
        return value.bool_value
    if isinstance(value.int_value, int | str):
        return _int64(value.int_value)
    if isinstance(value.double_value, int | float | str):
        return _double(value.double_value)
    if isinstance(value.array_value, JsonList):
        return [_of_json(item, depth + 1) for item in value.array_value.values or ()]
    if isinstance(value.kvlist_value, JsonMap):
        return {pair.key: _of_json(pair.value, depth + 1) for pair in value.kvlist_value.values or ()}
    if isinstance(value.bytes_value, str):
        return _bytes(value.bytes_value)
    return None


def _int64(value: int | str) -> int:
    if isinstance(value, str):
        digits = value.lstrip("-")
        if not digits.isascii() or not digits.isdigit() or len(digits) > 20:
            raise BadValue(f"intValue {value[:40]!r} is no integer")
        value = int(value)
    if not -(2**63) <= value < 2**63:
        raise BadValue(f"intValue {value} does not fit 64 bits")
    return value


def _double(value: float | str) -> float:
    if isinstance(value, str):
        if value in _DOUBLES:
            return _DOUBLES[value]
        try:
            return float(value)
        except ValueError:
            raise BadValue(f"doubleValue {value[:40]!r} is no number") from None
    try:
        return float(value)
    except OverflowError:
        raise BadValue("doubleValue does not fit a double") from None


def _bytes(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise BadValue("bytesValue is not base64") from None
