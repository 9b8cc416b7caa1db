"""Gives PyTorch the draws of composit.torch: whatever draws numbers under PyTorch asks
composit.torch for them, so that programs of one seed have the same numbers in both libraries."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import composit
from composit import torch as ours
from composit.torch.functions.random import next_key

FUNCTIONS = ("rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm",
             "normal", "bernoulli", "multinomial", "poisson", "_standard_gamma",
             "_sample_dirichlet")  # fmt: skip
IN_PLACE = ("uniform_", "normal_", "bernoulli_", "exponential_", "random_")
INITIALISERS = ("trunc_normal_", "orthogonal_", "sparse_")
DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
            "feature_alpha_dropout")  # fmt: skip
RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")

_generators: dict[int, tuple[Any, Any]] = {}


def to_ours(value: Any) -> Any:
    """PyTorch's tensors, dtypes and generators as composit.torch's."""
    if isinstance(value, torch.Tensor):
        return ours.from_numpy(value.detach().cpu().numpy())
    if isinstance(value, torch.dtype):
        return getattr(ours, str(value).removeprefix("torch."))
    if isinstance(value, torch.Generator):
        known = _generators.get(id(value))
        if known is None or known[1].initial_seed() != value.initial_seed():
            known = (value, ours.Generator().manual_seed(value.initial_seed()))
            _generators[id(value)] = known
        return known[1]
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return type(value)(to_ours(each) for each in value)
    return value


def to_theirs(value: Any) -> torch.Tensor:
    """A tensor of composit.torch as PyTorch's."""
    return torch.from_numpy(np.array(value.detach().numpy()))


def _drawing(name: str) -> Callable[..., Any]:
    draw = getattr(ours, name)

    @functools.wraps(getattr(torch, name))
    def function(*args: Any, out: Any = None, **options: Any) -> Any:
        requires_grad = options.pop("requires_grad", False)
        for ignored in ("device", "pin_memory", "layout", "memory_format"):
            options.pop(ignored, None)
        found = to_theirs(draw(*map(to_ours, args), **{k: to_ours(v) for k, v in options.items()}))
        return found.requires_grad_() if requires_grad else found

    return function


def _drawing_in_place(name: str) -> Callable[..., Any]:
    def method(self: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        blank = ours.empty(*self.shape, dtype=to_ours(self.dtype))
        drawn = getattr(blank, name)(*map(to_ours, args), **_of_ours(options))
        return self.copy_(to_theirs(drawn))

    return method


def _initialising(name: str) -> Callable[..., Any]:
    def function(tensor: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        blank = ours.empty(*tensor.shape, dtype=to_ours(tensor.dtype))
        drawn = getattr(ours.nn.init, name)(blank, *args, **_of_ours(options))
        with torch.no_grad():
            return tensor.copy_(to_theirs(drawn))

    return function


def _of_ours(options: dict[str, Any]) -> dict[str, Any]:
    return {name: to_ours(value) for name, value in options.items()}


def _dropping(name: str) -> Callable[..., Any]:
    """What a dropout does to each element is a product and a sum, which its results for zeros and
    for ones say."""

    def function(
        input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> torch.Tensor:
        if not training or p == 0:
            return input
        state, found = ours.get_rng_state(), []
        for value in (0.0, 1.0):
            ours.set_rng_state(state)
            whole = ours.full(tuple(input.shape), value, dtype=to_ours(input.dtype))
            found.append(to_theirs(getattr(ours.nn.functional, name)(whole, p, True)))
        made = input * (found[1] - found[0])
        if name.endswith("alpha_dropout"):
            made = made + found[0]
        return input.copy_(made) if inplace else made

    return function


def _recurrent(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """PyTorch draws the dropout between recurrent layers in its own C++. Here the layers are called
    one by one, with composit's draws between them."""
    parts_of_state = 2 if name == "lstm" else 1

    def run(*args: Any) -> Any:
        is_packed = isinstance(args[3], (list, tuple))  # behind the sizes of batches
        if is_packed:
            x, sizes, hx, weights, bias, layers, share, training, both = args
            batch_first = False
        else:
            x, hx, weights, bias, layers, share, training, both, batch_first = args
        if not training or not share or layers == 1:
            return original(*args)
        key = None if is_packed else next_key()
        states = hx if parts_of_state == 2 else (hx,)
        directions = 2 if both else 1
        each, ends = len(weights) // layers, []
        for layer in range(layers):
            if layer and is_packed:
                x = torch.nn.functional.dropout(x, share, True)
            elif layer:
                x = x * _between(x, share, composit.random.fold_in(key, layer), batch_first)
            first = [state[layer * directions : (layer + 1) * directions] for state in states]
            given = tuple(first) if parts_of_state == 2 else first[0]
            own = weights[layer * each : (layer + 1) * each]
            options = (bias, 1, 0.0, training, both)
            if is_packed:
                x, *last = original(x, sizes, given, own, *options)
            else:
                x, *last = original(x, given, own, *options, batch_first)
            ends.append(last)
        return (x, *(torch.cat([end[i] for end in ends]) for i in range(parts_of_state)))

    return run


def _between(x: torch.Tensor, share: float, key: Any, batch_first: bool) -> torch.Tensor:
    shape = tuple(x.transpose(0, 1).shape) if batch_first else tuple(x.shape)
    ones = np.ones(shape, x.detach().numpy().dtype)
    mask = torch.from_numpy(composit.numpy.evaluate(composit.nn.dropout(ones, share, key)))
    return mask.transpose(0, 1) if batch_first else mask


def _attending(original: Callable[..., Any]) -> Callable[..., Any]:
    def attend(
        query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
        is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
    ) -> Any:  # fmt: skip
        if not dropout_p:
            return original(query, key, value, attn_mask, 0.0, is_causal, scale=scale,
                            enable_gqa=enable_gqa)  # fmt: skip
        scores = query @ key.transpose(-2, -1) * (scale or query.shape[-1] ** -0.5)
        if is_causal:
            attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -float("inf"))
        elif attn_mask is not None:
            scores = scores + attn_mask
        return torch.nn.functional.dropout(scores.softmax(-1), dropout_p, True) @ value

    return attend


def _sampling(self: Any) -> Any:
    count = len(self.data_source)
    yield from ours.utils.data.RandomSampler(
        range(count), self.replacement, self.num_samples, to_ours(self.generator)
    )


def _numbers_of_workers() -> None:
    """A DataLoader of PyTorch draws a seed for workers that it may not have; one of composit.torch
    does not."""
    loading = torch.utils.data.dataloader._BaseDataLoaderIter
    original = loading.__init__

    def init(self: Any, loader: Any) -> None:
        state = ours.get_rng_state()
        original(self, loader)
        ours.set_rng_state(state)

    loading.__init__ = init  # type: ignore[method-assign]


def give_pytorch_composits_draws() -> None:
    """Replaces PyTorch's functions that draw, once for the process."""
    for name in FUNCTIONS:
        setattr(torch, name, _drawing(name))
    for name in IN_PLACE:
        setattr(torch.Tensor, name, _drawing_in_place(name))
    for name in INITIALISERS:
        if hasattr(ours.nn.init, name):
            setattr(torch.nn.init, name, _initialising(name))
    neural = torch.nn.functional
    for name in DROPOUTS:
        setattr(neural, name, _dropping(name))
    setattr(torch, "dropout", neural.dropout)  # noqa: B010
    neural.scaled_dot_product_attention = _attending(neural.scaled_dot_product_attention)
    recurrent = torch.nn.modules.rnn
    for name in RECURRENT:
        setattr(recurrent._VF, name, _recurrent(getattr(recurrent._VF, name), name))
    for kind in ("tanh", "relu"):
        recurrent._rnn_impls[f"RNN_{kind.upper()}"] = getattr(recurrent._VF, f"rnn_{kind}")
    torch.utils.data.RandomSampler.__iter__ = _sampling  # type: ignore[method-assign]
    _numbers_of_workers()
    seed = torch.manual_seed

    def manual_seed(number: int) -> Any:
        ours.manual_seed(number)
        return seed(number)

    setattr(torch, "manual_seed", manual_seed)  # noqa: B010
