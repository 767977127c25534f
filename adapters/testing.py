"""The conformance kit: what a plug-in from another distribution must hold, in a line of its own tests.

    from labadapt.adapters.testing import conformance

    def test_conformance():
        conformance(CONVENTION, sample=SAMPLE.read_bytes(), golden=GOLDEN.read_bytes())

`produced` gives the bytes of a first golden file; read them before you keep them. The kit reads and writes no file.
"""

import io
from collections.abc import Callable, Iterable, Iterator

import msgspec
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.convert import convert
from labadapt.adapters.recognise import Recogniser
from labadapt.adapters.registry import conventions, plugin_fault
from labadapt.adapters.sources.otlp import SOURCE as OTLP
from labadapt.adapters.span import Convention, Input, Reading, Source, Span, Tally, Wanted
from labadapt.schema.codec import bundle_parts, encode_run
from labadapt.schema.problems import CODES, Refusal
from labadapt.schema.validate import validate

NAME = "sample"
MOST_CUTS = 1000
# 2100-01-01: samples may be of any day, and the rule on impossible times needs a now.
NOW_NS = 4_102_444_800_000_000_000


class Nonconforming(AssertionError):
    """What a plug-in does not hold; each item of `faults` is one sentence."""

    def __init__(self, faults: list[str]) -> None:
        """Hold the faults."""
        self.faults = faults
        super().__init__("\n".join(faults))


def conformance(  # noqa: PLR0913 - keywords, most with defaults
    plugin: Convention | Source,
    *,
    sample: bytes,
    golden: bytes,
    source: Source | None = None,
    shares: Iterable[str] = (),
    options: Options | None = None,
) -> None:
    """Hold a plug-in to all that the host relies on. Raises `Nonconforming` with every fault.

    `sample` is an export, `golden` the bundle that it must become, byte for byte. `source` reads the sample of a
    convention (OTLP unless another is given). `shares` names the other conventions that may claim the sample's tool
    spans too. `options`: how the sample is converted.
    """
    reader = plugin if isinstance(plugin, Source) else source or OTLP
    fault = plugin_fault(plugin, stranger=True)
    if fault is not None:
        raise Nonconforming([f"the plug-in is not admitted: {fault}"])
    try:
        spans = list(_spans(reader, sample, Wanted(everything=True)))
        faults = list(_faults(plugin, reader, sample, golden, spans, frozenset(shares), options or _options()))
    except Refusal as refusal:
        raise Nonconforming([f"the sample is refused: {refusal}"]) from None
    if faults:
        raise Nonconforming(faults)


def produced(
    plugin: Convention | Source, *, sample: bytes, source: Source | None = None, options: Options | None = None
) -> bytes:
    """The bundle that a plug-in makes of a sample: the first golden file. Raises `Refusal`, of a run as well."""
    reader = plugin if isinstance(plugin, Source) else source or OTLP
    return _bundle(_converted(_with(plugin), reader, sample, options or _options()))


def _options() -> Options:
    return Options(now_ns=NOW_NS, version="0")


def _with(plugin: Convention | Source) -> list[Convention]:
    """The installed conventions, and the one under test among them once."""
    installed = conventions().admitted()
    if isinstance(plugin, Source):
        return installed
    return [*(one for one in installed if one.name != plugin.name), plugin]


def _spans(source: Source, data: bytes, wanted: Wanted) -> Iterator[Span]:
    reading = Reading(wanted=wanted, tally=Tally(), limits=_options().limits, now_ns=NOW_NS)
    return source.decode(Input(NAME, io.BytesIO(data)), reading)


def _converted(tables: list[Convention], source: Source, data: bytes, options: Options) -> Conversion:
    conversion = convert([Input(NAME, io.BytesIO(data))], source, options, tables)
    for refused in conversion.refused:
        raise Refusal(refused.problems)
    return conversion


def _bundle(conversion: Conversion) -> bytes:
    return b"".join(bundle_parts(map(encode_run, conversion.runs)))


def _faults(  # noqa: PLR0913, PLR0917 - what is under test, and what it is held to
    plugin: Convention | Source,
    source: Source,
    sample: bytes,
    golden: bytes,
    spans: list[Span],
    shares: frozenset[str],
    options: Options,
) -> Iterator[str]:
    tables = _with(plugin)
    made = _bundle(_converted(tables, source, sample, options))
    if made != golden:
        yield f"the bundle is not the golden one: they differ from byte {_first_difference(made, golden)}"
    yield from (f"the bundle is not valid: {problem.code}: {problem.message}" for problem in validate(made))
    if _bundle(_converted(tables, source, sample, options)) != made:
        yield "the same sample gives other bytes the second time"
    for name, change in _CHANGES.items():
        if _bundle(_converted(tables, _given(source.name, change(spans)), b"", options)) != made:
            yield name
    if isinstance(plugin, Convention):
        yield from _claims(plugin, tables, spans, shares)
    yield from _cuts(source, sample)


def _first_difference(one: bytes, other: bytes) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (mine, yours) in enumerate(pairs) if mine != yours), min(len(one), len(other)))


def _given(name: str, spans: list[Span]) -> Source:
    """A source that yields these spans, whatever it is given."""

    def decode(_item: Input, reading: Reading) -> Iterator[Span]:
        for span in spans:
            reading.tally.read += 1
            yield span

    return Source(name=name, summary="spans of the sample", claims=lambda _head: 100, decode=decode)


def _with_unknown_keys(spans: list[Span]) -> list[Span]:
    unknown = {"unknown.text": "x", "unknown.number": 1, "unknown.list": ["x"]}
    return [msgspec.structs.replace(span, attributes={**span.attributes, **unknown}) for span in spans]


_CHANGES: dict[str, Callable[[list[Span]], list[Span]]] = {
    "the spans in reverse order give another bundle": lambda spans: spans[::-1],
    "the spans in another order give another bundle": lambda spans: spans[1::2] + spans[0::2],
    "attributes that no table names change the bundle": _with_unknown_keys,
}


def _claims(plugin: Convention, tables: list[Convention], spans: list[Span], shares: frozenset[str]) -> Iterator[str]:
    """Whether the convention recognises a tool span of its sample, and no other does that is not said to share them."""
    observed = [Recogniser(tables).recognise(span) for span in spans]
    claimed = [found for found in observed if found.role == "tool" and plugin.name in found.conventions]
    if not claimed:
        yield f'the convention "{plugin.name}" recognises no tool span of its own sample'
    others = sorted({name for found in claimed for name in found.conventions} - {plugin.name} - shares)
    if others:
        yield f"other conventions claim the tool spans of the sample too: {', '.join(others)}"


def _cuts(source: Source, sample: bytes) -> Iterator[str]:
    """Whether the sample, cut at any byte, gives spans or a refusal with a known code, and nothing else."""
    for size in range(0, len(sample), max(1, len(sample) // MOST_CUTS)):
        try:
            for _ in _spans(source, sample[:size], Wanted()):
                pass
        except Refusal as refusal:
            unknown = [problem.code for problem in refusal.problems if problem.code not in CODES]
            if unknown:
                yield f"cut after {size} bytes, the sample is refused with an unknown code: {unknown[0]}"
                return
        except Exception as error:  # noqa: BLE001 - whatever else a stranger's source raises is the fault looked for
            yield f"cut after {size} bytes, the source raises {type(error).__name__}: {error}"
            return
