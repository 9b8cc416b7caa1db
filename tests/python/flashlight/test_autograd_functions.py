"""torch.autograd.Function in a trace: its backward is the derivative, or is refused by name."""

import threading

import numpy as np
import pytest
import torch
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

import composit
from composit import flashlight, nn


class StraightThrough(Function):
    """A derivative that is not that of forward."""

    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Reversed(Function):
    """An input as output, and a number."""

    @staticmethod
    def forward(x, scale):
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.scale * gradient, None


class Itself(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return 3 * gradient


class Scaled(Function):
    """Several inputs, one of which is broadcast; tensors kept in both ways."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight)
        ctx.double = weight * 2
        assert ctx.needs_input_grad[0]
        y = x * weight
        return y if bias is None else y + bias

    @staticmethod
    def backward(ctx, gradient):
        x, _ = ctx.saved_tensors
        with_bias = ctx.needs_input_grad[2]
        return gradient * ctx.double, gradient * x, gradient if with_bias else None


class Split(Function):
    """Several outputs: one has no derivative, one is no float."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        mask, square, sign = x > 0, x * x, torch.sign(x)
        ctx.mark_non_differentiable(mask, sign)
        return x.exp(), mask, square, sign

    @staticmethod
    def backward(ctx, of_exp, of_mask, of_square, of_sign):
        (x,) = ctx.saved_tensors
        return of_exp * x.cos() + of_square * 5


class Stable(Function):
    """What forward does on its way has no finite derivative."""

    @staticmethod
    def forward(ctx, x):
        return torch.where(x > 0, torch.log(torch.where(x > 0, x, x * 0)), x * 0)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 0.5


bound = StraightThrough.apply  # looked up before any trace


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3))
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):
        y = Scaled.apply(self.inner(x), self.weight, None)
        return bound(y * 4) * self.weight


def of_a_step(x, w):
    return Scaled.apply(x, w, w.sum()).tanh()


MODELS = {
    "straight through": lambda x, w: bound(x * 4) * w,
    "reversed": lambda x, w: Reversed.apply(x.sin(), 2.0) * w + x,
    "itself": lambda x, w: Itself.apply(x) * w + Itself.apply(x * w),
    "scaled": lambda x, w: Scaled.apply(x, w, None),
    "broadcast": of_a_step,
    "twice": lambda x, w: bound(Scaled.apply(bound(x * 3), w.sin(), w)),
    "split": lambda x, w: sum(y * w for y in Split.apply(x * w) if y.dtype != torch.bool),
    "one of split": lambda x, w: Split.apply(x * w)[2],
    "stable": lambda x, w: Stable.apply(x - 0.5) * w,
    "without gradient": lambda x, w: x * w + bound(x).detach(),
}


def theirs(model, x, w):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    y = model(x, w)
    y.backward(torch.ones_like(y))
    zeros = torch.zeros_like
    return [y.detach(), *(zeros(v) if v.grad is None else v.grad for v in (x, w))]


@pytest.mark.parametrize("name", MODELS)
def test_values_and_gradients(name):
    torch.manual_seed(0)
    x, w = torch.rand(4, 3), torch.rand(3)
    with flashlight.tracer.trace() as trace:
        x * 1, w * 1  # the leaves' order
        y = MODELS[name](x, w)
    leaves = list(trace.parameters.values())
    found = nn.chain_rule({y: y * 0 + 1}, leaves)
    both = composit.evaluate(y, *found)
    for ours, expected in zip(both, theirs(MODELS[name], x, w), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    compiled = composit.compile(lambda: (y.lazy_tensor, *found))()
    for ours, again in zip(both, compiled, strict=True):
        assert np.asarray(ours).tobytes() == np.asarray(again).tobytes()


def test_in_modules_with_weights():
    torch.manual_seed(1)
    layer, x = Layer(), torch.rand(5, 3)
    with flashlight.tracer.trace() as trace:
        loss = (layer(x) ** 2).sum()
    names = [name for name, _ in layer.named_parameters()]
    gradients = composit.evaluate(
        *nn.chain_rule({loss: loss}, [trace.parameters[name] for name in names])
    )
    (layer(x) ** 2).sum().backward()
    for name, gradient in zip(names, gradients, strict=True):
        expected = layer.get_parameter(name).grad
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5)


class Measured(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x.max().item()


def test_a_backward_that_cannot_be_traced_is_refused_where_it_is_asked_for():
    x = torch.rand(3)
    with flashlight.tracer.trace() as trace:
        y = Measured.apply(x)
    np.testing.assert_array_equal(composit.evaluate(y), x.numpy() * 2)  # values need none
    with pytest.raises(
        NotImplementedError,
        match=r"Measured\.backward \[test_autograd_functions\.py:\d+\] cannot be traced: .*values",
    ):
        nn.chain_rule({y: y}, list(trace.parameters.values()))


class Dirty(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def test_functions_that_write_their_inputs_are_refused():
    with (
        pytest.raises(NotImplementedError, match=r"Dirty\.apply: an autograd\.Function writes"),
        flashlight.tracer.trace(),
    ):
        Dirty.apply(torch.rand(3) * 2)


def test_without_gradients_forward_is_all():
    x = torch.rand(3)
    with torch.no_grad(), flashlight.tracer.trace():
        y = Measured.apply(bound(x))
    np.testing.assert_array_equal(composit.evaluate(y), torch.round(x) * 2)


def test_an_output_that_is_an_input_sees_what_is_written_there():
    x = torch.rand(3)

    def model(x):
        base = x * 2
        same = Itself.apply(base)
        base.add_(1)
        return same * 1

    with flashlight.tracer.trace():
        y = model(x)
    np.testing.assert_allclose(composit.evaluate(y), model(x), rtol=1e-6)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_of_torch(reentrant):
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(3, 3), torch.rand(2, 3, requires_grad=True)

    def loss():
        return checkpoint(lambda v: torch.tanh(layer(v)), x, use_reentrant=reentrant).sum()

    with flashlight.tracer.trace() as trace:
        y = loss()
    np.testing.assert_allclose(composit.evaluate(y), loss().item(), rtol=1e-5)
    if reentrant:  # its backward runs torch's autograd
        with pytest.raises(NotImplementedError, match="CheckpointFunction"):
            nn.chain_rule({y: y}, [trace.parameters["weight"]])
        return
    (gradient,) = nn.chain_rule({y: y}, [trace.parameters["weight"]])
    loss().backward()
    np.testing.assert_allclose(composit.evaluate(gradient), layer.weight.grad, rtol=1e-5)


def test_torch_is_as_before_and_other_threads_never_notice():
    code, seen = Function.__dict__["apply"].__func__.__code__, []

    def elsewhere():
        x = torch.ones(2, requires_grad=True)
        bound(x * 1.4).sum().backward()
        seen.append(x.grad.tolist())

    with pytest.raises(ZeroDivisionError), flashlight.tracer.trace():
        assert Function.__dict__["apply"].__func__.__code__ is not code
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        1 / 0
    assert Function.__dict__["apply"].__func__.__code__ is code
    elsewhere()
    assert seen == [[1.4, 1.4]] * 2 or np.allclose(seen, 1.4)
