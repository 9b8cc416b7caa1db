"""torch's recurrent layers, by composit.nn's, and their cells."""

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


def _named(params: Any, has_biases: bool, both: bool, is_projected: bool) -> dict[str, Any]:
    """torch's list of weights as composit.nn's dictionary."""
    parts = ["weight_ih", "weight_hh"]
    parts += ["bias_ih", "bias_hh"] if has_biases else []
    parts += ["weight_hr"] if is_projected else []
    named = {}
    for i, weight in enumerate(params):
        number, part = divmod(i, len(parts))
        layer, direction = divmod(number, 1 + both)
        named[f"{parts[part]}_l{layer}{'_reverse' if direction else ''}"] = weight
    return named


@operator("lstm.input", key=True)
def _lstm(
    input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, *, key
):
    is_projected = hx[0].shape[-1] != hx[1].shape[-1]
    weights = _named(params, has_biases, bidirectional, is_projected)
    rate = dropout if train else 0.0
    output, (h, c) = nn.lstm(
        input, weights, tuple(hx), batch_first=batch_first, dropout=rate, key=key if rate else None
    )
    return output, h, c


def _of_one_state(function: Any, *options: Any) -> Any:
    def row(
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, *,
        key,
    ):  # fmt: skip
        weights = _named(params, has_biases, bidirectional, False)
        rate = dropout if train else 0.0
        return function(
            input, weights, hx, *options, batch_first=batch_first, dropout=rate,
            key=key if rate else None,
        )  # fmt: skip

    return row


operator("gru.input", key=True)(_of_one_state(nn.gru))
operator("rnn_tanh.input", key=True)(_of_one_state(nn.rnn, "tanh"))
operator("rnn_relu.input", key=True)(_of_one_state(nn.rnn, "relu"))


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
