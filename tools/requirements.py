"""Prints the requirements of pyproject.toml, one a line: its own, and those of the extras named.

The name "build" stands for what the build needs, CMake and Ninja included.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def requirements(project: dict, extras: list[str]) -> list[str]:
    """The requirements of `project` (a parsed pyproject.toml) with `extras`, each once, sorted."""
    found = set(project["project"].get("dependencies", []))
    for extra in extras:
        if extra == "build":
            found |= {*project["build-system"]["requires"], "cmake", "ninja"}
        else:
            found |= set(project["project"]["optional-dependencies"][extra])
    return sorted(found)


if __name__ == "__main__":
    with open(ROOT / "pyproject.toml", "rb") as file:
        print("\n".join(requirements(tomllib.load(file), sys.argv[1:])))
