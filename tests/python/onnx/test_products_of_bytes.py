"""Products of quantised numbers, with and without zero points: exact, in each way of running, and
by the kernels that multiply bytes."""

import subprocess

import numpy as np
import onnx
import onnx.reference
import plain_exports
import pytest
from onnx import TensorProto, helper, numpy_helper

import composit.onnx as co

BYTES = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8}
WAYS = (
    {"backend": "interpreter"},
    {"threads": 1},
    {"threads": 2},
)


def model(operation, operands, outputs, **attributes):
    """Of a node whose named operands are the model's inputs; those of other names are constants."""
    inputs, constants = [], []
    for name, value in operands:
        if value is None:
            continue
        if name.startswith("constant"):
            constants.append(numpy_helper.from_array(value, name))
        else:
            kind = BYTES.get(value.dtype, TensorProto.FLOAT)
            inputs.append(helper.make_tensor_value_info(name, kind, value.shape))
    names = [name if value is not None else "" for name, value in operands]
    node = helper.make_node(operation, names, ["y"], **attributes)
    rank = max(value.ndim for _, value in operands if value is not None)
    output = helper.make_tensor_value_info("y", outputs, [f"length_{i}" for i in range(rank)])
    graph = helper.make_graph([node], "g", inputs, [output], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    onnx.checker.check_model(made)
    given = [v for n, v in operands if v is not None and not n.startswith("constant")]
    return co.load(made.SerializeToString()), given


def kinds(compiled, given):
    return [kernel.kind for kernel in compiled.specialise(*given).kernels]


def draw(random, shape, dtype):
    numbers = np.iinfo(dtype)
    return random.integers(numbers.min, numbers.max + 1, shape).astype(dtype)


def wide(x):
    return x.astype(np.int32)


@pytest.mark.parametrize("left", (np.int8, np.uint8))
@pytest.mark.parametrize("right", (np.int8, np.uint8))
def test_products_of_matrices(left, right):
    random = np.random.default_rng(3)
    for zeros in ("none", "0", "numbers", "rows and columns"):
        batch = [(), (3,)][random.integers(2)]
        a, b = draw(random, (*batch, 41, 67), left), draw(random, (*batch, 67, 50), right)
        za = zb = None
        if zeros == "0":
            za, zb = np.zeros((), left), np.zeros((), right)
        elif zeros == "numbers":
            za, zb = draw(random, (), left), draw(random, (), right)
        elif zeros == "rows and columns":
            za, zb = draw(random, (41,), left), draw(random, (50,), right)
        expected = (wide(a) - (0 if za is None else wide(za).reshape(-1, 1))) @ (
            wide(b) - (0 if zb is None else wide(zb))
        )
        for name in ("zero", "constant zero"):
            operands = [("a", a), ("constant b", b), (f"{name} a", za), (f"{name} b", zb)]
            made, given = model("MatMulInteger", operands, TensorProto.INT32)
            np.testing.assert_array_equal(np.asarray(made(*given)), expected)
            for options in WAYS:
                compiled = made.compile(*given, **options)
                np.testing.assert_array_equal(compiled(*given), expected)
                found = kinds(compiled, given)
                assert "ByteContract" in found and "Contract" not in found, (zeros, found)
                if zeros in ("none", "0") and name == "constant zero":
                    assert found == ["ByteContract"]


def windows(x, filters, zero, strides, pads, groups):
    """The sums of (x - zero) * filters, outside x of nothing."""
    padded = np.pad(wide(x) - zero, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    seen = np.lib.stride_tricks.sliding_window_view(padded, filters.shape[2:], (2, 3))
    seen = seen[:, :, :: strides[0], :: strides[1]]
    parts = zip(np.split(seen, groups, 1), np.split(wide(filters), groups, 0), strict=True)
    return np.concatenate([np.einsum("nchwij,ocij->nohw", *part) for part in parts], 1)


@pytest.mark.parametrize("dtype", (np.int8, np.uint8))
def test_windows(dtype):
    random = np.random.default_rng(4)
    for groups, strides, pads in ((1, (1, 1), (1, 1, 1, 1)), (1, (2, 1), (0, 0, 0, 0)),
                                  (2, (1, 2), (2, 0, 1, 1))):  # fmt: skip
        x = draw(random, (2, 12, 17, 15), dtype)
        filters = draw(random, (24, 12 // groups, 3, 3), np.int8)
        for zero in (None, np.zeros((), dtype), draw(random, (), dtype)):
            shown = 0 if zero is None else int(zero)
            expected = windows(x, filters, shown, strides, pads, groups)
            for name in ("zero", "constant zero"):
                operands = [("x", x), ("constant w", filters), (name, zero)]
                made, given = model(
                    "ConvInteger", operands, TensorProto.INT32,
                    strides=strides, pads=pads, group=groups,
                )  # fmt: skip
                np.testing.assert_array_equal(np.asarray(made(*given)), expected)
                for options in WAYS:
                    compiled = made.compile(*given, **options)
                    np.testing.assert_array_equal(compiled(*given), expected)
                    found = kinds(compiled, given)
                    assert "ByteContract" in found and "Contract" not in found, found


def test_filters_with_zero_points():
    """Factors of nine bits: products of int32."""
    random = np.random.default_rng(5)
    x, filters = draw(random, (1, 3, 9, 9), np.uint8), draw(random, (4, 3, 3, 3), np.uint8)
    zeros = draw(random, (4,), np.uint8)
    centred = wide(filters) - wide(zeros).reshape(-1, 1, 1, 1)
    expected = windows(x, centred, 7, (1, 1), (1, 1, 1, 1), 1)
    operands = [("x", x), ("constant w", filters), ("constant zero", np.array(7, np.uint8)),
                ("constant zeros", zeros)]  # fmt: skip
    made, given = model("ConvInteger", operands, TensorProto.INT32, pads=(1, 1, 1, 1))
    for options in WAYS:
        np.testing.assert_array_equal(made.compile(*given, **options)(*given), expected)


def dequantized(operation, x, weights, axis, bias=None, **attributes):
    """x (floats, quantised on the way) and weights as (numbers, scales), through an operator."""
    numbers, scales = weights
    constants = {
        "sx": np.float32(0.031), "zx": np.uint8(101), "w": numbers, "sw": scales,
        "zw": np.zeros(scales.shape, np.int8),
    }  # fmt: skip
    if bias is not None:
        constants["bias"] = bias
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "sx", "zx"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "sw", "zw"], ["f"], axis=axis),
        helper.make_node(
            operation, ["d", "f"] + ["bias"] * (bias is not None), ["y"], **attributes
        ),
    ]
    lengths = [f"length_{i}" for i in range(x.ndim)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, lengths)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    onnx.checker.check_model(made)
    quantum, zero = np.float32(0.031), np.float32(101)
    seen = np.clip(np.rint(x / quantum) + zero, 0, 255).astype(np.uint8)
    return made, wide(seen) - 101


def check_dequantized(made, x, expected):
    """To the bit, in each way of running; and as onnx's evaluator rounds sums of floats."""
    loaded = co.load(made.SerializeToString())
    [floats] = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})
    np.testing.assert_allclose(expected, floats, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(np.asarray(loaded(x)), expected)
    for options in WAYS:
        compiled = loaded.compile(x, **options)
        np.testing.assert_array_equal(compiled(x), expected)
        found = kinds(compiled, [x])
        assert "ByteContract" in found and "Contract" not in found, found


@pytest.mark.parametrize("by_filter", (False, True))
def test_convolutions_of_dequantized_numbers(by_filter):
    random = np.random.default_rng(6)
    x = random.standard_normal((2, 5, 14, 13)).astype(np.float32)
    filters = draw(random, (6, 5, 3, 3), np.int8)
    scales = random.uniform(0.01, 0.02, (6,) if by_filter else ()).astype(np.float32)
    bias = random.standard_normal(6).astype(np.float32)
    made, centred = dequantized("Conv", x, (filters, scales), 0, bias, pads=(1, 1, 1, 1))
    sums = windows(centred, filters, 0, (1, 1), (1, 1, 1, 1), 1).astype(np.float32)
    factor = (np.float32(0.031) * scales).reshape((-1, 1, 1) if by_filter else ())
    check_dequantized(made, x, sums * factor + bias.reshape(-1, 1, 1))


@pytest.mark.parametrize("by_column", (False, True))
@pytest.mark.parametrize("operation", ("MatMul", "Gemm", "Gemm, transposed"))
def test_products_of_dequantized_numbers(operation, by_column):
    random = np.random.default_rng(7)
    x = random.standard_normal((37, 65)).astype(np.float32)
    weights = draw(random, (65, 48), np.int8)
    scales = random.uniform(0.01, 0.02, (48,) if by_column else ()).astype(np.float32)
    is_turned = operation == "Gemm, transposed"
    given = np.ascontiguousarray(weights.T) if is_turned else weights
    made, centred = dequantized(
        operation.split(",")[0], x, (given, scales), 0 if is_turned else 1,
        **({"transB": 1} if is_turned else {}),
    )  # fmt: skip
    sums = (centred @ wide(weights)).astype(np.float32)
    check_dequantized(made, x, sums * (np.float32(0.031) * scales))


def test_depths_whose_sums_might_not_fit_stay_floats():
    random = np.random.default_rng(8)
    x = random.standard_normal((4, 33_001)).astype(np.float32)
    weights = draw(random, (33_001, 40), np.int8)
    made, _ = dequantized("MatMul", x, (weights, np.float32(0.01)), 1)
    loaded = co.load(made.SerializeToString())
    found = kinds(loaded.compile(x), [x])
    assert "Contract" in found and "ByteContract" not in found


def rounded(x, scale, zero):
    return np.clip(np.rint(x / np.float32(scale)) + np.float32(zero), 0, 255).astype(np.uint8)


def test_a_network_of_dequantized_numbers(tmp_path):
    """Two convolutions, the numbers between them read by a residual, too: every product is one of
    bytes, the last one makes the next numbers where it is formed."""
    random = np.random.default_rng(9)
    x = random.standard_normal((1, 8, 21, 20)).astype(np.float32)
    first, second = draw(random, (16, 8, 3, 3), np.int8), draw(random, (16, 16, 1, 1), np.int8)
    scales = random.uniform(0.004, 0.006, 16).astype(np.float32)
    bias = random.standard_normal(16).astype(np.float32)
    quanta = {"0": (0.03, 120), "1": (0.08, 3), "2": (0.5, 100)}
    constants = {"f1": first, "f2": second, "sf": scales, "bias": bias}
    for name, (scale, zero) in quanta.items():
        constants |= {f"s{name}": np.float32(scale), f"z{name}": np.uint8(zero)}
    node = helper.make_node
    nodes = []
    for name, source in (("0", "x"), ("1", "r"), ("2", "t")):
        nodes += [
            node("QuantizeLinear", [source, f"s{name}", f"z{name}"], [f"q{name}"]),
            node("DequantizeLinear", [f"q{name}", f"s{name}", f"z{name}"], [f"d{name}"]),
        ]
    nodes[2:2] = [
        node("DequantizeLinear", ["f1", "sf"], ["w1"], axis=0),
        node("Conv", ["d0", "w1", "bias"], ["c1"], pads=(1, 1, 1, 1)),
        node("Relu", ["c1"], ["r"]),
    ]
    nodes[7:7] = [
        node("DequantizeLinear", ["f2", "sf"], ["w2"], axis=0),
        node("Conv", ["d1", "w2"], ["c2"]),
        node("Add", ["c2", "d1"], ["t"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("d2", TensorProto.FLOAT, (1, 16, 21, 20))],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    onnx.checker.check_model(made)

    def floats(sums, scale):
        return sums.astype(np.float32) * scale

    per_filter = scales.reshape(-1, 1, 1)
    q0 = rounded(x, *quanta["0"])
    sums = windows(q0, first, 120, (1, 1), (1, 1, 1, 1), 1)
    seen = floats(sums, np.float32(0.03) * per_filter) + bias.reshape(-1, 1, 1)
    q1 = rounded(np.maximum(seen, 0), *quanta["1"])
    sums = windows(q1, second, 3, (1, 1), (0, 0, 0, 0), 1)
    added = floats(sums, np.float32(0.08) * per_filter) + floats(wide(q1) - 3, np.float32(0.08))
    expected = floats(wide(rounded(added, *quanta["2"])) - 100, np.float32(0.5))

    loaded = co.load(made.SerializeToString())
    np.testing.assert_array_equal(np.asarray(loaded(x)), expected)
    for options in WAYS:
        compiled = loaded.compile(x, **options)
        np.testing.assert_array_equal(compiled(x), expected)
        found = kinds(compiled, [x])
        assert found.count("ByteContract") == 2 and "Contract" not in found, found
    sources = [file for file in compiled.export(tmp_path, x) if file.endswith(".cpp")]
    flags = ["-std=c++17", "-O1", *plain_exports.WARNINGS]
    subprocess.run(["g++", *flags, *sources, "-pthread", "-o", "run"], cwd=tmp_path, check=True)
    x.tofile(tmp_path / "x")
    subprocess.run(["./run", "model_", "x", "y"], cwd=tmp_path, check=True)
    found = np.fromfile(tmp_path / "y", np.float32).reshape(expected.shape)
    np.testing.assert_array_equal(found, expected)
