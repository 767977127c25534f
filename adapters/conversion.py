"""What a conversion is asked for, and what it gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from labadapt.adapters.span import Limits, Tally
from labadapt.schema.cases import CasesFile
from labadapt.schema.mapping import MappingFile
from labadapt.schema.model import Run
from labadapt.schema.problems import Problem

Nested: TypeAlias = Literal["refuse", "outer", "leaf"]


@dataclass(frozen=True, slots=True)
class Options:
    """How to convert. `case` and `policy` are fixed names; `case_attribute` and `policy_attribute` are attribute keys.

    `group_by`: the attribute whose value joins the runs that carry it, each a turn of one conversation, to one run.

    `now_ns` is the time now in nanoseconds since 1970. `version` is that of the program, written into provenance.
    `source_options` are those that the source itself declares (`SourceOption`), by the name of their flag.
    `trials`: repetitions of a case and policy are wanted, and no `DUPLICATE_PAIR`; whoever asks writes them apart.
    """

    now_ns: int
    cases: CasesFile | None = None
    mapping: MappingFile | None = None
    case: str | None = None
    case_attribute: str | None = None
    policy: str | None = None
    policy_attribute: str | None = None
    group_by: str | None = None
    nested: Nested = "refuse"
    limits: Limits = field(default_factory=Limits)
    version: str = ""
    trials: bool = False
    source_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefusedRun:
    """A run that was refused: its trace, its case and policy where they are known, and every problem."""

    trace_id: str
    case_id: str
    policy: str
    problems: tuple[Problem, ...]
    spans: int


@dataclass(slots=True)
class Conversion:
    """The runs in order of (case id, policy, start), the refused ones, and the sum of spans.

    ``tally.read == tally.used + sum(tally.aside.values())`` always holds; spans of refused runs are left aside with the
    reason ``refused: CODE``. `undeclared` names the tools whose operation nobody declared. `notes` are for people.
    `without_contract` counts the runs that have none. `runs` may read each run from disk when it is asked for.
    """

    runs: Sequence[Run]
    refused: list[RefusedRun]
    tally: Tally
    undeclared: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    without_contract: int = 0
