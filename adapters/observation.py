"""What is kept of a span once a convention has read it: small, typed, and without the content that nobody asked for.

`recognise` makes one `Observation` of each `Span`; `sequence` joins the observations of a trace to runs. All
encodings meet here: from here on nobody knows whether a span was protobuf, JSON, or a page of an API.
"""

from typing import Any, Literal, TypeAlias

import msgspec
from labadapt.schema.model import Operation, StepStatus, Usage
from labadapt.schema.problems import Problem, Where
from msgspec import UNSET, UnsetType

Role: TypeAlias = Literal["tool", "agent", "model", "evaluator", "aside", "other"]


class Call(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool call as one span records it. `UNSET` means *not recorded*.

    `result` is the unwrapped result as recorded. `conventions` names the tables that were read, and `fields` which
    table gave which field. `lab` holds the lab's own attributes of the span (`metric`, `window`, `rows`, `value`,
    `source`).
    """

    tool: str
    call_id: str = ""
    arguments: Any = UNSET
    result: Any = UNSET
    status: StepStatus = "ok"
    error_type: str = ""
    error_message: str = ""
    operation: Operation = "unknown"
    lab: dict[str, Any] = {}
    conventions: tuple[str, ...] = ()
    fields: dict[str, str] = {}


class Proposal(msgspec.Struct, frozen=True, gc=False):
    """A call that a model asked for. `arguments` is UNSET when not recorded; `index`: place in the turn."""

    tool: str
    call_id: str
    arguments: Any
    index: int


class Observation(msgspec.Struct, kw_only=True, gc=False):
    """One span after recognition.

    Identity and times are those of `labadapt.adapters.span.Span`. `role` is what the span is; `reason` says why an
    ``aside`` one is no call. `call` stands with role ``tool``; with role ``aside`` it says what the span tells of the
    call of the tool span around it, of which it is a part. `case_id` and `policy` hold ``(rank, value)``
    candidates, smaller rank first; `group` is such a candidate of the attribute by which runs are grouped. `output`
    is the agent's or model's final message where it was recorded: a decoded JSON object, or text. `input` is what the
    agent was asked, for `match` in a cases file; it never reaches a bundle. `digest` identifies the content that
    was read, so that an exact duplicate is told from a conflicting one. `problem` refuses the run that needs this span.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    where: Where
    scope: str = ""
    role: Role = "other"
    reason: str = ""
    call: Call | None = None
    case_id: tuple[int, str] | None = None
    policy: tuple[int, str] | None = None
    group: tuple[int, str] | None = None
    output: Any = UNSET
    lab_output: Any = UNSET
    infrastructure: str = ""
    input: Any = UNSET
    usage: Usage | UnsetType = UNSET
    proposals: tuple[Proposal, ...] = ()
    failed: bool = False
    failure: str = ""
    pending: bool = False
    conventions: tuple[str, ...] = ()
    attributes: dict[str, Any] = {}
    digest: int = 0
    problem: Problem | None = None
