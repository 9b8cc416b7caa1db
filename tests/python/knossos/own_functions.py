"""Python functions with composit's sin, tanh and so on in place of CPython's and NumPy's: kernels
in which one last bit grows to a whole number must agree with these to the bit."""

import math
import types

import numpy as np

import composit
import composit.numpy as cnp

OWN = {"sin": "sin", "cos": "cos", "atan": "arctan", "arctan": "arctan", "tanh": "tanh",
       "erf": "erf", "exp": "exp"}  # fmt: skip


class OwnFunctions:
    """The module math or numpy, with functions of composit's."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        if name not in OWN:
            return getattr(self.module, name)
        own = getattr(cnp, OWN[name])
        if self.module is math:
            return lambda x: float(composit.evaluate(own(np.float64(x))))
        return lambda x: composit.evaluate(own(np.asarray(x)))[()]


def with_own_functions(function):
    """The function, and those of its module that it calls, with composit's functions."""
    names = {name: OwnFunctions(found) if found in (math, np) else found
             for name, found in function.__globals__.items()
             if not isinstance(found, types.FunctionType)}  # fmt: skip
    for name, found in function.__globals__.items():
        if isinstance(found, types.FunctionType):
            names[name] = types.FunctionType(found.__code__, names)
    return types.FunctionType(function.__code__, names, None, None, function.__closure__)
