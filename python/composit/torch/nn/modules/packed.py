"""Recurrent layers over packed sequences: times at which equally many sequences go on are one loop,
from the states of those that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.torch import calling
from composit.torch.nn.utils import rnn


def run(module: Any, packed: Any, given: Any, step: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """(the packed outputs, the last states (layers x directions, batch, ...) in the batch's own
    order). `given`: the first states, or None for zeros. `step(x, states, weights)` is one
    layer in one direction over LazyTensors, x (times, batch, features), states (batch, ...) and
    weights by name: the outputs, then the last states."""
    functions = calling.functions
    batch = int(packed.batch_sizes[0])
    sides = ("", "_reverse") if module.bidirectional else ("",)
    if given is None:
        widths = (module.proj_size or module.hidden_size, module.hidden_size)
        count = module.num_layers * len(sides)
        given = [functions["zeros"](count, batch, size, dtype=packed.data.dtype,
                                    device=packed.data.device)
                 for size in widths[: 2 if module.mode == "LSTM" else 1]]  # fmt: skip
    else:
        given = [rnn.permuted(state, packed.sorted_indices) for state in given]
    sizes = packed.batch_sizes.tolist()
    data = packed.data
    ends: list[list[Any]] = []
    for layer in range(module.num_layers):
        if layer and module.dropout and module.training:
            data = calling.neural["dropout"](data, module.dropout, True)
        made = []
        for side in sides:
            start = [state[len(ends)] for state in given]
            ending = f"_l{layer}{side}"
            names = [name for name in module._names if name.endswith(ending)]
            parts = [name.removesuffix(ending) for name in names]
            walk = _layer(step, sizes, len(start), parts, bool(side))
            given_weights = [getattr(module, name) for name in names]
            output, *last = calling.call(
                walk, module.mode.lower(), False, (data, *start, *given_weights), {}
            )
            made.append(output)
            ends.append(last)
        data = functions["cat"](made, -1) if len(made) > 1 else made[0]
    states = [functions["stack"]([end[i] for end in ends]) for i in range(len(given))]
    states = [rnn.permuted(state, packed.unsorted_indices) for state in states]
    return packed._with(data), states


def _layer(
    step: Callable[..., Any], sizes: list[int], count: int, names: list[str], is_backwards: bool
) -> Callable[..., Any]:
    """A layer in one direction as a function of the data, `count` states and the weights."""

    def layer(data: Any, *rest: Any) -> Any:
        weights = dict(zip(names, rest[count:]))
        return tuple(
            _core.aten.run_packed(
                data, sizes, list(rest[:count]), lambda x, s: step(x, s, weights), is_backwards
            )
        )

    return layer
