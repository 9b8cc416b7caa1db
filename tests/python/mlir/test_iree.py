"""Functions as programs of StableHLO, compiled and run by IREE."""

import numpy as np
import pytest
from iree import compiler, runtime
from stablehlo_functions import ALL

import composit.numpy as cnp
from composit import mlir
from composit.structure import flatten

# What IREE cannot do with these, or does otherwise.
REASONS = {
    "layouts": "IREE 3.13 does not compile it: LLVM Translation failed",
    "gradient of a pool": "IREE 3.13 does not compile scatters of such batches",
    "complex": "IREE 3.13 has no atan2 of float64",
    "cholesky": "IREE 3.13 has no stablehlo.cholesky",
    "systems of complex equations": "IREE 3.13 has no stablehlo.cholesky",
    "NaN": "the largest and smallest of IREE 3.13 are numbers beside NaN",
}
# float64 stays float64.
OPTIONS = ("--iree-input-demote-f64-to-f32=false", "--iree-llvmcpu-target-cpu=host")


def run(text, arguments):
    """The results of @main as arrays of NumPy."""
    program = compiler.compile_str(
        text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=OPTIONS
    )
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    module = runtime.VmModule.copy_buffer(context.instance, program)
    context.add_vm_module(module)
    results = context.modules[module.name]["main"](*arguments)
    several = isinstance(results, (tuple, list))
    return [np.asarray(each) for each in (results if several else [results])]


def cases():
    for name in ALL:
        marks = [pytest.mark.long_tail]
        if name in REASONS:
            marks.append(pytest.mark.xfail(strict=True, reason=REASONS[name]))
        yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", list(cases()))
@pytest.mark.filterwarnings("ignore")
def test_iree_computes_the_same(name):
    function, *arguments = ALL[name]
    expected = [np.asarray(y) for y in flatten(function(*map(cnp.asarray, arguments)))[0]]
    tolerance = 2e-2 if "float16" in name else 1e-5
    found = run(mlir.text(function, *arguments), arguments)
    for one, y in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (y.dtype, y.shape)
        if "float16" in name:
            one, y = one.astype("float32"), y.astype("float32")
        np.testing.assert_allclose(one, y, rtol=tolerance, atol=tolerance)
