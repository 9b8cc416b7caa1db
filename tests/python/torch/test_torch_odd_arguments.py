"""Arguments that few programs give: the result, or the error's class and text, is PyTorch's."""

import functools
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, outcome, peer, torch


def of(*programs):
    return pytest.mark.parametrize("program", programs)


def matrix(t):
    return t.arange(12.0).reshape(3, 4)


# ----- indices

INDICES = {
    "empty": [], "nested empty": [[]], "two empty": [[], []], "of length 1, empty": [[[]]],
    "empty behind None": (None, []), "empty together": ([], []), "an empty tuple in a list": [()],
    "a list of a list": [[0, 1]], "two lists": [[0, 1], [1, 2]], "three levels": [[[0, 1], [1, 2]]],
    "a list of truths": [[True, False, True]], "a list and a number": [[0, 1], 0],
    "a number and a list": [0, [1, 2]], "a slice in a list": [slice(0, 1)],
    "a slice and a number": [slice(0, 1), 0], "None in a list": [None],
    "an ellipsis in a list": [...], "two ellipses": (..., ...), "three": (..., ..., ...),
    "a number between ellipses": (..., 0, ...), "a number before ellipses": (0, ..., ...),
    "a list of numbers": [0, 1], "lists in a tuple": ([0, 1], [[0], [1]]),
    "a range": range(2), "an array in a list": [np.array([0, 1])],
}  # fmt: skip


@pytest.mark.parametrize("name", INDICES)
def test_indices(name):
    def program(t):
        x, index = matrix(t), INDICES[name]
        found = x[index]
        x[index] = 7.0
        return [list(found.shape), found, x]

    check_same(program)


@of(
    lambda t: matrix(t)[[t.tensor(0), t.tensor(1)]], lambda t: matrix(t)[[t.tensor([0, 1])]],
    lambda t: matrix(t)[[slice(None), t.tensor([0, 1])]],
)  # fmt: skip
def test_tensors_in_lists(program):
    check_same(program)


def test_an_index_in_a_list_is_a_view():
    def program(t):
        x = matrix(t)
        x[[...]][[0]] += 1
        x[[slice(1, 2)]].mul_(2)
        return x

    check_same(program)


# ----- complex numbers into real tensors


@of(
    lambda t, x, m: x.__setitem__(m, t.tensor(1j)), lambda t, x, m: x.__setitem__(m, 1j),
    lambda t, x, m: x.__setitem__(m, t.tensor(2 + 0j)), lambda t, x, m: x.fill_(1j),
    lambda t, x, m: x.fill_(2 + 0j), lambda t, x, m: x.fill_(t.tensor(2.5)),
    lambda t, x, m: x.long().fill_(2.5), lambda t, x, m: x.masked_fill_(m, 1j),
)  # fmt: skip
def test_complex_values(program):
    def run(t):
        x = t.arange(4.0)
        found = program(t, x, t.tensor([True, False, True, False]))
        return [found, x]

    check_same(run)


def test_complex_tensors_are_not_filled_in():
    for t in (torch, peer):
        with pytest.raises(RuntimeError):
            t.arange(2.0).masked_fill(t.tensor([True, False]), t.tensor(1j)).tolist()


# ----- Tensor.to

CONVERSIONS = [
    lambda t, x: x.to(), lambda t, x: x.to(None), lambda t, x: x.to("cpu", t.float64),
    lambda t, x: x.to(None, t.float64), lambda t, x: x.to(t.float64, True),
    lambda t, x: x.to(t.float64, True, True), lambda t, x: x.to("cpu", None, False, True),
    lambda t, x: x.to(x.double()), lambda t, x: x.to(x.long(), copy=True),
    lambda t, x: x.to(tensor=x.long()), lambda t, x: x.to(dtype=t.int64),
    lambda t, x: x.to("cpu", dtype=t.int64), lambda t, x: x.to(device=None, dtype=None),
    lambda t, x: x.to(t.device("cpu"), None), lambda t, x: x.to(copy=True),
    lambda t, x: x.to(memory_format=t.contiguous_format), lambda t, x: x.to(non_blocking=True),
    lambda t, x: x.to(t.float64, t.float64), lambda t, x: x.to(t.float64, "cpu"),
    lambda t, x: x.to(x, t.float64), lambda t, x: x.to([1]), lambda t, x: x.to(t.float64, 1),
    lambda t, x: x.to(t.float64, True, True, True), lambda t, x: x.to(dtype="float32"),
    lambda t, x: x.to(t.float64, dtype=t.float64), lambda t, x: x.to(other=x),
    lambda t, x: x.to(foo=1), lambda t, x: x.to("cpu", foo=1, copy=True),
    lambda t, x: x.to(np.float32), lambda t, x: x.to(copy=1), lambda t, x: x.to("cpu", "cpu"),
]  # fmt: skip


@pytest.mark.parametrize("program", CONVERSIONS)
def test_conversions(program):
    def run(t):
        x = t.arange(3.0)
        made = program(t, x)
        return [made, made is x, str(made.dtype)]

    check_same(run)


# ----- gradients


def leaves(t):
    return t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)


@of(
    lambda t, x, z: (x * 2).sum().backward(inputs=[]),
    lambda t, x, z: (x * 2).sum().backward(inputs=()),
    lambda t, x, z: t.autograd.backward([(x * 2).sum()], inputs=[]),
    lambda t, x, z: t.autograd.grad((x * 2).sum(), []),
    lambda t, x, z: (x * 2).sum().backward(inputs=[x, z]),
    lambda t, x, z: (x * 2).sum().backward(inputs=x),
    lambda t, x, z: (x * 2).sum().backward(inputs=[t.ones(2)]),
)
def test_inputs_of_backward(program):
    def run(t):
        x, z = leaves(t)
        return [program(t, x, z), x.grad, z.grad]

    check_same(run)


@pytest.mark.parametrize("change", ["double", "long", "half"])
@of(
    lambda t, x, w: w.sum().backward(),
    lambda t, x, w: t.autograd.grad(w.sum(), [x]),
    lambda t, x, w: t.autograd.grad(w.sum(), [w, x]),
)
def test_hooks_keep_the_dtype(program, change):
    def run(is_of_leaf, t):
        x, _ = leaves(t)
        w = x * 3
        (x if is_of_leaf else w).register_hook(lambda gradient: getattr(gradient, change)())
        return program(t, x, w)

    for is_of_leaf in (True, False):
        check_same(functools.partial(run, is_of_leaf))


GRADIENTS = [
    lambda t, x: t.ones(3), lambda t, x: t.ones(1, 2), lambda t, x: t.tensor(1.0), lambda t, x: 3,
    lambda t, x: "a", lambda t, x: [1.0, 2.0], lambda t, x: np.ones(2), lambda t, x: x,
    lambda t, x: None, lambda t, x: t.full((2,), 5.0), lambda t, x: x.detach(),
    lambda t, x: t.nn.Parameter(t.ones(2)),
]  # fmt: skip


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_gradients_that_are_assigned(gradient):
    def run(t):
        x, _ = leaves(t)
        x.grad = gradient(t, x)
        return x.grad

    check_same(run)


def test_a_gradient_is_deleted():
    def run(t):
        x, _ = leaves(t)
        x.sum().backward()
        del x.grad
        return x.grad

    check_same(run)


@of(lambda t: t.ones(2).double(), lambda t: t.ones(2).long(), lambda t: t.ones(3).half())
def test_an_assigned_gradient_has_the_dtype(program):
    """PyTorch goes on about an attribute that says another one."""

    def run(t):
        leaves(t)[0].grad = program(t)

    mine, theirs = (outcome(run, t) for t in (torch, peer))
    assert mine.partition(" The gradient must")[0] == theirs.partition(" The gradient must")[0]


def writing(t, result, writes=True):
    class Writing(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if writes:
                x.mul_(2)
            ctx.mark_dirty(x)
            return result(x)

        @staticmethod
        def backward(ctx, *gradients):
            return gradients[0] * 2

    return Writing.apply


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("result", [lambda x: x, lambda x: x * 1, lambda x: (x, x + 1)])
@pytest.mark.parametrize("make", [
    lambda t: t.ones(2, requires_grad=True), lambda t: t.ones(2),
    lambda t: t.ones(2, requires_grad=True) * 3,
])  # fmt: skip
def test_what_is_marked_dirty(make, result, writes):
    check_same(lambda t: writing(t, result, writes)(make(t)))


@of(
    lambda x, view: (x * view.sum()).sum(), lambda x, view: (x[:2] * view).sum(),
    lambda x, view: (x.view(2, 2) * view.reshape(1, 2)).sum(), lambda x, view: view.sum() + x.sum(),
    lambda x, view: (x[1:3] * view + view).exp().sum(), lambda x, view: (view[:1] * x).sum(),
)  # fmt: skip
def test_no_gradient_goes_through_a_view_from_before(program):
    def run(t):
        x = t.ones(4)
        view = x[:2]
        x.requires_grad_()
        for _ in range(3):  # by nodes, and known from the pass before
            program(x, view).backward()
        return x.grad

    check_same(run)


def test_a_view_of_what_becomes_a_leaf_is_one():
    def run(t):
        x = t.ones(4)
        view = x[:2]
        x.requires_grad_()
        return [view.requires_grad, view.is_leaf, view.grad_fn, (view * 3).sum().backward(), x.grad]

    check_same(run)


# ----- torch.func and torch.optim


@of(
    lambda t: t.vmap(lambda x: x * 2, chunk_size=0)(t.ones(3, 2)),
    lambda t: t.vmap(lambda x: x * 2, chunk_size=-1),
    lambda t: t.vmap(lambda x: x * 2, chunk_size=2)(t.ones(3, 2)),
    lambda t: t.func.jacrev(lambda x: x * 2, chunk_size=0),
    lambda t: t.func.jacrev(lambda x: x * 2, chunk_size=-1),
    lambda t: t.func.jacrev(lambda x: x * 2, chunk_size=2)(t.ones(3)),
)
def test_sizes_of_chunks(program):
    def run(t):
        made = program(t)
        return "a function" if callable(made) and not isinstance(made, t.Tensor) else made

    check_same(run)


@of(
    lambda t, x, z: [{"params": {x}}],
    lambda t, x, z: {x},
    lambda t, x, z: [{"params": [x]}],
    lambda t, x, z: [{"params": frozenset([x])}],
    lambda t, x, z: x,
    lambda t, x, z: [],
    lambda t, x, z: None,
    lambda t, x, z: 3,
    lambda t, x, z: [3],
    lambda t, x, z: [("a", x), z],
    lambda t, x, z: [z, ("a", x)],
    lambda t, x, z: [("a", x), ("b", z)],
)
def test_parameters_of_optimizers(program):
    def run(t):
        x, z = leaves(t)
        made = t.optim.SGD(program(t, x, z), lr=0.1)
        return [len(group["params"]) for group in made.param_groups]

    check_same(run)


# ----- torch.autograd.functional

POINTS = {"one": lambda x: x * x, "number": lambda x: (x**3).sum(),
          "two": lambda x, y: (x * y, x + y), "number of two": lambda x, y: (x**3 * y).sum(),
          "constant": lambda x: x.detach() * 2, "linear": lambda x: (x * 2).sum(),
          "rows": lambda x: x * 2, "of one of two": lambda x, y: x * 2,
          "square of one": lambda x, y: (x**2).sum()}  # fmt: skip
VECTORS = {
    "none": lambda t, y: None, "one": lambda t, y: y, "a tuple of one": lambda t, y: (y,),
    "two": lambda t, y: (y, y), "three": lambda t, y: (y, y, y), "longer": lambda t, y: t.ones(3),
    "one is longer": lambda t, y: (y, t.ones(3)), "a number": lambda t, y: 3,
    "a list": lambda t, y: [y],
}  # fmt: skip


def arguments_of(t, function):
    x, y = t.arange(2.0) + 1, t.ones(2)
    return (x, y) if "two" in function or "of one" in function else x


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("function", ["one", "number", "two", "number of two"])
@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_vectors_fit(name, function, vector):
    check_same(lambda t: getattr(t.autograd.functional, name)(
        POINTS[function], arguments_of(t, function), VECTORS[vector](t, t.ones(2))))  # fmt: skip


@pytest.mark.parametrize("create_graph", [True, False])
@pytest.mark.parametrize("function", POINTS)
@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
def test_strict_functions(name, function, create_graph):
    def run(t):
        inputs = arguments_of(t, function)
        vector = {}
        if name == "vjp":
            found = POINTS[function](*(inputs if isinstance(inputs, tuple) else (inputs,)))
            several = isinstance(found, tuple)
            ones = [t.ones(part.shape) for part in (found if several else (found,))]
            vector = {"v": tuple(ones) if several else ones[0]}
        elif name in ("jvp", "vhp", "hvp"):
            vector = {"v": (t.ones(2),) * 2 if isinstance(inputs, tuple) else t.ones(2)}
        call = getattr(t.autograd.functional, name)
        return call(POINTS[function], inputs, strict=True, create_graph=create_graph, **vector)

    check_same(run)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [
    {"strategy": "foo"}, {"strategy": "forward-mode"},
    {"strategy": "forward-mode", "vectorize": True}, {"strategy": "foo", "vectorize": True},
    {"strategy": "forward-mode", "vectorize": True, "create_graph": True},
    {"strategy": "forward-mode", "vectorize": True, "strict": True},
    {"vectorize": True, "strict": True}, {"vectorize": True},
])  # fmt: skip
def test_strategies(options):
    check_same(lambda t: t.autograd.functional.jacobian(POINTS["one"], t.ones(2), **options))
    named = {("outer_jacobian_strategy" if k == "strategy" else k): v for k, v in options.items()}
    check_same(lambda t: t.autograd.functional.hessian(POINTS["number"], t.ones(2), **named))


@of(
    lambda t, f: f.jacobian(lambda x: [x], t.ones(2)),
    lambda t, f: f.jacobian(lambda x: 3, t.ones(2)),
    lambda t, f: f.jacobian(POINTS["one"], 3), lambda t, f: f.jacobian(POINTS["one"], [t.ones(2)]),
    lambda t, f: f.jacobian(POINTS["one"], (t.ones(2), 3)),
    lambda t, f: f.hessian(POINTS["one"], 3),
    lambda t, f: f.vjp(lambda x: (x, 3), t.ones(2), (t.ones(2), t.ones(2))),
    lambda t, f: f.hessian(lambda x: (x.sum(), x.sum()), t.ones(2)),
    lambda t, f: f.hessian(POINTS["one"], t.ones(2)), lambda t, f: f.jacobian(POINTS["one"], None),
)  # fmt: skip
def test_what_is_no_tensor(program):
    check_same(lambda t: program(t, t.autograd.functional))
