"""Training of modules whose parameters, or attributes, are not where the first look finds them."""

import copy

import numpy as np
import pytest

from composit import cg, nn
from composit.cg import op

RANDOM = np.random.RandomState(0)
X, Y = RANDOM.standard_normal((8, 3)), RANDOM.standard_normal(8)


def encoder_of(width):
    return cg.Module.build(
        "encoder", lambda self, x: op.tanh(x @ self.param("w")), cg.Variable("x"),
        cg.Parameter("w", RANDOM.standard_normal((3, width))),
    )  # fmt: skip


def steps_by_hand(net, parameters, rate):
    loss = cg.Module.build(
        "loss", lambda self, x, y: op.mse(net(x), y), (cg.Variable("x"), cg.Variable("y"))
    )
    result = loss(X, Y)
    result.back()
    for one in parameters:
        one.assign(one.value - rate * result.grad(one))
    return result.value


def test_parameters_that_parameters_does_not_find():
    encoder = encoder_of(2)
    net = cg.Module.build(
        "net", lambda self, x: encoder(x) @ self.param("h"), cg.Variable("x"),
        cg.Parameter("h", RANDOM.standard_normal(2)),
    )  # fmt: skip
    twin = copy.deepcopy(encoder)
    by_hand = cg.Module.build(
        "net", lambda self, x: twin(x) @ self.param("h"), cg.Variable("x"),
        cg.Parameter("h", net.param("h").value),
    )  # fmt: skip
    training = cg.Training(net, nn.mse, nn.sgd(0.1))
    for _ in range(5):
        expected = steps_by_hand(by_hand, [twin.param("w"), by_hand.param("h")], 0.1)
        assert np.isclose(training.step(X, Y), expected, rtol=1e-12)
    assert np.allclose(encoder.param("w").value, twin.param("w").value, rtol=1e-12)
    assert {id(one) for one in training.parameters} == {
        id(net.param("h")), id(encoder.param("w"))
    }  # fmt: skip


def test_modules_whose_parameters_are_all_hidden_and_their_attributes():
    class Scaled(cg.Module):
        def __init__(self):
            super().__init__(cg.Variable("x"), cg.Parameter("w", np.ones(3)))
            self.scale = 1.0

        def call(self, x):
            return x @ self.param("w") * self.scale

    inner = Scaled()
    net = cg.Module.build("net", lambda self, x: inner(x) * 2, cg.Variable("x"))
    training = cg.Training(net, nn.mse, nn.sgd(0.0))
    for inner.scale in (1.0, 3.0):
        assert np.isclose(training.step(X, Y), np.mean((net(X).value - Y) ** 2), rtol=1e-12)
    training.optimizer = nn.sgd(0.1)
    training.step(X, Y)
    assert not np.array_equal(inner.param("w").value, np.ones(3))


def test_parameters_that_come_into_use_later_are_refused():
    known = {"x": encoder_of(1)}
    net = cg.Module.build(
        "net", lambda self, x: op.reshape(known["x"](x), (-1,)) * self.param("h"),
        cg.Variable("x"), cg.Parameter("h", 2.0),
    )  # fmt: skip
    training = cg.Training(net, nn.mse, nn.sgd(0.1))
    training.step(X, Y)
    known["x"] = encoder_of(1)
    with pytest.raises(ValueError, match=r"net: the parameter 'encoder@\w+\.w' is used within it"):
        training.step(X[:4], Y[:4])


def test_copies_share_their_parameters():
    one = encoder_of(3)

    class Net(cg.Module):
        def __init__(self):
            super().__init__(inputs=(cg.Variable("x"),))
            self.one, self.other = one, copy.copy(one)

        def call(self, x):
            return self.one(x) + 2 * self.other(x)

    m, w = Net(), one.param("w")
    assert [id(each) for each in m.parameters()] == [id(w)]
    result = m(X[0])
    result.back()
    assert np.allclose(m.gradfn(w)(X[0]).value, result.grad(w), rtol=1e-14)
    assert np.allclose(m.gradfn("w")(X[0]).value, result.grad(w), rtol=1e-14)
    assert np.array_equal(m.apply([w.value], X[0]), m(X[0]).value)


@pytest.mark.parametrize("is_index", [True, False])
def test_integers_and_bools(is_index):
    m = cg.Module.build(
        "m",
        lambda self, x: (
            (x[:, self.param("i")] if is_index else x[:, 1] * self.param("i"))
            * (self.param("w") if self.param("is_used") else 1.0)
        ),
        cg.Variable("x"),
        (cg.Parameter("i", 1), cg.Parameter("w", 2.0), cg.Parameter("is_used", True)),
    )  # fmt: skip
    training = cg.Training(m, nn.mse, nn.sgd(0.25))
    x, y = np.ones((4, 3)), np.zeros(4)
    assert m.param("i").value == 1 and type(m.param("i").value) is int
    assert training.step(x, y) == 4
    assert m.param("w").value == 1 and m.param("is_used").value is True
    if is_index:
        assert m.param("i").value == 1 and type(m.param("i").value) is int
        m.param("i").assign(2)
        x[:, 2] = 3
        assert training.step(x, y) == 9
    else:
        assert m.param("i").value == -1.0  # a number, which is trained


def test_nothing_to_train():
    m = cg.Module.build(
        "m", lambda self, x: x[:, self.param("i")], cg.Variable("x"), cg.Parameter("i", 1)
    )
    with pytest.raises(ValueError, match=r"Training: m has no parameters of a floating dtype\. At"):
        cg.Training(m, nn.mse, nn.sgd(0.1)).step(X, Y)


class Scaled(cg.Module):
    def __init__(self):
        super().__init__(inputs=(cg.Variable("x"),), params=(cg.Parameter("w", np.ones(3)),))
        self.scale, self.layers = 2.0, []

    def call(self, x):
        for layer in self.layers:
            x = layer(x)
        return x @ self.param("w") * self.scale


def test_attributes_that_change():
    m, training = Scaled(), None
    training = cg.Training(m, nn.mse, nn.sgd(0.0))
    x, y = np.ones((2, 3)), np.zeros(2)
    losses = []
    for m.scale in (2.0, 1.0, 2.0, 0.5):
        losses.append(training.step(x, y))
        assert losses[-1] == np.mean(m(x).value ** 2)
    assert losses == [36, 9, 36, 2.25]
    m.others = [m.layers]
    m.others.append(m.others)
    assert training.step(x, y) == 2.25
    negated = cg.Module.build("negated", lambda self, x: 3 * x, cg.Variable("x"))
    m.layers.append(negated)
    assert training.step(x, y) == 9 * 2.25
    m.layers[0] = encoder_of(3)
    with pytest.raises(
        ValueError, match=r"Training: .*Scaled has other parameters than at first\."
    ):
        training.step(x, y)
