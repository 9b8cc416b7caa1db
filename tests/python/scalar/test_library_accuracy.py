"""The transcendental functions through composit.numpy stay within their bounds: 2 ulp in float32,
judged by float64, and 4 ulp in float64, judged by long double or decimal numbers."""

import decimal
import math
from decimal import Decimal

import numpy as np
import pytest
from accuracy.references import BINARY, BOUNDS, UNARY, References

from composit import numpy as cnp

COUNT = 20_000


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    return References(tmp_path_factory.mktemp("references"))


def samples(dtype, seed):
    """Random bits, numbers of ordinary size, and neighbours of integers down to the last bit."""
    random = np.random.default_rng(seed)
    word = f"u{np.dtype(dtype).itemsize}"
    size = COUNT // 4
    anywhere = random.integers(0, np.iinfo(word).max, size, word, True).view(dtype)
    integers = random.integers(-40, 40, size).astype(dtype)
    steps = random.integers(-30, 30, size) * np.spacing(np.abs(integers) + dtype(1) / 8)
    values = [anywhere, random.uniform(-20, 20, size), random.normal(size=size), integers + steps]
    return random.permutation(np.concatenate([np.asarray(x, dtype) for x in values]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_errors_are_bounded(references, name, dtype):
    operands = [samples(dtype, seed) for seed in range(1 if name in UNARY else 2)]
    got = cnp.evaluate(getattr(cnp, name)(*operands))
    errors = references.errors(name, operands, got)
    worst = int(np.argmax(errors))
    where = [x[worst] for x in operands]
    assert errors[worst] <= BOUNDS[got.dtype.name], (name, where, got[worst])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_a_sum_near_one_has_an_accurate_logarithm(references, name, dtype):
    random = np.random.default_rng(0)
    unit = np.log(2) if name == "logaddexp" else 1.0
    larger = random.uniform(-unit, 0, COUNT).astype(dtype)
    # What is missing from 1, nearly: results that long double can judge.
    near = np.expm1(larger.astype(np.longdouble) * (np.log(np.longdouble(2)) / unit))
    missing = np.log(-near) * unit / np.log(np.longdouble(2))
    relative = 2.0**-30 if dtype == np.float32 else 2.0**-6
    smaller = (missing * (1 + random.uniform(-1, 1, COUNT) * relative)).astype(dtype)
    got = cnp.evaluate(getattr(cnp, name)(smaller, larger))
    is_judged = np.abs(got) > (2.0**-36 if dtype == np.float32 else 2.0**-9) * np.exp(smaller)
    errors = references.errors(name, [smaller, larger], got)[is_judged]
    assert errors.size > COUNT / 2
    assert errors.max() <= BOUNDS[got.dtype.name]


# Of sixty million numbers, each with the nearest to what it lacks to a logarithm of 0: those that
# come closest.
CLOSEST = {
    "logaddexp": [
        ("-0x1.422f90108ab59p-2", "-0x1.4f3df81754acfp+0"),
        ("-0x1.0aa6772f1e617p-4", "-0x1.61d15d16d80c1p+1"),
    ],
    "logaddexp2": [
        ("-0x1.b4595a2c951cdp-5", "-0x1.324d77d4aeea6p+2"),
        ("-0x1.21984802d4fa5p-6", "-0x1.97055f88c9178p+2"),
    ],
}


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_the_nearest_numbers_to_a_zero_have_an_accurate_logarithm(name):
    random = np.random.default_rng(0)
    with decimal.localcontext(decimal.Context(prec=120)):
        unit = Decimal(2).ln() if name == "logaddexp2" else Decimal(1)
        longest = 1.0 if name == "logaddexp2" else math.log(2)
        larger = [*random.uniform(-longest, 0, 700), *-(2.0 ** random.uniform(-60, -1, 300))]
        pairs = [(x, float((1 - (Decimal(x) * unit).exp()).ln() / unit)) for x in larger]
        pairs += [(float.fromhex(a), float.fromhex(b)) for a, b in CLOSEST[name]]
        got = cnp.evaluate(getattr(cnp, name)(*np.array(pairs).T))
        for (x, y), result in zip(pairs, got):
            a, b = (Decimal(x) * unit).exp(), (Decimal(y) * unit).exp()
            exact = (a + b).ln() / unit
            assert abs(exact) < Decimal(2) ** -42 * b
            error = abs(Decimal(float(result)) - exact) / Decimal(math.ulp(float(exact)))
            assert error <= BOUNDS["float64"], (x, y, result)
