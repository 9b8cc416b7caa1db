"""tools/requirements.py prints what pyproject.toml asks for, and torch is always pinned."""

import re
import tomllib

import pytest

from requirements import ROOT, requirements

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = ["build", *PROJECT["project"]["optional-dependencies"]]


def name_of(requirement):
    return re.match(r"[\w-]+", requirement)[0].lower()


def test_extras_add_to_the_projects_own_requirements():
    project = {
        "build-system": {"requires": ["nanobind"]},
        "project": {"dependencies": ["numpy"], "optional-dependencies": {"test": ["pytest"]}},
    }
    assert requirements(project, []) == ["numpy"]
    assert requirements(project, ["test", "build"]) == [
        "cmake",
        "nanobind",
        "ninja",
        "numpy",
        "pytest",
    ]


@pytest.mark.parametrize("extra", EXTRAS)
def test_torch_is_never_asked_for_unpinned(extra):
    asked = [r for r in requirements(PROJECT, [extra]) if name_of(r) == "torch"]
    assert asked in ([], ["torch==2.13.0"])


def test_the_constraints_pin_every_requirement():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    assert {name_of(r) for r in requirements(PROJECT, EXTRAS)} <= set(pins)
