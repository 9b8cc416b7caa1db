"""Programs of StableHLO as functions: composit's own with the same bits, JAX's with its values."""

import resource
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exported_functions import floats
from jax import lax
from jax_programs import (
    PROGRAMS,
    counting,
    draws,
    euler,
    integers,
    many_functions,
    more_special,
    shaped_draws,
    transforms,
)  # fmt: skip
from stablehlo_functions import ALL
from stablehlo_runner import parsed

import composit as ct
import composit.numpy as cnp
from composit import mlir
from composit.onnx.commands import main
from composit.structure import flatten


def arrays(values):
    return [np.asarray(x) for x in flatten(values)[0]]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_own_programs_give_the_same_bits(name):
    function, *arguments = ALL[name]
    module = mlir.load(mlir.text(function, *arguments))
    expected = arrays(function(*map(cnp.asarray, arguments)))
    for found, y in zip(arrays(module(*arguments)), expected, strict=True):
        assert (found.dtype, found.shape) == (y.dtype, y.shape)
        assert found.tobytes() == y.tobytes()


def lowered(function, *arguments):
    return jax.jit(function, keep_unused=True).lower(*arguments).as_text()


def close(found, expected, tolerance=1e-5):
    for x, y in zip(arrays(found), jax.tree.leaves(expected), strict=True):
        y = np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * max(1, np.abs(y).max()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax_give_its_values(name):
    function, arguments, numbers = PROGRAMS[name]
    module = mlir.load(lowered(function, *arguments))
    leaves = jax.tree.leaves(arguments)
    value, gradients = jax.value_and_grad(function, numbers)(*arguments)
    close(module(*leaves), value)
    of_jax = mlir.load(lowered(jax.grad(function, numbers), *arguments))
    close(of_jax(*leaves), gradients, 2e-5)


@pytest.mark.parametrize("function", [integers, more_special, transforms, many_functions])
def test_functions_of_jax_give_its_values(function):
    x = floats(9)
    close(mlir.load(lowered(function, x))(x), function(x))


@pytest.mark.parametrize("key", [jax.random.key(3), jax.random.PRNGKey(5)])
def test_draws_of_jax_have_its_bits(key):
    words = np.asarray(jax.random.key_data(key) if key.ndim == 0 else key)
    for found, y in zip(mlir.load(lowered(draws, key))(words), draws(key), strict=True):
        y = jax.random.key_data(y) if jax.dtypes.issubdtype(y.dtype, jax.dtypes.prng_key) else y
        assert np.asarray(found).tobytes() == np.asarray(y).tobytes()
    close(mlir.load(lowered(shaped_draws, key))(words), shaped_draws(key))


def test_while_loops():
    x = floats(4)
    tolerance = np.float32(0.1)
    module = mlir.load(lowered(euler, x, tolerance))
    close(module(x, tolerance), euler(x, tolerance))
    with pytest.raises(
        NotImplementedError,
        match=r"line \d+, column \d+: stablehlo.while: .*"
        "depends on a placeholder",
    ):
        module.compile()
    close(mlir.load(lowered(counting, x, 3))(x, np.int32(3)), counting(x, 3))


def numpys(x):
    """Functions of jax.numpy, which are made of operations of all kinds."""
    x = jnp.asarray(x)
    row, whole = x[0], (x * 10).astype(jnp.int32)
    return (
        jnp.einsum("ij,kj->ik", x, x), jnp.tensordot(x, x, 1), jnp.outer(row, row), jnp.dot(x, row),
        jnp.mean(x, 0), jnp.std(x), jnp.var(x, 1), jnp.ptp(x, 0), jnp.nanmax(x), jnp.prod(x, 1),
        jnp.argmin(x, 1), jnp.argmax(whole), jnp.sort(x, axis=None),
        jnp.argsort(x, descending=True),
        jnp.lexsort((x[0], x[1])), jnp.partition(x, 1), jnp.unique(whole, size=4), jnp.flip(x, 1),
        jnp.cumsum(whole, 1), jnp.cumprod(x, 0), jnp.diff(x), jnp.trapezoid(x), jnp.cross(x, x + 1),
        jnp.triu(x, 1), jnp.diag(row), jnp.diagonal(x), jnp.trace(x), jnp.repeat(x, 2, 0),
        jnp.tile(x, (1, 2)), jnp.stack([x, x], 1), jnp.split(x, 3, 1)[1], jnp.rot90(x),
        jnp.moveaxis(x[None], 0, 2), jnp.where(x > 0, x, -1),
        jnp.select([x > 1, x > 0], [x, 2 * x]),
        jnp.choose(whole % 2, [x, -x], mode="clip"), jnp.digitize(x, jnp.arange(-2.0, 2.0)),
        jnp.bincount(whole.ravel() % 3 + 3, length=7), jnp.polyval(row, x),
        jnp.polyfit(row, x[1], 1),
        jnp.gradient(x, axis=0), jnp.i0(x), jnp.sinc(x), jnp.heaviside(x, 0.5), jnp.fmod(x, 0.7),
        jnp.floor_divide(x, 0.3), jnp.divmod(whole, 3), jnp.gcd(whole, 6), jnp.lcm(whole, 4),
        jnp.packbits(x > 0), jnp.frexp(x), jnp.ldexp(x, 2), jnp.nextafter(x, x + 1),
        jnp.signbit(x), jnp.copysign(x, -1), jnp.spacing(x), jnp.float_power(abs(x), 1.5),
        jnp.round(x, 1), jnp.trunc(x), jnp.logaddexp2(x, 1), jnp.isinf(x / 0), jnp.ediff1d(x),
        jnp.apply_along_axis(jnp.sum, 0, x), jnp.histogram2d(row, row, bins=2)[0], jnp.corrcoef(x),
        jnp.linalg.matrix_power(x, 3), jnp.linalg.pinv(x), jnp.linalg.lstsq(x, row)[0],
        jnp.linalg.det(x), jnp.linalg.cond(x), jnp.linalg.eigh(x @ x.T)[0], jnp.fft.fft2(x),
        jnp.fft.fftshift(x), jnp.unwrap(x), jnp.vander(row), jnp.insert(row, 1, 5.0),
        jnp.delete(row, 1), jnp.take(x, jnp.array([0, 5]), mode="fill"), jnp.isin(whole, whole[0]),
        jnp.intersect1d(whole[0], whole[1], size=3), jnp.bitwise_left_shift(whole, 2),
        jnp.angle(x + 1j * x), jnp.sort(x + 1j * x), jnp.exp(1j * x), jnp.nan_to_num(x / 0),
    )  # fmt: skip


def laxs(x):
    """Functions of jax.lax, whose operations have attributes that jax.numpy leaves alone."""
    x = jnp.asarray(x)
    row, whole = x[0], (x * 10).astype(jnp.int32)
    places = jnp.array([[0, 1], [2, 0], [0, 1]])
    numbers = lax.ScatterDimensionNumbers((), (0, 1), (0, 1))

    def scattered(scatter):
        return scatter(x, places, row, numbers)

    return (
        lax.sort((x, whole), num_keys=2), lax.sort((whole, x), dimension=0), lax.top_k(x, 2),
        lax.reduce(x, 1.0, lax.mul, (1,)), lax.reduce(whole, -1, lax.bitwise_and, (0,)),
        lax.reduce((x, whole), (0.0, 0), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (0,)),
        lax.reduce_xor(whole, (1,)), lax.linalg.lu(x),
        lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 1), "SAME"),
        lax.reduce_window(x, 0.5, lambda a, b: jnp.hypot(a, b), (2, 1), (2, 1), "VALID"),
        lax.cumsum(x, 0, reverse=True), lax.cummax(x, 1), lax.cumlogsumexp(x, 0),
        scattered(lax.scatter), scattered(lax.scatter_add), scattered(lax.scatter_mul),
        scattered(lax.scatter_min), scattered(lax.scatter_max),
        x.at[jnp.array([0, 7]), 0].set(9.0, mode="drop"), x.at[:, 1].multiply(2.0),
        lax.pad(x, 0.5, ((1, -1, 1), (0, 2, 0))), lax.rev(x, (0, 1)), lax.clamp(-0.5, x, 0.5),
        lax.dynamic_slice(x, (whole[0, 0], 1), (2, 2)), lax.dynamic_update_slice(x, x[:2], (5, -3)),
        lax.dot_general(x, x, (((0,), (0,)), ((1,), (1,)))), lax.batch_matmul(x[None], x[None]),
        lax.conv_transpose(x[None, :, :, None], x[:2, :2, None, None], (2, 2), "SAME"),
        lax.conv_general_dilated(
            jnp.tile(x, (2, 2))[:, None], jnp.tile(x, (2, 2))[:, None, :3], (1,), "SAME",
            batch_group_count=2,
        ),
        lax.reduce_precision(x, 5, 10), lax.bitcast_convert_type(x, jnp.uint8),
        lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.uint16), jnp.float32),
        lax.nextafter(x, x + 1), lax.is_finite(x), lax.round(x), lax.igamma(x**2 + 1, x**2),
        lax.complex(x, x), lax.conj(lax.complex(x, x)), lax.rsqrt(abs(x)), lax.cbrt(x),
        lax.fori_loop(0, whole[0, 0] * 0 + 3, lambda i, s: s * 2 + i, x),
        lax.map(lambda r: r * 2, x), lax.associative_scan(jnp.multiply, x),
        lax.expand_dims(x, (1,)),
        lax.linalg.cholesky(x @ x.T + jnp.eye(3)), lax.linalg.triangular_solve(x, x, lower=True),
        lax.linalg.qr(x), lax.linalg.svd(x)[1], lax.population_count(whole), lax.clz(whole),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [numpys, laxs])
def test_functions_of_numpy_and_lax(function):
    x = floats(3, 3)
    module = mlir.load(lowered(function, x))
    for place, (found, y) in enumerate(
        zip(arrays(module(x)), jax.tree.leaves(function(x)), strict=True)
    ):
        y = np.asarray(y)
        assert (found.dtype, found.shape) == (y.dtype, y.shape), place
        scale = max(1, np.abs(y[np.isfinite(y)]).max(initial=0))
        np.testing.assert_allclose(found, y, rtol=2e-5, atol=2e-5 * scale, err_msg=str(place))


# ----- forms of the text
def model(x, w):
    return jnp.where(x > 0, jax.nn.softmax(x @ w), jnp.sort(x @ w, axis=1)).sum(0)


@pytest.mark.parametrize(
    "options",
    [{"print_generic_op_form": True}, {"enable_debug_info": True},
     {"enable_debug_info": True, "print_generic_op_form": True}],
)  # fmt: skip
def test_forms_are_one_program(options):
    x, w = floats(3, 4), floats(4, 4)
    text = lowered(model, x, w)
    other = parsed(text).operation.get_asm(**options)
    assert other != text
    found, expected = mlir.load(other)(x, w), mlir.load(text)(x, w)
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def test_lines_and_names_are_the_programs():
    x, w = floats(3, 4), floats(4, 4)
    text = jax.jit(model).lower(x, w).as_text(debug_info=True)
    module = mlir.load(text)
    assert [value.name for value in module.inputs] == ["x", "w"]
    assert "test_load.py:" in str(module(x, w).graph)
    own = mlir.load(mlir.text(lambda image: {"sums": image.sum(0)}, x, name="adder"))
    assert repr(own) == "<Module 'adder' (image: float32 (3, 4)) -> (sums: float32 (4,))>"
    assert own.functions["main"](image=x).shape == (4,)
    assert own.operations == ["stablehlo.constant", "stablehlo.reduce", "stablehlo.add",
                              "stablehlo.return", "func.return"]  # fmt: skip
    written = mlir.text(lambda x: cnp.sin(x) * 2, x, locations=True)
    assert "test_load.py:" in str(mlir.load(written)(x).graph)


def test_exported_programs_of_jax(tmp_path):
    x, w = floats(3, 4), floats(4, 4)
    text = jax.export.export(jax.jit(model))(x, w).mlir_module()
    path = tmp_path / "model.mlir"
    path.write_text(text)
    close(mlir.load(path)(x, w), model(x, w))
    close(mlir.load(str(path))(w=w, x=x), model(x, w))


# ----- what loaded programs are used for
@pytest.mark.parametrize("name", ["MLP", "attention", "convnet", "RNN", "gathers", "mixture",
                                  "orders", "linear algebra", "grouped convolution"])  # fmt: skip
def test_gradients_are_jaxs(name):
    function, arguments, numbers = PROGRAMS[name]
    gradients = jax.tree.leaves(jax.grad(function, numbers)(*arguments))
    places = [
        place
        for place, (number, _) in enumerate(
            (number, leaf)
            for number, argument in enumerate(arguments)
            for leaf in jax.tree.leaves(argument)
        )
        if number in numbers
    ]
    module = mlir.load(lowered(function, *arguments))
    leaves = [cnp.asarray(x) for x in jax.tree.leaves(arguments)]
    close(ct.grad(module, argnums=tuple(places))(*leaves), gradients, 2e-5)


def test_compiled_batched_and_written_again():
    function, arguments, _ = PROGRAMS["attention"]
    module = mlir.load(lowered(function, *arguments))
    compiled = module.compile()
    assert compiled(*arguments) == np.asarray(module(*arguments))
    batches = [np.stack([x, 2 * x]) for x in arguments]
    found = np.asarray(ct.vmap(module)(*batches))
    for k in range(2):
        close(found[k], function(*(x[k] for x in batches)))
    again = mlir.load(mlir.text(module, *arguments))
    assert np.asarray(again(*arguments)) == np.asarray(module(*arguments))


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_exported_as_plain_programs(tmp_path, language):
    x, w = floats(3, 4), floats(4, 4)
    module = mlir.load(lowered(model, x, w))
    names = module.compile(name="model").export(tmp_path, style="plain", language=language)
    source = (tmp_path / names[0]).read_text()
    assert "model(const float arg0[3][4], const float arg1[4][4]" in source
    compiler = ["gcc", "-std=c99"] if language == "c" else ["g++", "-std=c++17"]
    program = tmp_path / f"check.{language}"
    check = "model_selfcheck" if language == "c" else "model::model_selfcheck"
    program.write_text(f'#include "{names[0]}"\nint main() {{ return {check}(); }}\n')
    files = [str(tmp_path / each) for each in names if not each.endswith(".h")]
    run = [*compiler, "-O1", "-o", str(tmp_path / "check"), str(program), *files, "-lm"]
    subprocess.run(run, check=True)
    assert subprocess.run([str(tmp_path / "check")]).returncode == 0


def test_commands(tmp_path, capsys):
    x = floats(2, 4)
    path, weights = tmp_path / "model.mlir", cnp.asarray(floats(4, 3))
    path.write_text(mlir.text(lambda x: cnp.tanh(x @ weights), x))
    assert main(["info", str(path)]) == 0
    said = capsys.readouterr().out
    assert "StableHLO" in said and "weights   12 numbers" in said and "x: float32 (2, 4)" in said
    for to, name in (("cpp", "project"), ("c", "plain"), ("stablehlo", "again.mlir"),
                     ("onnx", "again.onnx")):  # fmt: skip
        assert main(["export", str(path), "--to", to, "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).exists()
    expected = np.asarray(mlir.load(path)(x)).tobytes()
    assert np.asarray(mlir.load(tmp_path / "again.mlir")(x)).tobytes() == expected
    assert main(["check", str(path), "--runs", "2"]) == 0
    first, last = capsys.readouterr().out.splitlines()[-2:]
    assert first.startswith("output_0: largest difference ") and ", XLA " in last
    assert main(["check", str(path), "--runs", "1", "--tolerance", "-1"]) == 1


def test_check_without_jax(tmp_path, capsys, monkeypatch):
    path = tmp_path / "model.mlir"
    path.write_text(mlir.text(cnp.tanh, floats(3)))
    monkeypatch.setitem(sys.modules, "jax", None)
    assert main(["check", str(path)]) == 2
    assert "jax is not installed, with which a program of StableHLO" in capsys.readouterr().err


# ----- constants, and operations that JAX does not print
def evaluated(body, *inputs, result="tensor<3xf32>"):
    types = ", ".join(f"%x{k}: {kind}" for k, (kind, _) in enumerate(inputs))
    text = f"func.func @main({types}) -> {result} {{\n{body}\n}}"
    return np.asarray(mlir.load(text)(*(value for _, value in inputs)))


@pytest.mark.parametrize(
    "literal, kind, expected",
    [
        ("dense<[1.5, -0.0, 0x7FC00001]>", "tensor<3xf32>",
         np.array([0x3FC00000, 0x80000000, 0x7FC00001], "uint32").view("float32")),
        ("dense<[[true], [false]]>", "tensor<2x1xi1>", np.array([[True], [False]])),
        ('dense<"0x0100">', "tensor<2xi1>", np.array([True, False])),
        ('dense<"0x05">', "tensor<3xi1>", np.array([True, False, True])),
        ('dense<"0x01000000FFFFFFFF">', "tensor<2xi32>", np.array([1, -1], "int32")),
        ("dense<(1.0, -2.0)>", "tensor<2xcomplex<f64>>", np.array([1 - 2j, 1 - 2j])),
        ("dense<[255, 0]>", "tensor<2xui8>", np.array([255, 0], "uint8")),
        ("dense<-9223372036854775808>", "tensor<i64>", np.array(-(2**63))),
        ("dense<1.0>", "tensor<2xf16>", np.ones(2, "float16")),
        ("dense<>", "tensor<0x3xf32>", np.zeros((0, 3), "float32")),
    ],
)  # fmt: skip
def test_literals(literal, kind, expected):
    body = f"  %c = stablehlo.constant {literal} : {kind}\n  return %c : {kind}"
    found = evaluated(body, result=kind)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


def test_operations_of_other_writers():
    x, y = floats(3), floats(3)
    one, two = ("tensor<3xf32>", x), ("tensor<3xf32>", y)
    both = ": tensor<3xf32>\n  return %0 : tensor<3xf32>"
    assert (
        evaluated(
            "  %0 = chlo.broadcast_add %x0, %x1 : (tensor<3xf32>, tensor<3xf32>) -> "
            "tensor<3xf32>\n  return %0 : tensor<3xf32>",
            one,
            two,
        )
        == x + y
    ).all()
    assert (
        evaluated(
            f"  %0 = stablehlo.round_nearest_afz %x0 {both}",
            ("tensor<3xf32>", np.float32([0.5, -1.5, 2.4])),
        )
        == [1, -2, 2]
    ).all()
    mapped = """  %0 = "stablehlo.map"(%x0, %x1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>"""
    assert (evaluated(mapped, one, two) == x - y).all()
    # A comparator that is no comparison of one number: by the distance from 1.
    by_distance = """  %0 = "stablehlo.sort"(%x0, %x1) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %p = stablehlo.multiply %a, %d : tensor<f32>
    %q = stablehlo.multiply %b, %c : tensor<f32>
    %l = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#0 : tensor<3xf32>""".replace("%0 =", "%0:2 =")
    x, y = np.float32([3, 1, 2]), np.float32([1, 2, 3])
    found = evaluated(by_distance, ("tensor<3xf32>", x), ("tensor<3xf32>", y))
    assert (found == x[np.argsort(x / y)]).all()
    tuples = """  %t = stablehlo.tuple %x0, %x1 : tuple<tensor<3xf32>, tensor<3xf32>>
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<3xf32>, tensor<3xf32>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>"""
    assert (evaluated(tuples, one, two) == floats(3) * 0 + two[1]).all()


def test_choices_that_are_not_known_compute_both():
    def choose(k, x):
        return lax.switch(k, [jnp.sin, jnp.cos, jnp.tanh], x)

    x = floats(3)
    compiled = mlir.load(lowered(choose, 0, x)).compile()
    for k in (-1, 0, 1, 2, 5):
        close(compiled(np.int32(k), x), choose(k, x))


# ----- what is refused
@pytest.mark.parametrize(
    "body, error, text",
    [
        ("%0 = stablehlo.add %x, %y : tensor<3xf32>", ValueError,
         "line 2, column 25: the value %y is not known here."),
        ("%0 = linalg.fill %x : tensor<3xf32>", NotImplementedError,
         "line 2, column 7: the operation linalg.fill is not read here."),
        ("%0 = stablehlo.sine %x : tensor<3xf8E3M4>", NotImplementedError,
         "a tensor has elements of the type 'f8E3M4'"),
        ("%0 = stablehlo.transpose %x, dims = [1] : (tensor<3xf32>) -> tensor<3xf32>", ValueError,
         "stablehlo.transpose: dims has the axis 1 of a tensor of rank 1."),
        ("%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>", ValueError,
         "line 2, column 26: a literal of tensor<3xf32> has the shape (2,)."),
        ("%0 = stablehlo.constant dense<[1.0, [2.0]]> : tensor<2xf32>", ValueError,
         "a list is deeper than those before it."),
        ("%0 = stablehlo.custom_call @other(%x) : (tensor<3xf32>) -> tensor<3xf32>",
         NotImplementedError, "stablehlo.custom_call: it calls 'other', a function of another"),
        ("%0 = call @other(%x) : (tensor<3xf32>) -> tensor<3xf32>", ValueError,
         "func.call: there is no function @other."),
        ("%0, %1 = stablehlo.sine %x : tensor<3xf32>", ValueError,
         "stablehlo.sine gives 1 results for 2 names."),
        ("%0 = stablehlo.slice %x [0:4] : (tensor<3xf32>) -> tensor<4xf32>", ValueError,
         "it takes 0 to 4 of axis 0 of length 3."),
        ('%0, %1 = "stablehlo.rng_bit_generator"(%x) {rng_algorithm = #stablehlo<rng_algorithm '
         "DEFAULT>} : (tensor<3xf32>) -> (tensor<2xui64>, tensor<3xui32>)", NotImplementedError,
         "its algorithm is DEFAULT, whose numbers are others on each device. THREE_FRY is"),
        ("%0, %1 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<3xf32>) -> "
         "(tensor<2xui64>, tensor<3xui32>)", TypeError,
         "its state is float32[3]. Two numbers of uint64, a key and a counter, are required."),
    ],
)  # fmt: skip
def test_errors_have_their_place(body, error, text):
    program = f"func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n {body}\n return %x : " \
              "tensor<3xf32>\n}"  # fmt: skip
    with pytest.raises(error) as raised:
        mlir.load(program)(floats(3))
    assert str(raised.value).startswith("mlir.load: line 2, column ")
    assert text in str(raised.value)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda m, x: m(x, x), TypeError, "mlir: identity is called with 2 inputs. 1 inputs are"),
        (lambda m, x: m(), TypeError, "mlir: input 'x' of identity is missing."),
        (lambda m, x: m(None), TypeError, "mlir: input 'x' of identity is None. A tensor, "),
        (lambda m, x: m(3), TypeError, "mlir: input 'x' is int64[]. float32"),
        (lambda m, x: m(y=x), TypeError, "mlir: 'y' is no input of identity."),
        (lambda m, x: m(x, x=x), TypeError, "mlir: 'x' is given twice of identity."),
        (lambda m, x: m(x[:2]), ValueError, "mlir: input 'x' is float32[2]. float32[3] is"),
        (lambda m, x: m(x.astype("float64")), TypeError, "mlir: input 'x' is float64[3]."),
        (lambda m, x: mlir.load("there/is/none.mlir"), FileNotFoundError, "mlir.load: there/is"),
        (lambda m, x: mlir.load("module {\n}"), ValueError, "the text has no function."),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit(call, error, text):
    module = mlir.load(mlir.text(lambda x: x, floats(3), name="identity"))
    with pytest.raises(error) as raised:
        call(module, floats(3))
    assert text in str(raised.value)


def test_large_types_take_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kind = "tensor<1000000x1000000xf32>"
    text = f"func.func @main() -> {kind} {{\n  %c = stablehlo.constant dense<1.0> : {kind}\n" \
           f"  return %c : {kind}\n}}"  # fmt: skip
    assert mlir.load(text)().shape == (1000000, 1000000)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # KiB
