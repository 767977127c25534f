"""Where a server is and the keys to it: from the environment, or asked for on a terminal, and from nowhere else."""

import os
import sys
from collections.abc import Mapping

import click
from labadapt.adapters.langfuse.client import Connection
from labadapt.schema.problems import Problem, Refusal

PUBLIC_KEY, SECRET_KEY = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"
ADDRESSES = ("LANGFUSE_BASE_URL", "LANGFUSE_HOST")


def langfuse_connection(*, insecure_http: bool, timeout: float) -> Connection:
    """The connection that the environment names. Raises ``NO_CREDENTIALS`` with everything that is missing.

    The address has no default: keys are not sent to a host that nobody named.
    """
    environment = {name: value.strip() for name, value in os.environ.items()}
    address = next((environment[name] for name in ADDRESSES if environment.get(name)), "")
    missing = [] if address else [ADDRESSES[0]]
    if not _can_ask():
        missing += [name for name in (PUBLIC_KEY, SECRET_KEY) if not environment.get(name)]
    if missing:
        raise Refusal([_missing(name) for name in missing])
    return Connection(
        address=address.rstrip("/"),
        public_key=_key(PUBLIC_KEY, environment),
        secret_key=_key(SECRET_KEY, environment),
        insecure_http=insecure_http,
        timeout=timeout,
    )


def _can_ask() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _key(name: str, environment: Mapping[str, str]) -> str:
    """The key; one that is asked for is not shown while it is typed. Raises ``NO_CREDENTIALS`` for one that is none."""
    key = environment.get(name) or str(click.prompt(name, hide_input=True, err=True)).strip()
    if not key.isascii() or not key.isprintable() or ":" in key:  # what HTTP Basic cannot carry
        raise Refusal(Problem(code="NO_CREDENTIALS", message=f"{name} holds characters that no key has"))
    return key


def _missing(name: str) -> Problem:
    hint = "For example https://cloud.langfuse.com or https://us.cloud.langfuse.com." if name == ADDRESSES[0] else None
    return Problem(code="NO_CREDENTIALS", message=f"{name} is not set in the environment", hint=hint)
