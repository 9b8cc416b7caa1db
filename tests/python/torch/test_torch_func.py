"""torch.autograd.Function, gradcheck, autograd.functional and torch.func beside PyTorch's."""

import numpy as np
import pytest
import torch as peer

from composit import torch

BOTH = (torch, peer)
A = np.random.default_rng(3).normal(size=(2, 3))
B = np.random.default_rng(4).normal(size=(2, 3))


def arrays(value):
    """A structure of tensors as arrays."""
    if isinstance(value, (torch.Tensor, peer.Tensor)):
        return [value.detach().numpy()]
    items = value.values() if isinstance(value, dict) else value
    return [x for item in items for x in arrays(item)]


def same(function):
    """What a function of the library returns is the same for both."""
    mine, theirs = (arrays(function(library)) for library in BOTH)
    assert len(mine) == len(theirs)
    for x, y in zip(mine, theirs):
        assert x.shape == y.shape and x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def cube_of(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            y = x * x * x * factor
            ctx.save_for_backward(x)
            ctx.factor = factor
            return y

        @staticmethod
        def backward(ctx, grad):
            assert ctx.needs_input_grad == (True, False)
            (x,) = ctx.saved_tensors
            return 3 * x * x * ctx.factor * grad, None

    return Cube.apply


def exp_of(t):
    class Exp(t.autograd.Function):
        """Saves its output, says that one result has no gradient, and doubles the gradient."""

        @staticmethod
        def forward(x, y):
            return x.exp() * y, (x > 0).to(x.dtype)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[1], output[0])
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx, grad, _):
            y, out = ctx.saved_tensors
            return 2 * grad * out, 2 * grad * out / y

    return Exp.apply


@pytest.mark.parametrize("is_twice", [False, True])
def test_functions_of_ones_own(is_twice):
    def gradients(t):
        x = t.tensor(A, requires_grad=True)
        y = t.tensor(B + 3, requires_grad=True)
        cube, exp = cube_of(t), exp_of(t)
        z, sign = exp(cube(x.sin(), 2.0), y)
        assert not sign.requires_grad and z.requires_grad
        loss = (cube(z, 0.1) * x + z).sum() + (sign * x).sum()
        first = t.autograd.grad(loss, (x, y), create_graph=is_twice)
        if not is_twice:
            return first
        return (*first, *t.autograd.grad((first[0] * first[1]).sum(), (x, y)))

    same(gradients)


def test_functions_add_to_leaves_and_may_be_wrong():
    def gradients(t):
        x = t.tensor(A, requires_grad=True)
        for _ in range(2):
            (cube_of(t)(x, 1.0).sum() + x.sum()).backward()
        return [x.grad]

    same(gradients)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.tensor(A, requires_grad=True)
    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        Wrong.apply(x, x).sum().backward()


def test_once_differentiable():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    x = torch.tensor(A, requires_grad=True)
    (gradient,) = torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(gradient.detach().numpy(), 2 * A)


def test_training_through_a_function_step_by_step():
    def losses(t):
        x = t.nn.Parameter(t.tensor(A))
        optimizer = t.optim.SGD([x], lr=0.01, momentum=0.9)
        found = []
        for _ in range(6):
            optimizer.zero_grad()
            loss = (cube_of(t)(x, 1.0) ** 2).sum()
            loss.backward()
            optimizer.step()
            found.append(loss.detach())
        return found

    same(losses)


def test_gradcheck():
    x = torch.tensor(A, requires_grad=True)
    y = torch.tensor(B, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, y: (x * y.sin(), x.exp()), (x, y))
    assert torch.autograd.gradgradcheck(lambda x, y: x * y.sin() + x**3, (x, y))
    assert torch.autograd.gradcheck(lambda x: cube_of(torch)(x, 2.0), (x,))
    assert torch.autograd.gradgradcheck(lambda x: cube_of(torch)(x, 2.0), (x,))
    wrong = lambda x, y: exp_of(torch)(x, y)[0]
    assert not torch.autograd.gradcheck(wrong, (x, y), raise_exception=False)
    with pytest.raises(torch.autograd.GradcheckError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(wrong, (x, y))


def _two(x, y):
    return x * y.sin(), (x**2).sum(1)


def _number(x, y):
    return (x**2 * y.exp()).sum()


FUNCTIONAL = {
    "jacobian": lambda f, x, y: f.jacobian(_two, (x, y)),
    "jacobian of one": lambda f, x, y: f.jacobian(lambda x: x.exp().sum(0), x),
    "hessian": lambda f, x, y: f.hessian(_number, (x, y)),
    "hessian of one": lambda f, x, y: f.hessian(lambda x: (x**3).sum(), x),
    "vjp": lambda f, x, y: f.vjp(_two, (x, y), (y, x[:, 0])),
    "jvp": lambda f, x, y: f.jvp(_two, (x, y), (y, x)),
    "vhp": lambda f, x, y: f.vhp(_number, (x, y), (y, x)),
    "hvp": lambda f, x, y: f.hvp(_number, (x, y), (y, x)),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_autograd_functional(name):
    same(lambda t: FUNCTIONAL[name](t.autograd.functional, t.tensor(A), t.tensor(B)))


FUNC = {
    "grad": lambda t, x, y: t.func.grad(_number)(x, y),
    "grad of two": lambda t, x, y: t.func.grad(_number, (0, 1))(x, y),
    "grad aux": lambda t, x, y: t.func.grad(lambda x: ((x**2).sum(), x), has_aux=True)(x),
    "grad of grad": lambda t, x, y: t.func.grad(lambda x: t.func.grad(_number)(x, y).sum())(x),
    "grad_and_value": lambda t, x, y: t.func.grad_and_value(_number)(x, y),
    "vjp": lambda t, x, y: t.func.vjp(_two, x, y)[1]((y, x[:, 0])),
    "vjp of one": lambda t, x, y: t.func.vjp(t.sin, x)[1](y),
    "jvp": lambda t, x, y: t.func.jvp(_two, (x, y), (y, x)),
    "vmap": lambda t, x, y: [t.func.vmap(lambda a, b: t.dot(a, b) * a)(x, y)],
    "vmap dims": lambda t, x, y: [
        t.func.vmap(lambda a, b: a.sum() * b, in_dims=(0, None), out_dims=1)(x, y[0])
    ],
    "torch.vmap": lambda t, x, y: [t.vmap(t.sum)(x)],
    "gradients by sample": lambda t, x, y: t.func.vmap(t.func.grad(_number))(x, y),
    "jacrev": lambda t, x, y: [t.func.jacrev(lambda x: x @ y.T)(x)],
    "jacfwd": lambda t, x, y: [t.func.jacfwd(lambda x: x @ y.T)(x)],
    "jacrev of two": lambda t, x, y: t.func.jacrev(_two, argnums=(0, 1))(x, y),
    "jacfwd of two": lambda t, x, y: t.func.jacfwd(_two, argnums=(0, 1))(x, y),
    "jacrev of a dictionary": lambda t, x, y: t.func.jacrev(lambda p: p["x"] * p["y"])(
        {"x": x, "y": y}
    ),
    "hessian": lambda t, x, y: [t.func.hessian(lambda x: _number(x, y))(x)],
}


@pytest.mark.parametrize("name", FUNC)
def test_func(name):
    same(lambda t: FUNC[name](t, t.tensor(A), t.tensor(B)))


def test_modules_as_functions():
    weights = [np.random.default_rng(i).normal(size=(4, 3)) for i in range(3)]

    def found(t):
        models = []
        for weight in weights:
            model = t.nn.Linear(3, 4, dtype=t.float64)
            model.load_state_dict({"weight": t.tensor(weight), "bias": t.tensor(weight[:, 0])})
            models.append(model)
        parameters, buffers = t.func.stack_module_state(models)
        x = t.tensor(A)

        def call(parameters, buffers, x):
            return t.func.functional_call(models[0], (parameters, buffers), (x,))

        every = t.func.vmap(call, in_dims=(0, 0, None))(parameters, buffers, x)
        one = dict(models[1].named_parameters())
        gradient = t.func.grad(lambda p: t.func.functional_call(models[0], p, x).sum())(
            {k: v.detach() for k, v in one.items()}
        )
        return [every, *gradient.values(), models[0](x)]

    same(found)
