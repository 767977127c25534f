"""The lab's own attributes, for an application that instruments itself. They win over all others."""

from labadapt.adapters.span import Convention, Field, Match

CONVENTION = Convention(
    name="lab",
    title="labadapt's own attributes",
    specification="docs/conventions.md",
    version="1",
    family="lab",
    order=0,
    tool=(Match(attribute="lab.operation"), Match(attribute="lab.blocked")),
    agent=(Match(attribute="lab.case.id", absent=("lab.operation", "lab.blocked")),),
    tool_name=(Field(place="name"),),
    operation=(Field("lab.operation"),),
    capture="lab.operation, lab.metric, lab.window, lab.rows, lab.value and lab.source on the tool's span",
)
