"""Handwritten digits: scikit-learn's bundled scans, or MNIST's IDX files from a folder."""

import gzip
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np


class DataError(Exception):
    """What is wrong with the data that was asked for."""


@dataclass(frozen=True)
class Digits:
    """Images (count, 1, height, width), float32 from 0 to 1, and labels (count,), int64."""

    source: str
    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load(folder: Path | None, seed: int) -> Digits:
    """MNIST from `folder`, else scikit-learn's 1797 scans, a fifth kept for testing."""
    return load_bundled(seed) if folder is None else load_mnist(folder)


def moved(images: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Each image moved by up to one pixel each way, zeros coming in: a digit is the same digit
    there, which a network learns from few scans only when it is shown."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    places = np.lib.stride_tricks.sliding_window_view(padded, images.shape[2:], axis=(2, 3))
    down, right = random.randint(0, 3, (2, len(images)))
    return np.ascontiguousarray(places[np.arange(len(images)), :, down, right])


def load_bundled(seed: int) -> Digits:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise DataError(
            "digits: scikit-learn is not installed. Install composit[examples], or pass --data DIR "
            "with MNIST's IDX files."
        ) from error
    bunch = load_digits()
    images = (bunch.images / 16).astype(np.float32)[:, None]
    labels = bunch.target.astype(np.int64)
    order = np.random.RandomState(seed).permutation(len(images))
    test, train = order[: len(order) // 5], order[len(order) // 5 :]
    return Digits(
        f"scikit-learn's load_digits: {len(images)} scans of {images.shape[2]} x {images.shape[3]}",
        images[train],
        labels[train],
        images[test],
        labels[test],
    )


def load_mnist(folder: Path) -> Digits:
    def images(stem: str) -> np.ndarray:
        return (read_idx(folder, stem, dimensions=3) / np.float32(255))[:, None]

    def labels(stem: str, expected: int) -> np.ndarray:
        values = read_idx(folder, stem, dimensions=1).astype(np.int64)
        if len(values) != expected:
            raise DataError(
                f"digits: {stem} in {folder} has {len(values)} labels for {expected} images."
            )
        if values.max(initial=0) > 9:
            raise DataError(
                f"digits: {stem} in {folder} has the label {values.max()}. 0 to 9 is required."
            )
        return values

    train_images, test_images = images("train-images-idx3-ubyte"), images("t10k-images-idx3-ubyte")
    same_size = train_images.shape[1:] == test_images.shape[1:]
    if not same_size or not len(train_images) or not len(test_images):
        raise DataError(
            f"digits: the images in {folder} have shapes {train_images.shape} and "
            f"{test_images.shape}. Images of one size, at least one for training and one for "
            "testing, are required."
        )
    return Digits(
        f"MNIST's files in {folder}: {len(train_images)} + {len(test_images)} scans",
        train_images,
        labels("train-labels-idx1-ubyte", len(train_images)),
        test_images,
        labels("t10k-labels-idx1-ubyte", len(test_images)),
    )


def read_idx(folder: Path, stem: str, dimensions: int) -> np.ndarray:
    """The bytes of an IDX file, gzipped or not.

    LeCun's format: two zeros, type 8, rank, lengths, data.
    """
    candidates = [folder / stem, folder / f"{stem}.gz", folder / stem.replace("-idx", ".idx")]
    path = next((p for p in candidates if p.is_file()), None)
    if path is None:
        raise DataError(
            f"digits: neither {stem} nor {stem}.gz is in {folder}. "
            "MNIST's four IDX files are required."
        )
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"digits: {path} cannot be read: {error}.") from error
    header = 4 + 4 * dimensions
    if len(data) < header or data[:4] != bytes([0, 0, 8, dimensions]):
        raise DataError(f"digits: {path} is not an IDX file of {dimensions}-dimensional bytes.")
    shape = struct.unpack(f">{dimensions}I", data[4:header])
    if len(data) - header != int(np.prod(shape, dtype=np.uint64)):
        raise DataError(
            f"digits: {path} is cut off: shape {shape} does not fit its "
            f"{len(data) - header} bytes of data."
        )
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)
