"""tools/check_layers.py reports exactly the includes that no line allows."""

import pytest

import check_layers

LAYERS = check_layers.read_layers(
    """
    base:                      # the bottom
    ir:           base
    backends/c_family: base ir
    backends/*:   base ir backends/c_family
    .:            ir
    """
)


@pytest.fixture
def core(tmp_path):
    def write(path, *includes):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f'#include "composit/{name}"\n' for name in includes))
        return check_layers.violations(tmp_path, LAYERS)

    return write


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("ir/node.h", "base/error.h"),
        ("ir/node.h", "ir/scalar/expr.h"),
        ("ir/scalar/expr.h", "ir/dtype.h"),
        ("ir/node.h", "version.h"),
        ("backends/cpp/emit.cpp", "backends/c_family/print.h"),
        ("backends/cpp/emit.cpp", "backends/cpp/compile.h"),
        ("all.h", "ir/node.h"),
    ],
)
def test_an_allowed_include_passes(core, path, include):
    assert core(path, include) == []


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("base/error.h", "ir/node.h"),
        ("ir/scalar/expr.h", "backends/cpp/emit.h"),
        ("backends/cpp/emit.cpp", "backends/interpreter/run.h"),
        ("backends/c_family/print.h", "backends/cpp/emit.h"),
        ("ir/node.h", "elsewhere/file.h"),
        ("ir/node.h", "all.h"),
        ("all.h", "base/error.h"),
    ],
)
def test_a_forbidden_include_is_reported_with_its_line(core, path, include):
    (message,) = core(path, include)
    assert message.startswith(f"composit/{path}:1: ")
    assert f"may not include composit/{include}" in message


def test_a_folder_without_a_line_is_reported(core):
    assert core("surprise/file.h") == [
        "composit/surprise/file.h: its folder has no line in tools/layers.txt"
    ]


def test_a_line_without_a_colon_is_refused():
    with pytest.raises(ValueError, match="expected 'folder: folders', not 'ir base'"):
        check_layers.read_layers("ir base")


def test_the_projects_own_file_can_be_read():
    layers = check_layers.read_layers((check_layers.ROOT / "tools/layers.txt").read_text())
    assert layers["base"] == []
    assert set(layers["ir"]) == {"base"}
