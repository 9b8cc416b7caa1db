"""Every Python block, every whole C++ program of the documentation, and every example runs.

The Python blocks of a page run one after another in one fresh interpreter. A block after a line
`<!-- not run: reason -->` is left out, and so is a C++ block without a main function.
"""

import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXAMPLES = sorted(ROOT.glob("examples/**/*.py"))
BLOCK = re.compile(
    r"(?P<skipped><!-- not run: .+ -->\n+)?^```(?P<language>python|cpp)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)


def blocks(page, language):
    """The code of `page` in `language`, each block padded so that it keeps its line numbers."""
    text = page.read_text(encoding="utf-8")
    return [
        "\n" * text[: match.start("code")].count("\n") + match["code"]
        for match in BLOCK.finditer(text)
        if match["language"] == language and not match["skipped"]
    ]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def run(command, folder):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name_of)
def test_python_of_a_page_runs(page, tmp_path):
    # inspect finds the text of the page's functions.
    lines = [""] * (page.read_text(encoding="utf-8").count("\n") + 1)
    for code in blocks(page, "python"):
        lines = [new or old for old, new in zip_longest(lines, code.split("\n"), fillvalue="")]
    text = [line + "\n" for line in lines]
    program = (
        f"import linecache\nlinecache.cache[{name_of(page)!r}] = (1, None, {text!r}, 'page')\n"
        "namespace = {'__name__': '__main__'}\n"
    ) + "".join(
        f"exec(compile({code!r}, {name_of(page)!r}, 'exec'), namespace)\n"
        for code in blocks(page, "python")
    )
    (tmp_path / "page.py").write_text(program, encoding="utf-8")
    run([sys.executable, "page.py"], tmp_path)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any("int main(" in c for c in blocks(p, "cpp"))], ids=name_of
)
def test_whole_cpp_programs_of_a_page_run(page, tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    import composit

    package = Path(composit.__file__).parent
    for code in blocks(page, "cpp"):
        if "int main(" in code:
            (tmp_path / "page.cpp").write_text(code, encoding="utf-8")
            include, library = f"-I{package / 'include'}", package / "libcomposit.so"
            compile_command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", include]
            link = [library, f"-Wl,-rpath,{package}", "-o", "page"]
            run([*compile_command, "page.cpp", *link], tmp_path)
            run(["./page"], tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_example_runs(example, tmp_path):
    run([sys.executable, example], tmp_path)


def test_blocks_are_found_and_skipped(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n```python\na = 1\n```\n<!-- not run: slow -->\n```python\nb = 2\n```\n"
        "```cpp\nint c;\n```\n```\nplain\n```\n"
    )
    assert blocks(page, "python") == ["\n\na = 1\n"]
    assert blocks(page, "cpp") == ["\n" * 9 + "int c;\n"]
