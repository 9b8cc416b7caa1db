"""Products of floats and of bytes in compiled code are composit's own, for each length of
vectors."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from processes import run

import composit
import composit.nn as nn
import composit.numpy as cnp

needs_gnu = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def layers(x, w, v):
    """Products by blocks, small ones, a scalar product, and operands that are packed."""
    wide = x.astype("float64") @ w.astype("float64")
    return nn.relu(x @ w + cnp.float32(1)) @ v, wide.sum(0), wide[0] @ wide[1]


def of_bytes(x, w):
    """Of both kinds of bytes."""
    words = [each.astype("int32") for each in (x, w, x.astype("uint8"), w.astype("uint8"))]
    a, b, c, d = words
    return a @ b, a @ d, c @ b, c @ d


def bytes_given():
    draw = np.random.default_rng(0)
    return [draw.integers(-128, 128, shape).astype("int8") for shape in ((67, 130), (130, 53))]


def given(rows=67, depth=130, columns=53):
    draw = np.random.default_rng(0)
    shapes = [(rows, depth), (depth, columns), (columns, 9)]
    return [draw.normal(size=shape).astype("float32") for shape in shapes]


def bits(results):
    return [np.asarray(result).tobytes() for result in results]


def test_the_text_calls_products_and_holds_no_tiles(tmp_path):
    program = composit.compile(layers, *given(), cache_folder=str(tmp_path))
    program(*given())
    source = program.source
    assert "ready_products->of_floats(" in source
    assert "void contract_tile(" not in source
    assert "ContractBlocks" not in source


def test_products_of_bytes_are_called(tmp_path):
    program = composit.compile(of_bytes, *bytes_given(), cache_folder=str(tmp_path))
    source = program.source
    for pair in ("int8_int8", "int8_uint8", "uint8_int8", "uint8_uint8"):
        assert f"ready_products->of_{pair}(" in source
    assert "byte_tile" not in source
    expected = of_bytes(*bytes_given())
    for found, numpys in zip(program(*bytes_given()), expected, strict=True):
        np.testing.assert_array_equal(found, numpys)


@needs_gnu
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_every_length_of_vectors_multiplies_bytes(vector_bytes, monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", f"g++ -DCOMPOSIT_VECTOR_BYTES={vector_bytes}")
    program = composit.compile(of_bytes, *bytes_given(), cache_folder=str(tmp_path), threads=2)
    for found, numpys in zip(program(*bytes_given()), of_bytes(*bytes_given()), strict=True):
        np.testing.assert_array_equal(found, numpys)


@needs_gnu
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_every_length_of_vectors_gives_the_same_bits(vector_bytes, monkeypatch, tmp_path):
    expected = bits(layers(*map(cnp.asarray, given())))
    monkeypatch.setenv("CXX", f"g++ -DCOMPOSIT_VECTOR_BYTES={vector_bytes}")
    program = composit.compile(layers, *given(), cache_folder=str(tmp_path), threads=2)
    assert bits(program(*given())) == expected


A_LENGTH_THAT_NOBODY_HAS = """
import pytest
sys.path[:0] = {folders}
import test_ready_products as here

with pytest.warns(RuntimeWarning) as warned:
    program = composit.compile(here.layers, *here.given(), cache_folder={cache!r})
assert str(warned[0].message).startswith(
    "back end cpp: composit: the C++ compiler makes vectors of a length for which composit has "
    "no products on this CPU. Leave the options for instruction sets out of CXX."
), warned[0].message
assert here.bits(program(*here.given())) == here.bits(here.layers(*map(cnp.asarray, here.given())))
"""


@needs_gnu
def test_a_length_that_nobody_has_is_interpreted(tmp_path):
    """In a process of its own: a process says each warning once, and a CPU without vectors of 64
    bytes has said this one for those."""
    here = Path(__file__).parent
    program = A_LENGTH_THAT_NOBODY_HAS.format(
        folders=[str(here), str(here.parents[1])], cache=str(tmp_path)
    )
    status, _, err = run(program, CXX="g++ -DCOMPOSIT_VECTOR_BYTES=128")
    assert status == 0, err
