"""What gradients need to know: whether operations are recorded, and which leaves a tensor is of.

A record is a list: the operation's name, then the records of its operands. A leaf that requires a
gradient is its own record; a weak reference among the operands is a tensor that retains its
gradient. backward() frees the records it walked.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from typing import Any

from composit import _core
from composit._core import with_location
from composit.torch.decorating import decorated
from composit.torch.versions import Note

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
    __signature__ = inspect.signature(lambda function=None: function)

    @classmethod
    def of_function(cls, function: Any) -> Any:
        """The function, within a with block."""
        return cls()(function)


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

    def __init__(self, mode_: bool) -> None:
        self.is_on = bool(mode_)
        super().__enter__()

    def __enter__(self) -> None:
        set_recording(self.is_on)

    def __call__(self, function: Any) -> Any:
        super().__exit__()  # a decorator sets nothing by itself
        return super().__call__(function)


def is_grad_enabled() -> bool:
    """Whether operations are recorded."""
    return _core.is_recording()


class GradFn:
    """What tensor.grad_fn is: the record's name, and those it came from."""

    def __init__(self, record: Any) -> None:
        self._record = record

    def name(self) -> str:
        """The operation's name, as torch writes it."""
        return self._record[0] if isinstance(self._record, list) else "AccumulateGrad"

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """(grad_fn, 0) of each operand."""
        if not isinstance(self._record, list):
            return ()
        operands = [x for x in self._record[1:] if not isinstance(x, (weakref.ref, str, Note))]
        return tuple((None if x is None else GradFn(x), 0) for x in operands)

    @property
    def variable(self) -> Any:
        """The leaf, where this is one's."""
        if isinstance(self._record, list):
            raise AttributeError(f"'{self.name()}' object has no attribute 'variable'")
        return self._record

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self._record))}>"


FREED = "freed"


def free(records: list[list[Any]]) -> None:
    """Lets go of what the records came from; walking them again is an error."""
    for record in records:
        record[1:] = [FREED]


def leaves_of(records: list[Any]) -> tuple[list[Any], list[list[Any]]]:
    """The leaves, and tensors that retain gradients, below records; and all records below them."""
    leaves: dict[int, Any] = {}
    seen: dict[int, list[Any]] = {}
    open_records = list(records)
    while open_records:
        record = open_records.pop()
        if isinstance(record, list):
            if id(record) in seen:
                continue
            if record[-1] is FREED:
                raise RuntimeError(
                    with_location(
                        "Trying to backward through the graph a second time. Its records were "
                        "freed by backward(); retain_graph=True keeps them."
                    )
                )
            seen[id(record)] = record
            open_records.extend(record[1:])
        elif isinstance(record, weakref.ref):
            tensor = record()
            if tensor is not None:
                leaves[id(tensor)] = tensor
        elif record is not None and not isinstance(record, Note):
            leaves[id(record)] = record
    return list(leaves.values()), list(seen.values())
