"""Recurrent layers over packed sequences: times at which equally many sequences go on are one loop,
from the states of those that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit.torch import calling
from composit.torch.nn.utils import rnn


def run(module: Any, packed: Any, given: Any, step: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """(the packed outputs, the last states (layers x directions, batch, ...) in the batch's own
    order). `given`: the first states, or None for zeros. `step(x, states, weights)` is one layer in
    one direction over x (times, batch, features): the outputs and its last states."""
    functions = calling.functions
    batch = int(packed.batch_sizes[0])
    sides = ("", "_reverse") if module.bidirectional else ("",)
    if given is None:
        sizes = (module.proj_size or module.hidden_size, module.hidden_size)
        count = module.num_layers * len(sides)
        given = [functions["zeros"](count, batch, size, dtype=packed.data.dtype,
                                    device=packed.data.device)
                 for size in sizes[: 2 if module.mode == "LSTM" else 1]]  # fmt: skip
    else:
        given = [rnn.permuted(state, packed.sorted_indices) for state in given]
    parts = rnn.segments(packed.batch_sizes)
    data = packed.data
    ends: list[list[Any]] = []
    for layer in range(module.num_layers):
        if layer and module.dropout and module.training:
            data = calling.neural["dropout"](data, module.dropout, True)
        made = []
        for side in sides:
            start = [state[len(ends)] for state in given]
            ending = f"_l{layer}{side}"
            weights = {name.removesuffix(ending): getattr(module, name)
                       for name in module._names if name.endswith(ending)}  # fmt: skip
            walk = _backwards if side else _forwards
            output, last = walk(data, parts, start, lambda x, s, w=weights: step(x, s, w))
            made.append(output)
            ends.append(last)
        data = functions["cat"](made, -1) if len(made) > 1 else made[0]
    states = [functions["stack"]([end[i] for end in ends]) for i in range(len(given))]
    states = [rnn.permuted(state, packed.unsorted_indices) for state in states]
    return packed._with(data), states


def _rows(data: Any, part: tuple[int, int, int]) -> Any:
    first, times, size = part
    return data[first : first + times * size].unflatten(0, (times, size))


def _forwards(data: Any, parts: Any, states: list[Any], step: Any) -> tuple[Any, list[Any]]:
    """Sequences that have ended keep the states they ended with."""
    outputs: list[Any] = []
    ended: list[list[Any]] = [[] for _ in states]  # the shortest sequences first
    for part in parts:
        size = part[2]
        for held, state in zip(ended, states):
            if state.shape[0] > size:
                held.append(state[size:])
        output, states = step(_rows(data, part), [state[:size] for state in states])
        outputs.append(output.flatten(0, 1))
    cat = calling.functions["cat"]
    return cat(outputs), [cat([state, *reversed(held)]) for state, held in zip(states, ended)]


def _backwards(data: Any, parts: Any, first: list[Any], step: Any) -> tuple[Any, list[Any]]:
    """From the last time on; each sequence begins at its own end, with its first state."""
    cat = calling.functions["cat"]
    outputs, states = [], [state[:0] for state in first]
    for part in reversed(parts):
        size = part[2]
        entered = [cat([now, own[now.shape[0] : size]]) for now, own in zip(states, first)]
        output, states = step(_rows(data, part).flip(0), entered)
        outputs.append(output.flip(0).flatten(0, 1))
    return cat(outputs[::-1]), states
