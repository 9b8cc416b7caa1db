"""`lstm`: a language model that learns a text and goes on with it, with the time of a step and of a
token beside PyTorch's."""

from __future__ import annotations

import argparse
import functools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import composit
from composit import nn, random
from composit.model_zoo import lstm
from composit.model_zoo.commands import running
from composit.model_zoo.commands.bundled_text import TEXT
from composit.model_zoo.commands.files import read_config
from composit.model_zoo.commands.text import Text, add_writing
from composit.model_zoo.parameters import as_tensors

KEYS = {
    "num_layers": "num_layers", "width": "hidden_size", "embedding_width": "embedding_size",
    "vocab_size": "vocab_size",
}  # fmt: skip
TINY = {"num_layers": 2, "width": 64}
BATCH, LENGTH = 8, 32


def add_options(parser: argparse.ArgumentParser) -> None:
    running.add_common(parser, tiny="two layers of width 64")
    add_writing(parser)
    option = parser.add_argument
    option("--train", type=int, default=0, metavar="STEPS", help="learns the text first (0)")
    option(
        "--text",
        type=Path,
        metavar="FILE",
        help="what is learned, byte by byte; a short story that composit brings along if left out",
    )
    option("--learning-rate", type=float, default=3e-3, help="of Adam (0.003)")
    option("--dropout", type=float, default=0.0, help="while it learns (0)")
    option("--save", type=Path, metavar="FOLDER", help="keeps what was learned, for --weights")
    parser.set_defaults(tokenizer=None, capacity=None)


def run(arguments: argparse.Namespace) -> None:
    parameters = _parameters(arguments)
    vocabulary = parameters["encoder.weight"].shape[0]
    text = Bytes(arguments, vocabulary, None)
    if arguments.train > 0:
        parameters = train(arguments, parameters)
    if arguments.save is not None:
        save(arguments.save, parameters)
    seconds = text.write(lstm.Reader(parameters, **running.staying_on(arguments)))
    theirs = functools.partial(_torchs_seconds_per_token, arguments, parameters, text)
    running.report(arguments, "token", seconds, theirs)


class Bytes(Text):
    """A text of bytes."""

    def _text_of(self, generated: list[int]) -> str:
        written = bytes([*self.prompt, *(token % 256 for token in generated)])
        return written.decode(errors="replace")


def _parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    sizes = running.sizes_of(arguments, KEYS, TINY)
    if arguments.weights is None:
        return as_tensors(lstm.create_parameters(seed=arguments.seed, **sizes))
    shapes = lstm.parameter_shapes(**sizes)
    if read_config(arguments.weights).get("tie_weights"):
        del shapes["decoder.weight"]
    return running.parameters_for(arguments, shapes, lstm.convert_parameters_to_numpy)


# ----- learning


def batches(ids: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
    """For ever: ids (batch, tokens), those that follow them, and whether a text begins. The text is
    cut into as many columns as the batch has, which are read side by side. ValueError: it is too
    short."""
    length = (len(ids) - 1) // BATCH
    if length < 1:
        raise ValueError(
            f"the text has {len(ids)} bytes. At least {BATCH + 1} are required to learn it."
        )
    tokens = min(LENGTH, length)
    columns = ids[: BATCH * length].reshape(BATCH, length)
    following = ids[1 : BATCH * length + 1].reshape(BATCH, length)
    while True:
        for start in range(0, length - tokens + 1, tokens):
            part = slice(start, start + tokens)
            yield columns[:, part], following[:, part], start == 0


def train(arguments: argparse.Namespace, parameters: dict[str, Any]) -> dict[str, Any]:
    """Learns the text in --train steps: Adam over truncated sequences, each beginning with the
    state that the one before ended with."""
    ids = _ids(arguments, parameters["encoder.weight"].shape[0])
    optimizer = nn.clipping(nn.adam(arguments.learning_rate), 1.0)
    names, key = list(parameters), random.key(arguments.seed)
    dropout = arguments.dropout

    def step(
        ids: Any, following: Any, weights: Any, optimizer_state: Any, state: Any, number: Any
    ) -> Any:
        options = {"dropout": dropout, "key": random.fold_in(key, number)} if dropout else {}
        named = dict(zip(names, weights))
        loss, after = lstm.loss_of(ids, following, named, state, **options)
        gradients = nn.chain_rule({loss: loss}, weights)
        return loss, *optimizer.step(weights, gradients, optimizer_state), after

    learn = composit.compile(step, name="lstm_training_step", backend=running.backend_of(arguments))
    weights: Any = [np.asarray(value) for value in parameters.values()]
    optimizer_state: Any = [
        np.asarray(value) for value in optimizer.initial_state(list(parameters.values()))
    ]
    losses, taken, state = [], [], lstm.empty_state(parameters, BATCH)
    steps = range(arguments.train)
    stream = zip(steps, batches(ids))
    for number, (read, following, begins) in running.progress(
        stream, total=len(steps), unit="step", title="learning"
    ):
        state = lstm.empty_state(parameters, BATCH) if begins else state
        start = time.perf_counter()
        loss, weights, optimizer_state, state = learn(
            read, following, weights, optimizer_state, state, np.int64(number)
        )
        losses.append(float(loss))
        taken.append(time.perf_counter() - start)
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")
    theirs = functools.partial(_torchs_seconds_per_step, arguments, parameters, ids)
    running.report(arguments, "step", float(np.median(taken[1:] or taken)), theirs)
    return as_tensors(dict(zip(names, weights)))


def _ids(arguments: argparse.Namespace, vocabulary: int) -> np.ndarray:
    text = TEXT.encode() if arguments.text is None else arguments.text.read_bytes()
    ids = np.frombuffer(text, np.uint8).astype(np.int64)
    if len(ids) and ids.max() >= vocabulary:
        raise ValueError(f"the text has the byte {ids.max()}; the model knows {vocabulary}.")
    return ids


def save(folder: Path, parameters: dict[str, Any]) -> None:
    """config.json, and the weights in PyTorch's layout."""
    words, hidden = parameters["encoder.weight"], parameters["rnn.weight_hh_l0"]
    is_tied = "decoder.weight" not in parameters
    config = {
        "model_type": "lstm",
        "num_layers": sum(name.startswith("rnn.weight_hh_l") for name in parameters),
        "hidden_size": hidden.shape[1],
        "embedding_size": words.shape[1],
        "vocab_size": words.shape[0],
        "tie_weights": is_tied,
    }
    arrays = {name: np.asarray(value) for name, value in parameters.items()}
    if not is_tied:
        arrays["decoder.weight"] = np.ascontiguousarray(arrays["decoder.weight"].T)
    folder.mkdir(parents=True, exist_ok=True)
    nn.save_safetensors(folder / "model.safetensors", arrays)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


# ----- PyTorch's times


def torch_model(parameters: dict[str, Any]) -> Any:
    """The same model of torch.nn's layers."""
    import torch

    vocabulary, inputs = parameters["encoder.weight"].shape
    width = parameters["rnn.weight_hh_l0"].shape[1]
    layers = sum(name.startswith("rnn.weight_hh_l") for name in parameters)

    class LanguageModel(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = torch.nn.Embedding(vocabulary, inputs)
            self.rnn = torch.nn.LSTM(inputs, width, layers, batch_first=True)
            self.decoder = torch.nn.Linear(width, vocabulary)

        def forward(self, ids: Any, state: Any = None) -> Any:
            output, after = self.rnn(self.encoder(ids), state)
            return self.decoder(output), after

    model = LanguageModel()
    state = running.torch_state(parameters, lambda name, _: name == "decoder.weight")
    if "decoder.weight" not in state:
        model.decoder.weight = model.encoder.weight
        state["decoder.weight"] = state["encoder.weight"]
    model.load_state_dict(state)
    return model


def _torchs_seconds_per_token(
    arguments: argparse.Namespace, parameters: dict[str, Any], text: Text
) -> float:
    import torch

    model = torch_model(parameters).eval()
    with torch.inference_mode():
        ids = torch.from_numpy(text.prompt)[None]
        _, state = model(ids)
        return running.seconds_of(lambda: model(ids[:, -1:], state), calls=max(arguments.tokens, 3))


def _torchs_seconds_per_step(
    arguments: argparse.Namespace, parameters: dict[str, Any], ids: np.ndarray
) -> float:
    import torch

    model = torch_model(parameters)
    optimizer = torch.optim.Adam(model.parameters(), arguments.learning_rate)
    read, following, _ = next(batches(ids))
    inputs, targets = torch.from_numpy(read.copy()), torch.from_numpy(following.copy())

    def step() -> float:
        optimizer.zero_grad()
        logits, _ = model(inputs)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return float(loss.detach())

    return running.seconds_of(step, calls=min(arguments.train, 10))
