"""Functions as programs of StableHLO: parsed and verified by MLIR, computed alike by XLA."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from exported_functions import floats, integers
from stablehlo_functions import ALL
from stablehlo_runner import parsed, run

import composit as ct
import composit.numpy as cnp
from composit import flashlight, mlir
from composit.structure import flatten


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_xla_computes_the_same(name):
    function, *arguments = ALL[name]
    text = mlir.text(function, *arguments)
    expected = [np.asarray(y) for y in flatten(function(*map(cnp.asarray, arguments)))[0]]
    tolerance = 2e-2 if "float16" in name else 1e-5
    for found, y in zip(run(text, arguments), expected, strict=True):
        assert (found.dtype, found.shape) == (y.dtype, y.shape)
        if "float16" in name:
            found, y = found.astype("float32"), y.astype("float32")
        np.testing.assert_allclose(found, y, rtol=tolerance, atol=tolerance)


def operations(text):
    return [line.split(" = ")[1].split()[0] for line in text.splitlines() if " = " in line]


def test_names_and_lines_are_kept():
    weights = cnp.asarray(floats(4, 3))

    def score(image, scale):
        return {"scores": image @ weights * scale, "sum": image.sum()}

    text = mlir.text(score, floats(2, 4), floats(1), locations=True)
    assert text.startswith("// Made by composit. @main returns scores, sum.\nmodule @score {")
    assert "@main(%image: tensor<2x4xf32>, %scale: tensor<1xf32>)" in text
    assert 'loc("test_stablehlo.py":' in text
    parsed(text)
    names = {"input_names": ["a", "b"], "output_names": ["c", "d"], "name": "renamed"}
    text = mlir.text(score, floats(2, 4), floats(1), **names)
    assert "returns c, d." in text and "module @renamed" in text and "loc(" not in text
    assert "@main(%a: tensor<2x4xf32>, %b: tensor<1xf32>)" in text


def test_tensors_are_written_with_their_placeholders():
    x = ct.placeholder("x", (2, 3), np.float32)
    values = floats(2, 3)
    twice, same, one = run(mlir.text({"twice": x * 2, "same": x, "one": cnp.ones(2)}), [values])
    assert (twice == values * 2).all() and (same == values).all() and (one == 1).all()


def test_what_is_not_read_is_not_written():
    text = mlir.text(lambda x: ((x * 2.5 + 1) * 2.5 + 1, x.sum())[0], floats(3))
    assert [name for name in operations(text) if name != "stablehlo.constant"] == [
        "stablehlo.multiply", "stablehlo.add", "stablehlo.multiply", "stablehlo.add",
    ]  # fmt: skip
    assert text.count("dense<2.5>") == 1


def test_equal_calls_are_one_function():
    text = mlir.text(lambda x: x.mean(1) + (x * 2).mean(1) + x.mean(0), floats(3, 3))
    assert text.count("call @mean(") == 2 and text.count("call @mean_1(") == 1
    assert text.count("func.func private") == 2


def test_a_model_of_pytorch():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(128, 10),
        torch.nn.LayerNorm(10), torch.nn.GELU(), torch.nn.Softmax(-1),
    ).eval()  # fmt: skip
    x = torch.randn(2, 3, 8, 8)
    text = mlir.text(flashlight.trace(net, x), x.numpy())
    expected = net(x).detach().numpy()
    np.testing.assert_allclose(run(text, [x.numpy()])[0], expected, rtol=1e-5, atol=1e-6)


def test_a_training_step_is_jaxs():
    w, x, y = floats(4, 3), floats(8, 4), floats(8, 3)

    def step_of(library, grad):
        def step(w, x, y):
            return w - 0.1 * grad(lambda w: ((library.tanh(x @ w) - y) ** 2).mean())(w)

        return step

    (found,) = run(mlir.text(step_of(cnp, ct.grad), w, x, y), [w, x, y])
    np.testing.assert_allclose(found, step_of(jnp, jax.grad)(w, x, y), rtol=1e-5, atol=1e-6)


def test_orders_that_xla_keeps_have_the_same_bits():
    def function(x):
        return x * 3, 1 / x, cnp.sort(x, axis=0), x[::-1, 1:], cnp.maximum(x, 0)

    x = floats(5, 6)
    for found, y in zip(run(mlir.text(function, x), [x]), function(cnp.asarray(x)), strict=True):
        assert found.tobytes() == np.asarray(y).tobytes()


def test_large_constants_keep_their_bits():
    x = floats(40, 3)
    x[0, 0], x[1, 1], x[2, 2] = np.nan, -0.0, 1e-42
    constants = [x, x.astype("float64"), x.astype("float16"), x[:4], x > 0, x + 1j * x,
                 integers(50), np.uint8([0, 255]), np.int8([-128, 127])]  # fmt: skip
    texts = mlir.text(tuple(map(cnp.asarray, constants)))
    for found, y in zip(run(texts, []), constants, strict=True):
        assert found.dtype == y.dtype and found.tobytes() == y.tobytes()


@pytest.mark.parametrize(
    "function, arguments, options, error, text",
    [
        (cnp.linalg.svd, [np.eye(2)], {}, NotImplementedError,
         "mlir.text: svd has no operation of StableHLO. A graph of other operations is required "
         "(test_stablehlo.py:"),
        (lambda x: x, [floats(2)], {"dialect": "linalg"}, ValueError,
         "mlir.text: dialect is 'linalg'. 'stablehlo' is required."),
        (lambda x: x, [floats(2)], {"input_names": ["a", "b"]}, ValueError,
         "mlir.text: 2 input names are given for 1 inputs. One for each is required."),
        (lambda x: (x, x), [floats(2)], {"output_names": ["a", "a"]}, ValueError,
         'mlir.text: output "a" is there twice. Different names are required.'),
        (lambda x: (), [floats(2)], {}, ValueError,
         "mlir.text: there are no outputs. One or more are required."),
        (3.0 + cnp.ones(2), [floats(2)], {}, TypeError,
         "mlir.text: examples are given for tensors. A function is required."),
    ],
)  # fmt: skip
def test_errors(function, arguments, options, error, text):
    with pytest.raises(error) as raised:
        mlir.text(function, *arguments, **options)
    assert text in str(raised.value)


def test_a_placeholder_that_is_no_input_is_refused():
    other = ct.placeholder("other", (2,), np.float32)
    with pytest.raises(ValueError, match='depend on the placeholder "other"'):
        mlir.text(lambda x: x + other, floats(2))
