#!/bin/sh
# From a real export to a verdict, and to a refusal. `make demo` runs it; every command can be run by hand.
set -eu
cd "$(dirname "$0")/.."
export=samples/producers/pydantic-ai@2.68.0-v5

show() { printf '\n$ %s\n' "$*"; "$@"; }

echo 'An agent was asked for a metric; its first call timed out, the second answered. This is what it recorded:'
show labadapt otlp "$export/02_timeout_recovered.pb" --case 02_timeout_recovered \
  --mapping samples/metric-agent.mapping.yaml --cases samples/metric-agent.cases.yaml --check

echo
echo 'The same agent with parallel tool calls. Which came first is not in the record, so labadapt refuses:'
show labadapt otlp "$export/09_parallel.pb" --quiet || status=$?
[ "${status:-0}" -eq 2 ]
