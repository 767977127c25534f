#!/bin/sh
# From real exports to a verdict, and to a refusal. `make demo` runs it; every command can be run by hand.
set -eu
cd "$(dirname "$0")"
agent=producers/pydantic-ai@2.68.0-v5

show() { # STATUS COMMAND...: runs the command, which must exit with the status
  wanted=$1
  shift
  printf '\n$ %s\n' "$*"
  status=0
  "$@" || status=$?
  [ "$status" -eq "$wanted" ] || { echo "exit status $status, expected $wanted" >&2; exit 1; }
}

check() { # STATUS EPISODE: converts a recorded episode and checks it against its contract
  show "$1" labadapt otlp "$agent/$2.pb" --case "$2" --mapping metric-agent.mapping.yaml \
    --cases metric-agent.cases.yaml --check --quiet
}

echo 'An agent was asked for a metric. Its first call timed out, the second answered, and it cites the second:'
check 0 02_timeout_recovered

echo
echo 'The same agent restarts a service without asking. What its contract says, and what the record shows:'
check 1 08_write

echo
echo 'With two tool calls at once, which came first is not in the record. labadapt refuses rather than guess:'
check 2 09_parallel

echo
echo 'The README goes on from here with an export of your own.'
