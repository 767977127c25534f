"""OTLP as JSON with the field names of protobuf: as `MessageToJson(preserving_proto_field_name=True)` writes it, and as
Go's `encoding/json` writes the structs that are generated from the protocol.

In the latter a value stands in two wrappers: ``{"Value": {"StringValue": "x"}}``.
"""

import re
from typing import Any

import msgspec
from labadapt.adapters.reading.faults import Fault
from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.values import JsonValue, from_json

_PART = re.compile(r"_([a-z])")
_VALUE = "_value"
_DEEPEST = 64


def camel(value: Any, depth: int = 0) -> Any:
    """The same with the field names of OTLP JSON, values unwrapped, and nulls left out. Raises `Fault` (TOO_DEEP).

    Text is never touched: attributes are lists of key and value, so that no key of theirs is a field name.
    """
    if depth > _DEEPEST * 4:
        raise Fault("TOO_DEEP", "the JSON is nested too deep")
    if isinstance(value, list):
        return [camel(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"Value"}:
        return _unwrapped(value["Value"], depth + 1)
    return {_name(key): camel(inner, depth + 1) for key, inner in value.items() if inner is not None}


def _unwrapped(value: Any, depth: int) -> Any:
    """The value in the wrapper of a Go struct. Raises `Fault` for one that lost its kind."""
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) != 1:
        raise Fault("BAD_FIELD", "a value has lost its kind: Go leaves out what is empty, zero or false")
    return {_name(key): camel(inner, depth + 1) for key, inner in value.items()}


def _name(key: str) -> str:
    key = key[:1].lower() + key[1:] if key.endswith("Value") else key
    return _PART.sub(lambda match: match.group(1).upper(), key)


def any_value(node: Node) -> Any:
    """The plain value of an `AnyValue` with the field names of protobuf. Raises `Fault`."""
    try:
        return from_json(msgspec.convert(camel(node.value), JsonValue | None))
    except msgspec.ValidationError as error:
        raise node.fault(f"an attribute's value: {error}") from None
    except Fault as fault:
        raise Fault(fault.code, fault.message, node.pointer, **fault.more) from None
