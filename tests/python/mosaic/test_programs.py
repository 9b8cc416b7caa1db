"""What a mosaic program shows, and the ways to run it."""

import re

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import mosaic


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def network(x, w=None):
    w = cnp.asarray(drawn(1, 8, 32), name="w") if w is None else w
    v = cnp.asarray(drawn(2, 32, 4), name="v")
    h = cnp.tanh(x @ w + cnp.asarray(drawn(3, 32), name="b"))
    e = cnp.exp(h - cnp.max(h, axis=1, keepdims=True))
    return h, e / cnp.sum(e, axis=1, keepdims=True) @ v


TILES = {"x": (8, 4), "w": (4, 16)}
VALUE = drawn(0, 16, 8)


@pytest.fixture
def x():
    return composit.placeholder("x", (16, 8))


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("whole_model", [True, False])
@pytest.mark.parametrize("reuse_buffers", [True, False])
def test_every_way_to_run_returns_the_same_bits(x, fuse, whole_model, reuse_buffers):
    expected = cnp.evaluate(*network(cnp.asarray(VALUE)))
    program = mosaic.compile(
        *network(x), schema=TILES, fuse=fuse, whole_model=whole_model, reuse_buffers=reuse_buffers
    )
    for got, want in zip(program(VALUE), expected, strict=True):
        assert got.tobytes() == want.tobytes()
    has_model = any("composit_run_model" in text for text in program.sources.values())
    assert has_model == whole_model


@pytest.mark.parametrize("fuse", [True, False])
def test_kernel_by_kernel(x, fuse):
    program = mosaic.compile(*network(x), schema=TILES, fuse=fuse)
    memory = {"x": VALUE, **program.constants}
    for kernel in program.kernels:
        values = kernel(*[memory[operand.name] for operand in kernel.inputs])
        outputs = values if isinstance(values, list) else [values]
        for operand, value in zip(kernel.outputs, outputs, strict=True):
            assert value.shape == operand.shape and value.dtype == operand.dtype
            memory[operand.name] = value
    names = [b.name for b in program.buffers if b.kind == "output"]
    for name, want in zip(names, cnp.evaluate(*network(cnp.asarray(VALUE))), strict=True):
        assert memory[name].tobytes() == want.tobytes()


def test_kernels_can_be_read_and_refuse_what_does_not_fit(x):
    program = mosaic.compile(*network(x), schema=TILES, fuse=False)
    names = [kernel.name for kernel in program.kernels]
    assert names[0] == "tilize_x" and names[-1].startswith("untilize_")
    tilize = program.kernels[0]
    assert repr(tilize.inputs) == "[x float32(16, 8)]"
    assert repr(tilize.outputs) == "[x_tiles float32(2, 2, 8, 4)]"
    assert np.array_equal(tilize(VALUE), mosaic.tilize(VALUE, (8, 4)))
    assert "for " in str(tilize) and "void tilize_x(" in tilize.source
    with pytest.raises(TypeError, match=r"^tilize_x: 0 arguments given\. 1 are required"):
        tilize()
    with pytest.raises(
        ValueError, match=r"^tilize_x: argument 'x' has shape \(8, 16\)\. \(16, 8\)"
    ):
        tilize(VALUE.T.copy())
    with pytest.raises(TypeError, match=r"^tilize_x: argument 'x' has dtype float64"):
        tilize(VALUE.astype("float64"))


def test_scattering_kernels_take_what_was_there():
    x, rows = cnp.asarray(VALUE), composit.placeholder("rows", (2,), "int64")
    y = cnp.tanh(x)
    y[rows] = np.float32(2)
    program = mosaic.compile(y, target="interpreter", fuse=False)
    memory = {"rows": np.array([1, 3]), **program.constants}
    for kernel in program.kernels:
        memory[kernel.outputs[0].name] = kernel(*[memory[o.name] for o in kernel.inputs])
    (scatter,) = [kernel for kernel in program.kernels if kernel.kind == "Scatter"]
    assert scatter.outputs[0].name in [operand.name for operand in scatter.inputs]
    expected = program(np.array([1, 3]))
    assert memory[program.kernels[-1].outputs[0].name].tobytes() == expected.tobytes()


def test_values_by_leaf(x):
    w = cnp.asarray(drawn(1, 8, 32), name="w")
    outputs = network(x, w)
    program = mosaic.compile(*outputs, schema=TILES)
    expected = cnp.evaluate(*network(cnp.asarray(VALUE)))
    for got, want in zip(program.evaluate({x: VALUE}), expected, strict=True):
        assert got.tobytes() == want.tobytes()
    other = drawn(9, 8, 32)
    expected = cnp.evaluate(*network(cnp.asarray(VALUE), cnp.asarray(other)))
    for got, want in zip(program.evaluate({x: VALUE, w: other}), expected, strict=True):
        assert got.tobytes() == want.tobytes()
    with pytest.raises(KeyError, match=r"evaluate: '' is the result of tanh"):
        program.evaluate({outputs[0]: VALUE})
    with pytest.raises(TypeError, match=r"^evaluate: 'x' is not a tensor"):
        program.evaluate({"x": VALUE})


def test_optimize_takes_mosaic_for_evaluate():
    """A training loop that builds its step anew runs on one program."""
    inputs, targets = cnp.asarray(drawn(0, 32, 8)), cnp.asarray(drawn(1, 32, 2))

    def train(evaluate, steps=4):
        weight = cnp.asarray(drawn(2, 8, 2), name="weight")
        for _ in range(steps):
            loss = cnp.mean((cnp.tanh(inputs @ weight) - targets) ** 2)
            gradients = composit.nn.chain_rule({loss: loss}, [weight])
            (weight,) = composit.optimize(
                [weight], gradients, composit.sgd_optimizer(0.5), evaluate
            )
        return cnp.evaluate(weight)

    expected = train(None)
    assert train(mosaic.evaluate).tobytes() == expected.tobytes()

    def tiled(*tensors):
        return mosaic.evaluate(*tensors, schema={"weight": (4, 2)}, fuse=False)

    assert train(tiled).tobytes() == expected.tobytes()
    program = []

    def by_program(*tensors):
        if not program:
            program.append(mosaic.compile(*tensors))
        return program[0].evaluate(*tensors)

    assert train(by_program).tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match=r"^evaluate: the tensors have another structure"):
        program[0].evaluate(inputs + 1)


def test_buffers_are_a_table_and_a_picture(x):
    program = mosaic.compile(*network(x), schema=TILES, fuse=False)
    table = str(program.buffers)
    assert table.splitlines()[0].split() == [
        "buffer",
        "name",
        "kind",
        "dtype",
        "shape",
        "bytes",
        "at",
    ]
    assert "x_tiles" in table and "arena: " in table
    temporaries = [b for b in program.buffers if b.kind == "temporary" and b.first >= 0]
    for one in temporaries:
        assert one.offset >= 0 and one.offset + one.bytes <= program.memory.arena
        for other in temporaries:
            if one is not other and one.first <= other.last and other.first <= one.last:
                low, high = sorted((one, other), key=lambda buffer: buffer.offset)
                assert low.offset + low.bytes <= high.offset, (one.name, other.name)
    picture = program.buffers.picture
    assert picture.startswith("<svg ") and picture.count("<rect") == len(temporaries)
    separate = mosaic.compile(*network(x), schema=TILES, fuse=False, reuse_buffers=False)
    assert separate.memory.arena > program.memory.arena


def test_explain_counts_and_measures(x):
    program = mosaic.compile(*network(x))
    predicted = program.explain()
    assert predicted.seconds is None and predicted.limit > 0
    product = predicted[0]
    assert (product.kind, product.flops) == ("Contract", 2 * 16 * 8 * 32)
    assert product.bytes == 4 * (16 * 8 + 8 * 32 + 16 * 32)
    measured = program.explain(VALUE)
    assert measured.seconds > 0 and all(row.seconds >= 0 for row in measured)
    lines = str(measured).splitlines()
    assert re.match(r"kernel +kind +MFLOP +MB +limit us +bound +us +% of limit$", lines[0])
    assert lines[-2].startswith("total") and "GFLOP/s in products" in lines[-1]
    with pytest.raises(
        TypeError, match=r"^explain: 0 arrays given to measure with. 1 are required"
    ):
        program.explain(measure=True)
    with pytest.raises(ValueError, match=r"^explain: 0 runs\. A positive integer"):
        program.explain(VALUE, runs=0)
    assert repr(measured[0]).startswith("<ExplainedKernel(contract_2: at least ")


def test_passes_show_the_tiles(x):
    program = mosaic.compile(*network(x), schema=TILES, target="interpreter")
    names = [one.name for one in program.passes]
    assert names == [
        "inline_calls", "simplify", "lower", "tile", "decode_weights", "narrow_products",
        "merge_maps", "fuse_rows", "finish_products", "pack_constants", "plan_buffers",
    ]  # fmt: skip
    tiled = program.passes[3]
    assert "tilize_x" in tiled.after and "tilize_x" not in tiled.before


def test_indices_out_of_bounds_are_reported_by_the_whole_model():
    ids = composit.placeholder("ids", (3,), "int64")
    y = cnp.tanh(cnp.take(cnp.asarray(VALUE, name="table"), ids, axis=0))
    program = mosaic.compile(y)
    assert np.allclose(program(np.array([0, 15, 2])), np.tanh(VALUE[[0, 15, 2]]))
    with pytest.raises(IndexError, match=r"^index 16 is out of bounds for axis 0 with size 16"):
        program(np.array([0, 16, 99]))


def chain_of_products(length, **options):
    """A program of as many kernels, and the bytes of its result."""
    w = cnp.asarray(drawn(0, 4, 4), name="w")
    y = w
    for i in range(length // 2):
        y = cnp.tanh(y @ w) if i % 5 else cnp.sum(y, axis=0) + y
    return mosaic.compile(y, schema={}, **options), cnp.evaluate(y).tobytes()


def test_one_function_calls_hundreds_of_kernels():
    """More than one generated function of steps, and more than one file of kernels."""
    x = cnp.asarray(drawn(0, 4, 4), name="x")
    y = x
    for i in range(150):
        y = cnp.tanh(cnp.sum(y, axis=i % 2) + (y if i % 3 else y.T) @ x)
    program = mosaic.compile(y, fuse=False)
    assert len(program.kernels) > 400
    assert any("run_part_2(" in text for text in program.sources.values())
    assert program().tobytes() == cnp.evaluate(y).tobytes()


@pytest.mark.parametrize("fuse", [True, False])
def test_a_model_of_several_files_is_compiled_in_parallel(fuse, tmp_path):
    """Thousands of calls of a few kernels, which are in the text once. `make fuzz` has 100 000."""
    program, expected = chain_of_products(7000, fuse=fuse, threads=2, cache_folder=str(tmp_path))
    assert len(program.kernels) == 7000
    assert [name for name in program.sources if name.startswith("model_")] == [
        "model_0.cpp", "model_1.cpp", "model_2.cpp"
    ]  # fmt: skip
    assert len(program.sources) == 4
    assert program().tobytes() == expected


def test_threads_do_not_change_bits(x):
    wide = composit.placeholder("wide", (512, 256))
    outputs = [cnp.tanh(wide @ cnp.swapaxes(wide, 0, 1)), cnp.sum(wide, axis=0)]
    value = drawn(5, 512, 256)
    results = [
        mosaic.compile(*outputs, schema={"wide": (64, 64)}, threads=threads)(value)
        for threads in (1, 2, 3)
    ]
    for one in results[1:]:
        assert [a.tobytes() for a in one] == [a.tobytes() for a in results[0]]


def test_the_machine_is_known():
    machine = mosaic.this_machine()
    assert machine.flops_per_second > 1e8 and machine.bytes_per_second > 1e8
    assert machine.l1_bytes < machine.l2_bytes and machine.vector_bytes in (16, 32, 64)
