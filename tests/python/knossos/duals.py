"""Dual numbers: a kernel's own Python text run on them is what its derivatives are held against."""

import math
import types


class Dual:
    """value + slope * epsilon, with epsilon**2 == 0. Compares by value."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        o = dual(other)
        return Dual(self.value + o.value, self.slope + o.slope)

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __pos__(self):
        return self

    def __sub__(self, other):
        return self + -dual(other)

    def __rsub__(self, other):
        return dual(other) - self

    def __mul__(self, other):
        o = dual(other)
        return Dual(self.value * o.value, self.slope * o.value + self.value * o.slope)

    def __truediv__(self, other):
        o = dual(other)
        q = self.value / o.value
        return Dual(q, (self.slope - q * o.slope) / o.value)

    def __rtruediv__(self, other):
        return dual(other) / self

    def __mod__(self, other):
        o = dual(other)
        return Dual(self.value % o.value, self.slope - o.slope * (self.value // o.value))

    def __floordiv__(self, other):
        return Dual(self.value // dual(other).value)

    def __pow__(self, other):
        o = dual(other)
        value = self.value**o.value
        slope = o.value * self.value ** (o.value - 1) * self.slope
        if o.slope:
            slope += value * math.log(self.value) * o.slope
        return Dual(value, slope)

    def __rpow__(self, other):
        return dual(other) ** self

    def __abs__(self):
        return Dual(abs(self.value), sign(self.value) * self.slope)

    def __lt__(self, other):
        return self.value < dual(other).value

    def __le__(self, other):
        return self.value <= dual(other).value

    def __gt__(self, other):
        return self.value > dual(other).value

    def __ge__(self, other):
        return self.value >= dual(other).value

    def __eq__(self, other):
        return self.value == dual(other).value

    def __int__(self):
        return int(self.value)

    def __round__(self):
        return round(self.value)

    __hash__ = None
    __radd__, __rmul__ = __add__, __mul__


def sign(x):
    """0 at 0, as the slope of abs is."""
    return math.copysign(1.0, x) if x != 0 else 0.0


def dual(x):
    return x if isinstance(x, Dual) else Dual(x)


_SLOPES = {
    "exp": lambda x: math.exp(x), "expm1": lambda x: math.exp(x), "log1p": lambda x: 1 / (1 + x),
    "sin": lambda x: math.cos(x), "cos": lambda x: -math.sin(x),
    "tan": lambda x: 1 / math.cos(x) ** 2, "tanh": lambda x: 1 - math.tanh(x) ** 2,
    "sqrt": lambda x: 0.5 / math.sqrt(x), "cbrt": lambda x: math.cbrt(x) / (3 * x),
    "sinh": lambda x: math.cosh(x), "cosh": lambda x: math.sinh(x),
    "asinh": lambda x: 1 / math.sqrt(1 + x * x), "atan": lambda x: 1 / (1 + x * x),
    "erf": lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x),
    "fabs": lambda x: sign(x), "log2": lambda x: 1 / (x * math.log(2)),
}  # fmt: skip


class DualMath:
    """The module math, of duals; values are those of `functions`."""

    pi, e, inf = math.pi, math.e, math.inf

    def __init__(self, functions=math):
        self.functions = functions

    def __getattr__(self, name):
        return lambda x: Dual(
            getattr(self.functions, name)(dual(x).value),
            _SLOPES[name](dual(x).value) * dual(x).slope,
        )

    def floor(self, x):
        return math.floor(dual(x).value)

    def ceil(self, x):
        return math.ceil(dual(x).value)

    def log(self, x, base=None):
        made = Dual(math.log(dual(x).value), dual(x).slope / dual(x).value)
        return made if base is None else made / self.log(base)

    def pow(self, x, y):
        return dual(x) ** dual(y)

    def hypot(self, x, y):
        x, y = dual(x), dual(y)
        r = math.hypot(x.value, y.value)
        return Dual(r, (x.value * x.slope + y.value * y.slope) / r)

    def atan2(self, y, x):
        y, x = dual(y), dual(x)
        d = x.value**2 + y.value**2
        return Dual(math.atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / d)


def on_duals(function, functions=math):
    """The Python function, and those of its module that it calls, with math's for duals."""
    names = {
        name: found for name, found in function.__globals__.items()
        if not isinstance(found, types.FunctionType)
    }  # fmt: skip
    names["math"] = DualMath(functions)
    names["float"] = lambda x: x if isinstance(x, Dual) else float(x)
    for name, found in function.__globals__.items():
        if isinstance(found, types.FunctionType):
            names[name] = types.FunctionType(found.__code__, names)
    return types.FunctionType(function.__code__, names, None, None, function.__closure__)


def slopes(function, arguments, functions=math):
    """d result / d argument for each float among the arguments, of a function of one result."""
    moved = on_duals(function, functions)
    found = []
    for i, argument in enumerate(arguments):
        if isinstance(argument, float):
            seeded = [Dual(x, float(j == i)) if isinstance(x, float) else x
                      for j, x in enumerate(arguments)]  # fmt: skip
            found.append(dual(moved(*seeded)).slope)
    return found
