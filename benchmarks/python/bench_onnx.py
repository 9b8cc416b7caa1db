"""Models in ONNX's format that packages bring with their weights: silero-vad and magika."""

import importlib.util
from pathlib import Path

import numpy as np
from group import main
from measure import Case, Sides, check
from peers import onnx_session_of_file, openvino_of_file


def _file(package, pattern):
    (file,) = Path(importlib.util.find_spec(package).origin).parent.glob(pattern)
    return file


def _prepare(file, feed, flops, has_openvino=True):
    def prepare(threads):
        import composit.onnx

        model = composit.onnx.load(file)
        compiled = model.compile(threads=threads)
        session = onnx_session_of_file(file, threads)

        def ours():
            return compiled(**feed)

        peers = {"ONNX Runtime": lambda: session.run(None, feed)}
        if has_openvino:
            other = openvino_of_file(file, threads)
            peers["OpenVINO"] = lambda: other(feed)
        found = ours()
        found = found if isinstance(found, tuple) else (found,)
        for name, call in peers.items():
            for value, theirs in zip(found, call(), strict=True):
                check(f"{file.stem}: {name}", value, theirs, 1e-4)
        moved = sum(each.nbytes for each in model.parameters.values())
        return Sides(ours, peers, flops, moved)

    return prepare


def _prepare_starting(file, feed):
    """From the file to the first result, with compiled code in the cache."""

    def prepare(threads):
        import composit.onnx

        def ours():
            return composit.onnx.load(file).compile(threads=threads)(**feed)

        def theirs():
            return onnx_session_of_file(file, threads).run(None, feed)

        ours()
        return Sides(ours, {"ONNX Runtime": theirs})

    return prepare


def cases():
    draw = np.random.default_rng(0)
    window = {
        "input": 0.1 * draw.standard_normal((1, 576)).astype("float32"),
        "state": np.zeros((2, 1, 128), "float32"),
    }
    speech = _file("silero_vad", "data/silero_vad_16k_op15.onnx")
    rated = window | {"sr": np.array(16000)}
    # OpenVINO does not convert this one's If.
    yield Case("silero-vad, a window", 0.5, 1.0, _prepare(speech, rated, 0, has_openvino=False))
    yield Case("silero-vad, the first window", 0.5, 1.0, _prepare_starting(speech, rated))
    windows = {
        "input": 0.1 * draw.standard_normal((32, 576)).astype("float32"),
        "h": np.zeros((1, 1, 128), "float32"), "c": np.zeros((1, 1, 128), "float32"),
    }  # fmt: skip
    sequence = _file("silero_vad", "data/silero_vad_16k_sequence.onnx")
    yield Case("silero-vad, 32 windows", 0.5, 1.0, _prepare(sequence, windows, 0))
    content = {"bytes": draw.integers(0, 257, (1, 2048)).astype("int32")}
    model = _file("magika", "models/*/model.onnx")
    yield Case("magika, a file", 0.5, 1.0, _prepare(model, content, 0))
    yield Case("magika, the first file", 0.5, 1.0, _prepare_starting(model, content))


if __name__ == "__main__":
    main(
        "ONNX models",
        "Weights are constants of either side. Results agree to 1e-4 of the largest. The first one "
        "is from the file on, with compiled code in the cache.",
        cases,
    )
