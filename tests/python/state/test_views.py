"""Views are NumPy's views, copies NumPy's copies: known without values."""

import numpy as np
import pytest

import composit.numpy as cnp

LAYOUTS = [
    "x", "x.T", "x[::-1]", "x[:, ::2]", "x[1:]", "x[:, :1]", "x.reshape(2, 2, 3)", "x.T[1:]",
    "x[1]", "x.ravel()", "x.T.ravel()", "x.reshape(-1)", "x.T.reshape(-1)", "x[::-1].ravel()",
    "x[:, ::2].ravel()", "x.T + 1", "(x.T + 1).T.ravel()", "(x.T + x.T).reshape(-1)", "x[None]",
    "x.swapaxes(0, 1)", "x.copy()", "x.T.copy()", "x.T.copy('K')", "np.copy(x.T)", "x.flatten()",
    "np.asfortranarray(x)", "np.ascontiguousarray(x.T)", "x.reshape(4, 3, order='F')",
    "np.asfortranarray(x).ravel('K')", "np.broadcast_to(x[0], (2, 4))", "np.squeeze(x[:1])",
    "x.T.reshape(4, 3, 1)", "np.diag(x)", "x.diagonal(1)", "np.einsum('ij->ji', x)",
    "np.expand_dims(x, 1)", "np.moveaxis(x, 0, 1)", "x.view()", "np.square(x.T)", "-x.T",
    "np.require(x.T, requirements='C')", "np.split(x, 3)[1]", "np.flip(x)",
]  # fmt: skip


def made(text, np, writes=True):
    x = np.arange(12.0).reshape(3, 4)[:, :]
    view = eval(text, {"x": x, "np": np})
    if writes and view.flags.writeable:
        view[...] = view + 100
    return x, view


@pytest.mark.parametrize("text", LAYOUTS)
def test_writes_reach_what_numpys_reach(text):
    (x, view), (expected, numpys) = made(text, cnp), made(text, np)
    assert x.tolist() == expected.tolist() and view.tolist() == numpys.tolist()
    assert view.flags.writeable == numpys.flags.writeable


@pytest.mark.parametrize("text", LAYOUTS)
def test_sources_show_in_views(text):
    (x, view), (expected, numpys) = made(text, cnp, False), made(text, np, False)
    x[...] = x * 2
    expected[...] = expected * 2
    assert view.tolist() == numpys.tolist()


@pytest.mark.parametrize("text", [text for text in LAYOUTS if "diag" not in text])
def test_strides_and_flags(text):
    (_, view), (_, numpys) = made(text, cnp, False), made(text, np, False)
    # Of axes of one element strides mean nothing.
    assert [s for s, n in zip(view.strides, view.shape) if n > 1] == [
        s for s, n in zip(numpys.strides, numpys.shape) if n > 1
    ]
    for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "ALIGNED"):
        assert view.flags[flag] == numpys.flags[flag], flag
    assert view.flags.fnc == numpys.flags.fnc and cnp.isfortran(view) == np.isfortran(numpys)


def test_read_only():
    x = cnp.zeros((3, 3))
    for view in (x.diagonal(), cnp.diag(x), cnp.broadcast_to(x, (2, 3, 3)), x.imag,
                 cnp.lib.stride_tricks.sliding_window_view(x[0], 2)):  # fmt: skip
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            view[...] = 5
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            view += 5
    assert float(x.sum()) == 0
    x.flags.writeable = False
    part = x[1:]
    for write in ("x[0] = 9", "x[0, 0] = 9", "x += 1", "part[0, 0] = 1", "np.add(x, 1, out=x)"):
        with pytest.raises(ValueError, match="read-only"):
            exec(write, {"x": x, "part": part, "np": cnp})
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True of this array"):
        part.flags.writeable = True
    x.flags["WRITEABLE"] = True
    x[0] = 9
    assert float(x.sum()) == 27


def test_the_documented_way_to_write_a_diagonal():
    x = cnp.zeros((3, 3))
    cnp.einsum("ii->i", x)[:] = [1, 2, 3]
    assert np.asarray(x).diagonal().tolist() == [1, 2, 3] and float(x.sum()) == 6


def test_shapes_in_place():
    x = cnp.arange(6.0).reshape(2, 3)
    y = x[...]
    y.shape = (3, 2)
    y[0, 1] = 9
    assert x[0, 1] == 9
    with pytest.raises(AttributeError, match="Incompatible shape for in-place modification"):
        x.T.shape = (6,)


def test_flags_say_what_they_are():
    x = cnp.zeros((2, 3))
    assert repr(x.flags) == repr(np.zeros((2, 3)).flags)
    with pytest.raises(KeyError, match="'no' is no flag"):
        x.flags["no"]
    with pytest.raises(AttributeError, match=r"flags\.aligned cannot be set"):
        x.flags.aligned = False
