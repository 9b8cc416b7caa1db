"""The programs of a compiled function are bounded by the memory that they keep."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import composit
import composit.numpy as cnp


def loaded_libraries(folder):
    """The kernels' libraries that this process has mapped now."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return {line.split()[-1] for line in maps if str(folder) in line}


def double(x):
    return cnp.add(x, x)


def test_those_used_least_recently_are_unloaded(tmp_path):
    function = composit.compile(double, cache_folder=str(tmp_path), most_bytes=200_000)
    for length in range(1, 30):
        assert function(np.ones(length)).shape == (length,)
        function(np.ones(1))  # stays the one used last but one
    count = len(function.specialisations)
    gc.collect()
    assert 1 < count < 29 and len(loaded_libraries(tmp_path)) == count
    lengths = [core.core.inputs[0].shape[0] for core in function.specialisations.values()]
    assert lengths == [1, *range(31 - count, 30)]


def test_none_is_kept_but_the_one_used_last(tmp_path):
    function = composit.compile(double, cache_folder=str(tmp_path), most_bytes=0)
    for length in (3, 4, 3):
        np.testing.assert_array_equal(function(np.ones(length)), np.full(length, 2.0))
        gc.collect()
        assert len(function.specialisations) == len(loaded_libraries(tmp_path)) == 1


def test_arenas_count():
    def chain(x):
        return cnp.sort(cnp.sort(x) * 2.0) + 1.0

    function = composit.compile(chain, backend="interpreter", most_bytes=4_000_000)
    for length in (100_000, 200_000, 300_000):
        function(np.ones(length))
        function(np.ones(length))
    assert len(function.specialisations) < 3


def test_names_of_programs_differ_whatever_was_forgotten():
    function = composit.compile(double, backend="interpreter", most_bytes=0)
    names = [function.specialise(np.ones(length)).core.name for length in (1, 2, 3)]
    assert names == ["double", "double_2", "double_3"]


@pytest.mark.parametrize("value", [-1, 1.5, True, "1"])
def test_other_values_are_refused(value):
    with pytest.raises(ValueError) as error:
        composit.compile(double, most_bytes=value)
    assert str(error.value).startswith(
        f"compile: most_bytes is {value!r}. A number of bytes from 0 is required."
    )


def test_keys_that_call_the_function_while_they_are_compared():
    class Key:
        is_armed = False

        def __hash__(self):
            return 1

        def __eq__(self, other):
            if Key.is_armed:
                Key.is_armed = False
                for length in range(20, 60):
                    function({"other": np.ones(length)})
            return isinstance(other, Key)

    function = composit.compile(
        lambda given: sum(given.values()) + 1.0, backend="interpreter", most_bytes=0
    )
    function({Key(): np.ones(3)})
    Key.is_armed = True
    np.testing.assert_array_equal(function({Key(): np.ones(3)}), np.full(3, 2.0))


def test_keys_that_change_the_arguments_while_they_are_compared():
    class Key:
        victim = None

        def __hash__(self):
            return 1

        def __eq__(self, other):
            if Key.victim is not None:
                Key.victim.clear()
            return isinstance(other, Key)

    function = composit.compile(
        lambda given, rest: given[next(iter(given))] + rest[0], backend="interpreter"
    )
    function({Key(): np.ones(3)}, [np.ones(3), np.ones(2)])
    rest = [np.ones(3), np.ones(2)]
    Key.victim = rest
    with pytest.raises(IndexError):
        function({Key(): np.ones(3)}, rest)


def test_threads_that_compile_the_same_signature_get_one_program():
    barrier = threading.Barrier(4)

    def traced(x):
        barrier.wait(60)
        return cnp.add(x, 1.0)

    function = composit.compile(traced, backend="interpreter", most_bytes=0)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(function, [np.ones(3)] * 4):
            np.testing.assert_array_equal(result, np.full(3, 2.0))
    assert len(function.specialisations) == 1
