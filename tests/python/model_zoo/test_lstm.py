"""The zoo's LSTM language model: PyTorch's of the same weights, traced too; learning, writing."""

import re

import numpy as np
import pytest
import torch
from model_zoo_peers import assert_close, integers

import composit
import composit.numpy as cnp
from composit import flashlight, nn
from composit.model_zoo import lstm
from composit.model_zoo.__main__ import main
from composit.model_zoo.commands import language
from composit.model_zoo.generation import generate


class Peer(torch.nn.Module):
    """As PyTorch's example for language models."""

    def __init__(self, layers=2, is_tied=False):
        super().__init__()
        torch.manual_seed(layers)
        self.encoder = torch.nn.Embedding(50, 24)
        self.rnn = torch.nn.LSTM(24, 24, layers, batch_first=True)
        self.decoder = torch.nn.Linear(24, 50)
        if is_tied:
            self.decoder.weight = self.encoder.weight

    def forward(self, ids, state=None):
        output, after = self.rnn(self.encoder(ids), state)
        return self.decoder(output), after


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_values_are_pytorchs(layers, is_tied):
    peer, ids = Peer(layers, is_tied), integers(50, 2, 9)
    parameters = lstm.convert_parameters_to_numpy(peer)
    assert ("decoder.weight" in parameters) == (not is_tied)
    theirs, (h, c) = peer(torch.from_numpy(ids))
    assert_close(cnp.evaluate(lstm.lstm(ids, parameters)), theirs)
    state = lstm.empty_state(parameters, 2)
    first, state = lstm.lstm(ids[:, :4], parameters, state=state)
    second, state = lstm.lstm(ids[:, 4:], parameters, state=state)
    assert_close(cnp.evaluate(cnp.concatenate([first, second], axis=1)), theirs)
    assert_close(cnp.evaluate(state[0]), h)
    assert_close(cnp.evaluate(state[1]), c)


def test_the_traced_model_is_the_one_by_hand():
    peer, ids = Peer().eval(), integers(50, 2, 9)
    traced = flashlight.trace(peer, torch.from_numpy(ids))
    logits, _ = traced(ids)
    parameters = lstm.convert_parameters_to_numpy(peer)
    assert_close(cnp.evaluate(lstm.lstm(ids, parameters)), torch.from_numpy(np.array(logits)))


def test_steps_of_training_are_pytorchs():
    peer, ids, following = Peer(), integers(50, 3, 7), integers(50, 3, 7, seed=1)
    parameters = lstm.convert_parameters_to_numpy(peer)
    weights, names = list(parameters.values()), list(parameters)
    optimizer = nn.adam(0.01)
    state = composit.evaluate(*optimizer.initial_state([cnp.asarray(w) for w in weights]))
    theirs = torch.optim.Adam(peer.parameters(), 0.01)

    def step(weights, state):
        named = dict(zip(names, weights))
        loss, _ = lstm.loss_of(ids, following, named, lstm.empty_state(named, 3))
        gradients = nn.chain_rule({loss: loss}, weights)
        return loss, *optimizer.step(weights, gradients, state)

    learn = composit.compile(step)
    for _ in range(4):
        loss, weights, state = learn(weights, state)
        theirs.zero_grad()
        logits, _ = peer(torch.from_numpy(ids))
        expected = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), torch.from_numpy(following).flatten()
        )
        expected.backward()
        theirs.step()
        assert abs(loss - expected.item()) < 1e-5
    for name, value in lstm.convert_parameters_to_numpy(peer).items():
        np.testing.assert_allclose(weights[names.index(name)], value, rtol=0, atol=2e-4)


def test_the_sequence_is_one_loop():
    parameters = lstm.create_parameters(num_layers=2, width=8, vocab_size=20)
    counts = {
        len(lstm.lstm(np.zeros((1, length), np.int64), parameters).graph) for length in (4, 400)
    }
    assert len(counts) == 1


def test_dropout_is_drawn_by_its_key():
    parameters, ids = (
        lstm.create_parameters(num_layers=2, width=8, vocab_size=20),
        integers(20, 1, 5),
    )
    first, same, other, none = (
        cnp.evaluate(lstm.lstm(ids, parameters, dropout=rate, key=composit.random.key(seed)))
        for rate, seed in ((0.5, 0), (0.5, 0), (0.5, 1), (0.0, 0))
    )
    assert first.tobytes() == same.tobytes()
    assert not np.allclose(first, other) and not np.allclose(first, none)


@pytest.mark.parametrize("length", [1, 16, 19])
def test_the_likeliest_tokens_are_pytorchs(length):
    peer, prompt = Peer().eval(), integers(50, length, seed=length)
    reader = lstm.Reader(lstm.convert_parameters_to_numpy(peer))
    ours = list(generate(reader, prompt, num_tokens=10, temperature=0))
    theirs = []
    with torch.no_grad():
        logits, state = peer(torch.from_numpy(prompt)[None])
        for _ in range(10):
            theirs.append(int(logits[0, -1].argmax()))
            logits, state = peer(torch.tensor([[theirs[-1]]]), state)
    assert ours == theirs
    reader.reset()
    assert list(generate(reader, prompt, num_tokens=10, temperature=0)) == ours
    with pytest.raises(ValueError, match=r"Reader\.read: there are no tokens"):
        reader.read([])


def test_it_learns_a_text_keeps_it_and_goes_on(tmp_path, capsys):
    text, folder = tmp_path / "text", tmp_path / "learned"
    text.write_bytes(b"one two three four five six seven eight nine ten " * 40)
    options = ["--threads", "1", "--no-torch", "--temperature", "0", "--prompt", "one two "]
    options += ["--tokens", "18"]
    learned = [
        "--tiny",
        "--train",
        "400",
        "--learning-rate",
        "0.01",
        "--text",
        str(text),
        "--save",
        str(folder),
    ]
    main(["lstm", *learned, *options])
    printed = capsys.readouterr().out
    first, last = map(float, re.search(r"loss (\S+) at first, (\S+) after", printed).groups())
    assert last < 0.2 * first and re.search(r"ms per step\n", printed)
    assert "one two three four five si" in printed
    main(["lstm", "--weights", str(folder), *options])
    assert "one two three four five si" in capsys.readouterr().out
    file = nn.load_safetensors(folder / "model.safetensors")
    assert file["decoder.weight"].shape == (256, 64)  # as PyTorch has it
    loaded = torch.nn.Linear(64, 256)
    assert loaded.weight.shape == file["decoder.weight"].shape


def test_the_story_is_learned_beside_pytorch(capsys):
    main(["lstm", "--tiny", "--train", "3", "--threads", "1", "--tokens", "2"])
    assert re.search(r"ms per step; PyTorch .* times as long\n", capsys.readouterr().out)


def test_texts_that_cannot_be_learned(tmp_path):
    (tmp_path / "short").write_bytes(b"short")
    with pytest.raises(SystemExit, match=r"the text has 5 bytes\. At least 9 are required"):
        main(["lstm", "--tiny", "--train", "1", "--text", str(tmp_path / "short")])
    with pytest.raises(SystemExit, match="No such file"):
        main(["lstm", "--tiny", "--train", "1", "--text", str(tmp_path / "none")])


def test_batches_are_the_text_in_columns():
    ids = np.arange(language.BATCH * 50 + 1)
    stream = language.batches(ids)
    read, following, begins = next(stream)
    assert begins and read.shape == (language.BATCH, language.LENGTH)
    np.testing.assert_array_equal(following, read + 1)
    np.testing.assert_array_equal(read[:, 0], np.arange(language.BATCH) * 50)
    assert next(stream)[2]  # 50 is less than two lengths: from the beginning again
