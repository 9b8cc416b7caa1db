"""What results of calls, and modules made of others, do beyond the page's examples: the call's own
program, derivatives with respect to what is not used, parameters of derived modules."""

import collections
import copy
import pickle
import threading

import graphviz
import numpy as np
import pytest

import composit
from composit import cg, nn
from composit.cg import op
from composit.cg.visual import plot_cg


def module(function, *names):
    return cg.Module.build("f", function, tuple(map(cg.Variable, names)))


class SimpleModel(cg.Module):
    def __init__(self, w0=1):
        super().__init__(cg.Variable("x"), cg.Parameter("w", w0))

    def call(self, x):
        return op.mult(op.add(x, self.param("w")), op.square(x))


def test_the_program_of_a_call_is_what_it_computed():
    m = SimpleModel(1.0)
    result = m(3.0)
    m.param("w").assign(100.0)
    program = result.compile()
    assert result.value == 36 and program(np.array(3.0)) == 36
    assert [program(x) for x in (3.0, 3, np.float64(3), 2.0)] == [36, 36, 36, 12]
    assert m(3).compile()(3) == 927 and m.compile(3.0)(3) == 927
    with pytest.raises(ValueError, match=r"argument 'x' has shape \(3,\). \(\) is required"):
        program(np.ones(3))
    with pytest.raises(TypeError, match=r"has dtype float64\. int64 is required"):
        m(3).compile()(3.5)


def test_a_call_that_looked_at_its_values_has_a_program(tmp_path):
    m = module(lambda self, x, y: op.square(x) if x.value > 0 else y, "x", "y")
    result = m(3.0, 4.0)
    assert result.compile()(5.0, 1.0) == 25
    result.export(tmp_path)
    header = (tmp_path / "f.hpp").read_text()
    assert "const double* x" in header and "const double* y" in header
    other = m(-3.0, 4.0)
    assert other.compile()(5.0, 1.0) == 1


def test_derivatives_of_what_is_not_used_are_zero():
    m = module(lambda self, x, y: op.square(x), "x", "y")
    result = m(3.0, np.ones(2))
    result.back()
    assert result.grad(m.input("x")) == 6
    assert np.array_equal(result.grad(m.input("y")), [0, 0])
    result = m(np.ones(2), 4)
    result.back()
    assert np.array_equal(result.grad(m.input("y")), [0, 0])
    unused = cg.Module.build("g", lambda self, x: op.square(x), cg.Variable("x"),
                             cg.Parameter("w", 2.0))  # fmt: skip
    result = unused(3)
    with pytest.raises(ValueError, match=r"back\(\) is required before"):
        result.grad(unused.param("w"))
    result.back()
    assert result.grad(unused.param("w")) == 0


def test_derived_modules_have_the_parameters():
    m = SimpleModel(1.0)
    for derived in (m.gradfn("x"), m.gradfn("x").gradfn("x"), cg.logspace(m)):
        assert [one is m.param("w") for one in derived.parameters()] == [True]
        assert derived.param("w") is m.param("w")
    assert m.gradfn("x").gradfn("w")(3.0).value == m.gradfn("w").gradfn("x")(3.0).value == 6
    second = m.gradfn("x").gradfn("x")(3.0)  # 6 x + 2 w
    second.back()
    assert second.value == 20 and second.grad(m.param("w")) == 2


def test_a_likelihood_in_logarithms_is_trained():
    random = np.random.RandomState(0)
    values = np.where(random.random_sample(4000) < 0.3, 0.9, 0.1)

    def likelihood(self, share):
        mixed = op.add(op.mult(self.param("weight"), share),
                       op.mult(op.sub(1.0, self.param("weight")), op.sub(1.0, share)))  # fmt: skip
        return op.prod(mixed)

    m = cg.Module.build("f", likelihood, cg.Variable("share"), cg.Parameter("weight", 0.5))
    in_logs = cg.logspace(m)
    training = cg.Training(in_logs, lambda value: -value, nn.sgd(1e-5))
    losses = [training.step(values) for _ in range(60)]
    assert m(values).value == 0 and losses[-1] < losses[0]
    share = np.mean(values > 0.5)  # the most likely weight: mixed is 0.8 w + 0.1 where share is 0.9
    best = np.clip((share - 0.1) / 0.8, 0, 1)
    assert m.param("weight").value == pytest.approx(best, abs=1e-3)


class Half(cg.Operator):
    """One derivative of its own, the other the one that follows."""

    def __init__(self):
        super().__init__((cg.Variable("a"), cg.Variable("b")))

    def call(self, a, b):
        return a.value * a.value * b.value

    def _gradfn(self, inpt):
        if inpt.short_name == "a":
            return lambda a, b: 10 * a.value * b.value
        return super()._gradfn(inpt)


def test_the_derivative_that_follows_is_there_beside_a_given_one():
    m = module(lambda self, a, b: Half()(a, b), "a", "b")
    result = m(2.0, 3.0)
    result.back()
    assert (result.grad(m.input("a")), result.grad(m.input("b"))) == (60, 4)
    second = m.gradfn("b").gradfn("a")
    assert second(2.0, 3.0).value == 4


@pytest.mark.parametrize("values", [(3.0, 4.0), (3, 4)])
def test_the_derivative_that_follows_of_nodes_with_values(values):
    operator = op.Multiply()
    node = operator(*values)
    slope = operator._gradfn(operator.input("a"))(*node.children)
    assert composit.evaluate(slope) == 4


def test_integers_are_trained_as_numbers():
    training = cg.Training(SimpleModel(), nn.mse, nn.sgd(1e-3))
    assert training.step(np.array(3.0), np.array(1.0)) == 35**2
    assert training.module.param("w").value == pytest.approx(1 - 2e-3 * 35 * 9)


def test_a_parameter_keeps_its_value_when_the_array_changes():
    w = np.ones(3)
    m = SimpleModel(w)
    w[0] = 100
    assert np.array_equal(m.param("w").value, np.ones(3))


def test_more_operators_of_python():
    m = module(lambda self, x, y: abs(x) // y + x % y + 7.0 // y + 7.0 % y, "x", "y")
    assert m(-7.5, 2.0).value == 7.5 // 2.0 + -7.5 % 2.0 + 7.0 // 2.0 + 7.0 % 2.0


def test_complex_results_are_refused():
    m = module(lambda self, x: op.mult(x, 1 + 2j), "x")
    said = (
        r"f has no derivative with respect to 'x': the result is complex128. A result of real "
        r"numbers is required \(op.real, op.imag\)"
    )
    with pytest.raises(TypeError, match=said):
        m(2.0).back()
    with pytest.raises(TypeError, match=said):
        m.gradfn("x")(2.0)
    part = module(lambda self, x: op.imag(op.mult(x, 1 + 2j)), "x")
    result = part(2.0)
    result.back()
    assert result.grad(part.input("x")) == 2


def test_a_picture_where_nothing_shows_one(monkeypatch):
    def view(path):
        raise FileNotFoundError("xdg-open")

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(graphviz, "view", view)
    m = module(lambda self, x: op.add(module(lambda self, y: y, "y")(3), x), "x")
    assert plot_cg(m(1).root).source.count("ellipse") == 2


def hidden(kind):
    """A module, and one that calls it without having it where parameters() looks."""
    m = cg.Module.build("m", lambda self, x: self.param("w") * x * x, cg.Variable("x"),
                        cg.Parameter("w", 2.0))  # fmt: skip
    outer = module(lambda self, x: m(x), "x")
    if kind == "deque":
        outer = module(lambda self, x: self.kept[0](x), "x")
        outer.kept = collections.deque([m])
    return m, outer


@pytest.mark.parametrize("kind", ["closure", "deque"])
@pytest.mark.parametrize("x", [3, 3.0, np.array([3]), np.array([3.0])])
def test_derived_modules_find_hidden_parameters(kind, x):
    m, inner = hidden(kind)
    for derive, value, slope in (
        (lambda: inner.gradfn("x"), 12, 6),
        (lambda: inner.gradfn("x").gradfn("x"), 4, 2),
        (lambda: cg.logspace(inner), np.log(18), 0.5),
        (lambda: cg.logspace(inner).gradfn("x"), 2 / 3, 0),
    ):
        derived = derive()
        total = module(lambda self, x, d=derived: op.sum(d(x)) + op.sum(m(x)), "x")
        result = total(x)
        result.back()
        assert np.isclose(result.value, value + 18)
        assert np.isclose(result.grad(m.param("w")), slope + 9)


def test_parameters_that_an_operator_applies_are_refused():
    m, inner = hidden("closure")

    class Applying(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("a"))

        def call(self, a):
            return inner.apply([], a.value)

    said = r"Applying: the parameter 'm@\w+\.w' is used within it, and not among parameters\(\)"
    for m in (module(lambda self, x: Applying()(x), "x"), Applying()):
        with pytest.raises(ValueError, match=said):
            m.gradfn("x" if isinstance(m, cg.Module) else "a")(3.0)


def exported(m, path):
    m.export(path)
    return (path / f"{m.short_functional_name}.hpp").read_text()


def test_the_latest_call_is_the_modules_own(tmp_path):
    m = module(lambda self, x: op.matmul(x, x), "x")
    m(np.ones(3))
    own = exported(m, tmp_path)
    assert "3" in own
    composit.evaluate(composit.vmap(m.function)(np.ones((5, 4))))
    assert m.gradfn("x")(np.ones(4)).value.shape == (4,)
    m.compile(np.ones(4))(np.ones(4))
    composit.evaluate(m.apply([], np.ones(4)))
    with pytest.raises(ValueError, match="matmul"):
        m(np.ones((2, 3)))
    assert exported(m, tmp_path) == own
    m(np.ones(4))
    assert exported(m, tmp_path) != own


def test_results_of_threads_have_their_own_types():
    m, failed = module(lambda self, x: op.square(x), "x"), []

    def work(count):
        results = [m(np.ones(count)) for _ in range(200)]
        if any(one._types[0][0] != (count,) for one in results):
            failed.append(count)
        if results[-1].compile()(np.ones(count)).size != count:
            failed.append(count)

    threads = [threading.Thread(target=work, args=(count,)) for count in range(1, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed


class Slotted(cg.Module):
    __slots__ = ("__private", "inner", "nothing")

    def __init__(self):
        super().__init__(cg.Variable("x"), cg.Parameter("v", 1.0))
        self.inner, self.__private = SimpleModel(2.0), [SimpleModel(3.0)]

    def call(self, x):
        return self.inner(x) * self.param("v") + self.__private[0](x)


def test_modules_in_slots_are_found():
    m = Slotted()
    assert sorted(one.value for one in m.parameters()) == [1, 2, 3]
    w = m.inner.param("w").value
    cg.Training(m, nn.mse, nn.sgd(0.1)).step(np.array([1.0]), np.array([3.0]))
    assert m.inner.param("w").value != w
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert twin(2.0).value == m(2.0).value and twin.inner is not m.inner


def test_lists_that_hold_themselves():
    m = SimpleModel()
    m.kept = [{"a": SimpleModel()}]
    m.kept.append(m.kept)
    assert len(m.parameters()) == 2
