"""What happens to errors of floating point: np.errstate's answers, given when they are found."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import composit._core as _core

# Where NumPy keeps the settings of errstate.
_numpys = importlib.import_module("numpy._core._multiarray_umath")


def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = _numpys._get_extobj_dict()
    del settings["bufsize"]
    return settings


# Per file, what Python's filters remember of warnings that were shown once.
_registries: dict[str, dict[Any, Any]] = {}


def warn_at(message: str, path: str, line: int, category: type[Warning] = RuntimeWarning) -> None:
    """A warning at a line of the user's; at the caller's where none is known."""
    if not path:
        warnings.warn(message, category, stacklevel=2)
        return
    registry = _registries.setdefault(path, {})
    warnings.warn_explicit(message, category, path, line, registry=registry)


_core.follow_errstate(_numpys._extobj_contextvar, _settings, warn_at)
