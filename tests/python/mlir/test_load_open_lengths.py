"""Programs of StableHLO whose inputs have open lengths, as jax.export writes them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import composit
from composit import mlir
from composit.onnx import commands

W = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")
KERNEL = np.random.default_rng(1).standard_normal((5, 2, 3, 3)).astype("float32")


def scores(x):
    y = jax.nn.softmax(jnp.tanh(x @ W) + x.shape[0], axis=-1)
    return y - y.mean(0), jnp.reshape(y, (-1,)), jnp.arange(x.shape[0]) + 1, jnp.concatenate([y, y])


def moved(x):
    return x[::-1], jnp.sort(x, axis=0), jnp.pad(x, ((1, 2), (0, 0))), jnp.flip(x, 1), x[1:]


def images(x):
    y = jax.lax.conv_general_dilated(x, KERNEL, (1, 1), "SAME")
    return jax.nn.relu(y).sum((2, 3)), jax.lax.reduce_window(
        x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"
    )


def loop(x):
    return jax.lax.fori_loop(0, 3, lambda i, y: jnp.sin(y) + x * i, x), jnp.where(x > 0, x, 0.0)


def attention(x):
    weights = jax.nn.softmax(x @ x.swapaxes(-1, -2) / x.shape[-2], axis=-1)
    return weights @ x, jnp.einsum("bij,bij->b", x, x), jnp.tril(weights)


def windows(x):
    lax, pooled = jax.lax, ((1, 1, 3, 3), (1, 1, 2, 2), "SAME")
    return (lax.reduce_window(x, 0.0, lax.add, *pooled),
            lax.reduce_window(x, -jnp.inf, lax.max, *pooled),
            lax.conv_general_dilated(x, KERNEL, (2, 2), "SAME"))  # fmt: skip


def running(x):
    lax = jax.lax
    return (jnp.cumsum(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x, 0), lax.cumprod(x, 1),
            lax.cumsum(x, 0, reverse=True), *lax.top_k(x, x.shape[0] - 1))  # fmt: skip


def factors(x):
    both = x @ x.swapaxes(-1, -2) + 4 * jnp.eye(4)
    values, vectors = jnp.linalg.eigh(both)
    q, r = jnp.linalg.qr(x)
    u, s, v = jnp.linalg.svd(x)
    return (jnp.linalg.cholesky(both), jnp.linalg.solve(both, x), values, jnp.linalg.det(x), s,
            jnp.abs(vectors), jnp.abs(u), jnp.abs(v), q @ r)  # fmt: skip


PROGRAMS = {
    "windows": (windows, "b, 2, h, h", [(1, 2, 8, 8), (2, 2, 5, 5)]),
    "running": (running, "4 + a, 4 + a", [(5, 5), (7, 7)]),
    "factors": (factors, "b, 4, 4", [(1, 4, 4), (3, 4, 4)]),
    "scores": (scores, "b, 4", [(2, 4), (5, 4), (1, 4)]),
    "moved": (moved, "b, 4", [(3, 4), (7, 4)]),
    "images": (images, "b, 2, 8, 8", [(1, 2, 8, 8), (3, 2, 8, 8)]),
    "loop": (loop, "b, c", [(2, 3), (4, 1)]),
    "attention": (attention, "b, t, 4", [(2, 3, 4), (1, 6, 4)]),
}


def text_of(function, shape):
    symbolic = export.symbolic_shape(shape)
    exported = export.export(jax.jit(function))(jax.ShapeDtypeStruct(symbolic, "float32"))
    return exported.mlir_module()


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_jaxs_for_each_length(name):
    function, shape, shapes = PROGRAMS[name]
    module = mlir.load(text_of(function, shape))
    assert any(each.is_open for each in module.inputs)
    compiled = module.compile()
    draw = np.random.default_rng(3)
    for lengths in shapes:
        x = draw.standard_normal(lengths).astype("float32")
        found = [composit.evaluate(each) for each in module(x)]
        for one, wanted, fast in zip(found, function(x), compiled(x), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-5, atol=1e-5)
            assert np.asarray(fast).tobytes() == np.asarray(one).tobytes()


@functools.cache
def module():
    return mlir.load(text_of(scores, "b, 4"))


def test_descriptions_gradients_and_exports(tmp_path):
    assert "(arg0: float32 (?, 4)) -> (" in repr(module())
    x = np.random.default_rng(4).standard_normal((3, 4)).astype("float32")
    gradient = composit.grad(lambda x: (module()(x)[0] ** 2).sum())(x)
    expected = jax.grad(lambda x: (scores(x)[0] ** 2).sum())(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)
    files = module().compile(x, name="scores").export(tmp_path, style="plain", language="c")
    assert "const float arg0[3][4]" in (tmp_path / files[0]).read_text()


def test_command_line(tmp_path, capsys):
    path = tmp_path / "scores.mlir"
    path.write_text(text_of(scores, "b, 4"))
    assert commands.main(["info", str(path), "--shape", "arg0=5,4"]) == 0
    assert "arg0: float32 (?, 4)" in capsys.readouterr().out
    words = ["export", str(path), "--shape", "arg0=5,4", "--to", "c", "--out", str(tmp_path / "c")]
    assert commands.main(words) == 0


def test_errors():
    with pytest.raises(ValueError, match=r"input 'arg0' is float32\[2, 5\]\. tensor<\?x4xf32> is"):
        module()(np.ones((2, 5), "float32"))
    with pytest.raises(ValueError, match=r"is float32 \(\?, 4\)\. Fixed lengths, or examples"):
        module().placeholders()
    even = mlir.load(text_of(lambda x: x.reshape(-1, 2).sum(1), "2*b"))
    with pytest.raises(ValueError, match=r"the lengths of inputs do not fit: .* had remainder 1"):
        even(np.ones(3, "float32"))
    by_value = (
        "func.func @main(%n: tensor<1xi32>) -> tensor<?xi32> {\n"
        "  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n"
        "  return %0 : tensor<?xi32>\n}\n"
    )
    found = composit.evaluate(mlir.load(by_value)(np.array([3], "int32")))
    np.testing.assert_array_equal(found, [0, 1, 2])
    with pytest.raises(NotImplementedError, match="depend on the values of an input"):
        mlir.load(by_value).compile(np.array([3], "int32"))
    with pytest.raises(ValueError, match=r"a literal has the type tensor<\?xf32>"):
        mlir.load("func.func @main() -> tensor<?xf32> {\n %0 = stablehlo.constant dense<1.0> : "
                  "tensor<?xf32>\n return %0 : tensor<?xf32>\n}")  # fmt: skip
    with pytest.raises(NotImplementedError, match=r"result 0 is written as tensor<\?xf32>"):
        mlir.load("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n %0 = stablehlo.reshape "
                  "%x : (tensor<?xf32>) -> tensor<?xf32>\n return %0 : tensor<?xf32>\n}")(
            np.ones(2, "float32"))  # fmt: skip


CALLED = """func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {{
  %c = stablehlo.add %a, %b : tensor<f32>
  return %c : tensor<f32>
}}
func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %w = stablehlo.constant dense<{window}> : tensor<1xi32>
  %o = stablehlo.constant dense<1> : tensor<1xi32>
  %p = stablehlo.constant dense<0> : tensor<1x2xi32>
  %y = stablehlo.custom_call @stablehlo.dynamic_reduce_window({operands})
    {{called_computations = {called}}} : ({types}) -> tensor<?xf32>
  return %y : tensor<?xf32>
}}
"""
OPERANDS = "%x, %z, %w, %o, %o, %o, %p"
TYPES = "tensor<?xf32>, tensor<f32>" + ", tensor<1xi32>" * 4 + ", tensor<1x2xi32>"


def test_calls_by_name_for_open_lengths():
    x = np.arange(5, dtype="float32")

    def load(window=2, operands=OPERANDS, types=TYPES, called="[@add]"):
        return mlir.load(
            CALLED.format(window=window, operands=operands, types=types, called=called)
        )

    assert composit.evaluate(load()(x)).tolist() == [1, 3, 5, 7]
    with pytest.raises(ValueError, match="there is no function @other"):
        load(called="[@other]")(x)
    with pytest.raises(ValueError, match=r"called_computations has no function 0, which is"):
        load(called="[]")(x)
    with pytest.raises(ValueError, match="window_dimensions"):
        load(window=0)(x)
    with pytest.raises(ValueError, match="it has 2 operands"):
        load(operands="%x, %z", types="tensor<?xf32>, tensor<f32>")(x)
    with pytest.raises(TypeError, match="padding are int32"):
        load(operands=OPERANDS.replace("%p", "%o"), types=TYPES.replace("1x2x", "1x"))(x)


def test_lengths_of_strangers():
    """Lengths that a text computes are checked as written ones are."""
    text = (
        "func.func @main(%x: tensor<?xf32>) -> tensor<?x?xf32> {{\n"
        "  %n = stablehlo.constant dense<{}> : tensor<2xi64>\n  %y = stablehlo.{} "
        "\n  return %y : tensor<?x?xf32>\n}}\n"
    )
    spread = (
        "dynamic_broadcast_in_dim %x, %n, dims = [1] : (tensor<?xf32>, tensor<2xi64>) -> "
        "tensor<?x?xf32>"
    )
    x = np.ones(1, "float32")
    assert mlir.load(text.format("[2, 3]", spread))(x).shape == (2, 3)
    for lengths, error, words in (
        ("[-1, 3]", ValueError, "its lengths are"),
        ("[1099511627776, 1099511627776]", OverflowError, "elements are required"),
        ("[9223372036854775807, 1]", ValueError, "have the number"),
    ):
        with pytest.raises(error, match=words):
            mlir.load(text.format(lengths, spread))(x)
    pad = (
        "func.func @main(%x: tensor<?xf32>, %f: tensor<f32>) -> tensor<?xf32> {\n %y = "
        "stablehlo.pad %x, %f, low = [-3], high = [0], interior = [0] : (tensor<?xf32>, "
        "tensor<f32>) -> tensor<?xf32>\n return %y : tensor<?xf32>\n}"
    )
    with pytest.raises(ValueError, match="padded to a length that is none"):
        mlir.load(pad)(x, np.float32(0))
    with pytest.raises(ValueError, match=r"end in 'f'"):
        mlir.load("func.func @main(%x: tensor<?f32>) -> tensor<f32> {\n return %x : tensor<f32>\n}")
