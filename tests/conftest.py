"""Options and fixtures that all tests share."""

import functools
import gc
import os
import random
import signal
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import pytest

from share_of_tests import SHARES

# Peers compute small things here, in several processes at a time: their threads would spin while
# they wait for each other, which takes a hundred times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Most tests ask what kernels compute, which no optimisation changes: -O1 takes g++ half as long.
# Those of the long tail compile as users do.
os.environ.setdefault("COMPOSIT_OPTIMIZE", "1")
# A busy machine takes minutes for hundreds of kernels in one file; users' limit is one.
os.environ.setdefault("COMPOSIT_COMPILER_SECONDS", "600")

# What a shell runs in the background ignores Ctrl-C, and so do its children, which tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the files of tests/golden"
    )
    parser.addoption(
        "--share", type=int, choices=range(SHARES), help="one of the shares of the long tail"
    )
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run the tests in an order drawn from a seed"
    )
    parser.addoption(
        "--device", metavar="NAME", help='tests of devices run on this one alone: "cuda"'
    )


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "long_tail: one of many of its kind; `make test` runs a tenth of these"
    )


# The files that take longest, the longest first. They are begun first, so that no worker is left
# with one of them when the others have nothing to do. A file that is not here costs no more than
# such a wait.
LONGEST = [
    "tests/docs/test_code_blocks.py",
    "tests/python/devices/test_suites.py",
    "tests/python/knossos/test_array_fuzz.py",
    "tests/python/devices/test_cuda_on_host.py",
    "tests/python/fuzz/test_random_graphs.py",
    "tests/python/memory/test_growth.py",
    "tests/python/fuzz/test_wide_dtypes.py",
    "tests/python/examples/test_mnist.py",
    "tests/python/flashlight/test_operators.py",
    "tests/python/torch/test_torch_any_order.py",
    "tests/python/faults/test_compilers.py",
    "tests/python/nn/test_checkpoints.py",
    "tests/python/model_zoo/test_commands.py",
    "tests/python/loops/test_packing.py",
    "tests/python/faults/test_interrupts.py",
    "tests/python/faults/test_memory_ends.py",
    "tests/python/examples/test_digits.py",
    "tests/python/cg/test_models.py",
    "tests/python/knossos/test_torch_transforms.py",
    "tests/python/numpy/test_linalg.py",
    "tests/python/loops/test_scan.py",
    "tests/python/torch/test_torch_conformance.py",
    "tests/python/memory/test_weights.py",
    "tests/python/knossos/test_reassigned.py",
    "tests/python/knossos/test_mapped_kernels.py",
    "tests/python/cg/test_names_and_programs.py",
    "tests/python/mosaic/test_programs.py",
    "tests/python/faults/test_cache_faults.py",
    "tests/python/numpy/test_every_function_compiled.py",
    "tests/python/tools/test_numpys_own_tests.py",
]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is made while tests are collected lives until they have run: the cycle collector, which
    some tests call, need not look at it each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(config, items):
    keep_share(config, items)
    longest_first(config, items)
    shuffle(config, items)


def longest_first(config, items):
    """Moves whole files, for workers that take file after file."""
    if not hasattr(config, "workerinput"):
        return
    place = {file: number for number, file in enumerate(LONGEST)}
    count = Counter(file_of(item) for item in items)
    items.sort(key=lambda item: (place.get(file_of(item), len(place)), -count[file_of(item)]))


def file_of(item):
    return item.nodeid.split("::")[0]


def keep_share(config, items):
    """Leaves out the tests of the long tail that are not in the share."""
    share = config.getoption("--share")
    if share is None:
        return
    next_share = {}  # of each file, whose tests take turns
    kept, left_out = [], []
    for item in items:
        is_kept = True
        if item.get_closest_marker("long_tail"):
            file = file_of(item)
            turn = next_share.get(file, zlib.crc32(file.encode()))
            next_share[file] = turn + 1
            is_kept = turn % SHARES == share
        (kept if is_kept else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    if not item.get_closest_marker("long_tail"):
        return (yield)
    chosen = os.environ.pop("COMPOSIT_OPTIMIZE")
    try:
        return (yield)
    finally:
        os.environ["COMPOSIT_OPTIMIZE"] = chosen


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--share") is not None:
        terminalreporter.write_line(
            f"share {config.getoption('--share')} of the long tail's {SHARES}: "
            f"`make test SHARE={config.getoption('--share')}` repeats these tests"
        )


def shuffle(config, items):
    """Whole files are moved, and tests within them, so that modules' fixtures are made once."""
    seed = config.getoption("--shuffle")
    if seed is None:
        return
    draw = random.Random(seed)
    files = sorted({item.path for item in items})
    draw.shuffle(files)
    place = {file: number for number, file in enumerate(files)}
    draw.shuffle(items)
    items.sort(key=lambda item: place[item.path])


class Golden:
    """Compares texts with files of tests/golden, or rewrites the files if asked to."""

    def __init__(self, update):
        self.update = update

    def check(self, name, text):
        """Fails unless the file `name` holds exactly `text`."""
        file = GOLDEN / name
        if self.update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        expected = file.read_text(encoding="utf-8") if file.exists() else ""
        assert text == expected, f"{file} differs; `make golden UPDATE=1` rewrites it"


@pytest.fixture
def golden(request):
    return Golden(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def backend_library(tmp_path_factory):
    """A function: the library of examples/backend/NAME.cpp, compiled once."""
    folder = tmp_path_factory.mktemp("backends")

    @functools.cache
    def compiled(name):
        import composit

        package = Path(composit.__file__).parent
        source = Path(__file__).parents[1] / "examples" / "backend" / f"{name}.cpp"
        library = folder / f"{name}.so"
        subprocess.run(["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared",
                        "-fPIC", "-I", package / "include", source, "-o", library,
                        package / "libcomposit.so"], check=True)  # fmt: skip
        return library

    return compiled


@pytest.fixture(scope="session")
def apart(backend_library):
    """The name of a device with memory of its own, in this process from now on."""
    import ctypes

    import composit

    assert composit.devices
    ctypes.CDLL(str(backend_library("apart")))
    return "apart:0"


def pytest_sessionfinish(session):
    """Hypothesis keeps the session alive until the process ends; its parameters, objects of the
    core among them, are not to be reported as leaks then."""
    gc.unfreeze()
    session.items.clear()
