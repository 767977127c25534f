"""Fails to import."""

raise RuntimeError("\x1b]0;owned\x07this module cannot be imported")
