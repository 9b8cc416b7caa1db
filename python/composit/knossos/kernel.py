"""Kernel: a scalar function as compiled code, as a node of graphs, and as C++ text."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, NotSupported, with_location
from composit._libraries import library_of
from composit.knossos import spellings
from composit.knossos.annotations import Leaf, Parts, floats_among_parts
from composit.knossos.files import files_of
from composit.knossos.given_derivative import check_linear, derivative_for
from composit.knossos.given_values import (
    bound_arguments,
    check_given,
    fitted_leaves,
    known_leaf,
    leaves_given,
    numbers_without_axes,
)
from composit.knossos.made_once import made_once
from composit.knossos.numbers import first_line, kind_of_dtype
from composit.knossos.pickling import reduced
from composit.knossos.provided import provided
from composit.knossos.short_floats import all_rounded, floating_dtype, is_short, widened
from composit.knossos.source import Source
from composit.knossos.torch_compiling import left_as_it_is

_DOUBLE = np.dtype("float64")
_SINGLE = np.dtype("float32")


def never(*arguments: Any) -> Any:
    """The fast way of calls that have none."""
    return NotImplemented


class Kernel:
    """A function of numbers. Called with numbers it returns numbers; with NumPy's arrays, tensors
    of composit or of torch it is applied elementwise, under NumPy's broadcasting, and returns such.
    """

    def __init__(
        self, name: str, doc: str, maker: Callable[[Any], Any], structures: list[Leaf],
        result: Callable[[], Leaf],
    ) -> None:  # fmt: skip
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self._maker = maker
        self.parameter_structures = structures
        self._result_structure = result
        self._lock = threading.RLock()
        self._procedures: dict[Any, Any] = {}
        self._translated: dict[Any, Any] = {}  # of a function, without a derivative that is given
        # The kernels that call it, or whose derivative it is, of which its own is a part.
        self._users: weakref.WeakSet[Kernel] = weakref.WeakSet()
        self._compiled: dict[Any, Any] = {}
        self._rows: list[Any] | None = None
        self._fast: Callable[..., Any] = self._first_call
        self._elementwise: Callable[..., Any] = never  # of the dtype of the last arrays
        self._is_flat = all(type(each) is Leaf for each in structures)
        # Of a derivative: its structures, where tuples and records may stand for their leaves.
        self._whole: list[Leaf] | None = None
        self._derivative: Kernel | None = None
        self._source: Source | None = None
        self._is_making_derivative = False
        self._over_rows: Kernel | None = None  # over the rows of arrays, where it has arrays
        # How it was made of another kernel: (function, that kernel, …).
        self._made_of: tuple[Any, ...] | None = None

    # ----- what it is made of

    def procedure(self, dtype: Any = _DOUBLE) -> Any:
        """Its statements, in one floating dtype."""
        dtype = np.dtype(dtype)
        with self._lock:
            if dtype not in self._procedures:
                # Constants are computed by Python.
                made: Any = _core.called(self._maker, dtype)
                if made.has_arrays:
                    self._hold_arrays()
                if self._derivative is not None:
                    if self._is_making_derivative:
                        return made  # which the derivative calls
                    made = self._with_derivative(made, dtype, self._derivative)
                self._procedures[dtype] = made
            return self._procedures[dtype]

    @property
    def is_of_arrays(self) -> bool:
        """Whether it has arrays, which its procedure says, of functions of numbers too."""
        if not self._procedures:
            self.procedure()
        return type(self).is_of_arrays is True  # type: ignore[comparison-overlap]

    def _hold_arrays(self) -> None:
        """It is a kernel with arrays from now on: its procedure has shown some."""
        self.__class__ = provided.array_kernel
        self._know_leaves()  # type: ignore[attr-defined]

    def _with_derivative(self, made: Any, dtype: Any, given: Kernel) -> Any:
        self._is_making_derivative = True
        given._users.add(self)
        try:
            return made.with_derivative(derivative_for(self, given, dtype))
        finally:
            self._is_making_derivative = False

    def derivative(self, function: Any) -> Kernel:
        """A decorator: the function says what this one's derivative is, in place of the one that is
        derived. It takes this one's arguments, then a gradient for each float result, and
        returns what each float argument receives: what `vjp` returns.

        @relu3.derivative
        def relu3_vjp(x: float, dy: float) -> float:
            return dy if x > 0.0 else 0.0

        `vjp`, `grad`, `jvp` (of kernels of numbers), graphs, torch, exports and kernels that
        call this one, used before or not, use it. TypeError, with file and line, at its first
        use, where arguments or results are others."""
        given = provided.kernel_by(f"{self.__name__}.derivative", function)
        with self._lock:
            self._derivative = given
        self._forget()
        return given

    def _forget(self) -> None:
        """What was made of it is made anew, and what was made of that: its derivatives, and the
        kernels that call it or them, in all dtypes."""
        with self._lock:
            self._procedures.clear()
            self._compiled.clear()
            self._rows, self._fast, self._elementwise = None, self._first_call, never
            names = ("vjp", "jvp", "grad", "_autograd_function")
            made = [vars(self).pop(name, None) for name in names]
            derived = [each for each in (*made, self._over_rows) if isinstance(each, Kernel)]
            users, self._users = list(self._users), weakref.WeakSet()
        for each in users:
            each._translated.clear()
        for each in (*derived, *users):  # which hold locks of their own
            each._forget()

    def _kinds(self) -> list[str]:
        return _core.knossos.kinds_of_numbers(self.parameter_structures)

    def _floats(self) -> list[int]:
        return [i for i, kind in enumerate(self._kinds()) if kind == "float"]

    @property
    def rows(self) -> list[Any]:
        """One row of the scalar language for each result."""
        if self.is_of_arrays:
            return self.rows
        with self._lock:
            if self._rows is None:
                kinds = [kind_of_dtype(dtype) for _, dtype in self.procedure().results]
                self._rows = [
                    _core.procedure.row_of(
                        self._row_name(i, len(kinds)), first_line(self.__doc__), self._kinds(),
                        kind, self._make_in, i,
                    )
                    for i, kind in enumerate(kinds)
                ]  # fmt: skip
            return self._rows

    def _row_name(self, index: int, count: int) -> str:
        # No row of the table has a point in its name: back ends know those by their names.
        return f"{self.__name__}.kernel" if count == 1 else f"{self.__name__}.kernel_{index}"

    def _make_in(self, dtypes: list[Any]) -> Any:
        floats = [dtype for dtype in dtypes if np.dtype(dtype).kind == "f"]
        return self.procedure(floats[0] if floats else _DOUBLE)

    def inside(self, operands: list[Any], dtype: Any) -> Any:
        """Its results on scalar expressions, within another kernel."""
        self.procedure(dtype)
        if self._derivative is not None and not self._is_making_derivative:
            check_linear(self, self._derivative)
        made = [_core.procedure.call_row(row, operands) for row in self.rows]
        return self._result(made)

    def _result(self, numbers: list[Any]) -> Any:
        return _core.knossos.put_together([self._result_structure()], numbers, True)[0]

    # ----- calls

    @left_as_it_is
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if named:
            arguments = bound_arguments(self, arguments, named)
        try:
            result = self._fast(*arguments)
        except OverflowError:
            return self._general(arguments)  # which says what does not fit
        if result is NotImplemented:
            result = self._elementwise(*arguments)
        return self._general(arguments) if result is NotImplemented else result

    def _first_call(self, *arguments: Any) -> Any:
        is_plain = self._is_flat and len(arguments) == len(self.parameter_structures)
        if not is_plain or any(hasattr(each, "dtype") for each in arguments):
            return NotImplemented
        if self.is_of_arrays:
            return self._first_call(*arguments)
        code = self._code(_DOUBLE)
        if code is not None and len(self.procedure().results) == 1:
            self._fast = code
        return NotImplemented if code is None else self._shaped(code(*arguments))

    def _shaped(self, made: Any) -> Any:
        """What was computed, in the structure that the function returns."""
        if made is NotImplemented:
            return made
        numbers = list(made) if isinstance(made, (tuple, list)) else [made]
        return self._result_structure().result(numbers)

    def _code(self, dtype: Any) -> Any:
        """Compiled code; None where there is no compiler, of which a warning was given."""
        with self._lock:
            if dtype not in self._compiled:
                family = [[self.procedure(dtype)]]
                loaded = _core.procedure.load(self.__name__, family, "")
                self._compiled[dtype] = loaded[0] if loaded else None
            return self._compiled[dtype]

    def _general(self, arguments: tuple[Any, ...]) -> Any:
        leaves = leaves_given(self, arguments)
        check_given(self.__name__, leaves)
        leaves = [known_leaf(self.__name__, leaf) for leaf in leaves]
        library = library_of(leaves)
        made = self._computed(leaves) if library is None else library.call(self, leaves)
        return self._shaped(made)

    def of_tensors(self, *leaves: Any) -> Any:
        """Its results, one or a tuple, for tensors of composit and numbers: what libraries apply to
        the tensors behind their own."""
        return self._computed(list(leaves))

    def _computed(self, leaves: list[Any]) -> Any:
        """Results, one or a tuple, for numbers, arrays or tensors."""
        if self.is_of_arrays:
            return self._computed(leaves)
        leaves = fitted_leaves(self.__name__, leaves, self._kinds())
        if not any(hasattr(leaf, "shape") or isinstance(leaf, (list, tuple)) for leaf in leaves):
            code = self._code(_DOUBLE)
            if code is not None:
                made = code(*leaves)
                if made is not NotImplemented:
                    return made
                _core.knossos.refuse_other_numbers(self.__name__, leaves, self._kinds())
            made = self._evaluated(leaves)
            return tuple(each.item() for each in made) if len(made) > 1 else made[0].item()
        kept = (bool, int, float, LazyTensor)
        leaves = [leaf if isinstance(leaf, kept) else np.asarray(leaf, order="C")
                  for leaf in leaves]  # fmt: skip
        dtype = floating_dtype(leaves)
        if dtype is not None and is_short(dtype):
            return all_rounded(self._computed([widened(leaf) for leaf in leaves]), dtype)
        if any(isinstance(leaf, LazyTensor) for leaf in leaves):
            made = self._mapped(leaves)
            return tuple(made) if len(made) > 1 else made[0]
        if dtype in (_SINGLE, _DOUBLE):
            code = self._code(dtype)
            made = NotImplemented if code is None else code.map(*leaves)
            if made is not NotImplemented:
                if self._is_flat and len(self.procedure(dtype).results) == 1:
                    self._elementwise = code.map
                return made
        made = self._evaluated(leaves)
        return numbers_without_axes(tuple(made) if len(made) > 1 else made[0])

    def _mapped(self, leaves: list[Any]) -> list[Any]:
        """A node for each result. Integers beside floats would take their dtype."""
        operands = [
            np.asarray(leaf) if kind != "float" and isinstance(leaf, (bool, int)) else leaf
            for leaf, kind in zip(leaves, self._kinds())
        ]
        return [_core.procedure.map(row, *operands) for row in self.rows]

    def _evaluated(self, leaves: list[Any]) -> list[Any]:
        from composit.evaluation import evaluate

        made = self._mapped(leaves)
        found = evaluate(*made)
        return list(found) if len(made) > 1 else [found]

    # ----- derivatives, which are kernels

    def _derived(self, name: str, made: Kernel) -> Kernel:
        """The kernel that this one's attribute of that name is."""
        made._made_of = (getattr, self, name)
        made.__module__, made.__qualname__ = self.__module__, f"{self.__qualname__}.{name}"
        return made

    def _of_numbers(self, name: str, make: Callable[[Any], Any], more: int, count: int) -> Kernel:
        """What is derived for dtypes by `make`: of this one's numbers and `more` floats, `count`
        floats."""
        floats = [Leaf("float")] * max(more, count)
        result = floats[0] if count == 1 else Parts(tuple, dict(enumerate(floats[:count])))
        taken = [Leaf(kind) for kind in self._kinds()] + floats[:more]
        made = Kernel(f"{self.__name__}_{name}", "", make, taken, lambda: result)
        made._whole = self._whole_with(name)
        return self._derived(name, made)

    def _whole_with(self, name: str) -> list[Leaf] | None:
        """The structures of what its derivative of that name takes; None where none has parts."""
        whole = self._whole or self.parameter_structures
        more = {"vjp": [self._result_structure()], "jvp": whole}.get(name, [])
        whole = [*whole, *floats_among_parts(more)]
        return whole if any(isinstance(each, Parts) for each in whole) else None

    def _float_results(self) -> int:
        return sum(kind_of_dtype(dtype) == "float" for _, dtype in self.procedure().results)

    @made_once
    def vjp(self) -> Kernel:
        """vjp(x, …, dy, …): what each float argument receives of gradients of the results."""
        self._check_smooth()
        if self.is_of_arrays:
            return self.vjp
        return self._of_numbers(
            "vjp", lambda dtype: _core.procedure.vjp(self.procedure(dtype)),
            self._float_results(), len(self._floats()),
        )  # fmt: skip

    @made_once
    def jvp(self) -> Kernel:
        """jvp(x, …, dx, …): the tangents of the results for those of the float arguments."""
        self._check_smooth()
        if self.is_of_arrays:
            return self.jvp
        return self._of_numbers(
            "jvp", lambda dtype: _core.procedure.jvp(self.procedure(dtype)),
            len(self._floats()), self._float_results(),
        )  # fmt: skip

    @made_once
    def grad(self) -> Kernel:
        """grad(x, …): the derivative with respect to each float argument, of the one result."""
        self._check_smooth()
        if self.is_of_arrays:
            return self.grad
        if self._float_results() != 1:
            raise NotSupported(
                self._located(
                    f"{self.__name__}.grad: there are {self._float_results()} results. One is "
                    "required; vjp and jvp take any number."
                )
            )
        if len(self._floats()) > 1:
            return self._of_numbers("grad", self._gradient, 0, len(self._floats()))
        parameter = self._floats()[0]
        result = [kind_of_dtype(d) for _, d in self.procedure().results].index("float")
        return self._of_numbers(
            "grad", lambda dtype: _core.procedure.slope(self.procedure(dtype), result, parameter),
            0, 1,
        )  # fmt: skip

    def _gradient(self, dtype: Any) -> Any:
        """What `vjp` is of the gradient 1."""
        name = f"{self.__name__}_grad"
        return _core.procedure.with_last_parameter(self.vjp.procedure(dtype), 1.0, name)

    def _check_smooth(self) -> None:
        self.procedure()  # which shows whether it has arrays
        if not self._floats() or not self._float_results():
            wrong = f"{self.__name__}: it has no derivative, as it takes or returns no float."
            raise NotSupported(self._located(wrong))

    def _root(self) -> Kernel:
        """What it is made of in the end."""
        return self if self._made_of is None else self._made_of[1]._root()

    def _located(self, message: str) -> str:
        """The message with the line of the function, if there is one."""
        source = self._root()._source
        return f"{message} [{source.path}:{source.line}]" if source else with_location(message)

    # ----- what can be looked at

    def _families(self) -> list[list[Any]]:
        families = []
        for dtype in (_DOUBLE, _SINGLE):
            family = [self.procedure(dtype)]
            if self._floats() and self._float_results():
                family += self._derivatives(dtype)
            families.append(family)
            if not self._floats():
                break  # the second would be of the same arguments
        return families

    def _derivatives(self, dtype: Any) -> list[Any]:
        try:
            derivatives = [self.vjp.procedure(dtype)]
        except NotSupported:
            if self._made_of is None:
                raise
            return []  # a derivative is shown where its own is not built (f.vjp.vjp.vjp)
        return [*derivatives, self.jvp.procedure(dtype)] if self._has_jvp() else derivatives

    def _has_jvp(self) -> bool:
        return True

    @property
    def source(self) -> str:
        """The C++ of the function and of its derivatives, in double."""
        return "\n".join(each.source for each in self._families()[0])

    @property
    def graph(self) -> Any:
        """The graph of a call: one node for each result."""
        from composit.graph import GraphView

        if self.is_of_arrays:
            return self.graph
        dtypes = {"float": "float64", "int": "int64", "bool": "bool"}
        names = [name for name, _ in self.procedure().parameters]
        inputs = [_core.input(name, dtypes[kind], []) for name, kind in zip(names, self._kinds())]
        made = self._computed(inputs)
        return GraphView(made if isinstance(made, tuple) else (made,))

    def source_for(self, language: str) -> str:
        """The text of the function and of its derivatives, in double, for devices: OpenCL C
        ("opencl") or CUDA C++ ("cuda"). Each is a kernel of which a thread works on one item of a
        batch, whatever the extents of its arrays are.

        ValueError for other languages."""
        return _core.procedure.print_kernels(language, self._families()[0])

    @property
    def mlir(self) -> str:
        """The function and its derivatives, in double, as a module of MLIR's dialects func, scf,
        arith, math and memref, whose functions have the same bits.

        NotSupported for what these have no operations for."""
        return _core.procedure.print_mlir(self._families()[:1])

    def export(self, path: Any, name: str | None = None, *, language: str = "cpp") -> list[str]:
        """Writes NAME.hpp and NAME.cpp (C++17, the standard library only) into the folder `path`:
        the function, its derivatives, the same over arrays, each for double and float, and a
        selfcheck of the derivatives. Returns the names of the files.

        With language="opencl" or "cuda" the files are NAME.cl or NAME.cu, the kernels of
        `source_for` for double and for float (`f_float`), and NAME_example.cpp, a program that
        launches the function's for a few items: it needs the driver's library, and no headers.

        With language="mlir" the file is NAME.mlir, functions as in `mlir` for double and float."""
        files = files_of(self.__name__ if name is None else name, language, self._families)
        _core.write_whole_files("export", os.fspath(path), files)
        return [file for file, _ in files]

    def compile(self, *examples: Any, example_inputs: Any = None, **options: Any) -> Any:
        """composit.compile of the function over arrays; ensure_compiled(example_inputs)."""
        if spellings.is_of_original(examples):
            example_inputs = examples[0]
        if example_inputs is not None:
            return self.ensure_compiled(example_inputs)
        from composit.compilation import compile

        def over_arrays(*arguments: Any) -> Any:
            return self(*arguments)

        over_arrays.__name__ = self.__name__
        return compile(over_arrays, *examples, **options)

    ensure_compiled, _reset_allocator = spellings.ensure_compiled, spellings.reset_allocator
    _entry, _entry_vjp = spellings.entry, spellings.entry_vjp
    raw_f = property(spellings.raw_f)

    @property
    def nnModule(self) -> Any:
        """A torch.nn.Module without parameters that applies the function elementwise.
        composit.torch's modules take it as theirs; where PyTorch is not installed, it is one."""
        return provided.module_of(self)

    @property
    def autogradFunction(self) -> Any:
        """The torch.autograd.Function of the function, for `.apply`."""
        return provided.autograd_function(self)

    # A kernel does not change; what pickle keeps is where it is found.

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self)

    def __repr__(self) -> str:
        return f"<knossos kernel {self.__name__}>"
