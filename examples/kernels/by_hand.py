"""Calls of hand/*.cpp: the kernels beside this file and their derivatives, written by hand."""

import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "hand"
Prepared = tuple[Callable[[], object], list]


@functools.cache
def library(name: str, *options: str) -> ctypes.CDLL:
    """One of the files, compiled for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"{name}.so"
        command = [
            os.environ.get("CXX", "g++"),
            "-O3",
            "-march=native",
            *options,
            "-shared",
            "-fPIC",
        ]
        subprocess.run([*command, FOLDER / f"{name}.cpp", "-o", made], check=True)
        return ctypes.CDLL(str(made))


def prepared(function, *given: object) -> Callable[[], object]:
    """A call of a function with pointers to arrays, integers and floats, and nothing else."""
    made: list = []
    for each in given:
        if isinstance(each, np.ndarray):
            assert each.flags.c_contiguous
            made.append(ctypes.c_void_p(each.ctypes.data))
        else:
            made.append(ctypes.c_double(each) if isinstance(each, float) else ctypes.c_int64(each))
    return lambda: (function(*made), given)[0]


def returns_double(function):
    function.restype = ctypes.c_double
    return function


def gaussian_mixture(alphas, means, factors, x, gamma: float, m: int) -> Prepared:
    (k, d), n, code = means.shape, len(x), library("gaussian_mixture")
    given = [alphas, k, means, d, factors, x, n, gamma, m]
    return prepared(returns_double(code.gaussian_mixture), *given), []


def gaussian_mixture_gradient(alphas, means, factors, x, gamma: float, m: int) -> Prepared:
    """With respect to the four arrays; the call returns that of gamma."""
    (k, d), n, code = means.shape, len(x), library("gaussian_mixture")
    made = [np.empty_like(each) for each in (alphas, means, factors, x)]
    given = [alphas, k, means, d, factors, x, n, gamma, m, *made]
    return prepared(returns_double(code.gaussian_mixture_gradient), *given), made


def lstm(*arrays) -> Prepared:
    layers, _, d = arrays[0].shape
    function = returns_double(library("lstm").lstm)
    return prepared(function, *arrays, layers, d, len(arrays[-1])), []


def lstm_gradient(*arrays) -> Prepared:
    layers, _, d = arrays[0].shape
    made = [np.empty_like(each) for each in arrays]
    function = library("lstm").lstm_gradient
    return prepared(function, *arrays, layers, d, len(arrays[-1]), *made), made


def lstm_layer(*arrays) -> Prepared:
    n, (_, d, m) = len(arrays[-1]), arrays[0].shape
    made = [np.empty((n, d))]
    return prepared(library("lstm_layer").lstm_layer, *arrays, n, d, m, *made), made


def lstm_layer_gradient(*arrays) -> Prepared:
    """With respect to all arrays but the last, which is the gradient of the hidden states."""
    *given, received = arrays
    n, (_, d, m) = len(received), given[0].shape
    made = [np.empty_like(each) for each in given]
    function = library("lstm_layer").lstm_layer_gradient
    return prepared(function, *given, n, d, m, received, *made), made


def bundle_adjustment(cameras, points, weights, seen, features) -> Prepared:
    count = len(weights)
    made = [np.empty((count, 2)), np.empty(count)]
    given = [cameras, points, weights, seen, features, count, *made]
    return prepared(library("bundle_adjustment").bundle_adjustment, *given), made


def bundle_adjustment_jacobian(cameras, points, weights, seen, features) -> Prepared:
    count = len(weights)
    made = [np.empty((count, 31))]
    given = [cameras, points, weights, seen, features, count, *made]
    return prepared(library("bundle_adjustment").bundle_adjustment_jacobian, *given), made


def hand_tracking(model, theta, triangles, us, points) -> Prepared:
    made = [np.empty((len(us), 3))]
    given = [theta, *model, triangles, us, points, len(us), *made]
    return prepared(library("hand_tracking").hand_tracking, *given), made


def hand_tracking_jacobian(model, theta, triangles, us) -> Prepared:
    made = [np.empty(84 * len(us))]
    given = [theta, *model, triangles, us, len(us), *made]
    return prepared(library("hand_tracking").hand_tracking_jacobian, *given), made


def logsumexp_gradient(x) -> Prepared:
    """The call returns the value."""
    made = [np.empty_like(x)]
    return prepared(returns_double(library("logsumexp").logsumexp_gradient), x, len(x), *made), made


def kmeans_direction(points, centres) -> Prepared:
    """The gradient and the Hessian's diagonal; the call returns the cost."""
    made = [np.empty_like(centres), np.empty_like(centres)]
    function = returns_double(library("kmeans").kmeans_direction)
    return prepared(function, points, *points.shape, centres, len(centres), *made), made


def polynomial_gradient(x, n: int) -> Prepared:
    """The call returns the value."""
    made = [np.empty_like(x)]
    function = returns_double(library("least_squares").polynomial_gradient)
    return prepared(function, x, len(x), n, *made), made
