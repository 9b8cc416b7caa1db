"""tools/check_layers.py reports includes and imports that no line allows, and circles alone."""

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


def test_bindings_include_folders_and_headers_of_their_line(tmp_path):
    layers = check_layers.read_layers("python/bindings: ir backends/cpp/cache.h\nir:\nbackends/*:")
    for header in ("ir/node.h", "backends/cpp/cache.h", "backends/cpp/emit.h"):
        name = header.replace("/", "_")
        (tmp_path / name).write_text(f'#include "composit/{header}"\n')
    (message,) = check_layers.violations_of_bindings(tmp_path, layers)
    assert message.startswith("python/bindings/backends_cpp_emit.h:1: ")


PYTHON = check_layers.read_python_layers(
    """
base [_core errors]:
arrays [numpy
        evaluation]: base   # a line that goes on
nn: base arrays
nn_parts [nn/parts]: base
door [.]: base arrays nn
torch [torch torch/.]: arrays
"""
)


@pytest.fixture
def python(tmp_path):
    def write(**files):
        for name in ("__init__", "errors", "evaluation", "numpy/__init__", "numpy/fft",
                     "nn/__init__", "nn/parts", "torch/__init__"):  # fmt: skip
            file = tmp_path / f"{name}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(files.get(name.replace("/", "_"), ""))
        return check_layers.violations_of_python(tmp_path, PYTHON)

    return write


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("evaluation", "from composit.numpy.fft import fft"),
        ("evaluation", "import composit._core as _core"),
        ("evaluation", "import composit.errors\nimport numpy.fft"),
        ("numpy___init__", "from composit.numpy import fft"),
        ("numpy_fft", "from ..errors import a"),
        ("__init__", "from composit.numpy import fft as f"),
        ("torch___init__", "f = later.getter(__name__, ('nothing',))"),
        ("nn_parts", "import importlib\nimportlib.import_module('numpy.fft')"),
    ],
)
def test_an_allowed_import_passes(python, file, text):
    assert python(**{file: text}) == []


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("errors", "from composit.numpy import fft", "base may not import composit.numpy.fft"),
        ("errors", "def f():\n    import composit.evaluation", "composit.evaluation (arrays)"),
        ("errors", "from composit import _core", "base may not import composit (door)"),
        ("nn_parts", "from ..numpy import fft", "nn_parts may not import composit.numpy.fft"),
        ("nn_parts", "import importlib\nimportlib.import_module('composit.errors')", ":2: import"),
        ("torch___init__", "NAMES = {'a': 'b'}\nf = getter('composit', NAMES)", None),
        ("__init__", "f = _later.getter(__name__, ('torch',))", "door may not import"),
        ("__init__", "f = _later.getter(__name__, (), homes={'load': 'torch'})", "door may not"),
    ],
)
def test_a_forbidden_import_is_reported(python, file, text, wrong):
    messages = python(**{file: text})
    assert (messages == []) if wrong is None else (wrong in "\n".join(messages))


def test_a_circle_is_reported_where_it_is_within_a_function(python):
    (message,) = python(
        evaluation="from composit.numpy import fft",
        numpy_fft="from composit import errors\ndef f():\n    from composit import evaluation",
    )
    assert "composit.evaluation -> composit.numpy.fft -> composit.evaluation" in message


def test_layers_name_those_above_them_alone():
    with pytest.raises(ValueError, match="arrays names nn, which has no line above it"):
        check_layers.read_python_layers("arrays [numpy]: nn\nnn: arrays")


def test_the_projects_own_file_can_be_read():
    cpp, python = check_layers.parts_of((check_layers.ROOT / "tools/layers.txt").read_text())
    layers = check_layers.read_layers(cpp)
    assert layers["base"] == []
    assert set(layers["ir"]) == {"base"}
    assert check_layers.read_python_layers(python)["base"].allowed == []
