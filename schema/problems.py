"""Errors are values: one problem, one place, one table of codes.

`Problem` says what is wrong, where, what was found and expected, and what to do. `Refusal` is the only exception that
crosses a folder's border. `CODES` is the one table of every code; documentation and ``labadapt explain`` print it.
A code, once released, keeps its one meaning.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec


class Where(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The place of a problem. Every part is optional; what is known is said.

    `line` counts from 1, `offset` is in bytes of the (decompressed) input, `pointer` is an RFC 6901 JSON pointer,
    `trace_id` and `span_ids` are lower-case hex.
    """

    file: str | None = None
    line: int | None = None
    offset: int | None = None
    pointer: str | None = None
    trace_id: str | None = None
    span_ids: tuple[str, ...] = ()
    run: str | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One thing that is wrong.

    `code` is a key of `CODES`. `message` is one sentence. `found` and `expected` are short renderings of both values.
    `hint` says what to do next. None of them is escaped for a terminal or a page: the renderer does that.
    """

    code: str
    message: str
    where: Where = Where()
    found: str | None = None
    expected: str | None = None
    hint: str | None = None


class Refusal(Exception):
    """The input cannot be taken as it is. Carries at least one `Problem`."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        """Hold the problem, or all of them, in the order in which they were found."""
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("; ".join(f"{problem.code}: {problem.message}" for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Code:
    """What a problem code means (`meaning`) and what a person does about it (`remedy`)."""

    meaning: str
    remedy: str


def _table(rows: dict[str, tuple[str, str]]) -> dict[str, Code]:
    return {code: Code(meaning, remedy) for code, (meaning, remedy) in rows.items()}


CODES: dict[str, Code] = _table(
    {
        # -- a run that the sequential format cannot hold ----------------------------------------------------------
        "CONCURRENT_STEPS": (
            "Two tool calls of one run overlap in time. The native format is sequential: which of the two came first "
            "for the agent is not in the record.",
            "Run the agent with parallel tool calls switched off for evaluation (parallel_tool_calls=False and the "
            "like), or convert the other runs with --on-refusal skip and list this one with --refusals FILE.",
        ),
        "NESTED_STEPS": (
            "One tool call runs inside another, as when a tool hands over to a sub-agent. Counting both, or one, "
            "changes what a call budget means, so a person chooses.",
            "Choose with --nested outer (what this agent called) or --nested leaf (what was called in the end).",
        ),
        "REVERSED_TIMING": (
            "Something ends before it starts.",
            "Look at the clock of the machine that recorded it; durations must come from a monotonic clock. "
            "The times are never swapped or clamped here.",
        ),
        "OUT_OF_RANGE_TIMING": (
            "A step lies outside its run: it starts before the run or ends after it.",
            "Check that the run's root span encloses its tool calls, and that all machines share a clock.",
        ),
        "UNFINISHED_SPAN": (
            "A span of the run has no end time: it was exported while running, or its process died.",
            "Export again after the run has ended, or convert the others with --on-refusal skip.",
        ),
        "AMBIGUOUS_EVIDENCE": (
            "The agent's evidence cites a call id that names two steps of the run.",
            "Give each tool call its own id in the application.",
        ),
        "DUPLICATE_PAIR": (
            "One case and policy stand twice. A bundle holds each pair once; repetitions are trials.",
            "Write one bundle for each repetition with --trials DIR, or tell the runs apart with --case-attribute or "
            "--policy-attribute.",
        ),
        "CONFLICTING_DUPLICATE": (
            "One span id arrives twice with different content, so one of the two is not what happened.",
            "Find out which exporter wrote the second copy; exact duplicates are dropped and counted by themselves.",
        ),
        "MISSING_CASE": (
            "A run names a case that the cases file does not have.",
            "Add the case to the cases file, or leave the run out.",
        ),
        "REQUEST_MISMATCH": (
            "The record and the cases file disagree on what was asked.",
            "Correct the cases file, or convert the run that was really made for this case.",
        ),
        "TRUNCATED_CONTENT": (
            "A value that is needed was cut or dropped by the exporter.",
            "Raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT in the application and record "
            "the run again. A cut value is never repaired here.",
        ),
        "AMBIGUOUS_CONVENTION": (
            "Two conventions claim one span and disagree on the tool's name or call id.",
            "Switch one of the two instrumentations off, or correct the attribute that is wrong.",
        ),
        "BAD_CONTENT": (
            "An attribute does not hold what its convention says it holds, for example arguments that are not JSON.",
            "Correct the instrumentation that writes the attribute. What cannot be parsed is never taken for empty.",
        ),
        # -- the input itself --------------------------------------------------------------------------------------
        "NO_SPANS": (
            "The input was read to its end and holds no span.",
            "Check that the right file was exported, and that the exporter wrote traces.",
        ),
        "NO_RUNS": (
            "The input holds spans, and none of them belongs to a run of an agent.",
            "Run `labadapt inspect FILE` to see which conventions were recognised, and which were not.",
        ),
        "PARTIAL_TRACE": (
            "The store that was asked says of its answer that it is not whole: spans are missing.",
            "Raise the store's limit, or ask for less at once, and export again; what the store says is quoted.",
        ),
        "NOT_TRACES": (
            "The input is OpenTelemetry data, but metrics, logs or profiles.",
            "Export the traces pipeline.",
        ),
        "BAD_ID": (
            "A trace or span id is not 16 or 8 bytes in any known writing, or is all zero.",
            "Look at the exporter: ids are 32 and 16 hex digits in OTLP JSON, 16 and 8 bytes in protobuf.",
        ),
        "BAD_PARENT": (
            "Spans of a trace name each other as parents in a circle, so that none of them has a root.",
            "Look at the application or the store that wrote the parent ids; a span's parent starts before it.",
        ),
        "BAD_TIME": (
            "A time is no integer, or lies outside 2000-01-01 to a day from now: most likely the unit is wrong.",
            "OTLP times are nanoseconds since 1970 as integers.",
        ),
        "BAD_ENCODING": (
            "The bytes are not what they claim to be: bad UTF-8, a cut message, a broken archive.",
            "Export or copy the file again; the place where it breaks is named.",
        ),
        "BAD_FIELD": (
            "A field of the input has the wrong type or shape.",
            "Compare with the OTLP specification; the field's path is named.",
        ),
        "TOO_DEEP": ("The input is nested deeper than any trace.", "Look at the application that wrote it."),
        "TOO_LARGE": (
            "The input is larger than the limit, or grows without measure when decompressed.",
            "Raise the limit with --max-size if you trust the file, or split it.",
        ),
        "UNKNOWN_FORMAT": (
            "The first bytes are of no format that labadapt reads.",
            "Export OTLP (protobuf or JSON), for example with the Collector's file exporter.",
        ),
        "UNSUPPORTED_FORMAT": (
            "The format is known and cannot be read.",
            "Export OTLP instead; the message says how.",
        ),
        "UNREADABLE_FILE": ("A file cannot be opened or read.", "Check the path and its permissions."),
        "UNWRITABLE_FILE": (
            "The output cannot be written. What stood there before is untouched.",
            "Check the folder, its permissions, and the space left.",
        ),
        # -- Langfuse ----------------------------------------------------------------------------------------------
        "MISSING_EXTRA": (
            "A part of labadapt that is installed only when it is asked for is not there.",
            "Install it; the message says how, for example pip install 'labadapt[langfuse]'.",
        ),
        "NO_CREDENTIALS": (
            "A key or the address of the server is not set, and there is no terminal to ask on.",
            "Set LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY and LANGFUSE_BASE_URL in the environment; keys are taken "
            "from nowhere else.",
        ),
        "UNSAFE_ADDRESS": (
            "The address would show the keys to others: plain HTTP to another machine, another host than the one "
            "configured, or an address that is none.",
            "Set LANGFUSE_BASE_URL to the https address of the server.",
        ),
        "NO_ANSWER": (
            "The server did not answer: it cannot be reached, takes longer than the time-out, or the connection was "
            "cut, each time that it was asked.",
            "Check LANGFUSE_BASE_URL and the network; --timeout SECONDS waits longer.",
        ),
        "ANSWERED_WITH_ERROR": (
            "The server answered with an error, after the tries that its kind deserves. Nothing is written.",
            "The status and the server's own message are named; 401 and 403 are about the keys.",
        ),
        "BAD_ANSWER": (
            "The server answered, or a saved file holds, what Langfuse's interface does not promise: a web page, other "
            "JSON, a row without what it must have, or a list that does not hold together.",
            "Check that LANGFUSE_BASE_URL is Langfuse itself, of a version that docs/langfuse.md names; of a file, "
            "that it was saved with fields=core,basic,io,metadata and not changed.",
        ),
        "NOT_ON_SERVER": (
            "The server has no dataset or no run of that name, where it was looked for.",
            "`labadapt langfuse --list` shows what is there, with --dataset NAME the runs of it.",
        ),
        "AMBIGUOUS_RUN": (
            "Several runs of the dataset have the same name.",
            "Give --run ID, or --trials DIR to have every one as a repetition.",
        ),
        "INCOMPLETE_ANSWER": (
            "A run is not whole, on the server or in the files: fewer items than it counts, an item without its trace, "
            "a page that is not there, or a trace that names no run.",
            "Langfuse stores what it is sent with a delay: --wait SECONDS waits for it. Of files, name all that --save "
            "wrote.",
        ),
        # -- a bundle, cases or mapping file -----------------------------------------------------------------------
        "NOT_JSON": ("The file is not JSON.", "The place where parsing stopped is named."),
        "NOT_YAML": ("The file is not YAML 1.2, TOML or JSON.", "The line where parsing stopped is named."),
        "BAD_MANIFEST": (
            "A folder of bundles is not what its manifest lists: a bundle is missing, changed or unknown.",
            "Convert again into a new folder; to read single bundles all the same, name them one by one.",
        ),
        "NOT_A_BUNDLE": (
            "The file is an export of traces, where a run bundle is asked for.",
            "Convert it first: labadapt convert FILE | labadapt check -",
        ),
        "UNSUPPORTED_VERSION": (
            "The file's schemaVersion is not 1.",
            "Convert the export again with this version of labadapt.",
        ),
        "UNKNOWN_FIELD": (
            "A field that the format does not name. A misspelt field must not silently weaken a contract.",
            "Correct the spelling; free content belongs under metadata. A saved verdict is never read back.",
        ),
        "MISSING_FIELD": ("A field that must stand is missing.", "Add it; `labadapt schema` prints the format."),
        "DUPLICATE_KEY": ("A key stands twice in one object.", "Remove one of the two."),
        "WRONG_TYPE": ("A value is of another type than the format says.", "`labadapt schema` prints the format."),
        "OUT_OF_RANGE": (
            "A number, text or list is outside its range, or is not finite.",
            "The permitted range is named.",
        ),
        "BAD_VALUE": ("A value is not one of those permitted.", "The permitted values are named."),
        "DUPLICATE_STEP_ID": ("Two steps of one run have the same id.", "Step ids are unique within a run."),
        "OVERLAPPING_STEPS": (
            "A step starts before the previous one ended.",
            "Runs are sequential; touching ends are sequential, overlapping ones are not.",
        ),
        "UNORDERED_STEPS": (
            "Steps do not stand in the order of their start.",
            "Write them in startMs order; a file is never sorted silently.",
        ),
        "FIXTURE_DURATION": (
            "A fixture run's durationMs is not the sum of its steps' durations.",
            "Fixture times are declared: correct the sum, or the mode.",
        ),
        "MISSING_CONTRACT": (
            "A run has no contract, and --require-contract was given.",
            "Write one in a cases file and convert or check with --cases.",
        ),
        "BAD_EXPRESSION": ("A JMESPath expression does not parse or fails.", "The position is named."),
        "AMBIGUOUS_CASE": (
            "A run is matched by two cases of the cases file.",
            "Make the `match` of one of them narrower, or record the case id in the application.",
        ),
        # -- trials ------------------------------------------------------------------------------------------------
        "NOT_OUTCOMES": (
            "The file is no table of outcomes: a CSV file whose header names case, trial and outcome, or JSON Lines "
            "with an object of these a line.",
            "The line is named; docs/results.md shows both forms.",
        ),
        "REPEATED_TRIAL": (
            "One trial stands twice: a file, a copy of it, or a line of a table. Counting it twice would make evidence "
            "of nothing.",
            "Leave one of the two out; trials that really were made each have a file, or a name, of their own.",
        ),
        # -- the command line and plug-ins -------------------------------------------------------------------------
        "BAD_USAGE": (
            "The command line itself is wrong: an unknown command or option, or one that is missing.",
            "`labadapt COMMAND --help` shows what the command takes, with an example.",
        ),
        "BAD_PLUGIN": (
            "A plug-in could not be loaded or admitted; it is named with its distribution and version.",
            "Upgrade or uninstall that distribution.",
        ),
        "OUTPUT_EXISTS": ("The output is already there and would be overwritten.", "Name another, or remove it."),
        "INTERNAL": (
            "labadapt met a state that it does not know. This is a defect of labadapt.",
            "Run again with --debug and report what it prints.",
        ),
    }
)
