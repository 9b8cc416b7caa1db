"""Mosaic's promises on a device: tiles by schema, kernels one by one, buffers that are shared, the
whole model as one queue of work."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import mosaic
from composit.mosaic import TileLevel

DRAW = np.random.default_rng(3)


def attention():
    """Four heads over 16 tokens, and what surrounds them."""

    def weight(name, *shape):
        return cnp.asarray((DRAW.normal(size=shape) * 0.2).astype("float32"), name=name)

    x = composit.placeholder("x", (16, 32), "float32")
    q, k, v = (
        cnp.transpose(cnp.reshape(x @ weight(n, 32, 32), (16, 4, 8)), (1, 0, 2)) for n in "qkv"
    )
    mixed = composit.nn.softmax(q @ cnp.swapaxes(k, 1, 2) / np.float32(8**0.5), axis=-1) @ v
    h = x + cnp.reshape(cnp.transpose(mixed, (1, 0, 2)), (16, 32)) @ weight("o", 32, 32)
    return h / cnp.sqrt(cnp.mean(h * h, axis=-1, keepdims=True) + 1e-5)


X = DRAW.normal(size=(16, 32)).astype("float32")
LEVELS = [TileLevel("l2", (16, 16)), TileLevel("register", (8, 8))]


@pytest.mark.parametrize("schema", [None, {}, {"q": LEVELS, "k": LEVELS, "o": (8, 16)}])
@pytest.mark.parametrize("fuse", [False, True])
def test_the_bits_of_the_cpu(device, schema, fuse):
    model = attention()
    expected = mosaic.compile(model, target="interpreter", schema={})(X)
    for reuse_buffers in (True, False):
        program = mosaic.compile(
            model, target=device, schema=schema, fuse=fuse, reuse_buffers=reuse_buffers
        )
        assert program(X).tobytes() == expected.tobytes()
        assert {where for _, where, _ in program.placements} == {device}


def test_kernels_one_by_one(device):
    program = mosaic.compile(attention(), target=device, schema={"q": LEVELS}, fuse=False)
    memory = {"x": X, **program.constants}
    for kernel in program.kernels:
        values = kernel(*[memory[operand.name] for operand in kernel.inputs])
        values = values if isinstance(values, list) else [values]
        for operand, value in zip(kernel.outputs, values):
            memory[operand.name] = value
    assert memory[program.kernels[-1].outputs[0].name].tobytes() == program(X).tobytes()


def test_buffers_are_shared(device):
    model = attention()
    shared = mosaic.compile(model, target=device, fuse=False).memory.arena
    assert (
        shared < mosaic.compile(model, target=device, fuse=False, reuse_buffers=False).memory.arena
    )


def test_costs_are_those_of_the_device(opencl):
    program = mosaic.compile(attention(), target=opencl)
    report = program.explain(X)
    assert len(list(report)) == len(program.kernels)
    assert all(row.seconds > 0 for row in report)
    assert report.machine.flops_per_second == mosaic.this_machine(opencl).flops_per_second
