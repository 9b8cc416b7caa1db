"""BERT (Devlin et al. 2019): token ids to hidden states, or to the ends of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import composit.numpy as cnp
from composit import nn
from composit._core import LazyTensor
from composit.model_zoo.parameters import (
    Parameters,
    Shapes,
    convert,
    dense,
    layer_norm,
    layers,
    linear,
    scale,
    state_of,
)

EPSILON = 1e-12
EXCLUDED = np.float32(-1e9)  # what is added to the scores of tokens that the mask leaves out


def create_bert_config(
    num_encoders: int, num_attention_heads: int, head_size: int, vocab_size: int
) -> Any:
    """The configuration of transformers' BertModel, without dropout."""
    from transformers import BertConfig

    width = num_attention_heads * head_size
    return BertConfig(
        hidden_size=width,
        num_hidden_layers=num_encoders,
        num_attention_heads=num_attention_heads,
        intermediate_size=4 * width,
        vocab_size=vocab_size,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


def create_random_float(
    shape: tuple[int, ...], minimum: float = -0.1, maximum: float = 0.1
) -> np.ndarray:
    """float32 between the limits, from NumPy's global generator."""
    return np.random.uniform(minimum, maximum, shape).astype(np.float32)


def create_random_long(shape: tuple[int, ...], minimum: int, maximum: int) -> np.ndarray:
    """int64 from minimum to maximum - 1, from NumPy's global generator."""
    return np.random.randint(minimum, maximum, shape, np.int64)


def convert_parameters_to_numpy(model: Any) -> dict[str, np.ndarray]:
    """Of transformers' BertModel, a model that holds one as `.bert`, or its state_dict: arrays by
    name, dense weights as (in, out)."""
    return convert(state_of(model), lambda name, _: "embeddings" not in name, channels_last=False)


def create_parameters(
    num_encoders: int,
    hidden_size: int,
    vocab_size: int,
    num_question_answering_labels: int | None = None,
    *,
    max_length: int = 512,
) -> dict[str, np.ndarray]:
    """Random parameters; with labels, those of `bert_for_question_answering`."""
    shapes = parameter_shapes(
        num_encoders=num_encoders,
        width=hidden_size,
        vocab_size=vocab_size,
        max_length=max_length,
        num_labels=num_question_answering_labels,
    )
    return {name: create_random_float(shape) for name, shape in shapes.items()}


def parameter_shapes(
    *,
    num_encoders: int = 12,
    width: int = 768,
    vocab_size: int = 30522,
    max_length: int = 512,
    num_labels: int | None = None,
) -> Shapes:
    """Names and shapes, by default those of BERT-base; with labels, those of
    `bert_for_question_answering`."""
    prefix = "" if num_labels is None else "bert."
    shapes: Shapes = {
        f"{prefix}embeddings.word_embeddings.weight": (vocab_size, width),
        f"{prefix}embeddings.position_embeddings.weight": (max_length, width),
        f"{prefix}embeddings.token_type_embeddings.weight": (2, width),
    }
    scale(shapes, f"{prefix}embeddings.LayerNorm", width)
    matrices = {
        "attention.self.query": (width, width),
        "attention.self.key": (width, width),
        "attention.self.value": (width, width),
        "attention.output.dense": (width, width),
        "intermediate.dense": (width, 4 * width),
        "output.dense": (4 * width, width),
    }
    norms = {"attention.output.LayerNorm": width, "output.LayerNorm": width}
    layers(shapes, f"{prefix}encoder.layer", num_encoders, matrices, norms)
    if num_labels is not None:
        dense(shapes, "qa_outputs", width, num_labels)
    return shapes


def bert_encoder(
    hidden_states: Any,
    attention_mask: Any,
    parameters: Mapping[str, Any],
    *,
    encoder_index: int,
    head_size: int,
) -> LazyTensor:
    """One encoder: attention and a network of two layers, each added to what it reads, then
    normalised. hidden_states: (batch, tokens, width). attention_mask: added to the scores,
    broadcast to (batch, heads, tokens, tokens), or None."""
    p = _body(parameters) / "encoder.layer" / encoder_index
    attended = nn.multi_head_attention(
        hidden_states,
        attention_mask,
        *_dense(p / "attention.self.query"),
        *_dense(p / "attention.self.key"),
        *_dense(p / "attention.self.value"),
        *_dense(p / "attention.output.dense"),
        head_size=head_size,
    )
    x = layer_norm(hidden_states + attended, p / "attention.output.LayerNorm", EPSILON)
    wide = nn.feedforward(x, *_dense(p / "intermediate.dense"), *_dense(p / "output.dense"))
    return layer_norm(x + wide, p / "output.LayerNorm", EPSILON)


def bert(
    input_ids: Any,
    token_type_ids: Any,
    attention_mask: Any,
    parameters: Mapping[str, Any],
    *,
    num_encoders: int,
    head_size: int,
) -> LazyTensor:
    """(batch, tokens) ids of words and of sentences (None: all 0) to (batch, tokens, width).
    attention_mask (batch, tokens) is 1 where there is a word, 0 where a text has ended; None: words
    everywhere. Parameters by transformers' names, as `convert_parameters_to_numpy` returns them;
    without position embeddings the order of words does not matter."""
    p = _body(parameters) / "embeddings"
    x = nn.embedding(input_ids, p["word_embeddings.weight"])
    if token_type_ids is None:
        x = x + p["token_type_embeddings.weight"][0]
    else:
        x = x + nn.embedding(token_type_ids, p["token_type_embeddings.weight"])
    if "position_embeddings.weight" in p:
        x = x + p["position_embeddings.weight"][: x.shape[1]]
    x = layer_norm(x, p / "LayerNorm", EPSILON)
    if attention_mask is not None:
        is_word = cnp.astype(cnp.asarray(attention_mask), "float32")[:, None, None, :]
        attention_mask = (1 - is_word) * EXCLUDED
    for i in range(num_encoders):
        x = bert_encoder(x, attention_mask, parameters, encoder_index=i, head_size=head_size)
    return x


def bert_for_question_answering(
    input_ids: Any,
    token_type_ids: Any,
    attention_mask: Any,
    parameters: Mapping[str, Any],
    *,
    num_encoders: int,
    head_size: int,
) -> LazyTensor:
    """(batch, tokens, 2): how likely an answer begins and ends at each token, as logits."""
    x = bert(
        input_ids,
        token_type_ids,
        attention_mask,
        parameters,
        num_encoders=num_encoders,
        head_size=head_size,
    )
    return linear(x, Parameters(parameters) / "qa_outputs")


def _body(parameters: Mapping[str, Any]) -> Parameters:
    p = Parameters(parameters)
    return p / "bert" if p.has("bert") else p


def _dense(p: Parameters) -> tuple[LazyTensor, LazyTensor]:
    return p["weight"], p["bias"]
