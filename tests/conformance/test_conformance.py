"""The kit that strangers hold their plug-ins to: it passes the example, and names what a broken one does not hold."""

import importlib.util
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from labadapt.adapters.registry import conventions
from labadapt.adapters.sources.otlp import SOURCE as OTLP
from labadapt.adapters.span import Convention, Field, Input, Match, Reading, Source, Span
from labadapt.adapters.testing import Nonconforming, conformance, produced

FRIENDLY = Path(__file__).parents[1] / "plugins" / "friendly"
SAMPLES = Path(__file__).parents[2] / "samples" / "producers"
SAMPLE = (FRIENDLY / "export.acme").read_bytes()
GOLDEN = (FRIENDLY / "export.golden.json").read_bytes()


def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("labadapt_friendly", FRIENDLY / "labadapt_friendly.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


PLUGIN = module()
TABULAR: Source = PLUGIN.TABULAR
ACME: Convention = PLUGIN.ACME


def faults_of(plugin: object, **given: object) -> list[str]:
    asked = {"sample": SAMPLE, "golden": GOLDEN, "source": TABULAR, **given}
    with pytest.raises(Nonconforming) as found:
        conformance(plugin, **asked)  # type: ignore[arg-type] # the wrong types are the test
    return found.value.faults


def test_the_example_convention_conforms() -> None:
    conformance(ACME, sample=SAMPLE, golden=GOLDEN, source=TABULAR)


def test_a_first_golden_file_is_produced() -> None:
    assert produced(ACME, sample=SAMPLE, source=TABULAR) == GOLDEN


def test_a_source_conforms_too() -> None:
    # The installed conventions do not know ACME's keys; the case's root and its output are the lab's own attributes.
    sample = SAMPLE.replace(
        b"acme.kind=tool;acme.tool=query", b"gen_ai.operation.name=execute_tool;gen_ai.tool.name=query"
    )
    conformance(TABULAR, sample=sample, golden=produced(TABULAR, sample=sample))


def test_another_golden_is_told_with_the_first_byte_that_differs() -> None:
    assert faults_of(ACME, golden=GOLDEN.replace(b"latency", b"latencY", 1)) == [
        f"the bundle is not the golden one: they differ from byte {GOLDEN.index(b'latency') + 6}"
    ]


def test_what_is_not_admitted_is_told() -> None:
    assert faults_of(replace(ACME, family="vendor")) == [
        'the plug-in is not admitted: its family is "vendor"; a stranger\'s is "plugin"'
    ]
    assert "not a Convention" in faults_of("acme")[0]
    assert (
        "Invalid enum value 'yaml'"
        in faults_of(replace(ACME, arguments=(Field("acme.arguments", encoding="yaml"),)))[0]
    )  # type: ignore[arg-type] # the wrong word is the test


def test_a_convention_that_recognises_nothing_of_its_sample_is_told() -> None:
    found = faults_of(replace(ACME, tool=(Match("acme.kind", ("tools",)),)))
    assert 'the convention "acme" recognises no tool span of its own sample' in found


def test_a_convention_that_another_one_shares_is_told() -> None:
    sample = SAMPLE.replace(b"acme.kind=tool", b"acme.kind=tool;gen_ai.operation.name=execute_tool")
    golden = produced(ACME, sample=sample, source=TABULAR)
    found = faults_of(ACME, sample=sample, golden=golden)
    assert found == ["other conventions claim the tool spans of the sample too: otel-genai, otel-genai-events"]
    conformance(ACME, sample=sample, golden=golden, source=TABULAR, shares=("otel-genai", "otel-genai-events"))


def test_a_source_that_raises_anything_but_a_refusal_is_told() -> None:
    def explode(given: Input, reading: Reading) -> Iterator[Span]:
        data = given.stream.read()
        if len(data) == 20:
            raise KeyError("a cell")
        return TABULAR.decode(Input(given.name, io.BytesIO(data)), reading)

    found = faults_of(replace(TABULAR, decode=explode), golden=produced(TABULAR, sample=_plain()), sample=_plain())
    assert found == ["cut after 20 bytes, the source raises KeyError: 'a cell'"]


def _plain() -> bytes:
    return SAMPLE.replace(
        b"acme.kind=tool;acme.tool=query", b"call=1;gen_ai.operation.name=execute_tool;gen_ai.tool.name=q"
    )


@pytest.mark.parametrize(
    ("name", "sample", "shares"),
    [
        ("google-adk", "google-adk@2.13.0-schema2/02_timeout_recovered.pb", ("otel-genai", "otel-genai-events")),
        ("openinference", "langchain-openinference@0.1.80/02_timeout_recovered.pb", ()),
        ("mlflow", "mlflow-tracing@3.17.2/02_timeout_recovered.pb", ()),
        ("vercel-ai-sdk", "ai-sdk@6.0.326/02_timeout_recovered.pb", ()),
        ("langfuse", "langfuse-observe@5.0.4/02_timeout_recovered.pb", ()),
    ],
)
def test_built_in_tables_would_pass_as_a_strangers(name: str, sample: str, shares: tuple[str, ...]) -> None:
    table = replace(conventions()[name], family="plugin", order=0)
    data = (SAMPLES / sample).read_bytes()
    conformance(table, sample=data, golden=produced(table, sample=data), source=OTLP, shares=shares)
