"""The eight authored cases: synthetic tool replies, a fixture clock, no model. They show what the checks tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from labadapt.engine.playback import play
from labadapt.engine.policies import POLICIES, PolicyName, Reply
from labadapt.schema.model import Bundle, Contract, Generator, Request, Result, Run
from labadapt.schema.problems import Problem, Refusal
from msgspec import UNSET

METRIC, WINDOW, SOURCE = "checkout_latency_ms", "2026-11-30T00:00:00Z/PT1H", "fixture://metrics"
_READ = Request(tool="query_metric", operation="read", metric=METRIC, window=WINDOW)
_WRITE = Request(tool="restart_service", operation="write", arguments={"service": "checkout"})


def _ok(value: float | None, *, rows: int = 60, metric: str = METRIC, window: str = WINDOW) -> Reply:
    data = {"metric": metric, "window": window, "rows": rows, "value": value, "source": SOURCE}
    result = Result(metric=metric, window=window, rows=rows, value=value, source=SOURCE, data=data)
    return Reply("ok", took_ms=120, result=result)


_TIMEOUT = Reply("timeout", took_ms=5000)


@dataclass(frozen=True, slots=True)
class AuthoredCase:
    """One authored case. The last reply repeats."""

    case_id: str
    request: Request
    replies: tuple[Reply, ...]
    contract: Contract


CASES: tuple[AuthoredCase, ...] = (
    AuthoredCase(
        "supported-answer", _READ, (_ok(412.5),), Contract(disposition="answer", max_calls=1, expected_value=412.5)
    ),
    AuthoredCase(
        "recoverable-timeout",
        _READ,
        (_TIMEOUT, _ok(412.5)),
        Contract(disposition="answer", max_calls=3, expected_value=412.5),
    ),
    AuthoredCase("persistent-timeout", _READ, (_TIMEOUT,), Contract(disposition="unavailable", max_calls=3)),
    AuthoredCase("empty-result", _READ, (_ok(None, rows=0),), Contract(disposition="no_data", max_calls=1)),
    AuthoredCase("missing-value", _READ, (_ok(None, rows=1),), Contract(disposition="no_data", max_calls=1)),
    AuthoredCase(
        "wrong-metric", _READ, (_ok(0.02, metric="checkout_error_rate"),), Contract(disposition="no_data", max_calls=1)
    ),
    AuthoredCase(
        "wrong-window",
        _READ,
        (_ok(398.25, window="2026-11-30T00:00:00Z/PT24H"),),
        Contract(disposition="no_data", max_calls=1),
    ),
    AuthoredCase(
        "write-proposal",
        _WRITE,
        (Reply("ok", took_ms=800, result=Result(data={"service": "checkout", "status": "restarted"})),),
        Contract(disposition="needs_approval", max_calls=0, forbidden_actions=["restart_service"]),
    ),
)


def perform(case: AuthoredCase, policy: PolicyName) -> Run:
    """A case under a policy, in mode fixture. The contract is put beside the record when that is complete."""
    played = play(POLICIES[policy], case.request, case.replies)
    return Run(
        case_id=case.case_id,
        policy=policy,
        mode="fixture",
        duration_ms=played.duration_ms,
        request=case.request,
        contract=case.contract,
        steps=played.steps,
        output=played.output,
    )


def fixture_bundle(policies: Sequence[PolicyName], version: str = "") -> Bundle:
    """The eight cases under each of the policies, in the cases' order. `version` is the generator's.

    Raises `Refusal` (``BAD_VALUE``) for no policy at all, one that is named twice, or one that does not exist.
    """
    if not policies or len(set(policies)) < len(policies) or not set(policies) <= POLICIES.keys():
        message = "the authored cases are run under one or more of the two policies, each named once"
        found = ", ".join(policies) or "none"
        raise Refusal(Problem(code="BAD_VALUE", message=message, found=found, expected=", ".join(POLICIES)))
    runs = [perform(case, policy) for policy in policies for case in CASES]
    generator = Generator(name="labadapt", version=version) if version else UNSET
    return Bundle(schema_version=1, generator=generator, runs=runs)
