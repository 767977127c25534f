"""The result of checking: recomputed from records, never read from an input bundle."""

from typing import Annotated, Any, Literal, TypeAlias

from labadapt.schema.model import Generator, Identifier, Milliseconds, Mode, Name, RunUsage, Status
from msgspec import UNSET, Meta, Struct, UnsetType

CheckId: TypeAlias = Literal[
    "disposition",
    "call_budget",
    "read_only",
    "evidence",
    "expected_value",
    "required_actions",
    "forbidden_actions",
    "expected_state",
    "deadline",
]
Verdict: TypeAlias = Literal["pass", "fail", "unevaluable", "not_required"]
Outcome: TypeAlias = Literal["pass", "fail", "inconclusive"]
PhaseName: TypeAlias = Literal["prepare", "run", "verify", "record"]
PhaseState: TypeAlias = Literal["ok", "failed", "not_reached"]
Digest: TypeAlias = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}$", max_length=71)]


class CheckResult(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One check of one run."""

    id: Annotated[CheckId, Meta(description="Which check.")]
    phase: Annotated[PhaseName, Meta(description="The phase that the check belongs to.")]
    verdict: Annotated[
        Verdict,
        Meta(description="unevaluable: the record does not decide it. not_required: the contract does not ask for it."),
    ]
    expected: Annotated[Any, Meta(description="What the contract asks for.")]
    observed: Annotated[Any, Meta(description="What the record shows.")]
    reason: Annotated[str, Meta(description="One sentence that says why.")]
    evidence: Annotated[list[str], Meta(description="RFC 6901 JSON pointers into the run.")]


class Phase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One of the four phases of a run."""

    name: Annotated[PhaseName, Meta(description="prepare, run, verify or record.")]
    state: Annotated[PhaseState, Meta(description="How the phase ended.")]
    checks: Annotated[list[CheckId], Meta(description="The checks that belong to it.")]
    reason: Annotated[str | UnsetType, Meta(description="Why it failed or was not reached.")] = UNSET


class RunResult(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Outcome of one run."""

    case_id: Annotated[Name, Meta(description="The case.")]
    policy: Annotated[Name, Meta(description="The policy.")]
    mode: Annotated[Mode, Meta(description="The mode of the run.")]
    outcome: Annotated[Outcome, Meta(description="pass, fail or inconclusive.")]
    reason: Annotated[str, Meta(description="One sentence that says why.")]
    severity: Annotated[Identifier | UnsetType, Meta(description="The contract's severity.")] = UNSET
    request_digest: Annotated[
        Digest | UnsetType, Meta(description="Digest of the request. Absent: none was recorded.")
    ] = UNSET
    contract_digest: Annotated[
        Digest | UnsetType, Meta(description="Digest of the contract. Absent: there is none.")
    ] = UNSET
    target_digest: Annotated[
        Digest | UnsetType,
        Meta(
            description="Digest of what ran: of provenance.targetDigest, else of codeRevision, modelRoute, "
            "promptVersion, retrievalConfiguration and toolSchemaDigest together. Absent: not recorded in full."
        ),
    ] = UNSET
    duration_ms: Annotated[
        Milliseconds | UnsetType, Meta(description="The run's durationMs, of its mode. Absent: not recorded.")
    ] = UNSET
    status: Annotated[
        Status | UnsetType,
        Meta(description="Health of infrastructure and target, always written. Absent: unknown, an older file."),
    ] = UNSET
    usage: Annotated[RunUsage | UnsetType, Meta(description="Tokens and cost of the run. Absent: not recorded.")] = (
        UNSET
    )
    phases: Annotated[list[Phase], Meta(description="prepare, run, verify, record, in this order.")]
    checks: Annotated[list[CheckResult], Meta(description="Every check, in a fixed order.")]


class Summary(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Counts of runs by outcome."""

    total: Annotated[int, Meta(ge=0, description="Runs checked.")]
    passed: Annotated[int, Meta(ge=0, description="Runs whose outcome is pass.")]
    failed: Annotated[int, Meta(ge=0, description="Runs whose outcome is fail.")]
    inconclusive: Annotated[int, Meta(ge=0, description="Runs whose outcome is inconclusive.")]


class Results(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A result file: one entry for each run checked, in the bundle's order."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the result format.")]
    generator: Annotated[Generator | UnsetType, Meta(description="Who wrote the file.")] = UNSET
    summary: Annotated[Summary, Meta(description="Counts by outcome.")]
    results: Annotated[list[RunResult], Meta(description="One entry a run.")]
