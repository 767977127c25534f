"""JSON Schema 2020-12 of the file formats, made from the typed structs: one source, two forms.

What types cannot say and JSON Schema can (a result only with status ok, and so on) is the table `CONDITIONS`; the
rules beyond it are in `labadapt.schema.validate`.
"""

from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeAlias, cast, get_args

import msgspec

SchemaName: TypeAlias = Literal[
    "bundle",
    "result",
    "cases",
    "mapping",
    "reliability",
    "comparison",
    "coverage",
    "gate",
    "decision",
    "langfuse-item",
    "manifest",
]
SCHEMA_NAMES: tuple[SchemaName, ...] = get_args(SchemaName)
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODULES = {
    "bundle": "model",
    "decision": "gate",
    "langfuse-item": "langfuse_item",
}  # under labadapt.schema; else of the format's name
_ROOTS = {
    "bundle": ("Bundle", "labadapt run bundle, version 1"),
    "result": ("Results", "labadapt check result, version 1"),
    "cases": ("CasesFile", "labadapt cases file, version 1"),
    "mapping": ("MappingFile", "labadapt mapping file, version 1"),
    "reliability": ("Reliability", "labadapt reliability report, version 1"),
    "comparison": ("Comparison", "labadapt comparison, version 1"),
    "coverage": ("Coverage", "labadapt coverage report, version 1"),
    "gate": ("GateFile", "labadapt gate file, version 1"),
    "decision": ("Decision", "labadapt gate decision, version 1"),
    "manifest": ("Manifest", "labadapt manifest of a folder of bundles, version 1"),
    "langfuse-item": ("LangfuseItem", "labadapt contract in a Langfuse dataset item, version 1"),
}


def _only(field: str, key: str, allowed: list[str], why: str) -> dict[str, Any]:
    """The condition that `field` stands only where `key` has one of the values."""
    return {"if": {"required": [field]}, "then": {"properties": {key: {"enum": allowed}}}, "$comment": why}


# struct → conditions between its fields (format.md)
CONDITIONS: dict[str, list[dict[str, Any]]] = {
    "Step": [
        _only("result", "status", ["ok"], "result stands only with status ok"),
        _only("error", "status", ["timeout", "error"], "error stands only with status timeout or error"),
    ],
    "Contract": [
        _only("expectedValue", "disposition", ["answer"], 'expectedValue stands only with disposition "answer"'),
    ],
}


def struct_of(name: SchemaName) -> type:
    """The struct that is the root of a format."""
    module = import_module(f"labadapt.schema.{_MODULES.get(name, name)}")
    return cast("type", getattr(module, _ROOTS[name][0]))


@cache
def json_schema(name: SchemaName) -> dict[str, Any]:
    """The JSON Schema of a format. Do not change what it returns: it is made once."""
    made = msgspec.json.schema(struct_of(name))
    definitions = {key: _described(key, value) for key, value in made.pop("$defs").items()}
    return {
        "$schema": DIALECT,
        "$id": f"urn:labadapt:schema:{name}:1",
        "title": _ROOTS[name][1],
        "description": f"Format of a {_ROOTS[name][1].removeprefix('labadapt ')}. Unknown fields are faults.",
        **made,
        "$defs": definitions,
    }


def _described(key: str, definition: dict[str, Any]) -> dict[str, Any]:
    if key in CONDITIONS:
        return {**definition, "allOf": CONDITIONS[key]}
    return definition


def definition(name: SchemaName, key: str) -> dict[str, Any]:
    """The schema of one definition of a format, such as `Run`, standing alone."""
    whole = json_schema(name)
    return {"$schema": DIALECT, "$defs": whole["$defs"], **cast("dict[str, Any]", whole["$defs"][key])}


def with_integers(value: Any, name: SchemaName, key: str | None = None) -> Any:
    """A parsed value with whole numbers as integers wherever the format has an integer.

    JSON has one kind of number, so that ``3.0`` is an integer to JSON Schema; typed decoding takes it for a float. Free
    content is left as it is. `key` names a definition of the format, such as `Run`, that the value is held to.
    """
    whole = json_schema(name)
    return _integers(value, whole["$defs"][key] if key else whole, whole["$defs"])


def _integers(value: Any, rule: Any, definitions: dict[str, Any]) -> Any:
    while isinstance(rule, dict) and "$ref" in rule:
        rule = definitions[rule["$ref"].rpartition("/")[2]]
    if not isinstance(rule, dict):  # `additionalProperties: false`
        return value
    if isinstance(value, dict):
        named, others = rule.get("properties", {}), rule.get("additionalProperties", False)
        return _inside(value, rule, definitions) or {
            key: _integers(inner, named.get(key, others), definitions) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_integers(inner, rule.get("items", False), definitions) for inner in value]
    whole = type(value) is float and value.is_integer() and _takes_integers(rule)
    return int(value) if whole else value


def _inside(value: Any, rule: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """The value by the branch of a union that holds a definition, such as that of an object or null; None without."""
    references = [branch for branch in rule.get("anyOf", ()) if "$ref" in branch]
    return _integers(value, references[0], definitions) if references else None


def _takes_integers(rule: dict[str, Any]) -> bool:
    return (
        rule.get("type") == "integer" or 1 in rule.get("enum", ()) or any(map(_takes_integers, rule.get("anyOf", ())))
    )
