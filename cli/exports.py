"""A trace export where a run bundle is asked for: the mistake of a first minute, told as what it is."""

import io

from labadapt.cli.files import display_name, read_file
from labadapt.schema.model import Bundle
from labadapt.schema.problems import Problem, Refusal, Where

# What the format says of an export first: no field of a bundle is there, or it is no JSON at all.
_STRANGE = frozenset(
    {"BAD_ENCODING", "NOT_JSON", "MISSING_FIELD", "UNKNOWN_FIELD", "WRONG_TYPE", "UNSUPPORTED_VERSION"}
)

_WORDS = (b'"schemaVersion"', b'"runs"')  # a bundle, however broken
_SURE = 50  # less is claimed of any JSON


def read_bundle(name: str) -> Bundle:
    """The bundle in a file. Raises `Refusal` with every fault, or ``NOT_A_BUNDLE`` for an export of traces."""
    return bundle_of(read_file(name), display_name(name))


def bundle_of(data: bytes, shown: str) -> Bundle:
    """The bundle that the content of a file is. Raises `Refusal` as `read_bundle` does."""
    from labadapt.schema.codec import decode_bundle

    try:
        return decode_bundle(data, shown)
    except Refusal as refusal:
        raise Refusal(told_apart(data, shown, list(refusal.problems))) from None


def told_apart(data: bytes, shown: str, faults: list[Problem]) -> list[Problem]:
    """The faults of a bundle, or the one fault that it is an export of traces."""
    if not faults or faults[0].code not in _STRANGE:
        return faults
    source = _source(data)
    return faults if source is None else [_export(shown, source)]


def _source(data: bytes) -> str | None:
    """The source that surely reads the file, by its content."""
    from labadapt.adapters.reading.layers import HEAD
    from labadapt.adapters.span import Input, Limits
    from labadapt.cli.sources import by_content

    head = data[:HEAD]
    if any(word in head for word in _WORDS):
        return None
    try:
        source = by_content(Limits())(Input("", io.BufferedReader(io.BytesIO(data), HEAD)))
    except Refusal:
        return None
    return None if 0 < source.claims(head) < _SURE else source.name  # 0: what it is sure of is compressed


def _export(shown: str, source: str) -> Problem:
    return Problem(
        code="NOT_A_BUNDLE",
        message="this is an export of traces, which is to be converted first",
        where=Where(file=shown),
        found=f"what `labadapt {source}` reads",
        expected="a run bundle",
    )
