"""A language model of LSTM layers (Zaremba et al. 2014): token ids to logits of the next ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import composit
from composit import nn, random
from composit._core import LazyTensor
from composit.model_zoo.generation import read_in_chunks
from composit.model_zoo.parameters import Parameters, Shapes, convert, dense, state_of

State = tuple[Any, Any]  # (h, c), each (layers, batch, width)


def lstm(
    input_ids: Any,
    parameters: Mapping[str, Any],
    *,
    state: State | None = None,
    dropout: float = 0.0,
    key: Any = None,
) -> Any:
    """(batch, tokens) ids to (batch, tokens, vocabulary). With a state, that of the tokens before,
    the result is (logits, the state after). Parameters: `encoder.weight` (embeddings), `rnn.*` as
    torch.nn.LSTM names them, `decoder.weight` and `decoder.bias`, as PyTorch's example for language
    models; without `decoder.weight` the embeddings serve. dropout acts, as there, before, between
    and behind the layers, and requires a key."""
    p = Parameters(parameters)
    before = within = behind = key
    if dropout:
        before, within, behind = random.split(key, 3)
    x = nn.embedding(input_ids, p["encoder.weight"])
    x = nn.dropout(x, dropout, before) if dropout else x
    weights = dict(p / "rnn")
    output, after = nn.lstm(x, weights, state, batch_first=True, dropout=dropout, key=within)
    output = nn.dropout(output, dropout, behind) if dropout else output
    logits = output @ _head(p) + p["decoder.bias"]
    return logits if state is None else (logits, after)


def _head(parameters: Parameters) -> LazyTensor:
    """(width, vocabulary)"""
    if "decoder.weight" in parameters:
        return parameters["decoder.weight"]
    return parameters["encoder.weight"].T


def loss_of(
    input_ids: Any, next_ids: Any, parameters: Mapping[str, Any], state: State, **options: Any
) -> tuple[LazyTensor, State]:
    """The mean cross entropy of the tokens that follow, and the state after; no gradient flows into
    the state before."""
    before = (nn.stop_gradient(state[0]), nn.stop_gradient(state[1]))
    logits, after = lstm(input_ids, parameters, state=before, **options)
    return nn.cross_entropy(logits, next_ids), after


def empty_state(parameters: Mapping[str, Any], batch: int = 1) -> State:
    """That of no tokens: zeros."""
    layers = sum(name.startswith("rnn.weight_hh_l") for name in parameters)
    width = parameters["rnn.weight_hh_l0"].shape[1]
    zeros = np.zeros((layers, batch, width), np.float32)
    return zeros, zeros


class Reader:
    """The model ready to read tokens and to say what may follow, as `generation.generate` asks. It
    is compiled for one token and for chunks of a prompt; a text may have any length."""

    def __init__(self, parameters: Mapping[str, Any], **options: Any) -> None:
        def step(ids: Any, state: State) -> Any:
            logits, after = lstm(ids, parameters, state=state)
            return logits[:, -1], after

        self._step: Callable[..., Any] = composit.compile(step, name="lstm_step", **options)
        self._empty = self._state = empty_state(parameters)

    def reset(self) -> None:
        """Forgets the text."""
        self._state = self._empty

    def read(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """The logits (vocabulary,) of what follows these tokens and those read before. ValueError:
        there are none."""
        ids = np.asarray(ids, np.int64).reshape(1, -1)
        count = ids.shape[1]
        if not count:
            raise ValueError("Reader.read: there are no tokens. At least 1 is required.")
        return read_in_chunks(ids, self._read)

    def _read(self, ids: np.ndarray) -> Any:
        logits, self._state = self._step(ids, self._state)
        return logits


def convert_parameters_to_numpy(model: Any) -> dict[str, np.ndarray]:
    """Of a torch module with these layers, or its state_dict: the last layer as (in, out), and left
    out where it is the embeddings."""
    state = state_of(model)
    words, head = state["encoder.weight"], state.get("decoder.weight")
    if head is not None and (np.shares_memory(words, head) or np.array_equal(words, head)):
        del state["decoder.weight"]
    return convert(state, lambda name, _: name == "decoder.weight", channels_last=False)


def parameter_shapes(
    *,
    num_layers: int = 2,
    width: int = 512,
    embedding_width: int | None = None,
    vocab_size: int = 256,
) -> Shapes:
    """Names and shapes; embeddings are as wide as the layers unless given."""
    inputs = width if embedding_width is None else embedding_width
    shapes: Shapes = {"encoder.weight": (vocab_size, inputs)}
    for layer in range(num_layers):
        shapes[f"rnn.weight_ih_l{layer}"] = (4 * width, inputs if layer == 0 else width)
        shapes[f"rnn.weight_hh_l{layer}"] = (4 * width, width)
        shapes[f"rnn.bias_ih_l{layer}"] = shapes[f"rnn.bias_hh_l{layer}"] = (4 * width,)
    dense(shapes, "decoder", width, vocab_size)
    return shapes


def create_parameters(*, seed: int = 0, **sizes: int) -> dict[str, np.ndarray]:
    """Random parameters; sizes as those of `parameter_shapes`. They are drawn as PyTorch does:
    embeddings of deviation 1, others uniform within 1 / sqrt(width)."""
    shapes, generator = parameter_shapes(**sizes), np.random.default_rng(seed)
    bound, parameters = 1 / math.sqrt(shapes["rnn.weight_hh_l0"][1]), {}
    for name, shape in shapes.items():
        if name == "encoder.weight":
            drawn = generator.standard_normal(shape, np.float32)
        else:
            drawn = generator.uniform(-bound, bound, shape).astype(np.float32)
        parameters[name] = drawn
    return parameters
