"""The canonical codec: the same value gives the same bytes.

Fields stand in the order of the format, keys of free objects sorted; a typed number that is whole is written as an
integer; free content is written as recorded. One run a line, UTF-8, a line feed at the end, so that files can be
compared line by line.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from labadapt.schema.model import Bundle, Contract, Generator, Output, Result, Run, RunUsage, Step, Usage
from labadapt.schema.problems import Refusal
from labadapt.schema.result import Results
from msgspec import UNSET

Record = TypeVar("Record", bound=msgspec.Struct)

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode_results = msgspec.json.Decoder(Results).decode


def _whole(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _with_whole(record: Record, *names: str) -> Record:
    """The record with those of its numbers as integers that are whole."""
    changed = {}
    for name in names:
        value = getattr(record, name)
        if type(value) is float and value.is_integer():
            changed[name] = int(value)
    return msgspec.structs.replace(record, **changed) if changed else record


def _canonical_step(step: Step) -> Step:
    if type(step.result) is Result:
        result = _with_whole(step.result, "value", "rows")
        if result is not step.result:
            step = msgspec.structs.replace(step, result=result)
    return _with_whole(step, "start_ms", "end_ms")


def canonical(run: Run) -> Run:
    """The run with every typed number that is whole as an integer. Free content is left as it is."""
    changes: dict[str, Any] = {}
    steps = [_canonical_step(step) for step in run.steps]
    if any(new is not old for new, old in zip(steps, run.steps, strict=True)):
        changes["steps"] = steps
    if type(run.contract) is Contract:
        changes["contract"] = _with_whole(run.contract, "expected_value", "tolerance", "deadline_ms", "max_calls")
    if type(run.output) is Output:
        changes["output"] = _with_whole(run.output, "value")
    if type(run.usage) is RunUsage:
        changes["usage"] = canonical_usage(run.usage)
    if type(run.duration_ms) is float:
        changes["duration_ms"] = _whole(run.duration_ms)
    return msgspec.structs.replace(run, **changes) if changes else run


def canonical_usage(usage: RunUsage) -> RunUsage:
    """The usage with a cost that is whole as an integer."""
    usage = _with_whole(usage, "cost_usd")
    if type(usage.judge) is Usage:
        return msgspec.structs.replace(usage, judge=_with_whole(usage.judge, "cost_usd"))
    return usage


def encode_run(run: Run) -> bytes:
    """One run as canonical JSON, without a line feed."""
    return _encode(canonical(run))


def bundle_parts(runs: Iterable[bytes], generator: Generator | None = None) -> Iterator[bytes]:
    """The bytes of a bundle in parts, from encoded runs, so that a large one need not be held. At least one run."""
    made = b"" if generator is None else b'"generator":' + _encode(generator) + b","
    yield b'{"schemaVersion":1,' + made + b'"runs":[\n'
    for index, run in enumerate(runs):
        yield b",\n" + run if index else run
    yield b"\n]}\n"


def encode_bundle(bundle: Bundle) -> bytes:
    """A bundle as canonical JSON. `decode_bundle` of it gives an equal value."""
    generator = None if bundle.generator is UNSET else bundle.generator
    return b"".join(bundle_parts(map(encode_run, bundle.runs), generator))


def decode_bundle(data: bytes, file: str | None = None) -> Bundle:
    """The bundle that `data` holds. Raises `Refusal` with every fault, as `labadapt.schema.validate` finds them."""
    from labadapt.schema.validate import read_bundle

    return read_bundle(data, file)


def encode_results(results: Results) -> bytes:
    """Check results as canonical JSON, with a line feed at the end."""
    return _encode(results) + b"\n"


def decode_results(data: bytes, file: str | None = None) -> Results:
    """The results that `data` holds. Raises `Refusal` with every fault."""
    from labadapt.schema.parsing import parse
    from labadapt.schema.schemas import with_integers

    parsed = parse(data, file)
    if parsed.problems:
        raise Refusal(parsed.problems)
    try:
        return _decode_results(data)  # the short way, that takes no 3.0 for an integer
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    try:
        return msgspec.convert(with_integers(parsed.value, "result"), Results)
    except msgspec.ValidationError:
        from labadapt.schema.faults import faults

        raise Refusal(faults(parsed.value, "result", file)) from None
