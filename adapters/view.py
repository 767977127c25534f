"""The view of a run over which the expressions of cases and mapping files are evaluated (docs/mapping.md)."""

from typing import Any

from labadapt.adapters.join import RunSpans
from labadapt.adapters.observation import Call, Observation
from msgspec import UNSET


def view_of(run: RunSpans) -> dict[str, Any]:
    """A run as plain JSON values: what is not recorded has no key."""
    root = run.root
    spans = sorted(run.spans, key=lambda span: (span.start_ns, span.end_ns, span.span_id))
    view: dict[str, Any] = {
        "traceId": run.trace_id,
        "attributes": {} if root is None else root.attributes,
        "spans": [_span(span) for span in spans],
        "calls": [_call(span.call) for span in spans if span.role == "tool" and span.call is not None],
    }
    if root is not None:
        view["name"] = root.name
        view |= _recorded(output=root.output)
    return view | _recorded(input=input_of(run))


def input_of(run: RunSpans) -> Any:
    """What the agent was asked: of the root, else of the first agent or model span that records it; else `UNSET`."""
    root = run.root
    if root is not None and root.input is not UNSET:
        return root.input
    asked = [span for span in run.spans if span.input is not UNSET and span.role in ("agent", "model")]
    asked.sort(key=lambda span: (span.role != "agent", span.start_ns, span.span_id))
    return asked[0].input if asked else UNSET


def _recorded(**parts: Any) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value is not UNSET}


def _span(span: Observation) -> dict[str, Any]:
    return {"name": span.name, "role": span.role, "scope": span.scope, "attributes": span.attributes}


def _call(call: Call) -> dict[str, Any]:
    parts = _recorded(arguments=call.arguments, result=call.result)
    if call.call_id:
        parts["callId"] = call.call_id
    return {"tool": call.tool, "status": call.status, **parts}
