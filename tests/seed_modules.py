"""The models of the prototype's page, which several tests use."""

from composit import cg
from composit.cg import op


class SimpleModel(cg.Module):
    """f(x, w) = (x + w) * x^2"""

    def __init__(self, w0=1):
        super().__init__(inputs=(cg.Variable("x"),), params=(cg.Parameter("w", w0),))

    def call(self, x):
        a = op.add(x, self.param("w"))
        b = op.square(x)
        c = op.mult(a, b)
        return c


class CompositeModel_NoWeightSharing_DifferentInputs(cg.Module):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x1"), cg.Variable("x2")))
        self._m1 = SimpleModel()
        self._m2 = SimpleModel()

    def call(self, x1, x2):
        a = self._m1(x1)
        b = self._m2(x2)
        return op.add(a, b)


class CompositeModel_WeightSharing_DifferentInputs(cg.Module):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x1"), cg.Variable("x2")))
        self._m1 = SimpleModel(w0=2)

    def call(self, x1, x2):
        a = self._m1(x1)
        b = self._m1(x2)
        return op.add(a, b)


class CompositeModel_NoWeightSharing_SameInputs(cg.Module):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x1"),))
        self._m1 = SimpleModel()
        self._m2 = SimpleModel()

    def call(self, x1):
        a = self._m1(x1)
        b = self._m2(x1)
        return op.add(a, b)


class CompositeModel_WeightSharing_SameInputs(cg.Module):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x1"),))
        self._m1 = SimpleModel()

    def call(self, x1):
        a = self._m1(x1)
        b = self._m1(x1)
        return op.add(a, b)


class Multiply(cg.Operator):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("a"), cg.Variable("b")))

    def call(self, a, b):
        return a.value * b.value

    def _gradfn(self, inpt):
        def _a_grad(a, b):
            return b.value

        def _b_grad(a, b):
            return a.value

        if inpt.short_name == "a":
            return _a_grad
        elif inpt.short_name == "b":
            return _b_grad
        else:
            raise ValueError(f"Unknown input for {self.functional_name}: {inpt.short_name}")
