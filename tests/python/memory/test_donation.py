"""Arguments that the caller gives up: results in their memory, with the bits of other memory."""

from __future__ import annotations

import subprocess
import threading

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def update_rows(cache, fresh, position):
    updated = nn.update_cache(cache, fresh, position)
    return updated, updated.sum(axis=-1)


def sgd(parameters, x, y):
    def loss_of(w, b):
        return cnp.mean(cnp.square(cnp.tanh(x @ w + b) - y))

    gradients = composit.grad(loss_of, argnums=(0, 1))(*parameters)
    return [p - cnp.float32(0.1) * g for p, g in zip(parameters, gradients)]


def momentum(state, x):
    w, v = state
    gradient = x.T @ (x @ w)
    v = cnp.float32(0.9) * v + gradient
    return w - cnp.float32(0.01) * v, v


def looped(w, x):
    def body(i, w):
        return w - cnp.float32(0.01) * (x.T @ cnp.tanh(x @ w))

    return composit.fori_loop(0, 5, body, w)


def both_read(a, b):
    """The first result may lie over a, but the second reads it still."""
    return a + b, a * cnp.flip(a)


def exchanged(a, b):
    return b * cnp.float32(2), a + cnp.float32(1)


def reversed_rows(a):
    return a[::-1] + a


def identity(a):
    return a


def softmax_of_update(a, b):
    a = a + b
    return a, nn.softmax(a, axis=-1) @ b.T


CASES = {
    "cache": (update_rows, 0, lambda: (normal(2, 8, 4), normal(2, 3, 4), np.int64(2))),
    "sgd": (sgd, 0, lambda: ([normal(20, 30), normal(30)], normal(7, 20), normal(7, 30))),
    "momentum": (momentum, 0, lambda: ((normal(40, 50), normal(40, 50)), normal(60, 40))),
    "loop": (looped, 0, lambda: (normal(40, 40), normal(60, 40))),
    "both read": (both_read, (0, 1), lambda: (normal(300), normal(300))),
    "exchanged": (exchanged, (0, 1), lambda: (normal(300), normal(300))),
    "reversed": (reversed_rows, 0, lambda: (normal(30, 20),)),
    "identity": (identity, 0, lambda: (normal(30, 20),)),
    "softmax": (softmax_of_update, 0, lambda: (normal(60, 70), normal(60, 70))),
}
IN_PLACE = {"cache": 1, "sgd": 2, "momentum": 2, "loop": 1, "identity": 1, "softmax": 1}


def leaves(value):
    return [x for v in value for x in leaves(v)] if isinstance(value, (list, tuple)) else [value]


def copied(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(copied, value))
    return value.copy()


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.long_tail
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
@pytest.mark.parametrize("threads", [1, 3])
def test_same_bits(name, backend, threads):
    function, places, make = CASES[name]
    options = {"backend": backend, "threads": threads}
    plain = composit.compile(function, **options)
    donating = composit.compile(function, donate=places, **options)
    args = make()
    for _ in range(3):
        expected = leaves(plain(*copied(args)))
        given = copied(args)
        before = {address(x) for x in leaves(given) if isinstance(x, np.ndarray)}
        results = leaves(donating(*given))
        for a, b in zip(expected, results):
            assert a.tobytes() == b.tobytes()
        if name in IN_PLACE:
            assert sum(address(x) in before for x in results) == IN_PLACE[name]


def test_of_two_threads_that_give_one_array_one_is_let_in():
    step = composit.compile(lambda x, y: cnp.sin(x) + y, donate=0)
    y = np.ones(1 << 19, np.float32)
    expected = step(np.zeros_like(y), y)
    for _ in range(20):
        x, outcomes, begin = np.zeros_like(y), [], threading.Barrier(2)

        def give(x=x, outcomes=outcomes, begin=begin):
            begin.wait()
            try:
                outcomes.append(step(x, y))
            except ValueError as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=give) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = [each for each in outcomes if isinstance(each, np.ndarray)]
        assert len(taken) == 1, outcomes
        np.testing.assert_array_equal(taken[0], expected)
        assert [each for each in outcomes if isinstance(each, str) and "was donated" in each]


def test_chain_of_calls_stays_in_one_memory():
    step = composit.compile(lambda x, y: x + y, donate=0)
    y = np.ones((40, 50), np.float32)
    x = first = np.zeros((40, 50), np.float32)
    where = address(x)
    for _ in range(5):
        x = step(x, y)
        assert address(x) == where
        assert x.base is first  # no chain of arrays that grows
    np.testing.assert_array_equal(x, 5)


def test_composits_own_results_are_taken_over():
    step = composit.compile(lambda x: x + cnp.float32(1), donate=0)
    x = composit.compile(lambda y: y * cnp.float32(2))(np.ones((400, 5), np.float32))
    where = address(x)
    assert address(step(x)) == where


def test_a_donated_array_is_refused():
    step = composit.compile(lambda x: x + cnp.float32(1), donate=0)
    x = np.zeros((4, 5), np.float32)
    step(x)
    with pytest.raises(ValueError, match="was donated to a compiled function"):
        step(x)
    with pytest.raises(ValueError, match="was donated"):
        cnp.asarray(x)
    with pytest.raises(TypeError):
        x + 1


def test_an_error_leaves_it_donated():
    def pick(x, i):
        return x + x[i]

    step = composit.compile(pick, donate=0)
    x = normal(4, 5)
    with pytest.raises(IndexError, match="out of bounds"):
        step(x, np.int64(7))
    with pytest.raises(ValueError, match="was donated"):
        step(x, np.int64(1))


def test_memory_of_others_is_left_alone():
    step = composit.compile(lambda x, y: x + y, donate=0)
    whole, y = normal(8, 300), normal(300)
    kept = whole.copy()
    result = step(whole[3], y)
    assert whole.tobytes() == kept.tobytes()
    np.testing.assert_array_equal(result, kept[3] + y)
    fixed = normal(300)
    fixed.flags.writeable = False
    view = fixed.view()
    values = fixed.copy()
    np.testing.assert_array_equal(step(fixed, y), values + y)
    assert view.tobytes() == values.tobytes()
    foreign = np.frombuffer(bytearray(values.tobytes()), np.float32)
    same = foreign.view()
    np.testing.assert_array_equal(step(foreign, y), values + y)
    assert same.tobytes() == values.tobytes()


def test_one_array_as_two_arguments_is_copied():
    step = composit.compile(lambda x, y: (x + y, x - y), donate=0)
    x = normal(400)
    values = x.copy()
    added, taken = step(x, x)
    np.testing.assert_array_equal(added, values + values)
    np.testing.assert_array_equal(taken, values - values)
    both = composit.compile(lambda x, y: (x + cnp.float32(1), y * cnp.float32(2)), donate=(0, 1))
    x = values.copy()
    more, twice = both(x, x)
    np.testing.assert_array_equal(more, values + np.float32(1))
    np.testing.assert_array_equal(twice, values * np.float32(2))
    assert not np.shares_memory(more, twice)


def test_tensors_keep_their_values():
    step = composit.compile(lambda x: x + cnp.float32(1), donate=0)
    x = cnp.asarray(normal(20))
    before = np.asarray(x).copy()
    np.testing.assert_array_equal(step(x), before + np.float32(1))
    np.testing.assert_array_equal(np.asarray(x), before)


@pytest.mark.parametrize("dtype", ["float16", "complex64", "int8", "bool", "float64"])
def test_dtypes(dtype):
    step = composit.compile(lambda x, y: cnp.where(y, x, x[::1]), donate=0)
    x, y = (normal(50) * 3).astype(dtype), np.arange(50) % 2 == 0
    expected = x.copy()
    result = step(x, y)
    assert result.dtype == expected.dtype and result.tobytes() == expected.tobytes()


def test_shapes_and_dtypes_must_be_equal():
    """A result of as many bytes, but of another shape or dtype, lies elsewhere."""
    step = composit.compile(lambda x: (x.reshape(6, 50), x.view("int32") + 1), donate=0)
    x = normal(50, 6)
    where = address(x)
    assert where not in [address(y) for y in step(x)]


@pytest.mark.parametrize("donate", [-1, True, 1.0, "0", (0, -2)])
def test_places(donate):
    with pytest.raises(ValueError, match=r"Places of arguments, integers from 0, are required\."):
        composit.compile(lambda x: x, donate=donate)


def test_place_beyond_the_arguments():
    step = composit.compile(lambda x: x, donate=1)
    with pytest.raises(ValueError, match="argument 1 is donated, but 1 are given"):
        step(np.zeros(3))


def test_the_program_says_so():
    step = composit.compile(lambda x, y: x + y, donate=0)
    step.specialise(np.zeros(3, np.float32), np.zeros(3, np.float32))
    assert "starts as x" in str(step.program)


def test_exported(tmp_path):
    """The exported function takes the same memory twice, or copies."""
    step = composit.compile(update_rows, donate=0, name="rows")
    cache, fresh = normal(2, 8, 4), normal(2, 3, 4)
    expected = leaves(composit.compile(update_rows)(cache, fresh, np.int64(2)))
    step.specialise(cache, fresh, np.int64(2))
    step.export(tmp_path / "rows")
    files = {}
    for name, array in {"cache": cache, "fresh": fresh, "at": np.int64(2)}.items():
        files[name] = tmp_path / name
        files[name].write_bytes(array.tobytes())
    sources = sorted(str(path) for path in (tmp_path / "rows").glob("*.cpp"))
    program = tmp_path / "program"
    subprocess.run(
        ["g++", "-O1", "-std=c++17", *sources, "-o", str(program), "-pthread"], check=True
    )
    outs = [tmp_path / "out_1", tmp_path / "out_2"]
    subprocess.run([str(program), "rows_", *map(str, files.values()), *map(str, outs)], check=True)
    for path, array in zip(outs, expected):
        assert path.read_bytes() == array.tobytes()
    header = (tmp_path / "rows" / "rows.hpp").read_text()
    assert "is an update of cache: give both the same memory, or it is copied." in header
