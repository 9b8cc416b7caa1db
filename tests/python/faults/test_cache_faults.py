"""What happens to the folder of compiled code: one warning at the user's line, the right answer."""

import os
import signal
import time

import pytest
from processes import NOBODY, compiler_script, finish, run, start, temporaries, wait_until_ready

# Prints the answer, then each warning with the line of the program that it points at.
ADD = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for addend in addends:
        f = composit.compile(lambda x: cnp.exp(x) + addend, np.zeros(3))  # here
        assert f(np.zeros(3)).tolist() == [1.0 + addend] * 3
print("right")
for warning in caught:
    print(warning.category.__name__, os.path.basename(warning.filename), warning.message)
"""


def add(cache, addends=(1,), before="", **environment):
    """The lines that ADD prints."""
    status, out, err = run(f"addends = {addends!r}\n{before}\n{ADD}", cache, **environment)
    assert status == 0, err
    first, *rest = out.splitlines()
    assert first == "right" and err == ""
    return rest


def entries(cache):
    return sorted(path for path in cache.glob("*/*") if path.is_dir())


def compilations(tmp_path):
    """A compiler that counts its calls, and the file that it counts in."""
    log = tmp_path / "log"
    return compiler_script(tmp_path / "cxx", f'echo >> {log}\nexec g++ "$@"'), log


def count(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


def one_warning(lines, *texts):
    assert len(lines) == 1, lines
    assert lines[0].startswith("RuntimeWarning <string> ")
    for text in texts:
        assert text in lines[0]


def test_the_next_process_compiles_nothing(tmp_path):
    compiler, log = compilations(tmp_path)
    assert add(tmp_path / "cache", CXX=compiler) == add(tmp_path / "cache", CXX=compiler) == []
    assert count(log) == 1
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_a_limit_on_the_size_of_files(tmp_path):
    """The quickest full disk: no file may grow beyond a few bytes."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    lines = add(tmp_path / "cache", before=limit)
    assert len(lines) == 2
    assert "compile: the cache folder" in lines[0] and "File too large" in lines[0]
    assert "no folder to compile in" in lines[1] and "interpreter runs the program" in lines[1]
    assert not temporaries(tmp_path)
    assert add(tmp_path / "cache") == []


def test_a_full_cache_folder(tmp_path):
    """A file system of a few pages, where one may be mounted."""
    folder = tmp_path / "full"
    folder.mkdir(mode=0o700)
    if os.geteuid() != 0 or os.system(
        f"mount -t tmpfs -o size=16k,mode=700 none {folder} 2>/dev/null"
    ):
        pytest.skip("needs the right to mount")
    try:
        one_warning(add(folder), "the cache folder", "No space left on device", "private temporary")
        assert not temporaries(folder)
    finally:
        os.system(f"umount {folder}")


def test_an_unwritable_folder(tmp_path):
    (tmp_path / "file").write_text("")
    one_warning(add(tmp_path / "file" / "cache"), "cannot be made: Not a directory")


def test_a_folder_without_the_right_to_write(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o500)
    lines = add(tmp_path / "folder" / "cache", before=NOBODY)
    one_warning(lines, "cannot be made: Permission denied", "private temporary folder")


def test_a_folder_that_others_can_write_to(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    one_warning(add(tmp_path / "cache", (1, 2)), "can be written to by other users (chmod 700 it)")
    assert not list((tmp_path / "cache").iterdir())


def test_no_compiler(tmp_path):
    nowhere = {"PATH": str(tmp_path), "CXX": "", "COMPOSIT_PYTHON": str(tmp_path / "python")}
    one_warning(
        add(tmp_path / "cache", (1, 2), **nowhere),
        "no C++ compiler was found. Install g++ or clang++",
        "The interpreter runs the program instead",
    )


def test_no_compiler_for_programs_of_mosaic_and_their_kernels(tmp_path):
    nowhere = {"PATH": str(tmp_path), "CXX": "", "COMPOSIT_PYTHON": str(tmp_path / "python")}
    program = """
from composit import mosaic
x = composit.placeholder("x", (4, 4))
value = np.arange(16, dtype="float32").reshape(4, 4) / 16
y = cnp.tanh(x) @ x
program = mosaic.compile(y, schema={x: (2, 2)}, fuse=False)
memory = {"x": value, **program.constants}
for kernel in program.kernels:
    memory[kernel.outputs[0].name] = kernel(*[memory[operand.name] for operand in kernel.inputs])
expected = cnp.evaluate(cnp.tanh(cnp.asarray(value)) @ value).tobytes()
print(program(value).tobytes() == expected, value_of(memory) == expected, program.sources)
""".replace("value_of(memory)", "memory[kernel.outputs[0].name].tobytes()")
    status, out, err = run(program, tmp_path / "cache", **nowhere)
    assert (status, out) == (0, "True True {}\n"), err
    assert err.count("RuntimeWarning") == 1 and "no C++ compiler was found" in err


def test_a_compiler_that_does_not_run(tmp_path):
    one_warning(
        add(tmp_path / "cache", CXX="/no/such/compiler"), "CXX=/no/such/compiler does not run"
    )


def test_a_killed_compiler(tmp_path):
    lines = add(tmp_path / "cache", CXX=compiler_script(tmp_path / "cxx", "kill -9 $$"))
    one_warning(lines, "was killed by signal 9", "The interpreter runs the program instead")
    assert not temporaries(tmp_path)
    assert add(tmp_path / "cache") == []


def test_a_compiler_that_writes_nonsense(tmp_path):
    lines = add(tmp_path / "cache", CXX=compiler_script(tmp_path / "cxx", "echo no > kernel.so"))
    one_warning(lines, "The interpreter runs the program instead")
    assert add(tmp_path / "cache") == []


def test_a_process_killed_while_it_compiles(tmp_path):
    cache = tmp_path / "cache"
    script = compiler_script(tmp_path / "cxx", f"echo $$ > {tmp_path}/pid; sleep 100")
    process = start(f"ready()\naddends = [1]\n{ADD}", cache, CXX=script)
    wait_until_ready(process)
    while not (tmp_path / "pid").exists():
        time.sleep(0.02)
    process.kill()
    finish(process)
    assert len(entries(cache)) == 1 == len(temporaries(cache))
    os.killpg(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert add(cache) == []
    assert len(entries(cache)) == 1 and not temporaries(cache)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "gone"])
@pytest.mark.parametrize("name", ["kernel.so", "build.txt"])
def test_a_damaged_entry(tmp_path, name, damage):
    compiler, log = compilations(tmp_path)
    assert add(tmp_path / "cache", CXX=compiler) == []
    (entry,) = entries(tmp_path / "cache")
    file = entry / name
    content = bytearray(file.read_bytes())
    if damage == "truncated":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        file.unlink()
    assert add(tmp_path / "cache", CXX=compiler) == []
    assert add(tmp_path / "cache", CXX=compiler) == []
    assert count(log) == 2


def test_processes_that_share_a_folder(tmp_path):
    programs = [f"addends = {addends!r}\n{ADD}" for addends in ((1, 2), (2, 1), (1, 3))]
    processes = [start(program, tmp_path / "cache") for program in programs]
    for process in processes:
        assert finish(process) == (0, "right\n", "")
    assert len(entries(tmp_path / "cache")) == 3 and not temporaries(tmp_path)


def test_a_warning_as_an_error_is_one(tmp_path):
    program = """
warnings.simplefilter("error")
try:
    composit.compile(lambda x: x + 1, np.zeros(3))
except RuntimeWarning as warning:
    print("raised", "CXX=/no/such/compiler does not run" in str(warning))
print(composit.compile(lambda x: x + 1, np.zeros(3))(np.zeros(3)).tolist())
"""
    status, out, err = run(program, tmp_path / "cache", CXX="/no/such/compiler")
    assert (status, out) == (0, "raised True\n[1.0, 1.0, 1.0]\n"), err


def test_the_warning_names_the_users_line(tmp_path):
    page = tmp_path / "model.py"
    page.write_text(
        "import composit, numpy\nf = composit.compile(lambda x: x + 1)\n\nf(numpy.ones(3))\n"
    )
    program = f"import runpy\nrunpy.run_path({str(page)!r})"
    status, _, err = run(program, tmp_path / "cache", CXX="/no/such/compiler")
    assert status == 0
    assert f"{page}:4: RuntimeWarning: back end cpp: " in err
