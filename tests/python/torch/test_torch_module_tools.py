"""What torch.nn and torch.nn.utils have for modules, beside PyTorch's: fused layers, clipped norms,
orthogonal weights, tensors without a shape yet, pieces for devices."""

import collections
import copy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch as peer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import Draws, check_losses, check_same, outcome, plain, torch


def close(program, bound=1e-5):
    """Both libraries' numbers, about."""
    mine, theirs = (plain(program(t, Draws(t))) for t in (torch, peer))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


# ----- gradients


def with_gradients(t, draws):
    layer = draws.start(t.nn.Linear(3, 2))
    for parameter in layer.parameters():
        parameter.grad = draws.normal(*parameter.shape)
    return layer


def test_gradients_are_clipped():
    def program(t, draws):
        utils, told = t.nn.utils, []
        for norm in (1.0, 2.0, float("inf"), 0.5):
            layer = with_gradients(t, Draws(t))
            told.append(utils.clip_grad_norm_(layer.parameters(), 0.7, norm))
            told += [x.grad for x in layer.parameters()]
        layer = with_gradients(t, draws)
        total = utils.get_total_norm([x.grad for x in layer.parameters()])
        utils.clip_grads_with_norm_(layer.parameters(), 0.5, total)
        told += [total, *[x.grad for x in layer.parameters()]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told.append(utils.clip_grad_norm(layer.weight, 0.1))
        utils.clip_grad_value_(layer.weight, 0.01)
        return [*told, layer.weight.grad]

    close(program)


def test_norms_that_are_not_finite():
    def program(t):
        layer = with_gradients(t, Draws(t))
        layer.bias.grad[0] = float("nan")
        t.nn.utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)

    check_same(program)


def test_deprecated_names_and_empty_generators_warn():
    layer = with_gradients(torch, Draws(torch))
    with pytest.warns(FutureWarning, match="clip_grad_norm` is now deprecated"):
        torch.nn.utils.clip_grad_norm(layer.parameters(), 1.0)
    with pytest.warns(UserWarning, match="empty generator"):
        assert torch.nn.utils.clip_grad_norm_((x for x in ()), 1.0).item() == 0


# ----- layers


def test_normalisations_are_fused_with_what_is_before():
    def program(t, draws):
        told = []
        layers = (
            (t.nn.Conv2d(3, 4, 3), t.nn.BatchNorm2d(4), (2, 3, 6, 6), {}),
            (t.nn.Conv1d(3, 4, 2, bias=False), t.nn.BatchNorm1d(4, affine=False), (2, 3, 6), {}),
            (t.nn.ConvTranspose2d(3, 4, 2), t.nn.BatchNorm2d(4), (2, 3, 5, 5),
             {"transpose": True}),
            (t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), (5, 3), {}),
        )  # fmt: skip
        for layer, norm, shape, options in layers:
            draws.start(layer)
            norm.running_mean.copy_(draws.normal(4))
            norm.running_var.copy_(draws.normal(4).abs() + 0.5)
            layer.eval()
            norm.eval()
            kind = "linear" if isinstance(layer, t.nn.Linear) else "conv"
            made = getattr(t.nn.utils, f"fuse_{kind}_bn_eval")(layer, norm, **options)
            x = draws.normal(*shape)
            np.testing.assert_allclose(made(x).detach().numpy(), norm(layer(x)).detach().numpy(),
                                       rtol=1e-4, atol=1e-5)  # fmt: skip
            told += [made.weight.detach(), made.bias.detach()]
            assert isinstance(made.weight, t.nn.Parameter) and made.weight.requires_grad
            assert made is not layer and made.bias.requires_grad == (layer.bias is not None)
        return told

    close(program)


FUSED_BADLY = {
    "training": lambda t: t.nn.utils.fuse_conv_bn_eval(t.nn.Conv2d(1, 1, 1), t.nn.BatchNorm2d(1)),
    "features": lambda t: t.nn.utils.fuse_linear_bn_eval(
        t.nn.Linear(2, 3).eval(), t.nn.BatchNorm1d(2).eval()),
    "statistics": lambda t: t.nn.utils.fuse_conv_bn_eval(
        t.nn.Conv2d(1, 1, 1).eval(), t.nn.BatchNorm2d(1, track_running_stats=False).eval()),
    "class": lambda t: t.nn.utils.skip_init(t.Generator, device="cpu") and None,
    "device": lambda t: t.nn.utils.skip_init(t.nn.ReLU),
    "keywords": lambda t: t.nn.factory_kwargs({"size": 3}),
    "twice": lambda t: t.nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"device": "cpu"}}),
    "images": lambda t: t.nn.CrossMapLRN2d(3)(t.ones(2, 3)),
    "policy": lambda t: t.nn.LinearCrossEntropyOptions(acc_policy="best"),
    "method": lambda t: t.nn.LinearCrossEntropyOptions(chunking_method="rows"),
    "rows": lambda t: t.nn.LinearCrossEntropyOptions(batch_chunk_size=0),
}  # fmt: skip


@pytest.mark.parametrize("name", FUSED_BADLY)
def test_what_is_refused(name):
    mine, theirs = (outcome(FUSED_BADLY[name], t) for t in (torch, peer))
    # PyTorch's module may have another name.
    assert mine == str(theirs).replace(
        "torch._C.Generator", "composit.torch.functions.random.Generator"
    )


def test_options_of_tensors_among_keywords():
    def program(t):
        of = t.nn.factory_kwargs
        return (of(None), of({"device": "cpu"}), sorted(of({"device": "cpu", "factory_kwargs": {
            "memory_format": 1}}).items()))  # fmt: skip

    check_same(program)


def test_modules_without_initialisation_draw_nothing():
    torch.manual_seed(5)
    layer = torch.nn.utils.skip_init(torch.nn.Linear, 3, 2, dtype=torch.float64)
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.rand(1).item() == after.item()
    assert layer.weight.shape == (2, 3) and layer.weight.dtype == torch.float64
    assert isinstance(layer.weight, torch.nn.Parameter) and layer.weight.requires_grad
    assert layer(torch.ones(1, 3, dtype=torch.float64)).isfinite().all()


def test_channels_are_normalised_by_their_neighbours():
    def program(t, draws):
        x = draws.normal(2, 9, 3, 2)
        sizes = (1, 2, 3, 4, 5, 9)
        return [t.nn.CrossMapLRN2d(n, 0.3, 0.6, 2.0)(x) for n in sizes] + [t.nn.CrossMapLRN2d(5)(x)]

    close(program)
    check_same(lambda t: repr(t.nn.CrossMapLRN2d(5, k=2)))
    x = torch.tensor(np.random.default_rng(0).normal(size=(1, 4, 1, 2)), requires_grad=True)
    assert torch.autograd.gradcheck(torch.nn.CrossMapLRN2d(3, 0.5), (x,))


@pytest.mark.filterwarnings("ignore:.NLLLoss2d:FutureWarning")
def test_old_names_of_losses_and_options_of_products():
    def program(t):
        draws = Draws(t)
        x, y = draws.normal(4, 3), draws.integers(3, 4)
        loss = t.nn.LinearCrossEntropyLoss(
            3, 5, options=t.nn.LinearCrossEntropyOptions(batch_chunk_size=2, chunking_method=None)
        )
        draws.start(loss.linear)
        told = [t.nn.NLLLoss2d()(x.log_softmax(1), y), loss(x, y)]
        return [round(value.item(), 5) for value in told]

    check_same(program)


def test_memory_formats_change_no_value():
    def program(t):
        model = t.nn.Sequential(t.nn.Conv2d(2, 3, 3), t.nn.Conv3d(2, 3, 2))
        Draws(t).start(model)
        one = t.nn.utils.convert_conv2d_weight_memory_format(model, t.channels_last)
        two = t.nn.utils.convert_conv3d_weight_memory_format(model, t.channels_last_3d)
        return one is model, two is model, [x.tolist() for x in model.parameters()]

    check_same(program)


# ----- orthogonal weights

MAPS = ("matrix_exp", "cayley", "householder")


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 5)])
@pytest.mark.parametrize("has_base", [True, False])
def test_orthogonal_weights_are_trained(name, shape, has_base):
    def script(t, draws):
        layer = draws.start(t.nn.Linear(shape[1], shape[0]))
        t.nn.utils.parametrizations.orthogonal(
            layer, orthogonal_map=name, use_trivialization=has_base
        )
        made = layer.parametrizations.weight
        start = Draws(t, 1)
        with t.no_grad():
            if has_base:
                n = max(shape)
                base = np.linalg.qr(start.numpy.standard_normal((n, n)))[0].astype("float32")
                made[0].base.copy_(t.tensor(base))
            drawn = start.normal(*shape)
            made.original.copy_(drawn if name != "householder" else drawn.tril(-1) + t.eye(*shape))
        optimizer = t.optim.SGD(layer.parameters(), 0.1)
        x, losses = draws.normal(5, shape[1]), []
        for _ in range(6):
            optimizer.zero_grad()
            loss = (layer(x) - 1).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        weight = layer.weight.detach().numpy()
        tall = weight if shape[0] >= shape[1] else weight.T
        np.testing.assert_allclose(tall.T @ tall, np.eye(min(shape)), atol=1e-5)
        return losses

    check_losses(script, 6)


def test_states_and_values_of_orthogonal_weights():
    def program(t):
        layer = t.nn.Linear(4, 4)
        t.nn.utils.parametrizations.orthogonal(layer)
        state = list(layer.state_dict())
        turned = t.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1], [0, 0, 1, 0]])
        layer.weight = turned
        told = [state, [[round(x, 5) + 0.0 for x in row] for row in layer.weight.tolist()]]
        narrow = t.nn.Linear(2, 3)
        t.nn.utils.parametrizations.orthogonal(narrow, use_trivialization=False)
        narrow.weight = t.tensor([[1.0, 0], [0, -1], [0, 0]])
        told.append([[round(x, 5) + 0.0 for x in row] for row in narrow.weight.tolist()])
        told.append(list(narrow.state_dict()))
        return told

    check_same(program)


def test_unitary_weights():
    layer = torch.nn.Module()
    layer.weight = torch.nn.Parameter(torch.randn(2, 3, 3, dtype=torch.complex128))
    torch.nn.utils.parametrizations.orthogonal(layer)
    q = layer.weight.detach().numpy()
    np.testing.assert_allclose(
        q @ q.conj().swapaxes(-1, -2), np.eye(3)[None].repeat(2, 0), atol=1e-12
    )


NOT_ORTHOGONAL = {
    "name": lambda t, m: m(t.nn.Linear(2, 2), "weights"),
    "vector": lambda t, m: m(t.nn.Linear(2, 2), "bias"),
    "map": lambda t, m: m(t.nn.Linear(2, 2), orthogonal_map="other"),
    "assigned": lambda t, m: setattr(
        m(t.nn.Linear(2, 2), orthogonal_map="cayley", use_trivialization=False), "weight",
        t.eye(2)),
    "shape": lambda t, m: setattr(m(t.nn.Linear(2, 2)), "weight", t.ones(3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_ORTHOGONAL)
def test_what_orthogonal_refuses(name):
    check_same(lambda t: NOT_ORTHOGONAL[name](t, t.nn.utils.parametrizations.orthogonal))


# ----- parametrisations of other modules


def test_parametrisations_are_transferred():
    def program(t):
        parametrize = t.nn.utils.parametrize
        draws = Draws(t)
        one, two = draws.start(t.nn.Linear(3, 2)), draws.start(t.nn.Linear(3, 2))
        t.nn.utils.parametrizations.weight_norm(one)
        told = [parametrize.type_before_parametrizations(one).__name__,
                parametrize.type_before_parametrizations(two).__name__]  # fmt: skip
        made = parametrize.transfer_parametrizations_and_params(one, two)
        told += [made is two, parametrize.is_parametrized(two, "weight"), sorted(two.state_dict()),
                 bool((one.weight - two.weight).abs().max() < 1e-6)]  # fmt: skip
        other = t.nn.Linear(3, 2)
        return [*told, parametrize.transfer_parametrizations_and_params(other, two) is two]

    check_same(program)


# ----- tensors without a shape


def test_tensors_without_a_shape():
    def program(t):
        kinds, told = t.nn.parameter, []
        for made in (kinds.UninitializedParameter(), kinds.UninitializedBuffer(dtype=t.float64)):
            told += [repr(made), kinds.is_lazy(made), made.requires_grad, str(made.dtype)]
            if isinstance(made, t.nn.Parameter):
                copied = copy.deepcopy(made)
                told += [kinds.is_lazy(copied), copied is made]
            made.materialize((2, 3))
            told += [kinds.is_lazy(made), list(made.shape), type(made).__name__, str(made.dtype)]
        told.append(kinds.is_lazy(t.ones(2)))
        layer = t.nn.LazyLinear(4)
        told.append([kinds.is_lazy(x) for x in layer.parameters()])
        layer(t.ones(2, 3))
        return [*told, [kinds.is_lazy(x) for x in layer.parameters()], list(layer.weight.shape)]

    check_same(program)
    check_same(lambda t: t.nn.parameter.UninitializedParameter().shape)


# ----- calls with other tensors


def test_calls_with_other_tensors():
    def program(t):
        layer = Draws(t).start(t.nn.Linear(2, 2))
        given = {"weight": t.ones(2, 2), "bias": t.zeros(2)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import importlib

            stateless = importlib.import_module(f"{t.__name__}.nn.utils.stateless")
            return stateless.functional_call(layer, given, t.ones(1, 2))

    check_same(program)


@pytest.mark.parametrize("given", [{"weight": 1}, {"weight": 1, "bias": 2, "more": 3}])
def test_names_of_other_tensors_are_checked(given):
    def program(t):
        values = {name: t.ones(2, 2) for name in given}
        try:
            t.func.functional_call(t.nn.Linear(2, 2), values, t.ones(1, 2), strict=True)
        except RuntimeError as error:
            return str(error).rsplit(" [", 1)[0].split("\n")

    check_same(program)


def test_values_of_tied_tensors():
    def program(t):
        model = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Linear(2, 2))
        model[1].weight = model[0].weight
        t.func.functional_call(model, {"0.weight": t.ones(2, 2), "1.weight": t.zeros(2, 2)},
                               t.ones(1, 2))  # fmt: skip

    check_same(program)


# ----- pieces for devices

Pair = collections.namedtuple("Pair", "x y")


def test_pieces_for_devices():
    """PyTorch's need GPUs."""
    parallel, devices = torch.nn.parallel, ["cpu", "cpu"]
    x = torch.arange(10.0).reshape(5, 2)
    pieces = parallel.scatter({"x": x, "n": 3, "pair": Pair(x, [x])}, devices)
    assert [list(each) for each in pieces] == [["x", "n", "pair"]] * 2
    assert [each["x"].shape[0] for each in pieces] == [3, 2] and pieces[1]["n"] == 3
    assert isinstance(pieces[0]["pair"], Pair) and pieces[0]["pair"].y[0].tolist() == x[:3].tolist()
    joined = parallel.gather([each["pair"] for each in pieces], "cpu")
    assert joined.x.tolist() == x.tolist()
    assert parallel.scatter(x, devices, dim=1)[1].tolist() == x[:, 1:].tolist()
    with pytest.warns(UserWarning, match="all input tensors were scalars"):
        assert parallel.gather([torch.tensor(1.0), torch.tensor(2.0)], "cpu").tolist() == [1, 2]
    with pytest.raises(AssertionError, match="The number of modules 1 is not equal to"):
        parallel.parallel_apply([torch.nn.ReLU()], [x, x])


@pytest.mark.on_cpu
def test_replicas_are_trained_through_the_module():
    parallel = torch.nn.parallel
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1)
    )
    model.eval()
    x = torch.arange(8.0).reshape(4, 2)
    replicas = parallel.replicate(model, ["cpu", "cpu"])
    assert replicas[0][0] is not model[0] and not list(replicas[0].parameters())
    outputs = parallel.parallel_apply(replicas, parallel.scatter((x,), ["cpu", "cpu"]))
    made = parallel.gather(outputs, "cpu")
    assert made.tolist() == model(x).tolist()
    made.sum().backward()
    found = [p.grad.tolist() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    np.testing.assert_allclose(found[0], model[0].weight.grad.tolist(), rtol=1e-6)
    detached = parallel.replicate(model, ["cpu"], detach=True)[0]
    assert not detached(x).requires_grad
