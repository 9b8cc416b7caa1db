"""numpy.fft against NumPy: values, dtypes, arguments, errors; derivatives; compiled, exported."""

import numpy as np
import pytest
import torch
from numpy_agreement import assert_compiled_equals_interpreted, attempt, tensors

import composit
import composit.numpy as cnp
from composit.types import LazyTensor

ALONG = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
OVER = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
REAL_ONLY = {"rfft", "ihfft", "rfftn", "rfft2"}
DTYPES = ["float32", "float64", "complex64", "complex128", "int16", "bool"]
# Small ones, powers, products of several primes, primes of one product and of a convolution.
LENGTHS = [
    *range(1, 34),
    60,
    64,
    97,
    100,
    127,
    128,
    131,
    210,
    243,
    256,
    509,
    1000,
    1024,
    1009,
    4096,
]


def drawn(shape, dtype="float64", seed=0):
    rng = np.random.default_rng([seed, *np.atleast_1d(shape)])
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return (x * (5 if np.dtype(dtype).kind in "iub" else 1)).astype(dtype)


def assert_close(ours, expected, length):
    """Within a few ulps times the logarithm of the length, of the norm."""
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    ours = cnp.evaluate(ours) if isinstance(ours, LazyTensor) else ours
    eps = np.finfo(expected.dtype).eps
    error = np.linalg.norm((ours - expected).astype("complex128").ravel())
    assert error <= eps * (2 + np.log2(length)) * np.linalg.norm(expected.ravel()) + 1e-300


def agree(name, *arguments, length=4096, **keywords):
    expected, wrong = attempt(getattr(np.fft, name), arguments, keywords)
    given = tensors(arguments)
    made, error = attempt(getattr(cnp.fft, name), given, keywords)
    if wrong is not None:
        assert isinstance(error, type(wrong)) or isinstance(wrong, type(error)), (wrong, error)
        return []
    assert error is None, error
    assert_close(made, expected, length)
    return [made]


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(name, n):
    for dtype in ("float64", "float32", "complex128", "complex64"):
        if name in REAL_ONLY and dtype.startswith("c"):
            continue
        length = n if name not in ("irfft", "hfft") else n // 2 + 1
        x = drawn((2, length), dtype)
        agree(name, x, n, length=n)
        for norm in ("ortho", "forward", "backward"):
            agree(name, x[0], n, norm=norm, length=n)


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (7,), (4, 6), (2, 3, 5), (0, 4), (3, 0), ()], ids=str)
def test_arguments(name, dtype, shape):
    x = drawn(shape, dtype)
    for n in (None, 1, 3, 4, 9, 0, -2):
        for axis in (-1, 0, 1, 5):
            is_empty = 0 in shape and axis < len(shape) and shape[axis] == 0
            if name in ("irfft", "hfft") and is_empty and n is not None and n > 0:
                assert not cnp.evaluate(getattr(cnp.fft, name)(x, n, axis)).any()
                continue  # NumPy's result is what was in memory
            agree(name, x, n, axis)
    for norm in ("ortho", "forward", "wrong"):
        if shape:
            agree(name, x, None, -1, norm)
            agree(name, x, 2.5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", OVER)
@pytest.mark.parametrize("dtype", DTYPES[:4])
@pytest.mark.parametrize("shape", [(4, 6), (3, 5, 8), (1, 1), (0, 4, 3), (5,)], ids=str)
def test_several_axes(name, dtype, shape):
    x = drawn(shape, dtype)
    if name in REAL_ONLY and x.dtype.kind == "c":
        with pytest.raises(TypeError, match="A real one is required"):
            getattr(cnp.fft, name)(x, axes=(-1,))
        return
    for axes in ((-2, -1), (0,), (1, 0), (0, 0), (0, 1, 2), None, (7,)):
        if axes == (0, 0) and name.startswith("ir"):
            continue  # NumPy takes the length before the first transform
        for s in (None, (3, 4), (-1, 5), (4,)):
            if 0 in shape and s is not None and name.startswith("ir"):
                continue  # NumPy's result is what was in memory
            for norm in (None, "ortho", "forward"):
                agree(name, x, s=s, axes=axes, norm=norm)
    agree(name, x, s=(3, None), axes=(-2, -1))


def test_inverses_undo():
    x = drawn((6, 45), "complex128")
    for there, back in (("fft", "ifft"), ("ifft", "fft"), ("fftn", "ifftn"), ("fft2", "ifft2")):
        for norm in ("backward", "ortho", "forward"):
            y = getattr(cnp.fft, there)(x, norm=norm)
            again = cnp.evaluate(getattr(cnp.fft, back)(y, norm=norm))
            np.testing.assert_allclose(again, x, rtol=0, atol=1e-14)
    real = drawn((6, 45))
    again = cnp.evaluate(cnp.fft.irfft(cnp.fft.rfft(real), 45))
    np.testing.assert_allclose(again, real, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [8, 30, 64, 100, 131, 1024])
def test_an_impulse_and_a_tone_are_exact(n):
    impulse = np.zeros(n)
    impulse[0] = 1
    if n <= 128:
        np.testing.assert_array_equal(cnp.evaluate(cnp.fft.fft(impulse)), np.ones(n, complex))
    constant = cnp.evaluate(cnp.fft.fft(np.ones(n)))
    np.testing.assert_allclose(constant, n * (np.arange(n) == 0), rtol=0, atol=n * 1e-15)


@pytest.mark.long_tail
def test_bits_do_not_depend_on_how_it_runs():
    x, z = drawn((3, 60)), drawn((3, 60), "complex128")
    made = [getattr(cnp.fft, name)(x) for name in ALONG] + [cnp.fft.fft(z), cnp.fft.ifft2(z)]
    made += [cnp.fft.fft(z, 131), cnp.fft.rfft(x.astype("float32"), 1000)]
    assert_compiled_equals_interpreted(made)
    expected = cnp.evaluate(cnp.fft.fft(drawn((64, 4096), "complex64")))
    for threads in (1, 3):
        run = composit.compile(cnp.fft.fft, drawn((64, 4096), "complex64"), threads=threads)
        np.testing.assert_array_equal(run(drawn((64, 4096), "complex64")), expected)


def test_calls_are_one_node_and_share_their_constants():
    x = cnp.asarray(drawn(1024, "complex64"))
    y = cnp.fft.ifft(cnp.fft.fft(x))
    assert [node.name for node in y.graph][-2:] == ["fft", "ifft"] and len(y.graph) == 3


def test_out():
    x = drawn((3, 4))
    for out in (np.zeros((3, 4), "complex128"), cnp.zeros((3, 4), "complex128")):
        made = cnp.fft.fft(x, out=out)
        assert made is out
        np.testing.assert_allclose(cnp.evaluate(out), np.fft.fft(x), rtol=1e-13, atol=1e-14)
    with pytest.raises(TypeError):
        cnp.fft.fft(x, out=np.zeros((3, 4)))


def test_numpys_functions_dispatch():
    x = cnp.asarray(drawn((4, 4)))
    for name in ALONG + OVER:
        assert isinstance(getattr(np.fft, name)(x), LazyTensor)


GRADIENTS = {
    "fft": lambda f, x: f.fft(x, 7),
    "ifft crop": lambda f, x: f.ifft(x, 3, norm="ortho"),
    "rfft": lambda f, x: f.rfft(x.real, 6),
    "irfft": lambda f, x: f.irfft(x, 8),
    "irfft odd": lambda f, x: f.irfft(x, 7, norm="forward"),
    "hfft": lambda f, x: f.hfft(x, 9) if f is cnp.fft else f.irfft(x.conj(), 9, norm="forward"),
    "ihfft": lambda f, x: f.ihfft(x.real, norm="ortho"),
    "fft2": lambda f, x: f.fft2(x),
    "irfftn": lambda f, x: f.irfftn(x),
    "a prime": lambda f, x: f.fft(x, 131),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_pytorchs(name):
    function = GRADIENTS[name]
    x = drawn((4, 5), "complex128")
    leaf = torch.tensor(x, requires_grad=True)
    expected = function(torch.fft, leaf)
    weights = drawn(tuple(expected.shape), seed=3)
    (torch.tensor(weights) * expected.abs() ** 2).sum().backward()

    def loss(re, im):
        y = function(cnp.fft, re + 1j * im)
        return cnp.sum(weights * (y.real**2 + y.imag**2))

    re, im = composit.grad(loss, (0, 1))(x.real.copy(), x.imag.copy())
    gradient = leaf.grad.resolve_conj().numpy()
    np.testing.assert_allclose(cnp.evaluate(re), gradient.real, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cnp.evaluate(im), gradient.imag, rtol=1e-10, atol=1e-12)


def test_vmap():
    x = drawn((3, 4, 10), "complex128")
    batched = composit.vmap(lambda x: cnp.fft.fft(x, axis=0))(x)
    np.testing.assert_allclose(cnp.evaluate(batched), np.fft.fft(x, axis=1), rtol=0, atol=1e-13)


def test_an_exported_transform_has_the_same_bits(tmp_path):
    import subprocess

    x = drawn((2, 48))

    def function(x):
        return cnp.fft.irfft(cnp.fft.rfft(x) * 2.0, 48)

    compiled = composit.compile(function, x)
    compiled.export(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert any(name.endswith(".cpp") for name in names)
    source = next(p for p in tmp_path.iterdir() if p.suffix == ".cpp" and p.name != "main.cpp")
    done = subprocess.run(
        ["c++", "-std=c++17", "-fsyntax-only", str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["fftn", "ifftn", "fft2", "ifft2"])
@pytest.mark.parametrize("axes", [(0, 1), (1, -1)])
def test_out_has_the_bits_of_the_result(name, axes):
    x = np.random.default_rng(5).standard_normal((10, 5, 6)) * (1 + 0.5j)
    expected = np.asarray(getattr(cnp.fft, name)(cnp.asarray(x), axes=axes))
    out = cnp.zeros(x.shape, complex)
    assert getattr(cnp.fft, name)(cnp.asarray(x), axes=axes, out=out) is out
    np.testing.assert_array_equal(np.asarray(out), expected)
