"""Floats of 8 bits beside PyTorch's: stored, converted, moved, compared and multiplied; the rest is
refused."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

DTYPES = ("float8_e4m3fn", "float8_e5m2")
COMPUTED = {
    "mul": lambda t, a, i: a[:2] * a[:2], "mul by one": lambda t, a, i: a[:1] * a,
    "mul of a number": lambda t, a, i: t.tensor(0.5) * a,
    "eq": lambda t, a, i: a == a, "ne": lambda t, a, i: a != 1,
    "abs": lambda t, a, i: a.abs(), "isnan": lambda t, a, i: a.isnan(),
    "slice": lambda t, a, i: a[1:], "picked": lambda t, a, i: a[i],
    "cat": lambda t, a, i: t.cat([a, a]), "stack": lambda t, a, i: t.stack([a, a]),
    "where": lambda t, a, i: t.where(t.tensor([True, False, True]), a, a),
    "matmul": lambda t, a, i: a[:2].reshape(1, 2) @ a[:2].reshape(2, 1),
    "clone": lambda t, a, i: a.clone(), "zeros": lambda t, a, i: t.zeros(2, dtype=a.dtype),
    "ones": lambda t, a, i: t.ones(2, dtype=a.dtype), "like": lambda t, a, i: t.zeros_like(a),
    "full": lambda t, a, i: t.full((2,), 3.0, dtype=a.dtype),
    "view": lambda t, a, i: a.view(t.uint8), "float": lambda t, a, i: a.float(),
    "half": lambda t, a, i: a.half() + 1, "other": lambda t, a, i: a.to(t.float8_e5m2),
    "bool": lambda t, a, i: a.bool(), "int": lambda t, a, i: a.int(),
    "index_select": lambda t, a, i: a.index_select(0, i), "roll": lambda t, a, i: a.roll(1),
    "t": lambda t, a, i: a.reshape(3, 1).t(), "repeat": lambda t, a, i: a.repeat(2),
    "eye": lambda t, a, i: t.eye(2, dtype=a.dtype), "sum": lambda t, a, i: a.sum(dtype=t.float32),
    "copy": lambda t, a, i: t.zeros(3).copy_(a), "fill": lambda t, a, i: a.clone().fill_(300),
    "written": lambda t, a, i: a.clone().copy_(t.tensor([1e3, 2, -500])),
    "great product": lambda t, a, i: a * a, "outer": lambda t, a, i: t.outer(a, a),
    "product by name": lambda t, a, i: t.mul(a, other=a),
}  # fmt: skip
REFUSED = {
    "add": lambda t, a, i: a + a, "mul of a number": lambda t, a, i: a * 1.5,
    "add a number": lambda t, a, i: a + 1,
    "negative": lambda t, a, i: -a, "lt": lambda t, a, i: a < a, "sum": lambda t, a, i: a.sum(),
    "max": lambda t, a, i: a.max(), "amax": lambda t, a, i: a.amax(),
    "exp": lambda t, a, i: a.exp(), "sqrt": lambda t, a, i: t.sqrt(a),
    "sort": lambda t, a, i: a.sort(), "argmax": lambda t, a, i: a.argmax(),
    "cumsum": lambda t, a, i: a.cumsum(0), "relu": lambda t, a, i: t.relu(a),
    "clamp": lambda t, a, i: a.clamp(0, 1), "div": lambda t, a, i: a / a,
    "gather": lambda t, a, i: a.gather(0, i), "mean": lambda t, a, i: a.mean(),
    "prod": lambda t, a, i: a.prod(), "tril": lambda t, a, i: t.ones(2, 2, dtype=a.dtype).tril(),
    "masked_fill": lambda t, a, i: a.masked_fill(a == 1, 0.0), "and": lambda t, a, i: a & a,
    "in place": lambda t, a, i: a.add_(1), "unique": lambda t, a, i: a.unique(),
    "mul by name": lambda t, a, i: t.mul(a, other=2), "method": lambda t, a, i: a.mul(other=2),
    "add by name": lambda t, a, i: t.add(input=a, other=2), "neg": lambda t, a, i: t.neg(input=a),
    "arange": lambda t, a, i: t.arange(3, dtype=a.dtype), "range": lambda t, a, i: t.range(
        0, 2, dtype=a.dtype),
    "linspace": lambda t, a, i: t.linspace(0, 1, 3, dtype=a.dtype),
    "logspace": lambda t, a, i: t.logspace(0, 1, 3, dtype=a.dtype),
    "rand": lambda t, a, i: t.rand(2, dtype=a.dtype), "rand_like": lambda t, a, i: t.rand_like(a),
    "randn": lambda t, a, i: t.randn(2, dtype=a.dtype),
    "randint": lambda t, a, i: t.randint(3, (2,), dtype=a.dtype),
    "randint_like": lambda t, a, i: t.randint_like(a, 3),
    "randperm": lambda t, a, i: t.randperm(3, dtype=a.dtype),
    "window": lambda t, a, i: t.hann_window(3, dtype=a.dtype),
    "uniform_": lambda t, a, i: a.uniform_(), "normal_": lambda t, a, i: a.normal_(),
    "exponential_": lambda t, a, i: a.exponential_(), "random_": lambda t, a, i: a.random_(),
    "bernoulli_": lambda t, a, i: a.bernoulli_(),
    "unfold": lambda t, a, i: t.nn.functional.unfold(t.ones(1, 1, 2, 2).to(a.dtype), 1),
    "fold": lambda t, a, i: t.nn.functional.fold(t.ones(1, 1, 4).to(a.dtype), (2, 2), 1),
}  # fmt: skip


def given(module, dtype):
    numbers = module.tensor([1.0, -2.5, 300.0]).to(getattr(module, dtype))
    return module, numbers, module.tensor([2, 0, 1])


def shown(value):
    return (
        str(value.dtype),
        tuple(value.shape),
        value.to(peer.float64 if isinstance(value, peer.Tensor) else torch.float64).tolist(),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", COMPUTED)
def test_what_pytorch_computes(name, dtype):
    found = COMPUTED[name](*given(torch, dtype))
    assert shown(found) == shown(COMPUTED[name](*given(peer, dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses(name, dtype):
    for module in (torch, peer):
        with pytest.raises(NotImplementedError, match=rf"not implemented for 'F{dtype[1:]}'"):
            REFUSED[name](*given(module, dtype))


def test_infinities_are_asked_for_where_there_are_some():
    for module in (torch, peer):
        _, numbers, _ = given(module, "float8_e5m2")
        assert numbers.isfinite().tolist() == [True] * 3 and numbers.isinf().tolist() == [False] * 3
        _, numbers, _ = given(module, "float8_e4m3fn")
        for ask in (module.isfinite, module.isinf):
            with pytest.raises(NotImplementedError, match="not implemented for 'Float8_e4m3fn'"):
                ask(numbers)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", ["float32", "int64", "float16", "bool"])
def test_no_promotion(dtype, other):
    texts = []
    for module in (torch, peer):
        _, numbers, _ = given(module, dtype)
        with pytest.raises(RuntimeError, match="Promotion for Float8 Types") as raised:
            numbers * module.ones(3).to(getattr(module, other))
        texts.append(str(raised.value).partition(" [")[0])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_names_and_numbers_of_the_dtype(dtype):
    ours, theirs = getattr(torch, dtype), getattr(peer, dtype)
    assert repr(ours) == repr(theirs) and ours.itemsize == theirs.itemsize == 1
    assert ours.is_floating_point and ours.is_signed and not ours.is_complex
    for name in ("eps", "max", "min", "tiny", "smallest_normal", "bits", "resolution", "dtype"):
        assert getattr(torch.finfo(ours), name) == getattr(peer.finfo(theirs), name), name
    one = torch.zeros(1, dtype=ours)
    assert one.type() == peer.zeros(1, dtype=theirs).type()
    assert repr(one) == repr(peer.zeros(1, dtype=theirs))


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions_of_all_bits_and_roundings(dtype):
    bits = np.arange(256, dtype="uint8")
    theirs = peer.from_numpy(bits).view(getattr(peer, dtype))
    ours = torch.tensor(bits).view(getattr(torch, dtype))
    np.testing.assert_array_equal(np.asarray(ours.float()), theirs.float().numpy())
    draw = np.random.default_rng(0)
    x = (draw.standard_normal(50000) * 2.0 ** draw.integers(-20, 18, 50000)).astype("float32")
    x = np.concatenate([x, [464, 465, 61439, 61440, np.inf, -np.inf, np.nan]]).astype("float32")
    for wide in ("float32", "float16", "bfloat16"):
        given_ours = torch.tensor(x).to(getattr(torch, wide)).to(getattr(torch, dtype))
        given_theirs = peer.from_numpy(x).to(getattr(peer, wide)).to(getattr(peer, dtype))
        found, wanted = np.asarray(given_ours.float()), given_theirs.float().numpy()
        np.testing.assert_array_equal(found, wanted)


TOO_LARGE = {
    "full": lambda t, y, v: t.full((2,), v, dtype=y.dtype),
    "new": lambda t, y, v: y.new_full((2,), v),
    "like": lambda t, y, v: t.full_like(y, v), "fill": lambda t, y, v: y.fill_(v),
    "pad": lambda t, y, v: t.nn.functional.pad(y, (1, 0), value=v),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [*DTYPES, "float16", "bfloat16"])
@pytest.mark.parametrize("name", TOO_LARGE)
@pytest.mark.parametrize("number", [1e9, -1e6, float("inf"), float("nan"), 470.0, 500, True])
def test_numbers_that_are_too_large(name, dtype, number):
    found = []
    for module in (torch, peer):
        zeros = module.zeros(2, dtype=getattr(module, dtype))
        try:
            made = TOO_LARGE[name](module, zeros, number)
            found.append(str(made.to(module.float64).tolist()))
        except RuntimeError as error:
            found.append(str(error).partition(" [")[0])
    assert found[0] == found[1]


def written(module, zeros, index, number):
    zeros[index] = number
    return zeros


WRITTEN = {
    "element": lambda t, y, v: written(t, y, 0, v), "slice": lambda t, y, v: written(t, y, [0], v),
    "tensor": lambda t, y, v: written(t, y, 0, t.tensor(v)),
    "where": lambda t, y, v: t.where(t.tensor([True, False]), y, v),
    "where first": lambda t, y, v: t.where(t.tensor([True, False]), v, y),
    "where tensor": lambda t, y, v: t.where(t.tensor([True, False]), y, t.tensor(v)),
    "compared": lambda t, y, v: t.full_like(y, 448) == v,
    "complex": lambda t, y, v: (t.ones(2, dtype=t.complex64) * v).to(y.dtype),
    "data": lambda t, y, v: t.tensor([v, 1 + 2j], dtype=t.complex128).to(y.dtype),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("number", [1e9, -1e9, float("inf"), 470.0, 500, 10**6, float("nan")])
def test_numbers_written_keep_to_the_greatest(name, dtype, number):
    made = [
        WRITTEN[name](module, module.zeros(2, dtype=getattr(module, dtype)), number)
        for module in (torch, peer)
    ]
    assert str(shown(made[0])) == str(shown(made[1]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_default_dtype(dtype):
    for module in (torch, peer):
        with pytest.raises(TypeError, match=f"^couldn't find storage object F{dtype[1:]}Storage"):
            module.set_default_dtype(getattr(module, dtype))
        assert module.get_default_dtype() is module.float32


@pytest.mark.parametrize("make", ["tensor", "as_tensor", "asarray"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", *DTYPES, "bool", "int16", "complex64"])
def test_tensors_of_pytorchs_keep_their_dtype(dtype, make):
    given = peer.tensor([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0]]).to(getattr(peer, dtype))
    for each in (given, given.t(), given[:, ::2], given[0, 0]):
        found = getattr(torch, make)(each)
        assert str(found.dtype) == str(each.dtype)
        assert found.to(torch.complex64).tolist() == each.to(peer.complex64).tolist()
