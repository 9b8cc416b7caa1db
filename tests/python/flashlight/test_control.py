"""torch's operators of functions, cond, scan, map and while_loop: torch's values and gradients."""

import threading

import numpy as np
import pytest
import torch
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as torch_map

import composit
from composit import flashlight, random
from composit.nn import chain_rule

pytestmark = pytest.mark.filterwarnings("ignore")


class Choice(torch.nn.Module):
    """Both sides have weights; the derivative of either is no number where it is not taken."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.scale = torch.nn.Parameter(torch.rand(4))

    def forward(self, x):
        def positive(x, y):
            return torch.sqrt(x.sum()) * self.linear(x), y * self.scale

        def negative(x, y):
            return torch.log(-x.sum()) + x * self.scale, torch.sqrt(y - 5) * 0 - x

        return torch.cond(x.sum() > 0, positive, negative, (x, torch.ones(4) + 5))


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.Linear(8, 5)

    def forward(self, xs, h):
        def step(carry, x):
            h, count = carry["h"], carry["count"]
            h = torch.tanh(self.cell(torch.cat([x, h], -1)))
            return {"h": h, "count": count + 1}, (h * 2, x.sum(-1))

        return scan(step, {"h": h, "count": torch.zeros((), dtype=torch.int64)}, xs, dim=1)


class Guarded(torch.nn.Module):
    """A choice in each iteration."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3))

    def forward(self, xs):
        def step(total, x):
            new = torch.cond(
                x.sum() > 1.5,
                lambda t, x: t + torch.sqrt(x.sum() - 1.5) * self.weight,
                lambda t, x: t * 0.5,
                (total, x),
            )
            return new, new.clone()

        return scan(step, torch.ones(3), xs, reverse=True)


class Each(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(3, 2))

    def forward(self, xs, bias):
        return torch_map(lambda x, b: {"y": torch.sigmoid(x @ self.weight) + b}, xs, bias)


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        def body(i, x):
            return i + 1, torch.tanh(self.linear(x)) + i

        return while_loop(lambda i, x: i < 4, body, (torch.zeros((), dtype=torch.int64), x))[1]


def by_torch(model, args):
    """The same by Python's control flow, with torch's gradients: its own operators of functions
    compile, and lack some derivatives."""

    def cond(predicate, chosen, otherwise, operands=()):
        return (chosen if bool(predicate) else otherwise)(*operands)

    def in_turn(step, init, xs, *, dim=0, reverse=False):
        rows = torch.unbind(xs, dim)
        carry, ys = init, []
        for x in rows[::-1] if reverse else rows:
            carry, y = step(carry, x)
            ys.append(y)
        ys = ys[::-1] if reverse else ys
        flat = [torch.utils._pytree.tree_flatten(y) for y in ys]
        columns = zip(*(leaves for leaves, _ in flat))
        stacked = [torch.stack(c) for c in columns]
        stacked = [y.movedim(0, dim) if dim < y.ndim else y for y in stacked]
        return carry, torch.utils._pytree.tree_unflatten(stacked, flat[0][1])

    def each(function, xs, *fixed):
        return in_turn(lambda carry, x: (carry, function(x, *fixed)), (), xs)[1]

    def while_(condition, body, carried):
        while condition(*carried):
            carried = body(*carried)
        return carried

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "cond", cond)
        for name, function in {"scan": in_turn, "torch_map": each, "while_loop": while_}.items():
            patch.setitem(globals(), name, function)
        return model(*args)


CASES = {
    "taken": (Choice, lambda: (torch.rand(4),)),
    "not taken": (Choice, lambda: (-torch.rand(4),)),
    "recurrent": (Recurrent, lambda: (torch.rand(2, 7, 3), torch.rand(2, 5))),
    "a choice in a loop": (Guarded, lambda: (torch.rand(6, 3),)),
    "each": (Each, lambda: (torch.rand(5, 4, 3), torch.rand(2))),
    "counted": (Counted, lambda: (torch.rand(2, 3),)),
}


def leaves(value):
    return [x for x in torch.utils._pytree.tree_leaves(value) if isinstance(x, torch.Tensor)]


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_torchs(name):
    kind, arguments = CASES[name]
    torch.manual_seed(len(name))
    model, args = kind(), arguments()
    for x in args:
        x.requires_grad_(True)
    expected = leaves(by_torch(model, args))
    floating = [y for y in expected if y.is_floating_point()]
    sum(y.sum() for y in floating).backward()
    with flashlight.tracer.trace() as tracer:
        found = leaves(model(*args))
        loss = sum(y.sum() for y in found if y.is_floating_point())
    values = composit.evaluate(*found, always_return_tuple=True)
    for value, other in zip(values, expected, strict=True):
        assert value.shape == tuple(other.shape)
        assert np.allclose(value, other.detach().numpy(), rtol=1e-5, atol=1e-6)
    wanted = {n: x for n, x in model.named_parameters() if x.grad is not None}
    gradients = chain_rule({loss: loss}, [tracer.parameters[n] for n in wanted])
    for gradient, x in zip(composit.evaluate(*gradients, always_return_tuple=True),
                           wanted.values(), strict=True):  # fmt: skip
        assert np.allclose(gradient, x.grad.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_bits_are_those_of_compiled_code_and_of_exported_programs(name):
    kind, arguments = CASES[name]
    torch.manual_seed(len(name))
    model, args = kind(), arguments()
    traced = flashlight.trace(model, *args)
    direct = leaves(traced(*args)) or torch.utils._pytree.tree_leaves(traced(*args))
    compiled = traced.compile()(*(x.numpy() for x in args))
    with torch.no_grad():
        exported = torch.export.export(model, args).module()
    other = torch.utils._pytree.tree_leaves(flashlight.trace(exported, *args)(*args))
    assert len(direct) == len(compiled) == len(other)
    for a, b, c in zip(direct, compiled, other):
        assert a.tobytes() == b.tobytes() == c.tobytes()


def test_a_scan_is_one_loop():
    short, long = (
        flashlight.trace(Recurrent(), torch.rand(2, length, 3), torch.rand(2, 5))
        for length in (3, 300)
    )
    assert len(short.graph) == len(long.graph)
    assert any(node.operation.name == "loop" for node in long.graph)


def test_a_guard_costs_nothing():
    """What lets gradients through is gone where none are asked for: weights stay as they are."""

    def chosen(x, weight):
        return torch.cond(x.sum() > 0, lambda: x @ weight, lambda: x + weight, ())

    traced = flashlight.trace(chosen, torch.rand(3, 3), torch.rand(3, 3))
    names = [node.operation.name for node in traced.graph]
    assert names.count("gradient_where") == 4
    lowered = traced.compile(backend="interpreter").lowered_graph
    assert not any(node.operation.name == "gradient_where" for node in lowered)


def test_numbers_are_drawn_anew_in_each_iteration():
    def noisy(xs):
        return scan(lambda c, x: (c + 1, x + torch.rand(5)), torch.zeros(()), xs)[1]

    with flashlight.tracer.trace(key=random.key(3)):
        drawn = noisy(torch.zeros(6, 5))
    values = composit.evaluate(drawn)
    assert len(np.unique(values)) == 30 and values.min() >= 0 and values.max() < 1


def test_a_known_predicate_chooses_at_once():
    x = torch.rand(3)
    with flashlight.tracer.trace():
        output = torch.cond(torch.ones(2).sum() > 1, lambda x: x + 1, lambda x: x[:2], (x,))
    assert [node.operation.name for node in output.graph].count("map") == 1
    assert np.array_equal(composit.evaluate(output), x.numpy() + 1)


def refused(function, *args):
    with pytest.raises(NotImplementedError) as refusal:
        flashlight.trace(function, *args)
    text = str(refusal.value)
    assert text.startswith("flashlight: ") and "[test_control.py:" in text.rpartition(" ")[2]
    return text[len("flashlight: ") : text.rindex(" [test_control.py:")]


def test_loops_of_unknown_length_are_refused():
    def function(x):
        return while_loop(lambda x: x.sum() < 9, lambda x: (x + 1,), (x,))

    assert refused(function, torch.rand(3)) == (
        "torch.ops.higher_order.while_loop: its condition depends on the values of a traced "
        "tensor, and loops of composit have a fixed number of iterations. A for loop or scan over "
        "as many as there may be, with torch.where(is_done, old, new), is traced."
    )


def test_writes_to_the_outside_are_refused():
    def into_operand(x):
        y = x * 1
        return torch.cond(x.sum() > 0, lambda y: y.add_(1), lambda y: y + 1, (y,))

    def into_constant(x):
        total = torch.zeros(3)
        return scan(lambda c, x: (c + total.add_(1), x * 1), torch.zeros(3), x)

    def into_constant_by_value(x):
        total = torch.zeros(3)
        return scan(lambda c, x: (c + total.add_(x), x * 1), torch.zeros(3), x)

    said = "calls writes a tensor from outside of it. A clone of it can be written, and returned."
    assert refused(into_operand, torch.rand(3)) == (
        f"aten.add_.Tensor: a function that torch.ops.higher_order.cond {said}"
    )
    for function in (into_constant, into_constant_by_value):
        assert said in refused(function, torch.rand(4, 3))

    def into_its_own(x):
        def step(total, x):
            new = total.clone()
            new.add_(x)
            rows = torch.zeros(2, 3)
            rows[1] = new
            return new, rows

        return scan(step, torch.zeros(3), x)

    x = torch.rand(4, 3)
    total, rows = flashlight.trace(into_its_own, x)(x)
    assert np.allclose(total, x.numpy().sum(0)) and not rows[:, 0].any()
    assert np.allclose(rows[:, 1], np.cumsum(x.numpy(), 0))


def test_a_side_that_is_not_taken_looks_up_nothing():
    """Its indices may be out of bounds, as in torch; those of the one that is taken may not."""
    table, other = torch.rand(5, 3), torch.rand(90, 3)

    def chosen(ids, x):
        return torch.cond(
            ids.max() < 5,
            lambda: torch.nn.functional.embedding(ids, table) + torch.take(x, ids)[:, None],
            lambda: other[ids] * x.gather(0, ids % 4)[:, None],
            (),
        )

    x = torch.rand(5)
    traced = flashlight.trace(chosen, torch.tensor([1, 2, 4]), x)
    for ids in (torch.tensor([1, 0, 4]), torch.tensor([70, 0, 3])):
        expected = table[ids] + x[ids][:, None] if ids.max() < 5 else other[ids] * x[ids % 4, None]
        assert np.array_equal(traced(ids, x), expected)
        (compiled,) = traced.compile()(ids.numpy(), x.numpy())
        assert compiled.tobytes() == traced(ids, x).tobytes()
    with pytest.raises(IndexError, match="index 95 is out of bounds"):
        traced(torch.tensor([95, 0, 1]), x)


def test_a_loop_in_a_choice():
    def chosen(x):
        return torch.cond(
            x.sum() > 0,
            lambda x: scan(lambda c, r: (c + r.sqrt(), c * r), torch.zeros(2), x)[1],
            lambda x: x * 2,
            (x,),
        )

    x = torch.rand(4, 2)
    sums = torch.cumsum(x.sqrt(), 0)
    assert np.allclose(flashlight.trace(chosen, x)(x), (sums - x.sqrt()) * x, atol=1e-6)
    assert np.array_equal(flashlight.trace(chosen, x)(-x), x * -2)


def test_sides_that_could_fail_are_refused():
    def chosen(x, i):
        return torch.cond(i[0] < 3, lambda: x.index_fill(0, i, 1.0), lambda: x * 2, ())

    text = refused(chosen, torch.rand(3), torch.tensor([7]))
    assert text.startswith("torch.ops.higher_order.cond: a side computes ") and text.endswith(
        "which can fail for its operands' values, and both sides are computed. It must stand "
        "before the choice."
    )

    def before(x, i):
        filled = x.index_fill(0, i, 1.0)
        return torch.cond(i[0] > 0, lambda: filled + x[[1, 0, 2]], lambda: x * 2, ())

    x, i = torch.rand(3, 3), torch.tensor([2])
    expected = x.index_fill(0, i, 1.0) + x[[1, 0, 2]]
    assert np.array_equal(flashlight.trace(before, x, i)(x, i), expected)


def test_results_that_differ_are_refused():
    x = torch.rand(3)
    text = refused(lambda x: torch.cond(x.sum() > 0, lambda: x, lambda: x[:2], ()), x)
    assert text == (
        "torch.ops.higher_order.cond: result 0 is torch.float32[3] of the first side, "
        "torch.float32[2] of the second. Equal shapes and dtypes, and equal values of what is no "
        "tensor, are required."
    )
    text = refused(lambda x: torch.cond(x.sum() > 0, lambda: (x, x), lambda: x, ()), x)
    assert "the sides return 2 tensors and one tensor" in text
    text = refused(lambda x: scan(lambda c, x: (c.double(), x), torch.zeros(()), x), x)
    assert "part 0 of the carry is torch.float32[] before an iteration, torch.float64[]" in text


def test_values_in_a_loop_decide_nothing():
    text = refused(lambda x: scan(lambda c, x: (c if c > 0 else x, x), torch.zeros(()), x),
                   torch.rand(3))  # fmt: skip
    assert "needs the values of a traced tensor" in text


def test_torch_is_what_it_was():
    """What was traced is compiled and exported afterwards; other threads compile theirs."""
    from torch._higher_order_ops import utils

    before = utils._hop_compile_and_call
    x = torch.rand(3)
    found = []

    def elsewhere():
        found.append(torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)))

    with flashlight.tracer.trace():
        torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert utils._hop_compile_and_call is before
    assert type(found[0]) is torch.Tensor and torch.equal(found[0], x + 1)
    assert torch.equal(torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), x + 1)
