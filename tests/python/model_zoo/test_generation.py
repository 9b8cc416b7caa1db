"""Text from decoders: PyTorch's where it is certain, and draws of the likelihoods asked for."""

import functools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from model_zoo_peers import gpt2, integers

from composit import model_zoo
from composit.model_zoo.caching import empty_cache
from composit.model_zoo.generation import Decoder, choose, generate

PEER = gpt2()


@pytest.fixture(scope="module")
def decoder():
    parameters = model_zoo.gpt2.convert_parameters_to_numpy(PEER)
    model = functools.partial(model_zoo.gpt2.gpt2, parameters=parameters, num_heads=2)
    return Decoder(model, empty_cache(2, 2, 8, capacity=32))


@pytest.mark.parametrize("length", [1, 5, 16, 19])
def test_the_likeliest_tokens_are_those_of_transformers(decoder, length):
    prompt = integers(40, length, seed=length)
    theirs = PEER.generate(
        torch.from_numpy(prompt)[None],
        attention_mask=torch.ones(1, length, dtype=torch.long),
        max_new_tokens=12,
        min_new_tokens=12,
        do_sample=False,
        eos_token_id=None,
    )[0, length:]
    decoder.reset()
    assert list(generate(decoder, prompt, num_tokens=12, temperature=0)) == theirs.tolist()


def test_the_same_seed_writes_the_same_text(decoder):
    def text(seed):
        decoder.reset()
        return list(generate(decoder, [1, 2, 3], num_tokens=10, top_k=20, top_p=0.9, seed=seed))

    assert text(4) == text(4) != text(5)


def test_it_ends_with_the_token_that_stops_it(decoder):
    decoder.reset()
    whole = list(generate(decoder, [7], num_tokens=10, temperature=0))
    decoder.reset()
    stop = whole[3]
    ended = list(generate(decoder, [7], num_tokens=10, temperature=0, stop=stop))
    assert ended == whole[: whole.index(stop) + 1]


def test_texts_longer_than_the_cache(decoder):
    decoder.reset()
    decoder.read(range(30))
    with pytest.raises(ValueError) as raised:
        decoder.read([1, 2, 3])
    assert str(raised.value) == (
        "Decoder.read: 3 tokens after 30, in a cache of 32. There must be from 1 to 2."
    )


@pytest.mark.parametrize("top_p", [None, 0.5])
def test_logits_without_likelihoods(top_p):
    """The greatest, as NumPy orders them."""
    random = np.random.default_rng(3)
    for logits in ([1, np.inf], [np.inf, 1, 2], [-np.inf, -np.inf], [np.nan, np.nan]):
        expected = int(np.argmax(np.array(logits)))
        assert choose(np.array(logits), random, top_p=top_p) == expected
        assert choose(np.array(logits), random, temperature=0) == expected
    assert choose(np.array([1, np.nan, 2]), random, temperature=0) == 1


@given(st.integers(0, 2**32), st.floats(0.2, 3), st.integers(1, 9), st.floats(0.05, 1))
def test_draws_are_as_likely_as_asked_for(seed, temperature, top_k, top_p):
    random = np.random.default_rng(seed)
    logits = random.standard_normal(8).astype(np.float32)
    # The obvious way, over all tokens.
    likely = np.exp(logits.astype(np.float64) / temperature)
    order = np.argsort(-likely, kind="stable")
    allowed = list(order[:top_k])
    within = likely[allowed] / likely[allowed].sum()
    while len(allowed) > 1 and within[: len(allowed) - 1].sum() >= top_p:
        allowed.pop()
    draws = [
        choose(logits, random, temperature=temperature, top_k=top_k, top_p=top_p)
        for _ in range(200)
    ]
    assert set(draws) <= set(map(int, allowed))
    expected = likely[allowed] / likely[allowed].sum()
    for token, chance in zip(allowed, expected):
        deviation = np.sqrt(chance * (1 - chance) / 200)
        assert abs(draws.count(token) / 200 - chance) < 6 * deviation + 1e-9


@pytest.mark.parametrize(
    "options, message",
    [
        ({"temperature": -1.0}, "choose: temperature is -1.0. It must be 0 or more, and finite."),
        ({"top_k": 0}, "choose: top_k is 0. It must be at least 1."),
        ({"top_p": 0.0}, "choose: top_p is 0.0. It must be above 0 and at most 1."),
    ],
)
def test_options_outside_their_range(options, message):
    with pytest.raises(ValueError) as raised:
        choose(np.zeros(3, np.float32), np.random.default_rng(0), **options)
    said, _, line = str(raised.value).partition(" [")
    assert said == message and line.startswith("test_generation.py:")
