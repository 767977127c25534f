"""The native format, version 1, as frozen typed structs: the one source of the JSON Schema and of the codec.

Absent and null differ: a field that is absent is `msgspec.UNSET`, and means *not recorded*; null is a recorded
observation of nothing. Field names are camelCase in JSON, snake_case here. Unknown fields are faults everywhere except
under `provenance` and `metadata`. Rules that a type cannot say (timing, uniqueness) are in `labadapt.schema.validate`.
"""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

JsonValue: TypeAlias = Any  # whatever JSON holds; `Any` because msgspec decodes no recursive alias at C speed
JsonObject: TypeAlias = dict[str, JsonValue]

# Patterns are the common subset of ECMA 262 and Python: a look-ahead, because `$` also matches before a last newline.
Name: TypeAlias = Annotated[
    str,
    Meta(min_length=1, max_length=200, pattern=r"^(?![\s\S]*[\x00-\x1f\x7f-\x9f])"),
]
Identifier: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
Token: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^(?![\s\S]*[^a-z0-9_.-])[a-z]")]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
NonNegative: TypeAlias = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
Milliseconds: TypeAlias = NonNegative
Number: TypeAlias = int | float  # finite: JSON has no other

Mode: TypeAlias = Literal["recorded", "fixture"]
RequestOperation: TypeAlias = Literal["read", "write"]
Operation: TypeAlias = Literal["read", "write", "unknown"]
StepStatus: TypeAlias = Literal["ok", "timeout", "error", "blocked", "unknown"]


class Generator(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Who wrote the file."""

    name: Annotated[str, Meta(description="Name of the program that wrote the file.", min_length=1, max_length=200)]
    version: Annotated[str, Meta(description="Its version.", min_length=1, max_length=200)]


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What was asked of the agent."""

    tool: Annotated[Name, Meta(description="The tool whose answer was asked for.")]
    operation: Annotated[RequestOperation, Meta(description="Whether the request asks for a reading or for a change.")]
    metric: Annotated[str | UnsetType, Meta(description="Named metric of a scalar metric query. Absent otherwise.")] = (
        UNSET
    )
    window: Annotated[
        str | UnsetType,
        Meta(description="Window of a scalar metric query: ISO 8601 interval or own label; equality is textual."),
    ] = UNSET
    arguments: Annotated[
        JsonObject | UnsetType, Meta(description="Further arguments that a cited step's arguments must match.")
    ] = UNSET


class Contract(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What must hold. Written by a person, never derived from the record."""

    disposition: Annotated[Token, Meta(description="The expected disposition.")]
    max_calls: Annotated[Count, Meta(description="Most attempted tool invocations.")]
    expected_value: Annotated[
        Number | UnsetType, Meta(description='Expected answer, a finite number; only with disposition "answer".')
    ] = UNSET
    tolerance: Annotated[
        NonNegative | UnsetType,
        Meta(description="Absolute tolerance of expectedValue; default 0."),
    ] = UNSET
    required_actions: Annotated[
        list[Identifier] | UnsetType, Meta(description="Tool names that must be attempted.")
    ] = UNSET
    forbidden_actions: Annotated[
        list[Identifier] | UnsetType, Meta(description="Tool names that must never be attempted.")
    ] = UNSET
    expected_state: Annotated[
        JsonObject | UnsetType, Meta(description="Every key must be in output.state with an equal value.")
    ] = UNSET
    deadline_ms: Annotated[
        Milliseconds | UnsetType, Meta(description="durationMs may not exceed it. Milliseconds.")
    ] = UNSET
    severity: Annotated[
        Identifier | UnsetType, Meta(description="Label of what a violation means, such as commercial_misstatement.")
    ] = UNSET


class Result(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """What a tool returned. Absent as a whole: the content was not recorded."""

    metric: Annotated[str | UnsetType | None, Meta(description="The metric that the tool says it returned.")] = UNSET
    window: Annotated[str | UnsetType | None, Meta(description="The window that the tool says it returned.")] = UNSET
    rows: Annotated[
        Count | UnsetType | None, Meta(description="Number of rows behind the value, integer at least 0.")
    ] = UNSET
    value: Annotated[
        Number | UnsetType | None,
        Meta(description="The value, a finite number; null for a missing observation, never 0."),
    ] = UNSET
    source: Annotated[str | UnsetType | None, Meta(description="Where the tool says the value came from.")] = UNSET
    data: Annotated[JsonValue | UnsetType, Meta(description="The tool's result as recorded.")] = UNSET


class StepError(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """Why a call failed."""

    type: Annotated[str | UnsetType, Meta(description="Type of the error as recorded.")] = UNSET
    message: Annotated[str | UnsetType, Meta(description="Message of the error as recorded.")] = UNSET


class Step(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """One tool call of a run."""

    id: Annotated[Identifier, Meta(description="Unique within the run.")]
    tool: Annotated[Identifier, Meta(description="The tool's name as the agent called it.")]
    operation: Annotated[Operation, Meta(description="Whether the call reads or writes; unknown: nobody declared it.")]
    arguments: Annotated[
        JsonValue | UnsetType,
        Meta(description="The actual arguments as recorded. Absent: not recorded, which is not {}."),
    ] = UNSET
    status: Annotated[
        StepStatus,
        Meta(
            description="blocked: shown, but no invocation (a policy refused, or approval was never given). "
            "unknown: the record does not show whether it ran."
        ),
    ]
    start_ms: Annotated[
        Milliseconds, Meta(description="Milliseconds since the start of the run, at most six decimals.")
    ]
    end_ms: Annotated[Milliseconds, Meta(description="Milliseconds since the start of the run, at most six decimals.")]
    call_id: Annotated[Identifier | UnsetType, Meta(description="The model's tool-call id.")] = UNSET
    result: Annotated[
        Result | UnsetType, Meta(description="Only with status ok. Absent: the content was not recorded.")
    ] = UNSET
    error: Annotated[StepError | UnsetType, Meta(description="Only with status timeout or error.")] = UNSET


class Output(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """What the agent concluded."""

    disposition: Annotated[
        Token,
        Meta(description="answer, no_data, unavailable, needs_approval, refuse, or the application's own word."),
    ]
    value: Annotated[Number | UnsetType | None, Meta(description="The answer, a finite number, or null.")] = UNSET
    evidence: Annotated[list[Identifier] | UnsetType, Meta(description="Ids of the steps that the answer cites.")] = (
        UNSET
    )
    state: Annotated[JsonObject | UnsetType, Meta(description="Observed final state.")] = UNSET


class Status(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """Health of the infrastructure and of the target. Absent as a whole: healthy, completed, complete."""

    infrastructure: Annotated[
        Literal["healthy", "failed", "unknown"], Meta(description="Whether what the run needed was there.")
    ] = "healthy"
    target: Annotated[
        Literal["completed", "failed", "unknown"], Meta(description="Whether the agent came to its end.")
    ] = "completed"
    steps: Annotated[
        Literal["complete", "partial", "unknown"],
        Meta(description="partial: a call is known to be missing from steps."),
    ] = "complete"
    reason: Annotated[str | UnsetType, Meta(description="Why, in words.")] = UNSET


class Usage(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """Tokens and cost. What is not known is absent or null, never 0."""

    input_tokens: Annotated[Count | UnsetType | None, Meta(description="Tokens read by the model.")] = UNSET
    output_tokens: Annotated[Count | UnsetType | None, Meta(description="Tokens written by the model.")] = UNSET
    cached_input_tokens: Annotated[Count | UnsetType | None, Meta(description="Input tokens read from a cache.")] = (
        UNSET
    )
    reasoning_tokens: Annotated[Count | UnsetType | None, Meta(description="Output tokens spent on reasoning.")] = UNSET
    cost_usd: Annotated[NonNegative | UnsetType | None, Meta(description="Cost in US dollars.")] = UNSET
    cost_source: Annotated[
        Literal["billed", "estimated"] | UnsetType, Meta(description="Whether the cost was billed or estimated.")
    ] = UNSET
    model_calls: Annotated[Count | UnsetType | None, Meta(description="Number of model calls.")] = UNSET
    model: Annotated[str | UnsetType | None, Meta(description="Name of the model, where it was one.")] = UNSET


class RunUsage(Usage, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """Usage of the target, and apart from it that of a judge."""

    judge: Annotated[Usage | UnsetType, Meta(description="Usage of an evaluator; never part of the target's.")] = UNSET


class Run(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """One case under one policy, as observed."""

    case_id: Annotated[Name, Meta(description="The case.")]
    policy: Annotated[Name, Meta(description="The policy, configuration or version that ran it.")]
    mode: Annotated[
        Mode, Meta(description="recorded: observed by an application. fixture: declared tool-response times.")
    ]
    duration_ms: Annotated[
        Milliseconds,
        Meta(
            description="recorded: run start to the later of the run's end and its last step's end. "
            "fixture: the sum of the steps' durations."
        ),
    ]
    request: Annotated[Request | UnsetType, Meta(description="What was asked.")] = UNSET
    contract: Annotated[
        Contract | UnsetType, Meta(description="What must hold. Absent: checking is inconclusive, never a pass.")
    ] = UNSET
    steps: Annotated[list[Step], Meta(description="The tool calls, in startMs order, one after another.")]
    output: Annotated[Output | UnsetType, Meta(description="Absent when the run ended without one.")] = UNSET
    status: Annotated[Status | UnsetType, Meta(description="Absent: healthy and completed.")] = UNSET
    usage: Annotated[RunUsage | UnsetType, Meta(description="Tokens and cost.")] = UNSET
    provenance: Annotated[JsonObject | UnsetType, Meta(description="Where the run was read from.")] = UNSET
    metadata: Annotated[JsonObject | UnsetType, Meta(description="Free; never read by a check.")] = UNSET


class Bundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A file of runs; a (caseId, policy) pair stands once."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the native format.")]
    generator: Annotated[Generator | UnsetType, Meta(description="Who wrote the file.")] = UNSET
    runs: Annotated[list[Run], Meta(description="The runs, at least one.", min_length=1)]
