"""Exports into folders that do not take them: a clear error, and the old files as they were."""

import random
import re
import time

import numpy as np
import pytest
from processes import NOBODY, finish, run, start, temporaries, wait_until_ready

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


# Two programs of one name, by turns: other weights, other inputs, another number of sources.
EXPORTS_FOREVER = """
import itertools
functions = []
for size in (40, 50):
    weight = cnp.asarray(np.linspace(0, 1, size))
    x = np.ones((size,))
    functions.append(composit.compile(lambda x, w=weight: cnp.sin(x) * w, x,
                                      backend="interpreter", name="f"))
for function, size in zip(functions, (40, 50)):
    function.export(sys.argv[1] + str(size))
    function.export(sys.argv[1])
ready()
for function in itertools.cycle(functions):
    function.export(sys.argv[1])
"""


def belongs_together(folder):
    """Whether sources and weights ask for one another: what the compiler and load_weights check."""
    texts = {name: (folder / name).read_text() for name in ("f.cpp", "f.hpp", "main.cpp")}
    defined = re.search(r"#define COMPOSIT_EXPORT_f (\w+)", texts["f.hpp"]).group(1)
    asked = [
        re.search(r"#if COMPOSIT_EXPORT_f != (\w+)", texts[name]).group(1)
        for name in ("f.cpp", "main.cpp")
    ]
    header = (folder / "f.weights").read_bytes()[:35].decode()
    return asked == [defined, defined] and header in texts["f.cpp"]


def test_an_export_that_is_killed_is_whole_or_refused(tmp_path):
    out = tmp_path / "out"
    program = EXPORTS_FOREVER.replace("sys.argv[1]", repr(str(out)))
    draw = random.Random(0)
    for _ in range(6):
        process = start(program)
        wait_until_ready(process)
        time.sleep(0.05 + 0.1 * draw.random())
        process.kill()
        finish(process)
        wholes = [contents(tmp_path / "out40"), contents(tmp_path / "out50")]
        found = {name: data for name, data in contents(out).items() if ".tmp-" not in name}
        assert belongs_together(out) == (found in wholes)
    for whole in wholes:
        assert whole.keys() == found.keys()
    # What was killed left files; the next export sweeps them away.
    (out / "f.cpp.composit.tmp-1").write_text("left")
    compiled().export(out)
    assert not temporaries(out) and belongs_together(out)


def test_a_mixture_of_exports_is_seen(tmp_path):
    for size, name in ((40, "a"), (50, "b")):
        weight = np.linspace(0, 1, size)
        f = composit.compile(lambda x, w=weight: x + w, weight, backend="interpreter", name="f")
        f.export(tmp_path / name)
        assert belongs_together(tmp_path / name)
    for name in ("f.cpp", "f.hpp", "f.weights", "main.cpp"):
        mixed = tmp_path / f"mixed {name}"
        mixed.mkdir()
        for file, data in contents(tmp_path / "a").items():
            (mixed / file).write_bytes(data)
        (mixed / name).write_bytes((tmp_path / "b" / name).read_bytes())
        assert not belongs_together(mixed)


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "main.cpp").symlink_to("../mine")
    with pytest.raises(OSError) as caught:
        compiled().export(tmp_path / "out")
    assert str(caught.value).startswith(
        f"export: {tmp_path}/out/main.cpp is a symbolic link out of its folder, to "
        f"{tmp_path}/mine. A file of the folder is required; to write there, give that path. ["
    )
    assert (tmp_path / "mine").read_text() == "mine" and not temporaries(tmp_path)
    assert list((tmp_path / "out").iterdir()) == [tmp_path / "out" / "main.cpp"]
    # The folder itself may be a link: its path was given.
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "there").mkdir()
    compiled().export(tmp_path / "link")
    assert (tmp_path / "there" / "f.cpp").exists()
