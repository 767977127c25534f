"""Sources, one format a file. Every module of this folder that has a `SOURCE` is found by walking it."""
