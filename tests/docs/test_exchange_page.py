"""The plain C and the MLIR that docs/exchange.md shows are what composit writes."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/exchange.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
HEAD = """import numpy as np

import composit
from composit import nn

"""


def written(folder):
    """The header and the source of the page's function, run as model.py; and the strict source."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    codes = [code for language, code in blocks if "gate.export(" in code and language == "python"]
    assert len(codes) == 2
    (folder / "model.py").write_text(HEAD + "".join(codes), encoding="utf-8")
    subprocess.run([sys.executable, "model.py"], cwd=folder, check=True)
    return [(folder / name).read_text() for name in ("gate/gate.h", "gate/gate.c", "strict/gate.c")]


def test_the_plain_program(tmp_path):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    header, source, strict = written(tmp_path)
    shown = [code for language, code in blocks if language == "c"]
    assert shown[:2] == [header, source] and len(shown) == 4 and shown[3] in strict


def test_a_kernel_in_plain_text(tmp_path):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    (code,) = [code for _, code in blocks if "limited_rows.export(" in code]
    printed(HEAD + code, "model.py", tmp_path)
    shown = [code for language, code in blocks if language == "c"][2]
    assert shown in (tmp_path / "limited/limited_rows.c").read_text()


def printed(code, name, folder):
    """What a block prints, run as a file of that name."""
    (folder / name).write_text(code, encoding="utf-8")
    command = [sys.executable, name]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_mlir(tmp_path):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    (graph,) = [code for _, code in blocks if "mlir.text(score" in code]
    (kernel,) = [code for _, code in blocks if "print(horner.mlir)" in code]
    made = [printed(HEAD + graph, "model.py", tmp_path), printed(kernel, "horner.py", tmp_path)]
    shown = [code.strip() for language, code in blocks if language == "mlir"]
    assert shown == [text.strip() for text in made]
