"""Digests of what was asked, of what must hold, and of what was run: whether two runs may be compared."""

import hashlib
import json
from typing import Any

import msgspec
from labadapt.engine.values import plain
from labadapt.schema.model import Run
from msgspec import UNSET, UnsetType

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

# The facts of provenance that together say what was run (docs/format.md, Run).
TARGET_FACTS = ("codeRevision", "modelRoute", "promptVersion", "retrievalConfiguration", "toolSchemaDigest")


def digest(value: Any) -> str:
    """``sha256:`` and the hex digest of a JSON value, the same for equal values.

    Of the value as JSON with sorted keys, no white space and whole numbers as integers, so that neither the order of
    keys nor 412.0 for 412 makes two values differ.
    """
    return "sha256:" + hashlib.sha256(_encode(_plain(value)).encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else plain(value)


def record_digest(record: msgspec.Struct | UnsetType) -> str | UnsetType:
    """The digest of a request or a contract; absent where there is none."""
    return UNSET if isinstance(record, UnsetType) else digest(msgspec.to_builtins(record))


def target_digest(run: Run) -> str | UnsetType:
    """What identifies the target that ran: the digest of provenance's `targetDigest`, else of all `TARGET_FACTS`.

    Absent where one of the facts is not recorded: a digest of some of them would call two targets the same that are
    not known to be.
    """
    provenance = {} if isinstance(run.provenance, UnsetType) else run.provenance
    if provenance.get("targetDigest") is not None:
        return digest(provenance["targetDigest"])
    facts = {name: provenance.get(name) for name in TARGET_FACTS}
    return UNSET if None in facts.values() else digest(facts)
