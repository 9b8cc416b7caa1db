"""What fusion makes of layers: which kernels are left, and what is not stored any more."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import mosaic, nn

BACK_ENDS = ["cpp", "interpreter"]


def drawn(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def fused(target, function, *shapes, threads=2):
    """The program of a function, whose bits are those of one kernel for each operation."""
    names = "abcdef"[: len(shapes)]
    inputs = [composit.placeholder(name, shape) for name, shape in zip(names, shapes)]
    values = [drawn(seed, *shape) for seed, shape in enumerate(shapes)]
    outputs = function(*inputs)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    how = {"inputs": inputs, "schema": {}, "threads": threads}
    program = mosaic.compile(*outputs, target=target, **how)
    plain = mosaic.compile(*outputs, fuse=False, target="interpreter", **how)
    for one, other in zip(*(np.atleast_1d([p(*values)]) for p in (program, plain)), strict=True):
        assert one.tobytes() == other.tobytes()
    return program


def kinds(program):
    return [kernel.kind for kernel in program.kernels]


def attention(q, k, v, mask=None):
    scores = q @ cnp.swapaxes(k, -1, -2) / np.float32(4)
    return nn.softmax(scores if mask is None else scores + mask, axis=-1) @ v


# By heads, and by blocks of rows: of one head, two, a length with odd divisors, two batches.
@pytest.mark.parametrize("target", BACK_ENDS)
@pytest.mark.parametrize(
    "batch, length",
    [((12,), 64), ((), 1024), ((2,), 256), ((2,), 450), ((2, 2), 384)],
    ids=str,
)
def test_attention_stores_no_matrix_of_scores(target, batch, length):
    shape = (*batch, length, 16)
    program = fused(target, attention, shape, shape, shape)
    assert kinds(program) == ["Fused"]
    assert program.memory.arena == 0
    scores = 4 * length * length * int(np.prod(batch))
    assert max(b.bytes for b in program.buffers if b.kind == "local") <= scores / 2


def test_attention_with_a_mask_is_one_kernel():
    shape = (2, 512, 16)
    program = fused("cpp", attention, shape, shape, shape, (512, 512))
    assert kinds(program) == ["Fused"] and program.memory.arena == 0


def test_softmax_between_products_of_indivisible_length():
    shape = (2, 509, 16)
    program = fused("cpp", attention, shape, shape, shape)
    assert kinds(program) == ["Contract", "Fused", "Contract"]


@pytest.mark.parametrize("target", BACK_ENDS)
def test_rows_are_passed_once(target):
    assert kinds(fused(target, lambda x: nn.softmax(x, axis=-1), (300, 700))) == ["Fused"]
    norm = fused(
        target, lambda x, s, b: nn.layer_norm(x, s, b, axis=-1), (300, 700), (700,), (700,)
    )
    assert kinds(norm) == ["Fused"]
    assert norm.memory.arena == 0


@pytest.mark.parametrize("target", BACK_ENDS)
def test_an_optimisers_update_is_one_pass(target):
    def adam(w, g, m, v):
        m2 = 0.9 * m + 0.1 * g
        v2 = 0.99 * v * v + 0.01 * g * g
        return [w - 0.01 * m2 / (cnp.sqrt(v2) + 1e-8), m2, v2]

    program = fused(target, adam, *[(100, 100)] * 4)
    assert kinds(program) == ["Map"] and program.memory.arena == 0
    assert len(program.kernels[0].outputs) == 3


@pytest.mark.parametrize("target", BACK_ENDS)
def test_maps_go_into_reductions_and_products_take_what_follows(target):
    total = fused(target, lambda x, y: cnp.sum(cnp.exp(x) * y, axis=1), (64, 512), (64, 512))
    assert kinds(total) == ["Reduce"]
    layer = fused(
        target,
        lambda x, w, b, r: nn.gelu(x @ w + b) + r,
        (512, 64),
        (64, 2048),
        (2048,),
        (512, 2048),
    )
    assert kinds(layer) == ["Contract"] and layer.memory.arena == 0


@pytest.mark.parametrize("target", BACK_ENDS)
def test_lengths_without_divisors_are_not_cut_into_tiny_parts(target):
    def pairs(x, y):
        return cnp.stack([cnp.exp(x), y * 2], axis=1)

    assert "Fused" in kinds(fused(target, pairs, (300_000,), (300_000,)))
    assert "Fused" not in kinds(fused(target, pairs, (300_007,), (300_007,)))  # a prime number
