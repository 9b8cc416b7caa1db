"""torch.utils.data beside PyTorch's, and save and load."""

import io
import pickle
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
import safetensors.numpy
import torch as peer
import torch.utils.data

from composit import torch

BOTH = (torch, peer)
X = np.arange(22, dtype=np.float32).reshape(11, 2)
Pair = namedtuple("Pair", ["first", "second"])


def plain(value):
    """A structure with arrays for tensors."""
    if isinstance(value, (torch.Tensor, peer.Tensor)):
        return (str(value.dtype), value.numpy().tolist())
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def same(function):
    mine, theirs = (plain(function(t)) for t in BOTH)
    assert mine == theirs
    return mine


def dataset(t):
    return t.utils.data.TensorDataset(t.tensor(X), t.arange(11))


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        if index == 77:
            raise KeyError("no such sample")
        return {"n": index, "square": torch.tensor(index**2), "name": f"sample {index}"}


class Lines(torch.utils.data.IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 9, step))


LOADERS = {
    "plain": {}, "batches": {"batch_size": 4}, "whole ones": {"batch_size": 4, "drop_last": True},
    "no batches": {"batch_size": None}, "batch sampler": {"batch_sampler": [[0, 2], [5]]},
    "sampler": {"sampler": [3, 1, 1], "batch_size": 2},
    "collate": {"batch_size": 3, "collate_fn": len},
}  # fmt: skip


@pytest.mark.parametrize("name", LOADERS)
def test_loaders(name):
    def found(t):
        loader = t.utils.data.DataLoader(dataset(t), **LOADERS[name])
        return [len(loader), *loader, *loader]

    same(found)


def test_datasets():
    def found(t):
        d = t.utils.data
        one = dataset(t)
        both = d.ConcatDataset([one, d.Subset(one, [4, 2])])
        stacked = d.StackDataset(a=one, b=range(11))
        return [len(both), both[11], both[-1], both[3], len(one + one), stacked[2], len(stacked)]

    same(found)


def test_collating():
    samples = [
        [np.float32(1), np.float32(2)], [1, 2], [1.5, 2.5], [True, False], ["a", "b"],
        [{"x": 1, "y": [2, 3]}, {"x": 4, "y": [5, 6]}], [(1, "a"), (2, "b")],
        [np.arange(3), np.arange(3)], [Pair(1, 2.0), Pair(3, 4.0)],
    ]  # fmt: skip
    for batch in samples:
        same(lambda t, batch=batch: t.utils.data.default_collate(batch))
    for t in BOTH:
        with pytest.raises(RuntimeError, match="equal size"):
            t.utils.data.default_collate([[1], [1, 2]])
        with pytest.raises(TypeError, match="default_collate: batch must contain"):
            t.utils.data.default_collate([object()])


def test_samples_are_drawn_once_and_by_the_seed():
    d = torch.utils.data
    loader = d.DataLoader(
        range(100), batch_size=7, shuffle=True, generator=torch.Generator().manual_seed(3)
    )
    first, second = (torch.cat(list(loader)).tolist() for _ in range(2))
    assert sorted(first) == list(range(100)) == sorted(second) and first != second
    torch.manual_seed(5)
    one = list(d.RandomSampler(range(20)))
    torch.manual_seed(5)
    assert one == list(d.RandomSampler(range(20)))
    parts = d.random_split(range(10), [0.5, 0.25, 0.25], torch.Generator().manual_seed(0))
    assert [len(part) for part in parts] == [6, 2, 2]
    assert sorted(x for part in parts for x in part) == list(range(10))
    drawn = list(d.WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 200))
    assert set(drawn) == {1, 3} and drawn.count(3) > drawn.count(1)
    assert sorted(d.SubsetRandomSampler([4, 5, 9])) == [4, 5, 9]
    assert len(list(d.RandomSampler(range(5), num_samples=12))) == 12
    for wrong in ({"data_source": []}, {"data_source": [1], "num_samples": 2.5}):
        with pytest.raises(ValueError, match="num_samples should be a positive integer value"):
            d.RandomSampler(**wrong)


def test_options_that_exclude_each_other():
    wrong = [
        {"shuffle": True, "sampler": [1]}, {"batch_sampler": [[1]], "batch_size": 2},
        {"batch_size": None, "drop_last": True}, {"batch_size": 0}, {"num_workers": -1},
        {"prefetch_factor": 2},
    ]  # fmt: skip
    for options in wrong:
        for t in BOTH:
            with pytest.raises(ValueError):
                t.utils.data.DataLoader(range(3), **options)


def test_workers_read_the_same_in_order():
    one = list(torch.utils.data.DataLoader(Squares(), batch_size=3))
    two = list(torch.utils.data.DataLoader(Squares(), batch_size=3, num_workers=2))
    assert plain(one) == plain(two) and len(one) == 4
    lines = torch.utils.data.DataLoader(Lines(), batch_size=2, num_workers=2)
    found = sorted(n for batch in lines for n in batch.tolist())
    assert found == list(range(9))
    with pytest.raises(RuntimeError, match="no such sample"):
        list(torch.utils.data.DataLoader(Squares(), sampler=[77], num_workers=1))


def test_what_was_saved_is_loaded(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    state = {
        "model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3,
        "history": [0.5, None, True, "text", (1, 2j)], 7: torch.Size([2]), "t": torch.tensor(1),
        "half": torch.ones(2, dtype=torch.bfloat16), "kind": torch.float32,
    }  # fmt: skip
    for target in (tmp_path / "state.pt", io.BytesIO()):
        torch.save(state, target)
        if isinstance(target, io.BytesIO):
            target.seek(0)
        found = torch.load(target)
        assert plain(found) == plain(state)
        assert isinstance(found["model"], OrderedDict) and isinstance(found[7], torch.Size)
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])


def test_files_of_others_and_what_is_refused(tmp_path):
    safetensors.numpy.save_file({"a": X}, tmp_path / "a.safetensors")
    assert torch.load(tmp_path / "a.safetensors")["a"].tolist() == X.tolist()
    torch.save({"w": torch.tensor(X)}, tmp_path / "w.safetensors")
    np.testing.assert_array_equal(safetensors.numpy.load_file(tmp_path / "w.safetensors")["w"], X)
    peer.save({"a": peer.ones(2)}, tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    said = r"load: .*a\.pt: it is a pickle, which can run code\. .*test_torch_data.py"
    with pytest.raises(RuntimeError, match=said):
        torch.load(tmp_path / "a.pt")
    before = (tmp_path / "w.safetensors").read_bytes()
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        torch.save({"a": torch.ones(2), "f": lambda: 1}, tmp_path / "w.safetensors")
    assert (tmp_path / "w.safetensors").read_bytes() == before
