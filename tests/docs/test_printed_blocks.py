"""What docs/compile-and-export.md shows as composit's output is what composit writes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/compile-and-export.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRITE = """
import json
from pathlib import Path

compiled.export("exported")
json.dump({"program": str(compiled.program), "source": compiled.source,
           "header": Path("exported/mean_softplus.hpp").read_text()}, open("written", "w"))
"""


@pytest.fixture(scope="module")
def blocks():
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def written(blocks, tmp_path_factory):
    """The program, C++ and header of the page's first block, run as model.py."""
    folder = tmp_path_factory.mktemp("page")
    first = next(code for language, code in blocks if language == "python")
    (folder / "model.py").write_text(first + WRITE, encoding="utf-8")
    subprocess.run([sys.executable, "model.py"], cwd=folder, check=True)
    return json.loads((folder / "written").read_text())


def test_the_program(blocks, written):
    shown = [code for _, code in blocks if code.startswith("program ")]
    assert [code.strip() for code in shown] == [written["program"].strip()]


def test_the_loop(blocks, tmp_path):
    """The kernel of the loop, whose code comes before it; its lines are those of training.py."""
    code = next(code for language, code in blocks if language == "python" and "fori_loop" in code)
    head = "import numpy as np\n\nimport composit\nimport composit.numpy as cnp\n\n\n"
    (tmp_path / "training.py").write_text(head + code + "print(trained.program)\n")
    command = [sys.executable, "training.py"]
    out = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    (shown,) = [code for _, code in blocks if code.startswith("kernel ")]
    assert out.rstrip().endswith(shown.rstrip())


def test_the_cpp(blocks, written):
    """Each block is a part of the C++ or of the header; one that ends in an ellipsis, up to it."""
    shown = [code.split("    // …")[0] for language, code in blocks if language == "cpp"]
    assert [code.splitlines()[0][:6] for code in shown] == ["// sum", "// exp", "namesp"]
    for code, text in zip(shown, [written["source"], written["source"], written["header"]]):
        assert code in text
