"""Kernels of functions whose arguments are annotated `torch.Tensor`: how many axes these have is
known when they are called."""

from __future__ import annotations

import ast
import copy
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from composit._core import not_supported, short_floats, type_error
from composit.knossos import spellings
from composit.knossos.annotations import Leaf, TensorOf, is_any_tensor, meaning_of
from composit.knossos.provided import provided
from composit.knossos.source import Source


class KernelByExample:
    """One kernel for each number of axes, and kind of elements, that tensors are given with."""

    def __init__(self, source: Source, make: Callable[[Source], Any], rows: int = 0) -> None:
        """`make(source)`: the kernel of a text whose annotations say the axes, for each row of
        arguments that have `rows` more."""
        self.__name__, self.__doc__ = "v" * rows + source.name, source.documentation
        self.__wrapped__ = source.function
        self._source, self._make, self._rows = source, make, rows
        self.__module__ = source.function.__module__
        self._kernels: dict[tuple[Any, ...], Any] = {}
        self._over_rows: KernelByExample | None = None
        self._made_of: tuple[Any, ...] | None = None  # as of kernels, for pickle
        self._derivative = None

    def of(self, *examples: Any) -> Any:
        """The kernel for arguments like these, which has `source`, `export` and all others.
        TypeError where there are more or fewer than the function has."""
        bound = self._bound(examples, {})
        arguments = self._source.tree.args.args
        open_ones = [each for each in arguments if _is_open(self._source, each)]
        key = tuple(_axes_of(self.__name__, each.arg, bound.arguments[each.arg], self._rows)
                    for each in open_ones)  # fmt: skip
        if key not in self._kernels:
            structures = {each.arg: _structure(each.arg, *axes)
                          for each, axes in zip(open_ones, key)}  # fmt: skip
            self._kernels[key] = self._make(_annotated(self._source, structures))
        return self._kernels[key]

    def over_rows(self, mapped: Callable[[Any], Any]) -> KernelByExample:
        """The function for each row of its arguments; the same one each time."""
        if self._over_rows is None:
            make, rows = self._make, self._rows + 1
            made = KernelByExample(self._source, lambda source: mapped(make(source)), rows)
            made._made_of = (mapped, self)
            self._over_rows = made
        return self._over_rows

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if named:
            arguments = self._bound(arguments, named).args
        return self.of(*arguments)(*arguments)

    def _bound(self, arguments: Any, named: dict[str, Any]) -> inspect.BoundArguments:
        try:
            bound = inspect.signature(self.__wrapped__).bind(*arguments, **named)
        except TypeError as error:
            raise type_error(
                f"{self.__name__}: {error}. A value for each argument is required."
            ) from None
        bound.apply_defaults()
        return bound

    def _derived(self, name: str, arguments: tuple[Any, ...]) -> Any:
        kernel = self.of(*arguments[: len(self._source.tree.args.args)])
        return getattr(kernel, name)(*arguments)

    def vjp(self, *arguments: Any) -> Any:
        """vjp(x, …, dy, …): what each float argument receives of gradients of the results."""
        return self._derived("vjp", arguments)

    def jvp(self, *arguments: Any) -> Any:
        """jvp(x, …, dx, …): the tangents of the results for those of the float arguments."""
        return self._derived("jvp", arguments)

    def grad(self, *arguments: Any) -> Any:
        """grad(x, …): the derivative of the one result with respect to each float argument."""
        return self._derived("grad", arguments)

    def compile(self, *examples: Any, example_inputs: Any = None, **options: Any) -> Any:
        """The kernel's own `compile`, for arguments like the examples."""
        if spellings.is_of_original(examples):
            example_inputs = examples[0]
        if example_inputs is not None:
            return self.ensure_compiled(example_inputs)
        return self.of(*examples).compile(*examples, **options)

    ensure_compiled, _reset_allocator = spellings.ensure_compiled, spellings.reset_allocator
    _entry, _entry_vjp = spellings.entry, spellings.entry_vjp
    raw_f = property(spellings.raw_f)

    @property
    def nnModule(self) -> Any:
        """A torch.nn.Module without parameters that applies the function."""
        return provided.module_of(self)

    @property
    def autogradFunction(self) -> Any:
        """What has `.apply`, as the torch.autograd.Function of a kernel has."""
        return types.SimpleNamespace(apply=self.__call__, __name__=self.__name__)

    # It does not change; what pickle keeps (pickling.py) is where it is found.

    def __copy__(self) -> KernelByExample:
        return self

    def __deepcopy__(self, memo: Any) -> KernelByExample:
        return self

    def _root(self) -> Any:
        return self if self._made_of is None else self._made_of[1]._root()

    def _located(self, message: str) -> str:
        return f"{message} [{self._source.path}:{self._source.line}]"

    def __repr__(self) -> str:
        return f"<knossos kernel {self.__name__}, by example>"


def has_any_tensors(source: Source) -> bool:
    """Whether an annotation of an argument says torch.Tensor, and no axes."""
    return any(_is_open(source, each) for each in source.tree.args.args)


def _is_open(source: Source, argument: ast.arg) -> bool:
    return argument.annotation is not None and is_any_tensor(
        meaning_of(source, argument.annotation)
    )


def _axes_of(function: str, name: str, value: Any, rows: int) -> tuple[str, int]:
    """The kind of elements, and how many axes there are besides those of rows."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        value = np.asarray(value)
        dtype = value.dtype
    dtype_name = str(dtype).rpartition(".")[2]  # of "torch.float32", too
    kind = "f" if dtype_name in short_floats else np.dtype(dtype_name).kind
    if kind not in "fiub":
        raise type_error(
            f"{function}: {name} has elements of {dtype}. Floats, integers or bools are required."
        )
    return {"f": "float", "b": "bool"}.get(kind, "int"), max(value.ndim - rows, 0)


def _structure(name: str, kind: str, axes: int) -> Leaf:
    if axes > 4:
        raise not_supported(f"{name} is an array of {axes} axes. At most four are required.")
    return TensorOf(kind, tuple(f"{name}_{k}" for k in range(axes))) if axes else Leaf(kind)


def _annotated(source: Source, structures: dict[str, Leaf]) -> Source:
    """The text with other annotations; that of the result is left out where it says no axes."""
    made = copy.copy(source)
    made.tree = copy.deepcopy(source.tree)
    for argument in made.tree.args.args:
        if argument.arg in structures:
            node = ast.Constant(structures[argument.arg])  # type: ignore[arg-type]
            argument.annotation = ast.copy_location(node, argument)
    returns = made.tree.returns
    if returns is not None and any(is_any_tensor(meaning_of(source, each))
                                   for each in ast.walk(returns)
                                   if isinstance(each, ast.expr)):  # fmt: skip
        made.tree.returns = None
    return made
