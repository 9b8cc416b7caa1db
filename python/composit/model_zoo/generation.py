"""Text from decoders: one token after the other, chosen by their likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

import composit
import composit._core as _core
from composit.model_zoo.caching import Cache

CHUNK = 16  # tokens of a prompt that are read at a time


class Reader(Protocol):
    """What reads tokens and says what may follow those it has read."""

    def read(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Logits (vocabulary,) of the next token."""


class Decoder:
    """A model ready to read tokens and to say what may follow. `model(ids, cache=, position=)`
    returns logits and the cache, as `gpt2` and `llama` do. It is compiled for one token and for
    chunks of a prompt; the cache, which is left as it is, says how many tokens a text may have."""

    def __init__(self, model: Callable[..., Any], cache: Cache, **options: Any) -> None:
        def step(ids: Any, cache: Cache, position: Any) -> Any:
            logits, updated = model(ids, cache=cache, position=position)
            return logits[:, -1], updated

        # Rows are written where the cache lies, not into a copy.
        self._step = composit.compile(step, name="decoder_step", donate=1, **options)
        self._kinds = [(array.shape, array.dtype) for pair in cache for array in pair]
        self.capacity: int = cache[0][0].shape[2]
        self.reset()

    def reset(self) -> None:
        """Forgets the text."""
        arrays = iter([np.zeros(shape, dtype) for shape, dtype in self._kinds])
        self._cache: Cache = list(zip(arrays, arrays))
        self.position = 0

    def read(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """The logits (vocabulary,) of what follows these tokens and those read before. ValueError:
        there are none, or more than the capacity."""
        ids = np.asarray(ids, np.int64).reshape(1, -1)
        count, free = ids.shape[1], self.capacity - self.position
        if not 1 <= count <= free:
            raise ValueError(
                f"Decoder.read: {count} tokens after {self.position}, in a cache of "
                f"{self.capacity}. There must be from 1 to {free}."
            )
        return read_in_chunks(ids, self._read)

    def _read(self, ids: np.ndarray) -> Any:
        logits, self._cache = self._step(ids, self._cache, np.int64(self.position))
        self.position += ids.shape[1]
        return logits


def read_in_chunks(ids: np.ndarray, read: Callable[[np.ndarray], Any]) -> np.ndarray:
    """The last row that read(part) gives, of ids (1, tokens) in chunks, then of one each."""
    whole = ids.shape[1] // CHUNK * CHUNK
    ends = [*range(CHUNK, whole + 1, CHUNK), *range(whole + 1, ids.shape[1] + 1)]
    parts = np.split(ids, ends[:-1], axis=1)
    return np.asarray([read(part) for part in parts][-1])[0]


def generate(
    decoder: Reader,
    prompt: Sequence[int] | np.ndarray,
    *,
    num_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    stop: int | None = None,
) -> Iterator[int]:
    """The tokens that follow the prompt, at most num_tokens, as soon as each is known; `stop` is
    the last, where it comes. Options as those of `choose`. Without a temperature (0), the
    likeliest."""
    random = np.random.default_rng(seed)
    logits = decoder.read(prompt)
    for i in range(num_tokens):
        token = choose(logits, random, temperature=temperature, top_k=top_k, top_p=top_p)
        yield token
        if token == stop or i == num_tokens - 1:
            return
        logits = decoder.read([token])


def choose(
    logits: np.ndarray,
    random: np.random.Generator,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> int:
    """One token, drawn by the likelihoods softmax(logits / temperature) of the top_k likeliest, and
    of these of the fewest that together have at least top_p (Holtzman et al. 2020). Temperature 0:
    the likeliest, the first of equals. ValueError: an option outside its range."""
    return _core.nn.choose_token(logits, random.random, temperature, top_k, top_p)
