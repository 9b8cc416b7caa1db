"""Files that are damaged, or made to harm: errors, never a crash, a long wait or a large
allocation."""

import random
import resource

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import composit.onnx

FLOAT = TensorProto.FLOAT
ERRORS = (
    ValueError, TypeError, IndexError, KeyError, OverflowError, NotImplementedError, RuntimeError,
    OSError, ZeroDivisionError, MemoryError,
)  # fmt: skip


def tensor(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def small_models():
    """Models with products, windows, shapes that are computed, strings, functions and loops."""
    rng = np.random.default_rng(0)

    def model(nodes, inputs, outputs, constants=(), **options):
        graph = helper.make_graph(
            nodes, "g", inputs, outputs,
            [numpy_helper.from_array(np.asarray(v), k) for k, v in dict(constants).items()],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
        return helper.make_model(graph, opset_imports=opsets, **options).SerializeToString()

    x = tensor("x", ["n", 1, 6, 6])
    weights = {"w": rng.standard_normal((2, 1, 3, 3)).astype("float32"), "s": np.array([0, -1])}
    yield model(
        [
            helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
            helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Reshape", ["b", "s"], ["c"]),
            helper.make_node("Softmax", ["c"], ["y"]),
        ],
        [x], [tensor("y", None)], weights,
    )  # fmt: skip
    function = helper.make_function(
        "f", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 21)],
    )  # fmt: skip
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Twice", ["v"], ["next"], domain="f"),
        ],
        "body",
        [tensor("i", [], TensorProto.INT64), tensor("go", [], TensorProto.BOOL), tensor("v", None)],
        [tensor("on", [], TensorProto.BOOL), tensor("next", None)],
    )
    yield model(
        [
            helper.make_node("Shape", ["x"], ["p"]),
            helper.make_node("Loop", ["count", "", "x"], ["q"], body=body),
            helper.make_node("Slice", ["q", "a", "p"], ["r"]),
            helper.make_node("ReduceSum", ["r"], ["y"], keepdims=0),
        ],
        [x], [tensor("y", None)], {"count": np.int64(3), "a": np.zeros(4, "int64")},
        functions=[function],
    )  # fmt: skip
    text = helper.make_tensor("t", TensorProto.STRING, [2], [b"a b", b"c"])
    split = helper.make_node("StringSplit", ["t"], ["y", "z"], delimiter=" ")
    graph = helper.make_graph([split], "g", [], [tensor("z", [2], TensorProto.INT64)], [text])
    opsets = [helper.make_opsetid("", 21)]
    yield helper.make_model(graph, opset_imports=opsets).SerializeToString()


def mutated(content, rng):
    """One to four bytes changed, left out, doubled or cut off."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content))
        kind = rng.randrange(5)
        if kind == 0:
            content[at] = rng.randrange(256)
        elif kind == 1:
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del content[at : at + rng.randint(1, 8)]
        elif kind == 3:
            content[at:at] = content[at : at + rng.randint(1, 16)]
        elif len(content) > 8:
            del content[-rng.randint(1, 4) :]
    return bytes(content)


def tried(content):
    """Whether a file was read and called; otherwise it was an error of a class that users know."""
    try:
        model = composit.onnx.load(content)
        inputs = [
            np.ones([n if isinstance(n, int) and 0 < n < 9 else 1 for n in value.shape or ()],
                    value.dtype if value.dtype not in ("string", "undefined") else "float32")
            for value in model.inputs
        ]  # fmt: skip
        model(*inputs)
    except ERRORS as error:
        assert "internal error" not in str(error)
        return False
    return True


@pytest.mark.parametrize("number", range(3))
def test_damaged_files_are_errors_or_models(number):
    content = list(small_models())[number]
    assert tried(content)
    rng = random.Random(number)
    results = [tried(mutated(content, rng)) for _ in range(350)]
    assert any(results) and not all(results)


def test_every_cut_of_a_file_is_an_error_or_a_model():
    content = next(small_models())
    assert not any(tried(content[:length]) for length in range(1, len(content) // 2))


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def test_deep_nesting_is_refused():
    graph = b""
    for _ in range(5000):
        # A graph with a node with an attribute with that graph.
        graph = field(1, field(5, field(6, graph)))
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        composit.onnx.load(field(7, graph))


def test_lengths_that_the_file_does_not_have_are_refused_without_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    huge = varint(7 << 3 | 2) + varint(2**62)
    with pytest.raises(ValueError, match="a field of 4611686018427387904 bytes begins where"):
        composit.onnx.load(huge)
    for dims in ([2**40], [2**32, 2**32], [-1], [2**62, 4]):
        sizes = b"".join(varint(1 << 3) + varint(n % 2**64) for n in dims)
        initializer = sizes + varint(2 << 3) + varint(1) + field(8, b"w") + field(9, b"abcd")
        with pytest.raises(ValueError, match="tensor 'w'"):
            composit.onnx.load(field(7, field(5, initializer)))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # KiB


def test_functions_that_double_one_another_are_bounded():
    functions = []
    for i in range(40):
        called = f"F{i - 1}" if i else "Identity"
        domain = "f" if i else ""
        nodes = [
            helper.make_node(called, ["a"], ["b"], domain=domain),
            helper.make_node(called, ["b"], ["c"], domain=domain),
        ]
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
        functions.append(helper.make_function("f", f"F{i}", ["a"], ["c"], nodes, opsets))
    graph = helper.make_graph(
        [helper.make_node("F39", ["x"], ["y"], domain="f")], "g", [tensor("x", [1])],
        [tensor("y", [1])],
    )  # fmt: skip
    model = helper.make_model(graph, functions=functions, opset_imports=opsets)
    with pytest.raises(ValueError, match="more than 1048576 nodes"):
        composit.onnx.load(model)(np.ones(1, "float32"))


def test_a_function_that_calls_itself_is_refused():
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    node = helper.make_node("F", ["a"], ["b"], domain="f")
    function = helper.make_function("f", "F", ["a"], ["b"], [node], opsets)
    graph = helper.make_graph(
        [helper.make_node("F", ["x"], ["y"], domain="f")], "g", [tensor("x", [1])],
        [tensor("y", [1])],
    )  # fmt: skip
    model = helper.make_model(graph, functions=[function], opset_imports=opsets)
    with pytest.raises(ValueError, match="nested more than 256 deep"):
        composit.onnx.load(model)(np.ones(1, "float32"))
