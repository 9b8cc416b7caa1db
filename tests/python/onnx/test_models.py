"""Models in ONNX's format: called, differentiated, trained, compiled; beside ONNX's reference
evaluator and ONNX Runtime."""

import os

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import TensorProto, helper, numpy_helper

import composit
import composit.numpy as cnp
import composit.onnx
from composit import nn

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
random = np.random.default_rng(0)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def tensor(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, constants=(), opset=21, functions=(), domains=()):
    graph = helper.make_graph(
        nodes, "graph", inputs, outputs,
        [numpy_helper.from_array(np.asarray(v), name) for name, v in dict(constants).items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    model = helper.make_model(graph, opset_imports=opsets, functions=list(functions))
    return model


def network(batch="batch"):
    """4-16-3: two products, with relu and softmax."""
    weights = {"w1": floats(4, 16), "b1": floats(16), "w2": floats(16, 3), "b2": floats(3)}
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="first"),
        helper.make_node("Relu", ["h"], ["a"]),
        helper.make_node("Gemm", ["a", "w2", "b2"], ["s"], name="second"),
        helper.make_node("Softmax", ["s"], ["y"]),
    ]
    return model_of(nodes, [tensor("x", [batch, 4])], [tensor("y", [batch, 3])], weights)


def agree(proto, *inputs, rtol=1e-5, atol=1e-6):
    """composit's outputs, interpreted and compiled, of the same bits; those of the reference
    evaluator within a tolerance."""
    model = composit.onnx.load(proto)
    found = model(*inputs)
    found = found if isinstance(found, tuple) else (found,)
    values = [composit.evaluate(value) for value in found]
    names = [value.name for value in proto.graph.input]
    wanted = onnx.reference.ReferenceEvaluator(proto).run(None, dict(zip(names, inputs)))
    for value, expected in zip(values, wanted, strict=True):
        assert value.dtype == expected.dtype and value.shape == expected.shape
        np.testing.assert_allclose(value, expected, rtol=rtol, atol=atol)
    compiled = model.compile()(*inputs)
    compiled = compiled if isinstance(compiled, tuple) else (compiled,)
    for value, other in zip(values, compiled, strict=True):
        np.testing.assert_array_equal(value, other)
    return values


# ----- calls
def test_a_model_says_what_it_takes_and_gives():
    model = composit.onnx.load(network())
    assert [value.name for value in model.inputs] == ["x"]
    assert model.inputs[0].shape == ("batch", 4) and model.inputs[0].dtype == "float32"
    assert model.outputs[0].shape == ("batch", 3)
    assert list(model.parameters) == ["w1", "b1", "w2", "b2"]
    assert model.opsets == {"": 21}
    assert repr(model) == "<Model 'model' (x: float32 (batch, 4)) -> (y: float32 (batch, 3))>"


@pytest.mark.parametrize("count", [1, 5])
def test_lengths_with_names_are_those_of_the_call(count):
    agree(network(), floats(count, 4))


def test_a_model_is_read_from_a_file_from_bytes_and_from_a_model(tmp_path):
    proto = network()
    onnx.save(proto, tmp_path / "network.onnx")
    x = floats(2, 4)
    loaded = [
        composit.onnx.load(tmp_path / "network.onnx"),
        composit.onnx.load(str(tmp_path / "network.onnx")),
        composit.onnx.load(proto.SerializeToString()),
        composit.onnx.load(proto),
    ]
    assert loaded[0].name == "network"
    first, *others = (composit.evaluate(model(x)) for model in loaded)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_inputs_by_name_and_tensors_that_are_lazy():
    model = composit.onnx.load(network())
    x = floats(2, 4)
    y = composit.evaluate(model(x))
    np.testing.assert_array_equal(composit.evaluate(model(x=x)), y)
    np.testing.assert_array_equal(composit.evaluate(model(cnp.asarray(x) + 0)), y)


def test_a_node_is_named_in_the_graph():
    model = composit.onnx.load(network())
    nodes = model(floats(1, 4)).graph.nodes
    parts = {node.location.split(", ")[0] for node in nodes if ", " in (node.location or "")}
    assert {"first", "second"} <= parts


# ----- gradients and training
def test_gradients_with_respect_to_parameters():
    import torch

    proto = network()
    model = composit.onnx.load(proto)
    x, labels = floats(8, 4), random.integers(0, 3, 8)
    loss = -cnp.mean(cnp.log(cnp.take_along_axis(model(x), labels[:, None], 1)))
    gradients = nn.chain_rule({loss: loss}, list(model.parameters.values()))
    weights = {
        t.name: torch.tensor(numpy_helper.to_array(t), requires_grad=True)
        for t in proto.graph.initializer
    }
    hidden = torch.relu(torch.tensor(x) @ weights["w1"] + weights["b1"])
    scores = torch.softmax(hidden @ weights["w2"] + weights["b2"], -1)
    (-torch.log(scores[torch.arange(8), torch.tensor(labels)]).mean()).backward()
    for name, gradient in zip(model.parameters, gradients):
        np.testing.assert_allclose(
            composit.evaluate(gradient), weights[name].grad.numpy(), rtol=1e-4, atol=1e-6
        )


def test_training_goes_down():
    model = composit.onnx.load(network())
    x, labels = floats(32, 4), random.integers(0, 3, 32)

    def loss_of(parameters):
        scores = model(x, parameters=parameters)
        return -cnp.mean(cnp.log(cnp.take_along_axis(scores, labels[:, None], 1)))

    parameters, losses = dict(model.parameters), []
    for _ in range(20):
        loss = loss_of(parameters)
        gradients = nn.chain_rule({loss: loss}, list(parameters.values()))
        losses.append(float(composit.evaluate(loss)))
        new = nn.optimize(list(parameters.values()), gradients, nn.sgd_optimizer(learning_rate=0.5))
        parameters = dict(zip(parameters, new))
    assert losses[-1] < 0.7 * losses[0]


# ----- shapes that values decide
def test_shapes_computed_from_shapes_are_known_when_the_graph_is_built():
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"]),
        helper.make_node("Unsqueeze", ["batch", "axes"], ["row"]),
        helper.make_node("Concat", ["row", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
    ]
    constants = {"zero": np.int64(0), "axes": np.array([0]), "rest": np.array([-1])}
    proto = model_of(
        nodes, [tensor("x", ["n", "c", 2])], [tensor("y", ["n", "m"])], constants, opset=17
    )
    agree(proto, floats(3, 5, 2))
    model = composit.onnx.load(proto)
    assert model.deciding_inputs(floats(3, 5, 2)) == ()
    # Nothing of the chain is left: one operation, on the input.
    assert len(model(cnp.asarray(floats(3, 5, 2))).graph) == 2


def test_a_shape_that_is_an_input_is_a_constant_of_a_compiled_program():
    node = helper.make_node("Reshape", ["x", "shape"], ["y"])
    proto = model_of([node], [tensor("x", [6]), tensor("shape", [2], INT64)], [tensor("y", None)])
    model = composit.onnx.load(proto)
    assert model.deciding_inputs(floats(6), np.array([2, 3])) == ("shape",)
    compiled, x = model.compile(), floats(6)
    for shape in [(2, 3), (3, 2), (2, 3)]:
        np.testing.assert_array_equal(compiled(x, np.array(shape)), x.reshape(shape))


# ----- functions, control flow
def test_functions_of_the_model_with_attributes():
    body = helper.make_node("LeakyRelu", ["a"], ["b"])
    body.attribute.append(
        onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    )
    function = helper.make_function(
        "mine", "Leaky", ["a"], ["c"],
        [body, helper.make_node("Add", ["b", "a"], ["c"])],
        [helper.make_opsetid("", 21)], ["slope"],
    )  # fmt: skip
    node = helper.make_node("Leaky", ["x"], ["y"], domain="mine", slope=0.25)
    proto = model_of([node], [tensor("x", [3])], [tensor("y", [3])], functions=[function],
                     domains=["mine"])  # fmt: skip
    y = composit.evaluate(composit.onnx.load(proto)(np.array([-4.0, 0.0, 2.0], "float32")))
    assert y.tolist() == [-5.0, 0.0, 4.0]


def branch(name, factor):
    return helper.make_graph(
        [
            helper.make_node("Constant", [], [f"{name}_f"], value_float=factor),
            helper.make_node("Mul", ["x", f"{name}_f"], [f"{name}_y"]),
        ],
        name, [], [tensor(f"{name}_y", [2])],
    )  # fmt: skip


def test_an_unknown_condition_chooses_among_both_branches():
    node = helper.make_node(
        "If", ["condition"], ["y"], then_branch=branch("yes", 2.0), else_branch=branch("no", -1.0)
    )
    proto = model_of([node], [tensor("condition", [], BOOL), tensor("x", [2])], [tensor("y", [2])])
    model, x = composit.onnx.load(proto), floats(2)
    assert model.deciding_inputs(np.array(True), x) == ()
    for condition in (True, False):
        agree(proto, np.array(condition), x)


def test_a_branch_that_cannot_be_built_makes_its_condition_known():
    wrong = helper.make_graph([helper.make_node("MatMul", ["x", "x"], ["no_y"])], "no", [],
                              [tensor("no_y", None)])  # fmt: skip
    node = helper.make_node(
        "If", ["condition"], ["y"], then_branch=branch("yes", 2.0), else_branch=wrong
    )
    proto = model_of([node], [tensor("condition", [], BOOL), tensor("x", ["n", "m"])],
                     [tensor("y", ["n", "m"])])  # fmt: skip
    model, x = composit.onnx.load(proto), floats(3, 2)
    assert model.deciding_inputs(np.array(True), x) == ("condition",)
    assert (model.compile()(np.array(True), x) == 2 * x).all()
    with pytest.raises(ValueError, match="MatMul"):
        model(np.array(False), x)


def loop_model(steps):
    """x doubled and recorded in each step."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["goes_on"]),
            helper.make_node("Add", ["state", "state"], ["next"]),
            helper.make_node("Identity", ["next"], ["row"]),
        ],
        "body",
        [tensor("i", [], INT64), tensor("go", [], BOOL), tensor("state", [2])],
        [tensor("goes_on", [], BOOL), tensor("next", [2]), tensor("row", [2])],
    )
    node = helper.make_node("Loop", ["steps", "", "x"], ["last", "rows"], body=body)
    return model_of([node], [tensor("x", [2])], [tensor("last", [2]), tensor("rows", [steps, 2])],
                    {"steps": np.int64(steps)})  # fmt: skip


@pytest.mark.parametrize("steps", [3, 12])
def test_loops_unrolled_and_of_the_graph(steps):
    model, x = composit.onnx.load(loop_model(steps)), floats(2)
    last, rows = composit.evaluate(*model(x))
    np.testing.assert_array_equal(last, x * 2**steps)
    np.testing.assert_array_equal(rows, x * 2.0 ** np.arange(1, steps + 1)[:, None])
    for value, other in zip((last, rows), model.compile()(x), strict=True):
        np.testing.assert_array_equal(value, other)


def test_a_long_loop_is_one_node_and_has_a_gradient():
    model = composit.onnx.load(loop_model(20))
    x = cnp.asarray(np.array([1.0, -2.0], "float32"))
    last, _ = model(x)
    assert len(last.graph) < 20
    total = cnp.sum(last)
    (gradient,) = nn.chain_rule({total: total}, [x])
    assert composit.evaluate(gradient).tolist() == [2.0**20] * 2


# ----- constants
def test_external_data_lies_in_the_models_folder(tmp_path):
    proto = network()
    path = tmp_path / "big.onnx"
    wanted = composit.evaluate(composit.onnx.load(proto)(np.ones((1, 4), "float32")))
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    model = composit.onnx.load(path)
    np.testing.assert_array_equal(composit.evaluate(model(np.ones((1, 4), "float32"))), wanted)
    os.truncate(tmp_path / "weights.bin", 100)
    with pytest.raises(ValueError, match=r"tensor 'w1'|tensor 'w2'.* within the file is required"):
        composit.onnx.load(path)


@pytest.mark.parametrize(
    "location", ["../weights.bin", "/etc/passwd", "a/../../weights.bin", "link"]
)
def test_external_data_elsewhere_is_refused(tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "weights.bin").write_bytes(b"\0" * 64)
    (folder / "link").symlink_to(tmp_path / "weights.bin")
    proto = network()
    weight = proto.graph.initializer[1]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=location)
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(ValueError, match="outside the model's folder"):
        composit.onnx.load(folder / "model.onnx")


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "float32", "float64", "complex64", "complex128", "bfloat16",
     "float8_e4m3fn", "float8_e5m2"],
)  # fmt: skip
@pytest.mark.parametrize("is_raw", [True, False])
def test_constants_of_all_dtypes(dtype, is_raw):
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = (np.arange(6).reshape(2, 3) % 4).astype(dtype)
    number = helper.np_dtype_to_tensor_dtype(dtype)
    if is_raw:
        constant = numpy_helper.from_array(values, "c")
    else:
        constant = helper.make_tensor("c", number, [2, 3], values.ravel())
    graph = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["y"])], "g", [],
        [helper.make_tensor_value_info("y", number, [2, 3])], [constant],
    )  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    found = composit.evaluate(composit.onnx.load(proto)())
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.astype(np.complex128), values.astype(np.complex128))


# ----- errors
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((), TypeError, "input 'x' is left out. float32 (batch, 4) is required."),
        ((1, 2), TypeError, "called with 2 inputs. At most 1 are required: x."),
        ((np.ones((2, 5), "float32"),), ValueError,
         "input 'x' is float32 (2, 5). float32 (batch, 4) is required."),
        ((np.ones((2, 4)),), TypeError,
         "input 'x' is float64 (2, 4). float32 (batch, 4) is required."),
    ],
)  # fmt: skip
def test_inputs_that_do_not_fit(arguments, error, message):
    import re

    with pytest.raises(error, match=re.escape(message)):
        composit.onnx.load(network())(*arguments)


def refused(nodes, error, message, constants=(), **options):
    graph = helper.make_graph(
        nodes, "g", [tensor("x", [2, 3])], [tensor("y", None)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in dict(constants).items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", options.get("opset", 21))]
    with pytest.raises(error, match=message):
        composit.onnx.load(helper.make_model(graph, opset_imports=opsets))(floats(2, 3))


def test_errors_name_node_and_operator():
    node = helper.make_node
    refused([node("Sofmax", ["x"], ["y"], name="a")], NotImplementedError,
            r"node 'a' \(Sofmax\): composit has no such operator; near to it are")  # fmt: skip
    refused([node("Relu", ["z"], ["y"], name="a")], ValueError,
            r"node 'a' \(Relu\): its input 'z' is made by no node before it")  # fmt: skip
    refused([node("Relu", ["x"], ["z"])], ValueError, "output 'y' of graph 'g' is made by no node")
    refused([node("Relu", ["x"], ["y"], domain="other")], NotImplementedError,
            r"node 'y' \(other.Relu\): composit has no such operator")  # fmt: skip
    refused([node("Relu", ["x"], ["y"])], NotImplementedError, "Opset 7 or later", opset=6)
    refused([node("MatMul", ["x", "x"], ["y"], name="m")], ValueError,
            r"onnx: node 'm' \(MatMul\): inner dimensions differ")  # fmt: skip
    refused([node("Softmax", ["x"], ["y"], axis=5)], ValueError,
            r"node 'y' \(Softmax\): axis 5 of a tensor of rank 2")  # fmt: skip
    refused([node("Softmax", ["x"], ["y"], axis=0.5)], TypeError,
            "attribute 'axis' is a float. It is required to be an integer")  # fmt: skip
    refused([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])],
            ValueError, "without cycles")  # fmt: skip


# ----- other ways to run
def test_exported_as_cpp(tmp_path):
    import subprocess

    model, x = composit.onnx.load(network()), floats(2, 4)
    compiled = model.compile(x)
    compiled.export(tmp_path / "model", x)
    subprocess.run(
        "c++ -O1 -std=c++17 -c model.cpp -o model.o", shell=True, check=True, cwd=tmp_path / "model"
    )


def test_beside_onnx_runtime():
    runtime = pytest.importorskip("onnxruntime")
    proto, x = network(), floats(5, 4)
    proto.ir_version = 10
    session = runtime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (wanted,) = session.run(None, {"x": x})
    np.testing.assert_allclose(
        composit.evaluate(composit.onnx.load(proto)(x)), wanted, rtol=1e-5, atol=1e-6
    )


def test_a_model_that_torch_exports():
    import torch

    pytest.importorskip("onnxscript")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
            self.norm = torch.nn.BatchNorm2d(8)
            self.pool = torch.nn.MaxPool2d(2)
            self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
            self.last = torch.nn.Linear(8, 5)

        def forward(self, x):
            h = self.pool(torch.nn.functional.gelu(self.norm(self.conv(x))))
            rows = h.flatten(2).transpose(1, 2)
            rows = rows + self.attention(rows, rows, rows, need_weights=False)[0]
            return self.last(rows.mean(1))

    torch.manual_seed(0)
    net = Net().eval()
    x = torch.randn(2, 3, 8, 8)
    program = torch.onnx.export(net, (x,), dynamo=True, verbose=False)
    found = composit.onnx.load(program.model_proto)(x.numpy())
    np.testing.assert_allclose(
        composit.evaluate(found), net(x).detach().numpy(), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_casts_to_floats_of_8_bits_keep_to_the_greatest_number(dtype, saturate):
    runtime = pytest.importorskip("onnxruntime")
    x = np.array([500, -700, 30000, 464, 465, -3, 17], dtype)
    number = helper.np_dtype_to_tensor_dtype(x.dtype)
    proto = model_of(
        [helper.make_node("Cast", ["x"], ["small"], to=TensorProto.FLOAT8E4M3FN, saturate=saturate),
         helper.make_node("Cast", ["small"], ["y"], to=FLOAT)],
        [tensor("x", [7], number)], [tensor("y", [7])],
    )  # fmt: skip
    proto.ir_version = 10
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(proto.SerializeToString(), options)
    (wanted,) = session.run(None, {"x": x})
    found = composit.evaluate(composit.onnx.load(proto)(x))
    np.testing.assert_array_equal(found, wanted)
