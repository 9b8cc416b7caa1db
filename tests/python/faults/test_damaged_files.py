"""Files of every kind, damaged in thousands of ways: one error with the path and the reason, or,
where nothing tells the damage, values of the right shapes."""

import gzip
import io
import json
import os
import pickle
import random
import struct
import tempfile
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest

import composit
import composit.torch as torch
from composit import mosaic, nn
from composit.examples.digits.data import DataError, read_idx
from composit.model_zoo.commands.files import read_array

MUTANTS = 1000
DICTIONARY = [b"\0", b"\xff", b"{", b"}", b"[", b"]", b'"', b",", b":", b"-1", b"1e999", b"9" * 30]


@pytest.fixture
def tmp_path(tmp_path):
    """In memory, where there is such a folder: thousands of files are flushed."""
    if not os.path.isdir("/dev/shm"):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def mutants(content, count=MUTANTS, seed=0):
    """Bytes changed, cut, doubled, moved; some of them several times."""
    draw = random.Random(seed)
    for _ in range(count):
        made = bytearray(content)
        for _ in range(draw.choice((1, 1, 1, 2, 5))):
            at = draw.randrange(len(made)) if made else 0
            end = at + draw.choice((1, 2, 8, 64))
            kind = draw.randrange(6)
            if kind == 0 and made:
                made[at] ^= 1 << draw.randrange(8)
            elif kind == 1:
                made[at : at + 1] = draw.choice(DICTIONARY)
            elif kind == 2:
                del made[at:end]
            elif kind == 3:
                made[at:at] = made[at:end]
            elif kind == 4:
                del made[at:]
            else:
                made[at:end] = bytes(draw.randrange(256) for _ in made[at:end])
        if made != content:
            yield bytes(made)


def all_refused_or_read(path, content, read, error=ValueError, count=MUTANTS):
    """Reads every mutant; how many were refused. Any other error than `error` is a failure."""
    refused = 0
    for mutant in mutants(content, count):
        path.write_bytes(mutant)
        try:
            read(path)
        except error as caught:
            refused += 1
            assert str(path) in str(caught), caught
            # A sentence of composit's with a reason, not the repr of something inside.
            assert len(str(caught).replace(str(path), "")) > 25 and type(caught) in (
                error if isinstance(error, tuple) else (error,)
            )
    return refused


STATE = {
    "step": 3,
    "rate": 0.25,
    "names": ("a", None, True),
    "w": np.arange(6.0, dtype="float32").reshape(2, 3),
    "deep": [{"x": np.float64(2), 1: np.array([True, False])}],
}


def test_safetensors(tmp_path):
    path = tmp_path / "w.safetensors"
    nn.save_safetensors(path, {"a": np.ones((2, 3), "float32"), "b": np.arange(4)}, {"k": "v"})

    def read(path):
        composit.evaluate(*nn.load_safetensors(path).values(), always_return_tuple=True)

    refused = all_refused_or_read(path, path.read_bytes(), read, (ValueError, NotImplementedError))
    assert refused > MUTANTS // 2


def test_checkpoints(tmp_path):
    path = tmp_path / "state"
    nn.save_checkpoint(path, STATE)
    assert all_refused_or_read(
        path, path.read_bytes(), nn.load_checkpoint, (ValueError, NotImplementedError)
    )


def outlines(text):
    """Mutants of an outline that are JSON."""
    for mutant in mutants(text.encode(), 3 * MUTANTS):
        try:
            json.loads(mutant)
        except ValueError:
            continue
        yield mutant.decode()
    outline = json.loads(text)

    def places(value):
        """Each place of the structure, as a function that puts something else there."""
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in list(items):
            yield value, key
            if isinstance(item, (dict, list)):
                yield from places(item)

    others = [None, 1, 1.5, "x", [], {}, [1], {"tensor": "w"}, {"dict": [[[], 1]]}, {"what": 1}]
    for place in range(len(list(places(outline)))):
        for other in others:
            changed = json.loads(text)
            holder, key = list(places(changed))[place]
            holder[key] = other
            yield json.dumps(changed)


@pytest.mark.parametrize("kind", ["checkpoint", "torch"])
def test_outlines(tmp_path, kind):
    """Files whose header and tensors are right, whose structure is not."""
    path = tmp_path / "state"
    if kind == "checkpoint":
        nn.save_checkpoint(path, STATE)
        load = nn.load_checkpoint
    else:
        held = {"w": torch.ones(2, 3, requires_grad=True), "n": [torch.tensor([1, 2]), 2 + 1j]}
        torch.save({**held, "s": torch.Size([1, 2]), "d": torch.float32, 3: (None, "t")}, path)
        load = torch.load
    tensors, metadata = nn.load_safetensors(path, copy=True, return_metadata=True)
    ((key, text),) = metadata.items()
    refused = 0
    for outline in dict.fromkeys(outlines(text)):
        nn.save_safetensors(path, tensors, {key: outline})
        try:
            load(path)
        except ValueError as error:
            refused += 1
            function = "load_checkpoint" if kind == "checkpoint" else "load"
            assert str(error).startswith(f"{function}: {path}: its outline is broken: "), error
            assert "is required. [test_damaged_files.py:" in str(error)
    assert refused > 100


@pytest.mark.parametrize(
    ("outline", "reason"),
    [
        ("[", "it is no JSON: Expecting value: line 1 column 2 (char 1)"),
        ("3", "the whole is 3, not an object of one kind"),
        ('{"list":[{"tensor":"b"}]}', "0 is the tensor 'b', which the file does not have"),
        ('{"value":1}', "the tensor 'a' stands nowhere in it"),
        ('{"list":[{"tensor":"a"},{"tensor":"a"}]}',
         "1 is the tensor 'a', which stands in another place, too"),
        ('{"dict":[["k",{"float":"z"}]]}', "k is the float 'z', which is none"),
        ('{"dict":[[1.5,{"value":1}]]}',
         "the whole has the key 1.5, which is no text and no integer"),
        ('{"dict":[["k",{"value":1}],["k",{"value":1}]]}', "the whole has the key 'k' twice"),
        ('{"x":1}', "the whole is of the unknown kind 'x'"),
        ('{"list":[' * 50_000 + "]}" * 50_000, "it is nested too deep"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_outline(tmp_path, outline, reason):
    path = tmp_path / "c"
    nn.save_safetensors(path, {"a": np.ones(1)}, {"composit.checkpoint": outline})
    with pytest.raises(ValueError) as caught:
        nn.load_checkpoint(path)
    wanted = f"load_checkpoint: {path}: its outline is broken: {reason}. A file that "
    assert str(caught.value).startswith(wanted + "save_checkpoint wrote is required. [test_")


def test_torchs_files(tmp_path):
    path = tmp_path / "w.pt"
    torch.save({"w": torch.ones(2, 3), "n": [1, 2.0]}, path)
    content = path.read_bytes()
    errors = (ValueError, NotImplementedError, RuntimeError)
    assert all_refused_or_read(path, content, torch.load, errors)
    # The same from a stream, which has no path.
    for mutant in mutants(content, 200):
        try:
            torch.load(io.BytesIO(mutant))
        except errors as error:
            assert str(error).startswith("load: the stream: ")


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_are_named(tmp_path, protocol):
    """Those of protocols 0 and 1 have no mark; none is followed."""

    class Runs:
        def __reduce__(self):
            return (exec, ("raise AssertionError('it ran')",))

    path = tmp_path / "w.pt"
    for value in ({"w": np.ones(3)}, [1, 2], None, "text", Runs()):
        content = pickle.dumps(value, protocol=protocol)
        path.write_bytes(content)
        for source, name in ((path, str(path)), (io.BytesIO(content), "the stream")):
            with pytest.raises(RuntimeError) as caught:
                torch.load(source)
            assert str(caught.value).startswith(
                f"load: {name}: it is a pickle, which can run code. An archive of PyTorch 1.6 "
            )


def test_schemas(tmp_path):
    path = tmp_path / "schema"
    mosaic.Schema({"x": [mosaic.TileLevel("l2", (64, 64)), mosaic.TileLevel("r", (8, 8), (1, 0))],
                   "weights.0": (16,)}).save(path)  # fmt: skip
    assert all_refused_or_read(path, path.read_bytes(), lambda path: repr(mosaic.Schema.load(path)))


def test_what_is_wrong_with_a_schema(tmp_path):
    path = tmp_path / "schema"
    for content, reason in [
        (b"x: l2 (8)\ny: l2 8, 8\n", "line 2, column 4: 'y: l2 8, 8'. a level's name and ' (' is "
                                     "required there."),
        (b"x: l2 (8)\n\xff: l2 (8)", "byte 10 begins no character of UTF-8. Text is required."),
    ]:  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(ValueError) as caught:
            mosaic.Schema.load(path)
        assert str(caught.value).startswith(f"Schema.load: {path}: {reason} [test_damaged_files.py")
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match=r"it has 1099511627776 bytes\. At most 67108864 are req"):
        mosaic.Schema.load(path)
    with pytest.raises(FileNotFoundError, match=r"Schema\.load: .*none: cannot be read: No such"):
        mosaic.Schema.load(tmp_path / "none")


IMAGES = bytes([0, 0, 8, 3]) + struct.pack(">3I", 4, 3, 3) + bytes(range(36))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx(tmp_path, pack):
    def read(path):
        assert read_idx(tmp_path, "images", 3).ndim == 3

    refused = all_refused_or_read(tmp_path / "images", pack(IMAGES), read, DataError)
    assert refused > MUTANTS // 3


@pytest.mark.parametrize("promised", [(4, 3, 3), (2**32 - 1,) * 3])
def test_unpacking_is_bounded_by_the_header(tmp_path, promised):
    """64 MiB of zeros behind a header that says 36 bytes, or more than there can be."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        file.write(bytes([0, 0, 8, 3]) + struct.pack(">3I", *promised))
        for _ in range(64):
            file.write(bytes(1 << 20))
    (tmp_path / "images").write_bytes(packed.getvalue())
    tracemalloc.start()
    with pytest.raises(DataError) as caught:
        read_idx(tmp_path, "images", 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20
    reason = "has data behind" if promised == (4, 3, 3) else "is cut off: shape"
    assert f"images {reason}" in str(caught.value)


def test_npy(tmp_path):
    path = tmp_path / "image.npy"
    np.save(path, np.arange(12.0).reshape(3, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of headers that Python 2 wrote
        assert all_refused_or_read(path, path.read_bytes(), read_array, ValueError)
    path.write_bytes(pickle.dumps([1], protocol=0))
    with pytest.raises(ValueError, match="pickled"):
        read_array(path)
    np.savez(tmp_path / "image.npz", a=1)
    with pytest.raises(ValueError, match=r"A \.npy file of real numbers is required"):
        read_array(tmp_path / "image.npz")
