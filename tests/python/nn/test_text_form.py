"""Graphs with operations of nn as text: read in a process that has made none, and checked."""

import subprocess
import sys

import numpy as np
import pytest

import composit.numpy as cnp
from composit import graph, nn

HEADER = "composit graph 1\n%0 = input{dtype=float64, shape=[1, 2, 4, 4]} : float64[1, 2, 4, 4]\n"


def test_operations_are_known_from_the_start(tmp_path):
    x = cnp.asarray(np.ones((1, 1, 2, 2)))
    pool = nn.max_pool(x, kernel_size=(2, 2), channels_last=False)
    text = str(nn.softmax(pool.reshape(1), axis=0).graph)
    assert "max_pool" in text and "stop_gradient" in text
    (tmp_path / "graph").write_text(text)
    script = (
        "import sys, composit\nfrom composit import graph\n"
        "print(composit.evaluate(*graph.parse(open(sys.argv[1]).read())))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "graph")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "[1.]\n"


MALFORMED = [
    ("max_pool(%0){}", "max_pool: attribute 'window' is missing or of another kind."),
    (
        "max_pool(%0){padding=[0, 0], strides=[1, 0], window=[2, 2]}",
        "max_pool: strides (1, 0) is out of range.",
    ),
    (
        "max_pool(%0){dilation=[1, 1], padding=[0, 0], padding_high=[0, 0], strides=[1, 1], "
        "window=[2, 9]}",
        "max_pool: the window is larger than the padded input along spatial axis 1: x has shape "
        "(1, 2, 4, 4), kernel_size is (2, 9), padding is (0, 0).",
    ),
    ("max_pool(){padding=[0], strides=[1], window=[2]}", "max_pool: 0 operands"),
    ("resize(%0){axis=2, from=4, to=8}", "resize: attribute 'kind' is missing or of another kind."),
    (
        "resize(%0){align_corners=false, antialias=false, axis=2, from=5, is_transposed=false, "
        'kind="linear", scale=0.0, to=8}',
        "resize: x has shape (1, 2, 4, 4), axis 2 is resized from 5 elements.",
    ),
    ("stop_gradient(%0, %0)", "stop_gradient: 2 operands"),
    ("with_values(%0)", "with_values: 1 operand"),
    ("gradient_where(%0, %0)", "gradient_where: operands are float64[1, 2, 4, 4] and"),
]


@pytest.mark.parametrize("line, message", MALFORMED, ids=[line for line, _ in MALFORMED])
def test_malformed_operations_are_errors(line, message):
    text = f"{HEADER}%1 = {line} : float64[1]\nreturn %1\n"
    with pytest.raises((ValueError, TypeError)) as raised:
        graph.parse(text)
    assert message in str(raised.value)
