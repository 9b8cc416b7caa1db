"""Products and convolutions of int8 with exact sums, as ONNX's models of quantised numbers have
them."""

import numpy as np
from group import main
from measure import Case, Sides
from peers import onnx_session_of_file


def drawn(shape, dtype):
    numbers = np.iinfo(dtype)
    return np.random.default_rng(1).integers(numbers.min, numbers.max + 1, shape).astype(dtype)


def operator(name, x, weights, products, **attributes):
    """A node over x and constant weights, with a zero point of x."""

    def prepare(threads):
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        import composit.onnx

        kind = TensorProto.UINT8 if x.dtype == np.uint8 else TensorProto.INT8
        node = helper.make_node(name, ["x", "weights", "zero"], ["y"], **attributes)
        constants = [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(np.array(113, x.dtype), "zero"),
        ]
        graph = helper.make_graph(
            [node], name,
            [helper.make_tensor_value_info("x", kind, x.shape)],
            [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
            constants,
        )  # fmt: skip
        version = helper.make_opsetid("", 21)
        content = helper.make_model(graph, opset_imports=[version], ir_version=10)
        content = onnx.shape_inference.infer_shapes(content).SerializeToString()
        compiled = composit.onnx.load(content).compile(threads=threads)
        session = onnx_session_of_file(content, threads)

        def ours():
            return compiled(x)

        def theirs():
            return session.run(None, {"x": x})

        np.testing.assert_array_equal(ours(), theirs()[0])
        moved = x.nbytes + weights.nbytes + ours().nbytes
        return Sides(ours, {"ONNX Runtime": theirs}, 2 * products, moved)

    return prepare


def cases():
    for rows, depth, columns in ((512, 512, 512), (128, 768, 3072), (1, 768, 3072)):
        yield Case(
            f"MatMulInteger, {rows} x {depth} x {columns}", 0.9, 1.2,
            operator(
                "MatMulInteger", drawn((rows, depth), np.uint8), drawn((depth, columns), np.int8),
                rows * depth * columns,
            ),
        )  # fmt: skip
    for channels, side in ((64, 56), (256, 14)):
        yield Case(
            f"ConvInteger, 3 x 3, {channels} channels of {side} x {side}", 0.9, 1.2,
            operator(
                "ConvInteger", drawn((1, channels, side, side), np.uint8),
                drawn((channels, channels, 3, 3), np.int8),
                channels * channels * 9 * side * side, pads=[1, 1, 1, 1],
            ),
        )  # fmt: skip


if __name__ == "__main__":
    notes = (
        "Activations are uint8 with a zero point, weights int8, sums int32: exact, and equal to "
        "the peer's. Each row is one node of ONNX's. Its limit is that of as many products of "
        "float32, of which processors with instructions for bytes do a quarter as many in the "
        "same time."
    )
    main("Products of bytes", notes, cases)
