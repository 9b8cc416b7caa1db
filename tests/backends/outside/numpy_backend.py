"""A back end from outside: elementwise kernels and gathers, run by NumPy, operation by operation.

Loading this file registers it: python -m composit.conformance numpy_outside --load <this file>.
"""

import ctypes
import ctypes.util
import operator

import numpy as np
from composit._core import scalar

import composit

_libm = ctypes.CDLL(ctypes.util.find_library("m"))


def _fma_of(name, number):
    function = getattr(_libm, name)
    function.restype, function.argtypes = number, [number] * 3
    return np.frompyfunc(function, 3, 1)


_fma = {"float32": _fma_of("fmaf", ctypes.c_float), "float64": _fma_of("fma", ctypes.c_double)}


def _divide(a, b):
    if a.dtype.kind == "f":
        return a / b
    quotient = np.floor_divide(a, b)
    return quotient + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


_functions = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": _divide,
    "remainder": np.fmod, "negate": operator.neg, "absolute": np.abs, "square_root": np.sqrt,
    "floor": np.floor, "ceil": np.ceil, "rint": np.rint, "trunc": np.trunc,
    "copysign": np.copysign, "nextafter": np.nextafter, "equal": operator.eq,
    "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "bit_and": operator.and_,
    "bit_or": operator.or_, "bit_xor": operator.xor, "bit_not": operator.invert,
    "shift_left": operator.lshift, "shift_right": operator.rshift, "select": np.where,
}  # fmt: skip


def _constant(bits, dtype):
    return np.array(bits, dtype="uint64").view("uint8")[: dtype.itemsize].view(dtype)[0]


def _apply(expr, operands):
    dtype = np.dtype(expr.dtype)
    match expr.op:
        case "fma":
            return _fma[dtype.name](*operands).astype(dtype)
        case "cast":
            return operands[0] != 0 if dtype.kind == "b" else operands[0].astype(dtype)
        case "bitcast":
            return np.ascontiguousarray(operands[0]).view(dtype)
        case "lookup":
            table = np.array([_constant(bits, dtype) for bits in expr.table], dtype=dtype)
            return table[np.clip(operands[0], 0, len(table) - 1)]
        case "loop":
            return _repeat(expr.loop, operands)[expr.index]
        case "call":
            body = scalar.specialise(expr.row, [np.dtype(o.dtype) for o in expr.operands])
            return _evaluate(body, operands)
    return _functions[expr.op](*operands)


def _repeat(loop, initial):
    """The final state; elements whose condition no longer holds are left alone."""
    state = [np.array(value) for value in initial]
    for _ in range(loop.limit):
        holds = _evaluate(loop.condition, state)
        if not holds.any():
            break
        steps = [_evaluate(step, [value[holds] for value in state]) for step in loop.steps]
        for value, step in zip(state, steps):
            value[holds] = step
    return state


def _evaluate(root, arguments):
    values, stack = {}, [root]
    while stack:
        expr = stack[-1]
        missing = [o for o in expr.operands if hash(o) not in values]
        if missing:
            stack += missing
            continue
        stack.pop()
        if expr.op == "argument":
            value = arguments[expr.index]
        elif expr.op == "constant":
            value = np.full(
                arguments[0].shape if arguments else (), _constant(expr.bits, expr.dtype)
            )
        else:
            value = _apply(expr, [values[hash(o)] for o in expr.operands])
        values[hash(expr)] = np.asarray(value, dtype=expr.dtype)
    return values[hash(root)]


def _view(buffers, access, extents):
    """The elements of an access, one dimension per loop."""
    if access.is_position:
        index = np.indices(extents, dtype="int64") if extents else []
        return np.asarray(access.offset + sum(s * i for s, i in zip(access.strides, index)))
    buffer = buffers[access.buffer].reshape(-1)
    if 0 in extents:
        return np.empty(extents, buffer.dtype)
    strides = [stride * buffer.itemsize for stride in access.strides]
    return np.lib.stride_tricks.as_strided(buffer[access.offset :], extents, strides)


def _map(fields, buffers):
    extents = fields["extents"]
    inputs = [np.array(_view(buffers, access, extents)) for access in fields["inputs"]]
    if not inputs:
        inputs = [np.zeros(extents)]
    for value, access in zip(fields["values"], fields["outputs"]):
        _view(buffers, access, extents)[...] = _evaluate(value, inputs)


def _gather(fields, buffers):
    outer, inner = fields["outer"], fields["inner"]
    offsets = np.zeros(outer, "int64")
    for access, stride, length, axis in zip(
        fields["indices"], fields["axis_strides"], fields["axis_lengths"], fields["axis_numbers"]
    ):
        index = _view(buffers, access, outer)
        wrong = index[(index < -length) | (index >= length)]
        if wrong.size:
            raise IndexError(
                f"index {wrong[0]} is out of bounds for axis {axis} with size {length}"
            )
        offsets = offsets + np.where(index < 0, index + length, index) * stride
    data = fields["data"]
    within = [s * i for s, i in zip(data.strides, np.indices(inner))] if inner else []
    places = data.offset + offsets.reshape(*outer, *[1] * len(inner)) + sum(within)
    result = buffers[data.buffer].reshape(-1)[places]
    _view(buffers, fields["output"], outer + inner)[...] = result


class NumpyBackend:
    """Map and Gather by NumPy; all else is refused."""

    name = "numpy_outside"
    kinds = {"Map": _map, "Gather": _gather}  # noqa: RUF012

    def refuses(self, kernel):
        if kernel.kind not in self.kinds:
            return f"{kernel.kind} kernels are not written for numpy_outside"
        return None

    def compile(self, program):
        def run(inputs, outputs):
            buffers = [
                b.value if b.kind == "constant" else np.empty(b.shape, b.dtype)
                for b in program.buffers
            ]
            for number, array in zip(program.inputs + program.outputs, inputs + outputs):
                buffers[number] = array
            with np.errstate(all="ignore"):
                for kernel in program.kernels:
                    self.kinds[kernel.kind](kernel.fields, buffers)

        return run


composit.backends.register(NumpyBackend())
