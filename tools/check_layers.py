"""Checks that each folder of composit/ includes only what its line of tools/layers.txt allows."""

import fnmatch
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'\s*#\s*include\s*["<]composit/([^">]+)[">]')
GENERATED = {"version.h"}  # written by CMake, free for all


def read_layers(text: str) -> dict[str, list[str]]:
    """The folders that each folder may include, in the order of the lines of `text`."""
    layers = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, colon, allowed = line.partition(":")
            if not colon:
                raise ValueError(f"layers.txt: expected 'folder: folders', not '{line}'")
            layers[folder.strip()] = allowed.split()
    return layers


def layer_of(path: str, layers: dict[str, list[str]]) -> str | None:
    """The folder of `path` (relative to composit/) that counts as one layer, None if unlisted."""
    parts = path.split("/")[:-1] or ["."]
    for depth in range(len(parts), 0, -1):
        folder = "/".join(parts[:depth])
        for layer in layers:
            if layer.count("/") == folder.count("/") and fnmatch.fnmatchcase(folder, layer):
                return folder
    return None


def rule_of(folder: str, layers: dict[str, list[str]]) -> list[str]:
    """What `folder` may include: its own line, or the first line with a matching pattern."""
    if folder in layers:
        return layers[folder]
    return next(allowed for layer, allowed in layers.items() if fnmatch.fnmatchcase(folder, layer))


def violations(core: Path, layers: dict[str, list[str]]) -> list[str]:
    """One message for each include below `core` that no line allows, sorted by file."""
    messages = []
    for source in sorted([*core.rglob("*.h"), *core.rglob("*.cpp")]):
        path = source.relative_to(core).as_posix()
        own = layer_of(path, layers)
        if own is None:
            messages.append(f"composit/{path}: its folder has no line in tools/layers.txt")
            continue
        lines = source.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            match = INCLUDE.match(line)
            if not match or match[1] in GENERATED:
                continue
            used = layer_of(match[1], layers)
            if used != own and used not in rule_of(own, layers):
                allowed = ", ".join(rule_of(own, layers)) or "nothing"
                messages.append(
                    f"composit/{path}:{number}: {own} may not include composit/{match[1]};"
                    f" it may include {allowed}"
                )
    return messages


def main() -> int:
    layers = read_layers((ROOT / "tools/layers.txt").read_text(encoding="utf-8"))
    messages = violations(ROOT / "composit", layers)
    print("\n".join(messages) or "layers: every include is allowed")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
