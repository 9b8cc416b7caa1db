"""Gradients with respect to arrays that were written since: of what was read, or an error."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp


def gradient(y, *inputs):
    return [np.asarray(g).tolist() for g in composit.chain_rule({y: y}, list(inputs))]


WRITES = {
    "element": lambda x: x.__setitem__(0, 7.0),
    "slice": lambda x: x.__setitem__(slice(1, None), 7.0),
    "whole": lambda x: x.__setitem__(Ellipsis, cnp.ones(3)),
    "augmented": lambda x: x.__iadd__(1),
    "out": lambda x: cnp.multiply(x, x, out=x),
    "view": lambda x: x[::-1].__setitem__(0, 5.0),
    "twice": lambda x: (x.__setitem__(0, 7.0), x.__iadd__(1)),
    "looked at": lambda x: (x.tolist(), x.__setitem__(0, 7.0)),
}


@pytest.mark.parametrize("write", WRITES)
def test_the_gradient_is_that_of_what_was_read(write):
    x = cnp.asarray([1.0, 2.0, 3.0])
    y = (x * x).sum()
    WRITES[write](x)
    assert gradient(y, x) == [[2, 4, 6]]
    assert gradient((x * 5).sum(), x) == [[5, 5, 5]]


def test_an_array_that_was_made_and_not_read_has_none():
    x, w = cnp.asarray([1.0, 2.0]), cnp.asarray([3.0, 4.0])
    x[0] = 5.0
    assert gradient((w * w).sum(), x, w) == [[0, 0], [6, 8]]


def test_two_readings_with_a_write_between_are_an_error():
    x = cnp.asarray([1.0, 2.0])
    y = (x * x).sum()
    x[0] = 5.0
    y = y + x.sum()
    with pytest.raises(ValueError, match=r"^chain_rule: an input was written between readings .* "
                       r"made at .*test_versions\.py:\d+, .*test_versions\.py:\d+\."):  # fmt: skip
        composit.chain_rule({y: y}, [x])


def test_what_is_made_of_itself_is_read_once():
    x = cnp.asarray([1.0, 2.0])
    for _ in range(3):
        x *= 2
        x[0] = x[1] * 0.5
    assert gradient((x * x).sum(), x) == [[16, 32]]


def test_known_arrays_without_nodes_are_read_before_they_are_written():
    x = cnp.asarray([1.0, 2.0])
    x.tolist()
    x = x * 1
    y = (x * 3).sum()
    x[0] = 8.0
    assert gradient(y, x) == [[3, 3]]
    z = (x * x).sum()
    x[1] = 7.0
    assert gradient(z, x) == [[16, 4]]
    with pytest.raises(ValueError, match="was written between readings"):
        gradient(y + z, x)


def test_copies_have_places_of_their_own():
    x = cnp.asarray([1.0, 2.0]) * 1
    c = x.copy()
    y = (c * 3).sum()
    c[0] = 9.0
    x[0] = 8.0
    assert gradient(y, c) == [[3, 3]]
