"""torch.autograd.forward_ad, and torch.hub of a folder, beside PyTorch's."""

import numpy as np
import pytest
import torch as theirs
import torch.autograd.forward_ad

import composit.torch as ours


def numbers(value):
    return None if value is None else value.detach().numpy().tolist()


def both(program):
    expected, got = program(theirs), program(ours)
    assert len(expected) == len(got)
    for a, b in zip(expected, got):
        if a is None or b is None:
            assert a is b
        else:
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)


def test_tangents_of_functions():
    def program(t):
        fw = t.autograd.forward_ad
        x, v = t.tensor([1.0, 2.0, 3.0]), t.tensor([1.0, 0.0, 2.0])
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            other = fw.make_dual(v, x)
            y = (dual.sin() * dual).cumsum(0) / other.exp()
            found = [fw.unpack_dual(one) for one in (y, dual, x, dual * 2, t.ones(2))]
            primal, tangent = fw.unpack_dual(t.stack([dual, x]).softmax(0)[0] @ other)
        assert fw.unpack_dual(y).tangent is None
        return [*(numbers(one.tangent) for one in found), numbers(primal), numbers(tangent)]

    both(program)


def test_a_module_with_dual_parameters():
    def program(t):
        fw = t.autograd.forward_ad
        model = t.nn.Linear(3, 2)
        model.load_state_dict({"weight": t.arange(6.0).reshape(2, 3), "bias": t.ones(2)})
        with fw.dual_level():
            for name, parameter in list(model.named_parameters()):
                delattr(model, name)
                setattr(model, name, fw.make_dual(parameter, t.ones_like(parameter)))
            out = model(t.tensor([[1.0, 2.0, 3.0]])).tanh()
            return [numbers(fw.unpack_dual(out).tangent)]

    both(program)


def test_gradients_of_tangents_and_tangents_of_gradients():
    def program(t):
        fw = t.autograd.forward_ad
        w = t.tensor([1.0, 2.0], requires_grad=True)
        with fw.dual_level():
            dual = fw.make_dual(w, t.ones(2))
            primal, tangent = fw.unpack_dual((dual**3).sum())
            (tangent + primal).backward()
        with fw.dual_level():
            dual = fw.make_dual(w, t.ones(2))
            (gradient,) = t.autograd.grad((dual**3).sum(), dual, create_graph=True)
            return [numbers(w.grad), numbers(fw.unpack_dual(gradient).tangent)]

    both(program)


def test_what_is_refused():
    for t in (theirs, ours):
        fw = t.autograd.forward_ad
        x = t.ones(2)
        with pytest.raises(RuntimeError, match="no level exists"):
            fw.make_dual(x, x)
        with fw.dual_level():
            with pytest.raises(RuntimeError, match="Nested forward mode AD"):
                fw.enter_dual_level()
            with pytest.raises(ValueError, match="Expected primal to be floating point"):
                fw.make_dual(t.ones(2, dtype=t.int64), x)
        with pytest.raises(RuntimeError, match="level"):
            fw.exit_dual_level()
    fw = ours.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(ours.ones(2), ours.ones(2))
        with ours.no_grad():
            y = dual * 2
        with pytest.raises(NotImplementedError, match="under no_grad"):
            fw.unpack_dual(y)
        with pytest.raises(RuntimeError, match="tangent already"):
            fw.make_dual(dual, dual)
        with pytest.raises(RuntimeError, match="The same is required"):
            fw.make_dual(ours.ones(2), ours.ones(3))


def test_models_of_a_folder(tmp_path):
    for t in ("torch", "composit.torch"):
        (tmp_path / "hubconf.py").write_text(
            f'dependencies = ["numpy"]\nimport {t} as torch\n\n\ndef small(width, bias=True):\n'
            '    """A layer."""\n    return torch.nn.Linear(width, 2, bias=bias)\n'
        )
        module = theirs if t == "torch" else ours
        made = module.hub.load(str(tmp_path), "small", 3, source="local", bias=False)
        assert made.weight.shape == (2, 3) and made.bias is None
        with pytest.raises(RuntimeError, match="Cannot find callable large in hubconf"):
            module.hub.load(str(tmp_path), "large", source="local")
        with pytest.raises(ValueError, match="Unknown source"):
            module.hub.load(str(tmp_path), "small", source="elsewhere")
    for use in (
        lambda: ours.hub.load("pytorch/vision", "resnet18"),
        lambda: ours.hub.load_state_dict_from_url("https://example.org/a.pth"),
    ):
        with pytest.raises(NotImplementedError, match=r"downloading .* is not built"):
            use()


def functions_with_tangents(t):
    class Product(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.factor = factor
            ctx.save_for_forward(x, y)
            return x * factor * y, x + y

        @staticmethod
        def jvp(ctx, of_x, of_factor, of_y):
            assert of_factor is None
            x, y = ctx.saved_tensors
            return (of_x * y + x * of_y) * ctx.factor * 7, of_x - of_y  # not what backward is

    class Square(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, of_x):
            return 2 * of_x * ctx.saved_tensors[0]

    return Product.apply, Square.apply


def test_functions_have_the_tangents_of_their_jvp():
    def program(t):
        fw = t.autograd.forward_ad
        product, square = functions_with_tangents(t)
        x, v = t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0])
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            first, second = product(dual, 5.0, v)
            other = square(first * 2) + dual
            found = [first, second, first * second, other, product(v, 2.0, dual * dual)[0],
                     product(x, 5.0, v)[0], square(square(dual))]  # fmt: skip
            return [numbers(part) for one in found for part in fw.unpack_dual(one)]

    both(program)


def test_gradients_of_the_tangents_of_functions():
    def program(t):
        fw = t.autograd.forward_ad
        _, square = functions_with_tangents(t)
        w = t.tensor([1.0, 2.0], requires_grad=True)
        with fw.dual_level():
            made = square(fw.make_dual(w, t.tensor([3.0, 4.0]))) * 3
            tangent = fw.unpack_dual(made).tangent
            return [numbers(tangent), *map(numbers, t.autograd.grad(tangent.sum(), [w]))]

    both(program)


@pytest.mark.parametrize("tangents, words", [
    (lambda t: t.ones(3), "has a different size than that of the original Tensor"),
    (lambda t: (t.ones(2), t.ones(2)), "invalid number of forward gradients"),
    (lambda t: 3, "expected Variable or None"), (None, "You must implement the jvp function"),
])  # fmt: skip
def test_functions_whose_jvp_gives_no_tangents(tangents, words):
    for t in (theirs, ours):

        class Twice(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        if tangents:
            Twice.jvp = staticmethod(lambda ctx, of_x, t=t: tangents(t))
        fw = t.autograd.forward_ad
        with fw.dual_level(), pytest.raises((RuntimeError, NotImplementedError), match=words):
            Twice.apply(fw.make_dual(t.ones(2), t.ones(2)))
