"""examples/cpp/digits builds against the package and learns to tell simple images apart."""

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import composit

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/cpp/digits"
PACKAGE = Path(composit.__file__).parent

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


def run(*command, code=0):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == code, f"{command}\n{result.stdout}\n{result.stderr}"
    return result


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    run("cmake", "-S", EXAMPLE, "-B", folder, f"-Dcomposit_DIR={PACKAGE / 'cmake'}")
    run("cmake", "--build", folder)
    return folder / "digits"


def write_bars(path, count):
    """8 x 8 images of noise with one bright row: the row's number is the label."""
    draw = random.Random(0)
    lines = []
    for index in range(count):
        label = index % 8
        pixels = [16 if row == label else draw.randint(0, 4) for row in range(8) for _ in range(8)]
        lines.append(",".join(map(str, [label, *pixels])))
    path.write_text("\n".join(lines) + "\n")


def test_it_learns(program, tmp_path):
    write_bars(tmp_path / "bars.csv", 240)
    lines = run(program, tmp_path / "bars.csv", 4, 16).stdout.splitlines()
    found = [re.fullmatch(r"epoch +(\d+): loss ([\d.]+), accuracy ([\d.]+)", x) for x in lines]
    assert [int(match[1]) for match in found] == [1, 2, 3, 4]
    losses = [float(match[2]) for match in found]
    assert losses[-1] < 0.2 * losses[0]
    assert float(found[-1][3]) > 0.9


def test_it_says_what_is_wrong_with_a_file(program, tmp_path):
    missing = run(program, tmp_path / "missing.csv", code=1)
    assert missing.stderr.startswith("digits: cannot open ")
    (tmp_path / "short.csv").write_text("1,2,3\n2,3\n")
    short = run(program, tmp_path / "short.csv", code=1)
    assert "line 2" in short.stderr
    assert "2 pixels are required" in short.stderr
