"""docs/tour.md prints what it shows and names what is there; docs/tour/tiny.py is composit."""

import contextlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import composit
import composit.numpy as cnp

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "tour.md").read_text(encoding="utf-8")
sys.path.insert(0, str(DOCS / "tour"))
import tiny  # noqa: E402


def test_blocks_print_what_stands_below():
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names, shown = {}, 0
    for (language, code), (following, text) in zip(blocks, [*blocks[1:], ("python", "")]):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "line.py", "exec"), names)
        if following == "":
            shown += 1
            assert printed.getvalue().strip() == text.strip()
    assert shown == 7


def test_symbols_are_in_the_files_that_are_named():
    named = re.findall(r"`(\w+)`\s+\(\[[\w.]+\]\((\S+?)\)\)", PAGE)
    assert len(named) >= 18
    for symbol, path in named:
        assert re.search(rf"\b{symbol}\b", (DOCS / path).read_text()), (symbol, path)


# ----- tiny.py

X, W = np.linspace(0.1, 2, 12).reshape(3, 4), np.array([0.5, -1.0, 2.0, 0.25])
PROGRAMS = {
    "products": lambda m, x, w: m("sqrt", m("multiply", x, x)) + w,
    "quotients": lambda m, x, w: m("divide", x, m("add", m("multiply", w, w), 1.0)),
    "shared": lambda m, x, w: m("multiply", m("add", x, w), m("negative", m("add", x, w))),
}


def real(row, *operands):
    return getattr(cnp, row)(*operands)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tiny_has_the_bits_of_composit(name):
    x, w = tiny.leaf("x", X.shape), tiny.leaf("w", W.shape)
    y = PROGRAMS[name](tiny.map_, x, w)
    made = tiny.compile_c(tiny.lower([y]), [x, w], [y])(X, W)[0]
    expected = composit.compile(lambda x, w: PROGRAMS[name](real, x, w), X, W)(X, W)
    assert made.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_tiny_are_those_of_composit(name):
    x, w = tiny.leaf("x", X.shape), tiny.leaf("w", W.shape)
    loss = tiny.reduce_sum(tiny.map_("exp", PROGRAMS[name](tiny.map_, x, w)))
    outputs = [loss, *tiny.vjp(loss, [x, w])]
    kernels = tiny.lower(outputs)
    found = tiny.compile_c(kernels, [x, w], outputs)(X, W)

    def of_composit(x, w):
        return cnp.sum(cnp.exp(PROGRAMS[name](real, x, w)))

    value, gradients = composit.value_and_grad(of_composit, (0, 1))(X, W)
    for one, other in zip(found, [value, *gradients]):
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_second_derivatives_and_mistakes_of_tiny():
    x = tiny.leaf("x", (5,))
    (slope,) = tiny.vjp(tiny.reduce_sum(tiny.map_("exp", x * x)), [x])
    (curvature,) = tiny.vjp(tiny.reduce_sum(slope), [x])
    at = np.linspace(-1, 1, 5)
    (found,) = tiny.compile_c(tiny.lower([curvature]), [x], [curvature])(at)
    np.testing.assert_allclose(found, (2 + 4 * at**2) * np.exp(at**2))
    with pytest.raises(ValueError, match="shape mismatch"):
        x + tiny.leaf("y", (4,))
    with pytest.raises(TypeError, match=r"add: 1 operands\. 2 are required\."):
        tiny.map_("add", x)


def test_tiny_is_small():
    assert len((DOCS / "tour/tiny.py").read_text().splitlines()) <= 300
