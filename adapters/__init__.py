"""From telemetry to runs: sources, conventions, recognition, sequencing, cases and mapping files."""
