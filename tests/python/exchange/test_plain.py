"""Plain C and C++: the bits of the interpreter, no warnings, few lines, on other processors too."""

import functools
import shutil
import subprocess

import numpy as np
import plain_exports
import pytest
from exported_programs import attention, integers, moved, recurrent

import composit
import composit.numpy as cnp
from composit import nn
from composit.examples.digits import network

F = "float32"
RANDOM = np.random.default_rng(7)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype(F)


W1, B1, W2, B2 = drawn(4, 16), drawn(16), drawn(16, 3), drawn(3)


def classify(x):
    return {"scores": nn.softmax(nn.relu(x @ W1 + B1) @ W2 + B2, axis=-1)}


def bools(a, b):
    return (a @ b, a & b, a | b, ~a, cnp.where(a, 1.0, 2.0), cnp.cumsum(a, axis=0),
            cnp.sort(a, axis=1))  # fmt: skip


FILTERS, DENSE, LAST = drawn(8, 1, 3, 3), drawn(8 * 6 * 6, 32), drawn(32, 10)


def forward(images):
    x = nn.relu(nn.convolution(images, FILTERS, channels_last=False))
    x = nn.gelu(cnp.reshape(x, (4, -1)) @ DENSE)
    x = nn.layer_norm(x, np.ones(32, F), np.zeros(32, F))
    return nn.softmax(cnp.tanh(x) @ LAST, axis=-1)


def convolution_gradient(images, w):
    def loss(w):
        x = nn.relu(nn.convolution(images, w, channels_last=False, padding=(1, 1)))
        x = nn.max_pool(x, kernel_size=(2, 2), channels_last=False, strides=(2, 2))
        return cnp.mean(x * x)

    return composit.value_and_grad(loss)(w)


def embedding_gradient(table, ids):
    return composit.value_and_grad(lambda t: cnp.sum(cnp.tanh(t[ids]) ** 2))(table)


def reductions(x, y):
    return (x.sum(), x.sum(0), x.sum(1), x.max(1), y.sum((0, 2)), y.mean(), cnp.prod(x, axis=0),
            x.min(), cnp.argmin(y, axis=2), (x > 1).any(0), (x > 1).all(1), y.max((1, 2)),
            cnp.var(y, axis=(0, 1)))  # fmt: skip


def products(a, b):
    return a @ b, a[:, ::-1] @ b, (b.T @ a.T)[1:]


def rows(x, a, b, c, d):
    """Products of one row: tiles that divide its columns, and one that begins earlier."""
    x64, whole = x.astype("float64"), cnp.rint(x * 9).astype("int32")
    return (x @ a, nn.relu(x @ b + 1), x @ b[:, :24], x64 @ c, whole @ d,
            b.T[:, ::-1] @ x)  # fmt: skip


def views(x):
    return (x[::-1, 1::2], cnp.reshape(x, (-1,))[::3], cnp.reshape(x, (8, 6, 2)).transpose(2, 0, 1),
            cnp.roll(x, 2, axis=1), cnp.concatenate([x, x * 2], axis=1), cnp.pad(x, 2))  # fmt: skip


def special(x, y):
    return (cnp.floor(x * 3), cnp.ceil(x * 3), cnp.rint(x * 4), cnp.trunc(x * 3),
            cnp.sqrt(cnp.abs(x)), cnp.fmod(x, y), x % y, x // y, cnp.copysign(x, y),
            cnp.nextafter(x, y), cnp.exp(x), cnp.log(cnp.abs(x)), cnp.sin(x * 100),
            cnp.power(cnp.abs(x), y), cnp.hypot(x, y), cnp.arctan2(x, y), cnp.isnan(x),
            cnp.signbit(x), cnp.heaviside(x, y), cnp.cbrt(x), cnp.expm1(x),
            cnp.log1p(cnp.abs(x)))  # fmt: skip


# What compilers themselves call.
FREESTANDING = ("memcpy", "memmove", "memset")

EDGES = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, 1, 2], F)
CASES = {
    "classify": (classify, [drawn(4)]),
    "attention": (attention, [drawn(2, 3, 7, 8), drawn(2, 3, 9, 8), drawn(2, 3, 9, 8)]),
    "recurrent": (recurrent, [drawn(11, 6), drawn(6), drawn(6, 6)]),
    "moved": (moved, [drawn(9, 33), np.array([3, 0, 8, -1])]),
    "integers": (
        integers,
        [
            np.arange(-8, 8, dtype="int32").reshape(4, 4),
            np.arange(200, 216, dtype="uint32").reshape(4, 4),
        ],
    ),
    "bools": (bools, [RANDOM.random((5, 5)) > 0.5, RANDOM.random((5, 5)) > 0.5]),
    "forward": (forward, [drawn(4, 1, 8, 8)]),
    "convolution_gradient": (convolution_gradient, [drawn(2, 3, 8, 8), drawn(5, 3, 3, 3)]),
    "embedding_gradient": (embedding_gradient, [drawn(20, 5), np.array([[1, 2, -3], [1, 1, 19]])]),
    "reductions": (reductions, [drawn(70, 67), drawn(9, 40, 40)]),
    "products": (products, [drawn(6, 700), drawn(700, 70)]),
    "products64": (products, [RANDOM.standard_normal((3, 300)), RANDOM.standard_normal((300, 5))]),
    "rows": (
        rows,
        [
            drawn(300),
            drawn(300, 128),
            drawn(300, 72),
            RANDOM.standard_normal((300, 28)),
            RANDOM.integers(-9, 9, (300, 88), dtype="int32"),
        ],
    ),
    "views": (views, [drawn(8, 12)]),
    "special": (
        special,
        [np.concatenate([drawn(60), EDGES]), np.concatenate([drawn(60), EDGES[::-1]])],
    ),
    "special64": (special, [RANDOM.standard_normal(64), RANDOM.standard_normal(64)]),
}


# Each case by two compilers: one with the processor's fma, one with that in software.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("language", "compiler", "flags"),
    [("c", "gcc", ()), ("cpp", "clang++", ("-march=native",))],
)
@pytest.mark.parametrize("name", CASES)
def test_bits(name, language, compiler, flags, tmp_path):
    function, arguments = CASES[name]
    plain_exports.check(function, arguments, tmp_path, language, compiler, ("-O2", *flags))


@pytest.mark.parametrize(("language", "compiler"), [("c", "clang"), ("cpp", "g++")])
@pytest.mark.parametrize("flags", [("-Os",), ("-O3", "-march=native")])
def test_other_compilers(language, compiler, flags, tmp_path):
    function, arguments = CASES["forward"]
    plain_exports.check(function, arguments, tmp_path, language, compiler, flags)


PROCESSORS = {
    "aarch64": ("aarch64-linux-gnu-", "qemu-aarch64"),
    "arm": ("arm-linux-gnueabihf-", "qemu-arm"),
    "riscv64": ("riscv64-linux-gnu-", "qemu-riscv64"),
}


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("name", ["classify", "forward"])
def test_other_processors(name, processor, language, tmp_path):
    prefix, emulator = PROCESSORS[processor]
    compiler = prefix + plain_exports.COMPILERS[language][0]
    for tool in (compiler, emulator):
        if shutil.which(tool) is None:
            pytest.fail(f"{tool} is missing: `make setup` installs it with Debian's packages.")
    function, arguments = CASES[name]
    plain_exports.check(function, arguments, tmp_path, language, compiler, ("-O2", "-static"),
                        (emulator,))  # fmt: skip


def small_network(folder, language):
    compiled = composit.compile(classify, drawn(4), name="classify", backend="interpreter")
    header, source = plain_exports.export(compiled, folder, language, "classify")
    return header.read_text(), source.read_text()


def weights_lines(text):
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("static const float weights"))
    end = next(i for i, line in enumerate(lines) if line.startswith("static const float bias_2"))
    return end + 1 - start


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_small_network_is_short(language, tmp_path):
    header, source = small_network(tmp_path, language)
    assert len(header.splitlines()) <= 12
    assert len(source.splitlines()) - weights_lines(source) <= 100
    compiler = plain_exports.COMPILERS[language][0]
    name = f"classify.{language}"
    subprocess.run([compiler, "-Os", "-c", name, "-o", "small.o"], cwd=tmp_path, check=True)
    sizes = subprocess.run(["size", "small.o"], cwd=tmp_path, capture_output=True, check=True)
    text, data = (int(word) for word in sizes.stdout.split()[6:8])
    weights = sum(array.nbytes for array in (W1, B1, W2, B2))
    assert text + data - weights <= 4096


def digits():
    """The demo's network and its training step, with what they are called with."""
    weights = network.initial_weights(8, 8, 0)
    images, labels = np.abs(drawn(32, 1, 8, 8)), RANDOM.integers(0, 10, 32)
    step = functools.partial(network.training_step, learning_rate=0.05)
    return step, [images, labels, *weights]


def test_a_network_with_its_training_step_is_short(tmp_path):
    step, arguments = digits()
    named = [cnp.asarray(x, name=n)
             for x, n in zip(arguments, ("images", "labels", *network.NAMES))]  # fmt: skip
    image = cnp.asarray(arguments[0][:1], name="image")
    one = composit.compile(lambda x, *w: network.network(x, w), image, *named[2:], name="classify",
                           backend="interpreter")  # fmt: skip
    other = composit.compile(step, *named, name="train_step", backend="interpreter")
    composit.export(tmp_path, "digits", [one, other], style="plain", language="c")
    text = (tmp_path / "digits.c").read_text()
    assert len(text.splitlines()) <= 700
    # Of a gather and a scatter by (row, label) the labels alone are looked at.
    assert text.count(">= 10) return 1;") == 2 and ">= 32) return 1;" not in text


def test_a_training_step_has_the_same_bits(tmp_path):
    step, arguments = digits()
    plain_exports.check(step, arguments, tmp_path, "c", "gcc")


def steps_of_counts(x):
    """Counted numbers backward, by twos and transposed, as indices and as operands."""
    rows, columns = np.arange(8)[::-1], np.arange(0, 8, 2)
    lazy = cnp.arange(12).reshape(3, 4)
    return x[cnp.asarray(rows)], x[:, cnp.asarray(columns)], x[:3, :4] + lazy.T.T.astype(F), lazy.T


def test_counted_numbers_are_no_arrays(tmp_path):
    plain_exports.check(steps_of_counts, [drawn(8, 8)], tmp_path, "c", "gcc")


def test_no_library_is_needed(tmp_path):
    for name in ("forward", "special", "moved"):
        function, arguments = CASES[name]
        with np.errstate(all="ignore"):
            compiled = composit.compile(function, *arguments, name="run", backend="interpreter")
            plain_exports.export(compiled, tmp_path, "c", "model")
        for compiler in ("gcc", "clang"):
            subprocess.run([compiler, "-std=c99", "-O2", "-ffreestanding", "-c", "model.c"],
                           cwd=tmp_path, check=True)  # fmt: skip
            wanted = subprocess.run(["nm", "-u", "model.o"], cwd=tmp_path, capture_output=True,
                                    check=True, text=True).stdout.split()  # fmt: skip
            assert set(wanted) <= {"U", *FREESTANDING, "_GLOBAL_OFFSET_TABLE_"}, wanted


def test_workspace(tmp_path):
    x = drawn(3, 40)
    w = drawn(40, 300)
    compiled = composit.compile(
        lambda x: cnp.sort(cnp.tanh(x @ w), axis=1), x, name="run", backend="interpreter"
    )
    compiled.export(tmp_path, style="plain", language="c", workspace=True)
    header = (tmp_path / "run.h").read_text()
    size = int(header.split("run_workspace_bytes = ")[1].split()[0])
    (tmp_path / "main.c").write_text(
        '#include "run.h"\n#include <stdio.h>\nstatic float x[3][40], y[3][300];\n'
        f"static uint64_t memory[{size} / 8 + 1];\n"
        'int main(void) {\n    FILE *f = fopen("x", "rb");\n'
        "    if (fread(x, 1, sizeof x, f) != sizeof x) return 1;\n"
        "    run((void *)x, y, memory);\n    fwrite(y, 1, sizeof y, stdout);\n"
        "    return run_selfcheck();\n}\n"
    )
    x.tofile(tmp_path / "x")
    subprocess.run(["gcc", "-std=c99", "-O2", "main.c", "run.c", "-o", "run"], cwd=tmp_path,
                   check=True)  # fmt: skip
    found = subprocess.run([tmp_path / "run"], cwd=tmp_path, capture_output=True, check=True)
    assert found.stdout == compiled(x).tobytes()


def edges(dtype):
    """Zeros, subnormals, the ends of what is finite, infinities, NaN, and numbers whose products
    end half way between two others."""
    info = np.finfo(dtype)
    half = dtype(1) + info.eps  # its square has twice as many digits
    near = [1, half, 1 - info.epsneg, 1.5, np.sqrt(info.max), np.sqrt(info.tiny), info.max,
            info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal, info.tiny * half,
            info.max / 2, 1 / info.eps, info.eps, info.epsneg * half, 0, np.inf]  # fmt: skip
    values = np.array(near, dtype)
    return np.concatenate([values, -values, np.array([np.nan], dtype)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_in_software(dtype, tmp_path):
    """Of all triples of edges, the bits of the processor's instruction: a * b + c is the product of
    (c, a) and (1, b)."""
    a, b, c = (x.ravel() for x in np.meshgrid(*3 * [edges(dtype)]))
    left, right = np.stack([c, a], 1)[:, None], np.stack([np.ones_like(b), b], 1)[:, :, None]
    text = plain_exports.check(cnp.matmul, [left, right], tmp_path, "c", "gcc", ("-O2",))
    assert f"fma_{np.dtype(dtype)}(" in text


def test_an_index_out_of_bounds_is_a_status(tmp_path):
    table, ids = drawn(5, 2), np.array([1, 2])
    compiled = composit.compile(lambda t, i: t[i], table, ids, name="run", backend="interpreter")
    plain_exports.export(compiled, tmp_path, "c", "model")
    outputs = [compiled(table, ids)]
    program = plain_exports.build(tmp_path, "model", "run", "c", "gcc", [table, ids], outputs)
    assert plain_exports.run(program, tmp_path, [table, ids], outputs)[0] == 0
    for wrong in (5, -6):
        ids[1] = wrong
        assert plain_exports.run(program, tmp_path, [table, ids], outputs)[0] == 1


def test_several_functions_and_their_selfcheck(tmp_path):
    one = composit.compile(classify, drawn(4), name="classify", backend="interpreter")
    many = composit.compile(classify, drawn(400, 4), name="many", backend="interpreter")
    files = composit.export(tmp_path, "net", [one, many], style="plain", language="c")
    assert files == ["net.h", "net.c"]
    source = (tmp_path / "net.c").read_text()
    assert source.count("static const float weights_") == 2  # once for both
    (tmp_path / "main.c").write_text(
        '#include "net.h"\nint main(void) { return net_selfcheck(); }\n'
    )
    for text, status in ((source, 0), (source.replace("x <= 0.0f", "x <= 0.5f"), 1)):
        (tmp_path / "net.c").write_text(text)
        subprocess.run(["gcc", "-std=c99", "main.c", "net.c", "-o", "net"], cwd=tmp_path,
                       check=True)  # fmt: skip
        assert subprocess.run([tmp_path / "net"]).returncode == status


def test_refusals(tmp_path):
    x = drawn(3, 3)
    compiled = composit.compile(lambda x: x + 1, x, name="run", backend="interpreter")
    with pytest.raises(ValueError, match="no language 'rust'"):
        compiled.export(tmp_path, style="plain", language="rust")
    with pytest.raises(ValueError, match="style='fancy'"):
        compiled.export(tmp_path, style="fancy")
    with pytest.raises(ValueError, match="language='c'"):
        compiled.export(tmp_path, language="c")
    inverse = composit.compile(cnp.linalg.inv, x, name="run", backend="interpreter")
    with pytest.raises(NotImplementedError, match="cannot be written as plain text: it calls"):
        inverse.export(tmp_path, style="plain")


def test_loops_within_loops(tmp_path):
    """Each has a counter of its own."""

    def nested(x):
        def row(i, y):
            return composit.fori_loop(0, 3, lambda k, z: z * 0.5 + x[k] + i.astype(F), y)

        return composit.fori_loop(0, 4, row, x)

    plain_exports.check(nested, [drawn(5)], tmp_path, "c", "gcc")
