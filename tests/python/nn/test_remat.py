"""remat: the same bits as without, in less memory, however a function is transformed."""

import ml_dtypes  # noqa: F401 - NumPy knows bfloat16 by it
import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn, random

RANDOM = np.random.RandomState(0)
WIDTH, ROWS = 32, 512


def layer(hidden, weights):
    """Of several large values within."""
    wide = nn.gelu(hidden @ weights["in"] + weights["bias"])
    return hidden + cnp.tanh(wide) @ weights["out"]


def model_weights(dtype="float32", count=8):
    return [
        {
            "in": (RANDOM.standard_normal((WIDTH, 4 * WIDTH)) / 8).astype(dtype),
            "bias": RANDOM.standard_normal(4 * WIDTH).astype(dtype),
            "out": (RANDOM.standard_normal((4 * WIDTH, WIDTH)) / 8).astype(dtype),
        }
        for _ in range(count)
    ]


def step_of(one_layer):
    def step(x, weights):
        hidden = x
        for w in weights:
            hidden = one_layer(hidden, w)
        loss = cnp.mean(hidden**2)
        flat = [w[name] for w in weights for name in sorted(w)]
        return loss, nn.chain_rule({loss: loss}, flat)

    return step


def arena(compiled):
    """The bytes of temporaries, planned."""
    temporaries = [b for b in compiled.buffers if b.kind == "temporary"]
    return max(b.arena_offset + b.bytes for b in temporaries)


@pytest.mark.parametrize(
    "backend, dtype",
    [
        ("interpreter", "float32"),
        ("interpreter", "float64"),
        ("interpreter", "bfloat16"),
        ("cpp", "float32"),
        pytest.param("cpp", "float64", marks=pytest.mark.long_tail),
        pytest.param("cpp", "bfloat16", marks=pytest.mark.long_tail),
    ],
)
def test_bits_are_the_same(backend, dtype):
    if dtype == "bfloat16":
        weights = [
            {n: cnp.asarray(a).astype("bfloat16") for n, a in w.items()} for w in model_weights()
        ]
        weights = [{n: composit.evaluate(a) for n, a in w.items()} for w in weights]
    else:
        weights = model_weights(dtype)
    x = composit.evaluate(cnp.asarray(RANDOM.standard_normal((24, WIDTH))).astype(dtype))
    plain = composit.compile(step_of(layer), backend=backend)(x, weights)
    again = composit.compile(step_of(nn.remat(layer)), backend=backend)(x, weights)
    assert plain[0].tobytes() == again[0].tobytes()
    for a, b in zip(plain[1], again[1]):
        assert a.tobytes() == b.tobytes()


def test_what_lies_within_takes_no_memory_between_the_passes():
    """Each layer more takes its input, and nothing of what it computes."""
    x = np.zeros((ROWS, WIDTH), "float32")
    planned = {}
    for count in (8, 16):
        weights = model_weights(count=count)
        for f in (layer, nn.remat(layer)):
            compiled = composit.compile(step_of(f), x, weights, backend="interpreter")
            planned[f is layer, count] = arena(compiled) / x.nbytes
    assert planned[True, 16] - planned[True, 8] > 8 * 8
    assert planned[False, 16] - planned[False, 8] <= 8 * 1.01
    assert planned[False, 16] < 0.3 * planned[True, 16]


def test_what_is_captured_gets_gradients():
    """Weights of the outside, scalars too, and what is computed from them there."""
    w = cnp.asarray(RANDOM.standard_normal((3, 3)))
    scale = cnp.asarray(np.float64(1.5))
    outside = cnp.exp(w)
    x = cnp.asarray(RANDOM.standard_normal((4, 3)))

    def inside(x):
        return cnp.tanh(x @ outside * scale) + 1.0, w * 2

    losses = []
    for function in (inside, nn.remat(inside)):
        a, b = function(x)
        loss = cnp.sum(a * a) + cnp.sum(b)
        losses.append(composit.evaluate(loss, *nn.chain_rule({loss: loss}, [w, scale, x, outside])))
    for plain, again in zip(*losses):
        assert plain.tobytes() == again.tobytes()


def test_it_is_one_node_with_any_arguments():
    @nn.remat
    def part(x, more, *, power=2, name="text"):
        """Its own words."""
        assert name == "text" and isinstance(power, int)
        return {"a": x**power, "b": [more["y"] + x, x.shape]} if power else x

    x, y = cnp.asarray(np.arange(3.0)), np.ones(3)
    with pytest.raises(TypeError):  # a shape is no tensor
        part(x, {"y": "y"})
    result = nn.remat(lambda x, m: {"a": x**2, "b": (m["y"] + x,)})(x, {"y": y})
    assert composit.evaluate(result["b"][0]).tolist() == [1, 2, 3]
    assert part.__doc__ == "Its own words." and part.__name__ == "part"
    assert part(x, {"y": y}, power=0).node.name in ("part", "")
    graph = nn.remat(layer)(cnp.ones((2, WIDTH), "float32"), model_weights()[0]).graph
    assert len(graph) == 5


def test_transformations_of_it():
    def f(x, w):
        return cnp.sum(cnp.tanh(x @ w) ** 2)

    x, w = RANDOM.standard_normal((5, 3)), RANDOM.standard_normal((3, 4))
    for transform in (
        lambda g: composit.grad(g)(x, w),
        lambda g: composit.grad(lambda x, w: cnp.sum(composit.grad(g)(x, w) ** 2))(x, w),
        lambda g: composit.vmap(g)(x[:, None], np.stack([w] * 5)),
        lambda g: composit.vmap(composit.grad(g), in_axes=(0, None))(x[:, None], w),
        lambda g: composit.jvp(g, (x, w), (x + 1, w - 1))[1],
        lambda g: composit.grad(nn.remat(g))(x, w),
        lambda g: composit.grad(lambda x: composit.jvp(g, (x, w), (x, w))[1])(x),
    ):
        plain, again = (composit.evaluate(transform(g)) for g in (f, nn.remat(f)))
        np.testing.assert_allclose(again, plain, rtol=1e-12, atol=1e-14)


def test_complex_and_random_values():
    key = random.key(3)

    def f(z, x):
        return cnp.abs(cnp.exp(z * x)) * nn.dropout(x, 0.5, key)

    z = cnp.asarray(RANDOM.standard_normal(6) + 1j * RANDOM.standard_normal(6))
    x = cnp.asarray(RANDOM.standard_normal(6))
    found = []
    for function in (f, nn.remat(f)):
        loss = cnp.sum(function(z, x))
        found.append(composit.evaluate(loss, *nn.chain_rule({loss: loss}, [z, x])))
    for plain, again in zip(*found):
        assert plain.tobytes() == again.tobytes()


def test_within_a_loop():
    w = RANDOM.standard_normal((4, 4)) / 2

    def total(f):
        def loss(w):
            return cnp.sum(composit.fori_loop(0, 5, lambda i, x: f(x, w), cnp.ones((3, 4))))

        return composit.evaluate(composit.grad(loss)(w))

    def f(x, w):
        return cnp.tanh(x @ w)

    np.testing.assert_allclose(total(nn.remat(f)), total(f), rtol=1e-13)


def test_what_is_wrong_is_said():
    with pytest.raises(TypeError, match="remat: 3 is not a function"):
        nn.remat(3)
    with pytest.raises(TypeError, match="remat: nothing returned None"):

        @nn.remat
        def nothing(x):
            return None

        nothing(cnp.ones(2))
    with pytest.raises(ZeroDivisionError):
        nn.remat(lambda x: 1 // 0)(cnp.ones(2))
    with pytest.raises(ValueError, match=r"multiply: .*shapes"):
        nn.remat(lambda x, y: x * y)(cnp.ones(2), cnp.ones(3))
