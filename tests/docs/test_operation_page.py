"""What docs/how-an-operation-works.md shows is what is printed, compiled and written in the files
that it names."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-an-operation-works.md"
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "----- the next block -----"


def outputs(text):
    """What each Python block prints, run one after another as page.py, on the page's lines."""
    lines = [""] * (text.count("\n") + 1)
    for match in BLOCK.finditer(text):
        if match["language"] == "python":
            first = text[: match.start("code")].count("\n")
            code = match["code"].rstrip("\n").split("\n")
            lines[first : first + len(code)] = code
            lines[first + len(code)] = f"print({MARK!r})"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.py").write_text("\n".join(lines), encoding="utf-8")
        made = subprocess.run([sys.executable, "page.py"], cwd=folder, check=True,
                              capture_output=True, text=True)  # fmt: skip
    return [part.lstrip("\n") for part in made.stdout.split(MARK)]


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(page):
    return outputs(page)


def test_what_is_printed(page, printed):
    number, shown = -1, 0
    for match in BLOCK.finditer(page):
        if match["language"] == "python":
            number += 1
        elif match["language"] == "":
            assert match["code"].strip() == printed[number].strip()
            shown += 1
    assert shown >= 6


def test_what_is_quoted(page, printed):
    """C++ and other code is in the file that the line before names, or in what was compiled."""
    quoted = 0
    everything = "".join(printed)
    for match in BLOCK.finditer(page):
        if match["language"] != "cpp":
            continue
        last = page[: match.start()].rstrip().rsplit("\n", 1)[-1]
        if last.startswith("From"):
            named = re.match(r"From \[`([^`]+)`\]", last)
            text = (ROOT / named[1]).read_text(encoding="utf-8")
        else:
            text = everything
        for piece in re.split(r" *// …\n", match["code"]):
            assert piece.strip("\n") in text, piece
        quoted += 1
    assert quoted >= 4
