"""Models as transformers and diffusers save them: a folder with config.json and a file of weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

WEIGHTS = ("model.safetensors", "diffusion_pytorch_model.safetensors", "pytorch_model.bin")


def read_config(folder: Path) -> dict[str, Any]:
    """config.json. OSError: there is none; ValueError: it is not an object of JSON."""
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
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
        from composit.nn import load_safetensors

        return {name: np.asarray(value) for name, value in load_safetensors(path).items()}
    import torch

    from composit.model_zoo.parameters import state_of

    return state_of(torch.load(path, map_location="cpu", weights_only=True))


def check_names(given: Mapping[str, np.ndarray], required: Mapping[str, tuple[int, ...]]) -> None:
    """ValueError that lists every required parameter that is missing or has another shape, with the
    nearest names, and every one that nothing reads."""
    import difflib

    problems = []
    spare = sorted(set(given) - set(required))
    for name, shape in required.items():
        if name not in given:
            near = difflib.get_close_matches(name, spare, n=1)
            problems.append(f"{name} is missing" + (f"; there is {near[0]}" if near else ""))
        elif given[name].shape != shape:
            problems.append(f"{name} has shape {given[name].shape}, not {shape}")
    problems += [f"{name} is not part of the model" for name in spare]
    if problems:
        listed = "\n  ".join(problems)
        raise ValueError(f"{len(problems)} parameters do not fit the model:\n  {listed}")
