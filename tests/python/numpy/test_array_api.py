"""composit.numpy is a namespace of the array API standard 2024.12, as NumPy's is: every function
can be called as it says; results are NumPy's (test_conformance.py compares them)."""

import inspect
import operator
from pathlib import Path

import numpy as np
import pytest
from numpy_conformance import page

import composit
import composit.numpy as cnp
from composit.types import LazyTensor

TEXT = (Path(__file__).parent / "array_api_functions.txt").read_text()
FUNCTIONS = [line for line in TEXT.splitlines() if line and line[0] != "#"]
# What NumPy's own namespace lacks, too.
NUMPY_LACKS = {
    "sort": {"descending"}, "argsort": {"descending"}, "fft.fftfreq": {"dtype"},
    "fft.rfftfreq": {"dtype"}, "clip": {"min", "max"},
}  # fmt: skip
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip


def found(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def parsed(line):
    """(name, [(parameter, kind)]) with kinds "positional", "any", "keyword" and "many"."""
    name, _, rest = line.partition("(")
    parameters, kind = [], "any"
    for word in rest.rstrip(")").split(", "):
        if word == "/":
            parameters = [(other, "positional") for other, _ in parameters]
        elif word == "*":
            kind = "keyword"
        elif word.startswith("*"):
            parameters.append((word[1:], "many"))
            kind = "keyword"
        elif word:
            parameters.append((word, kind))
    return name, parameters


def refusals(function, parameters, lacks):
    """Parameters that the function does not take as the standard says."""
    signature = inspect.signature(function)
    ours = list(signature.parameters.values())
    by_name = signature.parameters
    for place, (name, kind) in enumerate(parameters):
        if name in lacks:
            continue
        if kind == "many":
            good = any(p.kind is p.VAR_POSITIONAL for p in ours)
        elif kind == "positional":
            good = any(p.kind is p.VAR_POSITIONAL for p in ours) or (
                place < len(ours) and ours[place].kind is not inspect.Parameter.KEYWORD_ONLY
            )
        else:
            p = by_name.get(name)
            good = p is not None and p.kind is not p.POSITIONAL_ONLY
            good = good and (kind == "keyword" or p.kind is p.POSITIONAL_OR_KEYWORD)
        if not good:
            yield name


@pytest.mark.parametrize("line", FUNCTIONS)
def test_functions_are_called_as_the_standard_says(line):
    name, parameters = parsed(line)
    lacks = NUMPY_LACKS.get(name, set())
    assert list(refusals(found(cnp, name), parameters, lacks)) == []


@pytest.mark.parametrize("name", [name for name in NUMPY_LACKS if name != "clip"])
def test_what_is_not_there_is_not_in_numpy(name):
    assert not NUMPY_LACKS[name] & set(inspect.signature(found(np, name)).parameters)


def test_every_function_is_compared_with_numpys():
    types = {"finfo", "iinfo"}  # NumPy's own
    assert {parsed(line)[0] for line in FUNCTIONS} - types <= {row.name for row in page.rows()}
    assert len(FUNCTIONS) > 160


def test_clip_takes_bounds_in_the_standards_ways():
    x = cnp.asarray([1.0, 5.0, 9.0])
    for made in (cnp.clip(x, 2, 6), cnp.clip(x, min=2, max=6)):
        assert np.asarray(made).tolist() == [2, 5, 6]


def test_constants_and_dtypes():
    assert (cnp.e, cnp.pi, cnp.inf, cnp.newaxis) == (np.e, np.pi, np.inf, None)
    assert np.isnan(cnp.nan) and cnp.__array_api_version__ == np.__array_api_version__
    for name in DTYPES:
        assert cnp.ones(2, dtype=getattr(cnp, name)).dtype == name


def test_inspection():
    ours, theirs = cnp.__array_namespace_info__(), np.__array_namespace_info__()
    assert ours.default_device() == "cpu" and ours.devices()[0] == "cpu"
    assert ours.default_dtypes() == theirs.default_dtypes()
    for kind in (None, "bool", "integral", "real floating", ("bool", "numeric")):
        assert ours.dtypes(kind=kind) == theirs.dtypes(kind=kind)
    assert ours.capabilities()["boolean indexing"] and ours.capabilities()["data-dependent shapes"]
    with pytest.raises(ValueError, match="device: there is no 'tpu'"):
        ours.dtypes(device="tpu")


OPERATORS = [
    "abs", "neg", "pos", "invert", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow",
    "matmul", "and_", "or_", "xor", "lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne",
]  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators(name, dtype):
    function = getattr(operator, name)
    count = len(inspect.signature(function).parameters)
    arrays = [np.array([[1, 2], [3, 4]], dtype), np.array([[2, 1], [1, 3]], dtype)][:count]
    try:
        expected = function(*arrays)
    except TypeError:
        with pytest.raises(TypeError):
            function(*map(cnp.asarray, arrays))
        return
    made = function(*map(cnp.asarray, arrays))
    assert isinstance(made, LazyTensor) and made.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-6)


def test_the_array_object():
    x = cnp.asarray([[1.5, 2.0, 3.0]])
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is cnp
    assert (x.dtype, x.device, x.ndim, x.shape, x.size) == (np.float64, "cpu", 2, (1, 3), 3)
    assert x.T.shape == x.mT.shape == (3, 1) and x.to_device("cpu") is x
    one = cnp.asarray(3)
    assert (bool(one), int(one), float(one), complex(one)) == (True, 3, 3.0, 3)
    assert operator.index(one) == 3 and [10, 20, 30, 40][one] == 40
    for name in ("add", "sub", "mul", "truediv", "floordiv", "pow", "mod", "matmul", "and", "or",
                 "xor", "lshift", "rshift"):  # fmt: skip
        for prefix in ("__", "__r", "__i"):
            assert hasattr(LazyTensor, f"{prefix}{name}__")


def test_generic_code_runs_on_tensors():
    def standardised(x):
        xp = x.__array_namespace__()
        return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0, correction=1)

    x = np.random.default_rng(0).normal(size=(20, 3))
    made = standardised(cnp.asarray(x))
    assert isinstance(made, LazyTensor)
    np.testing.assert_allclose(composit.evaluate(made), standardised(x), rtol=1e-13)
