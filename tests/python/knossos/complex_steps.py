"""Kernels' own Python text on complex numbers: derivatives of analytic functions to the last bits,
as no difference is taken. Choices are made by real parts."""

import cmath
import math
import types

import numpy as np

import composit.numpy as cnp
from composit import _core

STEP = 1e-200


class ComplexMath:
    """The module math, of complex numbers."""

    def __getattr__(self, name):
        return getattr(cmath, name, None) or getattr(math, name)


class ComplexNumpy:
    """NumPy, whose new arrays are complex."""

    def __getattr__(self, name):
        return getattr(np, name)

    def zeros(self, shape):
        return np.zeros(shape, complex)

    def empty(self, shape):
        return np.empty(shape, complex)


class ComplexFunctions:
    """composit.numpy's functions that are none of NumPy's."""

    def sigmoid(self, x):
        return 1 / (1 + cmath.exp(-x))


REPLACED = {math: ComplexMath(), np: ComplexNumpy(), cnp: ComplexFunctions()}


def on_complex_numbers(function):
    """The Python function, and those of its module that it calls."""
    names = {}
    for name, found in function.__globals__.items():
        own = getattr(found, "__wrapped__", found)
        if isinstance(found, types.ModuleType) and found in REPLACED:
            names[name] = REPLACED[found]
        elif isinstance(own, types.FunctionType):
            names[name] = types.FunctionType(own.__code__, names, None, own.__defaults__)
        else:
            names[name] = found
    return types.FunctionType(function.__code__, names, None, None, function.__closure__)


def gradients(function, arguments, received=1.0):
    """Of sum(function(*arguments) * received) by each array and float among the arguments."""
    moved, found = on_complex_numbers(function), []
    for k, given in enumerate(arguments):
        array = np.asarray(given)
        if array.dtype != np.float64:
            continue
        gradient = np.empty(array.shape)
        for place in np.ndindex(array.shape):
            stepped = array.astype(complex)
            stepped[place] += 1j * STEP
            value = stepped if array.ndim else complex(stepped)
            result = moved(*arguments[:k], value, *arguments[k + 1 :])
            gradient[place] = np.sum(np.asarray(result).imag * received) / STEP
        found.append(gradient)
    return found


def check_gradients(kernel, given, received):
    """The vjp beside complex steps of the function, compiled and interpreted to the bit."""
    wanted = gradients(kernel.__wrapped__, given, received)
    made = all_of(kernel.vjp(*given, received))
    for found, expected in zip(made, wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    compiled = [np.asarray(each).tobytes() for each in made]
    kernel.vjp._use(_core.procedure.interpreted(kernel.vjp.procedure()))
    interpreted = all_of(kernel.vjp(*given, received))
    assert [np.asarray(each).tobytes() for each in interpreted] == compiled


def all_of(made):
    return made if isinstance(made, tuple) else (made,)
