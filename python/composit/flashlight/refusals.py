"""What a trace cannot do: the operator's name, the module and the lines that called it."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import torch

import composit._core as _core
from composit._core import NotSupported

_own = (os.path.dirname(os.path.dirname(__file__)) + "/", os.path.dirname(torch.__file__) + "/")
_core.add_internal_folder(_own[1])  # nodes have the lines of the models

PARTS_WRITTEN = "flashlight: a view of parts of elements is written."


def _lines() -> tuple[str, str]:
    """The innermost lines outside torch and composit, and outside installed packages and code
    that torch.export wrote: as "file.py:12", or empty."""
    model = user = ""
    frame = sys._getframe(1)
    while frame is not None and not user:
        path = frame.f_code.co_filename
        if not path.startswith(_own) and not path.startswith("<frozen"):
            line = f"{os.path.basename(path)}:{frame.f_lineno}"
            model = model or line
            if "/site-packages/" not in path and not path.startswith("<eval_with_key"):
                user = line
        frame = frame.f_back  # type: ignore[assignment]
    return model, user


def line_of() -> str:
    """ " [file.py:12]" of the user's innermost line, or nothing."""
    model, user = _lines()
    return f" [{user or model}]" if user or model else ""


def refuse(tracer: Any, operator: str, reason: str) -> NoReturn:
    """NotImplementedError for an operator: why, in which module, and the user's line."""
    model, user = _lines()
    module = tracer.paths.current
    where = f" In module {module}" if module else ""
    if model and model != user:
        where += f"{', at' if where else ' At'} {model}"
    where += "." if where else ""
    line = f" [{user or model}]" if user or model else ""
    raise NotSupported(f"flashlight: {operator}: {reason}{where}{line}")


def refuse_values(tracer: Any, operator: str) -> NoReturn:
    """The refusal of what needs values that are not known while tracing."""
    refuse(
        tracer,
        operator,
        "this needs the values of a traced tensor, which are not known before the graph is "
        "evaluated. What decides shapes or control flow must not depend on inputs or weights.",
    )
