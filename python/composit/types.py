"""The types that users name in annotations and ask for with isinstance, and visualize."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import composit._core as _core
from composit._core import Node
from composit.visualization import visualize

__all__ = ["LazyTensor", "Node", "visualize"]

if TYPE_CHECKING:
    from composit._core import LazyTensor
else:

    class _LazyTensor(type):
        """Asks whether a value is a lazy tensor: of composit.numpy, or a torch tensor of a trace of
        flashlight that did not run torch, as the trace's results are."""

        def __instancecheck__(cls, value: Any) -> bool:
            if isinstance(value, _core.LazyTensor):
                return True
            tracing = sys.modules.get("composit.flashlight.tensor")
            return tracing is not None and tracing.is_lazy(value)

        def __call__(cls, *given: Any, **named: Any) -> Any:
            return _core.LazyTensor(*given, **named)

        def __subclasscheck__(cls, kind: type) -> bool:
            return kind is cls or issubclass(kind, _core.LazyTensor)

    _OWN = ("__class__", "__dict__", "__getattribute__", "__init__", "__init_subclass__", "__new__",
            "__subclasshook__")  # fmt: skip
    # The metaclass of a class of C++ has no subclasses: the class's attributes are entered instead.
    _attributes = {
        name: getattr(_core.LazyTensor, name) for name in dir(_core.LazyTensor) if name not in _OWN
    }
    _attributes["__new__"] = lambda cls, *_, **__: _core.LazyTensor.__new__(_core.LazyTensor)
    LazyTensor = _LazyTensor("LazyTensor", (), _attributes)
