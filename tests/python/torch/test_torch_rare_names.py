"""Names of torch that few programs use: the same small programs run under PyTorch."""

import importlib
import threading

import pytest
import torch as theirs

from composit import torch as ours

BOTH = pytest.mark.parametrize("t", [theirs, ours], ids=["pytorch", "composit"])


@BOTH
def test_what_lies_in_one_memory(t):
    x = t.arange(6.0)
    y = x[2:]
    assert x.data_ptr() == x.view(2, 3).data_ptr() == x.detach().data_ptr()
    assert y.data_ptr() - x.data_ptr() == 2 * x.element_size()
    assert x.clone().data_ptr() != x.data_ptr() and t.ones(0).data_ptr() == 0
    whole, part = x.untyped_storage(), y.untyped_storage()
    assert whole.data_ptr() == part.data_ptr() and whole.nbytes() == len(part) == 24
    assert x.view(6).is_set_to(x) and not y.is_set_to(x)
    before = x.data_ptr()
    x.add_(1)
    assert x.data_ptr() == before


@BOTH
def test_tied_weights_are_found(t):
    one, other = t.nn.Linear(3, 3), t.nn.Linear(3, 3)
    other.weight = one.weight
    parameters = [one.weight, one.bias, other.weight, other.bias]
    assert len({p.data_ptr() for p in parameters}) == 3


@pytest.mark.filterwarnings("ignore")
@BOTH
def test_typed_storages(t):
    storage = t.ones(2, 3, dtype=t.float64).storage()
    assert storage.size() == len(storage) == 6 and storage.nbytes() == 48
    assert storage.dtype == t.float64 and storage.element_size() == 8


@BOTH
def test_gradients_that_are_kept(t):
    x = t.ones(2, requires_grad=True)
    y = x * 2
    assert not y.retains_grad and not x.retains_grad
    y.retain_grad()
    assert y.retains_grad
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


@BOTH
def test_futures(t):
    future = t.futures.Future()
    later = future.then(lambda done: done.value() + 1)
    assert not future.done()
    threading.Timer(0.01, future.set_result, (2,)).start()
    assert later.wait() == 3 and future.done()
    broken = t.futures.Future()
    broken.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        broken.wait()
    assert t.futures.wait_all([future, later]) == [2, 3]
    assert t.futures.collect_all([future]).wait()[0].wait() == 2
    with pytest.raises(RuntimeError):
        future.set_result(1)
    made = t.jit.fork(lambda x: x + 1, t.ones(1))
    assert t.jit.wait(made).tolist() == [2.0]


@pytest.mark.filterwarnings("ignore")
@BOTH
def test_default_types(t):
    try:
        t.set_default_tensor_type(t.DoubleTensor)
        assert t.tensor(1.0).dtype == t.float64
        t.set_default_tensor_type("torch.FloatTensor")
        assert t.tensor(1.0).dtype == t.float32
        with pytest.raises(TypeError):
            t.set_default_tensor_type(t.LongTensor)
    finally:
        t.set_default_dtype(t.float32)


@BOTH
def test_hooks_of_all_optimisers(t):
    seen = []
    hooks = importlib.import_module(f"{t.__name__}.optim.optimizer")
    before = hooks.register_optimizer_step_pre_hook(lambda *given: seen.append("before"))
    after = hooks.register_optimizer_step_post_hook(lambda *given: seen.append("after"))
    handles = importlib.import_module(f"{t.__name__}.utils.hooks")
    assert isinstance(before, handles.RemovableHandle)
    x = t.ones(1, requires_grad=True)
    x.sum().backward()
    optimizer = t.optim.SGD([x], 0.1)
    optimizer.register_step_pre_hook(lambda *given: seen.append("own"))
    optimizer.step()
    before.remove()
    after.remove()
    optimizer.step()
    assert seen == ["before", "own", "after", "own"]


@BOTH
def test_what_compilers_are_told(t):
    c = t.compiler

    def doubled(x):  # PyTorch remembers it for the whole process
        return x * 2

    assert c.allow_in_graph(doubled) is doubled and not c.is_exporting()
    with c.set_stance("default"):
        pass
    c.cudagraph_mark_step_begin()
    assert c.wrap_numpy(lambda a: a + 1)(t.ones(2)).tolist() == [2.0, 2.0]
    assert "inductor" in c.list_backends()


@BOTH
def test_without_a_device(t):
    if t.cuda.is_available():
        pytest.skip("there is a device")
    with pytest.raises((AssertionError, RuntimeError)):
        t.cuda.set_per_process_memory_fraction(0.5)
    assert t.cuda.memory_allocated() == 0 and t.cpu.is_available()
    assert t.get_device_module("cpu").current_device() == "cpu"
    with t.cpu.stream(t.cpu.current_stream()):
        t.cpu.synchronize()
    assert issubclass(t.OutOfMemoryError, RuntimeError)
    assert t.ones(1).layout is t.strided and repr(t.strided) == "torch.strided"
    assert isinstance(t.strided, t.layout)


def test_ranges_of_profilers_are_accepted():
    nvtx = ours.cuda.nvtx
    assert nvtx.range_push("step") == 0 and nvtx.range_pop() == 0
    with nvtx.range("step {}", 1):
        nvtx.mark("here")


@BOTH
def test_recomputation_is_told_what_to_keep(t):
    checkpoint = t.utils.checkpoint
    x = t.ones(2, requires_grad=True)
    with checkpoint.set_checkpoint_early_stop(False):
        y = checkpoint.checkpoint(lambda x: x.exp().sum(), x, use_reentrant=False)
    y.backward()
    assert x.grad[0].item() == pytest.approx(2.718281828)
    assert checkpoint.CheckpointPolicy.MUST_SAVE.value == 0


@BOTH
def test_symbols_are_numbers_here(t):
    assert t.sym_max(1, 2.0) == 2.0 and isinstance(t.sym_max(3, 2.0), float)
    assert t.sym_int(2.7) == 2 and t.sym_not(False) and t.sym_sum([1, 2]) == 3
    assert t.sym_ite(True, 1, 2) == 1


@BOTH
def test_pools_under_the_names_of_functions(t):
    x = t.arange(4.0).reshape(1, 4)
    assert t.max_pool1d(x, 2).tolist() == [[1.0, 3.0]]
    assert t.zero_(t.ones(2)).tolist() == [0.0, 0.0]
    assert t.fill_(t.ones(2), 3).tolist() == [3.0, 3.0]


def test_memory_that_is_not_there():
    with pytest.raises(ours.OutOfMemoryError) as caught:
        ours.ones(1 << 46).numpy()
    assert isinstance(caught.value, MemoryError)
