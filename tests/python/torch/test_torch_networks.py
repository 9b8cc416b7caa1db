"""composit.torch.nn and optim beside PyTorch's: modules of the same weights, forward and backward,
training step by step."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

_random = np.random.default_rng(1)


def _floats(*shape):
    return _random.normal(size=shape).astype(np.float32)


def twins(make):
    """A module of each library, with the weights of PyTorch's."""
    theirs = make(peer)
    mine = make(torch)
    mine.load_state_dict({name: x.numpy() for name, x in theirs.state_dict().items()})
    return mine, theirs


def agree(mine, theirs, tolerance=2e-5):
    np.testing.assert_allclose(
        mine.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance
    )


def check_module(make, *arrays, is_learnt=True, call=lambda module, *x: module(*x), tolerance=2e-5):
    mine, theirs = twins(make)
    assert repr(mine) == repr(theirs)
    leaves, outputs = [], []
    for library, module in ((torch, mine), (peer, theirs)):
        own = [library.tensor(array) for array in arrays]
        for x in own:
            if x.is_floating_point() and is_learnt:
                x.requires_grad_()
        made = call(module, *own)
        outputs.append(made[0] if isinstance(made, tuple) else made)
        leaves.append(own)
    agree(*outputs, tolerance)
    for output in outputs:
        (output * output).mean().backward()
    for a, b in zip(*leaves):
        if b.grad is not None:
            agree(a.grad, b.grad, tolerance)
    for (name, a), (other, b) in zip(mine.named_parameters(), theirs.named_parameters()):
        assert name == other
        agree(a.grad, b.grad, tolerance)
    for (name, a), (other, b) in zip(mine.named_buffers(), theirs.named_buffers()):
        assert name == other
        agree(a, b, tolerance)


IMAGES, ROWS, LINES = _floats(2, 4, 8, 8), _floats(5, 6), _floats(2, 4, 9)
MODULES = {
    "Linear": (lambda t: t.nn.Linear(6, 3), ROWS), "Linear without bias": (lambda t:
    t.nn.Linear(6, 3, bias=False), _floats(2, 5, 6)), "Bilinear": (lambda t: t.nn.Bilinear(6, 4,
    3), ROWS, _floats(5, 4)), "Identity": (lambda t: t.nn.Identity(), ROWS),
    "Conv1d": (lambda t: t.nn.Conv1d(4, 6, 3), LINES),
    "Conv2d": (lambda t: t.nn.Conv2d(4, 6, 3, padding=1, stride=2), IMAGES),
    "Conv2d groups": (lambda t: t.nn.Conv2d(4, 8, 3, groups=2, dilation=2), IMAGES),
    "Conv2d same": (lambda t: t.nn.Conv2d(4, 3, 3, padding="same"), IMAGES),
    "Conv2d reflect": (lambda t: t.nn.Conv2d(4, 3, 3, padding=1, padding_mode="reflect"), IMAGES),
    "Conv3d": (lambda t: t.nn.Conv3d(2, 3, 2), _floats(1, 2, 4, 4, 4)),
    "ConvTranspose1d": (lambda t: t.nn.ConvTranspose1d(4, 2, 3), LINES),
    "ConvTranspose2d": (lambda t: t.nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1,
                                                       output_padding=1), IMAGES),
    "BatchNorm1d": (lambda t: t.nn.BatchNorm1d(6), ROWS),
    "BatchNorm2d": (lambda t: t.nn.BatchNorm2d(4), IMAGES),
    "BatchNorm2d plain": (lambda t: t.nn.BatchNorm2d(4, affine=False, momentum=None), IMAGES),
    "BatchNorm2d eval": (lambda t: t.nn.BatchNorm2d(4).eval(), IMAGES),
    "LayerNorm": (lambda t: t.nn.LayerNorm(6), ROWS), "LayerNorm of two": (lambda t:
    t.nn.LayerNorm((8, 8)), IMAGES), "RMSNorm": (lambda t: t.nn.RMSNorm(6), ROWS),
    "GroupNorm": (lambda t: t.nn.GroupNorm(2, 4), IMAGES),
    "InstanceNorm2d": (lambda t: t.nn.InstanceNorm2d(4, affine=True), IMAGES),
    "Embedding": (lambda t: t.nn.Embedding(7, 3), np.array([[1, 2], [6, 1]])),
    "Embedding padded": (lambda t: t.nn.Embedding(7, 3, padding_idx=2), np.array([1, 2, 2, 0])),
    "Flatten": (lambda t: t.nn.Flatten(), IMAGES), "Unflatten": (lambda t: t.nn.Unflatten(1, (2,
    3)), ROWS), "PReLU": (lambda t: t.nn.PReLU(4), IMAGES),
    "MaxPool1d": (lambda t: t.nn.MaxPool1d(2), LINES), "MaxPool2d": (lambda t: t.nn.MaxPool2d(2),
    IMAGES), "MaxPool2d padded": (lambda t: t.nn.MaxPool2d(3, 2, 1), IMAGES),
    "AvgPool2d": (lambda t: t.nn.AvgPool2d(3, 2, 1), IMAGES), "AvgPool1d": (lambda t:
    t.nn.AvgPool1d(2), LINES), "AdaptiveAvgPool2d": (lambda t: t.nn.AdaptiveAvgPool2d((3, 2)),
    IMAGES), "AdaptiveMaxPool2d": (lambda t: t.nn.AdaptiveMaxPool2d(3), IMAGES),
    "LPPool2d": (lambda t: t.nn.LPPool2d(2, 2), np.abs(IMAGES)),
    "ConstantPad2d": (lambda t: t.nn.ConstantPad2d(1, 2.5), IMAGES),
    "ZeroPad2d": (lambda t: t.nn.ZeroPad2d((1, 0, 2, 1)), IMAGES),
    "ReflectionPad2d": (lambda t: t.nn.ReflectionPad2d(2), IMAGES),
    "ReplicationPad1d": (lambda t: t.nn.ReplicationPad1d(2), LINES),
    "CircularPad2d": (lambda t: t.nn.CircularPad2d(1), IMAGES),
    "PixelShuffle": (lambda t: t.nn.PixelShuffle(2), IMAGES),
    "Unfold": (lambda t: t.nn.Unfold(3), IMAGES),
    "Sequential": (lambda t: t.nn.Sequential(t.nn.Linear(6, 4), t.nn.ReLU(), t.nn.Linear(4, 2)),
                   ROWS),
    "Sequential of images": (lambda t: t.nn.Sequential(
        t.nn.Conv2d(4, 5, 3), t.nn.BatchNorm2d(5), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(),
        t.nn.Dropout(0.0), t.nn.Linear(45, 3)), IMAGES),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    make, *arrays = MODULES[name]
    check_module(make, *arrays)


@pytest.mark.parametrize(
    "text",
    ["ReLU()", "ReLU6()", "SiLU()", "Mish()", "SELU()", "Hardswish()", "Hardsigmoid()", "ELU()",
     "CELU(1.5)", "LeakyReLU(0.2)", "Hardtanh()", "Threshold(0.1, 2.0)", "Sigmoid()", "Tanh()",
     "LogSigmoid()", "Softsign()", "Tanhshrink()", "GELU()", "GELU('tanh')", "GLU()",
     "Hardshrink()", "Softshrink()", "Softplus()", "Softmax(dim=1)", "Softmin(dim=1)",
     "LogSoftmax(dim=-1)", "RReLU()"],
)  # fmt: skip
def test_activations(text):
    check_module(lambda t: eval(f"t.nn.{text}").eval(), ROWS)


def test_multihead_attention():
    x, y = _floats(5, 2, 8), _floats(3, 2, 8)
    mask = np.array([[False, True, False]] * 5)

    def make(t):
        return t.nn.MultiheadAttention(8, 2)

    mine, theirs = twins(make)
    for need_weights in (True, False):
        for given in (None, mask):
            outputs = []
            for library, module in ((torch, mine), (peer, theirs)):
                q, k = library.tensor(x), library.tensor(y)
                m = None if given is None else library.tensor(given)
                outputs.append(module(q, k, k, attn_mask=m, need_weights=need_weights))
            agree(outputs[0][0], outputs[1][0])
            if need_weights:
                agree(outputs[0][1], outputs[1][1])
            else:
                assert outputs[0][1] is None
    check_module(
        lambda t: t.nn.MultiheadAttention(8, 4, batch_first=True), _floats(2, 5, 8),
        call=lambda module, x: module(x, x, x),
    )  # fmt: skip


LABELS = np.array([0, 2, 1, 5, 3])
SIGNS = np.where(_floats(5, 6) > 0, 1.0, -1.0).astype(np.float32)
CHANCES = np.clip(np.abs(_floats(5, 6)), 0.05, 0.95)
LOSSES = {
    "CrossEntropyLoss": ((), ROWS, LABELS), "NLLLoss": ((), ROWS, LABELS),
    "MSELoss": ((), ROWS, _floats(5, 6)), "L1Loss": ((), ROWS, _floats(5, 6)),
    "SmoothL1Loss": ((), ROWS, _floats(5, 6)), "HuberLoss": ((), ROWS, _floats(5, 6)),
    "BCELoss": ((), CHANCES, CHANCES[::-1].copy()), "BCEWithLogitsLoss": ((), ROWS, CHANCES),
    "KLDivLoss": ((), np.log(CHANCES), CHANCES), "PoissonNLLLoss": ((), ROWS, CHANCES),
    "SoftMarginLoss": ((), ROWS, SIGNS), "HingeEmbeddingLoss": ((), ROWS, SIGNS),
    "MarginRankingLoss": ((), ROWS, _floats(5, 6), SIGNS),
    "CosineEmbeddingLoss": ((), ROWS, _floats(5, 6), SIGNS[:, 0]),
    "TripletMarginLoss": ((), ROWS, _floats(5, 6), _floats(5, 6)),
    "GaussianNLLLoss": ((), ROWS, _floats(5, 6), CHANCES),
    "MultiLabelSoftMarginLoss": ((), ROWS, (SIGNS > 0).astype(np.float32)),
}  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name, reduction):
    _, *arrays = LOSSES[name]
    gradients, values = [], []
    for library in (torch, peer):
        x, *others = [library.tensor(array) for array in arrays]
        x.requires_grad_()
        loss = getattr(library.nn, name)(reduction=reduction)(x, *others)
        loss.sum().backward()
        values.append(loss)
        gradients.append(x.grad)
    assert tuple(values[0].shape) == tuple(values[1].shape)
    agree(*values)
    agree(*gradients)


def test_cross_entropy_with_options():
    weight = np.abs(_floats(6))
    for options in ({"label_smoothing": 0.1}, {"ignore_index": 2}, {"weight": weight}):
        values = []
        for library in (torch, peer):
            given = {
                name: library.tensor(value) if name == "weight" else value
                for name, value in options.items()
            }
            loss = library.nn.CrossEntropyLoss(**given)
            values.append(loss(library.tensor(ROWS), library.tensor(LABELS)))
        agree(*values)


OPTIMIZERS = {
    "SGD": {"lr": 0.1}, "SGD with momentum": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "SGD with decay": {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.1, "dampening": 0.1},
    "Adam": {"lr": 0.01}, "Adam with decay": {"weight_decay": 0.1, "amsgrad": True},
    "AdamW": {"lr": 0.01}, "RMSprop": {"lr": 0.01}, "RMSprop centered": {"centered": True,
    "momentum": 0.9}, "Adagrad": {"lr": 0.1, "lr_decay": 0.1}, "Adadelta": {}, "Adamax": {},
    "NAdam": {}, "RAdam": {}, "Rprop": {}, "ASGD": {}, "Adafactor": {},
    "Adafactor with decay": {"weight_decay": 0.1, "d": 2.0, "eps": (1e-20, 1e-2)},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_of_training_are_those_of_pytorch(name):
    def make(t):
        return t.nn.Sequential(t.nn.Linear(6, 8), t.nn.Tanh(), t.nn.Linear(8, 6))

    mine, theirs = twins(make)
    losses = []
    for library, module in ((torch, mine), (peer, theirs)):
        optimizer = getattr(library.optim, name.split()[0])(module.parameters(), **OPTIMIZERS[name])
        schedule = library.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)
        own = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = library.nn.CrossEntropyLoss()(module(library.tensor(ROWS)),
                                                 library.tensor(LABELS))  # fmt: skip
            loss.backward()
            library.nn.utils.clip_grad_norm_(module.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            own.append(loss.item())
        losses.append(own)
    np.testing.assert_allclose(*losses, rtol=2e-4, atol=1e-6)
    for a, b in zip(mine.parameters(), theirs.parameters()):
        agree(a, b, 5e-4)


@pytest.mark.parametrize(
    "make",
    [lambda s, o: s.StepLR(o, 3), lambda s, o: s.MultiStepLR(o, [2, 5]),
     lambda s, o: s.ExponentialLR(o, 0.9), lambda s, o: s.LinearLR(o), lambda s, o: s.ConstantLR(o),
     lambda s, o: s.PolynomialLR(o, 8, 2.0), lambda s, o: s.CosineAnnealingLR(o, 4, 0.1),
     lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
     lambda s, o: s.LambdaLR(o, lambda n: n + 1),
     lambda s, o: s.MultiplicativeLR(o, lambda n: 0.9),
     lambda s, o: s.OneCycleLR(o, 1.0, 12, cycle_momentum=False),
     lambda s, o: s.OneCycleLR(o, 1.0, epochs=4, steps_per_epoch=3),
     lambda s, o: s.OneCycleLR(o, [1.0], 13, three_phase=True, anneal_strategy="linear"),
     lambda s, o: s.OneCycleLR(o, 1.0, 12, 1, 1, 0.5, "cos", True, [0.7], [0.9], 10.0, 100.0),
     lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], [3])],
)  # fmt: skip
@pytest.mark.parametrize("name, options", [("SGD", {"momentum": 0.9}), ("Adam", {})])
def test_learning_rates(make, name, options):
    """And momenta."""
    rates = []
    for library in (torch, peer):
        weights = [library.zeros(2, requires_grad=True)]
        optimizer = getattr(library.optim, name)(weights, lr=0.5, **options)
        schedule = make(library.optim.lr_scheduler, optimizer)
        own = []
        for step in range(12):
            if step > 0:
                optimizer.step()
                schedule.step()
            (group,) = optimizer.param_groups
            own.append((group["lr"], group["momentum" if name == "SGD" else "betas"]))
        rates.append([np.hstack(each) for each in own])
    np.testing.assert_allclose(*rates, rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"epochs": 3}, {"total_steps": 0}, {"total_steps": 5, "pct_start": 2.0},
                {"total_steps": 5, "anneal_strategy": "cubic"}],
)  # fmt: skip
def test_cycles_that_pytorch_refuses(options):
    texts = []
    for library in (torch, peer):
        optimizer = library.optim.SGD([library.zeros(2, requires_grad=True)], 0.1, momentum=0.9)
        with pytest.raises(ValueError) as error:
            library.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, **options)
        texts.append(str(error.value).split(" [")[0])
        plain = library.optim.Adagrad([library.zeros(2, requires_grad=True)])
        with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
            library.optim.lr_scheduler.OneCycleLR(plain, 1.0, 5)
    assert texts[0] == texts[1]
