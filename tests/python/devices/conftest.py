import device_here
import pytest

import composit


@pytest.fixture(scope="session")
def apart(tmp_path_factory):
    """A device of separate memory that needs no hardware."""
    return device_here.load(tmp_path_factory)


@pytest.fixture(scope="session")
def opencl(request):
    """A must, as `make setup` installs a driver for the CPU. Or what --device names."""
    if request.config.getoption("--device"):
        return composit.devices.full_name(request.config.getoption("--device"))
    missing = composit.devices.missing()
    assert "opencl:0" in composit.devices.names(), f"no OpenCL device to test on: {missing}"
    return "opencl:0"


@pytest.fixture(scope="session", params=["apart", "opencl"])
def device(request):
    """Each device that tests can count on, or the one that --device names."""
    if request.param == "apart" and request.config.getoption("--device"):
        pytest.skip("another device was asked for")
    return request.getfixturevalue(request.param)
