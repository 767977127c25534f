"""Conventions, one table a file. Every module of this folder that has a `CONVENTION` is found by walking it."""
