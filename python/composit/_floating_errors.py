"""What happens to errors of floating point: np.errstate's answers, given when they are found."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

import composit._core as _core

# Where NumPy keeps the settings of errstate.
_numpys = importlib.import_module("numpy._core._multiarray_umath")

# Kinds in the order in which NumPy answers them: bit, key of errstate, words.
_KINDS = (
    (1, "divide", "divide by zero"),
    (2, "over", "overflow"),
    (4, "under", "underflow"),
    (8, "invalid", "invalid value"),
)
_REMARK = 16  # a warning whose text is the operation


def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = _numpys._get_extobj_dict()
    del settings["bufsize"]
    return settings


def _report(settings: dict[str, Any], operation: str, kinds: int, path: str, line: int) -> None:
    """Answers each of `kinds`, which `operation` met, as the errstate in force at `line` wants."""
    if kinds == _REMARK:
        warn_at(operation, path, line)
    for bit, key, words in _KINDS:
        if kinds & bit:
            _answer(settings[key], settings["call"], words, operation, kinds, (path, line))


def _answer(
    answer: str, call: Any, words: str, operation: str, kinds: int, place: tuple[str, int]
) -> None:
    message = f"{words} encountered in {operation}"
    if answer == "warn":
        warn_at(message, *place)
    elif answer == "raise":
        raise FloatingPointError(f"{message} [{_short(place)}]" if place[0] else message)
    elif answer == "print":
        print(f"Warning: {message}", file=sys.stderr)
    elif answer == "call":
        if call is None:
            raise NameError(
                f"python callback specified for {words} (in {operation}) but no function found."
            )
        call(words, kinds)
    elif answer == "log":
        if call is None:
            raise NameError(
                f"log specified for {words} (in {operation}) but no object with write method found."
            )
        call.write(f"Warning: {message}\n")


def _short(place: tuple[str, int]) -> str:
    return f"{place[0].rpartition('/')[2]}:{place[1]}"


# Per file, what Python's filters remember of warnings that were shown once.
_registries: dict[str, dict[Any, Any]] = {}


def warn_at(message: str, path: str, line: int, category: type[Warning] = RuntimeWarning) -> None:
    """A warning at a line of the user's; at the caller's where none is known."""
    if not path:
        warnings.warn(message, category, stacklevel=2)
        return
    registry = _registries.setdefault(path, {})
    warnings.warn_explicit(message, category, path, line, registry=registry)


_core.follow_errstate(_numpys._extobj_contextvar, _settings, _report)
