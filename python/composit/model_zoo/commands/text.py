"""`gpt2` and `llama`: text from decoders, token by token, with the time that each takes."""

from __future__ import annotations

import argparse
import functools
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from composit.model_zoo import gpt2, llama
from composit.model_zoo.caching import empty_cache
from composit.model_zoo.commands import running
from composit.model_zoo.generation import Decoder, Reader, generate

GPT2_KEYS = {
    "num_layers": "n_layer", "width": "n_embd", "vocab_size": "vocab_size",
    "max_length": "n_positions", "num_heads": "n_head",
}  # fmt: skip
LLAMA_KEYS = {
    "num_layers": "num_hidden_layers", "width": "hidden_size", "vocab_size": "vocab_size",
    "num_heads": "num_attention_heads", "num_key_heads": "num_key_value_heads",
    "hidden_width": "intermediate_size", "theta": "rope_theta", "epsilon": "rms_norm_eps",
}  # fmt: skip
TINY_GPT2 = {"num_layers": 2, "width": 64, "vocab_size": 256, "max_length": 256, "num_heads": 2}
TINY_LLAMA = {
    "num_layers": 2, "width": 64, "vocab_size": 256, "num_heads": 4, "num_key_heads": 2,
    "hidden_width": 160,
}  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    running.add_common(parser, tiny="two layers of width 64")
    add_writing(parser)
    option = parser.add_argument
    option(
        "--tokenizer",
        type=Path,
        metavar="FILE",
        help="tokenizer.json (that of --weights, where it has one); needs the package tokenizers. "
        "Without it each byte of the prompt is a token",
    )
    option("--capacity", type=int, help="of the cache, in tokens (what the text needs)")


def add_writing(parser: argparse.ArgumentParser) -> None:
    """The options of every command that writes a text."""
    option = parser.add_argument
    option("--prompt", default="Once upon a time", help="what the text begins with")
    option("--tokens", type=int, default=32, help="how many follow the prompt, at most (32)")
    option("--temperature", type=float, default=1.0, help="0: always the likeliest (1)")
    option("--top-k", type=int, help="only the K likeliest tokens")
    option("--top-p", type=float, help="only the fewest tokens that have this likelihood together")


def run_gpt2(arguments: argparse.Namespace) -> None:
    sizes = {"num_heads": 12} | running.sizes_of(arguments, GPT2_KEYS, TINY_GPT2)
    num_heads = sizes.pop("num_heads")
    shapes = gpt2.parameter_shapes(**sizes)
    parameters = running.parameters_for(arguments, shapes, gpt2.convert_parameters_to_numpy)
    vocabulary, width = shapes["transformer.wte.weight"]
    longest = shapes["transformer.wpe.weight"][0]
    text = Text(arguments, vocabulary, longest)
    layers = sum(name.endswith("c_attn.bias") for name in shapes)
    cache = empty_cache(layers, num_heads, width // num_heads, capacity=text.capacity)
    model = functools.partial(gpt2.gpt2, parameters=parameters, num_heads=num_heads)
    seconds = text.write(Decoder(model, cache, **running.staying_on(arguments)))

    def theirs() -> float:
        from transformers import GPT2Config, GPT2LMHeadModel

        config = GPT2Config(
            n_embd=width,
            n_layer=layers,
            n_head=num_heads,
            vocab_size=vocabulary,
            n_positions=longest,
            bos_token_id=0,
            eos_token_id=0,
        )
        state = running.torch_state(parameters, lambda *_: False)
        state["lm_head.weight"] = state["transformer.wte.weight"]
        return torchs_seconds(arguments, GPT2LMHeadModel, config, state, text)

    running.report(arguments, "token", seconds, theirs, "transformers")


def run_llama(arguments: argparse.Namespace) -> None:
    sizes = {"num_heads": 8} | running.sizes_of(arguments, LLAMA_KEYS, TINY_LLAMA)
    constants = {key: sizes.pop(key) for key in ("theta", "epsilon") if key in sizes}
    shapes = llama.parameter_shapes(**sizes)
    num_heads = sizes["num_heads"]
    vocabulary, width = shapes["model.embed_tokens.weight"]
    is_tied = False
    if arguments.weights is not None:
        from composit.model_zoo.commands.files import read_config

        is_tied = bool(read_config(arguments.weights).get("tie_word_embeddings"))
    if is_tied:
        del shapes["lm_head.weight"]
    parameters = running.parameters_for(arguments, shapes, llama.convert_parameters_to_numpy)
    text = Text(arguments, vocabulary, None)
    layers = sum(name.endswith("input_layernorm.weight") for name in shapes)
    head_size = width // num_heads
    num_key_heads = shapes["model.layers.0.self_attn.k_proj.weight"][1] // head_size
    cache = empty_cache(layers, num_key_heads, head_size, capacity=text.capacity)
    model = functools.partial(llama.llama, parameters=parameters, num_heads=num_heads, **constants)
    seconds = text.write(Decoder(model, cache, **running.staying_on(arguments)))

    def theirs() -> float:
        from transformers import LlamaConfig, LlamaForCausalLM

        config = LlamaConfig(
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=num_heads,
            num_key_value_heads=num_key_heads,
            intermediate_size=shapes["model.layers.0.mlp.up_proj.weight"][1],
            vocab_size=vocabulary,
            tie_word_embeddings=is_tied,
        )
        state = running.torch_state(parameters, lambda name, _: "embed_tokens" not in name)
        return torchs_seconds(arguments, LlamaForCausalLM, config, state, text)

    running.report(arguments, "token", seconds, theirs, "transformers")


class Text:
    """The prompt as tokens, and what follows it."""

    def __init__(self, arguments: argparse.Namespace, vocabulary: int, longest: int | None) -> None:
        self.arguments, self.tokenizer = arguments, _tokenizer(arguments)
        if self.tokenizer is not None:
            self.prompt = np.array(self.tokenizer.encode(arguments.prompt).ids, np.int64)
        else:
            self.prompt = np.frombuffer(arguments.prompt.encode(), np.uint8).astype(np.int64)
        if not len(self.prompt):
            raise ValueError("--prompt is empty. At least one token is required.")
        if self.prompt.max() >= vocabulary:
            raise ValueError(
                f"--prompt has the token {self.prompt.max()}; the model knows {vocabulary}."
            )
        needed = len(self.prompt) + arguments.tokens
        self.capacity = needed if arguments.capacity is None else arguments.capacity
        if self.capacity < needed or (longest is not None and self.capacity > longest):
            limit = "" if longest is None else f" and at most {longest}, which the model knows"
            raise ValueError(
                f"the cache is for {self.capacity} tokens. It must be at least {needed}{limit}."
            )

    def write(self, decoder: Reader) -> float:
        """Prints the text as it comes; returns seconds per token, the first left out."""
        a = self.arguments
        generated, taken = [], []
        tokens = generate(
            decoder,
            self.prompt,
            num_tokens=a.tokens,
            temperature=a.temperature,
            top_k=a.top_k,
            top_p=a.top_p,
            seed=a.seed,
        )
        start = time.perf_counter()
        for token in running.progress(tokens, total=a.tokens, unit="token", title="writing"):
            taken.append(time.perf_counter() - start)
            generated.append(token)
            start = time.perf_counter()
        print(self._text_of(generated))
        # The first two also compile: for the prompt, and for one token.
        return float(np.median(taken[2:] or taken))

    def _text_of(self, generated: list[int]) -> str:
        if self.tokenizer is not None:
            return self.tokenizer.decode([*self.prompt, *generated])
        return f"{self.arguments.prompt!r} {' '.join(map(str, generated))}"


def _tokenizer(arguments: argparse.Namespace) -> Any:
    file = arguments.tokenizer
    if file is None and arguments.weights is not None:
        file = arguments.weights / "tokenizer.json"
        file = file if file.exists() else None
    if file is None:
        return None
    try:
        from tokenizers import Tokenizer
    except ImportError:
        sys.exit("a tokenizer.json needs the package tokenizers: pip install tokenizers")
    if not file.exists():
        raise FileNotFoundError(f"{file}: no such file")
    return Tokenizer.from_file(str(file))


def torchs_seconds(
    arguments: argparse.Namespace, model_class: Any, config: Any, state: Any, text: Text
) -> float:
    """PyTorch's time for one token after a text of this length, with its own cache."""
    import torch

    model = model_class(config).eval()
    model.load_state_dict(state)
    with torch.inference_mode():
        ids = torch.from_numpy(text.prompt)[None]
        cache = model(ids, use_cache=True).past_key_values
        token, taken = ids[:, -1:], []
        for _ in range(max(arguments.tokens, 3)):
            start = time.perf_counter()
            output = model(token, past_key_values=cache, use_cache=True)
            taken.append(time.perf_counter() - start)
            cache = output.past_key_values
    return float(np.median(taken[1:]))
