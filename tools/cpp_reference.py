"""Writes a reference of composit's C++ functions from its public headers: a Markdown page for each
folder, and README.md, which lists all names.

    python tools/cpp_reference.py build/reference
"""

from __future__ import annotations

import argparse
import collections
import itertools
from pathlib import Path

import cpp_headers


def introduction(source: str) -> str:
    """The comment that a header begins with."""
    lines = itertools.takewhile(lambda line: line.startswith("//"), source.splitlines())
    return "\n".join(line[2:].removeprefix(" ") for line in lines)


def section(name: str, source: str) -> tuple[str, list[cpp_headers.Declaration]]:
    """A header's part of a page, and what it declares."""
    found = list(cpp_headers.declarations(source))
    parts = [f"## {name}", "", introduction(source), ""]
    # What follows one another without a comment of its own belongs to the comment before.
    for declaration in found:
        if declaration.comment or not parts[-1].startswith("```cpp"):
            said = declaration.comment.splitlines()
            parts.append("\n".join(line if line else "" for line in said))
            parts.append(f"```cpp\n{declaration.text};\n```")
        else:
            parts[-1] = parts[-1].removesuffix("\n```") + f"\n{declaration.text};\n```"
    return "\n\n".join(part for part in parts if part) + "\n", found


def pages() -> dict[str, str]:
    """The pages by file name."""
    made: dict[str, list[str]] = collections.defaultdict(list)
    names: dict[str, set[str]] = collections.defaultdict(set)
    for header in sorted(cpp_headers.public_headers()):
        folder = str(Path(header).parent)
        path = cpp_headers.ROOT / "composit" / header
        if not path.exists():
            path = cpp_headers.ROOT / "build/dev/include/composit" / header
        text, found = section(f"composit/{header}", path.read_text())
        made[folder].append(text)
        names[folder] |= {d.name for d in found if d.is_function}
    files = {
        f"{folder.replace('/', '_')}.md": f"# composit/{folder}\n\n" + "\n".join(parts)
        for folder, parts in made.items()
    }
    index = ["# Functions of composit's C++ headers", ""]
    for folder, found_names in names.items():
        index += [f"## [{folder}]({folder.replace('/', '_')}.md)", ""]
        index += [", ".join(f"`{name}`" for name in sorted(found_names)), ""]
    files["README.md"] = "\n".join(index)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)
    print(f"wrote {folder}/README.md")


if __name__ == "__main__":
    main()
