"""composit.torch's functions beside PyTorch's: values, dtypes, shapes and gradients, by a table."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

_random = np.random.default_rng(0)


def _floats(*shape):
    return _random.normal(size=shape).astype(np.float32)


A, B, C = _floats(3, 4), _floats(3, 4), _floats(4)
POSITIVE = np.abs(_floats(3, 4)) + 0.5
SMALL = np.clip(_floats(3, 4), -0.9, 0.9)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-30, 1e30], np.float32)
INTEGERS = np.arange(12).reshape(3, 4) - 4
CUBE = _floats(2, 3, 4)
SQUARE = _floats(3, 3)
INDEX = np.array([[0, 2, 1, 0], [2, 2, 0, 1]])

DISTINCT = np.array([[0, 2, 1, 0], [2, 1, 0, 1]])


def both(function, *arrays, is_gradient=True):
    """The function in both libraries: results are equal, and so are gradients."""
    results, leaves = [], []
    for library in (torch, peer):
        own = []
        for array in arrays:
            tensor = library.tensor(array)
            if is_gradient and tensor.is_floating_point():
                tensor.requires_grad_()
            own.append(tensor)
        made = function(library, *own)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        results.append(made)
        leaves.append([x for x in own if x.requires_grad])
    assert len(results[0]) == len(results[1])
    for mine, theirs in zip(*results):
        if not isinstance(theirs, peer.Tensor):
            assert mine == theirs
            continue
        assert tuple(mine.shape) == tuple(theirs.shape)
        assert repr(mine.dtype) == repr(theirs.dtype)
        np.testing.assert_allclose(
            mine.detach().numpy(), theirs.detach().numpy(), rtol=2e-5, atol=2e-6
        )
        assert mine.requires_grad == theirs.requires_grad
    if not is_gradient:
        return
    for number in (0, 1):
        total = 0
        for made in results[number]:
            if getattr(made, "requires_grad", False):
                library = (torch, peer)[number]
                weights = np.arange(1, made.numel() + 1, dtype=np.float32).reshape(made.shape)
                total = total + (made * library.tensor(weights / made.numel())).sum()
        if isinstance(total, int):
            return
        total.backward()
    for mine, theirs in zip(*leaves):
        if theirs.grad is None:
            assert mine.grad is None or not np.any(mine.grad.numpy())
            continue
        if theirs.grad._is_zerotensor():
            assert not np.any(mine.grad.numpy())
            continue
        assert tuple(mine.grad.shape) == tuple(theirs.grad.shape)
        np.testing.assert_allclose(mine.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-5)


UNARY = {
    "exp": A, "exp2": A, "expm1": A, "log": POSITIVE, "log2": POSITIVE, "log10": POSITIVE,
    "log1p": POSITIVE, "sqrt": POSITIVE, "rsqrt": POSITIVE, "sin": A, "cos": A, "tan": SMALL,
    "asin": SMALL, "acos": SMALL, "atan": A, "sinh": A, "cosh": A, "tanh": A, "asinh": A,
    "acosh": POSITIVE + 1, "atanh": SMALL, "erf": A, "erfc": A, "sigmoid": A, "reciprocal":
    POSITIVE, "lgamma": POSITIVE, "digamma": POSITIVE, "deg2rad": A, "rad2deg": A, "abs": A,
    "neg": A, "floor": A, "ceil": A, "trunc": A, "round": A, "sign": A, "sgn": A, "square": A,
    "relu": A, "frac": A, "isnan": SPECIAL, "isinf": SPECIAL, "isfinite": SPECIAL, "signbit":
    SPECIAL, "isposinf": SPECIAL, "isneginf": SPECIAL, "logit": np.abs(SMALL) + 0.05, "sinc": A,
    "nan_to_num": SPECIAL, "logical_not": INTEGERS, "bitwise_not": INTEGERS, "positive": A,
    "absolute": A, "arccos": SMALL, "arctan": A, "negative": A, "fix": A, "clone": A,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_elements(name):
    both(lambda library, x: getattr(library, name)(x), UNARY[name])
    both(lambda library, x: getattr(x, name)(), UNARY[name])


@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "sin", "tanh", "sigmoid", "abs", "relu", "floor", "erf"]
)
def test_special_values_and_integers(name):
    both(lambda library, x: getattr(library, name)(x), SPECIAL, is_gradient=False)
    if name not in ("floor", "log", "sqrt"):
        both(lambda library, x: getattr(library, name)(x), INTEGERS)


BINARY = [
    "add", "sub", "mul", "div", "maximum", "minimum", "fmax", "fmin", "atan2", "hypot",
    "logaddexp", "logaddexp2", "eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod", "copysign",
    "true_divide", "subtract", "multiply", "divide", "less", "greater_equal",
]  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name):
    for a, b in ((A, B), (A, C), (A[:, :1], C), (A.astype(np.float64), B)):
        both(lambda library, x, y: getattr(library, name)(x, y), a, b)
    if name not in ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp",
                    "logaddexp2"):  # fmt: skip
        both(lambda library, x: getattr(x, name)(2.5), A)
        both(lambda library, x: getattr(library, name)(x, 3), INTEGERS)


@pytest.mark.parametrize(
    "name",
    ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "gcd", "lcm",
     "logical_and", "logical_or", "logical_xor"],
)  # fmt: skip
def test_functions_of_two_integers(name):
    both(lambda library, x, y: getattr(library, name)(x, y), np.abs(INTEGERS), INTEGERS % 3 + 1)


OTHERS = {
    "pow 2": (lambda t, x: x**2, A), "pow 3.0": (lambda t, x: t.pow(x, 3.0), A),
    "pow -1": (lambda t, x: x**-1, POSITIVE), "pow 0.5": (lambda t, x: x**0.5, POSITIVE),
    "pow of tensors": (lambda t, x, y: t.pow(x, y), POSITIVE, B),
    "2 ** x": (lambda t, x: 2**x, A), "1 - x": (lambda t, x: 1 - x, A),
    "1 / x": (lambda t, x: 1 / x, POSITIVE), "x // 2": (lambda t, x: x.detach() // 2, A),
    "x % 2": (lambda t, x: x % 2, A), "int / int": (lambda t, x: x / 2, INTEGERS),
    "add alpha": (lambda t, x, y: t.add(x, y, alpha=2), A, B),
    "addcmul": (lambda t, x, y, z: t.addcmul(x, y, z, value=2), A, B, C),
    "addcdiv": (lambda t, x, y, z: t.addcdiv(x, y, z), A, B, POSITIVE),
    "lerp": (lambda t, x, y: t.lerp(x, y, 0.3), A, B),
    "clamp": (lambda t, x: t.clamp(x, -0.5, 0.5), A), "clamp min": (lambda t, x: x.clamp(min=0), A),
    "clip": (lambda t, x, y: x.clip(max=y), A, B),
    "where": (lambda t, x, y: t.where(x > 0, x, y), A, B),
    "where number": (lambda t, x: t.where(x > 0, x, 0.0), A),
    "masked_fill": (lambda t, x: x.masked_fill(x > 0, 7.0), A),
    "div mode": (lambda t, x, y: t.div(x, y, rounding_mode="floor"), A, B),
    "sum": (lambda t, x: x.sum(), A), "sum int": (lambda t, x: x.sum(), INTEGERS),
    "sum dim": (lambda t, x: x.sum(1), A), "sum dims": (lambda t, x: x.sum((0, 2)), CUBE),
    "sum keepdim": (lambda t, x: x.sum(dim=-1, keepdim=True), A),
    "sum dtype": (lambda t, x: t.sum(x, dtype=t.float64), A),
    "sum axis": (lambda t, x: t.sum(x, axis=0), A), "sum bool": (lambda t, x: (x > 0).sum(), A),
    "mean": (lambda t, x: x.mean(), A), "mean dim": (lambda t, x: x.mean(0), A),
    "prod": (lambda t, x: x.prod(), A), "prod dim": (lambda t, x: x.prod(1), A),
    "max": (lambda t, x: x.max(), A), "max dim": (lambda t, x: x.max(1), A),
    "min dim": (lambda t, x: t.min(x, dim=0, keepdim=True), A),
    "max other": (lambda t, x, y: t.max(x, y), A, B), "amax": (lambda t, x: x.amax((0, 1)), A),
    "amin": (lambda t, x: x.amin(dim=1), A), "aminmax": (lambda t, x: t.aminmax(x), A),
    "argmax": (lambda t, x: x.argmax(), A), "argmin dim": (lambda t, x: x.argmin(1), A),
    "var": (lambda t, x: x.var(), A), "std dim": (lambda t, x: x.std(1), A),
    "var biased": (lambda t, x: x.var(0, unbiased=False), A),
    "std_mean": (lambda t, x: t.std_mean(x, dim=1), A),
    "all": (lambda t, x: (x > 0).all(), A), "any dim": (lambda t, x: (x > 0).any(1), A),
    "logsumexp": (lambda t, x: x.logsumexp(1), A), "cumsum": (lambda t, x: x.cumsum(1), A),
    "cumprod": (lambda t, x: x.cumprod(0), A), "cummax": (lambda t, x: x.cummax(1), A),
    "norm": (lambda t, x: x.norm(), A), "norm 1": (lambda t, x: x.norm(1, dim=1), A),
    "dist": (lambda t, x, y: t.dist(x, y), A, B), "median": (lambda t, x: x.median(), A),
    "median dim": (lambda t, x: x.median(1), A),
    "quantile": (lambda t, x: t.quantile(x, 0.3, dim=1), A),
    "nansum": (lambda t, x: t.nansum(x), SPECIAL[6:8]),
    "count_nonzero": (lambda t, x: t.count_nonzero(x), INTEGERS),
    "softmax": (lambda t, x: x.softmax(-1), A), "softmax 0": (lambda t, x: t.softmax(x, 0), A),
    "log_softmax": (lambda t, x: x.log_softmax(1), A), "cov": (lambda t, x: t.cov(x), A),
    "reshape": (lambda t, x: x.reshape(2, -1), A), "view": (lambda t, x: x.view(-1), A),
    "flatten": (lambda t, x: x.flatten(1), CUBE), "unflatten": (lambda t, x: x.unflatten(1, (2, 2)),
    A), "squeeze": (lambda t, x: x[:, None].squeeze(1), A), "T": (lambda t, x: x.T, A),
    "unsqueeze": (lambda t, x: x.unsqueeze(-1), A), "permute": (lambda t, x: x.permute(2, 0, 1),
    CUBE), "transpose": (lambda t, x: x.transpose(0, 1), A), "mT": (lambda t, x: x.mT, CUBE),
    "movedim": (lambda t, x: t.movedim(x, 0, -1), CUBE), "t": (lambda t, x: x.t() * 1, A),
    "expand": (lambda t, x: x.expand(3, -1), C), "repeat": (lambda t, x: x.repeat(2, 1), A),
    "tile": (lambda t, x: t.tile(x, (2,)), A), "flip": (lambda t, x: t.flip(x, (0,)), A),
    "roll": (lambda t, x: t.roll(x, 1, 1), A), "rot90": (lambda t, x: t.rot90(x), A),
    "repeat_interleave": (lambda t, x: x.repeat_interleave(2, 0), A),
    "cat": (lambda t, x, y: t.cat([x, y], 1), A, B), "stack": (lambda t, x, y: t.stack([x, y]), A,
    B), "hstack": (lambda t, x, y: t.hstack((x, y)), A, B), "vstack": (lambda t, x, y:
    t.vstack((x, y)), A, B), "split": (lambda t, x: x.split(3, 1), A), "split sizes": (lambda t, x:
    t.split(x, [1, 3], 1), A), "chunk": (lambda t, x: x.chunk(2, 1), A), "unbind": (lambda t, x:
    x.unbind(0), A), "tensor_split": (lambda t, x: t.tensor_split(x, 3, 1), A), "narrow": (
    lambda t, x: x.narrow(1, 1, 2), A), "select": (lambda t, x: x.select(0, 1), A),
    "diagonal": (lambda t, x: x.diagonal(), A), "diag": (lambda t, x: t.diag(x), C),
    "diag_embed": (lambda t, x: t.diag_embed(x), A), "tril": (lambda t, x: x.tril(), A),
    "triu": (lambda t, x: x.triu(1), A), "unfold": (lambda t, x: x.unfold(1, 2, 1), A),
    "meshgrid": (lambda t, x, y: t.meshgrid(x, y, indexing="ij"), C, C),
    "block_diag": (lambda t, x, y: t.block_diag(x, y), A, B),
    "matmul": (lambda t, x, y: x @ y.T, A, B), "mm": (lambda t, x, y: t.mm(x, y.t()), A, B),
    "mv": (lambda t, x, y: t.mv(x, y), A, C), "dot": (lambda t, x: t.dot(x, x), C),
    "bmm": (lambda t, x: t.bmm(x, x.mT), CUBE), "outer": (lambda t, x: t.outer(x, x), C),
    "addmm": (lambda t, x, y, z: t.addmm(z, x, y.T, beta=2), A, B, SQUARE),
    "einsum": (lambda t, x, y: t.einsum("ij, kj -> ik", x, y), A, B),
    "tensordot": (lambda t, x, y: t.tensordot(x, y, dims=([1], [1])), A, B),
    "batched matmul": (lambda t, x, y: x @ y, CUBE, _floats(4, 2)),
    "kron": (lambda t, x, y: t.kron(x, y), A, B), "trace": (lambda t, x: t.trace(x), SQUARE),
    "det": (lambda t, x: t.det(x), SQUARE), "inverse": (lambda t, x: t.inverse(x), SQUARE),
    "cross": (lambda t, x, y: t.cross(x, y, dim=0), A, B),
    "cdist": (lambda t, x, y: t.cdist(x, y), A, B),
    "gather": (lambda t, x, i: x.gather(0, i), A, INDEX),
    "scatter": (lambda t, x, i, y: x.scatter(0, i, y), A, DISTINCT, B[:2]),
    "scatter_add": (lambda t, x, i, y: x.scatter_add(0, i, y), A, INDEX, B[:2]),
    "index_select": (lambda t, x, i: t.index_select(x, 1, i), A, np.array([0, 2, 2])),
    "index_add": (lambda t, x, i, y: x.index_add(0, i, y), A, np.array([0, 2, 2]), B),
    "take": (lambda t, x, i: t.take(x, i), A, np.array([0, 5, 5])),
    "take_along_dim": (lambda t, x, i: t.take_along_dim(x, i, 0), A, INDEX),
    "sort": (lambda t, x: x.sort(), A), "sort down": (lambda t, x: x.sort(0, descending=True), A),
    "argsort": (lambda t, x: x.argsort(1), A), "topk": (lambda t, x: x.topk(2), A),
    "kthvalue": (lambda t, x: x.kthvalue(2), A), "nonzero": (lambda t, x: (x > 0).nonzero(), A),
    "masked_select": (lambda t, x: x.masked_select(x > 0), A),
    "unique": (lambda t, x: t.unique(x % 3, return_counts=True), INTEGERS),
    "bincount": (lambda t, x: t.bincount(x), np.array([0, 1, 1, 4])),
    "searchsorted": (lambda t, x, y: t.searchsorted(x, y), np.sort(C), C),
    "diff": (lambda t, x: t.diff(x), A), "isin": (lambda t, x: t.isin(x, x[0]), INTEGERS),
    "allclose": (lambda t, x: t.allclose(x, x + 1e-9), A), "equal": (lambda t, x: t.equal(x, x), A),
    "x[0]": (lambda t, x: x[0], A), "x[:, 1]": (lambda t, x: x[:, 1], A),
    "x[..., None]": (lambda t, x: x[..., None], A), "x[::2, 1:3]": (lambda t, x: x[::2, 1:3], A),
    "x[list]": (lambda t, x: x[[0, 2, 0]], A), "x[mask]": (lambda t, x: x[x > 0], A),
    "x[i, j]": (lambda t, x, i: x[i[0], i[1]], A, INDEX % 3), "x[-1]": (lambda t, x: x[-1], A),
    "to": (lambda t, x: x.to(t.float64), A), "long": (lambda t, x: x.long(), A),
    "double": (lambda t, x: x.double() * 2, A), "bool": (lambda t, x: x.bool(), INTEGERS),
    "detach": (lambda t, x: x.detach() * x, A), "xlogy": (lambda t, x, y: t.xlogy(x, y), A,
    POSITIVE), "bucketize": (lambda t, x, y: t.bucketize(x, y), A, np.sort(C)),
    "index_fill": (lambda t, x, i: x.index_fill(0, i, 1.5), A, np.array([0, 2])),
    "masked_scatter": (lambda t, x, y: x.masked_scatter(x > 0, y), A, B),
    "scatter_reduce": (lambda t, x, i, y: x.detach().scatter_reduce(0, i, y.detach(), "amax"), A,
    INDEX, B), "cartesian_prod": (lambda t, x: t.cartesian_prod(x, x), C),
    "logcumsumexp": (lambda t, x: t.logcumsumexp(x.detach(), 1), A),
    "histc": (lambda t, x: t.histc(x.detach(), 4), A), "nanmean": (lambda t, x: t.nanmean(x, 1), A),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions(name):
    function, *arrays = OTHERS[name]
    both(function, *arrays)


CREATED = {
    "zeros": lambda t: t.zeros(2, 3), "ones": lambda t: t.ones((2,), dtype=t.int32),
    "full": lambda t: t.full((2,), 3), "full float": lambda t: t.full((2,), 3.5),
    "arange": lambda t: t.arange(5), "arange float": lambda t: t.arange(0, 1, 0.3),
    "linspace": lambda t: t.linspace(-1, 2, 7), "eye": lambda t: t.eye(3, 2),
    "tensor": lambda t: t.tensor([[1, 2.5], [3, 4]]), "bool": lambda t: t.tensor([True, False]),
    "logspace": lambda t: t.logspace(0, 2, 3), "tril_indices": lambda t: t.tril_indices(3, 3),
    "zeros_like": lambda t: t.zeros_like(t.arange(3)), "new_ones": lambda t: t.eye(2).new_ones(3),
    "range": lambda t: t.range(0, 2, 0.5), "scalar": lambda t: t.tensor(2),
}  # fmt: skip


@pytest.mark.parametrize("name", CREATED)
def test_tensors_are_made(name):
    both(lambda library: CREATED[name](library))
    assert repr(CREATED[name](torch)) == repr(CREATED[name](peer))


def test_the_median_of_nan_is_nan():
    x = torch.tensor([[1.0, float("nan"), 3.0], [4.0, 2.0, 6.0]])
    assert torch.median(x).isnan()
    values, places = torch.median(x, 1)
    assert values[0].isnan() and values[1] == 4.0
    assert places.tolist() == [1, 0]


def test_parts_are_cut_before_places_that_count_from_the_end():
    parts = torch.arange(4).tensor_split([1, -1])
    assert [part.tolist() for part in parts] == [[0], [1, 2], [3]]


def test_diagonals_stand_in_dimensions_counted_from_the_first():
    made = torch.diag_embed(torch.tensor([1, 2]), 0, 0, 1)
    assert made.tolist() == [[1, 0], [0, 2]]


def test_one_length_alone_follows_from_the_others():
    with pytest.raises(RuntimeError, match="only one dimension can be inferred"):
        torch.zeros(1).reshape(-1, -1)
    with pytest.raises(RuntimeError, match="is invalid for input of size 6"):
        torch.zeros(6).reshape(4, -1)


def test_no_times_the_logarithm_of_nan_is_nan():
    made = torch.xlogy(torch.tensor([0.0, 0.0]), torch.tensor([float("nan"), 0.0]))
    assert made[0].isnan() and made[1] == 0


def test_norms_of_all_dimensions_but_one():
    v = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
    for dim in (0, 1, -1):
        found = torch.norm_except_dim(torch.from_numpy(v), 2, dim)
        wanted = peer.norm_except_dim(peer.from_numpy(v), 2, dim)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)
    line = torch.nn.utils.parametrizations.weight_norm(torch.nn.BatchNorm1d(3))
    assert line.parametrizations.weight.original0.shape == (3,)


def test_draws_without_replacement_take_no_place_twice():
    drawn = torch.multinomial(torch.tensor([0.0, 1.0, 2.0, 0.0]), 2)
    assert sorted(drawn.tolist()) == [1, 2]
