"""Models with their weights that packages bring, beside ONNX Runtime: silero-vad (is somebody
speaking?) and magika (what kind of file is this?)."""

import importlib.util
from pathlib import Path

import magika
import numpy as np
import onnxruntime
import pytest
from plain_exports import check

import composit
import composit.onnx


def files(package, pattern):
    return sorted(Path(importlib.util.find_spec(package).origin).parent.glob(pattern))


# Those for 8 kHz as well take the rate, which decides which of two networks it is.
SPEECH = {file.stem: file for file in files("silero_vad", "data/*.onnx")}
(KINDS,) = files("magika", "models/*/model.onnx")


def sound(rows=1):
    """A tone that swells, with noise: windows of 512 samples behind the last 64 before them."""
    time = np.arange(512 * rows + 64) / 16000
    noise = np.random.default_rng(0).standard_normal(time.size)
    whole = np.sin(2 * np.pi * 180 * time) * time / time[-1] + 0.05 * noise
    return np.stack([whole[512 * i : 512 * i + 576] for i in range(rows)]).astype("float32")


def inputs_of(session, rows=1):
    """The first call's inputs."""
    feed = {}
    for each in session.get_inputs():
        if each.name == "input":
            feed["input"] = sound(rows)
        elif each.name == "sr":
            feed["sr"] = np.array(16000)
        else:  # the state of the network
            shape = [length if isinstance(length, int) else 1 for length in each.shape]
            feed[each.name] = np.zeros(shape, "float32")
    return feed


def session_of(file):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def results(found):
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", SPEECH)
def test_speech_is_detected_as_by_onnx_runtime(name):
    session = session_of(SPEECH[name])
    model = composit.onnx.load(SPEECH[name])
    if "sequence" in name:
        feed = inputs_of(session, 5)
        for value, expected in zip(results(model(**feed)), session.run(None, feed), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)
        return
    # Window after window, each with the state that the one before left, on either side.
    feed, theirs = inputs_of(session), inputs_of(session)
    for window in sound(5):
        feed["input"] = theirs["input"] = window[None]
        found, expected = results(model(**feed)), session.run(None, theirs)
        for value, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-5)
        feed["state"], theirs["state"] = found[1], expected[1]
    assert 0 < found[0].item() < 1


def test_the_rate_of_sound_decides_which_network_is_compiled():
    model = composit.onnx.load(SPEECH["silero_vad"])
    feed = inputs_of(session_of(SPEECH["silero_vad"]))
    assert list(model.deciding_inputs(*feed.values())) == ["sr"]
    compiled = model.compile()
    for value, other in zip(results(compiled(**feed)), results(model(**feed)), strict=True):
        assert value.tobytes() == other.tobytes()
    feed["input"], feed["sr"] = feed["input"][:, :288], np.array(8000)
    expected = session_of(SPEECH["silero_vad"]).run(None, feed)
    for value, other in zip(results(compiled(**feed)), expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-5)


TEXTS = {
    "python": "import os\n\n\ndef main():\n    for name in os.listdir():\n        print(1)\n" * 8,
    "html": "<!DOCTYPE html><html><head><title>A</title></head><body><p>Text</p></body>" * 9,
    "c": '#include <stdio.h>\nint main(void) {\n    printf("%d\\n", 3);\n    return 0;\n}\n' * 9,
}  # fmt: skip


def features(content):
    """What magika gives its network: the first and the last 1,024 bytes, 256 where there is
    none."""
    content = content.strip()
    row = np.full(2048, 256, "int32")
    first, last = content[:1024], content[-1024:]
    row[: len(first)] = list(first)
    row[2048 - len(last) :] = list(last)
    return row[None]


def test_kinds_of_files_are_those_of_onnx_runtime_and_of_magika():
    model, session = composit.onnx.load(KINDS), session_of(KINDS)
    compiled, labels = model.compile(), {}
    for kind, text in TEXTS.items():
        row = features(text.encode())
        (found,), (expected,) = results(model(row)), session.run(None, {"bytes": row})
        np.testing.assert_allclose(found, expected, atol=1e-5)  # probabilities
        assert compiled(row).tobytes() == found.tobytes()
        labels[kind] = int(found.argmax())
    assert len(set(labels.values())) == len(TEXTS)
    identified = magika.Magika()
    assert [identified.identify_bytes(text.encode()).dl.label for text in TEXTS.values()] == [
        *TEXTS
    ]


@pytest.mark.long_tail
@pytest.mark.parametrize("name", ["silero_vad", "magika"])
def test_as_plain_c(name, tmp_path):
    if name == "magika":
        model, arguments = composit.onnx.load(KINDS), (features(TEXTS["c"].encode()),)
    else:
        feed = inputs_of(session_of(SPEECH[name]))
        read, arguments = composit.onnx.load(SPEECH[name]), (feed["input"], feed["state"])
        model = lambda x, state: read(x, state, feed["sr"])
    text = check(model, arguments, tmp_path, "c", "gcc")
    assert len(text.splitlines()) < 600  # the weights are a file of their own
