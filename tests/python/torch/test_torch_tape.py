"""The tape as programs see it: what grad_fn is, cycles that are collected, chains, versions."""

import gc
import weakref

import pytest
import torch

import composit.torch as ours
from composit import _core
from composit.torch import steps

LIBRARIES = pytest.mark.parametrize("t", [torch, ours], ids=["pytorch", "composit"])


@LIBRARIES
def test_grad_fn_is_the_record(t):
    w = t.ones(3).requires_grad_()
    x = t.ones(3)
    y = w * x
    assert w.grad_fn is None and x.grad_fn is None and y.grad_fn is y.grad_fn
    assert y.grad_fn.name() == "MulBackward0"
    of_leaf = y.grad_fn.next_functions[0][0]
    assert of_leaf.variable is w and of_leaf.next_functions == ()
    assert of_leaf.name().endswith("AccumulateGrad")
    z = y.exp()
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    with pytest.raises(AttributeError, match="has no attribute 'variable'"):
        _ = z.grad_fn.variable
    assert "Backward0 object at 0x" in repr(z.grad_fn)


def test_a_result_keeps_the_leaf_that_nobody_else_holds():
    w = ours.ones(3).requires_grad_()
    held = weakref.ref(w)
    y = (w * 2).exp()
    del w
    steps.restart()  # a trace holds its leaves
    gc.collect()
    assert y.grad_fn.next_functions[0][0].next_functions[0][0].variable is held()
    y.sum().backward()  # which frees the records
    del y
    steps.restart()
    gc.collect()
    assert held() is None


def _with_created_graph():
    w = ours.ones(3).requires_grad_()
    (w * w).sum().backward(create_graph=True)
    assert w.grad.requires_grad  # its record leads to w
    return w


def _with_context():
    class Kept(ours.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x * 2
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    y = Kept.apply(ours.ones(3).requires_grad_())
    assert y.grad_fn.context.saved_tensors[0] is y  # and y holds its record
    return y


def _with_hook():
    y = ours.ones(3).requires_grad_() * 2
    y.register_hook(lambda gradient: y * gradient)
    return y


@pytest.mark.parametrize("make", [_with_created_graph, _with_context, _with_hook])
def test_cycles_through_the_tape_are_collected(make):
    made = weakref.ref(make())
    steps.restart()
    gc.collect()
    assert made() is None


def test_chains_of_any_length_end():
    w = ours.ones(3).requires_grad_()
    held, record = weakref.ref(w), (w * 1).grad_fn
    for _ in range(200_000):
        record = type(record)("AddBackward0", [record])
    assert len(_core.below([record])[1]) == 200_001
    steps.restart()
    del w, record
    assert held() is None


@LIBRARIES
def test_versions_are_counted_by_memory(t):
    x = t.zeros(3)
    view, alias, data = x[1:], x.detach(), x.data
    x += 1
    view.mul_(2)
    alias.add_(1)
    assert x._version == view._version == alias._version == 3 and data._version == 0
    data[0] = 5
    assert (x._version, data._version, x.data._version) == (3, 1, 0)
    of_data = data.detach()
    of_data += 1
    data[1:].zero_()
    assert (x._version, data._version, of_data._version) == (3, 3, 3)
    assert x.clone()._version == 0 and x.tolist() == [6, 0, 0]


@LIBRARIES
def test_a_value_that_was_saved_of_data_is_the_one_that_is_there(t):
    w, x = t.ones(2).requires_grad_(), t.tensor([2.0, 3.0])
    loss = (w * x.data).sum()
    x.mul_(10)
    loss.backward()
    assert w.grad.tolist() == [20, 30]


def test_what_is_no_tensor_is_refused():
    y = (ours.ones(3).requires_grad_() * 2).sum()
    with pytest.raises(TypeError, match=r"grad: inputs is \[5\]. A Tensor of composit.torch is "):
        ours.autograd.grad(y, [5])
    with pytest.raises(TypeError, match=r"backward: inputs is .* A Tensor of composit.torch is "):
        y.backward(inputs=["w"])
    with pytest.raises(TypeError, match=r"_record: a GradFn or None is required."):
        y._record = ["MulBackward0"]


def function_of(t, backward, marks=True, forward=lambda x: (x * 2, x > 0), has_zeros=True):
    """A Function, of which the second result has no gradient."""

    class Marked(t.autograd.Function):
        @staticmethod
        def forward(x):
            return forward(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.set_materialize_grads(has_zeros)
            if marks:
                ctx.mark_non_differentiable(output[1])

    Marked.backward = staticmethod(backward)
    return Marked.apply


WAYS = {
    "backward": lambda t, f: t.autograd.grad(f(x := t.ones(3, requires_grad=True))[0].sum(), x),
    "func.grad": lambda t, f: t.func.grad(lambda x: f(x)[0].sum())(t.ones(3)),
    "func.vjp": lambda t, f: t.func.vjp(lambda x: f(x)[0], t.ones(3))[1](t.ones(3)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("marks", [True, False])
@pytest.mark.parametrize("has_zeros", [True, False])
@pytest.mark.parametrize("forward", [lambda x: (x * 2, x > 0), lambda x: (x * 2, x.floor())])
def test_backward_is_given_zeros_of_what_has_no_gradient(way, marks, has_zeros, forward):
    def program(t):
        given = []

        def backward(ctx, first, second):
            given.append((second is None, None if second is None else second.tolist()))
            return first * 2

        WAYS[way](t, function_of(t, backward, marks, forward, has_zeros))
        return given

    assert program(ours) == program(torch)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", [(2, 3), (3,), (4, 2, 3), (2,), (1,), (3, 2), ()])
def test_gradients_are_summed_to_the_shape_of_the_input(way, shape):
    def program(t):
        try:
            found = WAYS[way](t, function_of(t, lambda ctx, *gradients: t.ones(shape)))
            return [x.tolist() for x in found] if isinstance(found, tuple) else found.tolist()
        except RuntimeError as error:
            return str(error).partition(" returned ")[2].partition(" [test_")[0]

    assert program(ours) == program(torch)
