"""torch.save and torch.load of tensors that lie on devices."""

import io
import zipfile

import numpy as np
import pytest
import torch as peer

import composit.torch as torch
from composit.torch import nn, places

pytestmark = [pytest.mark.usefixtures("apart"), pytest.mark.on_cpu]


class Kept:
    """No structure of tensors alone: it is saved as an archive."""

    def __init__(self, weight):
        self.weight = weight


@pytest.mark.parametrize("kind", ["state", "object"])
def test_files_remember_where_tensors_lay(apart, tmp_path, kind):
    model = nn.Linear(2, 1, device="apart")
    value = {"model": model.state_dict(), "place": torch.device(apart), "n": torch.arange(3)}
    options = {}
    if kind == "object":
        value, options = {**value, "more": Kept(model.weight)}, {"weights_only": False}
    path = tmp_path / "model.pt"
    torch.save(value, path)
    stream = io.BytesIO()
    torch.save(value, stream)
    stream.seek(0)
    for source in (path, stream):
        found = torch.load(source, **options)
        assert found["model"]["weight"].device == torch.device(apart) == found["place"]
        assert found["n"].is_cpu
    for location in (
        "cpu",
        torch.device("cpu"),
        {apart: "cpu"},
        lambda storage, place: storage.cpu(),
    ):
        found = torch.load(path, map_location=location, **options)
        assert all(x.is_cpu for x in found["model"].values()), location
        np.testing.assert_array_equal(
            found["model"]["weight"].numpy(), model.weight.detach().cpu().numpy()
        )
    assert torch.load(path, map_location=apart, **options)["n"].device == torch.device(apart)
    with pytest.raises(RuntimeError, match="device 'apart:9' is not here"):
        torch.load(path, map_location="apart:9", **options)


def test_files_of_devices_that_are_not_here_say_so(apart, tmp_path, monkeypatch):
    torch.save({"w": torch.ones(2, device="apart")}, tmp_path / "w.pt")
    content = (tmp_path / "w.pt").read_bytes()
    assert content.count(b"apart:0") == 1
    (tmp_path / "v.pt").write_bytes(content.replace(b"apart:0", b"apart:7"))
    with pytest.raises(RuntimeError, match="deserialize object on 'apart:7', but device 'apart:7'"):
        torch.load(tmp_path / "v.pt")
    assert torch.load(tmp_path / "v.pt", map_location="cpu")["w"].tolist() == [1, 1]
    assert places.full_name("apart") == apart


def test_pytorchs_files_of_cuda(tmp_path):
    """As PyTorch writes them on a machine with CUDA."""
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    peer.save({"w": peer.ones(2)}, tmp_path / "w.pt")
    content = (tmp_path / "w.pt").read_bytes()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as source,
        zipfile.ZipFile(tmp_path / "cuda.pt", "w", zipfile.ZIP_STORED) as target,
    ):
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("data.pkl"):
                assert data.count(b"X\x03\x00\x00\x00cpu") == 1
                data = data.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
            target.writestr(name, data)
    with pytest.raises(RuntimeError, match=r"on a CUDA device but torch\.cuda\.is_available"):
        torch.load(tmp_path / "cuda.pt")
    found = torch.load(tmp_path / "cuda.pt", map_location={"cuda:0": "apart"})
    assert found["w"].device.type == "apart" and found["w"].tolist() == [1, 1]
