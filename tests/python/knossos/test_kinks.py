"""Random kernels at kinks, poles and the ends of domains: forward, reverse and along a direction
derivatives are the same, interpreted and compiled.

COMPOSIT_KNOSSOS_FUZZ=100000 tries that many in place of 400; COMPOSIT_KNOSSOS_SEED gives others.
"""

import math
import os

import kink_grammar
import numpy as np
import pytest
from test_fuzz import defined, outcome

import composit
from composit import _core, knossos

COUNT = int(os.environ.get("COMPOSIT_KNOSSOS_FUZZ", "400"))
SEED = int(os.environ.get("COMPOSIT_KNOSSOS_SEED", "0"))
PARTS = 4
CALLS = 6
procedure = _core.procedure


def derivatives(of):
    """The function, its derivative forward, in reverse, and along directions."""
    return [of, procedure.vjp(of), procedure.reverse(of), procedure.jvp(of)]


def found_at(codes, x, y):
    """The value, and the gradients by each mode; None where the value is not finite."""
    value, forward, back, along = codes
    if not np.isfinite(value(x, y)):
        return None
    return [
        np.array(forward(x, y, 1.0)), np.array(back(x, y, 1.0)),
        np.array([along(x, y, 1.0, 0.0), along(x, y, 0.0, 1.0)]),
        np.array(back(x, y, 0.0)), np.array(forward(x, y, 0.0)),
    ]  # fmt: skip


def interpreted(of):
    code = procedure.interpreted(of)

    def call(*numbers):
        made = code(list(numbers), [], [])
        return made[0] if len(made) == 1 else tuple(made)

    return call


def check(text, x, y, made):
    """Whether all are known. Infinite slopes of values that cancel are not: v - v forward, where v
    has one, and x - x in reverse, where what receives it has."""
    forward, back, along, unused, unused_forward = made
    at = (text, x, y, made)
    assert np.array_equal(np.isnan(forward), np.isnan(along)), at
    is_known = ~np.isnan(forward) & ~np.isnan(back)
    assert np.allclose(forward[is_known], along[is_known], rtol=1e-9), at
    assert np.allclose(forward[is_known], back[is_known], rtol=1e-9), at
    assert not np.any(unused) and not np.any(unused_forward), at
    return is_known.all()


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_modes(part):
    random = np.random.default_rng([SEED, 300 + part])
    tried = known = 0
    for i in range(COUNT // PARTS):
        text = kink_grammar.written(random)
        function = defined(text, ("kink", part, i))
        made = knossos.register(function).procedure()
        codes = [interpreted(each) for each in derivatives(made)]
        for _ in range(CALLS):
            x, y = (float(kink_grammar.AT[k]) for k in random.integers(7, size=2))
            found = found_at(codes, x, y)
            # Where Python raises, a value on the way is NaN.
            if found is not None and outcome(function, (x, y)) is not None:
                tried += 1
                known += check(text, x, y, found)
    assert tried > COUNT // PARTS * CALLS // 2 and known > 0.95 * tried


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", [procedure.vjp, procedure.reverse, procedure.jvp])
def test_compiled(mode):
    random = np.random.default_rng([SEED, 400])
    made = []
    for i in range(max(10, COUNT // 100)):
        text = kink_grammar.written(random).replace("def kernel", f"def kernel_{i}")
        of = knossos.register(defined(text, ("kinks", i))).procedure()
        made.append([of, mode(of)])
    compiled = procedure.load("kinks", made, "")
    for code, of in zip(compiled, [each for pair in made for each in pair], strict=True):
        slow, more = interpreted(of), len(of.parameters) - 2
        for x in kink_grammar.AT:
            for y in kink_grammar.AT:
                arguments = [x, y, *([1.0] * more)]
                np.testing.assert_array_equal(code(*arguments), slow(*arguments))


def root_times_square(x: float, y: float) -> float:
    return math.sqrt(x) * (y * y)


def cubes_over_root(x: float, y: float) -> float:
    return (y - 0.25) ** 3 / math.sqrt(x) + (y - 0.25) ** 2 * math.log(x)


def root_of_squares(x: float, y: float) -> float:
    return math.sqrt(x + y * y) * (y + 1.0)


def product_of_powers(x: float, y: float) -> float:
    return (x - 1.0) ** 2 * y**1.5


def third_moment(x: float, y: float) -> float:
    middle = (x + y) * 0.5
    return ((x - middle) ** 3 + y) / math.sqrt((x - middle) ** 2 + (y - middle) ** 2 + x)


@pytest.mark.parametrize(
    "function, at",
    [
        (root_times_square, (1.0, 0.0)),
        (cubes_over_root, (2.0, 0.25)),
        (root_of_squares, (1.0, 0.0)),
        (product_of_powers, (1.0, 2.0)),
        (third_moment, (0.5, 0.5)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_second_derivatives_where_a_factor_is_zero(function, at):
    """Where a factor of a derivative is zero, its own slope is not."""
    kernel, (x, y), step = knossos.register(function), at, 1e-5
    hessian = np.array([
        (np.array(kernel.grad(x + step * a, y + step * b))
         - np.array(kernel.grad(x - step * a, y - step * b))) / (2 * step)
        for a, b in ((1, 0), (0, 1))
    ])  # fmt: skip
    for k, (a, b) in enumerate(((1.0, 0.0), (0.0, 1.0))):
        forward_over_reverse = kernel.vjp.jvp(x, y, 1.0, a, b, 0.0)
        reverse_over_reverse = kernel.vjp.vjp(x, y, 1.0, a, b)[:2]
        reverse_over_forward = kernel.jvp.vjp(x, y, a, b, 1.0)[:2]
        for found in (forward_over_reverse, reverse_over_reverse, reverse_over_forward):
            np.testing.assert_allclose(found, hessian[k], rtol=1e-6, atol=1e-8)
        for j, (c, d) in enumerate(((1.0, 0.0), (0.0, 1.0))):
            twice_forward = kernel.jvp.jvp(x, y, a, b, c, d, 0.0, 0.0)
            np.testing.assert_allclose(twice_forward, hessian[k][j], rtol=1e-6, atol=1e-8)


def length(x: float, y: float) -> float:
    return math.hypot(x, 2.0 * y) + y


def test_the_slope_of_a_length_of_zero_is_zero():
    """As np.linalg.norm's, in graphs, too."""
    kernel = knossos.register(length)
    assert kernel.grad(0.0, 0.0) == (0.0, 1.0) and kernel.grad(3.0, 2.0) == (0.6, 2.6)
    assert (kernel.jvp(0.0, 0.0, 1.0, 0.0), kernel.jvp(0.0, 0.0, 0.0, 1.0)) == (0.0, 1.0)
    x = np.array([0.0, 3.0])
    gradient = composit.grad(lambda x: composit.sum(composit.hypot(x, 4.0 * x)))(x)
    np.testing.assert_allclose(composit.evaluate(gradient), [0.0, math.sqrt(17.0)], rtol=1e-15)


def zero_kept(x: float, y: float) -> float:
    return x if x == 0.0 else x * y


def two_kept(x: float, y: float) -> float:
    return x if x == 2.0 else x * x * y


@pytest.mark.parametrize(
    "function, at, expected",
    [
        (zero_kept, (0.0, 3.0), (1.0, 0.0)),
        (zero_kept, (2.0, 3.0), (3.0, 2.0)),
        (two_kept, (2.0, 3.0), (1.0, 0.0)),
        (two_kept, (1.0, 3.0), (6.0, 1.0)),
    ],
)
def test_a_choice_is_no_product(function, at, expected):
    """A value that the program keeps where it equals a number is chosen there: the slope is 1."""
    kernel, (x, y) = knossos.register(function), at
    assert kernel.grad(x, y) == expected
    assert (kernel.jvp(x, y, 1.0, 0.0), kernel.jvp(x, y, 0.0, 1.0)) == expected
