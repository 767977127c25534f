"""A tool span whose attributes were dropped by a limit: only its name says what it was."""

from labadapt.adapters.span import Convention, Field, Match

CONVENTION = Convention(
    name="dropped-attributes",
    title="Attribute limit hit",
    specification="https://opentelemetry.io/docs/specs/otel/common/#attribute-limits",
    version="1",
    family="fallback",
    order=14,
    tool=(Match(name_prefixes=("execute_tool ",), dropped=True),),
    tool_name=(Field("execute_tool ", place="name-suffix"),),
    capture="OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, OTEL_ATTRIBUTE_COUNT_LIMIT: raise them",
)
