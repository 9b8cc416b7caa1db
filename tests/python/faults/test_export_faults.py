"""Exports into folders that do not take them: a clear error, and the old files as they were."""

import numpy as np
import pytest
from processes import NOBODY, run, temporaries

import composit

X = np.linspace(0, 1, 40)


def compiled():
    return composit.compile(lambda x: x + X, X, backend="interpreter", name="f")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_that_exists_keeps_its_other_files(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    names = compiled().export(tmp_path)
    assert names == ["f.cpp", "f.hpp", "f.weights", "main.cpp", "CMakeLists.txt"]
    assert {path.name for path in tmp_path.iterdir()} == {*names, "notes.txt"}
    assert compiled().export(tmp_path) == names


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError) as caught:
            compiled().export(path)
        assert str(caught.value).startswith(f"export: the folder '{path}' cannot be made: ")
        assert "A folder that can be written to is required. [test_export_faults.py:" in str(
            caught.value
        )


def test_a_folder_in_the_place_of_a_file(tmp_path):
    (tmp_path / "f.hpp").mkdir()
    with pytest.raises(OSError, match=r"^export: .*f\.hpp cannot be written: Is a directory\. \["):
        compiled().export(tmp_path)
    assert not temporaries(tmp_path)


def test_a_folder_without_the_right_to_write(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o500)
    program = f"""
f = composit.compile(lambda x: x + 1, np.ones(2), backend="interpreter", name="f")
{NOBODY}
try:
    f.export({str(tmp_path / "folder")!r})
except OSError as error:
    print(error)
"""
    status, out, err = run(program)
    assert status == 0, err
    assert "export: " in out and "Permission denied" in out


def test_a_full_disk_leaves_the_former_export(tmp_path):
    compiled().export(tmp_path)
    before = contents(tmp_path)
    program = f"""
import resource
big = np.arange(5000.0)
f = composit.compile(lambda x: x + big, big, backend="interpreter", name="f")
resource.setrlimit(resource.RLIMIT_FSIZE, (39000, 39000))
try:
    f.export({str(tmp_path)!r})
except OSError as error:
    print(error)
"""
    status, out, err = run(program)
    assert status == 0, err
    assert out.startswith(f"export: {tmp_path}/f.weights cannot be written: File too large. [")
    assert contents(tmp_path) == before
