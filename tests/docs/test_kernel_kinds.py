"""The table of kinds of kernels is what their description says; the page on adding one names the
files that a kind is named by."""

import re
from pathlib import Path

from composit import _core

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MOST_FILES = 8


def test_the_table():
    assert _core.kernel_kinds() in (DOCS / "kernel-kinds.md").read_text(encoding="utf-8")


def files_naming(kind):
    """Sources that have the word; PyTorch's functions and knossos have others by these names."""
    word = re.compile(rf"\b{kind}\b")
    found = set()
    for folder in ("composit", "python/bindings"):
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in (".h", ".cpp") or name.startswith(
                ("composit/aten", "composit/knossos")
            ):
                continue
            if word.search(path.read_text(encoding="utf-8")):
                found.add(name)
    return found


def test_the_files_of_a_kind():
    page = (DOCS / "adding-a-kernel-kind.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(composit/\S+)` \|", page, re.MULTILINE))
    assert len(listed) <= MOST_FILES
    assert files_naming("Search") == listed | {"composit/exporters/plain/grouping.cpp"}
    for kind in ("DecodedContract", "ByteContract"):
        named = files_naming(kind)
        assert len(named) <= MOST_FILES
        assert all(Path(name).name in page for name in named)


def test_the_description_on_the_page():
    page = (DOCS / "adding-a-kernel-kind.md").read_text(encoding="utf-8")
    fields = (ROOT / "composit/ir/kernel/fields.h").read_text(encoding="utf-8")
    [described] = re.findall(r"^```\n(template <Is<Search>.*?)```$", page, re.MULTILINE | re.DOTALL)
    assert described in fields
