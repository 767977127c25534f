"""Checks, outcomes, the authored cases and the two policies. Meets the adapters only in the native format."""
