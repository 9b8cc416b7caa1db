"""Kernels and their modules, pickled and copied: what is kept is where a kernel is found."""

# ruff: noqa: F821

import copy
import importlib
import io
import multiprocessing
import pickle
import subprocess
import sys

import array_kernels
import kernels
import numpy as np
import pytest
import torch

import composit.torch as ct
from composit import knossos
from composit.knossos import Tensor

relu3 = knossos.register(kernels.relu3)  # which holds the function itself
ordered = knossos.register(kernels.ordered)
sqrl = knossos.register(array_kernels.sqrl)
X = np.random.default_rng(0).normal(size=(3, 4))


@knossos.register
def cubed(x: float) -> float:
    return x * x * x


@knossos.vmap
def halved(x: "Tensor[float, n]") -> "Tensor[float, n]":
    return 0.5 * x


@knossos.register
def rounded(x: float) -> float:
    return 1.0 * round(x)


@rounded.derivative
def straight_through(x: float, dy: float) -> float:
    return dy


class Holder:
    @knossos.register
    def inner(x: float) -> float:
        return x + 1.0


def made_again(value):
    return pickle.loads(pickle.dumps(value))


EACH = {
    "of a function": relu3,
    "under its name": cubed,
    "mapped under its name": halved,
    "with arrays": sqrl,
    "mapped": knossos.vmap(sqrl),
    "mapped twice": knossos.vmap(knossos.vmap(sqrl)),
    "vjp": relu3.vjp,
    "jvp": ordered.jvp,
    "grad": relu3.grad,
    "grad of several": ordered.grad,
    "second": relu3.grad.grad,
    "vjp with arrays": sqrl.vjp,
    "grad with arrays": sqrl.grad,
    "second with arrays": sqrl.vjp.jvp,
    "vjp, mapped": knossos.vmap(sqrl).vjp,
    "jvp, mapped": knossos.vmap(sqrl).jvp,
    "grad, mapped": knossos.vmap(sqrl).grad,
    "mapped vjp": knossos.vmap(sqrl.vjp),
    "vjp of what is mapped under its name": halved.vjp,
    "with a derivative that is given": rounded,
    "a derivative that is given": straight_through,
}  # fmt: skip


@pytest.mark.parametrize("kernel", EACH.values(), ids=EACH.keys())
def test_the_same_kernel_comes_back(kernel):
    assert copy.copy(kernel) is kernel and copy.deepcopy([kernel])[0] is kernel
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(kernel, protocol)) is kernel
    pickler = pickle._Pickler(io.BytesIO())  # the one in Python
    pickler.dump(kernel)


def test_by_reference():
    assert len(pickle.dumps(cubed)) < 150 and b"cubed" in pickle.dumps(cubed)
    assert cubed.__qualname__ == "cubed" and cubed.vjp.__qualname__ == "cubed.vjp"
    assert cubed.vjp.__module__ == cubed.__module__ == __name__


MODULE = """
from composit import knossos
from composit.knossos import Tensor

@knossos.register
def bend(x: float) -> float:
    return x * x if x > 0.0 else 0.0

@knossos.register
def energy(x: "Tensor[float, n]", k: float) -> float:
    total = 0.0
    for i in range(len(x)):
        total += k * x[i] * x[i]
    return total

venergy = knossos.vmap(energy)

def plain(x: float) -> float:
    return 2.0 * x
"""
OTHER = """
from composit import knossos
import made_elsewhere

doubled = knossos.register(made_elsewhere.plain)

@doubled.derivative
def doubled_vjp(x: float, dy: float) -> float:
    return 7.0 * dy
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Modules that other processes can import, too."""
    (tmp_path / "made_elsewhere.py").write_text(MODULE)
    (tmp_path / "given_elsewhere.py").write_text(OTHER)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("given_elsewhere")
    for name in ("made_elsewhere", "given_elsewhere"):
        sys.modules.pop(name)


def in_another_process(path, data, expression):
    """What the expression of `it`, the unpickled value, is there."""
    (path / "data").write_bytes(data)
    code = f"import pickle, numpy as np; it = pickle.load(open('data', 'rb')); print({expression})"
    done = subprocess.run([sys.executable, "-c", code], cwd=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_in_another_process(elsewhere, tmp_path):
    module = elsewhere.made_elsewhere
    kernels = (module.bend, module.bend.grad, module.energy.grad, module.venergy.vjp)
    said = in_another_process(
        tmp_path, pickle.dumps(kernels),
        "it[0](3.0), it[1](3.0), it[2](np.ones(2), 3.0)[1], it[3](np.ones((2, 2)), 1.0, 1.0)[1]",
    )  # fmt: skip
    assert said == "9.0 6.0 2.0 [2. 2.]"


def test_a_derivative_that_another_module_gives_goes_along(elsewhere, tmp_path):
    doubled = elsewhere.doubled
    assert made_again(doubled) is doubled and made_again(doubled.vjp) is doubled.vjp
    said = in_another_process(tmp_path, pickle.dumps(doubled.grad), "it(1.0)")
    assert said == "7.0" and elsewhere.made_elsewhere.plain(1.0) == 2.0


def test_processes_that_are_spawned(elsewhere):
    module = elsewhere.made_elsewhere
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(module.bend.grad, [1.0, 2.0]) == [2.0, 4.0]


def test_models_of_pytorch(elsewhere, tmp_path):
    module = elsewhere.made_elsewhere
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), module.bend.nnModule)
    x = torch.randn(5, 4)
    wanted = model(x)
    copied = copy.deepcopy(model)
    assert copied[1] is not model[1] and copied[1].kernel is module.bend
    torch.save(model, tmp_path / "model.pt")
    loaded = torch.load(tmp_path / "model.pt", weights_only=False)
    for again in (copied, loaded, made_again(model)):
        assert torch.equal(again(x), wanted) and str(again) == str(model)
        again(x).sum().backward()
    assert model[0].weight.grad is None and copied[0].weight.grad is not None
    model.load_state_dict(copied.state_dict())
    code = "import torch; print(torch.load('model.pt', weights_only=False)(torch.ones(4)).tolist())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    np.testing.assert_allclose(eval(done.stdout), model(torch.ones(4)).tolist(), rtol=1e-6)


def test_models_of_composits_torch(elsewhere):
    module = elsewhere.made_elsewhere
    model = ct.nn.Sequential(ct.nn.Linear(4, 3), module.bend.nnModule)
    x = ct.randn(5, 4)
    for again in (copy.deepcopy(model), made_again(model)):
        assert np.array_equal(again(x).detach().numpy(), model(x).detach().numpy())
        assert again[1].kernel is module.bend


REQUIRED = (
    "A kernel of a function at the top of a module, which is there under its own name, or what "
    "vmap, vjp, jvp and grad make of one, is required."
)


def refused(kernel, wrong, line=None):
    with pytest.raises(pickle.PicklingError) as caught:
        pickle.dumps(kernel)
    said = str(caught.value)
    assert said.startswith(f"pickle: {wrong}. {REQUIRED} ["), said
    assert line is None or said.endswith(f"test_pickling.py:{line}]"), said


def test_what_is_not_found_is_refused():
    @knossos.register
    def local(x: float) -> float:
        return x * 2.0

    line = local.__wrapped__.__code__.co_firstlineno + 1
    name = f"{__name__}.test_what_is_not_found_is_refused.<locals>.local"
    for kernel in (local, local.vjp, local.grad.grad, knossos.vmap(local)):
        refused(kernel, f"local is not found as {name}", line)
    assert copy.deepcopy(local) is local
    model = torch.nn.Sequential(local.nnModule)
    assert copy.deepcopy(model)[0].kernel is local
    with pytest.raises(pickle.PicklingError, match="local is not found as"):
        torch.save(model, io.BytesIO())
    text = knossos.from_text("bend", "(x: float) -> multiply(x, x)")
    refused(text, "bend is a kernel of text, which no module holds as a function")


def test_what_was_replaced_is_refused(monkeypatch):
    other = knossos.register(kernels.gelu)
    monkeypatch.setitem(globals(), "cubed", other)
    refused(cubed_before, f"cubed is not what {__name__}.cubed is or makes now")
    assert made_again(other) is other

    before = Holder.inner.vjp
    assert made_again(Holder.inner) is Holder.inner and made_again(before) is before
    before = straight_through.vjp

    @straight_through.derivative
    def another(x: float, dy: float, d: float) -> tuple[float, float]:
        return 0.0, d

    refused(before, f"straight_through_vjp is not what {__name__}.straight_through is or makes now")
    straight_through._derivative = None
    straight_through._forget()


cubed_before = cubed
