"""`python -m composit`: what it prints, writes and returns."""

import subprocess
import sys

import composit._core as _core
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import composit
from composit.onnx import commands


@pytest.fixture
def model(tmp_path):
    draw = np.random.default_rng(0)
    weights = draw.standard_normal((4, 3)).astype("float32")
    nodes = [
        helper.make_node("MatMul", ["x", "weights"], ["sums"]),
        helper.make_node("Softmax", ["sums"], ["scores"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 3])
    weights = numpy_helper.from_array(weights, "weights")
    graph = helper.make_graph(nodes, "digits", [x], [scores], [weights])
    path = tmp_path / "digits.onnx"
    opset = helper.make_opsetid("", 21)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=10), path)
    return str(path)


def test_info(model, capsys):
    assert commands.main(["info", model, "--shape", "x=5,4"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "digits: opset 21",
        "  input     x: float32 (batch, 4)",
        "  output    scores: float32 (batch, 3)",
        "  operators MatMul 1, Softmax 1",
        "  weights   12 numbers",
        "  kernels   5",
        "  flops     185 with x (5, 4)",
        "  moved     628 bytes, read and written by kernels",
        "  memory    252 bytes beside weights and inputs",
    ]


@pytest.mark.parametrize("seed", [2**64, 3**80])
def test_seeds_of_any_size(model, seed):
    inputs = composit.onnx.load(model).inputs
    words = composit._core.numpy_random.words_of(seed)
    (drawn,) = composit._core.reports.drawn_inputs(inputs, ["x=+5, 4"], words)
    expected = np.random.default_rng(seed).standard_normal((5, 4)).astype("float32")
    np.testing.assert_array_equal(drawn, expected)
    assert commands.main(["info", model, "--seed", str(seed)]) == 0


def test_export_of_cpp(model, tmp_path, capsys):
    folder = tmp_path / "out"
    words = ["export", model, "--out", str(folder), "--name", "digits", "--shape", "x=2,4"]
    assert commands.main(words) == 0
    written = capsys.readouterr().out.split()
    assert {"digits.hpp", "digits.cpp", "CMakeLists.txt"} <= set(written)
    assert all((folder / name).exists() for name in written)


@pytest.mark.parametrize(
    "words, files",
    [
        (["--to", "c"], ["digits.h", "digits.c"]),
        (["--to", "c", "--style", "plain"], ["digits.h", "digits.c"]),
        (["--to", "cpp", "--style", "plain"], ["digits.hpp", "digits.cpp"]),
        (["--style", "fast"], ["digits.cpp", "digits.hpp", "main.cpp", "CMakeLists.txt"]),
    ],
)
def test_styles(model, tmp_path, words, files, capsys):
    folder = tmp_path / "out"
    given = ["export", model, "--out", str(folder), "--name", "digits", *words]
    assert commands.main(given) == 0
    assert capsys.readouterr() == ("".join(f"{name}\n" for name in files), "")
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)


def test_plain_c_gives_the_scores_of_the_model(model, tmp_path):
    given = ["export", model, "--out", str(tmp_path), "--name", "digits", "--to", "c"]
    assert commands.main(given) == 0
    (tmp_path / "main.c").write_text(
        '#include "digits.h"\n#include <stdio.h>\n'
        "int main(void) {\n    const float x[1][4] = {{1, 2, 3, 4}};\n    float scores[1][3];\n"
        "    digits(x, scores);\n    fwrite(scores, 1, sizeof scores, stdout);\n"
        "    return digits_selfcheck();\n}\n"
    )
    command = ["gcc", "-std=c99", "-O2", "main.c", "digits.c", "-o", "run"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "run"], capture_output=True, check=True)
    x = np.array([[1, 2, 3, 4]], "float32")
    assert done.stdout == composit.evaluate(composit.onnx.load(model)(x)).tobytes()


def test_export_of_onnx(model, tmp_path, capsys):
    path = tmp_path / "fixed.onnx"
    words = ["export", model, "--to", "onnx", "--out", str(path), "--shape", "x=2,4"]
    assert commands.main(words) == 0
    graph = onnx.load(path).graph
    assert [node.op_type for node in graph.node] == ["MatMul", "Softmax"]
    assert [value.name for value in (*graph.input, *graph.output)] == ["x", "scores"]
    assert [d.dim_value for d in graph.input[0].type.tensor_type.shape.dim] == [2, 4]


def test_check(model, capsys):
    assert commands.main(["check", model, "--shape", "x=3,4", "--runs", "2"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("scores: largest difference ") and first.endswith("largest value 1")
    assert last.startswith("composit ") and ", ONNX Runtime " in last
    assert commands.main(["check", model, "--runs", "1", "--tolerance", "-1"]) == 1
    assert commands.main(["check", model, "--runs", "1", "--tolerance", "nan"]) == 1


def test_export_of_stablehlo(model, tmp_path, capsys):
    path = tmp_path / "digits.mlir"
    words = ["export", model, "--to", "stablehlo", "--out", str(path), "--shape", "x=2,4"]
    assert commands.main([*words, "--name", "digits"]) == 0
    assert capsys.readouterr().out == "digits.mlir\n"
    text = path.read_text()
    assert "module @digits" in text and "@main(%x: tensor<2x4xf32>) -> tensor<2x3xf32>" in text


@pytest.mark.parametrize(
    "words, text",
    [
        (["info", "none.onnx"], "none.onnx"),
        (["info", "MODEL", "--shape", "y=2"], "--shape: 'y=2' is no input with its lengths. "
         "INPUT=2,3 is required, of x."),
        (["info", "MODEL", "--shape", "x=a"], "--shape: 'x=a' is no input with its lengths. "
         "INPUT=2,3 is required, of x."),
        (["info", "MODEL", "--shape", "x=2,,4"], "--shape: 'x=2,,4' is no input with its lengths. "
         "INPUT=2,3 is required, of x."),
        (["check", "MODEL", "--seed", "-1"],
         "--seed: -1 is negative. An integer of at least 0 is required."),
        (["info", "MODEL", "--shape", "x=2,5"],
         "onnx: input 'x' is float32 (2, 5). float32 (batch, 4) is required."),
        (["export", "MODEL", "--out", "none", "--to", "onnx", "--style", "plain"],
         "--style: 'plain' is not for --to onnx. No --style is required."),
        (["export", "MODEL", "--out", "none", "--to", "c", "--style", "fast"],
         "--style: 'fast' is not for --to c. 'plain' is required."),
        (["export", "MODEL", "--out", "/proc/none/x"],
         "export: the folder '/proc/none/x' cannot be made: No such file or directory. "
         "A folder that can be written to is required."),
    ],
)  # fmt: skip
def test_errors(model, words, text, capsys):
    assert commands.main([model if word == "MODEL" else word for word in words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("python -m composit: ") and text in said and "Traceback" not in said


def test_a_model_that_onnx_runtime_refuses(model, tmp_path, capsys):
    proto = onnx.load(model)
    proto.ir_version = 99
    path = tmp_path / "new.onnx"
    onnx.save(proto, path)
    assert commands.main(["check", str(path)]) == 2
    assert "check: ONNX Runtime does not run the model: " in capsys.readouterr().err


def test_differences():
    infinity, nan = np.inf, np.nan
    distance = _core.reports.distance
    assert distance(np.array([1.0, nan]), np.array([1.5, nan])) == (0.5, 1.5)
    assert distance(np.array([infinity, -9.0]), np.array([infinity, -9.0])) == (0, 9)
    assert distance(np.array([nan]), np.array([1.0])) == (infinity, 1)
    assert distance(np.array([]), np.array([])) == (0, 1)


def test_as_a_process(model):
    done = subprocess.run(
        [sys.executable, "-m", "composit", "info", model], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith("digits: opset 21"), done.stderr
