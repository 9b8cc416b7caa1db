"""find_package(composit) works from the build folder and from an installed prefix."""

import shutil
import subprocess
from pathlib import Path

import pytest

import composit

CONSUMER = Path(__file__).parent / "consumer"
PACKAGE = Path(composit.__file__).parent

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def build_and_run_consumer(folder, *settings):
    run("cmake", "-S", CONSUMER, "-B", folder, *settings)
    run("cmake", "--build", folder)
    return run(folder / "consumer")


def test_the_package_in_use_can_be_linked(tmp_path):
    output = build_and_run_consumer(tmp_path, f"-Dcomposit_DIR={PACKAGE / 'cmake'}")
    assert output.startswith("composit 0.")


def test_an_installed_library_can_be_linked_and_moved(tmp_path):
    build_folder = PACKAGE.parent.parent
    if not (build_folder / "CMakeCache.txt").exists():
        pytest.skip("composit is not imported from a build folder")
    run("cmake", "--install", build_folder, "--prefix", tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "moved")
    output = build_and_run_consumer(tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'moved'}")
    assert output.startswith("composit 0.")


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
