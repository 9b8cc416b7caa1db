"""examples/cpp/digits builds against the installed package and learns to read digits."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import composit

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/cpp/digits"
BUILD = Path(composit.__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


def run(*command, code=0):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == code, f"{command}\n{result.stdout}\n{result.stderr}"
    return result


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The example, built against what `cmake --install` puts into a folder of its own."""
    if not (BUILD / "CMakeCache.txt").exists():
        pytest.skip("composit is not imported from a build folder")
    prefix, folder = tmp_path_factory.mktemp("prefix"), tmp_path_factory.mktemp("digits")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    run("cmake", "-S", EXAMPLE, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    found = re.search(r"^composit_DIR:PATH=(.*)$", (folder / "CMakeCache.txt").read_text(), re.M)
    assert Path(found[1]).is_relative_to(prefix)
    run("cmake", "--build", folder)
    return folder / "digits"


def write_digits(path):
    """scikit-learn's handwritten digits, in an order of their own: a label, then the pixels."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    rows = np.column_stack([labels, images])[order]
    np.savetxt(path, rows, fmt="%d", delimiter=",")


def test_it_learns(program, tmp_path):
    write_digits(tmp_path / "digits.csv")
    lines = run(program, tmp_path / "digits.csv", 10, 32).stdout.splitlines()
    found = [re.fullmatch(r"epoch +(\d+): loss ([\d.]+), accuracy ([\d.]+)", x) for x in lines]
    assert [int(match[1]) for match in found] == list(range(1, 11))
    losses = [float(match[2]) for match in found]
    assert losses[-1] < 0.2 * losses[0]
    assert float(found[-1][3]) > 0.97


def test_it_says_what_is_wrong_with_a_file(program, tmp_path):
    missing = run(program, tmp_path / "missing.csv", code=1)
    assert missing.stderr.startswith("digits: cannot open ")
    (tmp_path / "short.csv").write_text("1,2,3\n2,3\n")
    short = run(program, tmp_path / "short.csv", code=1)
    assert "line 2" in short.stderr
    assert "2 pixels are required" in short.stderr
