"""COMPOSIT_TEST_DEVICE=apart (or cuda, opencl): these tests with that default device, but for those
that are marked `on_cpu`: they say themselves that tensors lie there. COMPOSIT_TEST_PART=3/100:
every hundredth of them.

Tests look at values by numpy() and give them by from_numpy(), which know no device but the CPU:
there, values are copied from the device, and to it."""

import os
import re
import zlib

import pytest

WANTED = os.environ.get("COMPOSIT_TEST_DEVICE")
PART = os.environ.get("COMPOSIT_TEST_PART", "0/1")


def pytest_configure(config):
    config.addinivalue_line("markers", "on_cpu: a test that says that tensors lie on the CPU")


def pytest_collection_modifyitems(config, items):
    if not WANTED:
        return
    part, parts = map(int, PART.split("/"))
    left_out = [
        item
        for item in items
        if item.get_closest_marker("on_cpu") or zlib.crc32(item.nodeid.encode()) % parts != part
    ]
    items[:] = [item for item in items if item not in set(left_out)]
    config.hook.pytest_deselected(items=left_out)


def without_device(tensor):
    from composit.torch.printing import text_of

    return re.sub(r",\s+device='[^']*'", "", text_of(tensor))


if WANTED:

    @pytest.fixture(autouse=True)
    def default_device(request, monkeypatch):
        if WANTED.startswith("apart"):
            request.getfixturevalue("apart")
        import composit.torch as torch

        from_numpy = torch.from_numpy
        monkeypatch.setattr(torch.Tensor, "_check_on_cpu", lambda self: None)
        monkeypatch.setattr(torch, "from_numpy", lambda array: from_numpy(array).to(WANTED))
        monkeypatch.setattr(torch.Tensor, "__repr__", without_device)
        torch.set_default_device(WANTED)
        yield
        torch.set_default_device(None)
