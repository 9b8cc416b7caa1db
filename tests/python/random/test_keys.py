"""composit.random's keys and bits: published values, shapes, and what is refused."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import random

# Random123's known answers for threefry2x32 with 20 rounds: counter, key, result.
KNOWN = [
    (0x0000000000000000, 0x0000000000000000, 0x6B20015999BA4EFE),
    (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x1CB996FCBB002BE7),
    (0x243F6A8885A308D3, 0x13198A2E03707344, 0xC4923A9C483DF7A0),
]


def threefry(counter: int, key: int) -> int:
    """The cipher, in Python's integers."""
    mask = 0xFFFFFFFF
    words = [key >> 32, key & mask]
    words.append(words[0] ^ words[1] ^ 0x1BD11BDA)
    x, y = (counter >> 32) + words[0] & mask, (counter & mask) + words[1] & mask
    for group in range(5):
        for rotation in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x = x + y & mask
            y = (y << rotation | y >> (32 - rotation)) & mask ^ x
        x = x + words[(group + 1) % 3] & mask
        y = y + words[(group + 2) % 3] + group + 1 & mask
    return x << 32 | y


def value(tensor):
    return composit.evaluate(tensor)


def test_known_answers():
    counters, keys, results = (np.array(column, "uint64") for column in zip(*KNOWN))
    np.testing.assert_array_equal(value(cnp.threefry2x32(counters, keys)), results)
    assert [threefry(counter, key) for counter, key, _ in KNOWN] == results.tolist()


def test_bits_are_blocks_of_positions():
    seed = 0x123456789ABCDEF
    blocks = [threefry(i, seed) for i in range(6)]
    key = random.key(seed)
    assert value(random.bits(key, (2, 3), "uint64")).tolist() == [blocks[:3], blocks[3:]]
    folded = np.array([(b >> 32 ^ b) & 0xFFFFFFFF for b in blocks])
    for dtype in ("uint32", "uint16", "uint8"):
        drawn = value(random.bits(key, 6, dtype))
        assert drawn.dtype == dtype
        np.testing.assert_array_equal(drawn, folded.astype(dtype))


def test_jax_has_the_same_numbers():
    """jax.random.split(key(0)), its key_data, and uniform of key(0) and of its second subkey, as
    JAX's documentation has them."""
    data = value(random.split(random.key(0)))
    words = [[int(k) >> 32, int(k) & 0xFFFFFFFF] for k in data]
    assert words == [[1797259609, 2579123966], [928981903, 3453687069]]
    assert f"{value(random.uniform(random.key(0))):.6g}" == "0.947667"
    _, second = random.split(random.key(0))
    assert f"{value(random.uniform(second)):.6g}" == "0.00729382"  # as many digits as printed


def test_keys_are_values():
    key = random.key(7)
    assert (key.shape, key.dtype, key.name, value(key)) == ((), np.uint64, "key(7)", 7)
    assert value(random.key(-1)) == 2**64 - 1
    assert value(random.key(np.int64(3))) == 3
    first, second = random.split(key)
    assert value(first) == threefry(0, 7) and value(second) == threefry(1, 7)
    assert value(random.split(key, 5)).shape == (5,)
    assert value(random.fold_in(key, 9)) == threefry(9, 7)
    assert value(random.fold_in(key, np.uint8(9))) == threefry(9, 7)
    assert value(random.fold_in(key, -1)) == threefry(2**64 - 1, 7)
    assert value(random.normal(value(key), 3)).tolist() == value(random.normal(key, 3)).tolist()


def test_one_node():
    key = random.key(0)
    for draw in (random.split(key), random.bits(key, 3), random.normal(key, 3)):
        assert len(draw.graph) == 2
    nodes = [node.name for node in random.uniform(key, 3, minval=-1.0, maxval=1.0).graph]
    assert nodes == ["key(0)", "scalar_-1.0", "scalar_1.0", "uniform"]


def test_many_blocks_differ():
    drawn = value(random.bits(random.key(1), 100_000, "uint64"))
    assert len(np.unique(drawn)) == drawn.size
    keys = value(random.split(random.key(1), 300))
    others = np.concatenate([keys, [value(random.fold_in(random.key(2), i)) for i in range(300)]])
    assert len(np.unique(others)) == 600


def test_shapes():
    key = random.key(0)
    assert value(random.bits(key)).shape == ()
    assert value(random.normal(key, (0, 3))).shape == (0, 3)
    assert value(random.uniform(key, (2, 1, 3))).shape == (2, 1, 3)
    flat = value(random.normal(key, 24))
    np.testing.assert_array_equal(value(random.normal(key, (4, 6))), flat.reshape(4, 6))


REFUSED = [
    (
        lambda: random.normal(0, (3,)),
        TypeError,
        "normal: the key is weak int64[], a Python number. A key, made by composit.random.key, "
        "split or fold_in, is required.",
    ),
    (
        lambda: random.uniform(np.float64(3), 2),
        TypeError,
        "uniform: the key is float64[]. A key, made by composit.random.key, split or fold_in, is "
        "required.",
    ),
    (
        lambda: random.bits(random.split(random.key(0), 3)),
        ValueError,
        "bits: the key has shape (3,). One key, of no dimensions, is required: index an array of "
        "keys, or map over it with vmap.",
    ),
    (
        lambda: random.normal(random.key(0), (2, -1)),
        ValueError,
        "normal: shape (2, -1) is impossible. Lengths of at least 0, of at most 2^58 elements "
        "together, are required.",
    ),
    (
        lambda: random.bits(random.key(0), 2, "int32"),
        TypeError,
        "bits: dtype is int32. An unsigned integer is required: uint8, uint16, uint32 or uint64.",
    ),
    (
        lambda: random.split(random.key(0), -2),
        ValueError,
        "split: shape (-2,) is impossible. Lengths of at least 0, of at most 2^58 elements "
        "together, are required.",
    ),
    (
        lambda: random.fold_in(random.key(0), 0.5),
        TypeError,
        "fold_in: data has dtype float64. An integer is required.",
    ),
    (
        lambda: random.fold_in(random.key(0), [1, 2]),
        ValueError,
        "fold_in: data has shape (2,). One integer, of no dimensions, is required.",
    ),
    (
        lambda: random.key(2**64),
        OverflowError,
        "key: seed is 18446744073709551616. An integer of 64 bits is required.",
    ),
    (
        lambda: random.uniform(random.key(0), 2, "int64"),
        TypeError,
        "uniform: dtype is int64. A floating dtype is required.",
    ),
    (
        lambda: random.normal(random.key(0), 2, "float16"),
        NotImplementedError,
        "normal: dtype float16 is not built yet. Available: float32, float64.",
    ),
    (
        lambda: random.uniform(random.key(0), (2, 3), minval=np.zeros(2)),
        ValueError,
        "uniform: minval has shape (2,), the draw (2, 3). minval must broadcast to the shape of "
        "the draw.",
    ),
    (
        lambda: random.randint(random.key(0), 3, 0, 0.5),
        TypeError,
        "randint: maxval has dtype float64. An integer is required.",
    ),
    (
        lambda: random.randint(random.key(0), 3, -1, 9, "uint8"),
        ValueError,
        "randint: minval is -1. What dtype uint8 holds is required.",
    ),
    (
        lambda: random.randint(random.key(0), 3, 0, 2**31 + 1, "int32"),
        ValueError,
        "randint: maxval is 2147483649. What dtype int32 holds is required.",
    ),
    (
        lambda: random.rademacher(random.key(0), 3, "uint8"),
        TypeError,
        "rademacher: dtype is uint8. A real dtype with a sign is required.",
    ),
    (
        lambda: random.categorical(random.key(0), np.zeros((2, 0))),
        ValueError,
        "categorical: logits have shape (2, 0). At least one along axis 1 is required.",
    ),
    (
        lambda: cnp.threefry2x32(np.int64(1), np.uint64(2)),
        TypeError,
        "threefry2x32: an operand is int64. uint64 is required.",
    ),
]


@pytest.mark.parametrize("call, kind, message", REFUSED, ids=[row[2][:40] for row in REFUSED])
def test_refused(call, kind, message):
    with pytest.raises(kind) as raised:
        call()
    assert str(raised.value).startswith(message)


def test_numpys_generator_is_still_here():
    assert composit.numpy.random.normal is not random.normal
    assert composit.random is random
    assert composit.random.random((2, 3)).shape == (2, 3)


def test_what_is_not_built_says_so():
    with pytest.raises(AttributeError) as raised:
        random.permutation
    assert str(raised.value) == "composit.random.permutation is not built yet: it needs a sort."
    with pytest.raises(AttributeError, match="has no attribute 'typo'"):
        random.typo
