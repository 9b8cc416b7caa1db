"""Values: parameters and constants as such within calls, and arrays that no one else writes to."""

import numpy as np
import pytest

import composit
from composit import cg, evaluate, nn
from composit import numpy as cnp
from composit.cg import op


def module(function, *params, names=("x",)):
    return cg.Module.build("f", function, tuple(map(cg.Variable, names)), params)


@pytest.mark.parametrize("w", [0, 2, 0.0, 2.0, np.float32(0), np.array(3.0), np.array([0])])
@pytest.mark.parametrize("kind", [cg.Parameter, cg.Constant])
def test_parameters_count_as_their_values(kind, w):
    is_true = bool(w)
    m = module(lambda self, x: x if self.param("w") else -x, kind("w", w))
    assert m(5.0).value == (5 if is_true else -5)
    m = module(lambda self, x: -x if not self.param("w") else x, kind("w", w))
    assert m(5.0).value == (5 if is_true else -5)
    m = module(lambda self, x: x * (self.param("w") or 7.0), kind("w", w))
    assert m(5.0).value == (5 * w if is_true else 35)
    assert bool(m.param("w")) == is_true


def test_a_constant_that_switches():
    m = module(lambda self, x: x if self.param("on") else -x, cg.Constant("on", False))
    assert m(5.0).value == -5


def test_a_parameter_alone_that_is_false():
    m = cg.Module.build("f", lambda self, x: x + self.param("w"), cg.Variable("x"),
                        cg.Parameter("w", 0.0))  # fmt: skip
    assert m(5.0).value == 5


def test_values_that_apply_is_given():
    m = module(lambda self, x: x if self.param("w") else -x, cg.Parameter("w", 1.0))
    assert [evaluate(m.apply([w], 5.0)) for w in (1.0, 0.0)] == [5, -5]
    shown = module(lambda self, x: x * self.param("w").value, cg.Parameter("w", 1.0))
    assert evaluate(shown.apply([3.0], 5.0)) == 15 and shown(5.0).value == 5


@pytest.mark.parametrize("kind", [cg.Parameter, cg.Constant])
@pytest.mark.parametrize("compare", [
    lambda w: w == 0, lambda w: w != 0, lambda w: w == np.zeros(2),
    lambda w: np.zeros(2) == w, lambda w: w in (0, 1),
])  # fmt: skip
def test_parameters_are_no_numbers(kind, compare):
    name = kind.__name__
    m = module(lambda self, x: x if compare(self.param("w")) else -x, kind("w", 0.0))
    said = f"{name}: {name}\\('f@.*.w', 0.0\\) == .*A {name.lower()} is equal to {name.lower()}s"
    with pytest.raises(TypeError, match=said):
        m(1.0)
    with pytest.raises(TypeError, match=r"op\.equal"):
        compare(kind("w", 0.0))


def test_nodes_are_no_parameters():
    for compare in (lambda x, w: x == w, lambda x, w: w == x):
        m = module(lambda self, x, f=compare: x if f(x, self.param("w")) else -x,
                   cg.Parameter("w", 1.0))  # fmt: skip
        with pytest.raises(TypeError, match=r"equal to (node|parameter)s alone"):
            m(1.0)


def test_parameters_are_equal_and_keys():
    a, b, c = cg.Parameter("a", 1.0), cg.Parameter("b", 1.0), cg.Parameter("c", 2.0)
    assert a == b and a != c and {a: 1, c: 2}[b] == 1 and c in [a, c] and a not in [c]
    assert a != None and a != "a"  # noqa: E711
    one, other = cg.Constant("a", 1.0), cg.Constant("a", 1.0)
    assert one == one and one != other and {one: 1, other: 2}[other] == 2
    with pytest.raises(ValueError, match="parameter 'w' has no value"):
        bool(cg.Parameter("w"))


def refuses_writing(array):
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 50
    with pytest.raises(ValueError, match="read-only"):
        array += 1


def test_arrays_of_a_call_are_read_only():
    m = module(lambda self, x: x * self.param("w"), cg.Parameter("w", np.array([1.0, 2.0])))
    result = m(np.array([3.0, 4.0]))
    result.back()
    for array in (result.value, result.grad(m.input("x")), result.root.gvalue,
                  m.param("w").value, result.root.children[0].value,
                  result.root.grad(result.root.children[0])):  # fmt: skip
        refuses_writing(array)
    assert np.array_equal(result.value, [3, 8]) and result.value is result.root.value
    m.param("w").assign([1.0, 2.0])
    refuses_writing(m.param("w").value)


def test_trained_parameters_are_read_only():
    from composit import nn

    m = module(lambda self, x: x * self.param("w"), cg.Parameter("w", np.array([1.0, 2.0])))
    x = np.array([3.0, 4.0])
    cg.Training(m, nn.mse, nn.sgd(0.1)).step(x, x)
    refuses_writing(m.param("w").value)
    assert np.array_equal(m(x).value, x * m.param("w").value)


def test_torchs_tensors_in_lists_are_copied():
    torch = pytest.importorskip("torch")
    t = torch.tensor([1.0, 2.0], dtype=torch.float64)
    m = cg.Module.build("m", lambda self, x: op.hstack([x, t]), cg.Variable("x"))
    result = m(np.ones(2))
    t.mul_(10)
    assert result.value.tolist() == [1, 1, 1, 2]
    assert result.compile()(np.ones(2)).tolist() == [1, 1, 1, 2]


def test_torchs_tensors_are_copied():
    torch = pytest.importorskip("torch")
    for given in (torch.ones(2), torch.nn.Parameter(torch.ones(2))):
        m = module(lambda self, x: x * self.param("w"), cg.Parameter("w", given))
        given.data += 5
        assert np.array_equal(m.param("w").value, [1, 1])
        assert np.array_equal(m(np.ones(2)).value, [1, 1])
        refuses_writing(m.param("w").value)


def test_a_list_is_copied():
    w = [1.0, 2.0]
    m = module(lambda self, x: x * self.param("w"), cg.Parameter("w", w))
    w[0] = 100.0
    assert np.array_equal(m.param("w").value, [1, 2]) and np.array_equal(m(1.0).value, [1, 2])


def test_tensors_stay_as_they_are():
    t = cnp.asarray([1.0, 2.0])
    assert cg.Parameter("w", t).value is t and op.add(t, t).value is not None


def slopes(m, x, place="x"):
    """The derivative by the input or the parameter in every way, of a module of one input."""
    leaf = m.input("x") if place == "x" else m.param(place)
    result = m(x)
    result.back()
    made = [result.grad(leaf), m.gradfn(place)(x).value]
    count = [one is leaf for one in m.parameters()].index(True) if place != "x" else 0
    values = [np.asarray(one.value, "float64") for one in m.parameters()]

    def at(y):
        if place == "x":
            return m.apply(values, y)
        return m.apply([y if i == count else w for i, w in enumerate(values)], x)

    made.append(evaluate(composit.grad(at)(np.asarray(x if place == "x" else values[count]))))
    made.append(composit.compile(composit.grad(at))(np.asarray(x) if place == "x" else
                                                    values[count]))  # fmt: skip
    return [np.asarray(one).tolist() for one in made]


@pytest.mark.parametrize("function, slope", [
    (lambda self, x: op.mult(x, x.value), 3.0),
    (lambda self, x: op.mult(x, op.exp(x * 0).value), 1.0),
    (lambda self, x: op.sum(x * x.tensor), 3.0),
    (lambda self, x: op.square(x + (np.round(x.value) - x.value)), 6.0),
    (lambda self, x: x * self.param("w").value, 2.0),
    (lambda self, x: Multiplied()(x, x), 6.0),
    (lambda self, x: Multiplied()(x, x.value), 3.0),
    (lambda self, x: ReadingModule()(x), 3.0),
])  # fmt: skip
def test_values_are_constants_in_every_way(function, slope):
    m = cg.Module.build("f", function, cg.Variable("x"), cg.Parameter("w", 2.0))
    assert np.allclose(slopes(m, 3.0), slope)


@pytest.mark.parametrize("read", ["value", "tensor"])
def test_values_of_parameters_are_constants_in_every_way(read):
    def call(self, x):
        return x * self.param("w") * getattr(self.param("w"), read)

    m = cg.Module.build("f", call, cg.Variable("x"), cg.Parameter("w", 2.0))
    assert slopes(m, 3.0, "w") == [6.0] * 4
    cg.Training(m, lambda y: y, nn.sgd(0.01)).step(3.0)
    assert m.param("w").value == 2 - 0.01 * 6
    assert np.isclose(m(3.0).value, 3 * 1.94**2)


def test_values_are_constants_in_log_space():
    m = cg.Module.build("f", lambda self, x: x * self.param("w") * self.param("w").value * x.value,
                        cg.Variable("x"), cg.Parameter("w", 2.0))  # fmt: skip
    logs = cg.logspace(m)
    assert np.allclose(slopes(logs, 3.0, "w"), 1 / 2)
    assert np.allclose(slopes(logs, 3.0), 1 / 3)


class Multiplied(cg.Operator):
    def __init__(self):
        super().__init__((cg.Variable("a"), cg.Variable("b")))

    def call(self, a, b):
        return a.value * b.value


class ReadingModule(cg.Operator):
    """An operator that calls a module, whose call reads a value."""

    def __init__(self):
        super().__init__(cg.Variable("a"))

    def call(self, a):
        return cg.Module.build("g", lambda self, x: x * x.value, cg.Variable("x"))(a)


@pytest.mark.parametrize("read", ["value", "tensor"])
def test_operators_take_no_values_of_parameters(read):
    w = cg.Parameter("w", 2.0)

    class Reading(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("a"))

        def call(self, a):
            return a.value * getattr(w, read)

    m = module(lambda self, x: Reading()(x) + self.param("w"), w)
    with pytest.raises(ValueError, match=r"Reading: the parameter 'w' is used within it"):
        m(3.0)
