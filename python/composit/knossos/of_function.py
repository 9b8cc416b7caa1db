"""Kernels of plain Python functions, one for each."""

from __future__ import annotations

import threading
import types
from typing import Any

from composit._core import NotSupported, type_error
from composit.knossos.annotations import Leaf, structures_of
from composit.knossos.array_kernel import ArrayKernel, has_arrays
from composit.knossos.by_example import KernelByExample, has_any_tensors
from composit.knossos.kernel import _DOUBLE, _SINGLE, Kernel
from composit.knossos.provided import provided
from composit.knossos.source import Source, known_kernel
from composit.knossos.translate import translate

_in_translation = threading.local()


def kernel_by(decorator: str, function: Any) -> Any:
    """The kernel of what a decorator is given. TypeError for what is no function."""
    if not isinstance(function, (Kernel, KernelByExample, types.FunctionType)):
        raise type_error(
            f"{decorator}: {function!r} is no function of Python. One made by `def`, with "
            "annotated arguments, is required."
        )
    return kernel_of(function)


def kernel_of(function: Any) -> Any:
    """The kernel of a plain function; the same one for the same function."""
    if isinstance(function, (Kernel, KernelByExample)):
        return function
    known = known_kernel(function)
    if known is not None:
        return known
    source = Source(function)
    for argument in source.tree.args.args:
        if argument.annotation is None:
            source.refuse(
                argument, f"the argument {argument.arg} has no annotation",
                f"Write {argument.arg}: float (or int, bool, Tensor[float, n], "
                "tuple[float, float], a NamedTuple or dataclass of these).",
            )  # fmt: skip
    if has_any_tensors(source):
        return KernelByExample(source, _kernel_of_text)
    kernel = _kernel_of_text(source)
    function._knossos_kernel = kernel
    return kernel


def _kernel_of_text(source: Source) -> Kernel:
    function = source.function
    structures = structures_of(source)
    results: dict[Any, Leaf] = {}

    def called(function: Any) -> Kernel:
        """A kernel that this one calls."""
        made = kernel_of(function)
        made._users.add(kernel)
        return made

    def make(dtype: Any) -> Any:
        # In both dtypes at once: names may mean another thing at the first use of the other.
        known = kernel._translated
        for each in () if dtype in known else dict.fromkeys((dtype, _DOUBLE, _SINGLE)):
            known[each], results[each] = translated(each)
        return known[dtype]

    def translated(dtype: Any) -> Any:
        running = vars(_in_translation).setdefault("functions", [])
        if function in running:
            source.refuse(source.tree, "it calls itself", "Write a loop.", NotSupported)
        if not source.is_current():
            source.refuse(
                source.tree, "its __code__ is another one than when it became a kernel, and the "
                "text that was read is not what Python runs",
                "Make a kernel of the function as it is now.",
            )  # fmt: skip
        running.append(function)
        try:
            return translate(source, dtype, called)
        finally:
            running.pop()

    def result() -> Leaf:
        kernel.procedure()
        return results[_DOUBLE]

    made_by = ArrayKernel if has_arrays(structures) else Kernel  # until its procedure is known
    kernel = made_by(source.name, source.documentation, make, structures, result)
    kernel.__module__, kernel.__qualname__ = function.__module__, function.__qualname__
    kernel.__wrapped__ = function  # type: ignore[attr-defined]
    kernel._source = source
    return kernel


provided.kernel_of, provided.kernel_by = kernel_of, kernel_by
