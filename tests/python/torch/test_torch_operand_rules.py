"""What PyTorch demands of operands: tensors, one dtype, dtypes that it computes. Each call gives
what PyTorch gives, or raises the error that it raises."""

import pytest
import torch as theirs

from composit import torch as ours


def cases(t):
    F = t.nn.functional
    d = lambda *s: t.ones(*s, dtype=t.float64)
    f = lambda *s: t.ones(*s)
    i = lambda *v: t.tensor(list(v))
    h = lambda *s: t.ones(*s, dtype=t.float16)
    b = lambda *s: t.ones(*s, dtype=t.bfloat16)
    yield "conv2d x", lambda: F.conv2d(d(1, 2, 5, 5), f(3, 2, 3, 3))
    yield "conv2d w", lambda: F.conv2d(f(1, 2, 5, 5), d(3, 2, 3, 3))
    yield "conv2d xb", lambda: F.conv2d(d(1, 2, 5, 5), f(3, 2, 3, 3), f(3))
    yield "conv2d b", lambda: F.conv2d(f(1, 2, 5, 5), f(3, 2, 3, 3), d(3))
    yield "conv1d xb", lambda: F.conv1d(d(1, 2, 5), f(3, 2, 3), f(3))
    yield "conv1d int", lambda: F.conv1d(t.ones(1, 2, 5, dtype=t.int64), f(3, 2, 3), f(3))
    yield "conv1d int0", lambda: F.conv1d(t.ones(1, 2, 5, dtype=t.int64), f(3, 2, 3))
    yield "convt", lambda: F.conv_transpose2d(d(1, 2, 5, 5), f(2, 3, 3, 3))
    yield "convt b", lambda: F.conv_transpose2d(d(1, 2, 5, 5), f(2, 3, 3, 3), f(3))
    yield "convt bb", lambda: F.conv_transpose2d(f(1, 2, 5, 5), f(2, 3, 3, 3), d(3))
    yield "conv mod", lambda: t.nn.Conv2d(2, 3, 3)(d(1, 2, 5, 5))
    yield "lin mod", lambda: t.nn.Linear(2, 3)(d(4, 2))
    yield "lin nob", lambda: F.linear(d(4, 2), f(3, 2))
    yield "lin b", lambda: F.linear(f(4, 2), f(3, 2), d(3))
    yield "lin 1", lambda: F.linear(d(2), f(3, 2), f(3))
    yield "lin 3", lambda: F.linear(d(5, 4, 2), f(3, 2), f(3))
    yield "lin int", lambda: t.nn.Linear(2, 3)(t.ones(4, 2, dtype=t.int64))
    yield "mm", lambda: t.mm(f(2, 2), d(2, 2))
    yield "matmul", lambda: f(2, 2) @ d(2, 2)
    yield "matmul3", lambda: f(3, 2, 2) @ d(3, 2, 2)
    yield "mv", lambda: t.mv(f(2, 2), d(2))
    yield "dot", lambda: t.dot(f(2), d(2))
    yield "bmm", lambda: t.bmm(f(1, 2, 2), d(1, 2, 2))
    yield "mm int", lambda: t.mm(f(2, 2), t.ones(2, 2, dtype=t.int64))
    yield "addmm", lambda: t.addmm(f(2, 2), f(2, 2), d(2, 2))
    yield "addmm0", lambda: t.addmm(d(2, 2), f(2, 2), f(2, 2))
    yield "baddbmm", lambda: t.baddbmm(d(1, 2, 2), f(1, 2, 2), f(1, 2, 2))
    yield "ln", lambda: t.nn.LayerNorm(3)(d(2, 3))
    yield "ln h", lambda: t.nn.LayerNorm(3)(h(2, 3))
    yield "ln w", lambda: F.layer_norm(f(2, 3), (3,), d(3))
    yield "ln b", lambda: F.layer_norm(f(2, 3), (3,), f(3), d(3))
    yield "gn", lambda: t.nn.GroupNorm(1, 3)(d(2, 3, 4))
    yield "gn w", lambda: F.group_norm(f(2, 3, 4), 1, d(3), d(3))
    yield "bn", lambda: t.nn.BatchNorm1d(3)(d(2, 3))
    yield "bn w", lambda: F.batch_norm(f(2, 3), f(3), f(3), d(3), d(3), True)
    yield "bn m", lambda: F.batch_norm(f(2, 3), d(3), d(3), f(3), f(3), True)
    yield "bn m2", lambda: F.batch_norm(f(2, 3), d(3), d(3), None, None, False)
    yield "bn h", lambda: t.nn.BatchNorm1d(3)(h(2, 3)).dtype
    yield "bn b", lambda: t.nn.BatchNorm1d(3)(b(2, 3)).dtype
    yield "in", lambda: F.instance_norm(f(2, 3, 4), None, None, d(3), d(3))
    yield "rms", lambda: t.nn.RMSNorm(3)(d(2, 3)).dtype
    yield "rmsw", lambda: F.rms_norm(f(2, 3), (3,), d(3)).dtype
    yield "sdpa", lambda: F.scaled_dot_product_attention(f(1, 2, 2), d(1, 2, 2), f(1, 2, 2))
    yield "bce", lambda: F.binary_cross_entropy(f(2) * 0.5, d(2))
    yield "bce i", lambda: F.binary_cross_entropy(f(2) * 0.5, i(1, 0))
    yield "bcel", lambda: F.binary_cross_entropy_with_logits(f(2) * 0.5, d(2)).dtype
    yield "bcel2", lambda: F.binary_cross_entropy_with_logits(d(2) * 0.5, f(2)).dtype
    yield "bcel i", lambda: F.binary_cross_entropy_with_logits(f(2) * 0.5, i(1, 0)).dtype
    yield "bcel b", lambda: F.binary_cross_entropy_with_logits(f(2) * 0.5, i(1, 0).bool()).dtype
    yield "mse", lambda: F.mse_loss(f(2), d(2)).dtype
    yield "mse i", lambda: F.mse_loss(f(2), i(1, 2)).dtype
    yield "l1", lambda: F.l1_loss(f(2), d(2)).dtype
    yield "sl1", lambda: F.smooth_l1_loss(f(2), d(2)).dtype
    yield "sl1r", lambda: F.smooth_l1_loss(d(2), f(2)).dtype
    yield "hub", lambda: F.huber_loss(f(2), d(2)).dtype
    yield "hubr", lambda: F.huber_loss(d(2), f(2)).dtype
    yield "soft", lambda: F.soft_margin_loss(f(2), d(2)).dtype
    yield "kl", lambda: F.kl_div(f(2), d(2)).dtype
    yield "pois", lambda: F.poisson_nll_loss(f(2), d(2)).dtype
    yield "gaus", lambda: F.gaussian_nll_loss(f(2), d(2), f(2)).dtype
    yield "ce w", lambda: F.cross_entropy(f(2, 3), i(0, 1), d(3))
    yield "ce p", lambda: F.cross_entropy(f(2, 3), d(2, 3)).dtype
    yield "ce i32", lambda: F.cross_entropy(f(2, 3), i(0, 1).int())
    yield "ce f", lambda: F.cross_entropy(f(2, 3), f(2))
    yield "nll i32", lambda: F.nll_loss(f(2, 3), i(0, 1).int())
    yield "nll f", lambda: F.nll_loss(f(2, 3), f(2))
    yield "nll w", lambda: F.nll_loss(f(2, 3), i(0, 1), d(3))
    yield "nll u8", lambda: F.nll_loss(f(2, 3), i(0, 1).byte())
    yield "emb f", lambda: F.embedding(f(2), f(3, 2))
    yield "emb i8", lambda: F.embedding(i(0, 1).to(t.int8), f(3, 2))
    yield "lerp", lambda: t.lerp(f(2), d(2), 0.5)
    yield "lerp w", lambda: t.lerp(f(2), f(2), d(2))
    yield "addcmul", lambda: t.addcmul(f(2), d(2), f(2)).dtype
    yield "where", lambda: t.where(f(2) > 0, f(2), d(2)).dtype
    yield "cat", lambda: t.cat([f(2), d(2)]).dtype
    yield "stack", lambda: t.stack([f(2), i(1, 2)]).dtype
    yield "scatter", lambda: f(3).scatter(0, i(0), d(1))
    yield "scatter_add", lambda: f(3).scatter_add(0, i(0), d(1))
    yield "scatter_reduce", lambda: f(3).scatter_reduce(0, i(0), d(1), "sum")
    yield "gather f", lambda: f(3).gather(0, f(1))
    yield "gather i32", lambda: f(3).gather(0, i(0).int())
    yield "index_add", lambda: f(3).index_add(0, i(0), d(1))
    yield "index_copy", lambda: f(3).index_copy(0, i(0), d(1))
    yield "index_select f", lambda: f(3).index_select(0, f(1))
    yield "index_put", lambda: f(3).index_put((i(0),), d(1))
    yield "put", lambda: f(3).put(i(0), d(1))
    yield "masked_scatter", lambda: f(3).masked_scatter(f(3) > 0, d(3))
    yield "masked_fill", lambda: f(3).masked_fill(f(3) > 0, d(1).sum()).dtype
    yield "masked_fill c", lambda: f(3).masked_fill(f(3) > 0, 1j)

    def si(k, v):
        x = f(3)
        x[k] = v
        return x.dtype

    yield "setitem i", lambda: si(i(0), d(1))
    yield "setitem i0", lambda: si(i(0), d(1).sum())
    yield "setitem m", lambda: si(f(3) > 0, d(3))
    yield "setitem m0", lambda: si(f(3) > 0, d(1).sum())
    yield "setitem s", lambda: si(slice(None), d(3))
    yield "setitem int", lambda: si(0, d(1).sum())
    yield "setitem list", lambda: si([0, 1], d(2))
    yield "setitem ilong", lambda: si(i(0, 1), i(3, 4))
    yield "setitem complex", lambda: si(0, 1j)
    yield "setitem complex t", lambda: si(slice(None), t.ones(3, dtype=t.complex64))

    def ip(op, a, b):
        getattr(a, op)(b)
        return a.dtype

    yield "add_ d", lambda: ip("add_", f(2), d(2))
    yield "add_ c", lambda: ip("add_", f(2), t.ones(2, dtype=t.complex64))
    yield "add_ if", lambda: ip("add_", i(1, 2), f(2))
    yield "mul_ 1.5", lambda: ip("mul_", i(1, 2), 1.5)
    yield "div_ int", lambda: ip("div_", i(1, 2), 2)
    yield "copy_", lambda: ip("copy_", f(2), d(2))
    yield (
        "sdpa mask",
        lambda: F.scaled_dot_product_attention(
            f(1, 2, 2), f(1, 2, 2), f(1, 2, 2), attn_mask=d(2, 2)
        ),
    )
    yield "lstm", lambda: t.nn.LSTM(2, 3)(d(4, 1, 2))
    yield "gru", lambda: t.nn.GRU(2, 3)(d(4, 1, 2))
    yield "rnn h", lambda: t.nn.RNN(2, 3)(f(4, 1, 2), d(1, 1, 3))
    yield "mha", lambda: t.nn.MultiheadAttention(4, 2)(d(3, 1, 4), d(3, 1, 4), d(3, 1, 4))
    yield "bilinear", lambda: F.bilinear(f(2, 2), d(2, 2), f(1, 2, 2))
    yield "cos", lambda: F.cosine_similarity(f(2, 2), d(2, 2)).dtype
    yield "pair", lambda: F.pairwise_distance(f(2, 2), d(2, 2)).dtype
    yield "cdist", lambda: t.cdist(f(2, 2), d(2, 2))
    yield "solve", lambda: t.linalg.solve(t.eye(2), d(2, 2))
    yield "einsum", lambda: t.einsum("ij,jk->ik", f(2, 2), d(2, 2))
    yield "outer", lambda: t.outer(f(2), d(2)).dtype
    yield "ger", lambda: t.ger(f(2), d(2)).dtype
    yield "kron", lambda: t.kron(f(2), d(2)).dtype
    yield "cross", lambda: t.linalg.cross(f(3), d(3))
    yield "tensordot", lambda: t.tensordot(f(2, 2), d(2, 2), 1)
    yield "inner", lambda: t.inner(f(2, 2), d(2, 2))
    yield "prelu", lambda: F.prelu(f(2), d(1))
    yield "prelum", lambda: t.nn.PReLU()(d(2))
    yield "fold", lambda: F.unfold(t.ones(1, 1, 4, 4, dtype=t.int64), 2)
    yield "grid", lambda: F.grid_sample(f(1, 1, 2, 2), d(1, 2, 2, 2))
    yield "interp i", lambda: F.interpolate(t.ones(1, 1, 4, dtype=t.int64), scale_factor=2).dtype
    yield "softmax i", lambda: F.softmax(i(1, 2), 0)
    yield "logsoftmax i", lambda: F.log_softmax(i(1, 2), 0)
    yield "gelu i", lambda: F.gelu(i(1, 2))
    yield "sigmoid i", lambda: t.sigmoid(i(1, 2)).dtype
    yield "dropout i", lambda: F.dropout(i(1, 2), 0.5)
    yield "mean i", lambda: i(1, 2).mean()
    yield "std i", lambda: i(1, 2).std()
    yield "norm i", lambda: i(1, 2).norm()
    yield "silu i", lambda: F.silu(i(1, 2))
    yield "elu i", lambda: F.elu(i(1, 2))
    yield "relu i", lambda: F.relu(i(1, 2)).dtype
    yield "relu b", lambda: F.relu(i(1, 2).bool()).dtype
    yield "lrelu i", lambda: F.leaky_relu(i(1, 2))
    yield "softplus i", lambda: F.softplus(i(1, 2))
    yield "maxpool i", lambda: F.max_pool1d(t.ones(1, 4, dtype=t.int64), 2).dtype
    yield "avgpool i", lambda: F.avg_pool1d(t.ones(1, 4, dtype=t.int64), 2).dtype
    yield "sub b", lambda: i(1, 0).bool() - i(1, 0).bool()
    yield "neg b", lambda: -i(1, 0).bool()
    yield "rg i", lambda: t.ones(2, dtype=t.int64, requires_grad=True)
    yield "rg_ i", lambda: i(1, 2).requires_grad_()
    yield "item", lambda: f(2).item()
    yield "bool", lambda: bool(f(2))
    yield "int idx f", lambda: f(3)[f(1)]
    yield "int", lambda: int(f(2))
    yield "lt c", lambda: t.ones(2, dtype=t.complex64) < 1
    yield "one_hot", lambda: F.one_hot(i(0, 1).int())
    yield "pow", lambda: i(1, 2) ** -1
    yield "mod0", lambda: i(1, 2) % 0
    yield "fdiv0", lambda: i(1, 2) // 0
    yield "bitand f", lambda: f(2) & f(2)
    yield "not f", lambda: ~f(2)
    yield "shift f", lambda: f(2) << 1
    yield "tril1", lambda: f(2).tril()
    yield "a number for a tensor", lambda: t.exp(2.0)
    yield "a number first", lambda: t.eq(2.0, f(2))
    yield "a number second", lambda: t.maximum(f(2), 1)
    yield "two numbers", lambda: t.pow(2, 3)
    yield "no tensor", lambda: t.sin(None)
    yield "a list", lambda: t.softmax([1.0], 0)
    yield "a mask of numbers", lambda: f(3).masked_fill(i(1, 0, 1), 1.0)
    yield "a choice by numbers", lambda: t.where(i(1, 0), f(2), f(2))
    yield "places of 32 bits", lambda: f(3).take(i(0).int())
    yield "places of floats", lambda: f(3).put(f(1), f(1))
    yield "rows of floats", lambda: f(3).scatter_add(0, f(1), f(1))
    yield "half a window", lambda: F.max_pool2d(f(1, 4, 4), 2, padding=2)
    yield "no distance", lambda: F.huber_loss(f(2), f(2), delta=0.0)
    yield "a negative margin", lambda: F.triplet_margin_loss(f(1, 2), f(1, 2), f(1, 2), -1.0)
    yield "no loss", lambda: F.l1_loss(f(2), f(2), reduction="abc")
    yield "a matrix of slopes", lambda: F.prelu(f(2, 2), f(2, 2))
    yield "no axes to normalize", lambda: F.rms_norm(f(2), ())
    yield "axes of a cross product", lambda: t.linalg.cross(f(2, 3), f(3))
    yield "rows beside rows", lambda: t.searchsorted(f(2, 3), f(3, 2))
    yield "an order of floats", lambda: t.searchsorted(f(3), f(2), sorter=f(3))
    yield "one dimension twice", lambda: t.gradient(t.arange(3.0), dim=(0, -1))
    yield "both sides", lambda: t.searchsorted(f(3), f(2), side="left", right=True)
    yield "a mask that is subtracted", lambda: 1.0 - (f(2) > 0)
    yield "a mask beside numbers", lambda: f(2) - (f(2) > 0)


NAMES = [name for name, _ in cases(theirs)]
# The kernels' names, and which of several checks speaks first, are PyTorch's own business.
OTHER_WORDS = {
    "lin nob",
    "matmul3",
    "ln b",
    "bn m",
    "bcel b",
    "std i",
    "norm i",
    "relu b",
    "rg i",
    "not f",
    "a negative margin",
    "a matrix of slopes",
    "a number first",
    "two numbers",
    "a mask that is subtracted",
}
# composit computes more.
COMPUTED = {"fold": "images are moved", "interp i": "so are integers", "maxpool i": "in 1-d too"}
KINDS = (IndexError, ValueError, NotImplementedError, RuntimeError, TypeError)


def outcome(function):
    try:
        made = function()
        return str(made) if isinstance(made, (theirs.dtype, ours.dtype)) else "computed"
    except KINDS as error:
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_operands(name):
    wanted, found = (outcome(dict(cases(lib))[name]) for lib in (theirs, ours))
    if name in COMPUTED:
        assert isinstance(wanted, NotImplementedError) and not isinstance(found, Exception)
        return
    if not isinstance(wanted, Exception):
        assert wanted == found, found
        return
    kind = next(kind for kind in KINDS if isinstance(wanted, kind))
    if name == "not f":
        kind = NotImplementedError
    assert isinstance(found, (kind, NotImplementedError if kind is RuntimeError else kind)), found
    words = str(wanted).splitlines()[0]
    if name not in OTHER_WORDS and "not implemented for" not in words:
        assert str(found).splitlines()[0].split(" [")[0] == words.split(" [")[0]


def test_dtypes_of_results():
    t = ours
    wide, narrow = t.ones(2, dtype=t.float64), t.ones(2)
    functional = t.nn.functional
    assert t.ldexp(narrow, wide).dtype == t.float64
    assert t.igamma(narrow, wide).dtype == t.special.zeta(narrow + 1, wide).dtype == t.float64
    assert t.special.hermite_polynomial_h(narrow, wide).dtype == t.float64
    assert functional.rms_norm(narrow, (2,), wide).dtype == t.float32
    assert functional.huber_loss(narrow, wide).dtype == t.float32
    assert functional.soft_margin_loss(narrow, wide).dtype == t.float32
    assert functional.binary_cross_entropy_with_logits(wide, narrow).dtype == t.float32
    assert t.addr(t.ones(2, 2).long(), wide, wide, beta=0.5)[0, 0].item() == 1.5


def test_products_in_float32_of_halves_take_addends_of_float32():
    half = ours.ones(2, 2, dtype=ours.float16)
    made = ours.addmm(ours.ones(2, 2), half, half, out_dtype=ours.float32)
    assert made.dtype == ours.float32


@pytest.mark.on_cpu
def test_autocast_comes_before_the_rules():
    with ours.autocast("cpu", dtype=ours.bfloat16):
        made = ours.nn.Linear(2, 3)(ours.ones(1, 2, dtype=ours.bfloat16))
    assert made.dtype == ours.bfloat16


@pytest.mark.parametrize("lib", [theirs, ours], ids=["pytorch", "composit"])
def test_rows_are_searched(lib):
    rows = lib.tensor([[1.0, 3.0, 5.0], [1.0, 2.0, 2.0]])
    values = lib.tensor([[0.0, 3.0, float("nan")], [2.0, 1.0, 9.0]])
    order = lib.tensor([[0, 1, 2], [2, 1, 0]])
    assert lib.searchsorted(rows, values).tolist() == [[0, 1, 3], [1, 0, 3]]
    assert lib.searchsorted(rows, values, right=True).tolist() == [[0, 2, 3], [3, 1, 3]]
    turned = lib.gather(rows, 1, order)
    assert lib.searchsorted(turned, values, sorter=order).tolist() == [[0, 1, 3], [1, 0, 3]]


@pytest.mark.parametrize("lib", [theirs, ours], ids=["pytorch", "composit"])
def test_means_and_convolutions_of_integers(lib):
    f = lib.nn.functional
    assert f.avg_pool1d(lib.tensor([[1, 2, -4, 1]]), 2).tolist() == [[1, -1]]
    made = f.conv_transpose1d(lib.tensor([[1, 2]]), lib.tensor([[[1, 2]]]))
    assert made.tolist() == [[1, 4, 4]] and made.dtype == lib.int64
