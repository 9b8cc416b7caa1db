"""The names that scripts begin with: parts that load when they are first used, answers of a machine
without CUDA, and refusals of what is not built, which come with the use and not with the import."""

import importlib
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, outcome, peer, torch

IMPORTED = {
    "nn.modules.conv": ("Conv2d", "_ConvNd"), "nn.modules.batchnorm": ("_BatchNorm", "_NormBase"),
    "nn.modules.module": ("Module",), "nn.modules.utils": ("_pair", "_triple", "_ntuple"),
    "nn.modules.loss": ("_Loss", "_WeightedLoss", "CrossEntropyLoss"),
    "nn.modules.dropout": ("_DropoutNd",), "nn.modules.container": ("Sequential",),
    "nn.parallel": ("DataParallel", "DistributedDataParallel"), "nn.parameter": ("Parameter",),
    "nn.utils.clip_grad": ("clip_grad_norm_",), "nn.utils.rnn": ("pad_sequence",),
    "utils.data.dataloader": ("DataLoader", "default_collate"),
    "utils.data.dataset": ("Dataset", "random_split"), "utils.data.sampler": ("Sampler",),
    "utils.data.distributed": ("DistributedSampler",), "utils.checkpoint": ("checkpoint",),
    "utils.dlpack": ("from_dlpack",), "cuda.amp": ("autocast", "GradScaler"),
    "amp": ("autocast", "GradScaler"), "optim.lr_scheduler": ("_LRScheduler", "StepLR"),
    "optim.swa_utils": ("AveragedModel", "update_bn"), "optim.adam": ("Adam",),
    "autograd": ("Variable", "Function"), "backends.cudnn": ("benchmark",),
    "distributed": ("init_process_group",), "distributed.fsdp": ("FullyShardedDataParallel",),
    "fx": ("GraphModule",), "onnx": ("export",), "hub": ("load",), "profiler": ("profile",),
    "multiprocessing": ("Process", "set_start_method"), "jit": ("script",),
    "serialization": ("add_safe_globals",), "random": ("fork_rng",), "version": ("__version__",),
}  # fmt: skip


@pytest.mark.parametrize("path", IMPORTED)
def test_pytorchs_paths_can_be_imported(path):
    module = importlib.import_module(f"composit.torch.{path}")
    for name in IMPORTED[path]:
        assert hasattr(module, name)
    holder = torch
    for part in path.split("."):
        holder = getattr(holder, part)
    assert getattr(holder, name) is not None


def test_parts_load_when_they_are_first_used():
    program = (
        "import sys, composit.torch as t\n"
        "late = ['cuda', 'amp', 'backends', 'accelerator', 'jit', 'nn.parallel', 'typed_tensors',"
        " 'utils.checkpoint', 'utils.tensorboard', 'optim.swa_utils', 'multiprocessing']\n"
        "assert not [x for x in late if 'composit.torch.' + x in sys.modules]\n"
        "assert t.cuda.device_count() >= 0 and t.backends.cudnn.benchmark is False\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


BASES = {"conv": ("_ConvNd", "Conv2d", (1, 1, 1)), "batchnorm": ("_BatchNorm", "BatchNorm2d", (1,)),
         "dropout": ("_DropoutNd", "Dropout2d", ())}  # fmt: skip


@pytest.mark.parametrize("path", BASES)
def test_bases_are_bases(path):
    base, name, given = BASES[path]
    module = importlib.import_module(f"composit.torch.nn.modules.{path}")
    made = getattr(torch.nn, name)(*given)
    assert isinstance(made, getattr(module, base))
    assert not isinstance(torch.nn.ReLU(), getattr(module, base))


ANSWERS = {
    "available": lambda t: t.cuda.is_available(), "count": lambda t: t.cuda.device_count(),
    "seed": lambda t: (t.cuda.manual_seed(1), t.cuda.manual_seed_all(1)),
    "memory": lambda t: (t.cuda.memory_allocated(), t.cuda.max_memory_allocated(),
                         t.cuda.memory_reserved(), t.cuda.empty_cache()),
    "synchronize": lambda t: t.cuda.synchronize(), "name": lambda t: t.cuda.get_device_name(0),
    "current": lambda t: t.cuda.current_device(), "set": lambda t: t.cuda.set_device(-1),
    "bf16": lambda t: t.cuda.is_bf16_supported(False), "version": lambda t: t.version.cuda,
    "initialized": lambda t: t.cuda.is_initialized(), "init": lambda t: t.cuda.init(),
    "state": lambda t: t.cuda.get_rng_state_all(),
    "accelerator": lambda t: (t.accelerator.is_available(), t.accelerator.device_count(),
                              t.accelerator.current_accelerator()),
    "mps": lambda t: (t.backends.mps.is_available(), t.backends.mps.is_built()),
    "cudnn": lambda t: (t.backends.cudnn.is_available(), t.backends.cudnn.version(),
                        t.backends.cudnn.enabled, t.backends.cudnn.benchmark,
                        t.backends.cudnn.deterministic),
    "cuda built": lambda t: t.backends.cuda.is_built(),
    "sdp": lambda t: t.backends.cuda.flash_sdp_enabled(),
    "distributed": lambda t: t.distributed.is_initialized() if t.distributed.is_available() else 0,
    "device": lambda t: t.device("cuda" if t.cuda.is_available() else "cpu").type,
    "autocast": lambda t: autocast(t), "scaler": lambda t: disabled_scaler(t),
    "fork": lambda t: forked(t), "jit": lambda t: t.jit.script(lambda x: x)(3) if t is torch else 3,
    "parallel": lambda t: sorted(t.nn.DataParallel(t.nn.Linear(1, 1)).state_dict()),
    "float": lambda t: (t.FloatTensor([1, 2]), t.FloatTensor(2, 3).shape, t.LongTensor([1]).dtype
                        == t.long, isinstance(t.ones(1), t.FloatTensor),
                        isinstance(t.ones(1), t.LongTensor), t.ByteTensor([1, 2])),
    "cuda tensor": lambda t: type(t.cuda.FloatTensor).__name__ and None,
    "variable": lambda t: t.autograd.Variable(t.ones(1), requires_grad=True).requires_grad,
    "variable of a list": lambda t: t.autograd.Variable([1]) if t is torch else raised(),
    "checkpoint": lambda t: checkpointed(t),
    "tuples": lambda t: (t.nn.modules.utils._pair(3), t.nn.modules.utils._pair((1, 2))),
    "own loss": lambda t: t.nn.modules.loss._Loss(reduction="sum").reduction,
}  # fmt: skip


def raised():
    raise TypeError("Variable data has to be a tensor, but got list")


def autocast(t):
    with t.autocast("cuda", dtype=t.float16):
        found = t.ones(1, 1) @ t.ones(1, 1)
    with t.amp.autocast(device_type="cpu", enabled=False):
        more = t.ones(1).dtype == t.float32
    return str(found.dtype), more


def disabled_scaler(t):
    scaler = t.amp.GradScaler("cuda")
    p = t.nn.Parameter(t.ones(1))
    optimizer = t.optim.SGD([p], 0.1)
    scaler.scale((p * 2).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return p, scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()


def forked(t):
    t.manual_seed(3)
    with t.random.fork_rng():
        t.rand(5)
    first = t.rand(1)
    t.manual_seed(3)
    return bool(first == t.rand(1))


def checkpointed(t):
    layer = t.nn.Linear(2, 2)
    t.nn.init.ones_(layer.weight)
    t.nn.init.zeros_(layer.bias)
    x = t.ones(1, 2, requires_grad=True)
    t.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).sum().backward()
    row = t.utils.checkpoint.checkpoint_sequential(
        t.nn.Sequential(layer, t.nn.ReLU()), 2, x, use_reentrant=False
    )
    return x.grad, layer.weight.grad, row


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_those_of_a_pytorch_without_cuda(name):
    if torch.cuda.is_available():
        pytest.skip("CUDA is here")
    check_same(ANSWERS[name])


def test_a_scaler_on_the_cpu_scales():
    def program(t):
        p, found = t.nn.Parameter(t.tensor([1.0, 2.0])), []
        optimizer = t.optim.SGD([p], 0.125)
        scaler = t.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
        for factor in (1.0, float("inf"), 2.0, 4.0, 1.0):
            optimizer.zero_grad()
            loss = (p * factor).sum()
            scaler.scale(loss).backward()
            if factor == 2.0:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            found.append((p.tolist(), scaler.get_scale()))
        again = t.amp.GradScaler("cpu")
        again.load_state_dict(scaler.state_dict())
        scaler.unscale_(optimizer)
        found.append(again.state_dict())
        return found, scaler.unscale_(optimizer)

    check_same(program)


REFUSED = {
    "fx": (lambda: torch.fx.symbolic_trace(torch.nn.ReLU()), "composit.torch.fx.symbolic_trace"),
    "onnx": (lambda: torch.onnx.export(1), "composit.torch.onnx.export"),
    "hub": (lambda: torch.hub.load("a/b", "c"), "hub.load"),
    "distributed": (lambda: torch.distributed.init_process_group("gloo"),
                    "composit.torch.distributed.init_process_group"),
    "below": (lambda: torch.distributed.fsdp.FullyShardedDataParallel(1),
              "composit.torch.distributed.fsdp.FullyShardedDataParallel"),
    "subclass": (lambda: type("Own", (torch.fx.Tracer,), {}), "composit.torch.fx.Tracer"),
    "of a class": (lambda: torch.profiler.ProfilerActivity.CPU(), "ProfilerActivity.CPU"),
    "file": (lambda: torch.jit.load("a"), "jit.load"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_built_is_refused_where_it_is_used(name):
    use, said = REFUSED[name]
    with pytest.raises(NotImplementedError, match=rf"{said}.*not built.*test_torch_parts.py"):
        use()


def test_other_refusals_name_what_is_refused():
    assert not isinstance(torch.nn.ReLU(), torch.fx.GraphModule)
    if not torch.cuda.is_available():
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            torch.cuda.FloatTensor([1])
    with pytest.raises(AttributeError, match=r"composit\.torch\.nothing is not built yet"):
        torch.nothing
    with pytest.raises(AttributeError, match="no setting 'benchmarks'"):
        torch.backends.cudnn.benchmarks = True
    torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark
    with pytest.raises(RuntimeError, match="processes that train together are not built"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU())


INITIALISED = {
    "dirac": lambda t: t.nn.init.dirac_(t.empty(4, 3, 3, 3), 2),
    "dirac 1d": lambda t: t.nn.init.dirac_(t.empty(2, 3, 4)),
    "dirac of 2": lambda t: t.nn.init.dirac_(t.empty(2, 3)),
    "fans": lambda t: t.nn.init._calculate_fan_in_and_fan_out(t.empty(4, 3, 5)),
    "fan": lambda t: t.nn.init._calculate_correct_fan(t.empty(4, 3, 5), "fan_out"),
    "other fan": lambda t: t.nn.init._calculate_correct_fan(t.empty(4, 3, 5), "both"),
    "older": lambda t: t.nn.init.constant(t.empty(2), 3.0),
    "vector": lambda t: t.nn.init.orthogonal_(t.empty(2)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", INITIALISED)
def test_initialisers_are_pytorchs(name):
    check_same(INITIALISED[name])


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3), (3, 3)])
def test_orthogonal_weights_are_orthogonal(shape):
    torch.manual_seed(0)
    made = torch.nn.init.orthogonal_(torch.empty(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    gram = made @ made.T if made.shape[0] <= made.shape[1] else made.T @ made
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)


def test_averages_of_models_are_pytorchs():
    def program(t, make):
        model = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
        model.load_state_dict({k: t.ones_like(v) for k, v in model.state_dict().items()})
        swa = t.optim.swa_utils
        average = swa.AveragedModel(model, **make(swa))
        optimizer = t.optim.SGD(model.parameters(), 0.5)
        schedule, rates = swa.SWALR(optimizer, 0.05, 3), []
        for i in range(5):
            optimizer.zero_grad()
            x = t.tensor([[1.0, 2.0 + i], [0.5, i]])
            model(x).square().sum().backward()
            optimizer.step()
            average.update_parameters(model)
            schedule.step()
            rates.append(round(schedule.get_last_lr()[0], 7))
        batches = [t.tensor([[1.0, 2.0], [3.0, 5.0]]), t.tensor([[0.0, 2.0], [1.0, 1.0]])]
        swa.update_bn(batches, average)
        numbers = [np.round(v.numpy(), 5).tolist() for v in average.state_dict().values()]
        return rates, numbers, list(average.state_dict()), list(model.state_dict())

    for make in (
        lambda swa: {}, lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)},
        lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.5), "use_buffers": True},
    ):  # fmt: skip
        mine, theirs = (outcome(partial(program, make=make), t) for t in (torch, peer))
        assert not isinstance(mine, str)
        np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-6)
        assert mine[2:] == theirs[2:]
        for x, y in zip(mine[1], theirs[1]):
            np.testing.assert_allclose(x, y, atol=2e-5)


def test_a_share_of_a_dataset_is_pytorchs():
    def program(t):
        Sampler = t.utils.data.distributed.DistributedSampler
        found = [list(Sampler(range(10), 4, r, shuffle=False)) for r in range(4)]
        short = [list(Sampler(range(10), 4, r, shuffle=False, drop_last=True)) for r in range(4)]
        return found, short, len(Sampler(range(3), 8, 1)), list(Sampler(range(1), 4, 3, False))

    check_same(program)
    orders = []
    for epoch in (0, 0, 1):
        each = [torch.utils.data.distributed.DistributedSampler(range(6), 2, r) for r in (0, 1)]
        for sampler in each:
            sampler.set_epoch(epoch)
        orders.append([list(sampler) for sampler in each])
        assert sorted(i for each in orders[-1] for i in each) == list(range(6))
    assert orders[0] == orders[1] != orders[2]


NAMED = {
    "split": lambda t: t.arange(4.0).split(split_size=2),
    "split of tensor": lambda t: t.split(tensor=t.arange(4.0), split_size_or_sections=[1, 3]),
    "permute": lambda t: t.ones(2, 3).permute(dims=(1, 0)).shape,
    "reshape": lambda t: t.ones(2, 3).reshape(shape=(3, 2)).shape,
    "view": lambda t: (t.ones(2, 3).view(size=(6,)).shape, t.ones(2).view(dtype=t.int32)),
    "flip": lambda t: t.flip(t.arange(3), dims=(0,)),
    "tile": lambda t: t.tile(t.arange(2), dims=(2,)),
    "repeat": lambda t: t.arange(2).repeat(repeats=(2, 1)),
    "expand": lambda t: t.ones(1, 2).expand(size=(3, 2)).shape,
    "stacked": lambda t: (t.hstack(tensors=(t.ones(1), t.ones(1))), t.vstack(tensors=(t.ones(1),))),
    "products": lambda t: (t.mm(t.ones(1, 2), mat2=t.ones(2, 1)), t.mv(t.ones(1, 2), vec=t.ones(2)),
                           t.bmm(t.ones(1, 1, 1), mat2=t.ones(1, 1, 1)),
                           t.dot(t.ones(2), tensor=t.ones(2)), t.kron(t.ones(1), other=t.ones(1)),
                           t.baddbmm(t.ones(1), batch1=t.ones(1, 1, 1), batch2=t.ones(1, 1, 1))),
    "swapaxes": lambda t: t.ones(2, 3).swapaxes(axis0=0, axis1=1).shape,
    "in place": lambda t: t.ones(2, 3).transpose_(dim0=0, dim1=1).unsqueeze_(dim=0).shape,
    "sections": lambda t: (t.arange(4).tensor_split(sections=2), t.arange(4).hsplit(sections=2),
                           t.tensor_split(t.arange(4), indices=(1, 3))),
    "size": lambda t: (t.zeros(size=(2,)), t.ones(size=(1, 2)), t.rand(size=(3,)).shape,
                       t.randn(size=(2, 2)).shape, t.empty(size=(2,)).shape),
    "igamma": lambda t: t.igamma(t.ones(1), other=t.ones(1)) > 0,
    "grad": lambda t: t.autograd.grad((x := t.ones(1, requires_grad=True)) * 2, x,
                                      only_inputs=True, allow_unused=True),
    "modules": lambda t: len(list(
        t.nn.Sequential(*[t.nn.ReLU()] * 2).modules(remove_duplicate=False)
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_arguments_have_pytorchs_names(name):
    check_same(NAMED[name])
