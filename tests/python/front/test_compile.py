"""compile: programs of functions, their parts, specialisations."""

import numpy as np
import pytest

import composit
from composit import numpy as cnp

X = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
W = np.linspace(0.5, 2, 6, dtype="float32").reshape(3, 2)


def layer(x, w):
    return cnp.maximum(x @ w, 0) * 2


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
def test_same_bits_as_evaluation(backend):
    compiled = composit.compile(layer, X, W, backend=backend)
    expected = composit.evaluate(layer(cnp.asarray(X), cnp.asarray(W)))
    np.testing.assert_array_equal(compiled(X, W), expected)
    np.testing.assert_array_equal(compiled(2 * X, W), 2 * expected)


def test_parts():
    compiled = composit.compile(layer, X, W)
    assert len(compiled.graph) == 7  # x, w, 0, 2 and three operations
    assert compiled.kernels and "x" in compiled.plan
    assert [step.name for step in compiled.passes]
    assert "for" in compiled.source
    assert all(where == "cpp" for _, where, _ in compiled.placements)


def test_arguments_are_named_as_the_parameters():
    compiled = composit.compile(layer, X, W, backend="interpreter")
    assert [buffer.name for buffer in compiled.buffers if buffer.kind == "input"] == ["x", "w"]


def test_export(tmp_path):
    compiled = composit.compile(layer, X, W)
    compiled.export(tmp_path)
    assert {"layer.hpp", "layer.cpp", "main.cpp", "CMakeLists.txt"} <= {
        p.name for p in tmp_path.iterdir()
    }


def test_export_of_several_signatures(tmp_path):
    compiled = composit.compile(layer)
    compiled.export(tmp_path, (X, W), (X[:2], W))
    text = (tmp_path / "layer.hpp").read_text()
    assert text.count("void layer_") == 2 and "void layer_2(" in text


def test_specialisations():
    compiled = composit.compile(layer, backend="interpreter")
    with pytest.raises(AttributeError, match="nothing is compiled before the first call"):
        compiled.source
    compiled(X, W)
    compiled(X[:2], W)
    compiled(X, W)
    assert len(compiled.specialisations) == 2


def test_structures():
    compiled = composit.compile(
        lambda t: {"a": t[0] + 1, "b": (t[1], t[0] * 2)}, backend="interpreter"
    )
    result = compiled((X, W))
    np.testing.assert_array_equal(result["a"], X + 1)
    np.testing.assert_array_equal(result["b"][1], X * 2)


def test_python_scalars_are_literals():
    compiled = composit.compile(lambda x, n: x * n, backend="interpreter")
    assert compiled(X, 2.0).dtype == np.float32
    np.testing.assert_array_equal(compiled(X, 3), X * 3)
    assert len(compiled.specialisations) == 2


def test_wrong_arguments_of_a_fixed_specialisation():
    compiled = composit.compile(layer, X, W, backend="interpreter")
    with pytest.raises((ValueError, TypeError), match="x"):
        compiled(X[:, :2], W)


def test_values_of_arguments_cannot_be_asked_for():
    with pytest.raises((NotImplementedError, ValueError), match=r"\[test_compile.py:\d+\]"):
        composit.compile(lambda x: x * float(x[0, 0]), X)


@pytest.mark.parametrize("rows", [0, 3000], ids=["no elements", "too few for threads"])
def test_an_export_builds_without_warnings(tmp_path, rows):
    import subprocess

    def f(x):
        return cnp.sum(cnp.exp(x), axis=1) + 1, cnp.concatenate([cnp.exp(x), x], axis=0)

    composit.compile(f, np.zeros((rows, 3), "float32"), name="f").export(tmp_path)
    command = "c++ -O2 -std=c++17 -Wall -Wextra -Werror f.cpp main.cpp -o f"
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_export_of_many_kernels_names_every_source(tmp_path):
    def f(x):
        return [cnp.exp(x[i:]) for i in range(260)]

    compiled = composit.compile(f, np.zeros(300, "float32"), backend="interpreter", name="f")
    names = compiled.export(tmp_path)
    assert names[:3] == ["f.cpp", "f_2.cpp", "f_kernels.hpp"]
    assert {path.name for path in tmp_path.iterdir()} == set(names)
    assert "c++ -O2 -std=c++17 f.cpp f_2.cpp main.cpp -o f" in (tmp_path / "f.cpp").read_text()


@pytest.mark.parametrize("backend", ["cpp", "interpreter"])
def test_rows_are_fused_in_parts_of_any_size(backend):
    x = np.random.default_rng(0).standard_normal((120, 50)).astype("float32")

    def f(x):
        powers = cnp.exp(x - cnp.max(x, axis=1, keepdims=True))
        return powers / cnp.sum(powers, axis=1, keepdims=True)

    plain = composit.compile(f, x, backend=backend, fuse=False)
    pieces = set()
    for size in (400, 5000, 20_000):
        fused = composit.compile(f, x, backend=backend, bytes_of_part=size, threads=2)
        (kernel,) = fused.kernels
        assert kernel.kind == "Fused"
        pieces.add(tuple(kernel.fields["pieces"]))
        assert fused(x).tobytes() == plain(x).tobytes()
    assert len(pieces) > 1


def test_a_part_has_a_positive_size():
    with pytest.raises(ValueError, match=r"bytes_of_part: 0 bytes\. A positive integer or None is"):
        composit.compile(cnp.exp, np.ones(3), bytes_of_part=0)
