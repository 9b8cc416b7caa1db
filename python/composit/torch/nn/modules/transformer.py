"""Transformer: encoders and decoders of attention."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from composit._core import runtime_error
from composit.torch import calling
from composit.torch.nn import init
from composit.torch.nn.module import Module
from composit.torch.nn.modules.attention import MultiheadAttention
from composit.torch.nn.modules.containers import ModuleList
from composit.torch.nn.modules.normalisation import LayerNorm
from composit.torch.nn.modules.plain import Linear
from composit.torch.nn.modules.pools import Dropout  # type: ignore[attr-defined]

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip


def _activation(given: Any) -> Any:
    if callable(given):
        return given
    if given not in ("relu", "gelu"):
        raise runtime_error(f"activation should be relu/gelu, not {given}")
    return calling.neural[given]


def _register(module: Any, names: Iterable[str], make: Callable[[], Any]) -> None:
    for name in names:
        setattr(module, name, make())


class _Layer(Module):
    """What layers of encoders and decoders have: norms, dropouts, and two linear maps."""

    def _build(
        self, attentions: tuple[str, ...], d_model: int, nhead: int, dim_feedforward: int,
        dropout: float, activation: Any, layer_norm_eps: float, batch_first: bool,
        norm_first: bool, bias: bool, kinds: dict[str, Any],
    ) -> None:  # fmt: skip
        Module.__init__(self)
        _register(self, attentions, lambda: MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **kinds
        ))  # fmt: skip
        self.linear1 = Linear(d_model, dim_feedforward, bias, **kinds)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **kinds)
        self.norm_first = norm_first
        numbers = range(1, len(attentions) + 2)
        _register(self, map("norm{}".format, numbers),
                  lambda: LayerNorm(d_model, layer_norm_eps, bias=bias, **kinds))  # fmt: skip
        _register(self, map("dropout{}".format, numbers), lambda: Dropout(dropout))
        self.activation = _activation(activation)

    def _fed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _added(self, x: Any, number: int, block: Any) -> Any:
        """x with what a block makes of it added, normalised before or after."""
        norm, drop = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + drop(block(norm(x)))
        return norm(x + drop(block(x)))


class TransformerEncoderLayer(_Layer):
    """Self-attention, then two linear maps, each added and normalised."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._build(("self_attn",), d_model, nhead, dim_feedforward, dropout, activation,
                    layer_norm_eps, batch_first, norm_first, bias,
                    {"device": device, "dtype": dtype})  # fmt: skip

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """src, (times, batch, d_model), after attention to itself."""

        def attention(x: Any) -> Any:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask,
                                  is_causal=is_causal)[0]  # fmt: skip

        return self._added(self._added(src, 1, attention), 2, self._fed)


class TransformerDecoderLayer(_Layer):
    """Attention to itself and to memory, then two linear maps, each added and normalised."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._build(("self_attn", "multihead_attn"), d_model, nhead, dim_feedforward, dropout,
                    activation, layer_norm_eps, batch_first, norm_first, bias,
                    {"device": device, "dtype": dtype})  # fmt: skip

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """tgt, (times, batch, d_model), after attention to itself and to memory."""

        def own(x: Any) -> Any:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0]

        def other(x: Any) -> Any:
            return self.multihead_attn(x, memory, memory, memory_key_padding_mask, False,
                                       memory_mask)[0]  # fmt: skip

        return self._added(self._added(self._added(tgt, 1, own), 2, other), 3, self._fed)


def _copies(layer: Any, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _through(stack: Any, x: Any, *given: Any) -> Any:
    """x after all layers of a stack, and its norm."""
    for layer in stack.layers:
        x = layer(x, *given)
    return x if stack.norm is None else stack.norm(x)


class TransformerEncoder(Module):
    """Copies of a layer one after the other, and a norm."""

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Any = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers, self.num_layers, self.norm = (
            _copies(encoder_layer, num_layers),
            num_layers,
            norm,
        )

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None
    ) -> Any:
        """src after all layers."""
        return _through(self, src, mask, src_key_padding_mask)


class TransformerDecoder(Module):
    """Copies of a layer one after the other, and a norm."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers, self.num_layers, self.norm = (
            _copies(decoder_layer, num_layers),
            num_layers,
            norm,
        )

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: Any = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """tgt after all layers."""
        return _through(self, tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                        memory_key_padding_mask)  # fmt: skip


class Transformer(Module):
    """An encoder of src, and a decoder of tgt that attends to what comes of it."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Any = "relu", custom_encoder: Any = None, custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                   batch_first, norm_first, bias, device, dtype)  # fmt: skip
        norm = (d_model, layer_norm_eps)
        kinds = {"bias": bias, "device": device, "dtype": dtype}
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(*norm, **kinds)
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(*norm, **kinds)
        )
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for weight in self.parameters():
            if weight.dim() > 1:
                init.xavier_uniform_(weight)

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None,
        memory_mask: Any = None, src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: Any = None, tgt_is_causal: Any = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """tgt, (times, batch, d_model), decoded by attention to src."""
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise runtime_error("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                            memory_key_padding_mask)  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """-inf above the diagonal: nothing that comes later is attended to."""
        full = calling.functions["full"]((sz, sz), float("-inf"), dtype=dtype, device=device)
        return calling.functions["triu"](full, 1)
