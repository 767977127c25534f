"""The mapping file: read, checked, and turned into rules for one application's telemetry."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from labadapt.adapters.expressions import Expression, parse
from labadapt.schema.mapping import MappingFile, ToolMapping
from labadapt.schema.model import Operation
from labadapt.schema.problems import Where
from msgspec import UNSET

EXPRESSIONS = ("metric", "window", "rows", "value", "source")


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
            fields[part] = parse(text, f"tools.{name}.{part}", Where())
    return ToolRule(None if tool.operation is UNSET else tool.operation, fields)
