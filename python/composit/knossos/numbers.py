"""The numbers that kernels take and return: kinds, and what is said of those that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np


def kind_of_dtype(dtype: Any) -> str:
    """float, int or bool."""
    return {"f": "float", "i": "int", "b": "bool"}[np.dtype(dtype).kind]


def first_line(text: str | None) -> str:
    """Of a documentation."""
    return (text or "").strip().splitlines()[0] if (text or "").strip() else ""
