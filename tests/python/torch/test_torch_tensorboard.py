"""torch.utils.tensorboard: its files say what those of PyTorch's say."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tensorboard")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import peer, torch

VALUES = [0.0, -3.5, 1e-9, 2.0, 2.0, 7.25, -1e-13]


def figure():
    import matplotlib.pyplot as plt

    made, axes = plt.subplots(figsize=(2, 1))
    axes.plot([1, 2])
    return made


WRITTEN = {
    "scalar": lambda w, t: [w.add_scalar("a/b", t.tensor(0.5), 3, walltime=1.0),
                            w.add_scalar("a/b", 2, 4), w.add_scalar("c", np.float32(1.5))],
    "new style": lambda w, t: [w.add_scalar("a", 0.1, 1, new_style=True),
                               w.add_scalar("b", 0.1, 1, double_precision=True),
                               w.add_scalar("c", 0.1, new_style=True, double_precision=True)],
    "several": lambda w, t: [w.add_scalars("loss/all", {"x": t.tensor(1.0), "y": i}, i)
                             for i in range(3)],
    "histogram": lambda w, t: [w.add_histogram("a", t.tensor(VALUES), 1),
                               w.add_histogram("b", np.array(VALUES), 1, bins="auto"),
                               w.add_histogram("c", t.arange(10.0), bins=5),
                               w.add_histogram("d", t.nn.Parameter(t.ones(2, 3)), 2)],
    "few bins": lambda w, t: [w.add_histogram("a", t.arange(100.0), 1, bins=10, max_bins=5)],
    "image": lambda w, t: [w.add_image("a", t.arange(48.0).reshape(3, 4, 4) / 48, 1),
                           w.add_image("b", np.eye(4), 1, dataformats="HW"),
                           w.add_image("c", np.ones((4, 5, 3), "uint8") * 7, dataformats="HWC"),
                           w.add_image("d", t.full((1, 2, 2), 1.5))],
    "images": lambda w, t: [w.add_images("a", t.arange(120.0).reshape(10, 3, 2, 2) / 120, 1),
                            w.add_images("b", t.ones(2, 1, 3, 3) * 0.5)],
    "text": lambda w, t: [w.add_text("a", "some *text*", 2), w.add_text("b", "é")],
    "figure": lambda w, t: [w.add_figure("a", figure(), 1), w.add_figure("b", [figure()] * 2)],
}  # fmt: skip


def events(folder):
    """What the files of a folder say, without times."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    found = []
    for path in sorted(folder.rglob("*tfevents*")):
        for event in EventFileLoader(str(path)).Load():
            for value in event.summary.value:
                place = str(path.parent.relative_to(folder))
                found.append((place, event.step, value))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRITTEN)
def test_files_are_pytorchs(name, tmp_path):
    from torch.utils.tensorboard import SummaryWriter

    sides = {torch: torch.utils.tensorboard.SummaryWriter, peer: SummaryWriter}
    said = []
    for number, (t, kind) in enumerate(sides.items()):
        with kind(tmp_path / str(number)) as writer:
            WRITTEN[name](writer, t)
            writer.flush()
        said.append(events(tmp_path / str(number)))
    assert said[0] and said[0] == said[1]


def test_what_is_not_built_is_refused_by_name(tmp_path):
    with torch.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        assert writer.get_logdir() == str(tmp_path)
        for name in ("add_mesh", "add_graph", "add_hparams", "add_embedding", "add_video"):
            with pytest.raises(NotImplementedError, match=rf"SummaryWriter\.{name} is not built"):
                getattr(writer, name)("a", 1)
        with pytest.raises(AttributeError, match="nothing"):
            writer.nothing
        with pytest.raises(ValueError, match=r"^The input has no element"):
            writer.add_histogram("a", torch.ones(0))
        with pytest.raises(ValueError, match=r"dataformats is 'CHW', .* \(2, 2\)"):
            writer.add_image("a", torch.ones(2, 2))


@pytest.mark.filterwarnings("ignore")
def test_a_folder_is_named_by_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.utils.tensorboard.SummaryWriter(comment="_mine").close()
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("_mine")
