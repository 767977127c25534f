"""OTLP as JSON with the field names of protobuf: as `MessageToJson(preserving_proto_field_name=True)` writes it, and as
Go's `encoding/json` writes the structs that are generated from the protocol.

In the latter a value stands in two wrappers: ``{"Value": {"StringValue": "x"}}``.
"""

import re
from typing import Any

import msgspec
from labadapt.adapters.reading.faults import Fault
from labadapt.adapters.reading.nodes import Node, escaped
from labadapt.adapters.reading.values import JsonValue, from_json

_PART = re.compile(r"_([a-z])")
_DEEPEST = 250  # the levels of a document down to an attribute, and three for each of its own


def camel(value: Any, pointer: str = "", depth: int = 0) -> Any:
    """The same with the field names of OTLP JSON, values unwrapped, and nulls left out. Raises `Fault`.

    Text is never touched: attributes are lists of key and value, so that no key of theirs is a field name. `pointer`:
    the place of the value.
    """
    if depth > _DEEPEST:
        raise Fault("TOO_DEEP", "the JSON is nested too deep", pointer)
    if isinstance(value, list):
        return [camel(item, f"{pointer}/{number}", depth + 1) for number, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"Value"}:
        value, pointer = value["Value"], f"{pointer}/Value"
        if not isinstance(value, dict | None) or (value is not None and len(value) != 1):
            message = "a value has lost its kind: Go leaves out what is empty, zero or false"
            raise Fault("BAD_FIELD", message, pointer)
    return {
        _name(key): camel(inner, f"{pointer}/{escaped(key)}", depth + 1)
        for key, inner in (value or {}).items()
        if inner is not None
    }


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
