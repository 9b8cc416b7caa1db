"""What a trace is: inputs, constants, views, writes, names, and what is refused."""

import threading

import numpy as np
import pytest
import torch

import composit
from composit import flashlight
from composit.flashlight.tracer import current, trace


def traced(function, *args):
    with trace():
        return function(*args)


def agrees(function, *args):
    """The function, traced, gives torch's result on copies of the arguments."""
    expected = function(*[x.clone() if isinstance(x, torch.Tensor) else x for x in args])
    result = traced(function, *args)
    if not isinstance(result, (tuple, list)):
        result, expected = (result,), (expected,)
    for one, right in zip(result, expected):
        value = composit.evaluate(one)
        assert value.shape == tuple(right.shape)
        assert value.dtype == right.detach().numpy().dtype
        np.testing.assert_allclose(value, right.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_the_seeds_example():
    model = torch.nn.Linear(128, 64)
    activations = torch.rand(32, 128)
    with flashlight.tracer.trace():
        output = model(activations)
    assert isinstance(output, flashlight.Tensor)
    assert isinstance(output, torch.Tensor)
    assert isinstance(output.lazy_tensor, composit.LazyTensor)
    assert len(output.graph) == 6
    np.testing.assert_allclose(
        composit.evaluate(output), model(activations).detach().numpy(), rtol=1e-5, atol=1e-6
    )


def test_leaves_are_named_after_the_weights_and_share_their_memory():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    x = torch.rand(5, 3)
    with trace():
        output = model(x)
    names = {node.name for node in output.graph if node.is_constant}
    assert {"0.weight", "0.bias", "1.weight", "1.bias", "tensor_0"} <= names
    before = composit.evaluate(output)
    with torch.no_grad():
        model[1].bias += 1
    np.testing.assert_allclose(composit.evaluate(output), before + 1, rtol=1e-6)


def test_composits_functions_take_traced_tensors():
    x = torch.rand(3, 4)
    with trace():
        y = x * 2
    assert composit.numpy.exp(y).shape == (3, 4)
    assert isinstance(composit.asarray(y), composit.LazyTensor)
    np.testing.assert_allclose(composit.evaluate(composit.sum(y)), 2 * x.sum().item(), rtol=1e-6)


def test_a_traced_tensor_has_torchs_meaning_after_the_trace():
    x = torch.rand(3, 4)
    with trace():
        y = x * 2
    z = torch.relu(y - 1).sum(0)
    assert isinstance(z, flashlight.Tensor)
    np.testing.assert_allclose(
        composit.evaluate(z), torch.relu(x * 2 - 1).sum(0).numpy(), rtol=1e-5
    )


def test_shapes_strides_and_dtypes_are_torchs():
    x = torch.rand(2, 3, 4)
    with trace():
        y = (x + 1).transpose(0, 2)
        assert y.shape == (4, 3, 2)
        assert y.stride() == (1, 4, 12)
        assert not y.is_contiguous()
        assert y.contiguous().is_contiguous()
        assert (x > 0).dtype == torch.bool
        assert y.sum().dtype == torch.float32
        assert y.numel() == 24 and y.size(0) == 4


def test_factories_are_constants_with_values():
    x = torch.rand(4)
    with trace():
        positions = torch.arange(4)
        assert positions.tolist() == [0, 1, 2, 3]
        assert positions.max().item() == 3
        if positions.sum() > 5:
            y = x + positions
        positions += 1  # the graph has what they were
    np.testing.assert_allclose(composit.evaluate(y), x.numpy() + np.arange(4), rtol=1e-6)
    assert len(y.graph) == 4  # two leaves, a cast and a sum


# ----- memory that is shared


def in_place(x):
    y = x * 1
    y += 2
    y.mul_(3).clamp_(max=7)
    return y


def write_through_a_view(x):
    y = x * 1
    row = y[1]
    row += 10
    y[:, 2] = 5
    return y, row


def read_a_view_after_its_base_was_written(x):
    y = x * 1
    view = y.t()[1:3].reshape(-1)[2:]
    wide = y.view(-1)
    y *= 2
    return view, wide


def write_through_many_views(x):
    y = x * 1
    y.view(2, 6).transpose(0, 1)[1:4, 1].add_(100)
    y.diagonal()[1] = -1
    y.unfold(0, 2, 1)[0, 0] = 7
    first, second = y.split(2, dim=1)
    second.zero_()
    first[0, 0] = 3
    return y, first, second


def write_with_indices(x):
    y = torch.zeros(5, 4)
    y[torch.tensor([1, 3])] = x[:2]
    y.index_put_((torch.tensor([0, 0]), torch.tensor([1, 1])), x[0, :2], accumulate=True)
    y.masked_fill_(y > 0.9, 0.5)
    y[2].copy_(x[1])
    return y


def fill_a_constant_with_traced_values(x):
    ids = x.new_zeros(x.shape)
    alias = ids.view(-1)
    ids[:, 1:] = x[:, :-1].clone()
    ids[:, 0] = 2
    return ids, alias


def write_in_a_loop(x):
    y = torch.empty(3, 4)
    for i in range(3):
        y[i] = x[i] * i if i == 0 else y[i - 1] + x[i]
    return y


def with_out(x):
    y = torch.empty(3, 4)
    torch.add(x, 1, out=y)
    z = torch.zeros(3, 3)
    torch.matmul(y, x.t(), out=z)
    return y, z


@pytest.mark.parametrize(
    "function",
    [
        in_place,
        write_through_a_view,
        read_a_view_after_its_base_was_written,
        write_through_many_views,
        write_with_indices,
        fill_a_constant_with_traced_values,
        write_in_a_loop,
        with_out,
    ],
)
def test_writes_and_views_are_torchs(function):
    agrees(function, torch.rand(3, 4))


def test_inputs_are_never_written():
    x = torch.rand(3, 4)
    kept = x.clone()

    def write(x):
        x += 1
        return x

    with pytest.raises(NotImplementedError, match=r"aten\.add_.*from before the trace"):
        traced(write, x)
    assert torch.equal(x, kept)
    agrees(lambda x: write(x.clone()), x)


def test_inputs_that_share_memory():
    whole = torch.rand(6, 4)

    def function(a, b, c):
        return a + b[:3], c.t() @ a

    expected = function(whole[:3], whole[2:], whole[:3, ::2])
    outputs = traced(function, whole[:3], whole[2:], whole[:3, ::2])
    for output, right in zip(outputs, expected):
        np.testing.assert_allclose(composit.evaluate(output), right.numpy(), rtol=1e-5)


def test_tied_weights_are_one_leaf():
    embedding, head = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 9, bias=False)
    head.weight = embedding.weight
    with trace():
        output = head(embedding(torch.tensor([1, 2])))
    leaves = [node for node in output.graph if node.is_constant and node.shapes[0] == (9, 4)]
    assert len(leaves) == 1


def test_statistics_of_a_trace_in_training():
    model = torch.nn.BatchNorm1d(4)
    x = torch.rand(8, 4)
    with trace() as tracer:
        output = model(x)
    written = {name: composit.evaluate(value) for name, value in tracer.writes().items()}
    np.testing.assert_array_equal(model.running_mean.numpy(), np.zeros(4))
    right = model(x)
    np.testing.assert_allclose(composit.evaluate(output), right.detach().numpy(), atol=1e-5)
    assert sorted(written) == ["num_batches_tracked", "running_mean", "running_var"]
    for name, value in written.items():
        np.testing.assert_allclose(value, getattr(model, name).numpy(), rtol=1e-5)


def test_nodes_know_module_and_line():
    class Inner(torch.nn.Module):
        def forward(self, x):
            return torch.exp(x)

    model = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.ModuleDict({"a": Inner()})["a"])
    x = torch.ones(3)
    with trace():
        y = model(x)
        z = y.lazy_tensor + 1
    line = Inner.forward.__code__.co_firstlineno + 1
    node = y.lazy_tensor.node
    assert (node.module_path, node.location) == ("1", f"1, test_tracing.py:{line}")
    assert node.operand_nodes[0][0].module_path == "0"
    assert z.node.module_path == ""
    (again,) = composit.graph.parse(str(y.graph), composit.graph.large_constants(y.lazy_tensor))
    assert again.node.module_path == "1"
    assert composit.numpy.exp(z).node.module_path == ""


def test_errors_at_evaluation_name_module_and_line():
    ids = torch.tensor([1, 7])
    model = torch.nn.Sequential(torch.nn.Embedding(3, 2))
    with pytest.raises(IndexError, match=r"0, test_tracing\.py:\d+"):
        traced(model, ids)  # known ids are looked at at once
    program = flashlight.trace(model, torch.tensor([1, 2]))
    with pytest.raises(IndexError, match=r"0, test_tracing\.py:\d+"):
        program(ids)


# ----- refusals


def decide(x):
    return x if x.sum() > 0 else -x  # decided here


def take_item(x):
    return x * x.max().item()


def as_list(x):
    return x.tolist()


def as_array(x):
    return (x * 2).numpy()


def choose(x):
    return x[x > 0.5]


def places(x):
    return torch.nonzero(x)


def distinct(x):
    return torch.unique(x)


@pytest.mark.parametrize("function", [decide, take_item, choose, places, distinct, as_array])
def test_values_are_refused_by_line(function):
    with pytest.raises(NotImplementedError) as refusal:
        traced(function, torch.rand(3, 4))
    text = str(refusal.value)
    line = function.__code__.co_firstlineno + 1
    assert text.endswith(f"[test_tracing.py:{line}]"), text


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", [torch.complex32, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz])
def test_dtypes_that_are_not_there_are_refused_by_name_and_line(dtype):
    weight = torch.zeros(3).to(dtype)
    refusal = rf"flashlight: {dtype} is not supported.*\[test_tracing\.py:\d+\]"
    with pytest.raises(NotImplementedError, match=refusal), flashlight.tracer.trace():
        weight.clone()


def test_a_refusal_names_operator_and_module():
    class Inner(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eig(x)[0]

    model = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Sequential(Inner()))
    with pytest.raises(NotImplementedError, match=r"aten\.linalg_eig.*In module 1\.0"):
        traced(model, torch.rand(3, 3))


def test_errors_of_torch_stay_torchs():
    with pytest.raises(RuntimeError, match=r"reduction dim|mat1 and mat2"):
        traced(torch.nn.Linear(3, 4), torch.rand(2, 5))


def test_torch_is_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), trace():
        raise ZeroDivisionError
    assert current() is None
    assert not torch.compiler.is_exporting()
    assert type(torch.rand(2) + 1) is torch.Tensor
    x = torch.rand(3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is not None


def test_a_trace_in_a_trace_is_the_outer_one():
    x = torch.rand(3)
    with trace() as outer:
        with trace() as inner:
            y = x + 1
        z = y * 2
    assert outer is inner
    np.testing.assert_allclose(composit.evaluate(z), (x.numpy() + 1) * 2, rtol=1e-6)


def test_other_threads_are_not_traced():
    kinds, model = [], torch.nn.Linear(3, 3)

    def elsewhere():
        kinds.append(type(model(torch.rand(2, 3))))

    with trace():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        here = model(torch.rand(2, 3))
    assert kinds == [torch.Tensor]
    assert isinstance(here, flashlight.Tensor)


def test_threads_trace_at_once():
    models = [torch.nn.Linear(4, 4) for _ in range(4)]
    x = torch.rand(2, 4)
    results = {}

    def run(number):
        for _ in range(5):
            with trace():
                y = models[number](x)
            results[number] = composit.evaluate(y)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, model in enumerate(models):
        np.testing.assert_allclose(results[number], model(x).detach().numpy(), rtol=1e-4, atol=1e-6)
    assert not torch.compiler.is_exporting()


def test_backward_is_refused_with_what_to_use():
    with trace():
        loss = torch.nn.Linear(3, 1)(torch.rand(2, 3)).sum()
    with pytest.raises(NotImplementedError, match="chain_rule"):
        loss.backward()
