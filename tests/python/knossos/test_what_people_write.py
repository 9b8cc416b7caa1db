"""Programs that were written without the grammar at hand are kernels: they say what Python says,
and forward, reverse and differences agree on their derivatives."""

import shutil
import subprocess

import pytest
import written
from as_python import check, interpreted

from composit import knossos

CALLS = written.calls()
NAMES = [f"{function.__name__}-{i}" for i, (function, _) in enumerate(CALLS)]
# The others, of which each compiles three procedures, are the long tail.
FIRST = {"rotate", "irr", "walsh", "elo", "components", "product_by_lists", "losses", "two_places"}


def marked(i):
    function, _ = CALLS[i]
    marks = () if function.__name__ in FIRST else pytest.mark.long_tail
    return pytest.param(i, id=NAMES[i], marks=marks)


@pytest.mark.parametrize("place", [marked(i) for i in range(len(CALLS))])
def test_as_python(place):
    check(*CALLS[place])


@pytest.mark.parametrize("name", ["two_places", "heat", "gaussian", "elo"])
def test_interpreted_to_the_bit(name):
    call = next(each for each in CALLS if each[0].__name__ == name)
    assert check(*call) == check(*call, use=interpreted)


@pytest.mark.long_tail
@pytest.mark.parametrize("options", [["-O1"], ["-O2", "-DNDEBUG"]], ids=["asserts", "none"])
@pytest.mark.parametrize("function", dict.fromkeys(f for f, _ in CALLS), ids=lambda f: f.__name__)
def test_exports_compile_silently(function, options, tmp_path):
    assert shutil.which("g++"), "g++ is not installed; make setup installs it"
    name = function.__name__
    knossos.register(function).export(tmp_path)
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *options, "-c", f"{name}.cpp"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
