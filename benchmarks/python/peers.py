"""The peers, as their users would call them: `jax.jit`, eager PyTorch, ONNX Runtime sessions."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import models
import numpy as np
from measure import FOLDER, Call


def jitted(function: Callable, *arguments, **options) -> Call:
    """jax.jit's call on arrays that JAX already holds, until the result is there."""
    import jax

    held = jax.device_put(arguments)
    compiled = jax.jit(function, **options)
    return lambda: jax.block_until_ready(compiled(*held))


def with_gradients(function: Callable, inputs: list, gradient) -> Callable[[], list]:
    """An eager PyTorch call: function(*inputs) and the gradients of those that require one."""
    import torch

    wanted = [tensor for tensor in inputs if tensor.requires_grad]

    def call():
        output = function(*inputs)
        return [output, *torch.autograd.grad(output, wanted, gradient)]

    return call


def tensors(*arrays: np.ndarray, gradient: bool = False) -> list:
    """PyTorch's views of arrays."""
    import torch

    return [torch.from_numpy(array).requires_grad_(gradient) for array in arrays]


def key_of_models() -> str:
    """Of what an exported file depends on, random weights included."""
    key = hashlib.sha256("".join(map(version, ("torch", "onnx", "transformers"))).encode())
    for source in sorted(Path(models.__file__).parent.glob("*.py")):
        key.update(source.read_bytes())
    return key.hexdigest()[:12]


def export(module, arguments: tuple, file: Path, name: str) -> None:
    """Writes the file, and removes older ones of that name."""
    import torch

    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        program = torch.onnx.export(module, arguments, dynamo=True, verbose=False)
    for older in FOLDER.glob(f"{name}-*.onnx"):
        older.unlink()
    unfinished = file.with_suffix(".unfinished")
    program.save(unfinished, external_data=False)
    unfinished.rename(file)


def onnx_session_of_file(file: Path | bytes, threads: int):
    """A session of a file, or of what is in one, for a number of threads.

    They may spin while it runs, as they do by default, but not after: they would take the other
    sides' core.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def openvino_of_file(file: Path, threads: int) -> Callable[[dict], list]:
    """OpenVINO's function of inputs by name, in float32, with a number of threads."""
    import openvino

    core = openvino.Core()
    options = {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
    }  # fmt: skip
    request = core.compile_model(core.read_model(file), "CPU", options).create_infer_request()

    def call(feed):
        results = request.infer(feed)
        return [results[output] for output in request.model_outputs]

    return call


def exported(module, arguments: tuple, name: str) -> Path:
    """The file of a PyTorch module, written where there is none yet."""
    file = FOLDER / f"{name}-{key_of_models()}.onnx"
    if not file.exists():
        export(module, arguments, file, name)
    return file


def quantized(file: Path, name: str, samples: list[np.ndarray]) -> Path:
    """The model with activations of uint8 and weights of int8 by channel, as ONNX Runtime's tool
    quantises it: QuantizeLinear and DequantizeLinear around each operator."""
    from onnxruntime import quantization

    made = file.with_name(file.name.replace(name, f"{name}-int8", 1))
    if made.exists():
        return made

    class Samples(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = iter(samples)

        def get_next(self):
            value = next(self.left, None)
            return None if value is None else {input_name: value}

    input_name = onnx_session_of_file(file, 1).get_inputs()[0].name
    unfinished = made.with_suffix(".unfinished")
    quantization.quantize_static(
        file, unfinished, Samples(), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
        activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8,
    )  # fmt: skip
    unfinished.rename(made)
    return made


def onnx_engines(module, arguments: tuple, name: str, threads: int) -> dict[str, Call]:
    """ONNX Runtime and OpenVINO, of a PyTorch module; the exported file is kept for the next
    process."""
    file = exported(module, arguments, name)
    session = onnx_session_of_file(file, threads)
    names = [value.name for value in session.get_inputs()]
    feed = dict(zip(names, (a.numpy() for a in arguments)))
    other = openvino_of_file(file, threads)
    return {
        "ONNX Runtime": lambda: session.run(None, feed)[0],
        "OpenVINO": lambda: other(feed)[0],
    }
