"""Langfuse: experiments on a dataset, read live or from saved files, as runs."""
