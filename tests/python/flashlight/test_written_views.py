"""Programs that write views of views in a trace give torch's bits; so do their gradients."""

import random

import numpy as np
import pytest
import torch

import composit
from composit import flashlight
from composit.nn import chain_rule


def drawn(*shape, seed=0):
    """Whole numbers, so that every sum and product is exact."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-9, 10, shape, generator=generator).float()


def program(text):
    """A function of x whose lines are separated by "; ": it begins with y = x * 1, and gives y."""
    lines = "".join(f"    {line}\n" for line in ["y = x * 1", *text.split("; "), "return y"])
    names = {"torch": torch}
    exec(f"def function(x):\n{lines}", names)
    return names["function"]


def bits(value):
    array = value.detach().resolve_conj().numpy() if isinstance(value, torch.Tensor) else value
    return array.shape, array.dtype, np.ascontiguousarray(array).tobytes()


def check(function, x):
    expected = bits(function(x.clone()))
    traced = flashlight.trace(function, x)  # over a placeholder
    assert bits(traced(x)) == expected
    with flashlight.tracer.trace():  # over memory that has values
        output = function(x)
    assert bits(composit.evaluate(output)) == expected


COMPLEX = "z = torch.view_as_complex(y.view(3, 2, 2))"
PROGRAMS = [
    "y[1].view(2, 2).t()[0].mul_(4)",
    "y.view(2, 6).transpose(0, 1)[1:4, 1].add_(7)",
    "a, b = y.split(2, 1); c = a.t(); b.copy_(c.t()); a.zero_(); y = y + torch.cat([a, b], 1)",
    "r = y.unbind(0); s = r[1].unbind(0); s[2].fill_(9); y = y + r[1]",
    "y.permute(1, 0)[::2].squeeze().unsqueeze(0).sub_(1)",
    "y.narrow(1, 1, 2).movedim(0, 1).neg_()",
    "s = y[0, 0]; s.add_(1); y[0, 0] *= 2; y = y + s",
    "y = x.sum(); y.view(1)[0] = 3; y.add_(1)",
    "y = x.t() * 2; y.t().view(-1)[::3].zero_()",
    "y = torch.zeros_like(x).t(); y.copy_(x.t()); y[1].add_(1)",
    "b = torch.zeros(3, 4); v = b.t(); b.add_(x); v[0] = 7; y = b + v.t()",
    "b = torch.zeros(3, 4); v = b.unfold(1, 2, 1); b[:, 1] = x[:, 0]; y = v.sum(-1)",
    "y.detach().add_(1)",
    # by strides
    "y.as_strided((2, 2), (1, 2), 1).add_(1)",
    "v = y.t().as_strided((3, 2), (4, 1)); v.mul_(5); y = y + v.sum()",
    "v = y[1:].as_strided((2, 3), (3, 1)); v.copy_(x[:2, :3])",
    "y = x.t() * 2; v = y.as_strided((2, 3), (3, 1), 2); v.neg_()",
    "y = x[:, ::2].t() * 2; y.as_strided((3,), (2,), 1).zero_(); y.t()[1].neg_()",
    # diagonals, and windows that overlap
    "y.diagonal().copy_(x[0, :3]); y.diagonal(1)[1:].neg_()",
    "y.unfold(1, 3, 1).diagonal(0, 1, 2).zero_()",
    "y.unfold(1, 3, 1)[:, 1].fill_(7)",
    "y.unfold(1, 2, 2).copy_(x.view(3, 2, 2) * 3)",
    "y.unfold(0, 2, 1).unfold(1, 2, 2)[1, 1].zero_()",
    "y.unfold(0, 2, 1).transpose(0, 2)[1, :, 0].add_(1)",
    "y[:1].expand(3, 4)[1].add_(1)",
    "y[..., None].expand(3, 4, 1).add_(1)",
    # computed places, masks
    "y.t().masked_fill_(y.t() > 2, 3)",
    "y[y > 2] = 0",
    "y[[0, 2]] = x[[2, 0]]; y[:, [1, 3]] *= 2",
    "y.index_put_((torch.tensor([1, 1]), torch.tensor([0, 0])), x[0, :2], accumulate=True)",
    "y.t()[1:].index_put_((torch.tensor([0, 1]),), x[:2, :3])",
    "y.view(2, 6).scatter_(1, torch.tensor([[0, 2], [1, 3]]), 5.0)",
    "torch.mul(x.t(), 2, out=y.t())",
    # parts of complex numbers
    f"{COMPLEX}; torch.view_as_real(z).add_(1)",
    f"{COMPLEX}; z.conj().mul_(2j); z.imag.neg_()",
    f"{COMPLEX}; z.imag[1:] = x[1:, :2]; z.real.t()[0] *= 3",
    f"{COMPLEX}; q = z.conj(); z.add_(1j); y = torch.view_as_real(q * 1)",
    f"{COMPLEX}; y = torch.view_as_real((z.adjoint() * 1).resolve_conj())",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_gives_torchs_bits(text):
    check(program(text), drawn(3, 4))


def test_elements_seen_twice_are_not_written():
    refusal = r"aten\.add_\.Tensor: unsupported operation: more than one element of the written-to"
    for text in ("y[0].expand(2, 4).add_(1)", "y[:, :1].expand(3, 4)[1:].add_(1)"):
        with pytest.raises(RuntimeError, match="more than one element of the written-to"):
            program(text)(drawn(3, 4))
        with pytest.raises(NotImplementedError, match=refusal):
            flashlight.trace(program(text), drawn(3, 4))


def test_strides_beyond_the_memory_or_of_parts_are_refused():
    for text in ("y.as_strided((3,), (5,), 2)", f"{COMPLEX}; z.conj().as_strided((2,), (1,))"):
        with pytest.raises(NotImplementedError, match=r"aten\.as_strided\.default"):
            flashlight.trace(program(text), drawn(3, 4))


# ----- random programs


VIEWS = [
    lambda r, v: v.transpose(*r.sample(range(v.ndim), 2)) if v.ndim > 1 else v,
    lambda r, v: v.select(r.randrange(v.ndim), 0) if v.ndim > 1 else v,
    lambda r, v: v[r.randrange(v.shape[0]) :],
    lambda r, v: v.narrow(v.ndim - 1, 0, max(1, v.shape[-1] - 1)),
    lambda r, v: v[:: r.choice([1, 2])],
    lambda r, v: v.unsqueeze(r.randrange(v.ndim + 1)) if v.ndim < 4 else v.squeeze(),
    lambda r, v: v.diagonal() if v.ndim == 2 else v,
    lambda r, v: v.unfold(0, min(2, v.shape[0]), r.choice([1, 2])) if v.ndim < 3 else v,
    lambda r, v: v.view(-1) if v.is_contiguous() else v,
    lambda r, v: v.view(2, -1) if v.is_contiguous() and v.numel() % 2 == 0 else v,
    lambda r, v: v.as_strided((2, 2), r.choice([(2, 1), (1, 2), (4, 1), (3, 2)]), r.randrange(9)),
]


def distinct(v):
    """Whether no element of the view is another one."""
    places = torch.arange(24).as_strided(v.shape, v.stride(), v.storage_offset())
    return places.unique().numel() == v.numel()


WRITES = [
    lambda r, v: v.add_(r.randrange(5)),
    lambda r, v: v.copy_(v.flip(0)),
    lambda r, v: v.masked_fill_(v > 3, r.randrange(5)),
    lambda r, v: v.neg_(),
    lambda r, v: v.zero_(),
    lambda r, v: v.copy_(torch.arange(v.numel()).view(v.shape)),
    lambda r, v: v.index_put_((torch.tensor([0]),), v[-1:].clone(), accumulate=True),
    lambda r, v: v.clamp_(-7, 7),
]


def random_program(seed):
    def function(x):
        r = random.Random(seed)
        views = [x * 1 if r.random() < 0.7 else torch.zeros(4, 6).add_(x)]
        for _ in range(12):
            made = r.choice(VIEWS)(r, r.choice(views))
            if made.ndim:
                views.append(made)
            target = r.choice(views)
            if distinct(target):
                r.choice(WRITES)(r, target)
        return torch.cat([view.reshape(-1) for view in views])

    return function


@pytest.mark.parametrize("seed", range(100))
def test_a_random_program_gives_torchs_bits(seed):
    function, x = random_program(seed), drawn(4, 6, seed=seed)
    expected = bits(function(x))
    assert bits(flashlight.trace(function, x)(x)) == expected
    with flashlight.tracer.trace():
        output = function(x)
    assert bits(composit.evaluate(output)) == expected


# ----- modules


class Memory(torch.nn.Module):
    """A buffer that is written through views while others look at it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", drawn(4, 3))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        column = self.seen.t()[1]
        self.seen[1:].copy_(x[:3])
        column.mul_(2)
        self.seen.view(-1)[::5].zero_()
        self.seen.diagonal()[1:] = x[0, :2]
        self.count += 1
        return column + self.seen.sum(0)[0] * self.count


def test_buffers_are_written_in_a_trace_and_stay_as_they_were():
    module, x = Memory(), drawn(4, 3, seed=1)
    kept = {name: buffer.clone() for name, buffer in module.named_buffers()}
    traced = flashlight.trace(module, x)
    assert all(torch.equal(buffer, kept[name]) for name, buffer in module.named_buffers())
    written = composit.evaluate(*traced.writes.values(), inputs={traced.inputs[0]: x.numpy()})
    (compiled,) = traced.compile()(x.numpy())
    result = bits(traced(x))
    assert bits(compiled) == result == bits(module(x))
    for name, value in zip(traced.writes, written):
        assert bits(getattr(module, name)) == bits(value)
    result = bits(traced(x))  # over what torch wrote there
    assert bits(module(x)) == result


def test_a_lazy_tensor_is_the_value_of_its_time():
    x = drawn(3)
    with flashlight.tracer.trace():
        y = x * 2
        before = y.lazy_tensor
        nodes = len(y.graph)
        y.add_(1)
        after = y.lazy_tensor
        after[0] = 100  # of a memory of its own
    assert len(y.graph) == nodes + 2
    assert composit.evaluate(before).tolist() == (x * 2).tolist()
    assert composit.evaluate(after).tolist() == [100, *(x * 2 + 1)[1:].tolist()]
    assert composit.evaluate(y).tolist() == (x * 2 + 1).tolist()


# ----- gradients


GRADIENTS = [
    "y.detach().add_(1); y = y * 3 * y",
    "y.t()[1:].unfold(1, 2, 1)[0].zero_(); y = y * y",
    "y.as_strided((2, 2), (1, 2)).mul_(3); y = y * y",
    "y.diagonal().mul_(x[0, :3]); y = y * y",
    f"{COMPLEX}; z.imag.mul_(x[:, :2]); y = y * y * x",
    "with torch.no_grad(): v = (x * 5).view(-1); y = v * x.view(-1)",
    "with torch.no_grad(): v = x * 5; u = v.view(-1); y = u[:3] * x.view(-1)[:3] + u[3:6]",
    "with torch.no_grad(): v = x * 5; u = v.view(-1); u.mul_(x.view(-1)); y = u * 2",
    "with torch.no_grad(): v = x * 5; u = v.view(-1); v.mul_(x); y = u * 2",
    "with torch.no_grad(): v = x * 5; a = v[0]; b = v[1]; a.mul_(x[0]); y = a * 2 + b * x[2]",
]


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients_are_torchs(text):
    function, x = program(text), drawn(3, 4).requires_grad_()
    function(x).sum().backward()
    with flashlight.tracer.trace() as tracer:
        loss = function(x).sum()
    (gradient,) = chain_rule({loss: loss}, tracer.parameters.values())
    assert bits(composit.evaluate(gradient)) == bits(x.grad)
