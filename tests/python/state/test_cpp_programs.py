"""Programs of composit::eager's Variables: values as NumPy's, gradients as PyTorch's."""

import imperative_cpp_programs as programs
import pytest

pytestmark = pytest.mark.skipif(
    not programs.RUNNER.exists(), reason="C++ tests are not built beside this package"
)


def texts_of(seeds):
    return [programs.Writer(seed).program() for seed in seeds]


def test_random_programs():
    texts = texts_of(range(2000))
    seed = programs.difference(texts)
    assert seed is None, f"seed {seed}:\n{programs.shown(texts[seed])}"


def test_random_programs_of_short_memory():
    """What was given up changes no value. (It does change gradients: they are errors.)"""
    texts = [f"history 10\n{text}" for text in texts_of(range(1000)) if "parameter" not in text]
    seed = programs.difference(texts)
    assert seed is None, programs.shown(texts[seed])


def test_random_programs_have_every_construct():
    counts = {}
    for seed in range(200):
        programs.Writer(seed, counts).program()
    assert len(counts) == 27 and min(counts.values()) > 30


@pytest.mark.parametrize("fault", programs.FAULTS)
def test_a_fault_put_back_is_found(fault):
    for first in range(0, 2000, 50):
        texts = texts_of(range(first, first + 50))
        place = programs.difference(texts, fault)
        if place is not None:
            break
    else:
        raise AssertionError("2,000 programs do not find it")
    shown = programs.shown(texts[place], fault)
    assert shown.count("\n") < 18, shown


def test_a_process_that_dies_is_a_difference():
    good, bad = "array a float64 2 1 2\n", "array a float64 2 1 2\n        print a\n"
    found = programs.run([good, bad, good])  # the indentation is refused, which ends the process
    assert found[0] == [] and len(found) == 2
    assert found[1][-1].startswith("the process ended with ")
