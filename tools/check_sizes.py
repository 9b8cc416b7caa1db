"""Checks the sizes of source files and prints the lines of each folder.

At most 500 lines a file (1000 for a table) and 100 columns a line. tools/size_exceptions.txt lists
what is let through; its numbers only shrink: `--shrink` lowers them to today's sizes.
"""

import fnmatch
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "tools/size_exceptions.txt"
SUFFIXES = {".h", ".cpp", ".py", ".pyi", ".cmake", ".sh"}
FILE_LINES, TABLE_LINES, COLUMNS = 500, 1000, 100


@dataclass
class Exceptions:
    """What tools/size_exceptions.txt lets through."""

    table: list[str] = field(default_factory=list)
    long: dict[str, int] = field(default_factory=dict)
    wide: list[str] = field(default_factory=list)


def read_exceptions(text: str) -> Exceptions:
    found = Exceptions()
    for line in text.splitlines():
        match line.split("#")[0].split():
            case []:
                pass
            case ["table", path]:
                found.table.append(path)
            case ["long", path, lines] if lines.isdigit():
                found.long[path] = int(lines)
            case ["wide", path]:
                found.wide.append(path)
            case _:
                raise ValueError(f"size_exceptions.txt: cannot read '{line}'")
    return found


def matches(path: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def check_file(path: str, text: str, exceptions: Exceptions) -> list[str]:
    """What is wrong with the size of one file, as messages."""
    lines = text.splitlines()
    messages = []
    limit = TABLE_LINES if matches(path, exceptions.table) else FILE_LINES
    if path in exceptions.long:
        if len(lines) <= limit:
            messages.append(f"{path}: within the limit now; remove it from size_exceptions.txt")
        limit = max(limit, exceptions.long[path])
    if len(lines) > limit:
        messages.append(f"{path}: {len(lines)} lines; at most {limit}. Split it.")
    if not matches(path, exceptions.wide):
        for number, line in enumerate(lines, start=1):
            if len(line) > COLUMNS:
                messages.append(f"{path}:{number}: {len(line)} columns; at most {COLUMNS}")
    return messages


def shrink(text: str, sizes: dict[str, int]) -> str:
    """The exceptions file `text` with its numbers lowered to `sizes` and spent lines removed."""
    kept = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["long"]:
            lines = min(int(words[2]), sizes.get(words[1], 0))
            if lines <= FILE_LINES:
                continue
            line = f"long {words[1]} {lines}"
        kept.append(line)
    return "\n".join(kept) + "\n"


def source_files() -> list[str]:
    """The paths of all source files that git has or would take, generated goldens left out."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return sorted(
        path
        for path in set(listing)
        if (Path(path).suffix in SUFFIXES or Path(path).name == "CMakeLists.txt")
        and not path.startswith("tests/golden/")
        and (ROOT / path).is_file()
    )


def folder_of(path: str) -> str:
    """The folder that a file's lines are counted under: two levels, as in composit/ir."""
    return "/".join(path.split("/")[:-1][:2]) or "."


def main(arguments: list[str]) -> int:
    listed = EXCEPTIONS.read_text(encoding="utf-8")
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in source_files()}
    if "--shrink" in arguments:
        sizes = {path: len(text.splitlines()) for path, text in texts.items()}
        EXCEPTIONS.write_text(shrink(listed, sizes), encoding="utf-8")
        return 0
    exceptions = read_exceptions(listed)
    messages = [m for path, text in texts.items() for m in check_file(path, text, exceptions)]
    messages += [
        f"{path}: no such file; remove it from size_exceptions.txt"
        for path in exceptions.long
        if path not in texts
    ]
    folders: Counter[str] = Counter()
    for path, text in texts.items():
        folders[folder_of(path)] += len(text.splitlines())
    for folder, count in sorted(folders.items()):
        print(f"{count:7} {folder}")
    print(f"{folders.total():7} in all")
    print("\n".join(messages) or "sizes: every file is within its limits")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
