"""What torch.compile does not look into: kernels, which are compiled already, stand between the
parts of a function or model that it compiles."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Any


def left_as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, marked as torch.compiler.disable marks those that it returns, which are slower
    to call and need torch."""
    function._torchdynamo_disable = True  # type: ignore[attr-defined]
    function._torchdynamo_disable_msg = (  # type: ignore[attr-defined]
        "a kernel of composit.knossos is compiled already"
    )
    return function


def leave_frames_as_they_are(*functions: Any) -> None:
    """Nor are such functions compiled when Python calls them from what is, or what they call."""
    import torch

    frames = torch._C._dynamo.eval_frame
    skip = frames._FrameAction.SKIP
    for function in functions:
        frames.set_code_exec_strategy(function.__code__, frames._FrameExecStrategy(skip, skip))


@atexit.register
def forget_compiled() -> None:
    """What torch compiled lives longer than Python's modules, and holds what it mentions, kernels,
    too, whose code would be found not to be given back."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()
