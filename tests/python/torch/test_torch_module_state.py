"""Modules as PyTorch's: the order of their parts, what containers keep, and the whole protocol of
state_dict() and load_state_dict()."""

import copy
import pickle
import re
import sys
from collections import OrderedDict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, outcome, peer, torch


def three(t):
    return t.nn.Sequential(t.nn.Linear(1, 2), t.nn.ReLU(), t.nn.Linear(2, 1))


def replaced_by_index(t):
    m = three(t)
    m[0] = t.nn.Linear(1, 2, bias=False)
    return str(m)


def replaced_by_attribute(t):
    m = three(t)
    setattr(m, "0", t.nn.Linear(1, 2, bias=False))
    return str(m), m(t.ones(1, 1)).shape


def replaced_by_add_module(t):
    m = three(t)
    m.add_module("0", t.nn.Linear(1, 2, bias=False))
    return str(m)


def replaced_in_dict(t):
    m = t.nn.ModuleDict({"a": t.nn.ReLU(), "b": t.nn.Tanh()})
    m["a"] = t.nn.Sigmoid()
    m.update([("c", t.nn.ReLU())])
    return list(m.keys()), str(m), str(m.pop("b")), list(m)


def replaced_parameters(t):
    m = t.nn.Linear(1, 1)
    m.register_buffer("x", t.ones(1))
    m.register_buffer("y", t.ones(1), persistent=False)
    m.weight = t.nn.Parameter(t.ones(1, 1))
    m.x = t.zeros(1)
    m.register_parameter("weight", t.nn.Parameter(t.ones(1, 1)))
    return (
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_buffers()],
        list(m.state_dict()),
    )


def moved_between_groups(t):
    m = t.nn.Module()
    m.a = 3
    m.b = t.nn.Parameter(t.ones(1))
    m.a = t.nn.Parameter(t.ones(2))
    del m.b
    m.b = t.nn.ReLU()
    return list(m._parameters), list(m._modules), "a" in m.__dict__


def rows(t):
    m = three(t)
    del m[1]
    m.insert(1, t.nn.Tanh())
    m.append(t.nn.Sigmoid())
    named = t.nn.Sequential(OrderedDict([("a", t.nn.ReLU()), ("b", t.nn.Tanh())]))
    return str(m), str(m[1:]), str(named[1:]), str(m + named), str(named * 2), str(m.pop(0)), len(m)


def module_list(t):
    m = t.nn.ModuleList([t.nn.Linear(2, 2) for _ in range(3)])
    m += [t.nn.ReLU()]
    m.insert(0, t.nn.Tanh())
    whole = str(m)
    del m[0:2]
    return whole, str(m), str(m.__add__([t.nn.ReLU()])), m[-1].__class__.__name__


def parameter_list(t):
    ones = t.ones
    inner = t.nn.ParameterList([t.nn.Parameter(ones(1))])
    m = t.nn.Module()
    m.l = t.nn.ParameterList([t.nn.Parameter(ones(2)), inner, 3, None, ones(2)])
    m.l[0] = ones(3)
    m.l += [ones(1)]
    return ([n for n, _ in m.named_parameters()], list(m.state_dict()), m.l[2], str(m.l),
            [tuple(x.shape) for x in m.l[0:1]], len(m.l))  # fmt: skip


def parameter_dict(t):
    m = t.nn.ParameterDict({"b": t.ones(1), "a": t.nn.Parameter(t.ones(2, 2))})
    m["c"] = 7
    found = str(m), list(m), [n for n, _ in m.named_parameters()], m.get("d", 5), m.pop("a").shape
    return *found, list(m.keys()), "b" in m, m.setdefault("e", t.ones(1)).shape


@pytest.mark.parametrize("program", [
    replaced_by_index, replaced_by_attribute, replaced_by_add_module, replaced_in_dict,
    replaced_parameters, moved_between_groups, rows, module_list, parameter_list, parameter_dict,
])  # fmt: skip
def test_parts_keep_their_places(program):
    check_same(program)


REFUSED = {
    "parameter before init": lambda t: bare(t, "a", t.nn.Parameter(t.ones(1))),
    "module before init": lambda t: bare(t, "a", t.nn.ReLU()),
    "number for a parameter": lambda t: setattr(t.nn.Linear(1, 1), "weight", 3),
    "tensor for a parameter": lambda t: setattr(t.nn.Linear(1, 1), "weight", t.ones(1, 1)),
    "number for a module": lambda t: setattr(three(t), "0", 3),
    "number for a buffer": lambda t: setattr(t.nn.BatchNorm1d(1), "running_mean", 3),
    "name of a method": lambda t: t.nn.Module().register_parameter("forward", None),
    "name with a point": lambda t: t.nn.Module().register_buffer("a.b", None),
    "empty name": lambda t: t.nn.Module().add_module("", t.nn.ReLU()),
    "result": lambda t: t.nn.Module().register_parameter("a", t.nn.Parameter(t.ones(1)) * 2),
    "tensor": lambda t: t.nn.Module().register_parameter("a", t.ones(1)),
    "list as a buffer": lambda t: t.nn.Module().register_buffer("a", [1]),
    "state of texts": lambda t: t.nn.Linear(1, 1).load_state_dict("weight"),
    "index": lambda t: three(t)[3],
    "repeated -1 times": lambda t: three(t) * -1,
}


def bare(t, name, value):
    class Bare(t.nn.Module):
        def __init__(self):
            setattr(self, name, value)

    return Bare()


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_of_parts_are_pytorchs(name):
    mine, theirs = (outcome(REFUSED[name], t) for t in (torch, peer))
    as_theirs = mine.replace("composit.torch", "torch").replace("containers.", "container.")
    assert as_theirs == theirs


def assign(t):
    layer, weight = t.nn.Linear(1, 1), t.ones(1, 1, dtype=t.float64)
    layer.load_state_dict({"weight": weight, "bias": t.ones(1)}, assign=True)
    weight.zero_()
    return layer.weight, str(layer.weight.dtype), layer.weight.requires_grad


def extra_state(t):
    class Counting(t.nn.Module):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def get_extra_state(self):
            return {"k": self.k}

        def set_extra_state(self, state):
            self.k = state["k"]

    a, b = t.nn.Sequential(Counting(3)), t.nn.Sequential(Counting(9))
    found = a.load_state_dict({}, strict=False)
    a.load_state_dict(b.state_dict())
    return (
        a[0].k,
        list(b.state_dict()),
        list(found.missing_keys),
        str(a.load_state_dict(b.state_dict())),
    )


def renamed_while_loading(t):
    class Renaming(t.nn.Linear):
        def _load_from_state_dict(self, state, prefix, *rest):
            state[prefix + "weight"] = state.pop(prefix + "old")
            super()._load_from_state_dict(state, prefix, *rest)

    m = t.nn.Sequential(Renaming(1, 1, bias=False))
    m.load_state_dict({"0.old": t.zeros(1, 1)})
    return m[0].weight


def saved_otherwise(t):
    class Half(t.nn.Linear):
        def _save_to_state_dict(self, destination, prefix, keep_vars):
            destination[prefix + "half"] = self.weight.detach() * 0.5

    return list(t.nn.Sequential(Half(1, 1)).state_dict())


def tagged(t):
    class Tagged(t.nn.Linear):
        def state_dict(self, *args, **kwargs):
            state = super().state_dict(*args, **kwargs)
            state[kwargs.get("prefix", "") + "tag"] = t.ones(1)
            return state

    return sorted(t.nn.Sequential(Tagged(1, 1)).state_dict())


def hooks(t):
    layer, seen = t.nn.Sequential(t.nn.Linear(1, 1)), []
    layer.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append((prefix, keep)))
    layer[0].register_state_dict_post_hook(lambda m, s, p, meta: s.pop(p + "bias") and None)
    layer[0]._register_load_state_dict_pre_hook(lambda s, p, *rest: seen.append((sorted(s), p)))
    layer[0].register_load_state_dict_pre_hook(lambda m, s, p, *rest: seen.append(type(m).__name__))
    layer.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    layer.load_state_dict({"0.weight": t.ones(1, 1)})
    layer._register_state_dict_hook(lambda m, s, p, meta: {"only": 1})
    return seen, layer.state_dict(), layer[0].weight


def all_problems(t):
    m = t.nn.Sequential(t.nn.Linear(1, 1), t.nn.Linear(1, 2))
    state = {"0.weight": t.ones(2, 1), "1.weight": 3, "2.x": t.ones(1), "1.bias": t.zeros(2)}
    try:
        m.load_state_dict(state)
    except RuntimeError as error:
        text = re.sub(r" \[[\w.]+:\d+\]$", "", str(error))
        return re.sub(r"torch.Size\(\[(.*?)\]\)", r"\1", text), m[1].bias


def metadata(t):
    m = t.nn.Sequential(t.nn.Linear(1, 1), t.nn.BatchNorm1d(1))
    state = m.state_dict()
    old = OrderedDict((k, v) for k, v in state.items() if "num_batches" not in k)
    return dict(state._metadata), str(m.load_state_dict(old)), list(copy.deepcopy(state))


def numbers_without_dimensions(t):
    m = t.nn.Module()
    m.a = t.nn.Parameter(t.tensor(1.0))
    m.load_state_dict({"a": t.tensor([5.0])})
    return m.a


def forward_hooks(t):
    class Fails(t.nn.Module):
        def forward(self, x):
            raise KeyError("x")

    m, seen = Fails(), []
    m.register_forward_hook(lambda m, a, r: seen.append(r), always_call=True)
    m.register_forward_hook(lambda m, a, r: seen.append("not called"))
    try:
        m(1)
    except KeyError:
        seen.append("raised")
    identity = t.nn.Identity()
    identity.register_forward_pre_hook(lambda m, a, k: ((2,), {}), with_kwargs=True)
    identity.register_forward_hook(lambda m, a, k, r: r + 1, with_kwargs=True, prepend=True)
    return seen, identity(5)


def set_submodule(t):
    m = three(t)
    m.set_submodule("1", t.nn.Tanh())
    found = str(m)
    m.set_submodule("7", t.nn.Tanh(), strict=True)
    return found


def applied_to_gradients(t):
    layer = t.nn.Linear(1, 1)
    layer(t.ones(1, 1)).sum().backward()
    layer.double()
    return str(layer.weight.dtype), str(layer.weight.grad.dtype), layer.weight.grad


@pytest.mark.parametrize("program", [
    assign, extra_state, renamed_while_loading, saved_otherwise, tagged, hooks, all_problems,
    metadata, numbers_without_dimensions, forward_hooks, set_submodule, applied_to_gradients,
])  # fmt: skip
def test_states_are_pytorchs(program):
    check_same(program)


def test_a_compiled_module_is_copied_and_pickled():
    for t in (torch, peer):
        layer = t.nn.Linear(1, 1)
        if t is torch:
            layer.compile()
        given = t.ones(2, 1)
        expected = layer(given).tolist()
        assert copy.deepcopy(layer)(given).tolist() == expected
        assert pickle.loads(pickle.dumps(layer))(given).tolist() == expected
