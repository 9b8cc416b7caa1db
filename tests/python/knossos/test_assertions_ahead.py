"""Loops whose assertions are met before they run: the same values, the same refusals, and loops
that a compiler can vectorise."""

# ruff: noqa: F821

import inspect
import re
from typing import NamedTuple

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor


def gathered(x: "Tensor[float, n]", first: "Tensor[int, m]", then: "Tensor[int, k]"
             ) -> "Tensor[float, m]":  # fmt: skip
    y = np.empty(len(first))
    for i in range(len(first)):
        y[i] = 2.0 * x[then[first[i]]]
    return y


def chased(steps: "Tensor[int, n]") -> "Tensor[int, n]":
    """Reads, as an index, what earlier iterations wrote."""
    at = steps.copy()
    at[0] = 0
    for i in range(1, len(steps)):
        at[i] = steps[at[i - 1]]
    return at


def carried(x: "Tensor[float, n]", steps: "Tensor[int, m]") -> float:
    """The index is carried from one iteration to the next."""
    place = 0
    total = 0.0
    for i in range(len(steps)):
        place = place + steps[i]
        total += x[place]
    return total


def scattered(places: "Tensor[int, m]", x: "Tensor[float, m]", n: int) -> "Tensor[float, n]":
    y = np.zeros(n)
    for i in range(len(places)):
        y[places[i]] += x[i]
    return y


def branching(x: "Tensor[float, n]", places: "Tensor[int, m]") -> float:
    """Only where it is positive is it an index."""
    total = 0.0
    for i in range(len(places)):
        if places[i] > 0:
            total += x[places[i]]
    return total


def nested(x: "Tensor[float, n]", places: "Tensor[int, m]", times: int) -> "Tensor[float, m]":
    y = np.zeros(len(places))
    for _ in range(times):
        for i in range(len(places)):
            y[i] += x[places[i]]
    return y


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=9)
CASES = [
    (gathered, (X, RANDOM.integers(-4, 4, 20), RANDOM.integers(-9, 9, 4)), 2),
    (carried, (X, np.array([2, 3, -4, 5, -1])), 1),
    (scattered, (RANDOM.integers(-5, 5, 30), RANDOM.normal(size=30), 5), 2),
    (nested, (X, RANDOM.integers(-9, 9, 20), 3), 2),
    (branching, (X, RANDOM.integers(-30, 9, 20)), 1),
]


def loops_of(kernel):
    """The heads of loops in the text that is compiled, and how many assertions each holds."""
    text = _core.procedure.print_loadable("it", [[kernel.procedure()]])
    own = text[: text.index("union Slot")].rpartition(f" {kernel.__name__}(")[2]
    parts = re.split(r"\bfor \(", own)[1:]
    return [part.count("assert(") + part.count("checked_index(") for part in parts]


@pytest.mark.parametrize(("function", "arguments", "loops"), CASES,
                         ids=[case[0].__name__ for case in CASES])  # fmt: skip
def test_values(function, arguments, loops):
    kernel = knossos.register(function)
    found = kernel(*arguments)
    np.testing.assert_array_equal(found, function(*arguments))
    counts = loops_of(kernel)
    assert len(counts) == loops
    assert (counts[-1] == 0) == (function in (gathered, scattered))
    kernel._use(_core.procedure.interpreted(kernel.procedure()))
    np.testing.assert_array_equal(kernel(*arguments), found)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        (gathered, (X, np.array([0, 1, 4]), np.array([0, 1, 2, 3])), "y[i] = 2.0"),
        (gathered, (X, np.array([0, 1, 2]), np.array([0, 1, 9, 3])), "y[i] = 2.0"),
        (gathered, (X, np.array([0, -5]), np.array([0, 1, 9, 3])), "y[i] = 2.0"),
        (carried, (X, np.array([8, 1])), "total += x[place]"),
        (scattered, (np.array([4, 5]), np.ones(2), 5), "y[places[i]]"),
    ],
)
def test_refusals_name_the_line(function, arguments, text):
    kernel = knossos.register(function)
    with pytest.raises(IndexError, match=rf"{function.__name__}: .*:{line_of(function, text)}\b"):
        kernel(*arguments)


def test_what_the_loop_writes_is_asserted_within():
    kernel = knossos.register(chased)
    steps = np.array([3, 0, 1, 2])
    assert list(kernel(steps)) == list(chased(steps))
    assert loops_of(kernel)[-1] > 0
    with pytest.raises(IndexError):
        kernel(np.array([3, 0, 1, 4]))


def tiled(x: "Tensor[float, n, 20]", y: "Tensor[float, 4]") -> "Tensor[float, n, 5, 4]":
    """Indices that are known to lie within, from the bounds of counters."""
    made = np.zeros((len(x), 5, 4))
    for i in range(len(x)):
        for f in range(5):
            for m in range(4):
                made[i, f, m] = x[i, 4 * f + m] + y[3 - 0] * x[i, 1 + (3 + f * 3) + m]
    return made


def over(x: "Tensor[float, 20]") -> float:
    total = 0.0
    for f in range(5):
        for m in range(4):
            total += x[4 * f + m + 1]
    return total


def under(x: "Tensor[float, 20]") -> float:
    total = 0.0
    for f in range(3, 5):
        for m in range(4):
            total += x[2 * f + m * 4 - 7]
    return total


def test_bounds_of_counters_prove_indices():
    kernel = knossos.register(tiled)
    x, y = RANDOM.normal(size=(3, 20)), RANDOM.normal(size=4)
    np.testing.assert_array_equal(kernel(x, y), tiled(x, y))
    assert "assert(" not in kernel.procedure().source
    for function in (over, under):
        source = knossos.register(function).procedure().source
        assert "20)" in re.findall(r"(?:assert|checked_index)\(.*", source)[0]
    assert knossos.register(under)(x[0]) == under(x[0])  # -1 is the last
    with pytest.raises(IndexError, match="over"):
        knossos.register(over)(x[0])


@pytest.mark.parametrize("function", [
    "made[m] = 2.0 * x[m] + x[3]", "made[m] += x[4 + m]", "made[m + 4] = x[1 + m] - x[0]",
])  # fmt: skip
def test_short_loops_of_neighbours_stay_loops(function, tmp_path):
    kernel = in_loop(function, tmp_path)
    assert "#pragma GCC unroll 1\n" in kernel.procedure().source
    x = np.arange(1.0, 9.0)
    np.testing.assert_array_equal(kernel(x), kernel.__wrapped__(x))


@pytest.mark.parametrize("function", [
    "made[m] = made[m - 1] + x[m] if m > 3 else x[m]", "made[2 * m] = x[m]", "made[m] = x[2 * m]",
    "made[0] += x[m]", "made[7 - m] = x[m]", "made[m] = x[int(x[m]) // 2]",
])  # fmt: skip
def test_others_are_left_to_the_compiler(function, tmp_path):
    kernel = in_loop(function, tmp_path)
    assert "#pragma" not in kernel.procedure().source
    x = np.arange(1.0, 9.0)
    np.testing.assert_array_equal(kernel(x), kernel.__wrapped__(x))


def in_loop(statement, folder):
    text = (
        "import numpy as np\nfrom composit.knossos import Tensor\n\n\n"
        'def kernel(x: "Tensor[float, 8]") -> "Tensor[float, 8]":\n    made = np.zeros(8)\n'
        f"    for m in range(4):\n        {statement}\n    return made\n"
    )
    (folder / "kernel.py").write_text(text)
    names: dict = {"__name__": "kernel"}
    exec(compile(text, str(folder / "kernel.py"), "exec"), names)
    return knossos.register(names["kernel"])


class Point(NamedTuple):
    x: float
    y: float


def area(p: Point, scale: float) -> tuple[float, float]:
    return scale * p.x * p.y, p.x + p.y


registered = knossos.register(area)


@knossos.register
def slopes(points: "Tensor[float, n, 2]") -> "Tensor[float, n, 3]":
    made = np.empty((len(points), 3))
    for i in range(len(points)):
        p = Point(points[i, 0], points[i, 1])
        made[i] = registered.vjp(p, 3.0, 1.0, 0.5)
    return made


def test_derivatives_are_called_in_kernels_with_records():
    points = RANDOM.normal(size=(10, 2))
    wanted = [registered.vjp(x, y, 3.0, 1.0, 0.5) for x, y in points]
    np.testing.assert_array_equal(slopes(points), wanted)


def test_derivatives_of_too_few_numbers_are_refused():
    @knossos.register
    def few(points: "Tensor[float, n, 2]") -> float:
        return registered.vjp(Point(points[0, 0], points[0, 1]), 3.0)[0]

    with pytest.raises(TypeError, match=r"area_vjp of 3 arguments. It has 5"):
        few(np.ones((1, 2)))
