"""Random kernels: accepted means equal to CPython, to the bit for arithmetic.

COMPOSIT_KNOSSOS_FUZZ=100000 tries that many in place of 2000; COMPOSIT_KNOSSOS_SEED gives others.
"""

import linecache
import math
import os

import duals
import kernel_grammar
import numpy as np
import pytest
from own_functions import OwnFunctions

import composit
from composit import _core, knossos

COUNT = int(os.environ.get("COMPOSIT_KNOSSOS_FUZZ", "2000"))
SEED = int(os.environ.get("COMPOSIT_KNOSSOS_SEED", "0"))
PARTS = 10  # one for each share of the long tail
CALLS = 12


def defined(text, number):
    """The function of a text, which inspect finds again."""
    file = f"fuzzed_{number}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"math": math, "__name__": __name__}
    exec(compile(text, file, "exec"), names)
    return next(each for name, each in names.items() if name.startswith("kernel"))


def outcome(function, arguments):
    """What CPython returns; None where it raises, or a float is not finite on the way."""
    try:
        return function(*arguments)
    except (ArithmeticError, ValueError):
        return None


def have_same_bits(a, b):
    """Zeros with their signs; any not-a-number is as good as another."""
    return (a == b and np.signbit(a) == np.signbit(b)) or (a != a and b != b)


def compared(number, random):
    text, floats = kernel_grammar.written(random)
    function = defined(text, number)
    kernel = knossos.register(function)
    try:
        kernel.procedure()
    except TypeError as refused:  # an int on one path, a float on another
        assert "float" in str(refused) and f"[fuzzed_{number}.py:" in str(refused), text
        return 0
    calls = [kernel_grammar.arguments_for(random, floats) for _ in range(CALLS)]
    wanted = [outcome(function, call) for call in calls]
    arrays = [composit.asarray(np.array(column)) for column in zip(*calls)]
    got = composit.evaluate(kernel(*arrays))
    tried = 0
    for call, want, found in zip(calls, wanted, got.tolist(), strict=True):
        if want is None:
            continue
        tried += 1
        assert have_same_bits(want, found), (text, call, want, found)
    return tried


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_values(part):
    random = np.random.default_rng([SEED, part])
    tried = sum(compared((part, i), random) for i in range(COUNT // PARTS))
    assert tried > COUNT // PARTS * CALLS // 2


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(4))
def test_compiled_and_derivatives(part):
    """Printed C++ has the bits of the interpreter, and derivatives are those of dual numbers."""
    random = np.random.default_rng([SEED, 100 + part])
    made = []
    for i in range(max(10, COUNT // 200)):
        text, floats = kernel_grammar.written(random, uses_functions=True, name=f"kernel_{i}")
        made.append((text, floats, knossos.register(defined(text, (100 + part, i)))))
    # All in one library: the compiler starts once.
    procedures = [[kernel.procedure(), kernel.vjp.procedure()] for _, _, kernel in made]
    compiled = _core.procedure.load("fuzzed", procedures, "")
    for i, (text, floats, kernel) in enumerate(made):
        calls = [kernel_grammar.arguments_for(random, floats) for _ in range(CALLS)]
        arrays = [np.array(column) for column in zip(*calls)]
        ones = np.ones(CALLS)
        lazy = [composit.asarray(array) for array in arrays]
        flat = composit.evaluate(kernel(*lazy))
        pulled = composit.evaluate(
            *as_tuple(kernel.vjp(*lazy, composit.asarray(ones))), always_return_tuple=True
        )
        assert compiled[2 * i].map(*arrays).tobytes() == flat.tobytes(), text
        direct = compiled[2 * i + 1].map(*arrays, ones)
        for a, b in zip(as_tuple(direct), pulled, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=text)
        for k, call in enumerate(calls):
            assert have_same_bits(compiled[2 * i](*call), flat[k]), (text, call)
            check_slopes(text, kernel.__wrapped__, call, [float(p[k]) for p in pulled])


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def check_slopes(text, function, call, got):
    try:
        want = duals.slopes(function, call)
    except (ArithmeticError, ValueError):
        return
    if all(map(are_close, got, want)):
        return
    # A function's last bit may have grown: then from composit's functions, at the same places.
    want = duals.slopes(function, call, OwnFunctions(math))
    assert all(map(are_close, got, want)), (text, call, got, want)


def are_close(a, b):
    return kernel_grammar.close(a, b, 1e-7)
