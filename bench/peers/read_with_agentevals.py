"""Run by the interpreter of an environment that holds agentevals-cli: an export to the turns that it evaluates."""

import sys

from agentevals.genai.extract import extract_conversation
from agentevals.loader.auto import load_traces

calls = 0
for trace in load_traces(sys.argv[1], format="otlp-json"):
    for turn in extract_conversation([trace]).turns:
        calls += len(turn.tool_calls)
print(calls)
