"""Models as transformers and diffusers save them: folders with config.json and weights."""

from __future__ import annotations

import json
import tokenize
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import composit.numpy as cnp
from composit import nn
from composit._core import short_floats

# Of files that are damaged: NumPy reads a header as Python's text.
_NUMPYS_ERRORS = (
    ValueError, EOFError, MemoryError, OverflowError, SyntaxError, TypeError, tokenize.TokenError,
    zipfile.BadZipFile,
)  # fmt: skip
WEIGHTS = ("model.safetensors", "diffusion_pytorch_model.safetensors", "pytorch_model.bin")


def read_config(folder: Path) -> dict[str, Any]:
    """config.json. OSError: there is none; ValueError: it is not an object of JSON."""
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON: {error}. An object of JSON is required.") from None
    if not isinstance(config, dict):
        raise ValueError(f"{file}: a {type(config).__name__}. An object of JSON is required.")
    return config


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .safetensors file, of a file that torch.save wrote (which needs torch, and is
    read without running what it may hold), or of the first such file in a folder. OSError: there
    is none."""
    if path.is_dir():
        found = [path / name for name in WEIGHTS if (path / name).exists()]
        if not found:
            raise FileNotFoundError(f"{path}: no weights. One of {', '.join(WEIGHTS)} is required.")
        path = found[0]
    if path.suffix == ".safetensors":
        return {name: _as_float32(tensor) for name, tensor in nn.load_safetensors(path).items()}
    import torch

    from composit.model_zoo.parameters import state_of

    return state_of(torch.load(path, map_location="cpu", weights_only=True))


def read_array(file: Path) -> np.ndarray:
    """The float32 array of a .npy file. OSError: it is not there; ValueError: it is no such file,
    is damaged, or holds objects, which are pickles."""
    try:
        array = np.load(file, allow_pickle=False)
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
            return array.astype(np.float32)
        wrong = f"a {getattr(array, 'dtype', type(array).__name__)}"
    except _NUMPYS_ERRORS as error:
        wrong = str(error)
    raise ValueError(f"{file}: {wrong}. A .npy file of real numbers is required.")


def read_picture(file: Path, mode: str) -> Any:
    """PIL's image in a mode such as "RGB". OSError: it is not there; ValueError: it is none, is
    damaged, or has more pixels than PIL trusts."""
    from PIL import Image

    with open(file, "rb") as opened:
        try:
            return Image.open(opened).convert(mode)
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise ValueError(f"{file}: {error}. A picture is required.") from None


def _as_float32(tensor: Any) -> np.ndarray:
    """As the models compute: short floats are stored to save space."""
    is_short = str(tensor.dtype) in short_floats
    return np.asarray(cnp.astype(tensor, "float32") if is_short else tensor)
