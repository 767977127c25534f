"""labadapt: from recorded agent traces to checked run bundles.

The import names are :mod:`labadapt.schema` (the native format), :mod:`labadapt.adapters` (telemetry to runs),
:mod:`labadapt.engine` (checks and outcomes) and :mod:`labadapt.cli` (the command line).
"""

__version__ = "0.1.0"
