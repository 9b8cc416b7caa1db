"""NumPy's test modules are read so that composit.numpy takes NumPy's place in them."""

import importlib.util
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

PATH = Path(__file__).parents[3] / "tools" / "numpys_own_tests.py"


@pytest.fixture(scope="module")
def tool():
    specification = importlib.util.spec_from_file_location("numpys_own_tests", PATH)
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def test_imports_are_swapped_line_by_line(tool):
    source = (
        "import numpy as np\nfrom numpy.linalg import (\n    norm,\n    det as d,\n)\nimport os\n"
    )
    assert tool.swapped(source).splitlines() == [
        "from _proxy import np as np",
        "from _proxy import np as _np; norm = _np.linalg.norm; d = _np.linalg.det",
        "",
        "",
        "",
        "import os",
    ]


def test_what_cannot_be_imported_is_taken_out(tool):
    source = "class A:\n    def f(self): pass\n    @make(1)\n    def g(self):\n        pass\n"
    text, name = tool.without(source, 3)
    assert name == "g" and text == "class A:\n    def f(self): pass\n    pass\n\n\n"


def test_a_module_is_run(tool, tmp_path, monkeypatch):
    (tmp_path / "test_small.py").write_text(
        "import numpy as np\n"
        "from numpy.testing import assert_array_equal\n"
        "class TestSum:\n"
        "    def test_sum(self):\n"
        "        assert isinstance(np.arange(3), np.ndarray)\n"
        "        assert type(np.arange(3)).__module__.startswith('composit')\n"
        "        assert_array_equal(np.arange(3).sum(), 3)\n"
        "    def test_wrong(self):\n"
        "        assert_array_equal(np.arange(2), [0, 2])\n"
        "    def test_strings(self):\n"
        "        np.zeros(3, 'longdouble')\n"
        "class TestLost:\n"
        "    x = np.zeros(3, dtype='longdouble')\n"
        "    def test_x(self): pass\n"
    )
    monkeypatch.setattr(tool.numpy, "__file__", str(tmp_path / "__init__.py"))
    outcome = tool.run("test_small.py", jobs=1, seconds=100)
    assert (outcome.passed, outcome.failed) == (1, 1)
    assert outcome.classes == {"TestSum": 1}
    assert sum(outcome.others.values()) == 2
    page = tool.page({"test_small.py": outcome})
    assert "| **all** | 2 | 1 | 50.0 % | | |" in page and "| refused dtypes | 2 |" in page


def test_what_fails_is_left_out_by_what_it_says_there(tool, tmp_path, monkeypatch):
    (tmp_path / "test_small.py").write_text(
        "import numpy as np\n"
        "class TestObjectsAndFlags:\n"  # a name decides nothing
        "    def test_passes(self):\n"
        "        x = np.arange(3)\n"
        "        assert x.flags.c_contiguous and repr(x)\n"
        "    def test_flags(self):\n"
        "        assert np.zeros((2, 2), order='F').flags.f_contiguous\n"
        "    def test_values_behind_flags(self):\n"
        "        x = np.arange(3)\n"
        "        assert x.flags.c_contiguous\n"
        "        assert x[0] == 1\n"
        "    def test_print(self):\n"
        "        assert np.array2string(np.arange(3), threshold='none')\n"
        "    def test_subclass(self):\n"
        "        assert np.arange(3)[0] == 1\n"
        "    def test_in_c(self):\n"
        "        from numpy._core._multiarray_tests import array_indexing\n"
    )
    monkeypatch.setattr(tool.numpy, "__file__", str(tmp_path / "__init__.py"))
    outcome = tool.run("test_small.py", jobs=1, seconds=100)
    assert (outcome.passed, outcome.failed) == (1, 1)
    assert outcome.others == {
        "memory": 1,
        "printing": 1,
        "subclasses of ndarray": 1,
        "functions in C for tests": 1,
    }


def test_modules_that_cannot_be_collected_say_why(tool, tmp_path, monkeypatch):
    (tmp_path / "test_small.py").write_text(
        "import numpy as np\nimport pytest\n"
        "class TestLost:\n"
        "    @pytest.mark.parametrize('x', (np.zeros(n, t) for n, t in ((1, 'f8'), (1, 'g'))))\n"
        "    def test_x(self, x): pass\n"
    )
    monkeypatch.setattr(tool.numpy, "__file__", str(tmp_path / "__init__.py"))
    outcome = tool.run("test_small.py", jobs=1, seconds=100)
    assert outcome.failed == 0 and set(outcome.others) <= {"refused dtypes"} and outcome.others


def test_numpys_own_skips_are_not_left_out(tool):
    outcome = tool.Outcome()
    for text in ("requires 32 bit", "left out: functions in C for tests", ""):
        case = ElementTree.fromstring('<testcase classname="m.T" name="t"><skipped/></testcase>')
        case.find("skipped").set("message", text)
        tool.count(outcome, case)
    assert outcome.skipped == 2 and outcome.others == {"functions in C for tests": 1}
