"""Handwritten digits: scikit-learn's bundled scans, or MNIST's IDX files from a folder."""

import gzip
import math
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

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
        with open(path, "rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            most = os.fstat(file.fileno()).st_size * (MOST_UNPACKED if is_packed else 1)
            stream: BinaryIO = gzip.GzipFile(fileobj=file) if is_packed else file  # type: ignore
            return _read_array(path, stream, dimensions, most)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"digits: {path} cannot be read: {error}.") from error


# bytes that one byte of a gzip file can stand for (deflate's longest match by its shortest code)
MOST_UNPACKED = 1032


def _read_array(path: Path, stream: BinaryIO, dimensions: int, most: int) -> np.ndarray:
    """Reads what the header says, and one byte more, to see that there is none."""
    header = stream.read(4 + 4 * dimensions)
    if len(header) < 4 + 4 * dimensions or header[:4] != bytes([0, 0, 8, dimensions]):
        raise DataError(f"digits: {path} is not an IDX file of {dimensions}-dimensional bytes.")
    shape = struct.unpack(f">{dimensions}I", header[4:])
    promised = math.prod(shape)
    data = stream.read(promised + 1) if promised <= most else b""
    if len(data) > promised:
        raise DataError(
            f"digits: {path} has data behind the {promised} bytes of its shape {shape}."
        )
    if len(data) < promised:
        has = f"{len(data)}" if promised <= most else f"at most {most}"
        raise DataError(
            f"digits: {path} is cut off: shape {shape} does not fit its {has} bytes of data."
        )
    return np.frombuffer(data, np.uint8).reshape(shape)
