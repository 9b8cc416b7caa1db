"""Values: parameters and constants as such within calls, and arrays that no one else writes to."""

import numpy as np
import pytest

from composit import cg, evaluate
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
