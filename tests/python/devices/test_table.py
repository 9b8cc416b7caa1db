"""`python -m composit.devices`."""

import re

from composit import devices
from composit.devices.__main__ import main

SPEED = r"measured: [\d.]+ GFLOP/s in matrix products of float32, [\d.]+ GB/s in copies, [\d.]+ us"


def test_the_table(opencl, capsys):
    assert main([]) == 0
    said = capsys.readouterr().out
    assert re.search(rf"^cpu +the host, .*cpp, interpreter.*: .* GiB\n +{SPEED} a launch\n", said)
    assert re.search(rf"^{opencl} .* GiB.*\n +{SPEED} a launch\n +target: fused k", said, re.M)
    for kind, reason in devices.missing().items():
        assert re.search(rf"^{kind} +not here: {re.escape(reason)}$", said, re.M)


def test_nothing_is_measured(opencl, capsys):
    assert main(["--quick"]) == 0
    said = capsys.readouterr().out
    assert "measured" not in said and said.startswith("cpu ") and opencl in said
