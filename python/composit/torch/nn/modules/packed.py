"""Recurrent layers over packed sequences."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import calling
from composit.torch.functions import random
from composit.torch.nn.utils import rnn


def _first_states(module: Any, packed: Any, given: Any) -> list[Any]:
    """The first states in the data's order: those that are given, or zeros."""
    if given is not None:
        return [rnn.permuted(state, packed.sorted_indices) for state in given]
    shapes = _core.aten.recurrent_states(
        module.mode, module.num_layers, module.bidirectional, module.hidden_size,
        module.proj_size, int(packed.batch_sizes[0]),
    )  # fmt: skip
    return [packed.data.new_zeros(shape) for shape in shapes]


def _keys(module: Any) -> list[Any]:
    """A key for what is dropped before each layer but the first, where something is."""
    drops = module.training and module.dropout
    return [random.next_key_tensor() for _ in range(module.num_layers - 1 if drops else 0)]


def run(module: Any, packed: Any, given: Any) -> tuple[Any, list[Any]]:
    """(the packed outputs, the last states (layers x directions, batch, ...) in the batch's own
    order). `given`: the first states, or None for zeros."""
    sizes, keys = packed.batch_sizes.tolist(), _keys(module)
    states = _first_states(module, packed, given)
    weights = [getattr(module, name) for name in module._names]
    count, end = len(states), len(states) + len(weights)

    def layers(data: Any, *rest: Any) -> Any:
        return tuple(_core.aten.packed_recurrent(
            module.mode, data, sizes, module._names, rest[count:end], rest[:count],
            module.dropout, rest[end:],
        ))  # fmt: skip

    output, *last = calling.call(
        layers, module.mode.lower(), False, (packed.data, *states, *weights, *keys), {}
    )
    return packed._with(output), [rnn.permuted(state, packed.unsorted_indices) for state in last]
