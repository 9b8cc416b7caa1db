"""ADBench's problems as kernels, against CPython's execution and torch's derivatives."""

# ruff: noqa: F821

import itertools

import numpy as np
import pytest
import torch
from kernel_examples import example

from composit import knossos
from composit.knossos import Tensor


def dense(values, columns, begins, width):
    assert begins[0] == 0 and begins[-1] == len(values) == len(columns)
    made = np.zeros((len(begins) - 1, width))
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    np.add.at(made, (rows, columns), values)
    return made


# ----- LSTM


def lstm_in_torch(weight, bias, scale_in, scale_out, move_out, hidden, cell, text):
    hidden, cell, total = list(hidden), list(cell), 0.0
    for now, following in itertools.pairwise(text):
        x = now * scale_in
        for k in range(len(weight)):
            forget = torch.sigmoid(x * weight[k, 0] + bias[k, 0])
            write = torch.sigmoid(hidden[k] * weight[k, 1] + bias[k, 1])
            read = torch.sigmoid(x * weight[k, 2] + bias[k, 2])
            change = torch.tanh(hidden[k] * weight[k, 3] + bias[k, 3])
            cell[k] = cell[k] * forget + write * change
            x = hidden[k] = read * torch.tanh(cell[k])
        logits = x * scale_out + move_out
        total = total + (following * (logits - torch.log(torch.exp(logits).sum() + 2))).sum()
    return -total / ((len(text) - 1) * text.shape[1])


@pytest.mark.parametrize("n, layers, d", [(2, 1, 1), (5, 2, 3), (9, 3, 14)])
def test_lstm(n, layers, d):
    module = example("lstm")
    kernel, given = module.lstm, module.example(np.random.default_rng(n), n, layers, d)
    value = kernel(*given)
    assert value == pytest.approx(kernel.__wrapped__(*given), rel=1e-14)
    tensors = [torch.tensor(each, requires_grad=True) for each in given]
    wanted = lstm_in_torch(*tensors)
    wanted.backward()
    assert value == pytest.approx(wanted.item(), rel=1e-12)
    for found, tensor in zip(kernel.grad(*given), tensors):
        np.testing.assert_allclose(found, tensor.grad.numpy(), rtol=1e-10, atol=1e-14)


# ----- bundle adjustment


def residual_in_torch(camera, point, weight, feature):
    p = point - camera[3:6]
    angle = torch.linalg.norm(camera[:3])
    axis = camera[:3] / angle
    cosine = torch.cos(angle)
    p = (p * cosine + torch.linalg.cross(axis, p) * torch.sin(angle)
         + axis * (axis @ p) * (1 - cosine))  # fmt: skip
    seen = p[:2] / p[2]
    square = seen @ seen
    scale = 1 + square * (camera[9] + square * camera[10])
    return weight * (seen * scale * camera[6] + camera[7:9] - feature)


def test_bundle_adjustment():
    module = example("bundle_adjustment")
    given = module.example(np.random.default_rng(1), 3, 5, 7)
    errors = module.rows_of(*module.errors(*given))
    cameras, points, weights = (torch.tensor(each) for each in given[:3])
    seen, features = given[3], torch.tensor(given[4])

    def all_errors(cameras, points, weights):
        rows = [(residual_in_torch(cameras[c], points[q], weights[i], features[i]),
                 1 - weights[i : i + 1] ** 2) for i, (c, q) in enumerate(seen)]  # fmt: skip
        return torch.cat([each for row in rows for each in row])

    wanted = all_errors(cameras, points, weights).numpy()
    np.testing.assert_allclose(errors, wanted, rtol=1e-10)
    jacobians = torch.autograd.functional.jacobian(all_errors, (cameras, points, weights))
    wanted = np.concatenate([each.reshape(len(wanted), -1).numpy() for each in jacobians], 1)
    values = module.jacobian_values(*given)
    assert values.size == 31 * 7
    found = dense(values.ravel(), *module.jacobian_places(*given[:2], seen), wanted.shape[1])
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_cameras_that_are_not_rotated_have_derivatives():
    module = example("bundle_adjustment")
    cameras, *others = module.example(np.random.default_rng(2), 2, 3, 5)
    cameras[:, :3] = 0
    still = module.jacobian_values(cameras, *others)
    cameras[:, :3] = 1e-7
    np.testing.assert_allclose(still, module.jacobian_values(cameras, *others), rtol=1e-4,
                               atol=1e-4)  # fmt: skip


# ----- hand tracking


def places_in_torch(model, theta, corners, shares):
    bend, spread = torch.zeros(22, dtype=theta.dtype), torch.zeros(22, dtype=theta.dtype)
    first = torch.arange(5) * 4
    bend = bend.index_put((first + 2,), theta[6 + first])
    bend = bend.index_put((first + 3,), theta[8 + first])
    bend = bend.index_put((first + 4,), theta[9 + first])
    spread = spread.index_put((first + 2,), theta[7 + first])

    def matrix(rows):
        return torch.stack([torch.stack([torch.as_tensor(each, dtype=theta.dtype) for each in row])
                            for row in rows])  # fmt: skip

    base, inverse = torch.tensor(model.base), torch.tensor(model.inverse)
    end = torch.tensor([[0.0, 0, 0, 1]], dtype=theta.dtype)
    place = []
    for j, parent in enumerate(model.parents):
        c, s, cz, sz = bend[j].cos(), bend[j].sin(), spread[j].cos(), spread[j].sin()
        about_x = matrix([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
        about_z = matrix([[cz, -sz, 0, 0], [sz, cz, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        own = torch.cat([base[j], end]) @ about_z @ about_x
        place.append(own if parent < 0 else place[parent] @ own)
    moves = torch.stack([p @ torch.cat([i, end]) for p, i in zip(place, inverse)])
    rest = torch.tensor(np.append(model.rest, np.ones((len(model.rest), 1)), 1))
    bones, weights = torch.tensor(model.bones), torch.tensor(model.weights)
    skin = torch.einsum("vw,vwij,vj->vi", weights, moves[bones], rest)[:, :3]
    skin = skin * torch.tensor([model.mirror, 1.0, 1.0], dtype=theta.dtype)
    x, y, z = theta[:3]
    skew = matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    skin = skin @ torch.linalg.matrix_exp(skew).T + theta[3:6]
    return torch.einsum("pq,pqi->pi", shares, skin[torch.tensor(corners)])


@pytest.fixture(name="hand")
def of_hand():
    module = example("hand_tracking")
    random = np.random.default_rng(3)
    model = module.example(random, 40)
    theta, points = 0.5 * random.normal(size=26), random.normal(size=(6, 3))
    return module, model, theta, points, random


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_hand_tracking_of_vertices(hand, mirror):
    module, model, theta, points, random = hand
    model = model._replace(mirror=mirror)
    corners, shares = random.integers(0, 40, size=(6, 1)), np.ones((6, 1))
    at = lambda t: torch.tensor(points) - places_in_torch(model, t, corners, torch.tensor(shares))
    found = module.errors(model, theta, corners, shares, points)
    np.testing.assert_allclose(found, at(torch.tensor(theta)).numpy(), rtol=1e-9, atol=1e-9)
    wanted = torch.autograd.functional.jacobian(at, torch.tensor(theta)).numpy()
    found = module.derivatives(model, theta, corners, shares)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_hand_tracking_in_triangles(hand):
    module, model, theta, points, random = hand
    triangles, us = random.integers(0, 40, size=(6, 3)), random.random((6, 2))

    def at(us, theta):
        shares = torch.cat([us, 1 - us.sum(1, keepdim=True)], 1)
        made = places_in_torch(model, theta, triangles, shares)
        return (torch.tensor(points) - made).reshape(-1)

    given = torch.tensor(us), torch.tensor(theta)
    found = module.errors(model, theta, triangles, module.shares_of(us), points)
    np.testing.assert_allclose(found.ravel(), at(*given).numpy(), rtol=1e-9, atol=1e-9)
    wanted = torch.autograd.functional.jacobian(at, given)
    wanted = np.concatenate([each.reshape(18, -1).numpy() for each in wanted], 1)
    values = module.jacobian_values(model, theta, triangles, us)
    assert len(values) == 6 * 3 * 28
    found = dense(values, *module.jacobian_places(6), 2 * 6 + 26)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_kernels_of_hands_do_what_the_text_does(hand):
    module, model, theta, _, random = hand
    thetas = np.stack([theta, 0 * theta])
    for kernel, given in ((module.poses, (thetas, *model[:3])), (module.rotations, (thetas, -1.0))):
        np.testing.assert_allclose(kernel(*given), kernel.__wrapped__(*given), rtol=1e-13,
                                   atol=1e-13)  # fmt: skip
    whole, moves = random.normal(size=(1, 3, 3)), random.normal(size=(22, 4, 4))
    skin = *model[4:], random.integers(-40, 40, size=(6, 3)), random.random((6, 3))
    given = theta, whole, moves, *skin, random.normal(size=(6, 3))
    assert np.array_equal(module.skin(*given), module.skin.__wrapped__(*given))
    turns, bends = random.normal(size=(3, 3, 3)), random.normal(size=(22, 4, 4, 4))
    given = whole, turns, moves, bends, module.FINGERS, *skin
    slopes = module.slopes_with(3)
    assert np.array_equal(slopes(*given), slopes.__wrapped__(*given))


# ----- what these kernels showed


def test_an_index_is_found_once(hand):
    source = hand[0].skin.procedure().source
    assert source.count("const int64_t v = checked_index(corners[i * q + j], v_);") == 1
    assert source.count("checked_index(") == 2


def test_elements_that_are_there_are_not_computed_again():
    source = example("lstm").lstm.vjp.procedure().source
    # Once forward, once more where its derivative is computed: nothing is run again to keep it.
    assert source.count("const double change = tanh_float64") == 2
    assert "change_kept" not in source


@knossos.register
def polar(x: "Tensor[float, n]", y: "Tensor[float, n]") -> "Tensor[float, n, 2]":
    made = np.zeros((len(x), 2))
    for i in range(len(x)):
        made[i] = (x[i] * y[i], x[i] - y[i])
        made[i, 1:] = (made[i, 1] ** 2,)
    return made


def test_a_tuple_fills_a_row():
    x, y = np.arange(3.0), np.ones(3)
    assert np.array_equal(polar(x, y), polar.__wrapped__(x, y))


@knossos.register
def rows_too_long(x: "Tensor[float, n]") -> "Tensor[float, n, 2]":
    made = np.zeros((len(x), 2))
    for i in range(len(x)):
        made[i] = (x[i], 1.0, 2.0)
    return made


def test_a_tuple_of_another_length_is_refused():
    with pytest.raises(TypeError, match=r"extents 2 and 3 do not fit.*test_adbench.py:\d+"):
        rows_too_long(np.ones(2))


@knossos.register
def places(x: "Tensor[float, n]", k: "Tensor[int, m]") -> float:
    total = 0.0
    for i in range(len(k)):
        j = k[i]
        if j < 0:
            total += x[j]
        else:
            total += 2 * x[j]
        for _ in range(2):
            total += x[j] * x[j]
        i2 = j
        while i2 > 0:
            total += x[i2]
            i2 = i2 - 1
    return total


def test_places_of_variables_that_change():
    random = np.random.default_rng(0)
    x, k = random.normal(size=7), random.integers(-7, 7, size=30)
    assert places(x, k) == places.__wrapped__(x, k)
    with pytest.raises(IndexError):
        places(x, np.array([7]))
    with pytest.raises(IndexError):
        places(x, np.array([-8]))


@knossos.register
def changed_later(x: "Tensor[float, n]") -> float:
    y = np.zeros(len(x))
    total = 0.0
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = x[i] * x[i]
        z = y[i]
        y[i] += y[i - 1]
        total += z * z
    return total


@knossos.register
def changed_in_a_loop(x: "Tensor[float, n]") -> float:
    y = np.zeros(len(x))
    total = 0.0
    for i in range(1, len(x)):
        before = y[i - 1]
        for k in range(3):
            y[i] = x[i] * x[i] * k + before
            z = y[i]
            total += z * z
    return total


@knossos.register
def read_as_stored(x: "Tensor[float, n]") -> float:
    y = np.zeros((len(x), 3))
    total = 0.0
    for i in range(1, len(x)):
        for k in range(3):
            y[i, k] = x[i] * x[i] * k + y[i - 1, k]
            z = y[i, k]
            total += z * z
    return total


def test_elements_that_change_after_their_iteration_read_them():
    x = np.array([1.0, 2.0, 3.0, 0.5])
    for kernel in (changed_later, changed_in_a_loop, read_as_stored):
        assert kernel(x) == kernel.__wrapped__(x)
        wanted = [kernel.jvp(x, along) for along in np.eye(4)]
        np.testing.assert_allclose(kernel.grad(x), wanted, rtol=1e-14)
