"""Checks, outcomes, the authored cases and the two policies. Meets the adapters only in the native format.

What stands in `__all__` is loaded when it is first named, so that importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labadapt.engine.check import check_bundle, check_run
    from labadapt.engine.estimates import (
        clopper_pearson,
        clopper_pearson_lower,
        clopper_pearson_upper,
        clustered,
        mcnemar_exact,
        newcombe,
        newcombe_paired,
        pass_k,
        sign_test,
        smallest_p,
        wilson,
    )
    from labadapt.engine.fixtures import fixture_bundle
    from labadapt.engine.rules import verdict

__all__ = [
    "check_bundle",
    "check_run",
    "clopper_pearson",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "clustered",
    "fixture_bundle",
    "mcnemar_exact",
    "newcombe",
    "newcombe_paired",
    "pass_k",
    "sign_test",
    "smallest_p",
    "verdict",
    "wilson",
]

_MODULES = {
    "check_bundle": "check",
    "check_run": "check",
    "clopper_pearson": "estimates",
    "clopper_pearson_lower": "estimates",
    "clopper_pearson_upper": "estimates",
    "clustered": "estimates",
    "fixture_bundle": "fixtures",
    "mcnemar_exact": "estimates",
    "newcombe": "estimates",
    "newcombe_paired": "estimates",
    "pass_k": "estimates",
    "sign_test": "estimates",
    "smallest_p": "estimates",
    "verdict": "rules",
    "wilson": "estimates",
}


def __getattr__(name: str) -> object:
    """The public function of that name, from the module that holds it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
