"""The mapping file: read, checked, and turned into rules for one application's telemetry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from labadapt.adapters.documents import Document, escaped, quoted, read_document
from labadapt.adapters.expressions import Expression, fault_of, parse
from labadapt.schema.mapping import MappingFile, ToolMapping
from labadapt.schema.model import Operation
from labadapt.schema.problems import Problem, Refusal
from msgspec import UNSET

if TYPE_CHECKING:
    from labadapt.adapters.inspect import Inspection

EXPRESSIONS = ("metric", "window", "rows", "value", "source")
_RUN_EXPRESSIONS = ("case", "policy", "output")


def read_mapping(data: bytes, file: str) -> MappingFile:
    """Read a mapping file (YAML 1.2, TOML or JSON). Refused with every fault, each with its line and pointer."""
    document = read_document(data, file)
    problems = _problems(document)
    if problems:
        raise Refusal(problems)
    return msgspec.convert(document.value, MappingFile)


def lint_mapping(data: bytes, file: str) -> list[Problem]:
    """Everything that is wrong with a mapping file, or that it says in vain."""
    try:
        document = read_document(data, file)
    except Refusal as refusal:
        return list(refusal.problems)
    return _problems(document) or [*_idle(document)]


def _problems(document: Document) -> list[Problem]:
    from labadapt.schema.faults import faults

    wrong = [document.placed(problem) for problem in faults(document.value, "mapping", document.file)]
    return wrong or [*_expression_problems(document)]


def _expression_problems(document: Document) -> Iterator[Problem]:
    value = document.value
    places = [
        (text, f"run.{name}", f"/run/{name}") for name, text in value.get("run", {}).items() if name in _RUN_EXPRESSIONS
    ]
    for tool, said in value.get("tools", {}).items():
        at = f"/tools/{escaped(tool)}"
        places += [(text, f"tools.{tool}.{part}", f"{at}/{part}") for part, text in said.items() if part in EXPRESSIONS]
    for text, place, pointer in places:
        problem = fault_of(text, place, document.where(pointer))
        if problem is not None:
            yield problem


def _idle(document: Document) -> Iterator[Problem]:
    for tool, said in document.value.get("tools", {}).items():
        if "operation" not in said:
            yield Problem(
                code="MISSING_FIELD",
                message=f'Nothing says whether "{tool}" reads or writes, so the read-only check stays open.',
                where=document.where(f"/tools/{escaped(tool)}"),
                expected="operation: read, or operation: write",
            )


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What the mapping says of one tool."""

    operation: Operation | None = None
    fields: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rules:
    """A mapping file with its expressions parsed. Without one: no rule at all."""

    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    case: Expression | None = None
    policy: Expression | None = None
    output: Expression | None = None
    dispositions: Mapping[str, str] = field(default_factory=dict)


def rules(mapping: MappingFile | None) -> Rules:
    """The rules of a mapping file. Refused: `BAD_EXPRESSION`, with the place of the expression."""
    if mapping is None:
        return Rules()
    tools = {} if mapping.tools is UNSET else mapping.tools
    run = mapping.run
    places = {}
    if run is not UNSET:
        places = {
            name: parse(text, f"run.{name}") for name in ("case", "policy", "output") if (text := getattr(run, name))
        }
    return Rules(
        tools={name: _rule(name, tool) for name, tool in tools.items()},
        dispositions={} if mapping.dispositions is UNSET else mapping.dispositions,
        **places,
    )


def _rule(name: str, tool: ToolMapping) -> ToolRule:
    fields = {}
    for part in EXPRESSIONS:
        text = getattr(tool, part)
        if text is not UNSET:
            fields[part] = parse(text, f"tools.{name}.{part}")
    return ToolRule(None if tool.operation is UNSET else tool.operation, fields)


# -- a starting file ---------------------------------------------------------------------------------------------------

_HEAD = """\
# A mapping file: how to read this application's telemetry. `labadapt mapping init` wrote this frame.
# Expressions are JMESPath; docs/mapping.md says over what. Nothing to say means the defaults: in a result that is an
# object, the keys metric, window, rows, value and source. `labadapt mapping lint FILE` checks the file.
schemaVersion: 1
"""

_TOOL = """\
  {tool}:   # seen {calls}
    # Does it read, or does it change something? Until a person says so, the read-only check stays open.
    # operation: read
    # value: result.value   # where the value stands; the same for metric, window, rows and source
    {{}}   # replace by the lines above
"""

_TAIL = """\
# run:
#   case: attributes."my.case"   # where the case id stands
#   policy: attributes."my.policy"
#   output: output   # an object with disposition, value, evidence, state
# dispositions:   # this application's own words
#   supported: answer
"""


def starting_mapping(inspection: "Inspection") -> str:
    """A mapping file to start from, as YAML: the tools that an export holds, their operations left to a person."""
    parts = [_HEAD]
    if inspection.tools:
        parts.append("tools:\n")
    for tool in inspection.tools:
        calls = "once" if tool.calls == 1 else f"{tool.calls} times"
        parts.append(_TOOL.format(tool=quoted(tool.name), calls=calls))
    return "".join([*parts, _TAIL])
