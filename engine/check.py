"""Runs and bundles against their contracts: deterministic, three-valued, recomputed from the record (docs/checks.md).

A step whose status is unknown may or may not have run, and an incomplete record hides some. So every check is
decided only where it holds, or fails, either way; else it is unevaluable, which is neither a pass nor a failure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from labadapt.engine.actions import call_budget, deadline, forbidden_actions, read_only, required_actions
from labadapt.engine.conclusions import disposition, expected_state, expected_value
from labadapt.engine.digests import record_digest, target_digest
from labadapt.engine.evidence import evidence
from labadapt.engine.finding import Finding, Subject, is_blank, status_of, subject_of
from labadapt.engine.outcome import BLANK, NEEDS_END, NO_CONTRACT, because, outcome_of, phases_of
from labadapt.engine.values import plain
from labadapt.schema.codec import canonical_usage
from labadapt.schema.model import Bundle, Contract, Generator, Run
from labadapt.schema.problems import Problem, Refusal, Where
from labadapt.schema.result import CheckId, CheckResult, PhaseName, Results, RunResult, Summary
from msgspec import UNSET, UnsetType

Check = Callable[[Subject], Finding | None]

# In the order in which they are told. The first five always stand; the others only where the contract asks for them.
CHECKS: tuple[tuple[CheckId, PhaseName, Check], ...] = (
    ("disposition", "verify", disposition),
    ("call_budget", "run", call_budget),
    ("read_only", "run", read_only),
    ("evidence", "verify", evidence),
    ("expected_value", "verify", expected_value),
    ("required_actions", "run", required_actions),
    ("forbidden_actions", "run", forbidden_actions),
    ("expected_state", "verify", expected_state),
    ("deadline", "run", deadline),
)
_ALWAYS = 5


def check_run(run: Run) -> RunResult:
    """Every check of a run, the outcome and the four phases. Total: any valid run."""
    checks = list(_checks(run))
    outcome, reason = outcome_of(run, checks)
    return RunResult(
        case_id=run.case_id,
        policy=run.policy,
        mode=run.mode,
        outcome=outcome,
        reason=reason,
        severity=run.contract.severity if isinstance(run.contract, Contract) else UNSET,
        request_digest=record_digest(run.request),
        contract_digest=record_digest(run.contract),
        target_digest=target_digest(run),
        duration_ms=plain(run.duration_ms),
        status=status_of(run),
        usage=run.usage if isinstance(run.usage, UnsetType) else canonical_usage(run.usage),
        phases=phases_of(run, checks),
        checks=checks,
    )


def _checks(run: Run) -> Iterator[CheckResult]:
    if not isinstance(run.contract, Contract):
        missing = Finding("unevaluable", None, None, NO_CONTRACT)
        yield from (_result(identifier, phase, missing) for identifier, phase, _ in CHECKS[:_ALWAYS])
        return
    subject = subject_of(run, run.contract)
    for identifier, phase, check in CHECKS:
        finding = check(subject)
        if finding is not None:
            yield _result(identifier, phase, _reached(subject, identifier, finding))


def _reached(subject: Subject, identifier: CheckId, finding: Finding) -> Finding:
    """The finding, unless the run never came to what it is about."""
    if finding.verdict == "not_required":
        return finding
    if is_blank(subject.run):
        return replace(finding, verdict="unevaluable", reason=BLANK, evidence=("/steps",))
    if identifier in NEEDS_END and subject.status.target != "completed":
        why = f"the end of the run is needed, and the target is {subject.status.target}{because(subject.status)}"
        return replace(finding, verdict="unevaluable", reason=why, evidence=("/status/target",))
    return finding


def _result(identifier: CheckId, phase: PhaseName, finding: Finding) -> CheckResult:
    return CheckResult(
        id=identifier,
        phase=phase,
        verdict=finding.verdict,
        expected=finding.expected,
        observed=finding.observed,
        reason=finding.reason,
        evidence=list(finding.evidence),
    )


def check_bundle(bundle: Bundle, *, policies: Sequence[str] = (), version: str = "") -> Results:
    """The results of a bundle's runs, in its order. `policies` keeps only those; `version` is the generator's.

    Raises `Refusal` (``BAD_VALUE``) with one problem for each policy that no run has.
    """
    present = sorted({run.policy for run in bundle.runs})
    if unknown := [policy for policy in dict.fromkeys(policies) if policy not in present]:
        raise Refusal(_no_policy(policy, present) for policy in unknown)
    results = [check_run(run) for run in bundle.runs if not policies or run.policy in policies]
    generator = Generator(name="labadapt", version=version) if version else UNSET
    return Results(schema_version=1, generator=generator, summary=_summary(results), results=results)


def _summary(results: list[RunResult]) -> Summary:
    outcomes = [result.outcome for result in results]
    return Summary(
        total=len(results),
        passed=outcomes.count("pass"),
        failed=outcomes.count("fail"),
        inconclusive=outcomes.count("inconclusive"),
    )


def _no_policy(policy: str, present: list[str]) -> Problem:
    return Problem(
        code="BAD_VALUE",
        message="no run of the bundle has this policy",
        where=Where(pointer="/runs"),
        found=policy,
        expected=", ".join(present),
        hint="Name one of the bundle's policies, or none for all of them.",
    )
