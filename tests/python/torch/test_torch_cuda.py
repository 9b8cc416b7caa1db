"""torch.cuda, of examples/backend/apart.cpp in place of CUDA."""

import subprocess
import sys

import pytest

import composit.torch as torch
from composit.torch import places


@pytest.fixture
def cuda(apart, monkeypatch):
    monkeypatch.setattr(places, "cuda_kind", "apart")
    places.cuda_names.cache_clear()
    yield torch.cuda
    places.cuda_names.cache_clear()


def test_questions_about_the_device(cuda):
    assert cuda.is_available() and cuda.device_count() == 1 and cuda.current_device() == 0
    assert cuda.get_device_name() == cuda.get_device_name(0) == "memory behind a fence"
    properties = cuda.get_device_properties("apart")
    assert (properties.name, properties.total_memory) == ("memory behind a fence", 2**30)
    assert "total_memory=1024MB" in repr(properties)
    assert cuda.is_initialized()
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        cuda.set_device(3)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.get_device_name("cpu")
    with cuda.device(0):
        assert cuda.current_device() == 0
    with cuda.device(None), cuda.device(-1), cuda.device_of(torch.ones(1, device="apart")):
        pass


def test_memory_is_counted(cuda):
    cuda.empty_cache()
    before, (free, total) = cuda.memory_allocated(), cuda.mem_get_info()
    assert total == 2**30 and 0 < free <= total
    cuda.reset_peak_memory_stats()
    x = torch.ones(1 << 20, device="apart")
    assert cuda.memory_allocated() - before == 4 << 20
    assert cuda.mem_get_info()[0] == free - (4 << 20)
    del x
    assert cuda.memory_allocated() == before
    assert cuda.max_memory_allocated() - before == 4 << 20
    assert cuda.memory_reserved() - before == 4 << 20
    stats = cuda.memory_stats()
    assert stats["allocated_bytes.all.peak"] == cuda.max_memory_allocated()
    assert "reserved_bytes.all.current" in cuda.memory_summary()
    cuda.empty_cache()
    assert cuda.memory_reserved() == before and cuda.mem_get_info()[0] == free
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == before


def test_events_and_streams(cuda):
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    assert start.query()
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    x = torch.ones(64, 64, device="apart")
    y = x @ x
    end.record()
    assert y._lazy.is_known  # the work before an event is asked for
    end.synchronize()
    cuda.synchronize()
    assert end.query() and 0 < start.elapsed_time(end) < 60_000
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(cuda.Event())
    stream = cuda.Stream()
    with cuda.stream(stream):
        z = y + 1
    stream.wait_stream(cuda.current_stream())
    assert stream == cuda.current_stream() and stream.query() and z[0, 0].item() == 65
    assert stream.record_event().query() and str(stream.device) == "apart:0"


def test_one_generator_for_all(cuda):
    cuda.manual_seed_all(3)
    there = torch.rand(3, device="apart")
    torch.manual_seed(3)
    assert torch.rand(3).tolist() == there.tolist() and cuda.initial_seed() == 3
    state = cuda.get_rng_state()
    first = torch.rand(2).tolist()
    cuda.set_rng_state(state)
    assert torch.rand(2, device="apart").tolist() == first
    assert len(cuda.get_rng_state_all()) == 1


def test_what_asks_for_cuda_before_it_is_used(cuda):
    assert torch.accelerator.is_available() and torch.accelerator.current_device_index() == 0
    assert torch.cuda.FloatTensor([1, 2]).device == torch.device("apart:0")
    assert torch.amp.GradScaler("cuda").is_enabled()
    with pytest.raises(NotImplementedError, match="enabled for the cuda it is not built"):
        torch.autocast("cuda")


def test_cudas_library_is_not_opened_before_it_is_asked_for():
    program = (
        "import composit.torch as torch, sys\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "x.sum().backward()\n"
        "torch.device('cuda'), torch.cuda.manual_seed\n"
        "import composit._core as core\n"
        "opened = open('/proc/self/maps').read()\n"
        "assert 'libcuda' not in opened and 'libOpenCL' not in opened\n"
        "torch.cuda.is_available()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
