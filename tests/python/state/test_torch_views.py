"""composit.torch's views are PyTorch's views, copies PyTorch's copies; strides tell the truth."""

import pytest
import torch

import composit.torch as ours

LAYOUTS = [
    "x", "x.t()", "x[1]", "x[1, 2]", "x[1:, ::2]", "x[:, 1]", "x[None]", "x.T.T", "x.view(4, 3)",
    "x.view(-1)", "x.reshape(2, 6)", "x.t().reshape(12)", "x.t().flatten()", "x.ravel()",
    "x.t().contiguous()", "x.contiguous()", "x.t().clone()", "x.clone()", "x.t() + 1",
    "(x.t() + 1).t().reshape(-1)", "x.transpose(0, 1).unsqueeze(0)", "x.permute(1, 0)[2]",
    "x.select(1, 2)", "x.narrow(1, 1, 2)", "x.split(2)[1]", "x.chunk(2, 1)[1]", "x.unbind()[1]",
    "x.diagonal()", "x.diagonal(1)", "x.diagonal(-1)[1:]", "x.unfold(1, 2, 1)", "x.unfold(1, 2, 2)",
    "x.unfold(0, 2, 1)[0]", "x.as_strided((2, 3), (4, 1))", "x[1:].as_strided((2, 2), (1, 1))",
    "x.as_strided((2, 2), (1, 4), 3)", "x.t()[1:].as_strided((2, 2), (2, 1))", "x.squeeze()",
    "x.expand(2, 3, 4)", "x.swapdims(0, 1)", "x.movedim(0, 1)", "x.unflatten(1, (2, 2))",
    "x[[0, 2]]", "x[x > 5]", "x.detach().t()", "x.t().view(2, 2, 3)", "x[:, ::2].view(6)",
    "x.t().view_as(x)", "x.reshape_as(x.view(4, 3))", "t.view_as_complex(x.view(3, 2, 2))",
    "t.view_as_complex(x.view(3, 2, 2)).real", "t.view_as_complex(x.view(3, 2, 2)).imag[1]",
    "t.view_as_real(t.view_as_complex(x.view(3, 2, 2)))[..., 1]", "x.mT", "x.adjoint()",
    "x.T.clone(memory_format=t.contiguous_format)", "x.view(t.int32)", "x.T.mul(2).sum(0)",
]  # fmt: skip


def made(text, t):
    x = t.arange(12.0).reshape(3, 4)
    return x, eval(text, {"x": x, "t": t})


def of(text, t, act):
    try:
        x, view = made(text, t)
        act(x, view)
        return x.tolist(), view.tolist(), view.stride(), view.is_contiguous()
    except RuntimeError as error:
        return str(error).split("(")[0].split(" [")[0]


@pytest.mark.parametrize("text", LAYOUTS)
@pytest.mark.filterwarnings("ignore")
def test_writes_reach_what_pytorchs_reach(text):
    def act(x, view):
        view.add_(100) if view.is_floating_point() else view.add_(0)

    if "expand" in text or "unfold(1, 2, 1)" in text or "(1, 1)" in text:
        return  # some elements would be written twice: PyTorch refuses, or the result is undefined
    assert of(text, ours, act) == of(text, torch, act)


@pytest.mark.parametrize("text", LAYOUTS)
def test_sources_show_in_views(text):
    def act(x, view):
        x.mul_(2)
        x[1, 2] = -1

    assert of(text, ours, act) == of(text, torch, act)


@pytest.mark.parametrize("text", LAYOUTS)
def test_offsets(text):
    try:
        expected = made(text, torch)[1].storage_offset()
    except RuntimeError:
        return
    assert made(text, ours)[1].storage_offset() == expected


PROGRAMS = {
    "no_self_loops": "a = t.ones(3, 3); a.diagonal().fill_(0)",
    "jitter": "a = t.zeros(3, 3); a.diagonal().add_(1e-3)",
    "batch": "a = t.zeros(2, 3, 3); a.diagonal(dim1=-2, dim2=-1).copy_(t.ones(2, 3))",
    "fill_diagonal": "a = t.zeros(3, 3); a.fill_diagonal_(5)",
    "assigned": "a = t.zeros(3, 3); a.diagonal()[:] = 2",
    "added": "a = t.zeros(3, 3); d = a.diagonal(); d += 2",
    "out": "a = t.zeros(3, 3); t.add(t.ones(3), 1, out=a.diagonal())",
    "overlapping": "a = t.zeros(5); a.as_strided((3, 3), (1, 1))[1] = 1",
    "windows": "a = t.arange(6.0); a.unfold(0, 2, 2)[:, 0] = 0",
    "elements": "a = t.zeros(3)\nfor v in a: v.add_(1)",
    "unbound": "a = t.zeros(3); p, q, r = a.unbind(); q.fill_(4); r += 1",
    "element": "a = t.zeros(2, 2); a[1, 0].fill_(3); v = a[0, 1]; v += 2",
    "scalar": "a = t.tensor(5.0); a.view(1).fill_(3)",
    "parts": "a = t.zeros(3, dtype=t.complex64); a.real.fill_(1); a.imag[1:] = 2",
    "pairs": "a = t.zeros(2, 2); t.view_as_complex(a)[1] = 1 + 2j",
    "transposed": "a = t.zeros(2, 3); b = a.t().contiguous(); b += 1; a.t().reshape(-1).fill_(7)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    found, expected = {"t": ours}, {"t": torch}
    exec(PROGRAMS[name], found)
    exec(PROGRAMS[name], expected)
    assert found["a"].tolist() == expected["a"].tolist()


@pytest.mark.parametrize("write", ["v.mul_(3)", "v.copy_(x[0, :1] * 5)", "v[0] = x[1, 1]"])
@pytest.mark.parametrize(
    "view", ["h.diagonal()", "h[1]", "h.t()[:, 0]", "h.unfold(0, 2, 1)[0, 0]", "h.view(9)[2:5]"]
)
def test_gradients_go_through_written_views(view, write):
    def gradient(t):
        x = t.arange(9.0).reshape(3, 3).requires_grad_()
        h = x * 2
        v = eval(view, {"h": h})
        exec(write, {"v": v, "x": x})
        (h * t.arange(9.0).reshape(3, 3)).sum().backward()
        return x.grad.tolist(), h.tolist(), v.tolist()

    assert gradient(ours) == gradient(torch)


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("part", [0, 1, 2])
def test_parts_of_a_view_whose_memory_was_written_are_views(part, look):
    found = []
    for t in (torch, ours, ours):
        w = t.zeros(3)
        view = [lambda w: w[:2], lambda w: w.view(3, 1)[:, 0], lambda w: w[:]][part](w)
        w.fill_(2.0)
        if look:
            view[1].item()
        view[0].mul_(5)
        for element in view.unbind():
            element.add_(1)
        for element in view:
            element.mul_(2)
        found.append((w.tolist(), view.tolist()))
    assert found[1:] == [found[0]] * 2


OVERLAPPING = {
    "slices": lambda t, x: x.__setitem__(slice(3), x[1:]),
    "slices of data": lambda t, x: x[:3].data.mul_(x[1:]),
    "detached": lambda t, x: x[:3].detach().add_(x[1:]),
    "detached, assigned": lambda t, x: x[:3].detach().__setitem__(slice(None), x[1:]),
    "transposed": lambda t, x: x.view(2, 2).__setitem__(slice(None), x.view(2, 2).t()),
    "mask": lambda t, x: x.__setitem__(x > -9, x),
    "copy": lambda t, x: x.data[:3].copy_(x[1:]),
}


@pytest.mark.parametrize("write", OVERLAPPING)
def test_writes_of_what_overlaps_are_refused(write):
    for t in (torch, ours, ours):
        x = t.tensor([-1.0, -0.5, 0.0, 2.0])
        with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements of the"):
            OVERLAPPING[write](t, x)
        assert x.tolist() == [-1, -0.5, 0, 2]
        x[:2] = x[2:]
        x[:] = x
        x.data[2:] = x[:2] * 2
        assert x.tolist() == [0, 2, 0, 4]
