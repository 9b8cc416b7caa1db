"""composit.torch.nn.utils.prune beside PyTorch's: a network pruned by the steps of a tutorial, each
method, and what is refused."""

import sys
from pathlib import Path

import pytest
import torch.nn.utils.prune as peers_prune

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import Draws, check_same, plain, torch


def test_all_names_are_there():
    mine = torch.nn.utils.prune
    assert [name for name in vars(peers_prune) if not hasattr(mine, name)] == ["torch"]


def network(t, draws):
    class Small(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = t.nn.Conv2d(1, 4, 3)
            self.second = t.nn.Conv2d(4, 3, 3)
            self.out = t.nn.Linear(3 * 4 * 4, 5)

        def forward(self, x):
            x = t.relu(self.second(t.relu(self.first(x))))
            return self.out(x.flatten(1))

    return draws.start(Small())


def described(module):
    """What a pruned module has, by its names."""
    state = module.state_dict()
    return {
        "parameters": [name for name, _ in module.named_parameters()],
        "buffers": [name for name, _ in module.named_buffers()],
        "state": list(state),
        "masks": {name: x.tolist() for name, x in state.items() if name.endswith("_mask")},
        "hooks": [
            (type(hook).__name__, hook._tensor_name)
            for inner in module.modules() for hook in inner._forward_pre_hooks.values()
        ],
    }  # fmt: skip


def test_a_network_is_pruned_step_by_step():
    def program(t):
        prune, draws = t.nn.utils.prune, Draws(t)
        model = network(t, draws)
        module, told = model.first, []
        told.append(described(module))
        prune.l1_unstructured(module, name="bias", amount=2)
        told.append((described(module), module.bias.tolist(), type(module.bias).__name__))
        prune.l1_unstructured(module, name="weight", amount=0.3)
        told.append(described(module))
        prune.ln_structured(module, name="weight", amount=0.5, n=2, dim=0)
        told.append(described(module))
        for hook in module._forward_pre_hooks.values():
            if hook._tensor_name == "weight":
                told.append([type(each).__name__ for each in hook])
                break
        prune.remove(module, "weight")
        told.append((described(module), isinstance(module.weight, t.nn.Parameter)))
        model = network(t, draws)
        for _, inner in model.named_modules():
            if isinstance(inner, t.nn.Conv2d):
                prune.l1_unstructured(inner, name="weight", amount=0.2)
            elif isinstance(inner, t.nn.Linear):
                prune.l1_unstructured(inner, name="weight", amount=0.4)
        told.append((described(model), prune.is_pruned(model)))
        fresh = network(t, draws)
        prune.global_unstructured(
            ((fresh.first, "weight"), (fresh.second, "weight"), (fresh.out, "weight")),
            pruning_method=prune.L1Unstructured, amount=0.2,
        )  # fmt: skip
        told.append(described(fresh))
        told.append([int((x.weight == 0).sum()) for x in (fresh.first, fresh.second, fresh.out)])
        return told

    check_same(program)


def test_methods_of_ones_own():
    def program(t):
        prune = t.nn.utils.prune

        class EveryOther(prune.BasePruningMethod):
            PRUNING_TYPE = "unstructured"

            def compute_mask(self, t, default_mask):
                mask = default_mask.clone()
                mask.view(-1)[::2] = 0
                return mask

        model = network(t, Draws(t))
        EveryOther.apply(model.out, name="bias")
        first = described(model.out)
        EveryOther.apply(model.out, name="bias")
        return first, described(model.out), model.out.bias.tolist()

    check_same(program)


def test_pruned_networks_are_trained():
    def program(t):
        prune, draws = t.nn.utils.prune, Draws(t)
        model = network(t, draws)
        prune.l1_unstructured(model.first, "weight", amount=0.5)
        prune.ln_structured(model.out, "weight", amount=2, n=float("inf"), dim=1)
        optimizer = t.optim.SGD(model.parameters(), lr=0.1)
        x, y = draws.normal(6, 1, 8, 8), draws.integers(5, 6)
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = t.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(round(loss.item(), 4))
        zeros = [(x.weight == 0).tolist() for x in (model.first, model.out)]
        kept = model.first.weight_orig.grad[model.first.weight_mask == 0].abs().sum().item()
        return losses, zeros, kept

    check_same(program)


def test_states_are_loaded_into_pruned_networks():
    def program(t):
        prune, draws = t.nn.utils.prune, Draws(t)
        one, two = network(t, draws), network(t, draws)
        for model in (one, two):
            prune.identity(model.out, "weight")
            prune.identity(model.out, "bias")
        prune.l1_unstructured(one.out, "weight", amount=0.5)
        two.load_state_dict(one.state_dict())
        x = draws.normal(2, 1, 8, 8)
        return [bool((one(x) - two(x)).abs().max() < 1e9), (two.out.weight == 0).tolist(),
                described(two.out)]  # fmt: skip

    check_same(program)


SCORES = [[3.0, 1.0, 2.0], [0.5, 4.0, 0.25]]

MASKS = {
    "part": lambda p, t: p.L1Unstructured(amount=0.5),
    "number": lambda p, t: p.L1Unstructured(amount=2),
    "none": lambda p, t: p.L1Unstructured(amount=0),
    "half to even": lambda p, t: p.L1Unstructured(amount=0.25),
    "rows": lambda p, t: p.LnStructured(amount=1, n=1, dim=0),
    "columns": lambda p, t: p.LnStructured(amount=1, n=2, dim=-1),
    "columns by maxima": lambda p, t: p.LnStructured(amount=0.4, n=float("inf"), dim=1),
    "mask": lambda p, t: p.CustomFromMask(mask=t.tensor([[1, 0, 1], [0, 1, 1]])),
    "identity": lambda p, t: p.Identity(),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_are_pytorchs(name):
    def program(t):
        method = MASKS[name](t.nn.utils.prune, t)
        x = t.tensor([[-5.0, 6.0, -7.0], [8.0, 9.0, -1.5]])
        before = t.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
        return [
            method.prune(x), method.prune(x, importance_scores=t.tensor(SCORES)),
            method.prune(x, default_mask=before),
        ]  # fmt: skip

    check_same(program)


def test_scores_decide():
    def program(t):
        prune, layer = t.nn.utils.prune, t.nn.Linear(3, 2)
        Draws(t).start(layer)
        prune.l1_unstructured(layer, "weight", 2, importance_scores=t.tensor(SCORES))
        prune.ln_structured(layer, "weight", 1, 2, 1, importance_scores=t.tensor(SCORES))
        return described(layer)

    check_same(program)


@pytest.mark.parametrize("kind", ["random_unstructured", "random_structured"])
def test_what_is_drawn_has_the_amount(kind):
    def program(t):
        layer = Draws(t).start(t.nn.Linear(10, 8))
        options = {"dim": 0} if kind == "random_structured" else {}
        made = getattr(t.nn.utils.prune, kind)(layer, "weight", amount=0.25, **options)
        rows = (layer.weight_mask == 0).all(1).sum().item() if options else None
        first = int((layer.weight_mask == 0).sum()), rows, made is layer
        getattr(t.nn.utils.prune, kind)(layer, "weight", amount=2, **options)
        return (
            first,
            int((layer.weight_mask == 0).sum()),
            plain(layer.weight == 0) == plain(layer.weight_mask == 0),
        )

    check_same(program)
    torch.manual_seed(1)
    one = torch.nn.utils.prune.RandomUnstructured(amount=5).prune(torch.ones(20))
    torch.manual_seed(2)
    assert one.tolist() != torch.nn.utils.prune.RandomUnstructured(5).prune(torch.ones(20)).tolist()


REFUSED = {
    "amount": lambda p, t, m: p.l1_unstructured(m, "weight", "much"),
    "a part above one": lambda p, t, m: p.l1_unstructured(m, "weight", 1.5),
    "a negative number": lambda p, t, m: p.random_unstructured(m, "weight", -1),
    "too many": lambda p, t, m: p.l1_unstructured(m, "weight", 100),
    "too many rows": lambda p, t, m: p.ln_structured(m, "weight", 9, 2, 0),
    "slices of a vector": lambda p, t, m: p.ln_structured(m, "bias", 1, 2, 0),
    "dimension": lambda p, t, m: p.random_structured(m, "weight", 1, 5),
    "scores": lambda p, t, m: p.L1Unstructured(1).prune(
        t.ones(2), importance_scores=t.ones(3)),
    "mask": lambda p, t, m: p.CustomFromMask(t.ones(3)).prune(t.ones(2)),
    "no list": lambda p, t, m: p.global_unstructured(3, p.L1Unstructured, amount=1),
    "no scores": lambda p, t, m: p.global_unstructured(
        [(m, "weight")], p.L1Unstructured, importance_scores=3, amount=1),
    "container of others": lambda p, t, m: p.PruningContainer(p.Identity()),
    "no method": lambda p, t, m: p.PruningContainer().add_pruning_method(3),
    "no name": lambda p, t, m: p.l1_unstructured(m, "wait", 1),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    def program(t):
        layer = t.nn.Linear(3, 2)
        try:
            REFUSED[name](t.nn.utils.prune, t, layer)
        except Exception as error:
            # A refusal leaves the layer as it was.
            state = [key for key, _ in layer.named_parameters()]
            kept = str(error).replace("composit.torch", "torch").rsplit(" [", 1)[0]
            return type(error).__name__, kept, state, list(layer.state_dict())
        return None

    check_same(program)


def test_global_pruning_is_unstructured():
    def program(t):
        prune, layer = t.nn.utils.prune, t.nn.Linear(3, 2)
        try:
            prune.global_unstructured([(layer, "weight")], prune.LnStructured, amount=1, n=1)
        except TypeError as error:
            return str(error).split(" of type ")[1]
        return None

    check_same(program)


def test_what_is_not_pruned_is_not_removed():
    def program(t):
        layer = t.nn.Linear(3, 2)
        told = [t.nn.utils.prune.is_pruned(layer)]
        try:
            t.nn.utils.prune.remove(layer, "weight")
        except ValueError as error:
            told.append(str(error).replace("\n", " "))
        return told

    check_same(program)
