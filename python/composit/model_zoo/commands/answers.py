"""`bert`: where in a text an answer lies, with the time that a text takes."""

from __future__ import annotations

import argparse
import functools
from typing import Any

import numpy as np

import composit
from composit.model_zoo import bert
from composit.model_zoo.commands import running

KEYS = {
    "num_encoders": "num_hidden_layers", "width": "hidden_size", "vocab_size": "vocab_size",
    "max_length": "max_position_embeddings", "num_heads": "num_attention_heads",
}  # fmt: skip
TINY = {"num_encoders": 2, "width": 64, "vocab_size": 256, "max_length": 128, "num_heads": 2}


def add_options(parser: argparse.ArgumentParser) -> None:
    running.add_common(parser, tiny="two encoders of width 64")
    option = parser.add_argument
    option(
        "--ids",
        type=int,
        nargs="+",
        metavar="ID",
        help="the words of a question and a text, as a tokenizer numbers them; random ones if left "
        "out",
    )
    option("--length", type=int, default=128, help="how many random words (128)")
    option("--batch-size", type=int, default=1, help="copies of the text at a time (1)")


def run(arguments: argparse.Namespace) -> None:
    sizes = {"num_heads": 12} | running.sizes_of(arguments, KEYS, TINY)
    num_heads = sizes.pop("num_heads")
    shapes = bert.parameter_shapes(**sizes, num_labels=2)
    parameters = running.parameters_for(arguments, shapes, bert.convert_parameters_to_numpy)
    vocabulary, width = shapes["bert.embeddings.word_embeddings.weight"]
    longest = shapes["bert.embeddings.position_embeddings.weight"][0]
    encoders = sum(name.endswith("query.bias") for name in shapes)
    words = _words(arguments, vocabulary, longest)
    model = functools.partial(
        bert.bert_for_question_answering,
        token_type_ids=None,
        attention_mask=None,
        parameters=parameters,
        num_encoders=encoders,
        head_size=width // num_heads,
    )
    compiled = composit.compile(
        lambda ids: model(ids), words, name="bert", backend=running.backend_of(arguments)
    )
    calls = running.progress(range(6), total=6, unit="batch", title="reading")
    taken = [running.seconds_of(lambda: compiled(words), calls=1) for _ in calls]
    first, last = answer(compiled(words)[0])
    print(f"the answer: words {first} to {last}")

    def theirs() -> float:
        return _torchs_seconds(parameters, words, encoders, num_heads, longest)

    running.report(arguments, "text", float(np.median(taken)) / len(words), theirs, "transformers")


def answer(logits: np.ndarray) -> tuple[int, int]:
    """The likeliest first and last word, of all pairs in which the first is not after the last."""
    scores = logits[:, None, 0] + logits[None, :, 1]
    scores = np.where(np.tril(np.ones_like(scores), -1) > 0, -np.inf, scores)
    first, last = np.unravel_index(np.argmax(scores), scores.shape)
    return int(first), int(last)


def _words(arguments: argparse.Namespace, vocabulary: int, longest: int) -> np.ndarray:
    if arguments.ids is None:
        random = np.random.default_rng(arguments.seed)
        ids = random.integers(0, vocabulary, min(arguments.length, longest))
    else:
        ids = np.array(arguments.ids, np.int64)
    if not 0 < len(ids) <= longest:
        raise ValueError(f"there are {len(ids)} words. From 1 to {longest} are required.")
    if ids.min() < 0 or ids.max() >= vocabulary:
        raise ValueError(
            f"--ids are from {ids.min()} to {ids.max()}; the model knows {vocabulary}."
        )
    return np.tile(ids, (arguments.batch_size, 1))


def _torchs_seconds(
    parameters: Any, words: np.ndarray, encoders: int, num_heads: int, longest: int
) -> float:
    import torch
    from transformers import BertForQuestionAnswering

    vocabulary, width = parameters["bert.embeddings.word_embeddings.weight"].shape
    config = bert.create_bert_config(encoders, num_heads, width // num_heads, vocabulary)
    config.max_position_embeddings = longest
    model = BertForQuestionAnswering(config).eval()
    is_dense = lambda name, _: "embeddings" not in name  # noqa: E731
    model.load_state_dict(running.torch_state(parameters, is_dense))
    with torch.inference_mode():
        ids = torch.from_numpy(words)
        return running.seconds_of(lambda: model(ids)) / len(words)
