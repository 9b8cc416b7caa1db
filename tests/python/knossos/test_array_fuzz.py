"""Random kernels with arrays: values as CPython's; reverse and forward mode agree.

FUZZ_ARRAY_KERNELS is how many (by default few: each is compiled)."""

import importlib.util
import os

import numpy as np
import pytest
from array_grammar import HEADER, Writer

from composit import _core, knossos
from composit.errors import NotSupported

COUNT = int(os.environ.get("FUZZ_ARRAY_KERNELS", "60"))
TOGETHER = 20  # kernels are compiled many at once


def module_of(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range((COUNT + TOGETHER - 1) // TOGETHER))
def test_against_cpython_and_forward_mode(seed, tmp_path):
    random = np.random.default_rng(seed)
    names = [f"kernel_{i}" for i in range(TOGETHER)]
    text = HEADER + "".join(Writer(random, name).text() for name in names)
    module = module_of(tmp_path / f"kernels_{seed}.py", text)
    kernels, family = [], []
    for name in names:
        kernel = knossos.register(getattr(module, name))
        members = [kernel, kernel.jvp]
        try:
            kernel.vjp.procedure()
            members.append(kernel.vjp)
        except NotSupported as error:
            assert "changes after a loop read" in str(error)
        kernels.append(members)
        family += [member.procedure() for member in members]
    codes = iter(_core.procedure.load_arrays(f"kernels_{seed}", [family], ""))
    for members in kernels:
        for member in members:
            member._compiled[np.dtype("float64")] = next(codes)
    assert sum(len(members) == 3 for members in kernels) >= TOGETHER // 2
    for members in kernels:
        compare(members, random)


def compare(members, random):
    kernel = members[0]
    x, y, dx, dy, received = random.normal(size=(5, int(random.integers(1, 7))))
    s, ds, r = random.normal(size=3).tolist()
    k = int(random.integers(4))
    value, array = kernel(x, y, s, k)
    wanted_value, wanted_array = kernel.__wrapped__(x, y, s, k)
    about = kernel.procedure().source
    np.testing.assert_allclose(value, wanted_value, rtol=1e-9, atol=1e-11, err_msg=about)
    np.testing.assert_allclose(array, wanted_array, rtol=1e-9, atol=1e-11, err_msg=about)
    moved_value, moved_array = members[1](x, y, s, k, dx, dy, ds)
    forward = r * moved_value + received @ moved_array
    if len(members) == 2:
        return
    gx, gy, gs = members[2](x, y, s, k, r, received)
    backward = gx @ dx + gy @ dy + gs * ds
    scale = 1 + abs(forward) + np.abs(gx).sum() + np.abs(gy).sum() + abs(gs)
    about += members[2].procedure().source
    assert abs(forward - backward) < 1e-9 * scale, f"{forward} {backward}\n{about}"
