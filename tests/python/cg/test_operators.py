"""Operators of one's own: what they may take from elsewhere than their inputs."""

import re

import numpy as np
import pytest

from composit import cg
from composit.cg import op

REQUIRED = (
    "An operator is differentiated by its inputs alone: an input is required, which a module that "
    "has the parameter gives the operator."
)


def refusal(function):
    with pytest.raises(ValueError) as caught:
        function()
    return re.sub(r" \[[^\[\]]+:\d+\]$", "", str(caught.value))


class OfParams(cg.Operator):
    def __init__(self, value):
        super().__init__(cg.Variable("x"), value)

    def call(self, x):
        return op.mult(x, self.params[0])


class OfAttributes(cg.Operator):
    def __init__(self, value):
        self.factor = value
        super().__init__(cg.Variable("x"))

    def call(self, x):
        return x.value * self.factor.value


def test_parameters_of_operators_are_refused():
    assert refusal(lambda: OfParams(cg.Parameter("w", 2.0))) == (
        f"{__name__}.OfParams: the parameter 'w' is given as one of its params. {REQUIRED}"
    )
    assert refusal(lambda: OfAttributes(cg.Parameter("w", 2.0))) == (
        f"{__name__}.OfAttributes: the parameter 'w' is kept as an attribute. {REQUIRED}"
    )
    operator = op.Add()
    assert "composit.cg.op.Add: the parameter 'w' is kept as an attribute." in refusal(
        lambda: setattr(operator, "w", cg.Parameter("w", 1))
    )


def test_parameters_from_around_an_operator_are_refused():
    w = cg.Parameter("w", 2.0)

    class Around(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("x"))

        def call(self, x):
            return op.mult(x, w)

    m = cg.Module.build("f", lambda self, x: Around()(x), cg.Variable("x"))
    assert f"Around: the parameter 'w' is used within it. {REQUIRED}" in refusal(lambda: m(3.0))

    class OfModule(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("x"))
            params = cg.Parameter("v", 2.0)
            call = lambda self, x: op.mult(x, self.param("v"))
            self.inner = cg.Module.build("inner", call, cg.Variable("x"), params)

        def call(self, x):
            return self.inner(x)

    assert "OfModule: the parameter 'v' is used within it." in refusal(lambda: OfModule()(3.0))


def test_constants_of_operators_are_taken():
    for operator in (OfParams(cg.Constant("c", 3.0)), OfAttributes(cg.Constant("c", 3.0))):
        m = cg.Module.build("f", lambda self, x, one=operator: one(x), cg.Variable("x"))
        result = m(2.0)
        result.back()
        assert (result.value, result.grad(m.input("x"))) == (6, 3)


def test_what_to_do_instead():
    class Scale(cg.Operator):
        def __init__(self):
            super().__init__((cg.Variable("x"), cg.Variable("factor")))

        def call(self, x, factor):
            return x.value * factor.value

    m = cg.Module.build(
        "f", lambda self, x: Scale()(x, self.param("w")), cg.Variable("x"), cg.Parameter("w", 2.0)
    )
    result = m(3.0)
    result.back()
    assert result.grad(m.param("w")) == 3


def test_pythons_operators_take_parameters():
    class Weighed(cg.Module):
        def __init__(self):
            params = [cg.Parameter("w", 3.0), cg.Parameter("v", np.arange(3.0))]
            super().__init__([cg.Variable("x")], params)

        def call(self, x):
            w, v = self.param("w"), self.param("v")
            return (2 * w + w * w - w / 4 + (-w) ** 2) * x + v[1] * w

    m = Weighed()
    result = m(2.0)
    assert result.value == (6 + 9 - 0.75 + 9) * 2 + 3
    result.back()
    assert result.grad(m.param("w")) == (2 + 6 - 0.25 + 6) * 2 + 1
    assert list(result.grad(m.param("v"))) == [0, 3, 0]
    with pytest.raises(TypeError, match="Multiply: input 'a' is given Parameter"):
        m.param("w") * 2


class Sigmoid(cg.Operator):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x"),))

    def call(self, x):
        return 1 / (1 + np.exp(-x.value))

    def _gradfn(self, inpt):
        def gradient(x):
            s = Sigmoid()(x)
            return s * (1 - s)

        return gradient


class Sine(cg.Operator):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x"),))

    def call(self, x):
        return np.sin(x.value)

    def _gradfn(self, inpt):
        return Cosine()


class Cosine(cg.Operator):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x"),))

    def call(self, x):
        return np.cos(x.value)

    def _gradfn(self, inpt):
        return lambda x: -Sine()(x)


def test_derivatives_that_use_the_operator_itself():
    m = cg.Module.build("m", lambda self, x: Sigmoid()(x), cg.Variable("x"))
    s = 1 / (1 + np.exp(-0.5))
    result = m(0.5)
    result.back()
    assert result.value == s
    assert np.isclose(result.grad(m.input("x")), s * (1 - s), rtol=1e-15)
    second = m.gradfn("x").gradfn("x")
    assert np.isclose(second(0.5).value, s * (1 - s) * (1 - 2 * s), rtol=1e-14)
    with pytest.raises(NotImplementedError, match=r"Sigmoid: a derivative of order 3, whose _grad"):
        second.gradfn("x")(0.5)
    wave = cg.Module.build("wave", lambda self, x: Sine()(x), cg.Variable("x"))
    for expected in (np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)):
        assert np.isclose(wave(0.5).value, expected(0.5), rtol=1e-15)
        wave = wave.gradfn("x")


def test_inputs_of_a_module_that_calls_itself_are_those_of_the_innermost_call():
    class Nested(cg.Module):
        def __init__(self):
            super().__init__(inputs=(cg.Variable("x"), cg.Variable("n")))

        def call(self, x, n):
            if n.value == 0:
                return x
            return self(op.sin(x), n.value - 1) * self.input("x")

    x = 0.7
    expected = np.sin(np.sin(x)) * np.sin(x) * x
    assert np.isclose(Nested()(x, 2).value, expected, rtol=1e-15)
