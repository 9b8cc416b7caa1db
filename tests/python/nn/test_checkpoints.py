"""Checkpoints: structures that come back as they were, savers that are killed, training resumed."""

import json
import math
import os
import random as pythons
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import safetensors.numpy
from sklearn.datasets import load_digits

import composit
import composit.numpy as cnp
from composit import nn, random


def same(a, b):
    """Equal kinds and bits, all the way down."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and type(a) is float:
        return type(b) is float and a.hex() == b.hex()
    if type(a) is not type(b):
        return False
    if isinstance(a, (np.ndarray, np.generic, composit.LazyTensor)):
        x, y = (np.asarray(v) for v in (a, b))
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    return a == b


def test_structures_come_back(tmp_path):
    generator = np.random.MT19937(3)
    checkpoint = {
        "weights": {"w": np.ones((2, 3), "float32"), "b": cnp.zeros(3)},
        "state": [cnp.asarray(7), (np.float32(1.5), None, True)],
        "key": random.key(5),
        "step": 12,
        "rate": 0.1,
        "odd": [math.nan, math.inf, -0.0, 5e-324, 2**200, "text ü", ""],
        3: {},
        "generator": generator.state,
        "none": np.zeros((0, 2), "int8"),
    }
    nn.save_checkpoint(tmp_path / "c", checkpoint)
    found = nn.load_checkpoint(tmp_path / "c")
    assert same(found, checkpoint)
    assert same(nn.load_checkpoint(tmp_path / "c", like=checkpoint), checkpoint)
    again = np.random.MT19937(0)
    again.state = found["generator"]
    assert again.random_raw() == generator.random_raw()
    assert safetensors.numpy.load_file(tmp_path / "c")["weights.w"].tolist() == [[1] * 3] * 2
    nn.save_checkpoint(tmp_path / "c", np.ones(2))
    assert same(nn.load_checkpoint(tmp_path / "c"), np.ones(2))


def test_structures_that_do_not_fit(tmp_path):
    nn.save_checkpoint(tmp_path / "c", {"weights": [np.ones(2), np.ones(3)], "step": np.int64(3)})
    like = {"weights": [np.ones(2), np.ones(4)], "stop": np.int64(3)}
    with pytest.raises(ValueError) as raised:
        nn.load_checkpoint(tmp_path / "c", like)
    text = str(raised.value)
    assert "load_checkpoint: 3 of the weights do not fit" in text
    assert "'stop' is missing (near it: 'step')" in text
    assert "'weights.1' is float64(3,) in place of float64(4,)" in text


@pytest.mark.parametrize(
    "value, error, message",
    [
        ({"a": object()}, TypeError, "save_checkpoint: a is object"),
        ({"a": [1, {2}]}, TypeError, "save_checkpoint: a.1 is set"),
        ({1.5: 2}, TypeError, "has the key 1.5"),
        ({"a": {"b": np.ones(1)}, "a.b": np.ones(1)}, ValueError, "two tensors are named 'a.b'"),
        ([np.ones(1) * 1j], NotImplementedError, "tensor '0' is complex128"),
        (np.array(["a"]), TypeError, "array"),
    ],
)
def test_what_cannot_be_saved(tmp_path, value, error, message):
    with pytest.raises(error, match=message):
        nn.save_checkpoint(tmp_path / "c", value)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_checkpoints(tmp_path):
    nn.save_safetensors(tmp_path / "c", {"a": np.ones(1)})
    with pytest.raises(ValueError, match="not written by save_checkpoint"):
        nn.load_checkpoint(tmp_path / "c")
    key = "composit.checkpoint"
    nested = '{"list":[' * 50_000 + "]}" * 50_000
    outlines = ("", "[", "3", "{}", '{"tensor":"b"}', '{"x":1}', '{"float":"z"}', '{"dict":[1]}',
                '{"dict":3}', '{"tensor":[]}', '{"list":1}', nested)  # fmt: skip
    for outline in outlines:
        nn.save_safetensors(tmp_path / "c", {"a": np.ones(1)}, {key: outline})
        with pytest.raises(ValueError, match=r"load_checkpoint: .*its outline is broken"):
            nn.load_checkpoint(tmp_path / "c")


SAVES_FOREVER = """
import sys
import numpy as np
from composit import nn

for number in range(10**9):
    value = np.full(300_000, number % 100, "int64")
    nn.save_checkpoint(sys.argv[1], {"number": number, "value": value, "more": [value] * 3})
    print(number, flush=True)
"""


def test_a_killed_saver_leaves_a_whole_checkpoint(tmp_path):
    path = tmp_path / "c"
    chance = pythons.Random(0)
    for _ in range(12):
        before = nn.load_checkpoint(path)["number"] if path.exists() else -1
        saver = subprocess.Popen(
            [sys.executable, "-c", SAVES_FOREVER, path], stdout=subprocess.PIPE, text=True
        )
        for _ in range(chance.randint(1, 4)):
            last = int(saver.stdout.readline())
        time.sleep(chance.uniform(0, 0.03))
        saver.send_signal(signal.SIGKILL)
        saver.wait()
        last = max([last, *map(int, saver.stdout.read().split())])
        saver.stdout.close()
        found = nn.load_checkpoint(path)
        assert last <= found["number"] <= last + 1, before
        for value in (found["value"], *found["more"]):
            assert value.tolist() == [found["number"] % 100] * 300_000


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    """A limit on the size of files stands for a full disk."""
    path = tmp_path / "c"
    nn.save_checkpoint(path, {"step": 1})
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from composit import nn\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    nn.save_checkpoint(sys.argv[1], {'step': 2, 'big': np.zeros(10**6)})\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert "cannot be written: File too large" in result.stdout
    assert nn.load_checkpoint(path) == {"step": 1}
    assert os.listdir(tmp_path) == ["c"]


TRAINS = '''
"""Trains on digits for 40 steps; dies at the step that is given."""
import os
import signal
import sys

import numpy as np

import composit
import composit.numpy as cnp
from composit import nn, random

digits, path, dies_at = np.load(sys.argv[1]), sys.argv[2], int(sys.argv[3])
images, labels = digits["images"], digits["labels"]
images = (images / 16).astype("float32")
optimizer = nn.adamw(nn.sequential_schedule(
    [nn.linear_schedule(0.02, 5), nn.cosine_schedule(0.02, 35)], [5]))


def step(x, y, weights, state, key):
    hidden = nn.dropout(nn.relu(x @ weights["w1"] + weights["b1"]), 0.2, key)
    loss = nn.cross_entropy(hidden @ weights["w2"] + weights["b2"], y)
    names = sorted(weights)
    gradients = nn.chain_rule({loss: loss}, [weights[n] for n in names])
    gradients, _ = nn.clip_by_global_norm(gradients, 1.0)
    updated, state = optimizer.step([weights[n] for n in names], gradients, state)
    return loss, dict(zip(names, updated)), state


if os.path.exists(path):
    at = nn.load_checkpoint(path)
else:
    k1, k2, key = random.split(random.key(0), 3)
    weights = {"w1": nn.he_normal(k1, (64, 32)), "b1": cnp.zeros(32, "float32"),
               "w2": nn.he_normal(k2, (32, 10)), "b2": cnp.zeros(10, "float32")}
    state = optimizer.initial_state([weights[n] for n in sorted(weights)])
    generator = np.random.default_rng(1)
    at = {"step": 0, "weights": weights, "state": state, "key": key, "losses": [],
          "order": np.arange(len(labels)), "generator": generator.bit_generator.state}
generator = np.random.default_rng()
generator.bit_generator.state = at["generator"]
train = composit.compile(step)
while at["step"] < 40:
    if at["step"] == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)
    if at["step"] % 10 == 0:
        at["order"] = generator.permutation(at["order"])
    rows = at["order"][at["step"] % 10 * 64 :][:64]
    key = random.fold_in(at["key"], at["step"])
    loss, at["weights"], at["state"] = train(
        images[rows], labels[rows], at["weights"], at["state"], key)
    at["losses"].append(float(loss))
    at["step"] += 1
    at["generator"] = generator.bit_generator.state
    if at["step"] % 3 == 0 or at["step"] == 40:
        nn.save_checkpoint(path, at)
'''


def test_training_goes_on_to_the_bit(tmp_path):
    program = tmp_path / "trains.py"
    program.write_text(TRAINS)
    images, labels = load_digits(return_X_y=True)
    digits = tmp_path / "digits.npz"  # scikit-learn takes each process seconds to import
    np.savez(digits, images=images, labels=labels)

    def run(path, dies_at):
        return subprocess.run([sys.executable, program, digits, path, str(dies_at)]).returncode

    assert run(tmp_path / "whole", -1) == 0
    for dies_at in (1, 11, 20, 32):
        assert run(tmp_path / "parts", dies_at) == -signal.SIGKILL
    assert run(tmp_path / "parts", -1) == 0
    whole, parts = (nn.load_checkpoint(tmp_path / name) for name in ("whole", "parts"))
    assert whole["losses"][-1] < 0.5 * whole["losses"][0]
    assert same(whole, parts)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()


def test_outlines_are_json(tmp_path):
    nn.save_checkpoint(tmp_path / "c", {"a": [1, 2.0]})
    _, metadata = nn.load_safetensors(tmp_path / "c", return_metadata=True)
    assert json.loads(metadata["composit.checkpoint"])["dict"][0][0] == "a"
