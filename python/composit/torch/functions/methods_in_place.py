"""Methods that write elementwise functions over a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core import runtime_error
from composit.torch import calling, writing


@calling.method
def map_(self: Any, tensor: Any, callable: Any) -> Any:
    """Each element becomes callable(element, the other's), by Python."""
    other = tensor.detach().expand_as(self).numpy(force=True)
    made = np.vectorize(callable, otypes=[self.dtype.numpy])(self.detach().numpy(force=True), other)
    return self.copy_(calling.functions["from_numpy"](made))


@calling.method
def float_power_(self: Any, exponent: Any) -> Any:
    """float_power, written over the tensor. RuntimeError where that is not of double precision."""
    made = calling.functions["float_power"](self, exponent)
    if made.dtype != self.dtype:
        raise runtime_error(
            f"the base given to float_power_ has dtype {self.dtype} but the operation's result "
            f"requires dtype {made.dtype}"
        )
    return writing.write(self, made, "float_power")


@calling.method
def polygamma_(self: Any, n: int) -> Any:
    """polygamma, written over the tensor."""
    return writing.write(self, calling.functions["polygamma"](n, self), "polygamma")


@calling.method
def conj_physical_(self: Any) -> Any:
    """The conjugate, written over the tensor."""
    return writing.write(self, calling.functions["conj_physical"](self), "conj_physical")
