"""Files of PyTorch's torch.save are read as PyTorch reads them; those of strangers run no code;
whole modules and objects of users' classes are saved and loaded."""

import argparse
import io
import os
import pickle
import random
import sys
import zipfile
from collections import Counter, OrderedDict, defaultdict
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import peer, plain, torch


def saved(value, save=peer.save):
    file = io.BytesIO()
    save(value, file)
    return file.getvalue()


def loaded(content, **options):
    return torch.load(io.BytesIO(content), **options)


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128", "uint16", "float8_e4m3fn",
          "float8_e5m2")  # fmt: skip


_named = (peer.dtype, peer.device, torch.dtype, torch.device)


def shaped(value):
    if isinstance(value, (peer.Tensor, torch.Tensor)):
        numbers = value.detach().to(
            getattr(
                peer if isinstance(value, peer.Tensor) else torch,
                "complex128" if value.is_complex() else "float64",
            )
        )
        return str(value.dtype), tuple(value.shape), value.requires_grad, numbers.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(shaped(k), shaped(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shaped(v) for v in value]
    return str(value) if isinstance(value, _named) else repr(value)


STRUCTURES = {
    "dtypes": lambda: {n: peer.tensor([0, 1, 1]).to(getattr(peer, n)) for n in DTYPES},
    "layouts": lambda: [peer.arange(24.0).reshape(2, 3, 4).transpose(0, 2), peer.ones(3, 0),
                        peer.arange(10.0)[3:7], peer.ones(1).expand(5), peer.tensor(5.0),
                        peer.arange(6.0).reshape(2, 3)[:, ::2]],
    "containers": lambda: {"a": [1, -5, 2**40, 2.5, None, True, "é", (1, (2,), [])], 7: {1, 2},
                           "size": peer.Size([1, 2]), "kind": peer.float16, (1, 2): b"bytes",
                           "ordered": OrderedDict(x=1), "counted": Counter([1, 1]),
                           "default": defaultdict(list, k=[1]), "z": 1 + 2j,
                           "place": peer.device("cpu"), "bytes": bytearray(b"ab")},
    "module": lambda: peer.nn.Sequential(
        peer.nn.Conv2d(1, 2, 3), peer.nn.BatchNorm2d(2)
    ).state_dict(),
    "parameters": lambda: [peer.nn.Parameter(peer.ones(2)), peer.ones(1, requires_grad=True),
                           peer.nn.Parameter(peer.ones(1), requires_grad=False)],
    "many": lambda: [(i, str(i)) for i in range(2000)],
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURES)
def test_pytorchs_files_are_read(name, tmp_path):
    value = STRUCTURES[name]()
    content = saved(value)
    found = loaded(content)
    assert shaped(found) == shaped(peer.load(io.BytesIO(content), weights_only=False))
    (tmp_path / "a.pt").write_bytes(content)
    assert shaped(torch.load(tmp_path / "a.pt", map_location="cpu")) == shaped(found)


def test_metadata_and_shared_memory_are_kept():
    state = loaded(saved(peer.nn.BatchNorm1d(1).state_dict()))
    assert state._metadata == {"": {"version": 2}} and isinstance(state, OrderedDict)
    base = peer.arange(6.0)
    one, other, row, column = loaded(saved([base, base.detach(), base[2:4], base.view(2, 3)[:, 1]]))
    one[3] = 9
    assert other.tolist() == [0, 1, 2, 9, 4, 5] and row.tolist() == [2, 9]
    column.fill_(-1)
    assert one.tolist() == [0, -1, 2, 9, -1, 5]


def test_a_training_goes_on_from_pytorchs_checkpoint():
    def model(t):
        return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), t.nn.Linear(4, 1))

    x = np.random.default_rng(0).standard_normal((8, 3)).astype("float32")

    def trained(t, net, optimizer, count):
        losses = []
        for _ in range(count):
            optimizer.zero_grad()
            loss = net(t.tensor(x)).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    net = model(peer)
    optimizer = peer.optim.AdamW(net.parameters(), 0.01)
    trained(peer, net, optimizer, 5)
    content = saved({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 5})
    theirs = trained(peer, net, optimizer, 10)
    mine = model(torch)
    checkpoint = loaded(content)
    assert str(mine.load_state_dict(checkpoint["net"])) == "<All keys matched successfully>"
    again = torch.optim.AdamW(mine.parameters(), 0.5)
    again.load_state_dict(checkpoint["optimizer"])
    np.testing.assert_allclose(trained(torch, mine, again, 10), theirs, rtol=1e-5)


class Runs:
    """A pickle that runs code."""

    ran = False

    def __reduce__(self):
        return exec, ("from test_torch_archives import Runs; Runs.ran = True",)


@pytest.mark.parametrize("value", [
    Runs(), {"a": Runs()}, os.getcwd, argparse.Namespace(a=1), peer.nn.Linear(1, 1),
    np.float64(1.0), np.ones(2), range(3),
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_files_that_name_anything_else_are_refused(value):
    content = saved(value)
    with pytest.raises(pickle.UnpicklingError, match=r"load: the stream: it names .*add_safe"):
        loaded(content)
    assert not Runs.ran


class Trusted:
    def __init__(self, a):
        self.a = a


def test_classes_that_users_name_are_read():
    content = saved({"given": argparse.Namespace(lr=0.1), "own": Trusted(peer.ones(2))})
    with torch.serialization.safe_globals([argparse.Namespace, Trusted]):
        found = loaded(content)
    assert found["given"].lr == 0.1 and found["own"].a.tolist() == [1, 1]
    with pytest.raises(pickle.UnpicklingError, match=r"argparse\.Namespace"):
        loaded(content)
    torch.serialization.add_safe_globals([argparse.Namespace, Trusted])
    assert len(torch.serialization.get_safe_globals()) == 2
    assert type(loaded(content)["own"]) is Trusted
    torch.serialization.clear_safe_globals()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.GELU())
        self.head = torch.nn.Linear(3, 2)
        self.head.weight = torch.nn.Parameter(self.body[0].weight.detach().t().clone())
        self.tied = self.head.weight
        self.register_buffer("seen", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        return self.head(self.body(x))


def test_whole_modules_are_saved_and_loaded(tmp_path):
    net = Net()
    given = torch.ones(4, 2)
    for target in (tmp_path / "net.pt", io.BytesIO()):
        torch.save({"net": net, "args": argparse.Namespace(lr=0.1)}, target)
        if isinstance(target, io.BytesIO):
            target.seek(0)
        with pytest.raises(pickle.UnpicklingError, match=r"it names (argparse\.Namespace|.*Net)"):
            torch.load(target)
        if isinstance(target, io.BytesIO):
            target.seek(0)
        found = torch.load(target, weights_only=False)
        assert found["args"].lr == 0.1 and type(found["net"]) is Net
        assert found["net"].tied is found["net"].head.weight
        assert found["net"](given).tolist() == net(given).tolist()
        assert [(n, p.requires_grad) for n, p in found["net"].named_parameters()] == [
            (n, p.requires_grad) for n, p in net.named_parameters()
        ]
    with pytest.raises(
        pickle.UnpicklingError, match=r"PyTorch's torch\.nn\.modules\.linear\.Linear"
    ):
        loaded(saved(peer.nn.Linear(1, 1)), weights_only=False)


def test_parameters_and_counters_stay_what_they_are():
    value = [torch.nn.Parameter(torch.ones(1)), Counter([3, 3]), torch.ones(1)]
    found = loaded(saved(value, torch.save))
    assert isinstance(found[0], torch.nn.Parameter) and found[0].requires_grad
    assert found[1] == Counter([3, 3]) and found[1][7] == 0
    assert not isinstance(found[2], torch.nn.Parameter)


def rewritten(content, change):
    """An archive with other entries."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        entries = {name: old.read(name) for name in old.namelist()}
        change(entries)
        for name, data in entries.items():
            new.writestr(name, data)
    return made.getvalue()


def test_a_pickle_that_asks_for_memory_is_refused():
    def put(text):
        return lambda entries: entries.update({n: text for n in entries if n.endswith("data.pkl")})

    whole = saved(peer.ones(2))
    for text in (
        b"\x80\x02c__builtin__\nbytearray\n\x8a\x06\x00\x00\x00\x00\x00\x01\x85R.",
        b"\x80\x02]r\xff\xff\xff\x7fj\xff\xff\xff\x7f0.", b"\x80\x02" + b"]" * 5000 + b".",
        b"\x80\x02(((t.", b"\x80\x02}(K\x01u.", b"\x80\x02K\x01K\x02\x86Q.", b"\x80\x02K\x01b.",
        b"\x80\x02ctorch\nTensor\n)\x81.", b"\x80\x02ctorch\nfloat32\n)R.", b"",
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"load: the stream: its archive is damaged: \S"):
            loaded(rewritten(whole, put(text)))


def raising(error):
    def location(storage, place):
        raise error

    return location


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("location", [
    raising(KeyError("mine")), raising(ValueError("mine")), raising(RuntimeError("mine")),
    raising(OSError("mine")), lambda storage: storage, {"cpu": "nowhere"},
])  # fmt: skip
def test_errors_of_map_location_are_the_callers(location, weights_only):
    errors = []
    for t in (torch, peer):
        file = io.BytesIO(saved({"a": peer.ones(2)}))
        with pytest.raises(Exception) as caught:
            t.load(file, map_location=location, weights_only=weights_only)
        errors.append(caught.value)
    assert type(errors[0]) is type(errors[1])
    assert str(errors[0]) == str(errors[1]) or isinstance(location, dict)


@pytest.mark.parametrize("share", range(4))
def test_damaged_archives_are_refused_or_read(share):
    """Bytes of the archive, and of the pickle within, are changed: nothing but an error that names
    the file, and no time or memory beyond a file's size."""
    content = saved(STRUCTURES["containers" if share % 2 else "layouts"]())
    draw = random.Random(share)
    refused = 0
    for _ in range(250):
        if share < 2:
            mutant = mutated(content, draw)
        else:
            mutant = rewritten(content, lambda entries: entries.update(
                {n: mutated(x, draw) for n, x in entries.items() if n.endswith("data.pkl")}
            ))  # fmt: skip
        try:
            plain(loaded(mutant))
        except (ValueError, pickle.UnpicklingError, RuntimeError) as error:
            refused += 1
            assert str(error).startswith(("load: the stream: ", "Attempting")), error
            assert "torch_archives.py" in str(error) and len(str(error)) > 60
    assert refused > 100


def mutated(content, draw):
    made = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(made))
        kind = draw.randrange(4)
        if kind == 0:
            made[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            made[at] = draw.choice(b"cRbQqhjr.(tu}])N\x81\x85\x8a\xff")
        elif kind == 2:
            del made[at : at + draw.choice((1, 4, 30))]
        else:
            made[at:at] = made[at : at + draw.choice((1, 4, 30))]
    return bytes(made)


@pytest.mark.parametrize("location", [3, 3.5, [1], True])
def test_a_map_location_that_is_no_place_is_called(location):
    content = saved({"a": peer.ones(2)})
    for load in (peer.load, torch.load):
        with pytest.raises(TypeError, match="object is not callable"):
            load(io.BytesIO(content), map_location=location)


def test_streams_are_not_mapped():
    content = saved({"a": peer.ones(2)})
    for load in (peer.load, torch.load):
        with pytest.raises(ValueError, match="f must be a file path in order to use the mmap"):
            load(io.BytesIO(content), mmap=True)
        assert load(io.BytesIO(content), mmap=False)["a"].tolist() == [1.0, 1.0]
