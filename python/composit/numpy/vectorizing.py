"""vectorize: functions of Python over the elements of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import _opaque
from composit._core import LazyTensor, not_supported, value_error
from composit.numpy.creation import asarray

__all__ = ["vectorize"]


class vectorize(np.vectorize):
    """NumPy's vectorize, which makes tensors.

    With `otypes` a call is one node, a call of Python when it is evaluated. Without them, with a
    `signature`, with `excluded` or keyword arguments the results' types depend on what the function
    returns: then it is called at once.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lazy: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.pyfunc is np._NoValue:  # a decorator with options: the function comes now
            return super().__call__(*arguments, **named)
        is_lazy = self.otypes is not None and arguments and not named
        if is_lazy and self.signature is None and not self.excluded:
            return self._node(arguments)
        given = [_known(value) for value in arguments]
        made = super().__call__(*given, **{name: _known(each) for name, each in named.items()})
        return tuple(map(asarray, made)) if isinstance(made, tuple) else asarray(made)

    def _node(self, arguments: tuple[Any, ...]) -> Any:
        operands = [value if _is_scalar(value) else asarray(value) for value in arguments]
        if not any(isinstance(value, LazyTensor) for value in operands):
            operands = [asarray(value) for value in operands]
        if self._lazy is None:
            computed = super().__call__

            def call(*values: Any) -> Any:
                return computed(*values)

            call.__name__ = getattr(self.pyfunc, "__name__", "vectorize")
            self._lazy = _opaque.operation(call, self._types)
        made = self._lazy(*operands)
        return tuple(made) if isinstance(made, list) else made

    def _types(self, *operands: Any) -> Any:
        """The (shape, dtype) of each result."""
        try:
            shape = np.broadcast_shapes(*[getattr(each, "shape", ()) for each in operands])
        except ValueError as error:
            raise value_error(f"vectorize: {error}") from None
        types = [(shape, np.dtype(each)) for each in self.otypes or ()]
        return types[0] if len(types) == 1 else types


def _is_scalar(value: Any) -> bool:
    return type(value) in (bool, int, float)


def _known(value: Any) -> Any:
    """A tensor's values."""
    if not isinstance(value, LazyTensor):
        return value
    if not value.has_value():
        raise not_supported(
            "vectorize: the function is called at once, but an argument depends on a "
            "placeholder. Inside compile, grad, vmap and wrap_as_operation give otypes=, and "
            "no signature, excluded or keyword arguments."
        )
    return value.evaluated()
