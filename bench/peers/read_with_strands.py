"""Run by the interpreter of an environment that holds strands-agents-evals: an export to the session that it evaluates.

It reads no files: the lines are parsed with the standard library into the flat dictionaries that its mapper documents.
"""

import json
import sys
from pathlib import Path

from strands_evals.mappers.generic_gen_ai_session_mapper import GenericGenAISessionMapper
from strands_evals.types.trace import ToolExecutionSpan

spans = []
for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    for group in json.loads(line)["resourceSpans"]:
        for scoped in group["scopeSpans"]:
            for span in scoped["spans"]:
                pairs = {pair["key"]: next(iter(pair["value"].values())) for pair in span["attributes"]}
                spans.append(
                    {
                        "trace_id": span["traceId"],
                        "span_id": span["spanId"],
                        "parent_span_id": span.get("parentSpanId"),
                        "name": span["name"],
                        "start_time": int(span["startTimeUnixNano"]),
                        "end_time": int(span["endTimeUnixNano"]),
                        "attributes": pairs,
                        "scope": scoped["scope"],
                        "span_events": [],
                    }
                )
session = GenericGenAISessionMapper().map_to_session(spans, "bench")
print(sum(isinstance(span, ToolExecutionSpan) for trace in session.traces for span in trace.spans))
