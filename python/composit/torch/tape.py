"""Whether operations are recorded on the tape (composit/eager/tape.h): torch.no_grad and its
like."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import composit._core as _core
from composit.torch.decorating import decorated

set_recording = _core.set_recording  # whether this thread's operations are; returns the old


class _Switch(_core.GradientSwitch):
    """Sets whether operations are recorded, within a with block or a decorated function."""

    __slots__ = ()
    usually_on = False

    def __call__(self, function: Any) -> Any:
        return decorated(function, lambda: _of(self.is_on))


def _of(is_on: bool) -> _Switch:
    switch = _Switch()
    switch.is_on = is_on
    return switch


class _Plain(_Switch):
    """As a decorator it is used with or without parentheses."""

    __slots__ = ()
    __signature__ = inspect.signature(lambda orig_func=None: orig_func)

    @classmethod
    def of_function(cls, orig_func: Any) -> Any:
        """The function, within a with block."""
        return cls()(orig_func)


class no_grad(_Plain):
    """Operations within are not recorded."""

    __slots__ = ()


class _Inference(threading.local):
    is_on = False


_inference = _Inference()


class inference_mode(_Switch):
    """As no_grad, and is_inference_mode_enabled() says so."""

    _around: Any = None  # (what was set when it was entered, the same of the entry around that)

    def __init__(self, mode: bool = True) -> None:
        self.is_on = not mode

    def __enter__(self) -> None:
        super().__enter__()
        self._around = (_inference.is_on, self._around)
        _inference.is_on = not self.is_on

    def __exit__(self, *_: Any) -> None:
        _inference.is_on, self._around = self._around
        super().__exit__()

    def __call__(self, function: Any) -> Any:
        return decorated(function, lambda: inference_mode(not self.is_on))


def is_inference_mode_enabled() -> bool:
    """Whether this is within inference_mode."""
    return _inference.is_on


class set_multithreading_enabled:
    """Accepted: gradients are part of one program, whose threads torch.set_num_threads says."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


class enable_grad(_Plain):
    """Operations within are recorded."""

    __slots__ = ()
    usually_on = True


class set_grad_enabled(_Switch):
    """Sets whether operations are recorded, at once and until a with block of it ends."""

    def __init__(self, mode: bool) -> None:
        self.is_on = bool(mode)
        super().__enter__()

    def __enter__(self) -> None:
        set_recording(self.is_on)

    def __call__(self, function: Any) -> Any:
        super().__exit__()  # a decorator sets nothing by itself
        return super().__call__(function)


def is_grad_enabled() -> bool:
    """Whether operations are recorded."""
    return _core.is_recording()
