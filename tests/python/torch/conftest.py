"""COMPOSIT_TEST_DEVICE=apart (or cuda, opencl): these tests with that default device.

Tests look at values by numpy() and give them by from_numpy(), which know no device but the CPU:
there, values are copied from the device, and to it."""

import os
import re

import pytest

WANTED = os.environ.get("COMPOSIT_TEST_DEVICE")


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
