"""ArrayKernel: a kernel with arrays among its arguments or results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, NotSupported, not_supported
from composit.knossos.annotations import Leaf, Parts, TensorOf, annotated
from composit.knossos.given_derivative import leaves_of
from composit.knossos.kernel import _DOUBLE, _SINGLE, Kernel, never
from composit.knossos.made_once import made_once
from composit.knossos.provided import provided
from composit.knossos.short_floats import (
    all_rounded,
    floating_dtype,
    floats_among,
    is_short,
)


def has_arrays(structures: list[Leaf]) -> bool:
    return any(isinstance(leaf, TensorOf) for each in structures for leaf in leaves_of(each))


class ArrayKernel(Kernel):
    """A function of numbers and arrays. It takes and returns numbers and NumPy's arrays; of
    composit's tensors it makes a node of a graph; torch's keep their gradients. float is float64,
    and float32 where an array is of float32 and none of float64."""

    is_of_arrays = True  # type: ignore[assignment]  # whatever its procedure turns out to be

    def __init__(
        self, name: str, doc: str, maker: Callable[[Any], Any], structures: list[Leaf],
        result: Callable[[], Leaf],
    ) -> None:  # fmt: skip
        super().__init__(name, doc, maker, structures, result)
        self._know_leaves()

    def _hold_arrays(self) -> None:
        pass

    def _know_leaves(self) -> None:
        self._fast, self._elementwise = self._first_call, never
        self._leaves = [leaf for each in self.parameter_structures for leaf in leaves_of(each)]
        # The procedure's operands by their places among the leaves.
        self._operands = list(range(len(self._leaves)))
        self._extents = annotated.first_extents(self._leaves, self._operands)
        self._numbers: dict[Any, tuple[Any, int]] = {}  # of procedures that nodes call

    def _first_call(self, *arguments: Any) -> Any:
        """Calls whose arguments are of float64 and need no conversion go straight to the code,
        where results are numbers and arrays, or a tuple of them."""
        made = self._general(arguments)
        code = self._compiled.get(_DOUBLE)
        if code is not None:
            order = self._plain_order()
            self._fast = never if order is None else code.in_order(order)
        return made

    def _plain_order(self) -> list[int] | None:
        """The places of results, which code returns as numbers, then arrays. None where arguments
        or results have parts."""
        return annotated.plain_order(self._result_structure(), self.parameter_structures)

    def _computed(self, leaves: list[Any]) -> Any:
        """All results, as a tuple where there are several."""
        every = self._results(leaves)
        made = tuple(every) if len(every) > 1 else every[0]
        dtype = floating_dtype(leaves)
        return made if dtype is None or not is_short(dtype) else all_rounded(made, dtype)

    def _results(self, leaves: list[Any]) -> list[Any]:
        dtype = self._dtype(leaves)
        is_lazy = any(isinstance(leaf, LazyTensor) for leaf in leaves)
        return self._node(leaves, dtype) if is_lazy else self._run(leaves, dtype)

    def _dtype(self, leaves: list[Any]) -> Any:
        given = floats_among(leaves)
        is_single = given and all(each == _SINGLE or is_short(each) for each in given)
        return _SINGLE if is_single else _DOUBLE

    def _node(self, leaves: list[Any], dtype: Any) -> list[Any]:
        """The results of one node of a graph."""
        operands = _core.knossos.operands_of_node(
            self.__name__, self._leaves, leaves, self._operands, dtype
        )
        return self._in_order(_core.procedure.node(self._number_of(dtype), operands))

    def _number_of(self, dtype: Any) -> int:
        with self._lock:
            made = self.procedure(dtype)
            known = self._numbers.get(dtype)
            if known is None or known[0] is not made:
                known = (made, _core.procedure.keep_callable(made))
                self._numbers[dtype] = known
            return known[1]

    def _run(self, leaves: list[Any], dtype: Any) -> list[Any]:
        floats, integers, arrays = _core.knossos.arranged(
            self.__name__, self._leaves, leaves, self._operands, self._extents, dtype
        )
        made = list(self._code(dtype)(floats, integers, arrays))
        return self._in_order(made)

    def _in_order(self, made: list[Any]) -> list[Any]:
        """Results as the structure has them, of numbers, then arrays."""
        places = annotated.places_of_results(self._result_structure())
        return [made[place] for place in places]

    def _code(self, dtype: Any) -> Any:
        with self._lock:
            if dtype not in self._compiled:
                loaded = _core.procedure.load_arrays(self.__name__, [[self.procedure(dtype)]], "")
                # Without a compiler, of which a warning was given: the same bits, slowly.
                self._compiled[dtype] = (
                    loaded[0] if loaded else _core.procedure.interpreted(self.procedure(dtype))
                )
            return self._compiled[dtype]

    def _use(self, code: Any, dtype: Any = _DOUBLE) -> None:
        """Calls of a dtype run this code from now on; None: it is made anew."""
        with self._lock:
            self._compiled = {} if code is None else {dtype: code}
            self._fast = self._first_call

    # ----- derivatives

    def _float_leaves(self) -> list[Leaf]:
        return [leaf for leaf in self._leaves if leaf.kind == "float"]

    def _floats(self) -> list[int]:
        return [i for i, leaf in enumerate(self._leaves) if leaf.kind == "float"]

    def _float_result_leaves(self) -> list[Leaf]:
        return [leaf for leaf in leaves_of(self._result_structure()) if leaf.kind == "float"]

    def _float_results(self) -> int:
        return len(self._float_result_leaves())

    def _with(
        self, suffix: str, make: Any, more: list[Leaf], order: list[int], results: list[Leaf]
    ) -> ArrayKernel:  # fmt: skip
        """A derivative, which takes `more`; its procedure takes these in the order of `order`."""
        structure = results[0] if len(results) == 1 else Parts(tuple, dict(enumerate(results)))
        # Extents of results are those of arguments: none of the new ones is met first.
        made = ArrayKernel(
            f"{self.__name__}_{suffix}", "", make,
            [*self._leaves, *map(annotated.without_names, more)], lambda: structure,
        )  # fmt: skip
        made._whole = self._whole_with(suffix)
        made._operands = [*self._operands, *(len(self._leaves) + i for i in order)]
        self._derived(suffix, made)
        return made

    @made_once
    def vjp(self) -> Kernel:
        """vjp(x, …, dy, …): what each float argument receives of gradients of the results, by
        reverse accumulation."""
        self._check_smooth()
        received = self._float_result_leaves()  # numbers, then arrays
        order = sorted(range(len(received)), key=lambda i: isinstance(received[i], TensorOf))
        made = self._with(
            "vjp", lambda dtype: _core.procedure.reverse(self.procedure(dtype)), received, order,
            self._float_leaves(),
        )  # fmt: skip
        given = self._derivative
        if isinstance(given, ArrayKernel):  # extents have the names that its annotations say
            made.parameter_structures = made._leaves = given._leaves
            made._extents, made._operands = given._extents, given._operands
        return made

    @made_once
    def jvp(self) -> Kernel:
        """jvp(x, …, dx, …): the tangents of the results for those of the float arguments."""
        self._check_smooth()
        floats = self._floats()
        order = [floats.index(i) for i in self._operands if i in floats]
        return self._with(
            "jvp", lambda dtype: _core.procedure.jvp(self._to_push_forward(dtype)),
            self._float_leaves(), order, self._float_result_leaves(),
        )  # fmt: skip

    def _to_push_forward(self, dtype: Any) -> Any:
        """The procedure of which jvp is made."""
        return self.procedure(dtype)

    @made_once
    def grad(self) -> Kernel:
        """grad(x, …): the derivative of the one result, a number, with respect to each float
        argument."""
        self._check_smooth()
        results = self._float_result_leaves()
        if len(results) != 1 or isinstance(results[0], TensorOf):
            raise NotSupported(
                self._located(
                    f"{self.__name__}.grad: {_count_of(results)}. One "
                    "number is required; vjp and jvp take any."
                )
            )
        vjp = self.vjp
        assert isinstance(vjp, ArrayKernel)
        made = GradientKernel(self, vjp)
        self._derived("grad", made)
        return made

    def _has_jvp(self) -> bool:
        return self._derivative is None  # of which the vector-Jacobian product alone is known

    # ----- what stands for maps only

    @property
    def rows(self) -> list[Any]:
        raise self._no_map("a map over elements")

    @property
    def graph(self) -> Any:
        raise self._no_map("a graph before the extents of its arrays are known")

    def inside(self, operands: list[Any], dtype: Any) -> Any:
        raise self._no_map("yet a part of another kernel")

    def _no_map(self, what: str) -> NotSupported:
        return not_supported(
            f"{self.__name__}: a kernel with arrays is not {what}. Call it, its vjp or its "
            "jvp with arrays or tensors, or export it."
        )


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


provided.array_kernel = ArrayKernel


def _count_of(results: list[Leaf]) -> str:
    if len(results) == 1:
        return "the result is an array"
    return f"the results are {len(results)} numbers or arrays"
