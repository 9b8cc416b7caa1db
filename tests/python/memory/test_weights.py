"""Weights are in memory once, however many programs read them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import mosaic

BACK_ENDS = ["cpp", "interpreter"]
ALLOWED = 1.15  # of the weights and the arena
MORE = 0.1  # of the weights, for another program: its arena, scratch memory and code

# A process of its own: the peak is the process's. The weights are drawn one by one into the same
# array, so that what NumPy takes for them is out of the account.
PROGRAM = """
import json
import re
from pathlib import Path

import numpy as np

import composit
import composit.numpy as cnp
from composit import nn

LAYERS, WIDTH, WIDE = 12, 512, 2048

def status(key):
    return int(re.search(rf"{key}:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10

def weights_of(layers, width, wide):
    draw, room = np.random.default_rng(0), np.empty(width * wide, "float32")

    def drawn(*shape):
        array = room[: np.prod(shape)].reshape(shape)
        draw.standard_normal(dtype="float32", out=array)
        return cnp.asarray(array)

    return [[drawn(width, wide), drawn(wide), drawn(wide, width), drawn(width)]
            for layer in range(layers)]

def model(x, weights):
    scale, shift = np.ones(1, "float32"), np.zeros(1, "float32")
    for w1, b1, w2, b2 in weights:
        x = nn.layer_norm(x + nn.feedforward(x, w1, b1, w2, b2), scale, shift, axis=-1)
    return x

def compiled(weights, batch):
    x = np.ones((batch, weights[0][0].shape[0]), "float32")
    f = composit.compile(lambda x: model(x, weights), x, backend={backend!r}, threads=2)
    f(x)
    return f

compiled(weights_of(1, 64, 256), 32)  # loads what is loaded once
before = status("VmRSS")
weights = weights_of(LAYERS, WIDTH, WIDE)
total = sum(w.size * 4 for layer in weights for w in layer)
Path("/proc/self/clear_refs").write_text("5")
programs, peaks = [], []
for batch in (32, 48):
    programs.append(compiled(weights, batch))
    peaks.append((status("VmHWM") - before) / (total + programs[-1].program.arena_bytes))
buffers = [b for f in programs for b in f.buffers]
print(json.dumps({
    "weights": total,
    "peaks": peaks,
    "originals": sum(b.bytes for b in buffers if b.kind == "constant" and b.is_in_memory),
    "packed": sum(b.bytes for b in programs[0].buffers if b.kind == "packed"),
}))
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc/self/clear_refs"
)
@pytest.mark.parametrize("backend", BACK_ENDS)
def test_peak_of_two_specialisations_is_the_weights_and_the_arena(backend):
    command = [sys.executable, "-c", PROGRAM.replace("{backend!r}", repr(backend))]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    measured = json.loads(out)
    assert measured["weights"] > 90 << 20
    assert measured["packed"] > 0.99 * measured["weights"]
    assert measured["originals"] < 0.01 * measured["weights"]
    first, second = measured["peaks"]
    assert first < ALLOWED, measured
    assert second < first + MORE, measured


def matrix(rows, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype("float32")


def place(compiled, name="w"):
    """The constant's own line of .buffers."""
    (found,) = [b for b in compiled.buffers if b.kind == "constant" and b.name == name]
    return found


@pytest.mark.parametrize("backend", BACK_ENDS)
@pytest.mark.parametrize("is_transposed", [False, True])
def test_whoever_asks_gets_the_weights_as_they_were_given(backend, is_transposed):
    x, given = matrix(16, 96), matrix(96, 200)
    if is_transposed:
        given = given.T.copy()
    w = cnp.asarray(given, name="w")

    def product(x):
        return x @ (w.T if is_transposed else w)

    evaluated = np.asarray(product(x))
    f = composit.compile(product, x, backend=backend)
    assert not place(f).is_in_memory
    assert "packed" in f.plan
    assert f(x).tobytes() == evaluated.tobytes()
    assert np.asarray(w).tobytes() == given.tobytes()
    assert place(f).value.tobytes() == given.tobytes()
    assert not place(f).is_in_memory
    # An evaluation reads it as it was given, and keeps it for the next.
    assert np.asarray(product(x)).tobytes() == evaluated.tobytes()
    assert np.asarray(w + 1).tobytes() == (given + 1).tobytes()
    assert place(f).is_in_memory
    assert composit.grad(lambda x: cnp.sum(product(x)))(x).shape == x.shape
    assert f(x).tobytes() == evaluated.tobytes()


@pytest.mark.parametrize("backend", BACK_ENDS)
def test_what_numpy_shares_stays_and_is_counted(backend):
    x, given = matrix(16, 96), matrix(96, 200)
    shared = cnp.asarray(given, copy=False, name="w")
    f = composit.compile(lambda x: x @ shared, x, backend=backend)
    assert place(f).is_in_memory
    program = mosaic.compile(composit.placeholder("x", x.shape) @ shared, target=backend)
    assert program.memory.constants == given.nbytes
    assert program.memory.packed >= given.nbytes


@pytest.mark.parametrize("backend", BACK_ENDS)
def test_memory_of_a_program_that_packed_all(backend):
    w = cnp.asarray(matrix(96, 256), name="w")
    program = mosaic.compile(composit.placeholder("x", (16, 96)) @ w, schema={}, target=backend)
    assert program.memory.constants == 0
    assert program.memory.packed == 96 * 256 * 4
    assert [b.is_in_memory for b in program.buffers if b.name == "w"] == [False]
    assert program.constants["w"].tobytes() == np.asarray(w).tobytes()
    assert program.memory.constants == 0


@pytest.mark.parametrize("backend", BACK_ENDS)
def test_a_constant_that_is_read_in_two_orders(backend):
    x, given = matrix(16, 128), matrix(128, 128)
    w = cnp.asarray(given, name="w")

    def both(x):
        return x @ w @ w.T

    f = composit.compile(both, x, backend=backend)
    assert not place(f).is_in_memory  # two copies, one of which took its place
    g = composit.compile(lambda x: both(x) + cnp.sum(w), x, backend=backend)
    assert place(g).is_in_memory
    expected = np.asarray(both(cnp.asarray(x)))
    assert f(x).tobytes() == expected.tobytes()
    assert np.allclose(g(x), expected + given.sum(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("backend", BACK_ENDS)
def test_parts_of_a_constant_leave_it_where_it_is(backend):
    x, given = matrix(16, 96), matrix(96, 384)
    w = cnp.asarray(given, name="w")

    def parts(x):
        return [x @ w[:, i : i + 128] for i in range(0, 384, 128)]

    f = composit.compile(parts, x, backend=backend)
    assert place(f).is_in_memory
    for part, expected in zip(f(x), parts(cnp.asarray(x))):
        assert part.tobytes() == np.asarray(expected).tobytes()


def test_an_export_after_packing_has_the_weights(tmp_path):
    given = matrix(96, 200)
    w = cnp.asarray(given, name="w")
    f = composit.compile(lambda x: x @ w, matrix(16, 96), name="product")
    f.export(tmp_path)
    assert given.tobytes() in (tmp_path / "product.weights").read_bytes()


EXPORTED_MAIN = """
#include "two.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

template <class F>
void write(const char* path, std::size_t count, const F& run) {
    std::vector<float> values(count);
    run(values.data());
    std::FILE* file = std::fopen(path, "wb");
    std::fwrite(values.data(), sizeof(float), count, file);
    std::fclose(file);
}

// The first weights, the same from another file, and what is refused, which changes nothing.
int main(int, char** words) {
    std::vector<float> x(20 * 97), y(133 * 97);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 31) - 15;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = float(i % 29) - 14;
    for (int round = 0; round < 5; ++round) {
        try {
            two::load_weights(words[1 + round]);
            if (round >= 2) return 2;
        } catch (const std::runtime_error& error) {
            if (round < 2) return 3;
            std::puts(error.what());
        }
        for (int threads : {1, 3}) {
            write("a", 20 * 133, [&](float* to) { two::right(x.data(), to, threads); });
            write("b", 70 * 133, [&](float* to) { two::left(y.data(), to, threads); });
            if (std::system(words[6]) != 0) return 1;
        }
    }
}
"""


def test_exported_programs_pack_once_and_again_for_weights_loaded_anew(tmp_path):
    """Left and right operands in panels, shared by functions, have the bits of the process; weights
    that are loaded later are packed anew; those of another export are refused."""
    rng = np.random.default_rng(7)
    x = (np.arange(20 * 97) % 31 - 15).astype("float32").reshape(20, 97)
    y = (np.arange(133 * 97) % 29 - 14).astype("float32").reshape(133, 97)
    weights, folders = [], [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        of_columns = rng.standard_normal((97, 133)).astype("float32")
        of_rows = rng.standard_normal((70, 97)).astype("float32")
        right, left = cnp.asarray(of_columns), cnp.asarray(of_rows)
        functions = [
            composit.compile(lambda x, w=right: x @ w, x, name="right"),
            composit.compile(lambda y, w=left: w @ y.T, y, name="left"),
        ]
        composit.export(folder, "two", functions)
        (folder / "a").write_bytes(functions[0](x).tobytes())
        (folder / "b").write_bytes(functions[1](y).tobytes())
        weights.append((folder / "two.weights").read_bytes())
    assert weights[0] != weights[1]
    assert "packed_weights" in (folders[0] / "two.cpp").read_text()
    (tmp_path / "same").write_bytes(weights[0])
    (tmp_path / "forged").write_bytes(weights[0][:64] + weights[1][64:])
    (folders[0] / "main.cpp").write_text(EXPORTED_MAIN)
    command = ["g++", "-O1", "-std=c++17", "two.cpp", "main.cpp", "-o", "run", "-pthread"]
    subprocess.run(command, cwd=folders[0], check=True)
    files = [folders[0] / "two.weights", tmp_path / "same", folders[1] / "two.weights",
             tmp_path / "forged", tmp_path / "none"]  # fmt: skip
    compare = f"cmp a {folders[0]}/a && cmp b {folders[0]}/b"
    work = tmp_path / "work"
    work.mkdir()
    ran = subprocess.run(
        [folders[0] / "run", *files, compare], cwd=work, check=True, capture_output=True, text=True
    )
    assert ran.stdout.splitlines() == [
        f"two: '{files[2]}' is not the file of weights that belongs to this program.",
        f"two: '{files[3]}' is damaged: its weights do not have the checksum of its header.",
        f"two: '{files[4]}' is missing.",
    ]
