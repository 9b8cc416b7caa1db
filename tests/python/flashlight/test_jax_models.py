"""Models and programs of JAX, Flax, Equinox and Optax (tests/jax_models), traced: values, gradients
and training steps are JAX's, compiled programs have the interpreter's bits."""

import pytest
from jax_models import PROGRAMS
from jax_models.compared import NOT_COMPILED, differences, is_same_compiled

import composit as ct
import jax_programs_page
from composit import flashlight


def cases(names, always):
    """Those that `always` names, and others as a long tail."""
    return [name if always(name) else pytest.param(name, marks=pytest.mark.long_tail)
            for name in names]  # fmt: skip


def is_always_run(name):
    return name in FEW or PROGRAMS[name].library not in ("JAX", "Optax")


COMPILED = [name for name in PROGRAMS if name not in NOT_COMPILED]
FEW = {
    "Adam", "Adafactor", "gradients accumulated over two steps", "CTC loss", "Metropolis sampling",
    "language model with rotary embeddings and gated layers", "heat equation by implicit steps",
    "predators and prey by an adaptive solver", "conjugate gradients",
}  # fmt: skip
ONE_OF_EACH = {"U-Net of a diffusion model", "causal transformer", "batch norm with state", "Lion"}


@pytest.mark.parametrize("name", cases(PROGRAMS, is_always_run))
def test_results_are_jaxs(name):
    found = differences(PROGRAMS[name])
    assert max(found.values()) < 1e-5, found


@pytest.mark.parametrize("name", cases(COMPILED, ONE_OF_EACH.__contains__))
def test_compiled_programs_have_the_same_bits(name):
    assert is_same_compiled(PROGRAMS[name])


@pytest.mark.parametrize("name", cases(sorted(NOT_COMPILED), lambda name: name == "page rank"))
def test_loops_that_end_by_values_are_refused_under_placeholders(name):
    function, arguments = PROGRAMS[name].make()
    traced = flashlight.trace_jax(function, *arguments)
    with pytest.raises(NotImplementedError, match="condition of a while loop depends on a placeh"):
        ct.compile(traced)(*arguments)


def test_the_page_lists_them():
    assert len(PROGRAMS) >= 40
    page = jax_programs_page.PAGE.read_text(encoding="utf-8")
    rows = [line.split(" | ")[:3] for line in page.splitlines() if line.startswith("| ")][1:]
    assert rows == [[f"| {p.name}", p.library, p.compared] for p in PROGRAMS.values()]
