"""double(float(x)) rounds, in every way of running: compilers that make vectors of such conversions
left them out."""

import subprocess

import numpy as np
import pytest

import composit
from composit import numpy as cnp

X = np.array([0.1, 0.2, 0.3])


def rounded(x):
    return cnp.astype(cnp.astype(x, "float32"), "float64")


def chosen(x):
    return cnp.astype(cnp.where(x > 0.15, cnp.astype(x, "float32"), cnp.float32(2)), "float64")


@pytest.mark.parametrize("length", [2, 3, 4, 7])
@pytest.mark.parametrize("level", ["1", "2", "3"])
@pytest.mark.parametrize("function", [rounded, chosen])
def test_compiled(monkeypatch, function, level, length):
    monkeypatch.setenv("COMPOSIT_OPTIMIZE", level)
    x = np.resize(X, length) + np.arange(length)
    expected = np.asarray(composit.compile(function, x, backend="interpreter")(x))
    assert (expected != x).any()
    assert composit.compile(function, x)(x).tobytes() == expected.tobytes()


@pytest.mark.parametrize("language", ["cpp", "c"])
def test_plain_exports(tmp_path, language):
    compiled = composit.compile(rounded, X)
    compiled.export(tmp_path, style="plain", language=language)
    (source,) = tmp_path.glob(f"*.{language}")
    text = source.read_text()
    assert "narrowed(" in text
    space = f"{source.stem}::" if language == "cpp" else ""
    caller = tmp_path / f"caller{source.suffix}"
    caller.write_text(
        f'#include "{source.name}"\n#include <stdio.h>\n'
        "static double x[3] = {0.1, 0.2, 0.3}, y[3];\n"
        f"int main(void) {{ {space}rounded(x, y);"
        ' printf("%.17g %.17g %.17g", y[0], y[1], y[2]); return 0; }\n'
    )
    compiler = ["g++", "-std=c++17"] if language == "cpp" else ["gcc", "-std=c99"]
    subprocess.run([*compiler, "-O2", caller, "-o", tmp_path / "run", "-lm"], check=True)
    said = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout
    assert [float(word) for word in said.split()] == X.astype("float32").astype("float64").tolist()
