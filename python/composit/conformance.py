"""The conformance suite: python -m composit.conformance NAME runs generated programs on a back end
and compares them, bit for bit, with the interpreter.

    python -m composit.conformance cpp
    python -m composit.conformance numpy_outside --load tests/backends/outside/numpy_backend.py
"""

from __future__ import annotations

import argparse
import ctypes
import runpy
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import composit
import composit._core as _core
from composit import nn, random
from composit import numpy as cnp

Function = Callable[..., Any]
DTYPES: tuple[str, ...] = tuple(dtype.name for dtype in _core.reports.judged_dtypes())


class Case:
    """A function and arguments for it."""

    def __init__(
        self, group: str, name: str, function: Function, arguments: list[np.ndarray]
    ) -> None:
        self.group, self.name, self.function, self.arguments = group, name, function, arguments


class Outcome:
    """What one case gave: equal, refused (kernels left to the interpreter), what is wrong, or why
    the interpreter does not define it."""

    def __init__(self, case: Case, refused: list[Any], wrong: str, undefined: str = "") -> None:
        self.case, self.refused, self.wrong, self.undefined = case, refused, wrong, undefined


# ----- cases
# values(dtype, shape, seed): ordinary values and special ones of a dtype.
values: Any = _core.reports.judged_values
_finite: Any = _core.reports.finite_values
_operand_dtype: Any = _core.reports.judged_operand
# same_bits(a, b): equal bytes; any NaN equals any NaN.
same_bits: Callable[[np.ndarray, np.ndarray], bool] = _core.reports.same_bits


def row_cases() -> Iterator[Case]:
    """Every row of the table in every dtype that it takes, one program a row."""
    for row in _core.scalar.all_rows():
        dtypes = [dtype for dtype in DTYPES if _core.reports.is_judged_in(row, dtype)]
        if not dtypes:
            continue
        arguments = []
        for dtype in dtypes:
            for i in range(row.arity):
                arguments.append(
                    values(_operand_dtype(row, i, dtype), (3, 29) if i != 1 else (29,), i)
                )

        def function(*x: Any, row: Any = row) -> list[Any]:
            groups = [x[i : i + row.arity] for i in range(0, len(x), row.arity)]
            return [_core.numpy.apply(row.name, *group) for group in groups]

        yield Case("rows", row.name, function, arguments)


def reduction_cases() -> Iterator[Case]:
    """Every reduction over several lengths and axes."""
    names = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "mean", "var")
    for name in names:
        reduction = getattr(cnp, name)
        for dtype in ("float32", "float64", "int32", "uint8", "bool", "float16", "complex64"):
            arguments = [values(dtype, shape, 7) for shape in ((3, 37), (5000,), (2, 3, 4))]

            def function(*x: Any, reduction: Any = reduction) -> list[Any]:
                return [reduction(t, axis=axis) for t in x for axis in (0, -1)]

            yield Case("reductions", f"{name} {dtype}", function, arguments)


def contraction_cases() -> Iterator[Case]:
    """Products of matrices, convolutions and pools."""
    for dtype in ("float32", "float64", "int32", "float16", "complex128"):
        for m, k, n in ((1, 1, 1), (3, 5, 7), (33, 300, 17)):
            arguments = [_finite(dtype, (m, k)), _finite(dtype, (k, n))]
            yield Case("contractions", f"matmul {dtype} {m}x{k}x{n}", cnp.matmul, arguments)
        arguments = [_finite(dtype, (2, 3, 4, 5)), _finite(dtype, (2, 1, 5, 2))]
        yield Case("contractions", f"matmul {dtype} batches", cnp.matmul, arguments)
        yield Case("contractions", f"dot {dtype}", cnp.dot, [_finite(dtype, (700,))] * 2)

    def convolve(x: Any, w: Any) -> Any:
        return nn.convolution(x, w, channels_last=False, strides=(2, 1), padding=(1, 2))

    def pool(x: Any) -> list[Any]:
        options: dict[str, Any] = {"kernel_size": (2, 3), "channels_last": False, "strides": (2, 2)}
        return [nn.max_pool(x, **options), nn.average_pool(x, **options)]

    for dtype in ("float32", "float16", "complex64"):
        image, filters = _finite(dtype, (2, 4, 9, 8)), _finite(dtype, (6, 4, 3, 2))
        yield Case("contractions", f"convolution {dtype}", convolve, [image, filters])
        if dtype != "complex64":
            yield Case("contractions", f"pools {dtype}", pool, [image])


def layout_cases() -> Iterator[Case]:
    """Views, copies, gathers and scatters."""
    index = np.array([[0, -1, 2], [1, 1, 0]])

    def changed(x: Any) -> Any:
        x = x * 1
        x[1:3, ::2] = x[:2, ::2] + x[2, 0]
        return x

    functions: dict[str, Function] = {
        "transpose": lambda x: x.T + 0,
        "slice": lambda x: x[1:, ::-2] * 2,
        "reshape": lambda x: x.reshape(-1) + x.T.reshape(-1),
        "pad": lambda x: cnp.pad(x, ((1, 2), (0, 3))),
        "concatenate": lambda x: cnp.concatenate([x, x * 2, x[:1]], axis=0),
        "split": lambda x: list(cnp.split(x, 2, axis=1)),
        "gather": lambda x: x[index],
        "gather columns": lambda x: x[:, index],
        "scatter": changed,
        "add at": lambda x: _core.numpy.add_at(x, (index,), 1),
        "roll": lambda x: cnp.roll(x, 3, axis=1),
        "windows": lambda x: cnp.sliding_window_view(x, 3, axis=1) * 1,
        "iota": lambda x: x + cnp.arange(6),
    }
    for dtype in ("float32", "float64", "int32", "uint8", "float16", "complex64"):
        for name, function in functions.items():
            yield Case("layout", f"{name} {dtype}", function, [_small(dtype)])


def _small(dtype: str) -> np.ndarray:
    return np.arange(24).reshape(4, 6).astype(dtype)


def program_cases() -> Iterator[Case]:
    """Small networks, their gradients, and random numbers."""

    def softmax(x: Any) -> Any:
        return nn.softmax(x, axis=-1)

    def network(x: Any, w: Any, b: Any) -> Any:
        return composit.grad(lambda v: cnp.mean(nn.gelu(x @ v + b) ** 2))(w)

    def normalised(x: Any, w: Any, b: Any) -> Any:
        return nn.layer_norm(x, w, b)

    def descent(w: Any, x: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            w, losses = state
            loss, slope = composit.value_and_grad(lambda w: cnp.mean(nn.gelu(x[i] @ w) ** 2))(w)
            return w - 0.1 * slope, losses + loss * i.astype("float32")

        return list(composit.fori_loop(0, 8, step, (w, np.float32(0))))

    def draws(key: Any) -> list[Any]:
        return [
            random.bits(key, (50,)),
            random.normal(key, (5, 20)),
            random.exponential(key, (50,), "float64"),
            random.randint(key, (50,), -5, 9),
            random.split(key),
        ]

    x, w, b = _finite("float32", (8, 16)), _finite("float32", (16, 5)), _finite("float32", (5,))
    yield Case("programs", "random numbers", draws, [np.array(7, "uint64")])
    yield Case("programs", "softmax", softmax, [x])
    yield Case("programs", "gradient of a layer", network, [x, w, b])
    yield Case("programs", "a training loop", descent, [w, x])
    yield Case("programs", "layer_norm", normalised, [x, w[:, 0].copy(), w[:, 1].copy()])


def all_cases() -> Iterator[Case]:
    """Every case, generated."""
    for cases in (row_cases, reduction_cases, contraction_cases, layout_cases, program_cases):
        yield from cases()


# ----- running
def run(case: Case, backend: str) -> Outcome:
    """One case on the back end and on the interpreter."""
    try:
        expected = _values(case, "interpreter")[0]
    except (composit.errors.NotSupported, TypeError) as error:
        return Outcome(case, [], "", str(error))  # a row that its own definition leaves undefined
    try:
        got, placements = _values(case, backend)
    except Exception as error:
        return Outcome(case, [], f"{type(error).__name__}: {error}")
    refused = [(kernel, why) for kernel, where, why in placements if where != backend]
    for i, (a, b) in enumerate(zip(expected, got)):
        if not same_bits(a, b):
            difference = _core.reports.first_difference(a, b)
            return Outcome(case, refused, f"output {i} of dtype {a.dtype}: {difference}")
    return Outcome(case, refused, "")


def _values(case: Case, backend: str) -> tuple[list[np.ndarray], Any]:
    compiled = composit.compile(case.function, *case.arguments, backend=backend, name="f")
    result = compiled(*case.arguments)
    return (result if isinstance(result, list) else [result]), compiled.placements


def report(outcomes: list[Outcome], backend: str) -> str:
    """The table: one line per group, then what differs and what was refused."""
    rows = [(x.case.group, x.case.name, x.refused, x.wrong, x.undefined) for x in outcomes]
    return _core.reports.verdict(rows, backend)


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m composit.conformance", description=__doc__)
    parser.add_argument(
        "backend", help=f"one of {', '.join(composit.backends.names())}, or a loaded one"
    )
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        help="what makes a back end known: a Python file, or a shared library",
    )
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument(
        "--share",
        default="0/1",
        metavar="I/N",
        help="every N-th case from the I-th (0 to N - 1) on",
    )
    chosen = parser.parse_args(arguments)
    for path in chosen.load:
        if path.endswith(".py"):
            runpy.run_path(path)
        else:
            ctypes.CDLL(path)
    try:
        name = composit.backends.full_name(chosen.backend)
    except KeyError as error:
        parser.error(str(error.args[0]))
    first, _, shares = chosen.share.partition("/")
    if not (first.isdecimal() and shares.isdecimal() and int(first) < int(shares)):
        parser.error(f"--share: '{chosen.share}' is not I/N with I below N, such as 0/4")
    cases = [case for case in all_cases() if chosen.filter in f"{case.group} {case.name}"]
    cases = cases[int(first) :: int(shares)]
    outcomes = [run(case, name) for case in cases]
    print(report(outcomes, name))
    return 1 if any(outcome.wrong for outcome in outcomes) or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
