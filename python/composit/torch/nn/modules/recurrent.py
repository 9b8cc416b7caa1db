"""Recurrent layers and cells, over composit.nn's loops, with PyTorch's names of weights."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import composit._core as _core
from composit import nn
from composit._core import value_error
from composit._floating_point import in_default_state
from composit.torch import calling
from composit.torch.functions import random
from composit.torch.nn import init
from composit.torch.nn.module import Module
from composit.torch.nn.modules import packed
from composit.torch.nn.modules.plain import hold
from composit.torch.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]


class RNNBase(Module):
    """Layers over sequences (times, batch, features), or (batch, times, features) with
    batch_first; without a batch, and over a PackedSequence too, which gives one."""

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1,
        bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
        bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shapes = _core.aten.recurrent_parameters(
            type(self).__name__, mode, input_size, hidden_size, num_layers, bias, dropout,
            bidirectional, proj_size,
        )  # fmt: skip
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = dropout, bidirectional, proj_size
        self._names = list(dict(shapes))
        hold(self, shapes, dtype=dtype, device=device)
        self.reset_parameters()

    @in_default_state
    def reset_parameters(self) -> None:
        """Draws weights uniformly within 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        by_layer = groupby(self._names, lambda name: name[name.rindex("_l") :])
        return [[getattr(self, name) for name in names] for _, names in by_layer]

    def flatten_parameters(self) -> None:
        """Nothing: weights have no place in memory to be put together."""

    def _run(self, input: Any, states: tuple[Any, ...] | None) -> Any:
        if isinstance(input, PackedSequence):
            data = input.data
            of_weights = getattr(self, self._names[0]).dtype.numpy
            _core.aten.check_packed_input(data.shape, data.dtype.numpy, self.input_size, of_weights)
            return packed.run(self, input, states)
        weights = [getattr(self, name) for name in self._names]
        _core.aten.check_recurrent_input(
            type(self).__name__, input.shape, input.dtype.numpy, self.input_size,
            weights[0].dtype.numpy, self.batch_first,
        )  # fmt: skip
        is_batched = input.dim() == 3
        share = self.dropout if self.training and self.num_layers > 1 else 0.0
        key = random.next_key() if share else None
        given = () if states is None else states
        if not is_batched:
            dim = 0 if self.batch_first else 1
            input = input.unsqueeze(dim)
            given = tuple(state.unsqueeze(1) for state in given)

        def layers(x: Any, *rest: Any) -> Any:
            return tuple(_core.aten.recurrent(
                self.mode, x, self._names, rest[len(given) :], rest[: len(given)],
                self.batch_first, share, key,
            ))  # fmt: skip

        output, *last = calling.call(layers, self.mode.lower(), False,
                                     (input, *given, *weights), {})  # fmt: skip
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            last = [state.squeeze(1) for state in last]
        return output, last

    def extra_repr(self) -> str:
        """Sizes and options that are not the usual ones."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False,
                 "dropout": 0.0, "bidirectional": False}  # fmt: skip
        parts += [f"{k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != v]
        return ", ".join(parts)


class LSTM(RNNBase):
    """Long short-term memory: (output, (h, c))."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """All outputs, and the last states; hx: the first ones, zeros by default."""
        output, last = self._run(input, None if hx is None else tuple(hx))
        return output, tuple(last)


class GRU(RNNBase):
    """Gated recurrent units: (output, h)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """All outputs, and the last state; hx: the first one, zeros by default."""
        output, last = self._run(input, None if hx is None else (hx,))
        return output, last[0]


class RNN(RNNBase):
    """Elman's layers, with nonlinearity "tanh" or "relu": (output, h)."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
        bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
        bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise value_error(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or "
                              "'relu'.")  # fmt: skip
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias,
                         batch_first, dropout, bidirectional, 0, device, dtype)  # fmt: skip
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """All outputs, and the last state; hx: the first one, zeros by default."""
        output, last = self._run(input, None if hx is None else (hx,))
        return output, last[0]


class RNNCellBase(Module):
    """One step of a recurrent layer, of (batch, features) or (features,)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        shapes = _core.aten.cell_parameters(input_size, hidden_size, num_chunks, bias)
        hold(self, shapes, dtype=dtype, device=device)
        self.reset_parameters()

    @in_default_state
    def reset_parameters(self) -> None:
        """Draws weights uniformly within 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _zeros(self, input: Any) -> Any:
        shape = (*input.shape[:-1], self.hidden_size)
        return calling.functions["zeros"](*shape, dtype=input.dtype, device=input.device)

    def _step(self, name: str, step: Any, input: Any, *states: Any) -> Any:
        _core.aten.check_cell_input(type(self).__name__, input.shape, self.input_size,
                                    self.hidden_size, [each.shape for each in states])  # fmt: skip
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return calling.call(step, name, False, (input, *states, *weights), {})

    def extra_repr(self) -> str:
        """Its sizes."""
        return f"{self.input_size}, {self.hidden_size}"


class LSTMCell(RNNCellBase):
    """A step of LSTM: (h, c)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next (h, c)."""
        h, c = hx if hx is not None else (self._zeros(input), self._zeros(input))

        def step(x: Any, h: Any, c: Any, *weights: Any) -> Any:
            return nn.lstm_cell(x, (h, c), *weights)

        return self._step("lstm_cell", step, input, h, c)


class GRUCell(RNNCellBase):
    """A step of GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next h."""
        return self._step("gru_cell", nn.gru_cell, input, self._zeros(input) if hx is None else hx)


class RNNCell(RNNCellBase):
    """A step of RNN."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next h."""

        def step(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
            return nn.rnn_cell(x, h, w_ih, w_hh, b_ih, b_hh, self.nonlinearity)

        return self._step("rnn_cell", step, input, self._zeros(input) if hx is None else hx)
