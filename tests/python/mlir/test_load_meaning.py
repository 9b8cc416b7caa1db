"""Programs of StableHLO whose meaning at the edges is XLA's: numbers that fit in no dtype, divisors
of 0, NaN, padding, windows that do not fit; what composit itself writes stays composit's."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from stablehlo_runner import run

import composit.numpy as cnp
from composit import mlir


def program(body, result, *types):
    """A text whose @main takes %x0, … and returns %0."""
    inputs = ", ".join(f"%x{k}: {kind}" for k, kind in enumerate(types))
    return f"func.func @main({inputs}) -> {result} {{\n  {body}\n  return %0 : {result}\n}}"


def same(text, *arguments):
    """That both give the same bits; any NaN equals any other."""
    (expected,) = run(text, arguments)
    found = np.asarray(mlir.load(text)(*arguments))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)
    return found


KINDS = {"int8": "i8", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint32": "ui32",
         "uint64": "ui64", "float16": "f16", "bfloat16": "bf16", "float32": "f32",
         "float64": "f64", "bool": "i1"}  # fmt: skip
INTEGERS = ["int8", "int32", "int64", "uint8", "uint32", "uint64"]


def kind(x):
    lengths = "".join(f"{n}x" for n in x.shape)
    return f"tensor<{lengths}{KINDS[str(x.dtype)]}>"


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "operation",
    ["divide", "remainder", "shift_left", "shift_right_arithmetic", "shift_right_logical"],
)
def test_integers_of_two_operands(operation, dtype):
    info = np.iinfo(dtype)
    some = np.array([info.min, info.max, 0, 1, 7, info.max // 2 + 3, 40, 65], "object")
    a, b = (np.array(x.ravel(), dtype) for x in np.meshgrid(some, some))
    if info.min < 0:
        b = np.where(b == 40, -1, b).astype(dtype)
    body = f"%0 = stablehlo.{operation} %x0, %x1 : {kind(a)}"
    same(program(body, kind(a), kind(a), kind(a)), a, b)


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("given", ["float16", "bfloat16", "float32", "float64"])
def test_floats_become_the_nearest_integer_there_is(given, to):
    some = [0, -0.0, 1.9, -1.9, 300, -300, 127, 128, -128, -129, 65504, 1e10, -1e10, 1e30, -1e30]
    some += [2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 4294967040.0, 0.5, -0.5]
    with np.errstate(over="ignore"):
        x = np.array([*some, np.inf, -np.inf, np.nan], "float64").astype(jnp.dtype(given))
    result = f"tensor<{len(x)}x{KINDS[to]}>"
    text = program(f"%0 = stablehlo.convert %x0 : ({kind(x)}) -> {result}", result, kind(x))
    found = np.asarray(mlir.load(text)(x))
    info = np.iinfo(to)
    whole = [0 if np.isnan(v) else max(info.min, min(info.max, int(np.clip(v, -1e40, 1e40))))
             for v in x.astype("float64")]  # fmt: skip
    assert (found == np.array(whole, to)).all()
    if to in ("int32", "int64", "uint8") and given in ("float32", "float64"):
        same(text, x)


def test_what_composit_wrote_stays_its_own():
    a, b = np.int32([7, -7, -(2**31), 5]), np.int32([0, 0, -1, 2])
    x = np.float32([1e10, -1e10, np.nan, 2.5])

    def edges(a, b, x):
        whole = [x.astype(dtype) for dtype in ("int32", "uint8", "int64", "uint64")]
        half = x.astype("float16").astype("int16")
        number = (x + 1j).astype("int32")
        return (cnp.floor_divide(a, b), cnp.fmod(a, b), cnp.remainder(a, b), half, number, *whole)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = mlir.text(edges, a, b, x)
        assert text.count('"composit.astype"') == 6
        expected = edges(*map(cnp.asarray, (a, b, x)))
        found, compiled = mlir.load(text)(a, b, x), mlir.load(text).compile()(a, b, x)
        for y, one, other in zip(expected, found, compiled, strict=True):
            y = np.asarray(y)
            assert y.tobytes() == np.asarray(one).tobytes() == np.asarray(other).tobytes()
    run(text, (a, b, x))


def test_complex_numbers_are_true_by_their_real_part():
    text = program("%0 = stablehlo.convert %x0 : (tensor<3xcomplex<f32>>) -> tensor<3xi1>",
                   "tensor<3xi1>", "tensor<3xcomplex<f32>>")  # fmt: skip
    assert list(same(text, np.complex64([1j, 1, 0]))) == [False, True, False]


def test_operands_are_broadcast_along_the_axes_that_are_said():
    x, y = np.float32([1, 2, 3]), np.arange(9, dtype="float32").reshape(3, 3)
    body = "%0 = chlo.broadcast_add %x0, %x1 {} : (tensor<3xf32>, tensor<3x3xf32>) -> " \
           "tensor<3x3xf32>"  # fmt: skip
    square = "tensor<3x3xf32>"

    def added(dimensions):
        said = body.replace("{}", f"{{broadcast_dimensions = array<i64: {dimensions}>}}")
        return np.asarray(mlir.load(program(said, square, "tensor<3xf32>", square))(x, y))

    assert (added("0") == x[:, None] + y).all()
    assert (added("1") == x + y).all()
    plain = program(body.replace("{} ", ""), square, "tensor<3xf32>", square)
    assert (np.asarray(mlir.load(plain)(x, y)) == x + y).all()
    for wrong in ("2", "0, 1"):
        with pytest.raises(ValueError, match="broadcast_dimensions"):
            added(wrong)


@pytest.mark.parametrize(
    "first, comparison, end, step, dtype, expected",
    [
        (0, "LT", 120, 50, "int8", 126),  # 0, 50, 100, -106, …
        (0, "LT", 6, 2, "int8", 6),
        (250, "GE", 200, 3, "uint8", 0),
        (2**63, "LT", 2**63 + 5, 2, "uint64", 2**63 + 6),
        (3, "GT", 1, 2**64 - 1, "uint64", 1),
        (-(2**63), "LT", -(2**63) + 4, 2, "int64", -(2**63) + 4),
        (-(2**63), "NE", -(2**63), 1, "int64", -(2**63)),
        (2**63 - 3, "LE", 2**63 - 2, 1, "int64", 2**63 - 1),
    ],
)
def test_counters_that_wrap_around(first, comparison, end, step, dtype, expected):
    one = f"tensor<{KINDS[dtype]}>"
    x, last, by = (np.array(v, dtype) for v in (first, end, step))
    sign = "UNSIGNED" if dtype.startswith("u") else "SIGNED"

    def number(value):
        return f"stablehlo.constant dense<{value}> : {one}"

    text = program(
        f"""%s = {number(x)}
  %e = {number(last)}
  %b = {number(by)}
  %0 = stablehlo.while(%a = %s) : {one}
  cond {{
    %c = stablehlo.compare {comparison}, %a, %e, {sign} : ({one}, {one}) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %n = stablehlo.add %a, %b : {one}
    stablehlo.return %n : {one}
  }}""",
        one,
    )
    assert same(text) == np.array(expected, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_greatest_begin_with_nan(dtype):
    x = np.array([1, np.nan, -np.inf, 0.0, -0.0, np.inf, -np.nan, 2, np.nan, 0.0], dtype)
    values, places = lax.top_k(x, 6)
    text = jax.jit(lambda x: lax.top_k(x, 6)).lower(x).as_text()
    found = mlir.load(text)(x)
    np.testing.assert_array_equal(np.asarray(found[0]), values)
    np.testing.assert_array_equal(np.asarray(found[1]), places)


def selecting(x, source, window, padding, direction="GE"):
    lists = ", ".join(f"[{low}, {high}]" for low, high in padding)
    body = f"""%z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x0, %x1, %z) <{{
    padding = dense<[{lists}]> : tensor<{x.ndim}x2xi64>,
    window_dimensions = array<i64: {window}>, window_strides = array<i64: {window}>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare {direction}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) : ({kind(x)}, {kind(source)}, tensor<f32>) -> {kind(x)}"""
    return program(body, kind(x), kind(x), kind(source))


def test_pools_gradients_with_padding():
    source = np.float32([10, 20])
    x = np.float32([5, 1, 3, 4, 2])
    same(selecting(x, source, 2, [(-1, 0)]), x, source)
    same(selecting(x, source, 2, [(0, -1)]), x, source)
    least = np.float32([-np.inf, -np.inf, 3])
    found = same(selecting(least, source, 2, [(1, 0)]), least, source)
    assert list(found) == [10, 0, 20]
    found = same(selecting(-least, source, 2, [(1, 0)], "LE"), -least, source)
    assert list(found) == [10, 0, 20]


def test_windows_that_do_not_fit_give_nothing():
    x = np.float32([1, 2])
    summed = """%z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x0, %z) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2xf32>, tensor<f32>) -> tensor<0xf32>"""
    same(program(summed, "tensor<0xf32>", "tensor<2xf32>"), x)
    same(program(summed.replace("stablehlo.add", "stablehlo.divide"), "tensor<0xf32>",
                 "tensor<2xf32>"), x)  # fmt: skip
    image, filters = np.ones((1, 1, 2), "float32"), np.ones((3, 1, 2), "float32")
    convolved = "%0 = stablehlo.convolution(%x0, %x1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, " \
        "0], window = {pad = [[-1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 " \
        ": i64} : (tensor<1x1x2xf32>, tensor<3x1x2xf32>) -> tensor<1x3x0xf32>"  # fmt: skip
    same(program(convolved, "tensor<1x3x0xf32>", kind(image), kind(filters)), image, filters)


def grouped(image, filters, result, batches=1, groups=1):
    return program(
        "%0 = stablehlo.convolution(%x0, %x1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], "
        f"window = {{}} {{batch_group_count = {batches} : i64, feature_group_count = {groups} : "
        f"i64}} : ({image}, {filters}) -> {result}",
        result, image, filters)  # fmt: skip


def test_groups_of_batches():
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 9, (6, 2, 5)).astype("float32")
    w = rng.integers(-9, 9, (9, 2, 2)).astype("float32")
    same(grouped(kind(x), kind(w), "tensor<2x9x4xf32>", 3), x, w)
    # As many groups as nobody can make one by one.
    many = 2**44
    empty, nothing = np.zeros((0, 2, 5), "float32"), np.zeros((0, 2, 2), "float32")
    for text, arguments in [
        (grouped(kind(empty), kind(nothing), "tensor<0x0x4xf32>", many), (empty, nothing)),
        (grouped("tensor<1x0x5xf32>", "tensor<0x0x2xf32>", "tensor<1x0x4xf32>", 1, many),
         (np.zeros((1, 0, 5), "float32"), np.zeros((0, 0, 2), "float32"))),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match="17592186044416 groups"):
            mlir.load(text)(*arguments)


def test_starts_that_only_ui64_has():
    x = np.float32([1, 2, 3, 4])
    body = "%0 = stablehlo.dynamic_slice %x0, %x1, sizes = [2] : (tensor<4xf32>, tensor<ui64>) " \
           "-> tensor<2xf32>"  # fmt: skip
    text = program(body, "tensor<2xf32>", "tensor<4xf32>", "tensor<ui64>")
    for start in (1, 2**63, 2**64 - 1):
        same(text, x, np.uint64(start))
    gathered = """%0 = "stablehlo.gather"(%x0, %x1) <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 2>}> : (tensor<4xf32>, tensor<2x1xui64>) -> tensor<2x2xf32>"""
    places = np.uint64([[1], [2**63 + 1]])
    same(program(gathered, "tensor<2x2xf32>", "tensor<4xf32>", kind(places)), x, places)
