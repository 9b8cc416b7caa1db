"""Anomaly detection: while it is on, backward looks at what each operation's gradient gives, and
names the first that gives NaN, with the line that called the operation."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import composit._core as _core
from composit._core import runtime_error


class _Mode(threading.local):
    is_on = False
    checks_nan = True


state = _Mode()


class set_detect_anomaly:
    """Turns anomaly detection on or off, at once and until a with block of it ends. With check_nan
    False nothing is checked."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (state.is_on, state.checks_nan)
        state.is_on, state.checks_nan = bool(mode), bool(check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        state.is_on, state.checks_nan = self._before


class detect_anomaly:
    """Within its block, backward raises RuntimeError where an operation's gradient gives NaN."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        self._entered: list[set_detect_anomaly] = []
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._entered.append(set_detect_anomaly(True, self._check_nan))

    def __exit__(self, *_: Any) -> None:
        self._entered.pop().__exit__()


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return state.is_on


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection, where it is on, looks for NaN."""
    return state.checks_nan


def is_checking() -> bool:
    """Whether gradients are to be looked at."""
    return state.is_on and state.checks_nan


def check_function(name: str, gradients: list[Any]) -> None:
    """Of what a Function's backward returned; None where there is no gradient."""
    if is_checking():
        for number, lazy in enumerate(gradients):
            if lazy is not None and _core.has_nan(lazy):
                raise runtime_error(
                    f"Function '{name}' returned nan values in its {number}th output."
                )
