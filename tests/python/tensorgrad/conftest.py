"""COMPOSIT_TEST_DEVICE=apart (or cuda, opencl): these tests with tensors made on that device."""

import os

import pytest

WANTED = os.environ.get("COMPOSIT_TEST_DEVICE")

if WANTED:

    @pytest.fixture(autouse=True)
    def default_device(request):
        if WANTED.startswith("apart"):
            request.getfixturevalue("apart")
        import composit

        with composit.device(WANTED):
            yield
