"""GradientKernel: what `grad` of a kernel with arrays is."""

from __future__ import annotations

from typing import Any

from composit.knossos.array_kernel import ArrayKernel


class GradientKernel(ArrayKernel):
    """The derivative in reverse of a kernel with arrays, for the gradient 1 of its one number."""

    def __init__(self, function: ArrayKernel, vjp: ArrayKernel) -> None:
        super().__init__(
            f"{function.__name__}_grad", "", function._gradient, function.parameter_structures,
            vjp._result_structure,
        )  # fmt: skip
        self._vjp = vjp
        # Of the leaves of vjp, the last one is known.
        self._leaves, self._extents = vjp._leaves[:-1], vjp._extents
        self._operands = [i for i in vjp._operands if i < len(self._leaves)]

    def _node(self, leaves: list[Any], dtype: Any) -> list[Any]:
        # Of which all derivatives are known, of that of this one those in reverse alone.
        return self._vjp._node([*leaves, 1.0], dtype)

    def _to_push_forward(self, dtype: Any) -> Any:
        made = self.procedure(dtype)
        return made.without_derivative() if self._has_jvp() else made

    def _has_jvp(self) -> bool:
        return super()._has_jvp() and self._vjp._has_jvp()
