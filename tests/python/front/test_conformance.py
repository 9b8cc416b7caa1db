"""The conformance suite, and a back end from outside the tree that passes it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from composit import _core, conformance

OUTSIDE = Path(__file__).parents[2] / "backends" / "outside" / "numpy_backend.py"


def test_interpreter(capsys):
    assert conformance.main(["interpreter", "--filter", "programs"]) == 0
    assert "programs" in capsys.readouterr().out


def test_one_folder(capsys):
    assert conformance.main(["numpy_outside", "--load", str(OUTSIDE)]) == 0
    assert "Reduce kernels are not written for numpy_outside" in capsys.readouterr().out
    assert "numpy_outside" in _core.backends.names()


def test_one_file_of_cpp(backend_library):
    """In a process of its own, which ends with the library that it loaded."""
    library = backend_library("skeleton")
    command = [sys.executable, "-W", "ignore", "-m", "composit.conformance", "skeleton"]
    ran = subprocess.run([*command, "--load", library], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Reduce kernels are not written for skeleton" in ran.stdout
    assert re.search(r"^rows +(\d+) +\1 +0 +0", ran.stdout, re.MULTILINE)


class Wrong:
    """Writes zeros whatever it is asked for."""

    name = "wrong"

    def compile(self, program):
        def run(inputs, outputs):
            for output in outputs:
                output[...] = 0

        return run


def test_differences_are_found(capsys):
    _core.backends.register(Wrong())
    assert conformance.main(["wrong", "--filter", "layout slice"]) == 1
    assert "wrong: slice float32: output 0 of dtype float32" in capsys.readouterr().out


def test_unknown_back_end(capsys):
    with pytest.raises(SystemExit) as caught:
        conformance.main(["nowhere"])
    assert caught.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(
        "python -m composit.conformance: error: backend: there is no back end named 'nowhere'. "
        "Available: "
    )


def test_shares_have_every_case_once(capsys):
    counts = []
    for share in ("0/1", "0/2", "1/2"):
        assert conformance.main(["interpreter", "--filter", "programs", "--share", share]) == 0
        table = capsys.readouterr().out.splitlines()
        counts.append(int(table[1].split()[1]))
    assert counts[0] == counts[1] + counts[2] and counts[2] > 0
    for wrong in ("2/2", "x/2", "1"):
        with pytest.raises(SystemExit):
            conformance.main(["interpreter", "--share", wrong])
        assert "is not I/N with I below N" in capsys.readouterr().err
