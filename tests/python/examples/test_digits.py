"""The digits demo: its data, its refusals, and the whole way to C++ that returns Python's bits."""

import gzip
import importlib.util
import struct
import subprocess

import numpy as np
import pytest

from composit.examples.digits import __main__ as digits
from composit.examples.digits import data, project


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_mnist(folder, count=40, zipped=False):
    """Images of a bright bar whose row is the digit."""
    random = np.random.RandomState(3)
    for part in ("train", "t10k"):
        labels = random.randint(0, 10, count)
        images = random.randint(0, 40, (count, 12, 12))
        images[np.arange(count), labels] = 255
        for stem, array in (("images-idx3-ubyte", images), ("labels-idx1-ubyte", labels)):
            content = idx(array)
            if zipped:
                (folder / f"{part}-{stem}.gz").write_bytes(gzip.compress(content))
            else:
                (folder / f"{part}-{stem}").write_bytes(content)


def test_bundled_scans_are_split_by_the_seed():
    first, again, other = data.load(None, 1), data.load(None, 1), data.load(None, 2)
    assert first.train_images.shape == (1438, 1, 8, 8) and first.test_images.shape == (359, 1, 8, 8)
    assert first.train_images.dtype == np.float32 and first.train_images.max() == 1
    assert (first.test_images == again.test_images).all()
    assert (first.test_images != other.test_images).any()


@pytest.mark.parametrize("zipped", [False, True])
def test_idx_files_are_read(tmp_path, zipped):
    write_mnist(tmp_path, zipped=zipped)
    loaded = data.load(tmp_path, 0)
    assert loaded.train_images.shape == (40, 1, 12, 12)
    assert loaded.train_images.max() == 1 and loaded.test_labels.dtype == np.int64


def test_data_that_is_missing_or_damaged_is_refused(tmp_path, capsys):
    words = ["--output", str(tmp_path / "out"), "--data", str(tmp_path)]
    assert digits.main(words) == 1
    assert "neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz is in" in (
        capsys.readouterr().err
    )
    write_mnist(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    assert digits.main(words) == 1
    assert "is cut off: shape (40, 12, 12) does not fit" in capsys.readouterr().err
    path.write_bytes(b"not an IDX file at all")
    assert digits.main(words) == 1
    assert "is not an IDX file of 3-dimensional bytes" in capsys.readouterr().err


def test_a_damaged_gzip_file_is_refused(tmp_path, capsys):
    write_mnist(tmp_path, zipped=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    content = bytearray(path.read_bytes())
    content[10:40] = b"\xff" * 30
    path.write_bytes(content)
    assert digits.main(["--output", str(tmp_path / "out"), "--data", str(tmp_path)]) == 1
    assert f"digits: {path} cannot be read: Error -3 while decompressing" in capsys.readouterr().err


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_numpy_refuses(seed, capsys):
    with pytest.raises(SystemExit) as caught:
        digits.main([f"--seed={seed}"])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert f"--seed is {seed}; it must be at least 0 and below 2**32" in said


def test_a_missing_package_is_named_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "tqdm" else name)
    assert digits.main(["--output", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == (
        "digits: tqdm is not installed. Install composit[examples].\n"
    )
    assert not (tmp_path / "out").exists()


def test_the_picture_without_dot_is_its_source(tmp_path, capsys, monkeypatch):
    write_mnist(tmp_path)
    training = digits.Training(data.load(tmp_path, 0), digits.parse([]))
    monkeypatch.setenv("PATH", "")
    digits.draw(training, tmp_path / "digits.svg")
    assert not (tmp_path / "digits.svg").exists()
    assert (tmp_path / "digits.gv").read_text().startswith("digraph")
    assert "its source is in" in capsys.readouterr().out


def test_one_different_bit_is_a_mismatch():
    expected = np.array([0.0, np.nan, 1.0], np.float32)
    project.same_bits("x", expected.copy(), expected)
    with pytest.raises(project.ProjectError, match="1 of 3 values of x differ"):
        project.same_bits("x", np.array([-0.0, np.nan, 1.0], np.float32), expected)


def test_from_scans_to_cpp(tmp_path, capsys):
    write_mnist(tmp_path, count=64)
    folder = tmp_path / "out"
    words = [
        "--output",
        str(folder),
        "--data",
        str(tmp_path),
        "--epochs",
        "2",
        "--batch-size",
        "16",
    ]
    assert digits.main(words) == 0
    said = capsys.readouterr().out
    assert "logits, loss and updated weights have the same bits as in Python" in said
    assert str(folder) in said.splitlines()[-1]
    assert (folder / "digits.svg").read_text().count("<svg") == 1
    names = {path.name for path in (folder / "digits").iterdir()}
    assert {"digits.hpp", "digits.cpp", "digits.weights", "CMakeLists.txt", "main.cpp"} <= names
    assert "digits_2.cpp" not in names
    source = (folder / "digits" / "digits.cpp").read_text()
    assert "composit/" not in source
    # Other weights than those that it was written with, such as a killed export leaves.
    weights = folder / "digits" / "digits.weights"
    changed = bytearray(weights.read_bytes())
    changed[1000] ^= 1
    weights.write_bytes(changed)
    ran = subprocess.run(
        ["./digits", "image.pgm"], cwd=folder / "digits", capture_output=True, text=True
    )
    assert ran.returncode == 1 and ran.stderr == (
        "digits.weights: these are damaged, or not the weights of this program.\n"
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_it_learns_the_scans(seed):
    arguments = digits.parse(["--seed", str(seed)])
    scans = data.load(None, seed)
    training = digits.Training(scans, arguments)
    training.compile()
    training.run(60)
    assert training.accuracy(scans.test_images, scans.test_labels) >= 0.98


def test_a_device_trains_the_same_weights(apart, capsys):
    scans = data.load(None, 1)
    weights = []
    for device in ("cpu", apart):
        training = digits.Training(scans, digits.parse(["--device", device]))
        digits.describe(training)
        training.run(1)
        weights.append([w.tobytes() for w in training.weights])
    assert weights[0] == weights[1]
    assert "time per step on apart:0: " in capsys.readouterr().out


def test_a_device_that_is_not_here(tmp_path, capsys):
    assert digits.main(["--output", str(tmp_path), "--device", "tpu"]) == 1
    assert capsys.readouterr().err.startswith("device: there is no 'tpu'. Available: cpu")


def test_moved_images():
    images = np.zeros((50, 1, 4, 5), np.float32)
    images[:, 0, 1, 2] = 1
    moved = data.moved(images, np.random.RandomState(0))
    assert moved.shape == images.shape and moved.flags.c_contiguous
    places = {tuple(map(int, np.argwhere(image[0])[0])) for image in moved}
    assert places == {(i, j) for i in (0, 1, 2) for j in (1, 2, 3)}
    assert not data.moved(np.ones((9, 1, 2, 2), np.float32), np.random.RandomState(0)).all()
