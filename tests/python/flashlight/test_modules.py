"""torch.nn's modules one by one, for inference and in training where nothing is drawn."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

import composit
from composit import flashlight
from composit.nn import chain_rule


def rand(*shape):
    return torch.rand(*shape) * 2 - 1


IDS = torch.tensor([[1, 4, 2], [0, 3, 3]])
ROW, IMAGE, BOX = (2, 6, 9), (2, 6, 9, 8), (2, 4, 5, 6, 5)
ACTIVATIONS = [
    "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus",
    "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Softmax2d", "Flatten",
]  # fmt: skip
CASES = {
    **{name: (getattr(nn, name), [rand(2, 3, 4, 5)]) for name in ACTIVATIONS},
    "GELU tanh": (lambda: nn.GELU("tanh"), [rand(3, 4)]),
    "Threshold": (lambda: nn.Threshold(0.1, 20), [rand(3, 4)]),
    "GLU": (nn.GLU, [rand(3, 4)]),
    "Softmax": (lambda: nn.Softmax(1), [rand(3, 4, 2)]),
    "Softmin": (lambda: nn.Softmin(-1), [rand(3, 4)]),
    "LogSoftmax": (lambda: nn.LogSoftmax(0), [rand(3, 4)]),
    "Linear": (lambda: nn.Linear(4, 5), [rand(3, 4)]),
    "Linear without bias": (lambda: nn.Linear(4, 5, bias=False), [rand(4)]),
    "Bilinear": (lambda: nn.Bilinear(3, 4, 5), [rand(2, 3), rand(2, 4)]),
    "Embedding": (lambda: nn.Embedding(6, 4), [IDS]),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(6, 4, mode="sum"), [IDS]),
    "Conv1d": (lambda: nn.Conv1d(6, 4, 3, 2, 1), [rand(*ROW)]),
    "Conv2d": (lambda: nn.Conv2d(6, 4, (3, 2), padding=(1, 0)), [rand(*IMAGE)]),
    "Conv2d in groups": (lambda: nn.Conv2d(6, 12, 3, groups=3, dilation=2), [rand(*IMAGE)]),
    "Conv2d, reflecting": (
        lambda: nn.Conv2d(6, 4, 3, padding=1, padding_mode="reflect"), [rand(*IMAGE)],
    ),
    "Conv2d, same": (lambda: nn.Conv2d(6, 4, 4, padding="same"), [rand(*IMAGE)]),
    "Conv3d": (lambda: nn.Conv3d(4, 2, 3, padding=1), [rand(*BOX)]),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(6, 4, 3, 2, 1, 1), [rand(*ROW)]),
    "ConvTranspose2d": (
        lambda: nn.ConvTranspose2d(6, 4, 3, stride=2, groups=2, dilation=2), [rand(*IMAGE)],
    ),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(4, 2, 2, stride=2), [rand(*BOX)]),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(6), [rand(5, 6)]),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(6), [rand(*IMAGE)]),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(4, affine=False), [rand(*BOX)]),
    "BatchNorm, no statistics": (
        lambda: nn.BatchNorm1d(6, track_running_stats=False), [rand(*ROW)],
    ),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(6), [rand(*ROW)]),
    "InstanceNorm2d": (
        lambda: nn.InstanceNorm2d(6, affine=True, track_running_stats=True), [rand(*IMAGE)],
    ),
    "GroupNorm": (lambda: nn.GroupNorm(3, 6), [rand(*IMAGE)]),
    "LayerNorm": (lambda: nn.LayerNorm([9, 8]), [rand(*IMAGE)]),
    "LayerNorm without bias": (lambda: nn.LayerNorm(8, bias=False), [rand(*IMAGE)]),
    "RMSNorm": (lambda: nn.RMSNorm(8), [rand(*IMAGE)]),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3), [rand(*IMAGE)]),
    "MaxPool1d": (lambda: nn.MaxPool1d(3), [rand(*ROW)]),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, 1, ceil_mode=True), [rand(*IMAGE)]),
    "MaxPool2d, dilated": (lambda: nn.MaxPool2d(2, dilation=2), [rand(*IMAGE)]),
    "MaxPool3d": (lambda: nn.MaxPool3d(2), [rand(*BOX)]),
    "AvgPool1d": (lambda: nn.AvgPool1d(3, 2, 1), [rand(*ROW)]),
    "AvgPool2d": (
        lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), [rand(*IMAGE)],
    ),
    "AvgPool3d": (lambda: nn.AvgPool3d(2), [rand(*BOX)]),
    "LPPool2d": (lambda: nn.LPPool2d(2, 3), [rand(*IMAGE)]),
    "AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(4), [rand(*ROW)]),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((4, 3)), [rand(*IMAGE)]),
    "AdaptiveAvgPool3d": (lambda: nn.AdaptiveAvgPool3d(2), [rand(*BOX)]),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d((4, 3)), [rand(*IMAGE)]),
    "Fold": (lambda: nn.Fold((5, 6), 2), [rand(2, 12, 20)]),
    "Unfold": (lambda: nn.Unfold(3, padding=1, stride=2), [rand(*IMAGE)]),
    "Upsample nearest": (lambda: nn.Upsample(scale_factor=2), [rand(*IMAGE)]),
    "Upsample to a size": (lambda: nn.Upsample(size=(13, 5)), [rand(*IMAGE)]),
    "Upsample linear": (lambda: nn.Upsample(scale_factor=1.5, mode="linear"), [rand(*ROW)]),
    "Upsample bilinear": (
        lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), [rand(*IMAGE)],
    ),
    "Upsample bicubic": (lambda: nn.Upsample(size=(4, 20), mode="bicubic"), [rand(*IMAGE)]),
    "Upsample trilinear": (
        lambda: nn.Upsample(scale_factor=2, mode="trilinear"), [rand(*BOX)],
    ),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), [rand(2, 8, 3, 4)]),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), [rand(2, 2, 6, 4)]),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(3), [rand(*IMAGE)]),
    "ZeroPad2d": (lambda: nn.ZeroPad2d((1, 2, 0, -1)), [rand(*IMAGE)]),
    "ConstantPad1d": (lambda: nn.ConstantPad1d(2, 3.5), [rand(*ROW)]),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d(2), [rand(*IMAGE)]),
    "ReplicationPad3d": (lambda: nn.ReplicationPad3d(1), [rand(*BOX)]),
    "CircularPad2d": (lambda: nn.CircularPad2d((1, 2, 3, 0)), [rand(*IMAGE)]),
    "RNN": (lambda: nn.RNN(4, 5, 2, nonlinearity="relu"), [rand(3, 2, 4)]),
    "LSTM": (lambda: nn.LSTM(4, 5, 2, bidirectional=True, batch_first=True), [rand(2, 3, 4)]),
    "LSTM, projected": (lambda: nn.LSTM(4, 5, proj_size=3), [rand(3, 2, 4)]),
    "GRU": (lambda: nn.GRU(4, 5, bias=False), [rand(3, 2, 4), rand(1, 2, 5)]),
    "RNNCell": (lambda: nn.RNNCell(4, 5), [rand(2, 4)]),
    "LSTMCell": (lambda: nn.LSTMCell(4, 5), [rand(2, 4), (rand(2, 5), rand(2, 5))]),
    "GRUCell": (lambda: nn.GRUCell(4, 5), [rand(2, 4), rand(2, 5)]),
    "MultiheadAttention": (
        lambda: nn.MultiheadAttention(8, 2, batch_first=True), [rand(2, 3, 8)] * 3,
    ),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        [rand(2, 3, 8)],
    ),
    "TransformerDecoderLayer": (
        lambda: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, norm_first=True),
        [rand(3, 2, 8), rand(4, 2, 8)],
    ),
    "CosineSimilarity": (nn.CosineSimilarity, [rand(3, 4), rand(3, 4)]),
    "PairwiseDistance": (nn.PairwiseDistance, [rand(3, 4), rand(3, 4)]),
    "L1Loss": (nn.L1Loss, [rand(3, 4), rand(3, 4)]),
    "MSELoss": (nn.MSELoss, [rand(3, 4), rand(3, 4)]),
    "CrossEntropyLoss": (
        lambda: nn.CrossEntropyLoss(ignore_index=3, label_smoothing=0.1), [rand(2, 5, 3), IDS],
    ),
    "CrossEntropyLoss of weights": (
        lambda: nn.CrossEntropyLoss(torch.arange(1.0, 6)), [rand(2, 5, 3), IDS],
    ),
    "NLLLoss": (nn.NLLLoss, [rand(2, 5, 3), IDS]),
    "KLDivLoss": (lambda: nn.KLDivLoss(reduction="batchmean"), [rand(3, 4), rand(3, 4).abs()]),
    "BCELoss": (nn.BCELoss, [rand(3, 4).abs(), rand(3, 4).abs()]),
    "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss, [rand(3, 4), rand(3, 4).abs()]),
    "SmoothL1Loss": (nn.SmoothL1Loss, [rand(3, 4) * 3, rand(3, 4)]),
    "HuberLoss": (nn.HuberLoss, [rand(3, 4) * 3, rand(3, 4)]),
    "PoissonNLLLoss": (nn.PoissonNLLLoss, [rand(3, 4), rand(3, 4).abs()]),
    "GaussianNLLLoss": (
        nn.GaussianNLLLoss, [rand(3, 4), rand(3, 4), rand(3, 4).abs() + 0.1],
    ),
    "SoftMarginLoss": (nn.SoftMarginLoss, [rand(3, 4), rand(3, 4).sign()]),
    "HingeEmbeddingLoss": (nn.HingeEmbeddingLoss, [rand(3, 4), rand(3, 4).sign()]),
    "CosineEmbeddingLoss": (
        nn.CosineEmbeddingLoss, [rand(3, 4), rand(3, 4), torch.tensor([1, -1, 1])],
    ),
    "MarginRankingLoss": (nn.MarginRankingLoss, [rand(3), rand(3), rand(3).sign()]),
    "TripletMarginLoss": (nn.TripletMarginLoss, [rand(3, 4), rand(3, 4), rand(3, 4)]),
    "MultiLabelSoftMarginLoss": (
        nn.MultiLabelSoftMarginLoss, [rand(3, 4), rand(3, 4).gt(0).float()],
    ),
    "MultiMarginLoss": (nn.MultiMarginLoss, [rand(3, 4), torch.tensor([1, 0, 3])]),
}  # fmt: skip
REFUSED = {
    "EmbeddingBag": "_embedding_bag",
    "GaussianNLLLoss": "needs the values",
}


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    items = value if isinstance(value, (tuple, list)) else []
    return [tensor for item in items for tensor in tensors(item)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_training", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, is_training):
    make, args = CASES[name]
    torch.manual_seed(0)
    model = make().train(is_training)
    try:
        with flashlight.tracer.trace() as tracer:
            outputs = tensors(model(*args))
    except NotImplementedError as refusal:
        assert REFUSED[name] in str(refusal)
        return
    assert name not in REFUSED
    values = composit.evaluate(*outputs, always_return_tuple=True)
    weights = dict(model.named_parameters())
    losses = [x.lazy_tensor for x in outputs if x.is_floating_point()]
    seeds = [composit.numpy.ones(x.shape, x.dtype) for x in losses]
    leaves = {id(t): leaf for _, t, leaf in tracer.memory.leaves()}
    inputs = [leaves[id(w)] for w in weights.values() if id(w) in leaves]
    gradients = chain_rule(dict(zip(losses, seeds)), inputs)
    gradients = composit.evaluate(*gradients, always_return_tuple=True) if inputs else ()

    expected = tensors(model(*args))
    for value, right in zip(values, expected):
        np.testing.assert_allclose(value, right.detach().numpy(), rtol=1e-4, atol=1e-5)
    if not inputs:
        return
    total = sum(x.sum() for x in expected if x.is_floating_point())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        total.backward()
    used = [w for w in weights.values() if id(w) in leaves]
    for gradient, weight in zip(gradients, used):
        np.testing.assert_allclose(gradient, weight.grad.numpy(), rtol=1e-4, atol=1e-4)


def test_dropout_in_training_is_drawn_by_key():
    model = nn.Sequential(nn.Dropout(0.25), nn.Dropout2d(0.5))
    x = torch.ones(8, 16, 9, 9)
    results = []
    for seed in (0, 0, 1):
        with flashlight.tracer.trace(key=composit.random.key(seed)):
            y = model(x)
        results.append(composit.evaluate(y))
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])
    kept = results[0] != 0
    assert 0.3 < kept.mean() < 0.45
    np.testing.assert_allclose(results[0][kept], 1 / 0.75 / 0.5, rtol=1e-6)
    channels = kept.any(axis=(2, 3))
    assert 0.3 < channels.mean() < 0.7
