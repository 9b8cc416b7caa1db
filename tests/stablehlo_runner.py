"""StableHLO's text, parsed and verified by jaxlib's bindings of MLIR and run by XLA."""

import jax
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir


def parsed(text):
    """The module, verified; MLIR's own errors are raised."""
    context = jax_mlir.make_ir_context()
    with context:
        module = ir.Module.parse(text)
        module.operation.verify()
    return module


def run(text, arguments):
    """The results of @main as arrays of NumPy."""
    parsed(text)
    device = jax.devices("cpu")[0]
    with jax.enable_x64(True):
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        program = device.client.compile_and_load(text, [device], options)
        buffers = [jax.device_put(np.asarray(x), device) for x in arguments]
        return [np.asarray(x) for x in program.execute(buffers)]
