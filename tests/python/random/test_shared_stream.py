"""The functions of composit.numpy.random and NumPy's draw from one stream, so a program that other
libraries draw in has NumPy's numbers."""

import numpy as np
import pytest

import composit.numpy as cnp


def drawn(random):
    """Numbers of a program in which a library draws from NumPy's functions."""
    random.seed(7)
    found = [np.asarray(random.rand(3)), np.random.rand(2), np.asarray(random.randint(0, 9, 4))]
    found += [np.random.permutation(5), np.asarray(random.permutation(5)), np.random.rand(1)]
    found += [np.random.standard_normal(2), np.asarray(random.standard_normal(4))]
    return found


@pytest.fixture(autouse=True)
def restored():
    generator, state = np.random.get_bit_generator(), np.random.get_state()
    yield
    cnp.random.set_bit_generator(generator)
    np.random.set_state(state)


def test_a_program_has_numpys_numbers():
    for mine, theirs in zip(drawn(cnp.random), drawn(np.random), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_either_seeds_both():
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    assert float(cnp.random.rand()) == expected
    cnp.random.seed(3)
    assert np.random.rand() == expected
    assert cnp.random.get_bit_generator() is np.random.get_bit_generator()


def test_a_seed_forgets_the_second_normal_number():
    np.random.seed(3)
    expected = np.random.standard_normal()
    np.random.standard_normal(3)  # NumPy keeps a number
    cnp.random.seed(3)
    assert np.random.standard_normal() == expected


def test_a_state_is_of_both():
    cnp.random.seed(5)
    cnp.random.standard_normal(3)
    state = cnp.random.get_state()
    numbers = np.asarray(cnp.random.standard_normal(3))
    cnp.random.set_state(state)
    np.testing.assert_array_equal(np.random.standard_normal(3), numbers)


def test_another_generator_is_of_both():
    cnp.random.set_bit_generator(cnp.random.PCG64(3))
    assert np.random.get_bit_generator() is cnp.random.get_bit_generator()
    first, second = np.random.rand(), float(cnp.random.rand())
    generator = np.random.RandomState(np.random.PCG64(3))
    assert [first, second] == [generator.rand(), generator.rand()]
    with pytest.raises(TypeError, match="seed: can only re-seed a MT19937 BitGenerator"):
        cnp.random.seed(3)


def test_other_states_are_their_own():
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    cnp.random.RandomState(8).rand(5)
    assert np.random.rand() == expected
