"""Weights in few bits: the same bits in every way of running, and what it costs."""

import itertools
import subprocess

import numpy as np
import plain_exports
import pytest

import composit
import composit.numpy as cnp
from composit import nn

F = "float32"
DRAW = np.random.default_rng(5)


def drawn(*shape):
    return DRAW.standard_normal(shape).astype(F)


def mlp(*sizes):
    weights = [
        cnp.asarray(drawn(m, n) / np.sqrt(np.float32(m)), name=f"w{i}")
        for i, (m, n) in enumerate(itertools.pairwise(sizes))
    ]

    def model(x):
        for weight in weights[:-1]:
            x = nn.gelu(x @ weight)
        return x @ weights[-1]

    return model


def turned(x):
    """As PyTorch's layers lie: (out, in), some columns behind the last whole tile."""
    return x @ cnp.asarray(TURNED, name="turned").T + cnp.asarray(BIAS)


def einsum(x):
    heads = cnp.reshape(x, (-1, 4, 32))
    return cnp.einsum("nhd,hdo->no", heads, cnp.asarray(HEADS, name="heads"))


TURNED, BIAS, HEADS = drawn(130, 128), drawn(130), drawn(4, 32, 100)
MODELS = {"mlp": mlp(128, 256, 192), "turned": turned, "einsum": einsum}
WAYS = [
    {"bits": 8},
    {"bits": 8, "group": 32},
    {"bits": 4, "group": 32},
    {"bits": 4},
    {"dtype": "float16"},
    {"dtype": "bfloat16"},
    {"dtype": "float8_e4m3fn"},
]


def bits_of(x):
    return np.asarray(x).view(np.uint32)


@pytest.mark.parametrize("rows", [1, 3, 8, 40])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_compiled_bits(name, way, rows):
    quantized = nn.quantize(MODELS[name], **way)
    x = drawn(rows, 128)
    compiled = composit.compile(quantized)
    np.testing.assert_array_equal(
        bits_of(compiled(x)), bits_of(composit.evaluate(quantized(cnp.asarray(x))))
    )
    assert not quantized.weights[0].kept_because
    after = next(step.after for step in compiled.passes if step.name == "decode_weights")
    assert ("DecodedContract" in after) == (rows <= 8)


def by_hand(weight, bits, group):
    """The weight that integers and scales stand for."""
    depth, columns = weight.shape
    most = 127 if bits == 8 else 7
    parts = weight.reshape(depth // group, group, columns)
    scales = np.abs(parts).max(1, keepdims=True) / np.float32(most)
    whole = np.clip(np.rint(parts / scales), -most, most).astype(np.int8)
    return (whole.astype(F) * scales).reshape(depth, columns)


@pytest.mark.parametrize("bits, group", [(8, 128), (8, 32), (4, 128), (4, 32)])
def test_values_by_hand(bits, group):
    weight = drawn(128, 200)
    quantized = nn.quantize(lambda x: x @ cnp.asarray(weight), bits=bits, group=group)
    np.testing.assert_array_equal(
        composit.evaluate(quantized(cnp.eye(128, dtype=F))), by_hand(weight, bits, group)
    )
    row = quantized.weights[0]
    error = by_hand(weight, bits, group).astype(float) - weight
    assert row.largest_error == pytest.approx(np.abs(error).max(), rel=1e-6)
    assert row.relative_error == pytest.approx(
        np.sqrt((error**2).mean() / (weight.astype(float) ** 2).mean()), rel=1e-6
    )
    assert (row.bytes_before, row.shape) == (weight.nbytes, (128, 200))
    assert row.bytes_after == weight.size * bits // 8 + 4 * 200 * (128 // group)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_values_of_short_floats(dtype):
    """Every number of the dtype is its own weight, compiled too: small ones, zeros and the largest.
    Others go to the nearest."""
    size = composit.dtype(dtype).itemsize
    patterns = np.resize(np.arange(1 << 8 * size), 1 << 16).astype(f"uint{8 * size}")
    exact = patterns.view(composit.dtype(dtype)).astype(F)
    exact = np.where(np.isfinite(exact), exact, 0).reshape(128, 512)
    between = drawn(128, 512)
    for weight in (exact, between):
        quantized = nn.quantize(lambda x, w=weight: x @ cnp.asarray(w), dtype=dtype)
        want = weight.astype(composit.dtype(dtype)).astype(F) + 0.0  # sums begin with +0
        for row in (0, 77, 127):
            one = np.zeros((1, 128), F)
            one[0, row] = 1
            np.testing.assert_array_equal(composit.compile(quantized)(one)[0], want[row])
            np.testing.assert_array_equal(
                composit.evaluate(quantized(cnp.asarray(one)))[0], want[row]
            )
        (stored,) = quantized.weights
        assert stored.bytes_after == size * weight.size
        assert stored.largest_error == np.abs(want - weight).max()


def test_a_calibration_chooses_scales_for_what_products_meet():
    """Columns that are multiplied with large numbers count for more."""
    large = np.where(np.arange(128) % 32 < 4, 30, 1).astype(F)
    calibration = [(drawn(64, 128) * large,) for _ in range(2)]
    plain = nn.quantize(MODELS["mlp"], bits=4, group=32)
    chosen = nn.quantize(MODELS["mlp"], bits=4, group=32, calibration=calibration)
    x = drawn(256, 128) * large
    exact = np.asarray(composit.evaluate(MODELS["mlp"](cnp.asarray(x))))

    def error(model):
        return np.square(np.asarray(composit.evaluate(model(cnp.asarray(x)))) - exact).mean()

    assert error(chosen) < 0.97 * error(plain)
    (errors,) = chosen.errors
    assert 0 < errors.relative < 0.3 and 0.5 < errors.same_argmax <= 1 and errors.largest > 0
    assert plain.errors == []
    assert chosen.report.startswith("weight  shape ")
    assert "output 0: relative error" in chosen.report


def test_what_stays_float32():
    small, odd = drawn(128, 16), drawn(100, 128)

    def model(x, y):
        return x @ cnp.asarray(small, name="small"), y @ cnp.asarray(odd, name="odd")

    quantized = nn.quantize(model, group=32)
    quantized(drawn(1, 128), drawn(1, 100))
    assert [(row.name, row.kept_because) for row in quantized.weights] == [
        ("small", "it has 2048 elements, fewer than 4096"),
        ("odd", "its depth 100 is no multiple of the group of 32"),
    ]
    assert "odd stays float32: its depth 100 is no multiple of the group of 32" in quantized.report


def test_a_weight_is_stored_once():
    weight = drawn(128, 128)

    def model(x):
        return (x @ cnp.asarray(weight)) @ cnp.asarray(weight)

    quantized = nn.quantize(model)
    for _ in range(2):
        quantized(drawn(1, 128))
    assert len(quantized.weights) == 1


LEFT, RIGHT, SQUARE = drawn(96, 128), drawn(128, 96), drawn(64, 65)


def two_shapes(x):
    """One matrix with columns of one axis, and of two."""
    w = cnp.asarray(SQUARE)
    return x @ w, cnp.einsum("bk,kij->bij", x, cnp.reshape(w, (64, 5, 13)))


ODD = {
    "weight on the left": (lambda x: cnp.asarray(LEFT) @ x, drawn(128, 3)),
    "large input": (lambda x: cnp.asarray(LEFT) @ x, drawn(128, 200)),
    "rows of two loops": (lambda x: x[:, :2] @ cnp.asarray(RIGHT), drawn(2, 4, 128)),
    "transposed rows": (lambda x: cnp.transpose(x, (1, 0, 2)) @ RIGHT, drawn(2, 3, 128)),
    "one matrix, two shapes": (two_shapes, drawn(2, 64)),
    "NumPy's weight": (lambda x: x @ RIGHT, drawn(2, 128)),
}


@pytest.mark.parametrize("way", [{"bits": 8}, {"bits": 4}, {"dtype": "float16"}], ids=str)
@pytest.mark.parametrize("name", ODD)
def test_inputs_are_no_weights(name, way):
    model, x = ODD[name]
    quantized = nn.quantize(model, **way, calibration=[(x,)])
    assert any(not row.kept_because for row in quantized.weights)
    assert quantized.errors[0].relative > 0
    eager = quantized(x)
    compiled = composit.compile(quantized)(x)
    for a, b in zip(*(y if isinstance(y, tuple) else (y,) for y in (eager, compiled)), strict=True):
        np.testing.assert_array_equal(bits_of(composit.evaluate(a)), bits_of(b))


def test_errors_of_infinite_outputs():
    mask = np.where(np.arange(96) % 7, 0, -np.inf).astype(F)
    quantized = nn.quantize(lambda x: x @ RIGHT + mask, bits=4, calibration=[(drawn(8, 128),)])
    (errors,) = quantized.errors
    assert 0.01 < errors.relative < 0.3 and 0 < errors.largest < np.inf


def test_a_weight_without_elements():
    nothing = np.zeros((0, 5), F)
    quantized = nn.quantize(lambda x: x @ nothing, least_elements=0)
    np.testing.assert_array_equal(
        composit.evaluate(quantized(np.zeros((2, 0), F))), np.zeros((2, 5))
    )
    assert quantized.weights[0].kept_because == "it has no elements"


def test_gradients_go_through_the_stored_weights():
    quantized = nn.quantize(MODELS["turned"], bits=8)
    x = drawn(2, 128)
    found = composit.evaluate(composit.grad(lambda x: quantized(x).sum())(cnp.asarray(x)))
    weight = by_hand(TURNED.T.copy(), 8, 128)
    np.testing.assert_allclose(found, np.broadcast_to(weight.sum(1), x.shape), rtol=1e-4, atol=1e-4)


def test_models_of_pytorch():
    torch = pytest.importorskip("torch")
    from composit import flashlight

    model = torch.nn.Sequential(
        torch.nn.Linear(128, 256), torch.nn.GELU(), torch.nn.Linear(256, 100)
    )
    x = drawn(4, 128)
    traced = flashlight.trace(model, torch.from_numpy(x))
    quantized = nn.quantize(traced)
    got = np.asarray(composit.compile(quantized)(x))
    with torch.no_grad():
        want = model(torch.from_numpy(x)).numpy()
    assert [row.kept_because for row in quantized.weights] == ["", ""]
    assert np.abs(got - want).max() < 0.05 * np.abs(want).max()


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("way", [*WAYS[1:3], *WAYS[4:]], ids=str)
def test_exported_bits(way, compiler, tmp_path):
    quantized = nn.quantize(MODELS["turned"], **way)
    x = drawn(3, 128)
    compiled = composit.compile(quantized, x)
    want = bits_of(compiled(x))
    sources = [file for file in compiled.export(tmp_path) if file.endswith(".cpp")]
    flags = ["-std=c++17", "-O1", *plain_exports.WARNINGS]
    subprocess.run([compiler, *flags, *sources, "-pthread", "-o", "run"], cwd=tmp_path, check=True)
    x.tofile(tmp_path / "x")
    subprocess.run(["./run", "turned_", "x", "y"], cwd=tmp_path, check=True)
    got = np.fromfile(tmp_path / "y", np.uint32).reshape(want.shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("way", [*WAYS[1:3], *WAYS[4:]], ids=str)
def test_plain_bits(way, tmp_path):
    quantized = nn.quantize(MODELS["turned"], **way)
    x = drawn(2, 128)
    compiled = composit.compile(quantized, x)
    want = np.asarray(compiled(x))
    plain_exports.export(compiled, tmp_path, "c", "turned")
    out = np.zeros_like(want)
    program = plain_exports.build(tmp_path, "turned", "turned", "c", "gcc", [x], [out])
    status, (got,) = plain_exports.run(program, tmp_path, [x], [out])
    assert status == 0
    np.testing.assert_array_equal(bits_of(got), bits_of(want))


REFUSED = [
    (lambda: nn.quantize(turned, bits=3), "quantize: bits is 3. 8 or 4 is required."),
    (
        lambda: nn.quantize(turned, group=-1),
        "quantize: group is -1. A positive number of elements is required, or 0 for all.",
    ),
    (
        lambda: nn.quantize(turned, dtype="int8"),
        "quantize: dtype is int8. A float of 16 or eight bits is required; bits are for integers.",
    ),
    (
        lambda: nn.quantize(turned, dtype="float16", group=32),
        "quantize: weights of float16 have no scales, but group is 32. 0 is required.",
    ),
    (
        lambda: nn.quantize(turned, dtype="float16", bits=8),
        "quantize: both bits=8 and dtype=float16 are given. One of the two is required.",
    ),
    (
        lambda: nn.quantize(
            lambda x: x @ cnp.asarray(np.full((64, 64), 65520, F), name="w"), dtype="float16"
        )(drawn(1, 64)),
        "quantize: the weight 'w' has the element 65520, which float16 has no finite number for. "
        "A smaller one, bfloat16 or bits is required.",
    ),
    (
        lambda: nn.quantize(turned, calibration=[drawn(1, 128)]),
        "quantize: an element of calibration is ndarray. A tuple of arguments is required.",
    ),
    (
        lambda: nn.quantize(lambda x: x @ cnp.asarray(np.full((64, 64), np.inf, F), name="w"))(
            drawn(1, 64)
        ),
        "quantize: the weight 'w' has the element inf. Finite elements are required.",
    ),
    (
        lambda: composit.compile(lambda x: nn.quantize(turned, calibration=[(x,)])(x))(
            drawn(1, 128)
        ),
        "quantize: what a weight is multiplied with is not known",
    ),
]


@pytest.mark.parametrize("call, message", REFUSED)
def test_refused(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value).startswith(message)
