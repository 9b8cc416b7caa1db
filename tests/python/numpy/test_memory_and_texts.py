"""Bits, resizing, memory, and NumPy's own texts and answers about dtypes, against NumPy."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp

SHAPES = [(), (0,), (1,), (8,), (13,), (3, 0), (0, 3), (4, 9), (2, 3, 17)]


def drawn(dtype, shape, seed=0):
    draw = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(draw.random(shape) < 0.5)
    return np.asarray(draw.integers(0, 100, shape).astype(dtype) * (draw.random(shape) < 0.5))


@pytest.mark.parametrize("shape", SHAPES)
def test_bits(shape):
    for dtype in ("bool", "uint8", "int64", "int8", "float64"):
        x = drawn(dtype, shape).astype(dtype)
        for axis in (None, 0, 1, -1, 2, -3):
            for order in ("big", "little"):
                agrees("packbits", x, axis, order)
                for count in (None, 0, 5, 20, -3, -400):
                    if x.size == 0 and (count or 0) > 0:
                        continue  # NumPy's result is what was in memory
                    agrees("unpackbits", x, axis, count, order)
    for order in ("middle", "", 3):
        agrees("packbits", drawn("bool", shape), bitorder=order)
    agrees("unpackbits", drawn("uint8", shape), count=1.5)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.booleans(), max_size=40), st.sampled_from(["big", "little"]))
def test_bits_return(bits, order):
    x = np.array(bits, bool)
    back = cnp.unpackbits(cnp.packbits(x, bitorder=order), count=len(bits), bitorder=order)
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32"])
def test_resize(dtype):
    for shape in SHAPES:
        for new in (5, (), (0,), (2, 7), (3, 0), (40,), np.int64(6), [2, 3]):
            agrees("resize", drawn(dtype, shape).astype(dtype), new)
    for new in (-1, (2, -3), 1.5):
        agrees("resize", drawn(dtype, (4,)), new)
    agrees("resize", [1, 2, 3], 7)


def test_compiled():
    def all_of_them(x):
        return cnp.packbits(x, 1), cnp.unpackbits(x, 0, 11), cnp.resize(x, (7, 5))

    same_bits_compiled(all_of_them, drawn("uint8", (4, 19)))


def test_memory_of_views():
    x = cnp.asarray(np.arange(12.0).reshape(3, 4))
    even, odd = x[:, ::2], x[:, 1::2]
    assert cnp.shares_memory(x, even) and cnp.shares_memory(even.T, x[1])
    assert not cnp.shares_memory(even, odd) and cnp.may_share_memory(even, odd)
    assert not cnp.may_share_memory(x[0], x[1]) and not cnp.shares_memory(x, x[:0])
    assert not cnp.may_share_memory(x, x.copy()) and not cnp.shares_memory(x, x + 1)
    y = x + 1
    assert cnp.shares_memory(y, y[1:]) and not cnp.shares_memory(y[:1], y[1:])
    assert np.shares_memory(y, y[1:]) and np.may_share_memory(y, y)
    array = np.arange(6.0)
    shared = cnp.asarray(array, copy=False)
    assert cnp.shares_memory(shared, array) and not cnp.shares_memory(shared[:2], array[2:])
    assert cnp.may_share_memory(shared[2:], array[3:]) and not cnp.shares_memory(x, array)
    assert cnp.shares_memory(array, array[::2]) and not cnp.shares_memory(array[1::2], array[::2])
    assert not cnp.may_share_memory(array, 3)


def test_layouts():
    x = np.arange(6.0).reshape(2, 3)
    assert not cnp.isfortran(cnp.asarray(x)) and cnp.isfortran(np.asfortranarray(x))
    with pytest.raises(AttributeError, match="isfortran"):
        cnp.isfortran([1, 2])
    for options in ({}, {"dtype": "float32"}):
        agrees("asfortranarray", x, **options)
        for flags in (None, [], "C", ["C"], ["F", "W"], ["ALIGNED", "E"], ["c_contiguous"]):
            agrees("require", x, requirements=flags, **options)
    for flags in (["C", "F"], ["X"], "CF"):
        agrees("require", x, requirements=flags)
    lazy = cnp.asarray(x)
    assert cnp.require(lazy) is lazy and cnp.asfortranarray(lazy.T).base is lazy
    turned = cnp.asfortranarray(lazy)
    assert turned is not lazy and turned.flags.fnc and cnp.asfortranarray(turned) is turned
    assert not cnp.shares_memory(cnp.require(lazy, requirements="O"), lazy)


def test_iterators():
    for dtype in (int, "float32", bool):
        agrees("fromiter", [1, 0, 1], dtype)
        agrees("fromiter", (0, 1, 1), dtype, 2)
        agrees("fromiter", [1], dtype, 2)
    agrees("fromiter", 3, int)
    agrees("fromiter", ["a"], int)
    np.testing.assert_array_equal(cnp.fromiter((i * i for i in range(4)), "int64"), [0, 1, 4, 9])


def test_dlpack():
    array = np.arange(6.0)
    shared = cnp.from_dlpack(array)
    array[0] = 7
    assert np.asarray(shared)[0] == 7 and cnp.shares_memory(shared, array)
    copied = cnp.from_dlpack(array, copy=True)
    array[0] = 8
    assert np.asarray(copied)[0] == 7
    np.testing.assert_array_equal(cnp.from_dlpack(array[::2]), array[::2])
    with pytest.raises(AttributeError, match=r"from_dlpack.*\[test_memory_and_texts.py:"):
        cnp.from_dlpack([1, 2])
    import torch

    tensor = torch.arange(4.0)
    shared = cnp.from_dlpack(tensor)
    tensor[1] = 9
    np.testing.assert_array_equal(shared, [0, 9, 2, 3])
    assert shared.dtype == np.float32


@pytest.mark.parametrize("name, arguments", [
    ("base_repr", (10,)), ("base_repr", (-255, 16, 3)), ("base_repr", (5, 40)),
    ("binary_repr", (6,)), ("binary_repr", (-6, 5)), ("binary_repr", (100, 2)),
    ("binary_repr", (1.5,)), ("format_float_positional", (3.14159, 3)),
    ("format_float_positional", (np.float32(0.1),)), ("format_float_positional", ("x",)),
    ("format_float_scientific", (12345.678, 2)), ("format_float_scientific", (np.nan,)),
    ("typename", ("d",)), ("typename", ("?",)), ("min_scalar_type", (300,)),
    ("min_scalar_type", (1e40,)), ("min_scalar_type", (-1,)),
])  # fmt: skip
def test_texts_and_dtypes(name, arguments):
    try:
        expected = getattr(np, name)(*arguments)
    except Exception as error:
        with pytest.raises(type(error), match=name):
            getattr(cnp, name)(*arguments)
        return
    assert getattr(cnp, name)(*arguments) == expected


def test_answers_about_tensors():
    assert cnp.format_float_positional(cnp.asarray(2.5) * 2, trim="-") == "5"
    assert cnp.binary_repr(cnp.asarray(5) + 1) == "110"
    assert cnp.min_scalar_type(cnp.asarray(3.0)) == np.min_scalar_type(np.asarray(3.0))
    assert cnp.min_scalar_type(cnp.ones((2, 3))) == np.float64
    assert np.min_scalar_type(cnp.zeros((2,), "int32")) == np.int32
    a, b, c = np.ones((2, 30)), np.ones((30, 4)), np.ones((4, 50))
    for optimize in ("greedy", "optimal", False):
        expected = np.einsum_path("ij,jk,kl->il", a, b, c, optimize=optimize)
        lazy = [cnp.asarray(x) for x in (a, b, c)]
        assert cnp.einsum_path("ij,jk,kl->il", *lazy, optimize=optimize) == expected
    with pytest.raises(ValueError, match="einsum_path"):
        cnp.einsum_path("ij,jk", cnp.asarray(a), cnp.asarray(a))
    path = composit.compile(lambda x: x * len(cnp.einsum_path("ij->i", x)[0]), a)
    np.testing.assert_array_equal(path(a), 2 * a)
