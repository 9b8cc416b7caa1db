"""torch's recurrent layers, step by step."""

from __future__ import annotations

from typing import Any

from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.table import operator


def _gates(x: Any, hidden: Any, weights: Any) -> Any:
    w_ih, w_hh, *biases = weights
    result = cnp.matmul(x, cnp.transpose(w_ih)) + cnp.matmul(hidden, cnp.transpose(w_hh))
    for bias in biases:
        result = result + bias
    return result


def _lstm_step(x: Any, state: Any, weights: Any) -> tuple[Any, ...]:
    hidden, cell = state
    is_projected = len(weights) in (3, 5)
    i, f, g, o = cnp.split(_gates(x, hidden, weights[: len(weights) - is_projected]), 4, axis=-1)
    cell = nn.sigmoid(f) * cell + nn.sigmoid(i) * cnp.tanh(g)
    hidden = nn.sigmoid(o) * cnp.tanh(cell)
    if is_projected:
        hidden = cnp.matmul(hidden, cnp.transpose(weights[-1]))
    return hidden, cell


def _gru_step(x: Any, state: Any, weights: Any) -> tuple[Any, ...]:
    (hidden,) = state
    w_ih, w_hh, *biases = weights
    from_x = cnp.matmul(x, cnp.transpose(w_ih))
    from_h = cnp.matmul(hidden, cnp.transpose(w_hh))
    if biases:
        from_x, from_h = from_x + biases[0], from_h + biases[1]
    xr, xz, xn = cnp.split(from_x, 3, axis=-1)
    hr, hz, hn = cnp.split(from_h, 3, axis=-1)
    reset, update = nn.sigmoid(xr + hr), nn.sigmoid(xz + hz)
    new = cnp.tanh(xn + reset * hn)
    return ((hidden - new) * update + new,)


def _plain_step(function: Any) -> Any:
    def step(x: Any, state: Any, weights: Any) -> tuple[Any, ...]:
        return (function(_gates(x, state[0], weights)),)

    return step


def _layers(
    x: Any, states: Any, params: Any, has_biases: bool, layers: int, dropout: float, train: bool,
    bidirectional: bool, batch_first: bool, step: Any, key: Any, is_projected: bool = False,
) -> Any:  # fmt: skip
    """All layers over the whole sequence, and the last states."""
    from composit import random

    x = cnp.swapaxes(x, 0, 1) if batch_first else x
    per_layer = 2 + 2 * has_biases + is_projected
    directions = 2 if bidirectional else 1
    last: list[list[Any]] = [[] for _ in states]
    for layer in range(layers):
        sides = []
        for direction in range(directions):
            number = layer * directions + direction
            weights = params[number * per_layer : (number + 1) * per_layer]
            state = tuple(s[number] for s in states)
            order = range(x.shape[0])
            outputs: list[Any] = [None] * x.shape[0]
            for t in reversed(order) if direction else order:
                state = step(x[t], state, weights)
                outputs[t] = state[0]
            sides.append(cnp.stack(outputs))
            for kept, value in zip(last, state):
                kept.append(value)
        x = sides[0] if directions == 1 else cnp.concatenate(sides, axis=-1)
        if dropout and train and layer + 1 < layers:
            x = nn.dropout(x, dropout, random.fold_in(key, layer))
    return (
        cnp.swapaxes(x, 0, 1) if batch_first else x,
        *(cnp.stack(values) for values in last),
    )


@operator("lstm.input", key=True)
def _lstm(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, *, key
):
    is_projected = hx[0].shape[-1] != hx[1].shape[-1]
    return _layers(
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
        _lstm_step, key, is_projected,
    )  # fmt: skip


def _of_one_state(step: Any) -> Any:
    def row(
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, *,
        key,
    ):  # fmt: skip
        return _layers(
            input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional,
            batch_first, step, key,
        )  # fmt: skip

    return row


operator("gru.input", key=True)(_of_one_state(_gru_step))
operator("rnn_tanh.input", key=True)(_of_one_state(_plain_step(cnp.tanh)))
operator("rnn_relu.input", key=True)(_of_one_state(_plain_step(nn.relu)))


def _weights(w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> list[Any]:
    return [w for w in (w_ih, w_hh, b_ih, b_hh) if w is not None]


@operator("lstm_cell")
def _lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return _lstm_step(input, tuple(hx), _weights(w_ih, w_hh, b_ih, b_hh))


@operator("gru_cell")
def _gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return _gru_step(input, (hx,), _weights(w_ih, w_hh, b_ih, b_hh))[0]


@operator("rnn_tanh_cell")
def _rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return cnp.tanh(_gates(input, hx, _weights(w_ih, w_hh, b_ih, b_hh)))


@operator("rnn_relu_cell")
def _rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return nn.relu(_gates(input, hx, _weights(w_ih, w_hh, b_ih, b_hh)))
