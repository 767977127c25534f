"""How the samples of this folder were recorded, from the episodes of ``../producers``.

Run in an environment of its own with opentelemetry-sdk, opentelemetry-exporter-zipkin-json, mlflow-tracing and
opentelemetry-proto, and Go with go.opentelemetry.io/otel beside it. README.md says which files real exporters wrote,
and which were made by hand here.
"""

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

HERE = Path(__file__).parent
EPISODE = HERE.parent / "producers/pydantic-ai@2.68.0-v5/02_timeout_recovered.pb"
OPENINFERENCE = HERE.parent / "producers/langchain-openinference@0.1.80/02_timeout_recovered.pb"
MLFLOW = HERE.parent / "producers/mlflow-tracing@3.17.2/02_timeout_recovered.pb"
KINDS = ("", "internal", "server", "client", "producer", "consumer")
CODES = ("UNSET", "OK", "ERROR")
SPACE = {"indent": 1, "ensure_ascii": False}


def traces(path: Path = EPISODE) -> TracesData:
    return TracesData.FromString(path.read_bytes())


def value(any_value: Any) -> Any:
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(item) for item in any_value.array_value.values]
    return getattr(any_value, kind)


def pairs(attributes: Any) -> dict[str, Any]:
    return {pair.key: value(pair.value) for pair in attributes}


def text(one: Any) -> str:
    """A value as Go's pdata writes it in text."""
    return one if isinstance(one, str) else json.dumps(one, separators=(",", ":"))


def texts(attributes: Any) -> dict[str, str]:
    return {key: text(one) for key, one in pairs(attributes).items()}


def spans(message: TracesData) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    for group in message.resource_spans:
        for scoped in group.scope_spans:
            for span in scoped.spans:
                yield span, scoped.scope, pairs(group.resource.attributes)


def stamp(time_ns: int, separator: str = "T", end: str = "Z") -> str:
    from datetime import UTC, datetime

    second = datetime.fromtimestamp(time_ns // 10**9, UTC).strftime(f"%Y-%m-%d{separator}%H:%M:%S")
    return f"{second}.{time_ns % 10**9:09d}{end}"


# -- OTLP in other wrappings -------------------------------------------------------------------------------------------


def otlp(message: TracesData, *, hexadecimal: bool = True, numbers: bool = False) -> dict[str, Any]:
    """OTLP JSON; by hand only in the ids, which protobuf writes in base64."""
    made: dict[str, Any] = MessageToDict(message, use_integers_for_enums=numbers)
    for group in made["resourceSpans"] if hexadecimal else ():
        for scoped in group["scopeSpans"]:
            for span in scoped["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return made


def go_structs(message: TracesData) -> str:
    """What Go's encoding/json makes of the structs that are generated from the protocol."""
    made = MessageToDict(message, preserving_proto_field_name=True, use_integers_for_enums=True)

    def wrapped(one: Any) -> Any:
        if isinstance(one, list):
            return [wrapped(item) for item in one]
        if not isinstance(one, dict):
            return one
        kind = next((key for key in one if key.endswith("_value")), None)
        if kind is not None and len(one) == 1:
            inner = int(one[kind]) if kind == "int_value" else wrapped(one[kind])
            return {"Value": {"".join(part.capitalize() for part in kind.split("_")): inner}}
        return {key: int(item) if key.endswith("_nano") else wrapped(item) for key, item in one.items()}

    return json.dumps(wrapped(made), separators=(",", ":"), ensure_ascii=False) + "\n"


def java_log(message: TracesData) -> str:
    lines = ["Dec 01, 2026 5:47:36 AM com.example.Main main\nINFO: agent started"]
    for group in otlp(message, numbers=True)["resourceSpans"]:
        logged = {"resource": group["resource"], "scopeSpans": group["scopeSpans"]}
        lines.append(
            "Dec 01, 2026 5:47:37 AM io.opentelemetry.exporter.logging.otlp.OtlpJsonLoggingSpanExporter export\n"
            f"INFO: {json.dumps(logged, separators=(',', ':'), ensure_ascii=False)}"
        )
    return "\n".join([*lines, "Dec 01, 2026 5:47:38 AM com.example.Main main\nINFO: agent done"]) + "\n"


def field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 0x7F:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


# -- stores ------------------------------------------------------------------------------------------------------------


def jaeger_tag(key: str, one: Any) -> dict[str, Any]:
    kinds = {bool: "bool", int: "int64", float: "float64"}
    return {"key": key, "type": kinds.get(type(one), "string"), "value": one if type(one) in kinds else text(one)}


def jaeger(message: TracesData) -> dict[str, Any]:
    made, processes = [], {}
    for span, scope, resource in spans(message):
        service = resource.pop("service.name", "")
        process = {"serviceName": service, "tags": [jaeger_tag(*pair) for pair in resource.items()]}
        key = next((name for name, known in processes.items() if known == process), f"p{len(processes) + 1}")
        processes[key] = process
        tags = {"otel.scope.name": scope.name, "otel.scope.version": scope.version, **pairs(span.attributes)}
        tags["span.kind"] = KINDS[span.kind]
        if span.status.code:
            tags["otel.status_code"] = CODES[span.status.code]
        if span.status.code == 2:
            tags["error"] = True
        if span.status.message:
            tags["otel.status_description"] = span.status.message
        tags["internal.span.format"] = "otlp"
        trace = span.trace_id.hex()
        reference = {"refType": "CHILD_OF", "traceID": trace, "spanID": span.parent_span_id.hex()}
        made.append(
            {
                "traceID": trace,
                "spanID": span.span_id.hex(),
                "operationName": span.name,
                "references": [reference] if span.parent_span_id else [],
                "startTime": span.start_time_unix_nano // 1000,
                "duration": (span.end_time_unix_nano - span.start_time_unix_nano) // 1000,
                "tags": [jaeger_tag(*pair) for pair in tags.items()],
                "logs": [
                    {
                        "timestamp": event.time_unix_nano // 1000,
                        "fields": [
                            jaeger_tag(*pair) for pair in {"event": event.name, **pairs(event.attributes)}.items()
                        ],
                    }
                    for event in span.events
                ],
                "processID": key,
                "warnings": None,
            }
        )
    trace = {"traceID": made[0]["traceID"], "spans": made, "processes": processes, "warnings": None}
    return {"data": [trace], "total": 0, "limit": 0, "offset": 0, "errors": None}


def zipkin_of_collector(message: TracesData) -> list[dict[str, Any]]:
    made = []
    for span, scope, resource in spans(message):
        tags = {key: text(one) for key, one in resource.items() if key != "service.name"}
        tags |= {"otel.library.name": scope.name, "otel.library.version": scope.version, **texts(span.attributes)}
        if span.kind == 1:
            tags["span.kind"] = "internal"
        if span.status.code:
            tags["otel.status_code"] = CODES[span.status.code].capitalize()
        if span.status.code == 2:
            tags |= {"error": "true", "otel.status_description": span.status.message}
        one = {
            "traceId": span.trace_id.hex(),
            "parentId": span.parent_span_id.hex(),
            "id": span.span_id.hex(),
            "kind": KINDS[span.kind].upper() if span.kind > 1 else None,
            "name": span.name,
            "timestamp": (span.start_time_unix_nano + 500) // 1000,
            "duration": max(1, (span.end_time_unix_nano - span.start_time_unix_nano + 500) // 1000),
            "localEndpoint": {"serviceName": resource["service.name"]},
            "annotations": [
                {
                    "timestamp": (event.time_unix_nano + 500) // 1000,
                    "value": f"{event.name}|{json.dumps(pairs(event.attributes), separators=(',', ':'))}|0",
                }
                for event in span.events
            ],
            "tags": tags,
        }
        made.append({key: item for key, item in one.items() if item not in (None, "", [])})
    return made


def clickhouse(message: TracesData) -> Iterator[dict[str, Any]]:
    for span, scope, resource in spans(message):
        yield {
            "Timestamp": stamp(span.start_time_unix_nano, " ", ""),
            "TraceId": span.trace_id.hex(),
            "SpanId": span.span_id.hex(),
            "ParentSpanId": span.parent_span_id.hex(),
            "TraceState": "",
            "SpanName": span.name,
            "SpanKind": KINDS[span.kind].capitalize(),
            "ServiceName": resource["service.name"],
            "ResourceAttributes": {key: text(one) for key, one in resource.items()},
            "ScopeName": scope.name,
            "ScopeVersion": scope.version,
            "SpanAttributes": texts(span.attributes),
            "Duration": span.end_time_unix_nano - span.start_time_unix_nano,
            "StatusCode": CODES[span.status.code].capitalize(),
            "StatusMessage": span.status.message,
            "Events.Timestamp": [stamp(event.time_unix_nano, " ", "") for event in span.events],
            "Events.Name": [event.name for event in span.events],
            "Events.Attributes": [texts(event.attributes) for event in span.events],
            "Links.TraceId": [],
            "Links.SpanId": [],
            "Links.TraceState": [],
            "Links.Attributes": [],
        }


def clickhouse_old(message: TracesData) -> dict[str, Any]:
    """The format JSON, 64-bit numbers quoted, of a table from before the scope had columns."""
    rows = []
    for row in clickhouse(message):
        row["SpanAttributes"] |= {
            "otel.scope.name": row.pop("ScopeName"),
            "otel.scope.version": row.pop("ScopeVersion"),
        }
        row["Duration"] = str(row["Duration"])
        row["StatusCode"] = f"STATUS_CODE_{row['StatusCode'].upper()}"
        row["SpanKind"] = f"SPAN_KIND_{row['SpanKind'].upper()}"
        rows.append(row)
    meta = [{"name": key, "type": "String"} for key in rows[0]]
    return {"meta": meta, "data": rows, "rows": len(rows), "statistics": {"elapsed": 0.001, "rows_read": len(rows)}}


def phoenix(message: TracesData) -> dict[str, Any]:
    data = []
    for span, _, _ in spans(message):
        attributes = pairs(span.attributes)
        start, end = span.start_time_unix_nano, span.end_time_unix_nano
        data.append(
            {
                "id": base64.b64encode(f"Span:{len(data)}".encode()).decode(),
                "name": span.name,
                "context": {"trace_id": span.trace_id.hex(), "span_id": span.span_id.hex()},
                "span_kind": attributes.pop("openinference.span.kind", "UNKNOWN"),
                "parent_id": span.parent_span_id.hex() or None,
                "start_time": stamp(start, end="")[:26] + "+00:00",
                "end_time": stamp(end, end="")[:26] + "+00:00",
                "status_code": CODES[span.status.code],
                "status_message": span.status.message,
                "attributes": attributes,
                "events": [
                    {
                        "name": event.name,
                        "timestamp": stamp(event.time_unix_nano, end="")[:26] + "+00:00",
                        "attributes": pairs(event.attributes),
                    }
                    for event in span.events
                ],
            }
        )
    return {"next_cursor": None, "data": data}


def phoenix_otlp(message: TracesData) -> dict[str, Any]:
    """Its times go through a double of seconds."""
    names = {str: "string_value", bool: "bool_value", int: "int_value", float: "double_value"}
    others = ("array_value", "bytes_value", "kvlist_value", *names.values())

    def pair(key: str, one: Any) -> dict[str, Any]:
        return {"key": key, "value": {name: one if name == names[type(one)] else None for name in sorted(others)}}

    def time(time_ns: int) -> int:
        return int(time_ns // 1000 / 1e6 * 1_000_000_000)

    data = [
        {
            "attributes": [pair(*item) for item in pairs(span.attributes).items()],
            "dropped_attributes_count": None,
            "end_time_unix_nano": time(span.end_time_unix_nano),
            "events": [
                {
                    "attributes": [pair(*item) for item in pairs(event.attributes).items()],
                    "name": event.name,
                    "time_unix_nano": time(event.time_unix_nano),
                }
                for event in span.events
            ],
            "kind": "SPAN_KIND_INTERNAL",
            "name": span.name,
            "parent_span_id": span.parent_span_id.hex() or None,
            "span_id": span.span_id.hex(),
            "start_time_unix_nano": time(span.start_time_unix_nano),
            "status": {"code": span.status.code, "message": span.status.message or None},
            "trace_id": span.trace_id.hex(),
        }
        for span, _, _ in spans(message)
    ]
    return {"next_cursor": None, "data": data}


# -- real exporters ----------------------------------------------------------------------------------------------------


def readable(message: TracesData) -> Iterator[Any]:
    """The spans as those of the Python SDK."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(trace: bytes, span: bytes) -> SpanContext:
        return SpanContext(int.from_bytes(trace, "big"), int.from_bytes(span, "big"), False, TraceFlags(1))

    for span, scope, resource in spans(message):
        yield ReadableSpan(
            name=span.name,
            context=context(span.trace_id, span.span_id),
            parent=context(span.trace_id, span.parent_span_id) if span.parent_span_id else None,
            resource=Resource(resource),
            attributes=pairs(span.attributes),
            events=[Event(event.name, pairs(event.attributes), event.time_unix_nano) for event in span.events],
            kind=SpanKind(span.kind - 1),
            status=Status(StatusCode(span.status.code), span.status.message or None),
            start_time=span.start_time_unix_nano,
            end_time=span.end_time_unix_nano,
            instrumentation_scope=InstrumentationScope(scope.name, scope.version),
        )


def python_console(message: TracesData) -> str:
    return "".join(span.to_json() + "\n" for span in readable(message))


def zipkin_of_python(message: TracesData) -> str:
    from opentelemetry.exporter.zipkin.json.v2 import JsonV2Encoder
    from opentelemetry.exporter.zipkin.node_endpoint import NodeEndpoint

    endpoint = NodeEndpoint()
    endpoint.service_name = "shop-agent"
    return JsonV2Encoder(None).serialize(list(readable(message)), endpoint)  # as ZipkinExporter makes it


def mlflow(message: TracesData) -> Any:
    from mlflow.entities import Span, Trace, TraceData, TraceInfo, TraceLocation, TraceState

    made = [Span(span) for span in readable(message)]
    info = TraceInfo(
        trace_id=made[0].trace_id,
        trace_location=TraceLocation.from_experiment_id("1"),
        request_time=made[-1].start_time_ns // 10**6,
        state=TraceState.OK,
        execution_duration=1,
    )
    return Trace(info, TraceData(made))


def mlflow_2(message: TracesData) -> dict[str, Any]:
    """By hand: the layout of MLflow 2, which MLflow 3 still reads (`Span.from_dict_v2`)."""
    made = [
        {
            "name": span.name,
            "context": {"span_id": f"0x{span.span_id.hex()}", "trace_id": f"0x{span.trace_id.hex()}"},
            "parent_id": f"0x{span.parent_span_id.hex()}" if span.parent_span_id else None,
            "start_time": span.start_time_unix_nano,
            "end_time": span.end_time_unix_nano,
            "status_code": CODES[span.status.code],
            "status_message": span.status.message,
            "attributes": pairs(span.attributes),
            "events": [
                {"name": event.name, "timestamp": event.time_unix_nano, "attributes": pairs(event.attributes)}
                for event in span.events
            ],
        }
        for span, _, _ in spans(message)
    ]
    info = {"request_id": "d3f1", "experiment_id": "1", "timestamp_ms": made[-1]["start_time"] // 10**6, "status": "OK"}
    return {"info": info, "data": {"spans": made, "request": "{}", "response": "{}"}}


def go_stdout(message: TracesData) -> str:
    def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"Key": key, "Text" if isinstance(one, str) else "Int": one} for key, one in attributes.items()]

    given = [
        {
            "Trace": span.trace_id.hex(),
            "Span": span.span_id.hex(),
            "Parent": span.parent_span_id.hex(),
            "Name": span.name,
            "Scope": scope.name,
            "Version": scope.version,
            "Kind": span.kind,
            "Status": span.status.code,
            "Message": span.status.message,
            "Start": span.start_time_unix_nano,
            "End": span.end_time_unix_nano,
            "Attributes": listed(pairs(span.attributes)),
            "Resource": listed(resource),
            "Events": [
                {"Name": event.name, "Time": event.time_unix_nano, "Attributes": listed(pairs(event.attributes))}
                for event in span.events
            ],
        }
        for span, scope, resource in spans(message)
    ]
    command = ["go", "run", str(HERE / "record.go")]
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": os.environ.get("GOPATH", "/usr/share/gocode")}
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def main() -> None:
    episode, inference, machine = traces(), traces(OPENINFERENCE), traces(MLFLOW)
    base64_json = otlp(episode, hexadecimal=False)
    groups = base64_json["resourceSpans"]
    whole = episode.SerializeToString()
    files: dict[str, str | bytes | Any] = {
        "protojson.json": MessageToDict(episode, preserving_proto_field_name=True),
        "go-structs.json": go_structs(episode),
        "tempo-1.json": {"batches": groups},
        "tempo-2.json": {"trace": {"resourceSpans": groups}, "metrics": {"inspectedBytes": "12345"}},
        "tempo-2.pb": field(1, whole) + field(2, b"\x08\xb9\x60"),
        "jaeger-1.json": jaeger(episode),
        "jaeger-3.json": {"result": otlp(episode, numbers=True)},
        "java-logging.log": java_log(episode),
        "zipkin-collector.json": zipkin_of_collector(episode),
        "zipkin-python.json": zipkin_of_python(episode),
        "python-console.txt": python_console(episode),
        "go-stdout.txt": go_stdout(episode),
        "clickhouse.jsonl": "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in clickhouse(episode)),
        "clickhouse-old.json": clickhouse_old(episode),
        "phoenix.json": phoenix(inference),
        "phoenix-otlp.json": phoenix_otlp(inference),
        "mlflow-3.json": mlflow(machine).to_json(pretty=True),
        "mlflow-2.json": mlflow_2(machine),
    }
    for name, content in files.items():
        if isinstance(content, bytes):
            (HERE / name).write_bytes(content)
        else:
            (HERE / name).write_text(content if isinstance(content, str) else json.dumps(content, **SPACE) + "\n")


if __name__ == "__main__":
    main()
