"""Bit generators and their seeds: NumPy's words and states, which are interchangeable."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import composit.numpy as cnp

KINDS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
ours, theirs = cnp.random, np.random


def same(a, b):
    """Equal states: dictionaries of numbers and arrays."""
    assert str(a) == str(b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**100 + 7, [1, 2, 3], [2**40, 5]])
def test_words_and_states(kind, seed):
    a, b = getattr(ours, kind)(seed), getattr(theirs, kind)(seed)
    same(a.state, b.state)
    np.testing.assert_array_equal(a.random_raw((3, 300)), b.random_raw((3, 300)))
    assert a.random_raw() == b.random_raw()
    assert a.random_raw(5, output=False) is None
    b.random_raw(5, output=False)
    same(a.state, b.state)


@pytest.mark.parametrize("kind", KINDS)
def test_jumps(kind):
    a, b = getattr(ours, kind)(3), getattr(theirs, kind)(3)
    ours.Generator(a).random(5, np.float32), theirs.Generator(b).random(5, np.float32)
    if hasattr(b, "jumped"):
        for jumps in (1, 2, 5):
            same(a.jumped(jumps).state, b.jumped(jumps).state)
        np.testing.assert_array_equal(a.jumped().random_raw(700), b.jumped().random_raw(700))
    else:
        assert not hasattr(a, "jumped")
    if hasattr(b, "advance"):
        for delta in (0, 1, 5, 2**64 + 3, -1, 2**200):
            same(a.advance(delta).state, b.advance(delta).state)
            np.testing.assert_array_equal(a.random_raw(9), b.random_raw(9))
    else:
        assert not hasattr(a, "advance")
    same(a.state, b.state)


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_numpys(kind):
    a, b = getattr(ours, kind)(1), getattr(theirs, kind)(2)
    theirs.Generator(b).random(3, np.float32)
    a.state = b.state
    same(a.state, b.state)
    assert a.random_raw() == b.random_raw()
    b.state = getattr(ours, kind)(9).state
    same(b.state, getattr(theirs, kind)(9).state)
    with pytest.raises(ValueError, match="must be for"):
        a.state = {"bit_generator": "other"}
    with pytest.raises(TypeError, match="dict"):
        a.state = 5
    for other in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        same(other.state, a.state)
        assert other.random_raw() == copy.copy(a).random_raw()


@given(
    st.one_of(st.integers(0, 2**200), st.lists(st.integers(0, 2**70), min_size=1, max_size=9)),
    st.lists(st.integers(0, 2**40), max_size=5),
    st.integers(4, 9),
    st.integers(0, 20),
)
def test_seed_sequences(entropy, key, pool_size, words):
    a = ours.SeedSequence(entropy, spawn_key=key, pool_size=pool_size)
    b = theirs.SeedSequence(entropy, spawn_key=key, pool_size=pool_size)
    np.testing.assert_array_equal(a.pool, b.pool)
    for dtype in (np.uint32, np.uint64):
        x, y = a.generate_state(words, dtype), b.generate_state(words, dtype)
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
    for _ in range(2):
        for x, y in zip(a.spawn(2), b.spawn(2), strict=True):
            assert repr(x) == repr(y)
            np.testing.assert_array_equal(x.generate_state(4), y.generate_state(4))
    assert a.state == b.state


def test_seeds_of_other_kinds():
    for seed in ("0x123", [[1, 2], 3], np.int64(5), np.array([1, 2], np.uint32), range(3)):
        try:
            expected = theirs.SeedSequence(seed).generate_state(4)
        except TypeError:
            with pytest.raises(TypeError):
                ours.SeedSequence(seed)
        else:
            np.testing.assert_array_equal(ours.SeedSequence(seed).generate_state(4), expected)
    assert not np.array_equal(ours.SeedSequence().pool, ours.SeedSequence().pool)
    for seed, kind in ((-1, ValueError), (1.5, TypeError), ({}, TypeError)):
        for module in (ours, theirs):
            with pytest.raises(kind):
                module.SeedSequence(seed)
    with pytest.raises(ValueError, match="at least 4"):
        ours.SeedSequence(1, pool_size=3)
    with pytest.raises(ValueError, match="only support"):
        ours.SeedSequence(1).generate_state(3, np.int64)
    # NumPy's sequences seed ours.
    same(ours.PCG64(theirs.SeedSequence(8)).state, theirs.PCG64(8).state)


def test_philox_keys_and_counters():
    for options in ({"key": 5}, {"key": [1, 2], "counter": 2**130}, {"counter": [1, 2, 3, 4]}):
        seed = {} if "key" in options else {"seed": 4}
        a, b = ours.Philox(**seed, **options), theirs.Philox(**seed, **options)
        same(a.state, b.state)
        np.testing.assert_array_equal(a.random_raw(9), b.random_raw(9))
    for options in ({"key": -1}, {"key": 2**128}, {"counter": [1]}, {"seed": 1, "key": 1}):
        for module in (ours, theirs):
            with pytest.raises(ValueError):
                module.Philox(**options)


@pytest.mark.parametrize("kind", KINDS)
def test_children(kind):
    a, b = getattr(ours, kind)(5), getattr(theirs, kind)(5)
    for _ in range(2):
        for x, y in zip(a.spawn(2), b.spawn(2), strict=True):
            same(x.state, y.state)
    x, y = ours.Generator(a).spawn(1)[0], theirs.Generator(b).spawn(1)[0]
    same(x.bit_generator.state, y.bit_generator.state)
    with pytest.raises(ValueError, match="non-negative"):
        a.spawn(-1)


@pytest.mark.parametrize("kind", KINDS)
def test_generators_are_interchangeable_with_numpys(kind):
    expected = theirs.Generator(getattr(theirs, kind)(11)).normal(size=2000)
    np.testing.assert_array_equal(
        theirs.Generator(getattr(ours, kind)(11)).normal(size=2000), expected
    )
    mine = ours.default_rng(getattr(theirs, kind)(11))
    np.testing.assert_array_equal(mine.normal(size=2000).evaluated(), expected)
    bits = getattr(ours, kind)(11)
    interface, reference = bits.ctypes, getattr(theirs, kind)(11).ctypes
    assert interface.next_double(interface.state) == reference.next_double(reference.state)
    bits.lock.acquire()
    bits.lock.release()
    with bits.lock:
        bits.random_raw()


def test_one_generator_in_many_threads():
    """Every draw is some run of the stream, and none is lost."""
    rng, reference = ours.default_rng(3), theirs.default_rng(3)
    draws, threads = [], []
    for size in (7, 3000):

        def draw(size=size):
            for _ in range(40):
                draws.append(rng.random(size).evaluated())

        threads += [threading.Thread(target=draw) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drawn = np.sort(np.concatenate(draws))
    np.testing.assert_array_equal(drawn, np.sort(reference.random(drawn.size)))
    same(rng.bit_generator.state, reference.bit_generator.state)


def test_two_libraries_share_one_generator():
    """Neither waits for the other for good: each gives its locks away while it waits."""
    for bits in (ours.PCG64(1), theirs.PCG64(1)):
        mine, other = ours.Generator(bits), theirs.Generator(bits)
        threads = [
            threading.Thread(target=lambda rng=rng: [rng.standard_normal(5000) for _ in range(40)])
            for rng in (mine, other, mine, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def test_default_rng():
    rng = ours.default_rng(5)
    assert ours.default_rng(rng) is rng
    assert ours.default_rng(rng.bit_generator).bit_generator is rng.bit_generator
    assert str(rng) == str(theirs.default_rng(5)) == "Generator(PCG64)"
    assert repr(rng).startswith("Generator(PCG64) at 0x")
    legacy = theirs.RandomState(4)
    expected = theirs.RandomState(4).random(3)
    np.testing.assert_array_equal(ours.default_rng(legacy).random(3).evaluated(), expected)
    assert not np.array_equal(ours.default_rng().random(3), ours.default_rng().random(3))
    again = pickle.loads(pickle.dumps(rng))
    np.testing.assert_array_equal(again.random(3).evaluated(), rng.random(3).evaluated())
    with pytest.raises(NotImplementedError):
        ours.BitGenerator()
    with pytest.raises((ValueError, AttributeError)):
        ours.Generator(5)
