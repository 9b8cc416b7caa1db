"""Recurrent layers, with PyTorch's weights, values and gradients: one loop per layer and direction.

Weights are dictionaries with PyTorch's names: weight_ih_l0 (gates * hidden, inputs), weight_hh_l0
(gates * hidden, outputs), bias_ih_l0 and bias_hh_l0 (gates * hidden,) or neither; l1, l2, … for
further layers, names that end in _reverse for the other direction. In C++: composit/nn/recurrent.h.
"""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit._mismatch import wrong

_c = _core.nn

__all__ = ["gru", "gru_cell", "lstm", "lstm_cell", "rnn", "rnn_cell"]


def lstm(
    x: Any,
    weights: dict[str, Any],
    initial: tuple[Any, Any] | None = None,
    *,
    batch_first: bool = False,
    dropout: float = 0.0,
    key: Any = None,
) -> tuple[LazyTensor, tuple[LazyTensor, LazyTensor]]:
    """(output, (h, c)) of torch.nn.LSTM with those weights, as many layers and directions as there
    are.

    x: (times, batch, inputs), (batch, times, inputs) with batch_first, or (times, inputs). output:
    (times, batch, directions * outputs). initial, h and c: (layers * directions, batch, outputs or
    hidden); zeros by default. weight_hr_l0 (outputs, hidden) projects h. dropout acts between
    layers and requires a key. ValueError, with the shapes, where they do not fit together."""
    output, h, c = _c.lstm(x, weights, initial, batch_first, dropout, key)
    return output, (h, c)


def gru(
    x: Any,
    weights: dict[str, Any],
    initial: Any = None,
    *,
    batch_first: bool = False,
    dropout: float = 0.0,
    key: Any = None,
) -> tuple[LazyTensor, LazyTensor]:
    """(output, h) of torch.nn.GRU with those weights; shapes as lstm's."""
    return _c.gru(x, weights, initial, batch_first, dropout, key)


def rnn(
    x: Any,
    weights: dict[str, Any],
    initial: Any = None,
    nonlinearity: str = "tanh",
    *,
    batch_first: bool = False,
    dropout: float = 0.0,
    key: Any = None,
) -> tuple[LazyTensor, LazyTensor]:
    """(output, h) of torch.nn.RNN with those weights and "tanh" or "relu"; shapes as lstm's."""
    return _c.rnn(x, weights, initial, nonlinearity, batch_first, dropout, key)


def lstm_cell(
    x: Any,
    state: tuple[Any, Any],
    weight_ih: Any,
    weight_hh: Any,
    bias_ih: Any = None,
    bias_hh: Any = None,
) -> tuple[LazyTensor, LazyTensor]:
    """(h, c) after one step of an LSTM from x (…, inputs) and the state (h, c), (…, hidden)."""
    if not (isinstance(state, (tuple, list)) and len(state) == 2):
        raise TypeError(wrong(state, "A pair (h, c)"))
    return _c.lstm_cell(x, *state, [weight_ih, weight_hh, bias_ih, bias_hh, None])


def gru_cell(
    x: Any, h: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None
) -> LazyTensor:
    """h after one step of a GRU from x (…, inputs) and h (…, hidden)."""
    return _c.gru_cell(x, h, [weight_ih, weight_hh, bias_ih, bias_hh, None])


def rnn_cell(
    x: Any,
    h: Any,
    weight_ih: Any,
    weight_hh: Any,
    bias_ih: Any = None,
    bias_hh: Any = None,
    nonlinearity: str = "tanh",
) -> LazyTensor:
    """h after one step of an RNN, "tanh" or "relu", from x (…, inputs) and h (…, hidden)."""
    return _c.rnn_cell(x, h, [weight_ih, weight_hh, bias_ih, bias_hh, None], nonlinearity)
