"""flashlight.trace_jax(f, …): a function written with JAX as a function of composit.

JAX traces it once; what it gives is read here as far as its objects must be. The operations of its
primitives are C++ (composit/jax)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import source_info_util
from jax.extend.core import Literal

import composit._core as _core
from composit._core import LazyTensor
from composit.evaluation import as_tensor, evaluate
from composit.flashlight.jax_values import is_key, words_of
from composit.loops import scan
from composit.numpy import stack

# Programs within programs whose own rules are those of their parts.
_inlined = {
    "jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
    "checkpoint": "jaxpr", "remat2": "jaxpr",
}  # fmt: skip
# Those that bring derivatives of their own.
_ruled = {"custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr",
          "custom_linear_solve": ""}  # fmt: skip
_controls = ("scan", "while", "cond")


def _zeros(equation: Any) -> np.ndarray:
    """Memory that the program writes before it reads it."""
    aval = equation.outvars[0].aval
    return np.zeros(aval.shape, _dtype(aval))


def _platform(equation: Any) -> Any:
    """Which of the platforms' programs is run: the CPU's, or the one for all others."""
    platforms = equation.params["platforms"]
    return np.int32(next(i for i, names in enumerate(platforms) if not names or "cpu" in names))


_of_no_operands = {"empty": _zeros, "empty2": _zeros, "platform_index": _platform}


def jax_primitives() -> list[str]:
    """The names of JAX's primitives that `trace_jax` reads."""
    return sorted(
        [*_core.jax.names(), *_inlined, *_ruled, *_controls, *_of_no_operands, "stop_gradient"]
    )


def trace_jax(f: Callable[..., Any], *examples: Any) -> TracedJax:
    """A function of JAX's arrays as one of composit's tensors.

    JAX traces f once, with arguments of the examples' structure, shapes and dtypes (trees of arrays
    or of jax.ShapeDtypeStruct). What is returned takes arguments like them, arrays or LazyTensors,
    and returns f's tree of LazyTensors: it is differentiated, batched, compiled and exported like
    any function of composit. The derivatives of custom_jvp and custom_vjp stay what f's author
    wrote. Draws have jax.random's bits.

    NotImplementedError, with the line of f: a primitive without an operation here
    (jax_primitives() lists those that have one), callbacks among them, and a while loop whose
    condition depends on placeholders, unless it counts."""
    return TracedJax(f, examples)


class TracedJax:
    """What `trace_jax` returns."""

    def __init__(self, f: Callable[..., Any], examples: tuple[Any, ...]) -> None:
        self.name = getattr(f, "__name__", type(f).__name__)
        self.__name__ = self.name
        self.jaxpr, shape = jax.make_jaxpr(f, return_shape=True)(*examples)
        self._inputs: Any = jax.tree.structure(examples)
        self._outputs: Any = jax.tree.structure(shape)

    def __repr__(self) -> str:
        return f"<TracedJax {self.name!r}, {len(self.jaxpr.jaxpr.eqns)} equations>"

    def __call__(self, *arguments: Any) -> Any:
        leaves, structure = jax.tree.flatten(arguments)
        if structure != self._inputs:
            raise TypeError(
                _core.with_location(
                    f"{self.name}: the arguments are {structure}. The examples' structure is "
                    f"required: {self._inputs}."
                )
            )
        tensors = []
        for place, (leaf, aval) in enumerate(zip(leaves, self.jaxpr.in_avals)):
            x = _tensor(leaf, aval)
            if tuple(x.shape) != tuple(aval.shape):
                raise ValueError(
                    _core.with_location(
                        f"{self.name}: argument {place} has shape {tuple(x.shape)}. "
                        f"{tuple(aval.shape)} is required, as the example has."
                    )
                )
            tensors.append(x)
        try:
            results = _run(self.jaxpr.jaxpr, self.jaxpr.consts, tensors)
        except _NoGraph as refusal:
            raise NotImplementedError(*refusal.args) from None
        return jax.tree.unflatten(self._outputs, results)


def _dtype(aval: Any) -> Any:
    return np.dtype("uint64") if is_key(aval) else np.dtype(aval.dtype)


def _tensor(value: Any, aval: Any) -> LazyTensor:
    """A value of JAX's, or of composit's, with the dtype that the program has for it."""
    if is_key(value):
        return as_tensor(words_of(value))
    if not isinstance(value, LazyTensor):
        value = np.asarray(value, dtype=_dtype(aval))
    x = as_tensor(value)
    return x if np.dtype(x.dtype) == _dtype(aval) else x.astype(_dtype(aval))


def _line(equation: Any) -> str:
    frame = source_info_util.user_frame(equation.source_info.traceback)
    return "" if frame is None else f"{os.path.basename(frame.file_name)}:{frame.start_line}"


def _refuse(equation: Any, why: str) -> NotImplementedError:
    line = _line(equation)
    return NotImplementedError(f"trace_jax: {why}" + (f" [{line}]" if line else ""))


class _NoGraph(NotImplementedError):
    """Of a program that is no graph of its arguments, as it looks at their values."""


def _run(jaxpr: Any, consts: Sequence[Any], arguments: Sequence[LazyTensor]) -> list[LazyTensor]:
    """The results of a program, equation by equation."""
    known: dict[Any, LazyTensor] = {}

    def read(atom: Any) -> LazyTensor:
        if isinstance(atom, Literal):
            return _tensor(atom.val, atom.aval)
        return known[atom]

    for variable, const in zip(jaxpr.constvars, consts):
        known[variable] = _tensor(const, variable.aval)
    known.update(zip(jaxpr.invars, arguments))
    for equation in jaxpr.eqns:
        results = _applied(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results))
    return [read(atom) for atom in jaxpr.outvars]


def _closed(program: Any, arguments: Sequence[LazyTensor]) -> list[LazyTensor]:
    """The results of a program with its constants, or without any."""
    if hasattr(program, "jaxpr"):
        return _run(program.jaxpr, program.consts, arguments)
    return _run(program, (), arguments)


def _applied(equation: Any, x: list[LazyTensor]) -> list[LazyTensor]:
    name, parameters = equation.primitive.name, equation.params
    if name in _inlined:
        return _closed(parameters[_inlined[name]], x)
    if name in _ruled:
        return _with_rules(equation, x)
    if name == "scan":
        return _scanned(parameters, x)
    if name == "while":
        return _repeated(equation, x)
    if name == "cond":
        return _chosen(parameters["branches"], x)
    if name == "stop_gradient":
        from composit.nn import stop_gradient

        return [stop_gradient(each) for each in x]
    if name in _of_no_operands:
        return [as_tensor(_of_no_operands[name](equation))]
    if not _core.jax.knows(name):
        raise _refuse(
            equation,
            f"the primitive {name!r} has no operation here. One of "
            "composit.flashlight.jax_primitives() is required.",
        )
    values, dtypes = _core.jax.parameters(name, parameters)
    try:
        return _core.jax.apply(name, x, values, dtypes, _line(equation))
    except NotImplementedError as error:
        raise _refuse(equation, str(error).removeprefix("trace_jax: ")) from None


# ----- control flow
def _scanned(parameters: dict[str, Any], x: list[LazyTensor]) -> list[LazyTensor]:
    consts, carry = parameters["num_consts"], parameters["num_carry"]

    def step(state: Any, row: Any) -> Any:
        made = _closed(parameters["jaxpr"], [*x[:consts], *state, *row])
        return tuple(made[:carry]), tuple(made[carry:])

    init, rows = tuple(x[consts : consts + carry]), tuple(x[consts + carry :])
    length, backward = parameters["length"], parameters["reverse"]
    try:
        state, results = scan(step, init, rows, length=length, reverse=backward)
        return [*state, *results]
    except _NoGraph:  # then row by row, while values are known
        made: list[Any] = [()] * length
        for place in reversed(range(length)) if backward else range(length):
            init, made[place] = step(init, [each[place] for each in rows])
        return [*init, *(stack(column) for column in zip(*made))]


def _repeated(equation: Any, x: list[LazyTensor]) -> list[LazyTensor]:
    """A loop that goes on while a condition holds: as the program of a loop where it counts, else
    iteration by iteration, while the condition has a value."""
    parameters = equation.params
    first, second = parameters["cond_nconsts"], parameters["body_nconsts"]
    for_condition, for_body = x[:first], x[first : first + second]
    refusals: list[str] = []

    def noted(program: Callable[[list[LazyTensor]], Any]) -> Callable[[list[LazyTensor]], Any]:
        def run(state: list[LazyTensor]) -> Any:
            try:
                return program(state)
            except _NoGraph as refusal:
                refusals.append(str(refusal))
                raise

        return run

    try:
        return _core.while_loop(
            noted(lambda state: _closed(parameters["cond_jaxpr"], [*for_condition, *state])[0]),
            noted(lambda state: _closed(parameters["body_jaxpr"], [*for_body, *state])),
            x[first + second :],
        )
    except NotImplementedError as error:
        said = str(error)
        if "while_loop: " in said:
            raise _NoGraph(*_refuse(equation, said.partition("while_loop: ")[2]).args) from None
        if any(refusal in said for refusal in refusals):  # C++ knows no classes of Python's
            raise _NoGraph(*error.args) from None
        raise


def _chosen(branches: Sequence[Any], x: list[LazyTensor]) -> list[LazyTensor]:
    """One of several programs: the one that is known, or the results of all, of which one is
    chosen."""
    from composit.numpy import clip, where

    index, arguments = x[0], x[1:]
    try:
        known = int(evaluate(index))
    except ValueError:  # it depends on a placeholder
        known = None
    if known is not None:
        return _closed(branches[min(max(known, 0), len(branches) - 1)], arguments)
    place = clip(index.astype("int32"), 0, len(branches) - 1)
    results = _closed(branches[-1], arguments)
    for number in reversed(range(len(branches) - 1)):
        others = _closed(branches[number], arguments)
        results = [where(place == number, one, rest) for one, rest in zip(others, results)]
    return results


# ----- derivatives that a program brings
def _with_rules(equation: Any, x: list[LazyTensor]) -> list[LazyTensor]:
    name, parameters = equation.primitive.name, equation.params
    avals = [atom.aval for atom in equation.invars]
    placeholders = [
        _core.input(f"x{place}", np.dtype(each.dtype), tuple(each.shape))
        for place, each in enumerate(x)
    ]

    def primal(arguments: Sequence[LazyTensor]) -> list[LazyTensor]:
        if name != "custom_linear_solve":
            return _closed(parameters[_ruled[name]], arguments)
        lengths = parameters["const_lengths"]
        skipped, rest = lengths.matvec + lengths.vecmat, sum(lengths)
        given = [*arguments[skipped : skipped + lengths.solve], *arguments[rest:]]
        return _closed(parameters["jaxprs"].solve, given)

    try:
        results = primal(placeholders)
    except _NoGraph:
        # The results are known where the arguments are: they are arguments more, whose gradients
        # nobody asks for.
        made = primal(x)
        results = [
            _core.input(f"y{place}", np.dtype(each.dtype), tuple(each.shape))
            for place, each in enumerate(made)
        ]
        placeholders, x = [*placeholders, *results], [*x, *made]

    def bound(*given: Any) -> Any:
        arguments = given[: len(avals)]
        made = equation.primitive.bind(*arguments, **equation.primitive.get_bind_params(parameters))
        return tuple(made) if equation.primitive.multiple_results else (made,)

    label = parameters.get("name") or name
    return _core.ruled_call(
        label,
        placeholders,
        results,
        x,
        _JaxRules(bound, [*avals, *(atom.aval for atom in equation.outvars)][: len(x)]),
    )


class _JaxRules:
    """The derivatives that JAX has for a function: programs that it traces when they are asked
    for."""

    def __init__(self, function: Callable[..., Any], avals: Sequence[Any]) -> None:
        self.function = function
        self.avals = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
        self.smooth = [jax.numpy.issubdtype(a.dtype, jax.numpy.inexact) for a in self.avals]

    def _joined(self, smooth: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        left, right = iter(smooth), iter(others)
        return [next(left) if is_smooth else next(right) for is_smooth in self.smooth]

    def _parted(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        pairs = list(zip(values, self.smooth))
        return [v for v, s in pairs if s], [v for v, s in pairs if not s]

    def _ordered(self, values: Sequence[Any]) -> list[Any]:
        smooth, others = self._parted(values)
        return smooth + others

    def _filled(self, values: Sequence[Any], avals: Sequence[Any]) -> list[LazyTensor]:
        """Zeros where there is nothing."""
        return [
            as_tensor(np.zeros(aval.shape, aval.dtype)) if value is None else value
            for value, aval in zip(values, avals)
        ]

    def _outputs(self) -> list[Any]:
        return list(jax.eval_shape(self.function, *self.avals))

    def vjp(self, inputs: Any, outputs: Any, gradients: Any) -> list[LazyTensor | None]:
        results = self._outputs()

        def pulled_back(smooth: Any, others: Any, cotangents: Any) -> Any:
            def of_smooth(*values: Any) -> Any:
                made = self.function(*self._joined(values, others))
                return [y for y in made if jax.numpy.issubdtype(y.dtype, jax.numpy.inexact)]

            return jax.vjp(of_smooth, *smooth)[1](cotangents)

        kept = [jax.numpy.issubdtype(y.dtype, jax.numpy.inexact) for y in results]
        wanted = [y for y, is_kept in zip(results, kept) if is_kept]
        given = [g for g, is_kept in zip(gradients, kept) if is_kept]
        smooth, others = self._parted(self.avals)
        program = jax.make_jaxpr(pulled_back)(smooth, others, wanted)
        arguments = [*self._ordered(inputs), *self._filled(given, wanted)]
        made = iter(_run(program.jaxpr, program.consts, arguments))
        return [next(made) if is_smooth else None for is_smooth in self.smooth]

    def jvp(self, inputs: Any, outputs: Any, tangents: Any) -> list[LazyTensor]:
        def pushed_forward(smooth: Any, others: Any, directions: Any) -> Any:
            return jax.jvp(
                lambda *values: self.function(*self._joined(values, others)),
                tuple(smooth), tuple(directions),
            )[1]  # fmt: skip

        smooth, others = self._parted(self.avals)
        directions, _ = self._parted(tangents)
        program = jax.make_jaxpr(pushed_forward)(smooth, others, smooth)
        arguments = [*self._ordered(inputs), *self._filled(directions, smooth)]
        return _run(program.jaxpr, program.consts, arguments)

    def batch(self, inputs: Any, batched: Any, size: int) -> list[LazyTensor]:
        return []  # that of the body, with the rules below

    def rules_of_batch(self, batched: Sequence[bool], size: int) -> _JaxRules:
        axes = [0 if is_batched else None for is_batched in batched]
        avals = [
            jax.ShapeDtypeStruct((size, *a.shape) if is_batched else a.shape, a.dtype)
            for a, is_batched in zip(self.avals, batched)
        ]
        return _JaxRules(jax.vmap(self.function, in_axes=tuple(axes), axis_size=size), avals)
