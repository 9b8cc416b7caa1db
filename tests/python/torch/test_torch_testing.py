"""composit.torch.testing beside PyTorch's: what is close, and the texts of what is not."""

import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch as peer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import torch

NAN, INF = float("nan"), float("inf")


def said(program, t):
    """The whole text of what a program raises, or None."""
    try:
        program(t)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def check(program):
    mine, theirs = said(program, torch), said(program, peer)
    assert mine == theirs
    return mine


def close(a, b, **options):
    """A program that compares tensors of values, or what functions of the library make."""

    def program(t):
        x, y = (v(t) if callable(v) else t.tensor(v) for v in (a, b))
        given = {key: v(t) if key == "lib" else v for key, v in options.items()}
        t.testing.assert_close(x, y, **given)

    return program


def plain(value):
    return lambda t: value


FAILING = [
    close([1.0, 2.0, 3.0], [1.0, 2.5, 3.0]),
    close([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.1], [3.0, 5.0]]),
    close([[1, 2], [3, 4]], [[1, 0], [3, 7]]),
    close([1, 2**40], [2, 2**40 + 5]),
    close([2**60], [2**60 + 1]),
    close([True, False, True], [True, True, True]),
    close([1 + 2j, 3j], [1 + 2j, 4 + 1j]),
    close([0.0, 1.0], [0.0, 0.0]),
    close([NAN, 1.0], [NAN, 1.0]),
    close([NAN, 1.0], [0.0, 7.0], equal_nan=True),
    close([INF, 1.0], [-INF, 1.0]),
    close([INF, 1.0], [1.0, 1.0]),
    close(1.0, 1.5),
    close(1, 2),
    close(True, False),
    close(1.0 + 2j, 2.0),
    close([1.0], [1.0, 2.0]),
    close([1.0, 2.0], lambda t: t.tensor([1.0, 2.0], dtype=t.float64)),
    close([1.0, 2.0], lambda t: t.tensor([1.0, 2.5], dtype=t.float64), check_dtype=False),
    close([1, 2], lambda t: t.tensor([1.0, 2.5]), check_dtype=False),
    close([1.0, 2.0], [1.0, 2.5], rtol=0.1, atol=0.1),
    close([1.0, 2.0], [1.0, 2.5], rtol=0, atol=0),
    close([1, 20], [1, 25], rtol=0.1, atol=0.0),
    close([1.0, 2.0], [1.0, 2.5], rtol=0.1),
    close([1.0, 2.0], [1.0, 2.5], atol=0.1),
    close([1.0, 2.0], [1.0, 2.5], msg="mine"),
    close([1.0, 2.0], [1.0, 2.5], msg=lambda text: f"Before\n\n{text}\n\nAfter"),
    close(lambda t: t.tensor([1.0, 2.0]).half(), lambda t: t.tensor([1.0, 2.01]).half()),
    close(lambda t: t.tensor([1.0, 2.0]).bfloat16(), lambda t: t.tensor([1.0, 2.1]).bfloat16()),
    close(lambda t: t.ones(2, 3).t(), lambda t: t.ones(3, 2), check_stride=True),
    close(lambda t: t.ones(2).to_sparse(), lambda t: t.ones(2)),
    close(lambda t: t.tensor([1.0, 0.0, 2.0]).to_sparse(),
          lambda t: t.tensor([1.0, 0.0, 3.0]).to_sparse()),
    close(lambda t: t.tensor([1.0, 0.0, 2.0]).to_sparse(),
          lambda t: t.tensor([1.0, 2.0, 3.0]).to_sparse()),
    close(lambda t: t.tensor([1.0, 0.0, 2.0]).to_sparse(),
          lambda t: t.tensor([0.0, 1.0, 2.0]).to_sparse()),
    close(lambda t: t.tensor([1.0, 0.0]).to_sparse(), lambda t: t.tensor([1.0, 5.0]),
          check_layout=False),
    close(lambda t: [t.ones(2), t.zeros(2)], lambda t: (t.ones(2), t.ones(2))),
    close(lambda t: [t.ones(2)], lambda t: [t.ones(2), t.ones(2)]),
    close(lambda t: {"a": 1.0, "b": [t.ones(1), 2]}, lambda t: {"b": (t.ones(1), 3), "a": 1.0}),
    close(lambda t: {"a": 1.0, "c": 0}, lambda t: {"a": 1.0, "b": 2}),
    close(lambda t: {"a": {"x": t.ones(2)}}, lambda t: {"a": {"x": t.zeros(2)}}, msg=str.upper),
    close(plain(1.0), plain(1.1)), close(plain(0), plain(1)), close(plain(3), plain(0)),
    close(plain(1), plain(1.0)), close(plain(True), plain(False)), close(plain(None), plain(1)),
    close(plain(1e-9), plain(1e-10), rtol=0, atol=0), close(plain(1j), plain(2j)),
    close(plain(NAN), plain(NAN)), close(plain("a"), plain("b")), close(plain({1}), plain({1})),
    close(plain(np.ones(2)), plain(np.zeros(2))), close(plain(np.float32(1)), plain(np.float32(2))),
    close(plain(np.True_), plain(False)), close(plain(np.int64(3)), plain(4)),
    close(plain([1, "a"]), plain([1, "a"])),
]  # fmt: skip

PASSING = [
    close([1.0, 2.0], [1.0, 2.0 + 1e-6]),
    close([NAN], [NAN], equal_nan=True), close([INF], [INF]), close([], []),
    close(lambda t: t.nn.Parameter(t.ones(2)), lambda t: t.ones(2)),
    close([1, 2], lambda t: t.tensor([1, 2], dtype=t.int16), check_dtype=False),
    close([1, 20], [1, 21], rtol=0.1, atol=0.0),
    close(plain(1), plain(1.0), check_dtype=False), close(plain(NAN), plain(NAN), equal_nan=True),
    close(lambda t: OrderedDict(a=t.ones(1)), lambda t: {"a": t.ones(1)}),
    close(plain(np.ones(3)), plain(np.ones(3))), close(plain(None), plain(None)),
    close(lambda t: t.ones(2, 3).t(), lambda t: t.ones(3, 2)),
    close(lambda t: t.ones(2).to_sparse(), lambda t: t.ones(2), check_layout=False),
    close(lambda t: (t.ones(2, requires_grad=True) * 2).exp(), lambda t: (t.ones(2) * 2).exp()),
]  # fmt: skip


@pytest.mark.parametrize("program", FAILING)
def test_texts_are_pytorchs(program):
    assert check(program) is not None


@pytest.mark.parametrize("program", PASSING)
def test_what_is_close(program):
    assert check(program) is None


def test_subclasses_and_types_that_do_not_belong_together():
    def texts(t):
        one = t.ones(2)
        calls = (
            lambda: t.testing.assert_close(t.nn.Parameter(one), one, allow_subclasses=False),
            lambda: t.testing.assert_close(one.numpy(), one),
        )
        return [said(lambda _, call=call: call(), t) for call in calls]

    for mine, theirs in zip(texts(torch), texts(peer), strict=True):
        assert mine.split(" of type ")[0] == theirs.split(" of type ")[0]
        assert mine.startswith("TypeError: No comparison pair was able to handle inputs")


def test_the_old_function_compares_with_wider_tolerances():
    def program(t):
        with pytest.warns(FutureWarning, match="assert_allclose"):
            t.testing.assert_allclose(t.tensor([1.0, 2.0]), [1.0, 2.0001])
        with pytest.warns(FutureWarning):
            t.testing.assert_allclose(t.tensor([1.0, 2.0]), [1.0, 2.5])

    assert check(program) is not None


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128")  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_random_tensors_keep_to_their_bounds(name):
    dtype = getattr(torch, name)
    made = torch.testing.make_tensor(40, 5, dtype=dtype, device="cpu")
    assert made.dtype == dtype and tuple(made.shape) == (40, 5)
    values = made.to(torch.complex128).numpy()
    low, high = {"bool": (0, 1), "uint8": (0, 9)}.get(name, (-9, 9))
    for part in (values.real, values.imag):
        assert part.min() >= (0 if not part.any() else low) and part.max() <= high
    assert len(np.unique(values)) == 2 if name == "bool" else len(np.unique(values)) > 5
    one = torch.testing.make_tensor((7,), dtype=dtype, device="cpu", low=0, high=1,
                                    exclude_zero=True)  # fmt: skip
    assert bool((one != 0).all())
    spread = torch.testing.make_tensor((3, 4), dtype=dtype, device="cpu", noncontiguous=True)
    assert not spread.is_contiguous() and spread.stride() == (8, 2)


def test_random_tensors_are_drawn_by_the_generator():
    torch.manual_seed(3)
    first = torch.testing.make_tensor(4, dtype=torch.float32, device="cpu", requires_grad=True)
    torch.manual_seed(3)
    again = torch.testing.make_tensor([4], dtype=torch.float32, device="cpu")
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    assert first.requires_grad and first.is_leaf


MADE = [
    {"dtype": "int64", "low": 3, "high": 3}, {"dtype": "float32", "low": NAN, "high": 3},
    {"dtype": "float32", "low": 5, "high": 3}, {"dtype": "uint8", "low": 300, "high": 400},
    {"dtype": "bool", "low": -3, "high": -1}, {"dtype": "int8", "requires_grad": True},
]  # fmt: skip


@pytest.mark.parametrize("options", MADE)
def test_what_random_tensors_refuse(options):
    def program(t):
        given = {**options, "dtype": getattr(t, options["dtype"])}
        t.testing.make_tensor(3, device="cpu", **given)

    assert check(program) is not None


@pytest.mark.parametrize("dtype", [None, "float32", 3])
def test_random_tensors_have_a_dtype(dtype):
    assert check(lambda t: t.testing.make_tensor((2,), dtype=dtype, device="cpu")) is not None


@pytest.mark.parametrize("values", [(True, 1), (1, True), (True, 1.0), ([2, True], [2, 1])])
def test_truths_are_no_numbers(values):
    """PyTorch's text ends with advice to its developers."""
    mine, theirs = (said(lambda t: t.testing.assert_close(*values), t) for t in (torch, peer))
    assert mine == theirs[: theirs.index(" If you are a user")]


def test_layouts_of_random_tensors_exclude_each_other():
    check(lambda t: t.testing.make_tensor(
        2, 2, 2, 2, dtype=t.float32, device="cpu", noncontiguous=True,
        memory_format=t.contiguous_format))  # fmt: skip
