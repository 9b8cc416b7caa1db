"""A model of 100 000 kernels as compiled functions, and its memory: half a minute of compilers."""

import resource

import numpy as np

import composit.numpy as cnp
from composit import mosaic

KERNELS = 100_000


def test_a_model_of_a_hundred_thousand_kernels(tmp_path):
    draw = np.random.default_rng(0)
    w = cnp.asarray(draw.normal(size=(4, 4)).astype("float32"), name="w")
    y = w
    for i in range(KERNELS // 2):
        y = cnp.tanh(y @ w) if i % 5 else cnp.sum(y, axis=0) + y
    program = mosaic.compile(y, cache_folder=str(tmp_path))
    assert len(program.kernels) == KERNELS
    assert len(program.sources) > KERNELS // 3200
    assert program().tobytes() == cnp.evaluate(y).tobytes()
    assert program.memory.arena < 1024  # however long the chain
    assert str(program.buffers).count("\n") > KERNELS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 << 20  # KiB
