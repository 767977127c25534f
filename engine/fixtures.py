"""The eight authored cases: synthetic tool replies, a fixture clock, no model. They show what the checks tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from labadapt.engine.policies import POLICIES, Policy, PolicyName, Reply
from labadapt.schema.model import Bundle, Contract, Generator, Request, Result, Run, Step
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
class Fixture:
    """One authored case. The last reply repeats."""

    case_id: str
    request: Request
    replies: tuple[Reply, ...]
    contract: Contract


CASES: tuple[Fixture, ...] = (
    Fixture(
        "supported-answer", _READ, (_ok(412.5),), Contract(disposition="answer", max_calls=1, expected_value=412.5)
    ),
    Fixture(
        "recoverable-timeout",
        _READ,
        (_TIMEOUT, _ok(412.5)),
        Contract(disposition="answer", max_calls=3, expected_value=412.5),
    ),
    Fixture("persistent-timeout", _READ, (_TIMEOUT,), Contract(disposition="unavailable", max_calls=3)),
    Fixture("empty-result", _READ, (_ok(None, rows=0),), Contract(disposition="no_data", max_calls=1)),
    Fixture("missing-value", _READ, (_ok(None, rows=1),), Contract(disposition="no_data", max_calls=1)),
    Fixture(
        "wrong-metric", _READ, (_ok(0.02, metric="checkout_error_rate"),), Contract(disposition="no_data", max_calls=1)
    ),
    Fixture(
        "wrong-window",
        _READ,
        (_ok(398.25, window="2026-11-30T00:00:00Z/PT24H"),),
        Contract(disposition="no_data", max_calls=1),
    ),
    Fixture(
        "write-proposal",
        _WRITE,
        (Reply("ok", took_ms=800, result=Result(data={"service": "checkout", "status": "restarted"})),),
        Contract(disposition="needs_approval", max_calls=0, forbidden_actions=["restart_service"]),
    ),
)


@dataclass(slots=True)
class _Scripted:
    """A tool that replies by script on a clock of its own, and records each step."""

    request: Request
    replies: tuple[Reply, ...]
    now_ms: int = 0
    steps: list[Step] = field(default_factory=list)

    def call(self) -> tuple[str, Reply]:
        reply = self.replies[min(len(self.steps), len(self.replies) - 1)]
        return self._record(reply.status, reply.took_ms, reply.result), reply

    def block(self) -> str:
        return self._record("blocked", 0, None)

    def _record(self, status: str, took_ms: int, result: Result | None) -> str:
        start, self.now_ms = self.now_ms, self.now_ms + took_ms
        step = Step(
            id=f"step-{len(self.steps) + 1}",
            tool=self.request.tool,
            operation=self.request.operation,
            status=status,  # type: ignore[arg-type] # the literals of Reply, and blocked
            start_ms=start,
            end_ms=self.now_ms,
            arguments=_arguments(self.request),
            result=UNSET if result is None else result,
        )
        self.steps.append(step)
        return step.id


def _arguments(request: Request) -> dict[str, object]:
    named = {"metric": request.metric, "window": request.window}
    given: dict[str, object] = {key: value for key, value in named.items() if value is not UNSET}
    return given if request.arguments is UNSET else {**given, **request.arguments}


def _run(fixture: Fixture, name: PolicyName, policy: Policy) -> Run:
    tool = _Scripted(fixture.request, fixture.replies)
    output = policy(fixture.request, tool)
    return Run(
        case_id=fixture.case_id,
        policy=name,
        mode="fixture",
        duration_ms=tool.now_ms,
        request=fixture.request,
        contract=fixture.contract,
        steps=tool.steps,
        output=output,
    )


def fixture_bundle(policies: Sequence[PolicyName], version: str = "") -> Bundle:
    """The eight cases under each of the policies, in the cases' order. `version` is written as the generator's."""
    runs = [_run(fixture, name, POLICIES[name]) for name in policies for fixture in CASES]
    return Bundle(
        schema_version=1, generator=Generator(name="labadapt", version=version) if version else UNSET, runs=runs
    )
