"""composit: NumPy and neural networks as one inspectable graph, and readable C++ out of it."""

import gc as _gc
import os as _os
import sys as _sys

# Importing makes many objects and no garbage: a tenth of its time would go into looking for some.
_collects = _gc.isenabled()
_gc.disable()
try:
    import composit._core as _core

    _core.add_internal_folder(_os.path.dirname(__file__) + "/")
    # Where the compiler that the extra `compiler` brings is found, if there is no other.
    _os.environ.setdefault("COMPOSIT_PYTHON", _sys.executable)

    def _numpy_folder() -> str:
        import numpy

        return _os.path.dirname(numpy.__file__) + "/"

    _core.add_internal_folder(_numpy_folder())
    _core.backends.warn_in_python()

    from composit import (
        _floating_errors,
        _later,
        _methods,
        _ndarray,
        _scalars,
        backends,
        devices,
        errors,
        nn,
        numpy,
        pipeline,
    )  # fmt: skip
    from composit import random as _by_keys
    from composit._core import Placement
    from composit.compilation import compile
    from composit.devices import device
    from composit.evaluation import evaluate, get_threads, placeholder, set_threads
    from composit.exporting import export
    from composit.functional import grad, jvp, value_and_grad, vjp, vmap
    from composit.loops import fori_loop, scan
    from composit.nn import *
    from composit.numpy import *
    from composit.scalar import register
    from composit.visualization import visualize
finally:
    if _collects:
        _gc.enable()

random = _by_keys  # the star above brought NumPy's; this one has the rest of NumPy's, too

__version__ = _core.__version__


def cmake_dir() -> str:
    """The folder to give to CMake as composit_DIR, for find_package(composit)."""
    return _os.path.join(_os.path.dirname(__file__), "cmake")


def _registered(name: str):
    """A function that was registered after import."""
    try:
        return getattr(numpy, name)
    except AttributeError:
        raise AttributeError(f"module 'composit' has no attribute {name!r}") from None


__getattr__ = _later.getter(
    __name__,
    (
        "cg", "flashlight", "graph", "hash", "introspection", "mlir", "mosaic", "multidigraph",
        "onnx", "string", "torch", "types",
    ),
    otherwise=_registered,
)  # fmt: skip
