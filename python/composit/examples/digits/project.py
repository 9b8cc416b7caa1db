"""The trained network and its training step as a C++ project: written, built, run and compared."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import composit
import composit._core as _core
from composit.examples.digits.network import NAMES

FLAGS = ["-O2", "-std=c++17", "-Wall", "-Wextra", "-Werror"]


class ProjectError(Exception):
    """The project cannot be built or run, or its results differ."""


@dataclass(frozen=True)
class Report:
    command: str
    build_seconds: float
    binary_bytes: int
    accuracy: float
    microseconds_per_image: float


def write(
    folder: Path, classify, train_step, weights: Sequence[np.ndarray], images: np.ndarray
) -> list[str]:
    """The project, with the weights as they are now; `images` is one training batch. Returns the
    names of its sources."""
    data = b"".join(np.ascontiguousarray(weight, np.float32).tobytes() for weight in weights)
    main = main_text(weights, images, data)
    files = composit.export(folder, "digits", [classify, train_step], main)
    _core.write_whole_file("digits", str(folder / "digits.weights"), data)
    return [name for name in files if name.endswith(".cpp")]


def main_text(weights: Sequence[np.ndarray], images: np.ndarray, data: bytes) -> str:
    """main.cpp, which runs with weights of these bytes."""
    text = resources.files(__package__).joinpath("main.cpp.in").read_text()
    batch, _, height, width = images.shape
    values = {
        "HEIGHT": height,
        "WIDTH": width,
        "PIXELS": height * width,
        "BATCH": batch,
        "NAMES": ", ".join(NAMES),
        "SIZES": ", ".join(str(weight.size) for weight in weights),
        "COUNT": sum(weight.size for weight in weights),
        "WEIGHT_ARGUMENTS": ", ".join(f"w[{i}]" for i in range(len(weights))),
        "CHECKSUM": hex(_core.xxh64(data)),
        "CHECKSUM_FUNCTION": _core.xxh64_text(),
        "UPDATED_ARGUMENTS": ", ".join(f"updated[{i}]" for i in range(len(weights))),
    }
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def compiler() -> str:
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise ProjectError("digits: no C++ compiler was found. Install g++ or clang++, or set CXX.")


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise ProjectError(
            f"digits: `{' '.join(words)}` in {folder} failed:\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def same_bits(name: str, computed: np.ndarray, expected: np.ndarray) -> None:
    expected = np.ascontiguousarray(expected).reshape(computed.shape)
    both_nan = np.isnan(computed) & np.isnan(expected)
    different = (computed.view(np.uint32) != expected.view(np.uint32)) & ~both_nan
    if different.any():
        raise ProjectError(
            f"digits: {different.sum()} of {different.size} values of {name} differ from Python's."
        )


def write_raw(folder: Path, arrays: Mapping[str, Any]) -> None:
    """The arrays as files that the project reads."""
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        _core.write_whole_file("digits", str(folder / f"{name}.raw"), data)


def figures_of(output: str) -> dict[str, str]:
    """What the project printed: a name and a number in each line."""
    return dict(line.rsplit(" ", 1) for line in output.splitlines())


def check(
    folder: Path,
    sources: Sequence[str],
    test_images,
    test_labels,
    logits,
    step_images,
    step_labels,
    step_results,
) -> Report:
    """Builds the project, runs it on the test images and one training step, compares each bit."""
    start = time.perf_counter()
    command = [compiler(), *FLAGS, *sources, "-o", "digits"]
    run(folder, *command)
    seconds = time.perf_counter() - start
    files = {
        "test_images": test_images,
        "test_labels": test_labels,
        "step_images": step_images,
        "step_labels": step_labels,
    }
    write_raw(folder, files)
    output = run(folder, "./digits", "--test", "test_images.raw", "test_labels.raw", "logits.raw")
    figures = figures_of(output)
    same_bits("the logits", np.fromfile(folder / "logits.raw", np.float32), logits)
    run(folder, "./digits", "--train-step", "step_images.raw", "step_labels.raw", "step.raw")
    expected = np.concatenate(list(map(np.ravel, step_results)))
    same_bits("the training step", np.fromfile(folder / "step.raw", np.float32), expected)
    return Report(
        " ".join(command),
        seconds,
        (folder / "digits").stat().st_size,
        float(figures["accuracy"]),
        float(figures["microseconds per image"]),
    )
