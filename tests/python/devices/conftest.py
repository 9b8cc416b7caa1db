import pytest

import composit
import device_here


@pytest.fixture(scope="session")
def apart(tmp_path_factory):
    """A device of separate memory that needs no hardware."""
    return device_here.load(tmp_path_factory)


@pytest.fixture(scope="session")
def opencl():
    """A must, as `make setup` installs a driver for the CPU."""
    missing = composit.devices.missing()
    assert "opencl:0" in composit.devices.names(), f"no OpenCL device to test on: {missing}"
    return "opencl:0"


@pytest.fixture(scope="session", params=["apart", "opencl"])
def device(request):
    """Each device that tests can count on."""
    return request.getfixturevalue(request.param)
