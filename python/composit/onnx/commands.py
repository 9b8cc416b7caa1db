"""The commands of `python -m composit`: what a model of ONNX or StableHLO is, its export, and a
comparison with ONNX Runtime, or with XLA as JAX brings it."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import composit._core as _core
from composit import mlir
from composit._core import value_error
from composit.onnx.model import Model, load
from composit.onnx.saving import save
from composit.structure import flatten


def main(words: list[str] | None = None) -> int:
    """Runs a command; the process's exit status: 0, or 1 where `check` finds a difference. What is
    wrong with a file or an argument ends the process with its text and status 2."""
    parser = argparse.ArgumentParser(prog="python -m composit", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run, add_options, purpose in (
        (_info, lambda command: None, "inputs, outputs, operators, operations, bytes and memory"),
        (_export, _add_export_options,
         "the model in C++ or C, or as ONNX or StableHLO with fixed lengths"),
        (_check, _add_check_options,
         "compares with ONNX Runtime, or StableHLO with XLA, on random inputs"),
    ):  # fmt: skip
        name = run.__name__.lstrip("_")
        command = commands.add_parser(name, help=purpose, description=f"{name}: {purpose}.")
        command.add_argument(
            "model", help="a file in ONNX's format, or with StableHLO's text (.mlir)"
        )
        command.add_argument(
            "--shape", action="append", default=[], metavar="INPUT=2,3",
            help="an input's lengths; those that the model leaves open are 1 otherwise",
        )  # fmt: skip
        command.add_argument("--seed", type=int, default=0, help="of random inputs")
        command.set_defaults(run=run)
        add_options(command)
    arguments = parser.parse_args(words)
    try:
        return arguments.run(arguments)
    except (ValueError, TypeError, OSError, NotImplementedError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


def _add_export_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--to", choices=("cpp", "c", "onnx", "stablehlo"), default="cpp")
    command.add_argument(
        "--style", choices=("fast", "plain"), default=None,
        help="of C++: fast, a project for threads and all instruction sets (the default), or "
        "plain, as a person would write it; C is plain",
    )  # fmt: skip
    command.add_argument(
        "--strict", action="store_true",
        help="plain C or C++ as checkers of rules such as MISRA's want it",
    )  # fmt: skip
    command.add_argument(
        "--out", required=True, help="the folder, or the file of ONNX or StableHLO"
    )
    command.add_argument("--name", default="model", help="of the exported function")


def _add_check_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--runs", type=int, default=20, help="whose fastest counts")
    command.add_argument("--tolerance", type=float, default=1e-4)


class _Progress:
    """A bar of the steps of a command, where somebody looks at it."""

    def __init__(self, *steps: str) -> None:
        self.steps, self.done = steps, 0

    def __call__(self) -> None:
        if sys.stderr.isatty():
            bar = "#" * self.done + "." * (len(self.steps) - self.done)
            step = self.steps[self.done] if self.done < len(self.steps) else ""
            print(f"\r[{bar}] {step:<24}", end="" if step else "\r", file=sys.stderr, flush=True)
        self.done += 1


def _read(path: str) -> Any:
    """A model of onnx.load or mlir.load, whose inputs and outputs are described alike."""
    return mlir.load(path) if path.endswith(".mlir") else load(path)


def _inputs(model: Any, arguments: argparse.Namespace) -> list[Any]:
    """Random inputs: normal numbers, integers from 0 to 9."""
    seed = arguments.seed
    if seed < 0:
        raise value_error(f"--seed: {seed} is negative. An integer of at least 0 is required.")
    words = _core.numpy_random.words_of(seed)
    return _core.reports.drawn_inputs(model.inputs, arguments.shape, words)


def _info(arguments: argparse.Namespace) -> int:
    progress = _Progress("reading", "planning")
    progress()
    model = _read(arguments.model)
    progress()
    values = _inputs(model, arguments)
    special = model.compile(backend="interpreter").specialise(*values)
    progress()
    print(_core.reports.text_about(model, values, special.program))
    return 0


def _style(arguments: argparse.Namespace) -> str:
    if arguments.to == "cpp":
        return arguments.style or "fast"
    if arguments.to == "c" and arguments.style != "fast":
        return "plain"
    if arguments.to in ("onnx", "stablehlo") and arguments.style is None:
        return ""
    required = "'plain'" if arguments.to == "c" else "No --style"
    raise value_error(f"--style: {arguments.style!r} is not for --to {arguments.to}. "
                      f"{required} is required.")  # fmt: skip


def _export(arguments: argparse.Namespace) -> int:
    style = _style(arguments)
    if arguments.strict and style != "plain":
        raise value_error("--strict: it is for plain text. --to c or --style plain is required.")
    progress = _Progress("reading", "compiling", "writing")
    progress()
    model = _read(arguments.model)
    values = _inputs(model, arguments)
    progress()
    if arguments.to in ("onnx", "stablehlo"):
        progress()
        names: dict[str, Any] = {
            "input_names": [value.name for value in model.inputs],
            "output_names": [value.name for value in model.outputs],
        }
        if arguments.to == "onnx":
            save(arguments.out, model, *values, **names)
        else:
            content = mlir.text(model, *values, name=arguments.name, **names)
            Path(arguments.out).write_text(content, encoding="utf-8")
        written = [os.path.basename(arguments.out)]
    else:
        compiled = model.compile(*values, name=arguments.name)
        progress()
        examples = values if isinstance(model, Model) else []  # others have shapes of their own
        written = compiled.export(
            arguments.out, *examples, style=style, language=arguments.to, strict=arguments.strict
        )
    progress()
    print("\n".join(written))
    return 0


def _fastest(run: Callable[[], Any], runs: int) -> float:
    """Milliseconds."""
    times = []
    for _ in range(max(1, runs)):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def _imported(package: str, of: str, *modules: str) -> list[Any]:
    try:
        return [importlib.import_module(name) for name in (package, *modules)]
    except ImportError:
        raise value_error(
            f"check: {package} is not installed, with which {of} is compared. "
            f"`pip install {package}` is required."
        ) from None


def _onnx_runtime(
    modules: list[Any], path: str, model: Any, values: list[Any]
) -> Callable[[], list[Any]]:
    """A call of the model by ONNX Runtime."""
    (onnxruntime,) = modules
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    named = dict(zip((info.name for info in model.inputs), values))
    return lambda: session.run(None, named)


def _xla(modules: list[Any], path: str, model: Any, values: list[Any]) -> Callable[[], list[Any]]:
    """A call of the program's @main by XLA's compiler for the CPU."""
    jax, compiler = modules
    device = jax.devices("cpu")[0]
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    text = Path(path).read_text(encoding="utf-8")
    program = device.client.compile_and_load(text, [device], options)
    with jax.enable_x64(True):  # arrays keep their 64 bits
        held = [jax.device_put(value, device) for value in values]
    return lambda: [np.asarray(each) for each in program.execute(held)]


class _Peer(NamedTuple):
    """Who a model is compared with: its name, what it takes, how it is called, and its modules."""

    name: str
    what: str
    prepare: Callable[..., Callable[[], list[Any]]]
    modules: tuple[str, ...]


_ONNX_RUNTIME: _Peer = _Peer(
    "ONNX Runtime", "model", _onnx_runtime, ("onnxruntime", "a model of ONNX")
)
# By the suffixes of files that others read.
_PEERS: dict[str, _Peer] = {
    ".mlir": _Peer("XLA", "program", _xla, ("jax", "a program of StableHLO", "jax._src.compiler")),
}


def _check(arguments: argparse.Namespace) -> int:
    suffix = os.path.splitext(arguments.model)[1]
    against: _Peer = _PEERS.get(suffix, _ONNX_RUNTIME)
    peer, modules = against.name, _imported(*against.modules)
    progress = _Progress("reading", "compiling", peer, "timing")
    progress()
    model = _read(arguments.model)
    values = _inputs(model, arguments)
    progress()
    compiled = model.compile(*values)
    progress()
    try:
        run = against.prepare(modules, arguments.model, model, values)
        expected = run()
    except Exception as error:  # classes of its own
        raise value_error(f"check: {peer} does not run the {against.what}: {error}") from None
    progress()
    found, _ = flatten(compiled(*values))  # one, or a tuple
    worst = 0.0
    for info, one, other in zip(model.outputs, found, expected, strict=True):
        line, apart = _core.reports.compared(info.name, one, np.asarray(other), peer)
        worst = max(worst, apart)
        print(line)
    times = [
        _fastest(lambda: compiled(*values), arguments.runs),
        _fastest(run, arguments.runs),
    ]
    progress()
    print(f"composit {times[0]:.3f} ms, {peer} {times[1]:.3f} ms")
    return int(not worst <= arguments.tolerance)  # nothing is within NaN
