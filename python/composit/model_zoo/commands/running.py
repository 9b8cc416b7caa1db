"""What commands share: options, parameters, progress, times beside PyTorch's."""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import composit
from composit import nn
from composit._core import LazyTensor
from composit.model_zoo.commands.files import read_config, read_weights
from composit.model_zoo.parameters import Shapes, as_tensors, draw


def add_common(parser: argparse.ArgumentParser, *, tiny: str) -> None:
    """The options that every command has. `tiny`: what --tiny makes of the model."""
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="PATH",
        help="a folder with config.json and weights as the model's library saves it; without it, "
        "random weights",
    )
    parser.add_argument("--tiny", action="store_true", help=f"a model to try: {tiny}")
    parser.add_argument("--seed", type=int, default=0, help="of random weights and draws (0)")
    parser.add_argument("--threads", type=int, metavar="N", help="threads (all cores)")
    parser.add_argument(
        "--device", default="cpu", metavar="NAME", help='where the model runs: "cuda", … (cpu)'
    )
    parser.add_argument(
        "--no-torch", action="store_true", help="no time of PyTorch beside composit's"
    )


def prepare(arguments: argparse.Namespace) -> None:
    """Threads as asked for."""
    if arguments.threads is not None:
        composit.set_threads(arguments.threads)


def backend_of(arguments: argparse.Namespace) -> str:
    """The back end that runs on --device. ValueError for a device that is not here."""
    name = composit.devices.full_name(arguments.device)
    return "cpp" if name == "cpu" else name


def staying_on(arguments: argparse.Namespace) -> dict[str, str]:
    """Options of functions whose results are arguments of the next call: they stay on --device."""
    name = composit.devices.full_name(arguments.device)
    return {} if name == "cpu" else {"device": name}


def sizes_of(arguments: argparse.Namespace, keys: dict[str, str], tiny: dict[str, Any]) -> dict:
    """A model's sizes: those in the folder's config.json, which calls them otherwise (`keys`), or
    those of a tiny model, or none, which means the function's defaults."""
    if arguments.weights is None:
        return dict(tiny) if arguments.tiny else {}
    config = read_config(arguments.weights)
    return {ours: config[theirs] for ours, theirs in keys.items() if config.get(theirs) is not None}


def parameters_for(
    arguments: argparse.Namespace,
    shapes: Shapes,
    convert: Callable[[Any], dict[str, np.ndarray]],
) -> dict[str, LazyTensor]:
    """Random ones, or those of --weights, checked against the shapes."""
    if arguments.weights is None:
        return as_tensors(draw(shapes, arguments.seed))
    given = convert(read_weights(arguments.weights))
    zero = np.float32(0)
    nn.check_weights(given, {name: np.broadcast_to(zero, shape) for name, shape in shapes.items()})
    return as_tensors(given)


def has_torch(arguments: argparse.Namespace, *packages: str) -> bool:
    """Whether PyTorch's time is to be shown, and can be."""
    return not arguments.no_torch and all(map(importlib.util.find_spec, ("torch", *packages)))


def progress(things: Iterable[Any], *, total: int, unit: str, title: str) -> Iterable[Any]:
    """The things, with a bar where tqdm is installed."""
    if importlib.util.find_spec("tqdm") is None:
        return things
    from tqdm import tqdm

    return tqdm(things, total=total, unit=unit, desc=title)


def seconds_of(function: Callable[[], Any], *, calls: int = 5) -> float:
    """The median of some calls, after one."""
    function()
    taken = []
    for _ in range(calls):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def report(
    arguments: argparse.Namespace,
    unit: str,
    ours: float,
    theirs: Callable[[], float],
    *packages: str,
) -> None:
    """Prints `12.3 ms per token; PyTorch 30.1 ms: 2.45 times as long`. `theirs()` takes PyTorch's
    time, with as many threads, where that is wanted and it and these packages are there."""
    text = f"{ours * 1e3:.3g} ms per {unit}"
    if has_torch(arguments, *packages):
        import torch

        torch.set_num_threads(arguments.threads or composit.get_threads())
        seconds = theirs()
        text += f"; PyTorch {seconds * 1e3:.3g} ms: {seconds / ours:.2f} times as long"
    print(text)


def torch_state(parameters: dict[str, LazyTensor], is_dense: Callable[[str, Any], bool]) -> Any:
    """The parameters as PyTorch keeps them: dense weights as (out, in)."""
    import torch

    state = {}
    for name, tensor in parameters.items():
        value = np.asarray(tensor)
        value = value.T if value.ndim == 2 and is_dense(name, value) else value
        state[name] = torch.from_numpy(np.ascontiguousarray(value))
    return state
