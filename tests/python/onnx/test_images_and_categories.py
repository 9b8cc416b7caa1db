"""ImageDecoder by Pillow, and CategoryMapper beside ONNX Runtime."""

import io
import sys

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from PIL import Image

import composit
from composit import onnx

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype="uint8")


def bytes_of(node, given, results, opset=20, domain=""):
    inputs = [helper.make_tensor_value_info("x", *given)]
    outputs = [helper.make_tensor_value_info("y", *results)]
    graph = helper.make_graph([node], "graph", inputs, outputs)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(domain, opset)] if domain else [
        helper.make_opsetid("", opset)]  # fmt: skip
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def decoder(**attributes):
    node = helper.make_node("ImageDecoder", ["x"], ["y"], **attributes)
    return onnx.load(bytes_of(node, (TensorProto.UINT8, [None]), (TensorProto.UINT8, [None] * 3)))


def file_of(pixels, kind="PNG"):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return np.frombuffer(file.getvalue(), "uint8")


def test_images_of_each_form():
    file = file_of(PIXELS)
    assert (composit.evaluate(decoder()(file)) == PIXELS).all()
    assert (composit.evaluate(decoder(pixel_format="BGR")(file)) == PIXELS[..., ::-1]).all()
    grey = np.asarray(Image.fromarray(PIXELS).convert("L"))[..., None]
    assert (composit.evaluate(decoder(pixel_format="Grayscale")(file)) == grey).all()
    # A grey file as three channels.
    assert (composit.evaluate(decoder()(file_of(grey[..., 0]))) == grey).all()


@pytest.mark.parametrize(
    "data, attributes, error, text",
    [
        (np.arange(9, dtype="uint8"), {}, ValueError,
         r"ImageDecoder: Pillow does not read the 9 bytes: .*A file of an image is required\."),
        (file_of(PIXELS)[:60], {}, ValueError, r"ImageDecoder: Pillow does not read the 60 bytes"),
        (file_of(PIXELS), {"pixel_format": "YUV"}, ValueError,
         r"pixel_format is 'YUV'\. RGB, BGR or Grayscale is required\."),
        (file_of(PIXELS)[None], {}, ValueError, r"uint8"),
    ],
)  # fmt: skip
def test_errors_of_images(data, attributes, error, text):
    with pytest.raises(error, match=text):
        decoder(**attributes)(data)


def test_bytes_that_are_not_known():
    file = composit.placeholder("file", (60,), np.uint8)
    with pytest.raises(NotImplementedError, match="ImageDecoder"):
        decoder()(file)


def test_without_pillow(monkeypatch):
    file = file_of(PIXELS)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(NotImplementedError, match=r"`pip install pillow` is required\."):
        decoder()(file)


CATEGORIES = {"cats_int64s": [4, 9, -3], "cats_strings": ["four", "nine", "less"]}


@pytest.mark.parametrize("missing", [{}, {"default_int64": 7, "default_string": "none"}])
@pytest.mark.parametrize("to_names", [True, False])
def test_categories_are_onnx_runtimes(to_names, missing):
    node = helper.make_node("CategoryMapper", ["x"], ["y"], domain="ai.onnx.ml", **CATEGORIES,
                            **missing)  # fmt: skip
    kinds = (TensorProto.INT64, TensorProto.STRING)
    given, results = kinds if to_names else kinds[::-1]
    content = bytes_of(node, (given, [2, None]), (results, [2, None]), 1, "ai.onnx.ml")
    x = np.array([[4, 9, 5], [-3, 0, 4]]) if to_names else np.array(
        [["nine", "four", "ten"], ["less", "", "four"]], object)  # fmt: skip
    session = onnxruntime.InferenceSession(content)
    (expected,) = session.run(None, {"x": x})
    found = onnx.load(content)(x)
    found = np.asarray(found if to_names else composit.evaluate(found))
    assert found.tolist() == expected.tolist()


def test_numbers_of_categories_of_a_compiled_program():
    node = helper.make_node("CategoryMapper", ["x"], ["y"], domain="ai.onnx.ml", **CATEGORIES)
    encode = helper.make_node("LabelEncoder", ["y"], ["z"], domain="ai.onnx.ml",
                              keys_strings=["four", "nine"], values_int64s=[40, 90])  # fmt: skip
    graph = helper.make_graph(
        [node, encode], "graph", [helper.make_tensor_value_info("x", TensorProto.INT64, [4])],
        [helper.make_tensor_value_info("z", TensorProto.INT64, [4])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 2)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    x = np.array([4, 9, -3, 5])
    assert onnx.load(model).compile(x)(x).tolist() == [40, 90, -1, -1]


def test_categories_that_do_not_fit():
    def load(**attributes):
        node = helper.make_node("CategoryMapper", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
        given, results = (TensorProto.FLOAT, [2]), (TensorProto.STRING, [2])
        return onnx.load(bytes_of(node, given, results, 1, "ai.onnx.ml"))

    with pytest.raises(ValueError, match=r"there are 3 numbers and 1 names\. As many are required"):
        load(**{**CATEGORIES, "cats_strings": ["one"]})(np.zeros(2, "float32"))
    with pytest.raises(TypeError, match=r"the input is float32\. Strings or int64 are required"):
        load(**CATEGORIES)(np.zeros(2, "float32"))
