"""The table of kinds of kernels is what their description says."""

from pathlib import Path

from composit import _core

PAGE = Path(__file__).parent.parent.parent / "docs" / "kernel-kinds.md"


def test_the_table():
    assert _core.kernel_kinds() in PAGE.read_text(encoding="utf-8")
