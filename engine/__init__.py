"""Checks, outcomes, the authored cases and the two policies. Meets the adapters only in the native format.

What stands in `__all__` is loaded when it is first named, so that importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labadapt.engine.check import check_bundle, check_run
    from labadapt.engine.fixtures import fixture_bundle

__all__ = ["check_bundle", "check_run", "fixture_bundle"]

_MODULES = {"check_bundle": "check", "check_run": "check", "fixture_bundle": "fixtures"}


def __getattr__(name: str) -> object:
    """The public function of that name, from the module that holds it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
