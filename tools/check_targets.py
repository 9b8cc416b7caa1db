"""Checks that passes and plans have no numbers about processors: those are members of Target
(composit/target/target.h), which back ends give. What other numbers there are, tools/numbers.txt
lists, with the reason why each holds for every machine."""

from __future__ import annotations

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("transforms", "execute", "mosaic", "functional")
CONSTANT = re.compile(r"\bconstexpr\s+(?:[\w:]+\s+)+?(\w+)\s*=\s*[^;]*\d[^;]*;", re.DOTALL)
MORE = re.compile(r",\s*(\w+)\s*=\s*[^,;]*\d")


def constants_of(text: str) -> list[str]:
    """Names of the constants with numbers that a source defines."""
    names = []
    for match in CONSTANT.finditer(text):
        if "string_view" not in match.group(0) and "char" not in match.group(0):
            names += [match.group(1), *MORE.findall(match.group(0))]
    return names


def main() -> int:
    listed: dict[tuple[str, str], str] = {}
    for line in (ROOT / "tools/numbers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            path, name, reason = line.split(None, 2)
            listed[path, name] = reason
    found = {
        (str(path.relative_to(ROOT / "composit")), name)
        for folder in FOLDERS
        for kind in ("*.h", "*.cpp")
        for path in (ROOT / "composit" / folder).rglob(kind)
        for name in constants_of(path.read_text())
    }
    for path, name in sorted(found - listed.keys()):
        print(f"composit/{path}: the constant {name} is not in tools/numbers.txt. A number about "
              "a processor belongs into Target; list any other with its reason.")  # fmt: skip
    for path, name in sorted(listed.keys() - found):
        print(f"tools/numbers.txt: composit/{path} has no constant {name}. Remove the line.")
    return int(found != listed.keys())


if __name__ == "__main__":
    sys.exit(main())
