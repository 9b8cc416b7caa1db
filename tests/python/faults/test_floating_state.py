"""The caller's rounding and flush-to-zero change no result, and are as he left them afterwards."""

import struct
import subprocess

import numpy as np
import pytest
from floating_state import FLUSH, STATES, WORD, needs_states, state
from processes import run

import composit
import composit.numpy as cnp
import composit.torch as ct
from composit import knossos, nn, random
from composit.tensorgrad.const import DTYPE
from composit.tensorgrad.storage import NumpyStorage

pytestmark = needs_states

TINY = np.random.default_rng(0).random((300, 100)) + 0.1
SMALL = (TINY * 1e-310).copy()  # subnormal


def bits(value):
    """All that is in nested tuples, as bytes or texts."""
    if isinstance(value, (tuple, list)):
        return [bits(each) for each in value]
    if isinstance(value, dict):
        return {key: bits(each) for key, each in value.items()}
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, (str, bool, int, bytes, type(None))):
        return value
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()


def function(x):
    y = cnp.sin(x) / 3 + cnp.exp(x) * 0.1
    return (
        y @ y.T / 7,
        cnp.sum(y, axis=0),
        cnp.cumsum(x[0]),
        x * 1e-310,
        cnp.sqrt(x).astype("float32"),
    )


def evaluated(threads):
    return cnp.evaluate(*function(cnp.asarray(TINY)), cnp.asarray(SMALL) * 3, threads=threads)


COMPILED = {}


def compiled(threads):
    if threads not in COMPILED:
        COMPILED[threads] = composit.compile(function, TINY, threads=threads)
    return COMPILED[threads](TINY), COMPILED[threads](SMALL)


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("run", [evaluated, compiled])
def test_results(run, threads, name):
    expected = bits(run(threads))
    with state(name):
        found = run(threads)
    assert bits(found) == expected


@knossos.register
def cubed(x: float, n: int) -> float:
    s = 0.1
    for _ in range(n):
        s += x * x * x / 3.0
    return s


def constants():
    return [
        cnp.evaluate(each)
        for each in (
            cnp.full((3,), 0.1, "float32"),
            cnp.asarray([0.1, 1e-40, 1 / 3], "float32"),
            cnp.asarray([0.1, 1e-5], "float16"),
            cnp.linspace(0.1, 0.7, 11),
            cnp.arange(0.1, 2, 0.3, dtype="float32"),
            cnp.fft.fft(cnp.asarray(TINY[0])),
            cnp.hanning(9),
            cnp.asarray(SMALL).astype("float32"),
            cnp.percentile(cnp.asarray(TINY), [10, 33.3]),
            cnp.geomspace(0.1, 3, 5),
            cnp.ones(3) * 0.1 + 1 / 3,
        )
    ]


def simplified():
    x = composit.placeholder("x", (3,), "float32")
    y = (x * 0.1 + 0.7) * cnp.sqrt(cnp.asarray(0.3, "float32"))
    text = str(y.graph)
    return text


def draws():
    generator = cnp.random.default_rng(3)
    return [
        cnp.evaluate(generator.normal(0.1, 0.3, 50)),
        cnp.evaluate(generator.gamma(0.7, 1.1, 50)),
        cnp.evaluate(generator.random(20, dtype="float32")),
        cnp.evaluate(random.normal(random.key(7), (100,), "float32")),
        cnp.evaluate(random.uniform(random.key(7), (100,), "float32", 0.1, 0.7)),
    ]


def decompositions():
    square = TINY[:40, :40]
    return [cnp.evaluate(each) for each in cnp.linalg.svd(cnp.asarray(square))]


def eagerly():
    x = ct.tensor([0.1, 0.2, 0.7, 1e-40], requires_grad=True)
    y = (ct.exp(x) * 0.3 / 7 + x * 1e-38).sum()
    y.backward()
    optimizer = ct.optim.Adam([x], lr=0.1)
    optimizer.step()
    return y.item(), x.grad.numpy(), x.detach().numpy(), repr(y)


def kernels():
    return (
        cubed(0.1, 5),
        cubed.vjp(0.1, 5, 0.3),
        cnp.evaluate(cnp.cumsum(cnp.asarray(TINY[0]))),
    )


def registered():
    @knossos.register
    def scaled(x: float, y: float = 0.1) -> float:
        return x * 0.1 + 0.7 / 3.0 - y * 1e-5

    return scaled(0.3), scaled.vjp(0.3, 0.1, 0.7), scaled(TINY[0])


def of_numbers():
    x, y = ct.tensor([0.1, 0.2, 0.7, 3.0]), ct.tensor([0.3, 0.2, 0.1, 0.9])
    losses = ct.nn.functional
    return (
        cnp.evaluate(cnp.fromiter((each / 10 for each in range(9)), "float32")),
        NumpyStorage.tensor([0.1, 0.7, 1e-40], DTYPE.FLOAT32),
        losses.huber_loss(x, y, delta=0.1).item(),
        losses.smooth_l1_loss(x, y, beta=0.3).item(),
        losses.gaussian_nll_loss(x, y, y, full=True).item(),
        losses.poisson_nll_loss(x, y, full=True).item(),
        losses.cross_entropy(x[None], ct.tensor([2]), label_smoothing=0.1).item(),
        losses.triplet_margin_loss(x[None], y[None], -y[None], margin=0.3).item(),
        losses.lp_pool1d(x[None], 3.0, 2).numpy(),
        losses.elu(-x, alpha=0.3).numpy(),
    )


def trained():
    weight = cnp.asarray(TINY[:8, :4])
    loss = cnp.mean(nn.gelu(cnp.asarray(TINY[:5, :8]) @ weight))
    gradients = nn.chain_rule({loss: loss}, [weight])
    optimizer = nn.adam(learning_rate=1e-3)
    (after,), _ = optimizer.step([weight], gradients, optimizer.initial_state([weight]))
    return cnp.evaluate(after), cnp.evaluate(nn.layer_norm(weight))


PROGRAMS = [constants, simplified, draws, decompositions, eagerly, kernels, registered, of_numbers,
            trained]  # fmt: skip


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program, name):
    expected = bits(program())
    with state(name):
        found = program()
    assert bits(found) == expected


@pytest.mark.parametrize("name", STATES)
def test_a_program_under_it_from_the_start(name):
    """Pools, tables and plans that are made under it hold nothing of it."""
    program = """
import sys
sys.path.insert(0, "tests")
from floating_state import state
x = np.random.default_rng(0).random((2000, 100)) + 0.1
def results():
    values = [*cnp.evaluate(cnp.sin(cnp.asarray(x)) / 3, cnp.asarray(x) * 1e-310, threads=3)]
    values.append(np.float64(float(cnp.evaluate(cnp.lgamma(cnp.asarray(0.3))))))
    return [value.tobytes() for value in values]
with state(NAME):
    first = results()
print(first == results())
""".replace("NAME", repr(name))
    assert run(program) == (0, "True\n", "")


MAIN = """
#include "fourth.hpp"
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int64_t n = 300000;
using Numbers = std::vector<double>;

Numbers run(const Numbers& x, int threads) {
    Numbers y(n), z(n);
    fourth::fourth_(x.data(), y.data(), z.data(), threads);
    y.insert(y.end(), z.begin(), z.end());
    return y;
}

void flush(bool is_on) {  // FLUSH of floating_state.py
    fenv_t state;
    fegetenv(&state);
    uint32_t words[sizeof state / 4];
    std::memcpy(words, &state, sizeof state);
    words[WORD] = is_on ? words[WORD] | FLUSH : words[WORD] & ~FLUSH;
    std::memcpy(&state, words, sizeof state);
    fesetenv(&state);
}

int main() {
    Numbers x(n);
    for (int64_t i = 0; i < n; ++i) x[i] = 0.1 + double(i) / n;
    const auto under = [&](int rounding, bool flushes, int threads) {
        fesetround(rounding);
        flush(flushes);
        const Numbers results = run(x, threads);
        if (fegetround() != rounding) std::puts("the rounding is not as it was");
        volatile double least = 4.9e-324;
        if ((least * 1.0 == 0) != flushes) std::puts("flush-to-zero is not as it was");
        flush(false);
        fesetround(FE_TONEAREST);
        return results;
    };
    // Threads that are born under a state keep nothing of it.
    const Numbers strange = under(FE_UPWARD, true, 2), expected = run(x, 1);
    int equal = strange == expected;
    for (int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
        for (bool flushes : {false, true})
            for (int threads : {1, 2, 3, 4}) equal += under(rounding, flushes, threads) == expected;
    std::printf("%d of 33, %s\\n", equal, expected[n] > 0 ? "subnormal" : "zero");
}
"""


def test_an_exported_program(tmp_path):
    x = np.ones(300000)
    compiled = composit.compile(
        lambda x: (cnp.sin(x) / 3 + cnp.exp(x) * 0.1, x * 1e-310),
        x,
        backend="interpreter",
        name="fourth",
    )
    compiled.export(tmp_path)
    main = MAIN.replace("FLUSH", f"{FLUSH:#x}u").replace("WORD", str(WORD))
    (tmp_path / "main.cpp").write_text(main)
    command = "c++ -O1 -std=c++17 -Wall -Wextra -Werror -frounding-math fourth.cpp main.cpp -o it"
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "it"], capture_output=True, text=True, check=True)
    assert done.stdout == "33 of 33, subnormal\n"
