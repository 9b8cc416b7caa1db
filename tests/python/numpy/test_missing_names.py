"""The list of NumPy's functions that composit.numpy lacks is true, so that it can only shrink."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[3] / "tools" / "numpy_names.py"


@pytest.fixture(scope="module")
def names():
    specification = importlib.util.spec_from_file_location("numpy_names", PATH)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_nothing_else_is_missing(names):
    new = set(names.missing()) - set(names.listed())
    assert not new, f"write them, or (for a newer NumPy) list them in {names.LIST.name}"


def test_what_exists_is_not_listed(names):
    installed = {name for module in names.MODULES for name in names.public(module)}
    built = (set(names.listed()) & installed) - set(names.missing())
    assert not built, f"take them off {names.LIST.name}"


def test_the_list_is_sorted_names_of_numpy(names):
    listed = names.listed()
    assert len(listed) == len(set(listed))
    for module in names.MODULES:
        inside = [name for name in listed if name.rpartition(".")[0] == module]
        assert inside == sorted(inside)


def test_functions_are_told_from_types_and_printing(names):
    found = names.public("")
    assert "sort" in found and "where" in found and "add" in found
    assert not {"float32", "ndarray", "set_printoptions", "load", "seterr"} & set(found)
    assert "linalg.svd" in names.public("linalg")
