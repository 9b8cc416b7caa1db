"""Texts of graphs are data: what they say of kernels, shapes and loops is checked, and limited."""

# ruff: noqa: F821

import re
import subprocess
import sys

import numpy as np
import pytest

import composit
from composit import _core, knossos
from composit.graph import parse
from composit.knossos import Tensor


@knossos.register
def plus(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] + 1.0
    return y


@knossos.register
def minus(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] - 1.0
    return y


@knossos.register
def products(x: "Tensor[float, n]", y: "Tensor[float, n]") -> "Tensor[float, n]":
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i] * y[i]
    return z


@knossos.register
def repeated(x: float, n: int) -> "Tensor[float, n]":
    y = np.zeros(n)
    for i in range(n):
        y[i] = x
    return y


def placeholder(name, *shape):
    return composit.placeholder(name, shape, "float64")


def refused(text, message, **limits):
    with pytest.raises(ValueError) as caught:
        parse(text, **limits)
    assert str(caught.value).startswith("parse: line " + message)


def evaluated(outputs, *values):
    inputs = [node.outputs[0] for node in outputs[0].graph if node.is_input]
    return composit.evaluate(*outputs, inputs=dict(zip(inputs, values)))


def test_kernels_are_named_by_their_content():
    text = str(plus(placeholder("x", 3)).graph)
    name = re.search(r'procedure="(\w+-[0-9a-f]{32})"', text).group(1)
    assert name.startswith("plus-")
    np.testing.assert_array_equal(evaluated(parse(text), np.zeros(3)), [1, 1, 1])
    other = re.search(r'procedure="(.*?)"', str(minus(placeholder("x", 3)).graph)).group(1)
    assert other.startswith("minus-")
    np.testing.assert_array_equal(
        evaluated(parse(text.replace(name, other)), np.zeros(3)), [-1, -1, -1]
    )
    changed = name[:-1] + ("0" if name[-1] != "0" else "1")
    refused(
        text.replace(name, changed),
        f'3, column 6: procedure: there is no kernel "{changed}" in this process. One of that name '
        "and content, which was called with a tensor, is required. [test_texts_of_graphs.py:",
    )


def test_another_process_reads_the_same_kernel(tmp_path):
    program = """
import numpy as np
import composit
from composit import knossos
from composit.graph import parse
from composit.knossos import Tensor

@knossos.register
def other(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] - 1.0
    return y

# Another docstring, other lines, other numbers.
@knossos.register
def plus(x: "Tensor[float, n]") -> "Tensor[float, n]":
    "Adds 1."
    y = np.zeros(len(x))

    for i in range(len(x)):
        y[i] = x[i] + 1.0
    return y

other(composit.asarray(np.zeros(2)))
plus(composit.asarray(np.zeros(2)))
value, gradient = parse(open("graph.txt").read())
print(*composit.evaluate(value), *composit.evaluate(gradient))
"""
    x = composit.asarray(np.zeros(3))
    value, pullback = composit.vjp(plus, x)
    (gradient,) = pullback(composit.asarray(np.array([1.0, 2.0, 3.0])))
    (tmp_path / "graph.txt").write_text(_core.print_graph([value, gradient]))
    (tmp_path / "program.py").write_text(program)
    out = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert out.stdout == "1.0 1.0 1.0 1.0 2.0 3.0\n"


def test_lengths_are_those_that_the_kernel_writes():
    text = str(plus(placeholder("x", 100)).graph)
    shorter = text.replace("lengths=[1, 100]", "lengths=[1, 1]").replace(
        '"} : float64[100]', '"} : float64[1]'
    )
    refused(shorter, "3, column 6: plus: y has the shape [1]. [100] is required.")
    text = str(products(placeholder("x", 100), placeholder("y", 100)).graph)
    text = text.replace('shape=[100]} : float64[100] "y"', 'shape=[2]} : float64[2] "y"')
    refused(text, "4, column 6: products: y has the shape [2]. [100] is required.")


def test_extents_that_are_values_are_compared_when_they_are_known():
    text = str(repeated(placeholder("x"), 5).graph)
    assert "int64[]{5}" in text
    refused(
        text.replace("int64[]{5}", "int64[]{6}"),
        "4, column 6: repeated: y has the shape [5]. [6] is required.",
    )
    unknown = re.sub(r"constant\{value=int64\[\]\{5\}\}", "input{dtype=int64, shape=[]}", text)
    outputs = parse(unknown)
    np.testing.assert_array_equal(evaluated(outputs, 2.0, np.int64(5)), [2.0] * 5)
    with pytest.raises(ValueError, match=r"^repeated: y has the shape \[5\]\. \[6\] is req"):
        evaluated(outputs, 2.0, np.int64(6))


def test_batches_agree():
    text = str(composit.vmap(plus)(placeholder("x", 4, 3)).graph)
    np.testing.assert_array_equal(evaluated(parse(text), np.zeros((4, 3))), np.ones((4, 3)))
    more = text.replace("lengths=[2, 4, 3]", "lengths=[2, 9, 3]").replace(
        '"} : float64[4, 3]', '"} : float64[9, 3]'
    )
    assert more != text
    refused(
        more,
        "3, column 6: plus: an operand or result of shape (4, 3) is not of the batch (9,). The "
        "same leading axes are required.",
    )


def test_texts_call_no_functions_of_other_languages():
    text = """composit graph 1
%0 = input{dtype=float64, shape=[3]} : float64[3]
%1 = foreign_call(%0){dtypes=[12], function="python.call", lengths=[1, 3]} : float64[3]
return %1
"""
    refused(
        text,
        "3, column 6: foreign_call calls a function that does not check what the text says of its "
        "operands. An operation that does is required.",
    )


def doublings(count):
    """A text of `count` bodies, each of which calls the one before it twice."""
    lines = ["composit graph 1"]
    for i in range(count):
        number = 3 * i
        lines.append(f'body {i} "f"(%{number}) {{')
        lines.append(f"  %{number} = input{{dtype=float64, shape=[2]}} : float64[2]")
        for k in (1, 2):
            made = f"call(%{number + k - 1}){{body=body({i - 1})}}"
            if i == 0:
                made = f'map(%{number + k - 1}){{row=row("tanh")}}'
            lines.append(f"  %{number + k} = {made} : float64[2]")
        lines.append(f"  return %{number + 2}\n}}")
    end = 3 * count
    lines.append(f"%{end} = input{{dtype=float64, shape=[2]}} : float64[2]")
    lines.append(f"%{end + 1} = call(%{end}){{body=body({count - 1})}} : float64[2]")
    return "\n".join([*lines, f"return %{end + 1}\n"])


def test_nodes_are_limited():
    assert len(parse(doublings(10))) == 1
    refused(
        doublings(60),
        "137, column 9: up to here the graph takes 25165821 nodes. At most 16777216 are required",
    )
    refused(
        doublings(10),
        "35, column 9: up to here the graph takes 189 nodes. At most 100 are required, or another "
        "limit. [",
        most_nodes=100,
    )


def test_bodies_within_bodies_are_limited():
    refused(
        doublings(10),
        "22, column 9: up to here the graph takes 3 bodies within one another. At most 2 are "
        "required, or another limit.",
        most_depth=2,
    )


def test_memory_is_limited():
    text = """composit graph 1
%0 = input{dtype=float64, shape=[]} : float64[]
%1 = broadcast_to(%0){shape=[1000, 1000]} : float64[1000, 1000]
return %1
"""
    assert len(parse(text)) == 1
    refused(
        text,
        "3, column 6: up to here the graph takes 8000008 bytes. At most 1000000 are required, or "
        "another limit.",
        most_bytes=10**6,
    )
    large = text.replace("1000, 1000", "536870912, 268435456")
    outputs = parse(
        large.replace(
            "return %1", '%2 = map(%1){row=row("tanh")} : float64[536870912, 268435456]\nreturn %2'
        )
    )
    with pytest.raises(MemoryError):
        evaluated(outputs, 1.0)


def test_iterations_are_limited():
    def step(i, x):
        return composit.fori_loop(0, 10, lambda j, y: y + 1.0, x)

    text = str(composit.fori_loop(0, 2**40, step, placeholder("x")).graph)
    assert len(parse(text)) == 1
    with pytest.raises(ValueError) as caught:
        parse(text, most_iterations=10**6)
    assert re.match(
        r"parse: line \d+, column \d+: up to here the graph takes 12094627905536 iterations of "
        r"loops\. At most 1000000 are required, or another limit\. \[",
        str(caught.value),
    )


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "divide(n, -1)",
            "divide of integers by int64(-1), which may be 0. A number other than 0 and -1",
        ),
        (
            "remainder(n, 0)",
            "remainder of integers by int64(0), which may be 0. A number other than 0",
        ),
        (
            "shift_left(n, 64)",
            "shift_left of int64 by int64(64). A number from 0 to 63, or left_shift, is",
        ),
        ("shift_right(n, n)", "shift_right of int64 by n. A number from 0 to 63, or right_shift"),
        (
            "loop(a = n; while less(a, 0); a; at most 9999999999)[0]",
            "loops of up to 9999999999 iterations. At most 2147483648 are required, or another",
        ),
    ],
)
def test_kernels_of_texts_are_defined_for_all_numbers(text, message):
    with pytest.raises(ValueError) as caught:
        knossos.from_text("f", f"(n: int) -> {text}")
    assert str(caught.value).startswith("parse: " + message)


def test_iterations_of_kernels_are_limited():
    text = "(n: int) -> loop(a = n; while less(a, 0); add(a, 1); at most 100)[0]"
    assert knossos.from_text("f", text, most_iterations=100)(-3) == 0
    with pytest.raises(ValueError, match=r"loops of up to 100 iterations\. At most 99 are"):
        knossos.from_text("f", text, most_iterations=99)


def nested(levels):
    """Bodies that return the nodes of earlier ones, of which each calls the one before twice."""
    lines = ["composit graph 1"]
    for i in range(levels):
        n = 3 * i
        lines += [
            f'body {2 * i} "f"(%{n}) {{',
            f"%{n} = input{{dtype=float64, shape=[2]}} : float64[2]",
        ]
        for k in (1, 2):
            made = (
                f"call(%{n + k - 1}){{body=body({2 * i - 1})}}"
                if i
                else f'map(%{n + k - 1}){{row=row("tanh")}}'
            )
            lines.append(f"%{n + k} = {made} : float64[2]")
        lines += [f"return %{n + 2} }}", f'body {2 * i + 1} "g"(%{n}) {{ return %{n + 2} }}']
    lines += [
        "%900 = input{dtype=float64, shape=[2]} : float64[2]",
        f"%901 = call(%900){{body=body({2 * levels - 1})}} : float64[2]",
        "return %901",
    ]
    return "\n".join(lines)


def test_nodes_of_other_bodies_count():
    with pytest.raises(ValueError, match=r"up to here the graph takes \d+ nodes\. At most 100 are"):
        parse(nested(16), most_nodes=100)
    with pytest.raises(ValueError, match="bodies within one another"):
        parse(nested(8), most_depth=3)
    (output,) = parse(nested(2), most_nodes=100, most_depth=3)
    assert output.shape == (2,)


@pytest.mark.parametrize("operation", ["reduce", "scan"])
@pytest.mark.parametrize("combiner, word", [(0, "sum"), (1, "product")])
def test_sums_of_truth_values_are_refused(operation, combiner, word):
    axes = "axes=[0], keepdims=false" if operation == "reduce" else "axis=0"
    with pytest.raises(ValueError) as error:
        parse(
            "composit graph 1\n%0 = input{dtype=bool, shape=[2]} : bool[2]\n"
            f"%1 = {operation}(%0){{{axes}, combiner={combiner}}} : bool[2]\nreturn %1\n"
        )
    assert str(error.value).startswith("parse: line 3, ")
    assert f"{operation}: {word} of bool. Numbers are required." in str(error.value)


@pytest.mark.parametrize(
    "line",
    [
        '%0 = input{dtype=bool, shape=[2]} : bool[2] "\\xff"',
        '%0 = input{dtype=bool, shape=[2]} : bool[2] "a" at "\\xc3"',
        'body 0 "\\xed\\xa0\\x80"(%0) {',
    ],
)
def test_texts_that_are_no_utf8_are_refused(line):
    with pytest.raises(ValueError) as error:
        parse(f"composit graph 1\n{line}\nreturn %0\n")
    assert str(error.value).startswith("parse: line 2, ")
    assert "found a text that is no UTF-8 from byte 0 on. UTF-8 is required." in str(error.value)
