"""Programs at their edges: lists that hold themselves, views of what died, writes by several
threads, looks within `__del__`, operations in place that fail."""

import gc
import threading

import numpy as np
import pytest
import torch

import composit.numpy as cnp
import composit.torch as ours


def itself():
    made = [1.0]
    made.append(made)
    return made


def within_itself():
    made = []
    made.append(made)
    return made


@pytest.mark.parametrize("make", [within_itself, lambda: [within_itself()], itself])
@pytest.mark.parametrize("function", ["array", "asarray"])
def test_an_array_of_a_list_that_holds_itself(make, function):
    with pytest.raises(ValueError) as expected:
        getattr(np, function)(make())
    with pytest.raises(ValueError) as found:
        getattr(cnp, function)(make())
    assert str(expected.value)[:60] in str(found.value)


@pytest.mark.parametrize("function", ["tensor", "as_tensor"])
def test_a_tensor_of_a_list_that_holds_itself(function):
    for t in (torch, ours):
        with pytest.raises(ValueError, match="too many dimensions 'list'"):
            getattr(t, function)(within_itself())


def test_an_array_as_its_own_element():
    x = cnp.arange(3.0)
    with pytest.raises(ValueError):
        x[0] = [x]
    assert x.tolist() == [0, 1, 2]
    x[:] = x[::-1]  # itself is not the same as a list of itself
    assert x.tolist() == [2, 1, 0]


@pytest.mark.parametrize("np", [np, cnp])
def test_views_of_views_outlive_what_they_see(np):
    x = np.arange(12.0).reshape(3, 4)
    view = x[1:][:, ::2]
    del x
    gc.collect()
    view[0, 0] = 7
    assert view.tolist() == [[7, 6], [8, 10]]


@pytest.mark.parametrize("ones", [cnp.ones, ours.ones])
def test_a_look_within_del(ones):
    seen = []

    class Holder:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            seen.append(float(self.x.sum()))

    holder = Holder(ones(4) * 2)
    later = ones(3) + 1
    del holder
    gc.collect()
    assert seen == [8] and later.tolist() == [2, 2, 2]


@pytest.mark.parametrize("index, value", [([0, 9], 5.0), (5, 1.0), (slice(0, 2), [1.0, 2.0, 3.0])])
def test_a_write_that_fails_leaves_what_was_there(index, value):
    x = cnp.arange(3.0)
    view = x[:]
    with pytest.raises((IndexError, ValueError)):
        x[index] = value
    assert x.tolist() == view.tolist() == [0, 1, 2]


def test_an_operation_in_place_that_fails_leaves_what_was_there():
    x, y = cnp.arange(3.0), ours.arange(3.0)
    with pytest.raises(ValueError):
        x += cnp.ones(4)
    with pytest.raises(RuntimeError):
        y += ours.ones(4)
    with cnp.errstate(all="raise"), pytest.raises(FloatingPointError):
        x /= 0
    assert x.tolist() == y.tolist() == [0, 1, 2]


def by_threads(work, count=4):
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("update", ["add_", "__iadd__"])
@pytest.mark.parametrize("turn", range(5))
def test_no_write_of_a_thread_is_lost(update, turn):
    x = ours.zeros(10)
    by_threads(lambda k: [getattr(x, update)(1) for _ in range(300)])
    assert x.tolist() == [1200.0] * 10


def test_threads_write_elements_of_one_array():
    x = cnp.zeros(800)

    def work(k):
        for i in range(200):
            x[200 * k + i] = k + 1

    by_threads(work)
    assert np.asarray(x).reshape(4, 200).sum(1).tolist() == [200, 400, 600, 800]


def test_threads_add_to_one_array():
    x = cnp.zeros(10)
    by_threads(lambda k: [x.__iadd__(1) for _ in range(300)])
    assert x.tolist() == [1200.0] * 10
