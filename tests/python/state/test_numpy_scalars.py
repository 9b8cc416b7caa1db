"""NumPy's own scalars beside composit's scalars and arrays, on either side of an operator: values,
dtypes and errors are NumPy's, whether the operator is answered at once or makes a node."""

import operator
import warnings

import numpy as np
import pytest

import composit
import composit.numpy as cnp

SCALARS = [
    np.float64(2.5), np.float32(0.1), np.int64(-3), np.int32(7), np.int16(-300), np.int8(100),
    np.uint8(250), np.uint16(65_535), np.uint32(3), np.uint64(2**63 + 5), np.bool_(True),
    np.float16(1.5), np.complex64(1 + 2j), np.array(4.0), np.array(3, np.int8),
]  # fmt: skip
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
]  # fmt: skip
OPERANDS = {
    "element of floats": lambda m: m.linspace(1, 5, 10)[3],
    "element of integers": lambda m: m.arange(10)[3],
    "element of bytes": lambda m: m.arange(10, dtype=m.uint8)[3],
    "small array": lambda m: m.arange(3.0),
    "larger array": lambda m: m.arange(60, dtype=m.int32) + 1,
    "bool": lambda m: (m.arange(3) > 1)[2],
}


def outcome(operation, *operands):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = np.asarray(composit.evaluate(operation(*operands)))
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)
    return found


def check(found, expected, label):
    if isinstance(expected, type):
        assert found is expected, label
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), label
    # Powers and divisions of floats may be the number beside.
    bound = {"float16": 1e-3, "float32": 1e-6, "complex64": 1e-6}.get(found.dtype.name, 1e-14)
    np.testing.assert_allclose(found, expected, rtol=bound, err_msg=str(label))


@pytest.mark.parametrize("name", OPERANDS)
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_operators_are_numpys(name, scalar):
    theirs, ours = OPERANDS[name](np), OPERANDS[name](cnp)
    for of in OPERATORS:
        for here, there in (((ours, scalar), (theirs, scalar)), ((scalar, ours), (scalar, theirs))):
            check(outcome(of, *here), outcome(of, *there), (of.__name__, there))


def test_the_graph_is_the_one_of_a_constant():
    x = cnp.arange(4.0)
    x.sum().item()
    made = np.float64(2.5) * x[3]
    assert [node.operation.name for node in made.graph.nodes].count("constant") == 2
    assert composit.evaluate(made, {x: np.full(4, 10.0)}) == 25


def test_numpys_scalars_are_written_as_numbers():
    x = cnp.zeros(3, cnp.int32)
    x[0], x[1] = np.int64(7), np.bool_(True)
    x[2] = np.float64(2.75)
    assert x.tolist() == [7, 1, 2]
    with pytest.raises(ValueError, match="NaN"):
        x[0] = np.float64("nan")


def test_ufuncs_of_values_keep_their_options():
    x = cnp.linspace(1, 5, 10)[3]
    with pytest.raises(TypeError):
        np.add(np.float64(1), x, bogus=1)
    assert np.add(np.float64(1), x, dtype=np.float32).dtype == np.float32
    assert type(x).__array_ufunc__(x, np.add, "__call__", np.float64(1), x) == 1 + x
    assert x.__array_ufunc__(np.add, "reduce", cnp.arange(4)) == 6
