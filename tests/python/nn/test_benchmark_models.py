"""The models that benchmarks time, at a small size: they equal PyTorch's, gradients and all."""

import numpy as np
import pytest
import torch
from models import bert, convnet, resnet, training, vit
from models.weights import draw, normal

import composit.numpy as cnp
from composit import nn

TOLERANCE = 2e-5


def assert_close(ours, theirs):
    theirs = theirs.detach().numpy()
    np.testing.assert_allclose(ours, theirs, 0, TOLERANCE * np.abs(theirs).max())


def tensors_of(weights):
    return {name: torch.from_numpy(value.copy()) for name, value in weights.items()}


def bert_of_torch(ids, mask, weights):
    """By torch.nn.TransformerEncoderLayer, whose attention keeps three weights in one."""
    w, (layers, _) = tensors_of(weights), bert.sizes_of(weights)
    (width,), (wide,) = w["norm.bias"].shape, w["0.wide.bias"].shape
    x = w["words"][ids] + w["positions"][: ids.shape[1]] + w["types"][0]
    x = torch.layer_norm(x, (width,), w["norm.scale"], w["norm.bias"], bert.EPSILON)
    names = {
        "self_attn.out_proj": ("output", "weight"), "linear1": ("wide", "weight"),
        "linear2": ("narrow", "weight"), "norm1": ("norm1", "scale"), "norm2": ("norm2", "scale"),
    }  # fmt: skip
    for i in range(layers):
        layer = torch.nn.TransformerEncoderLayer(
            width, bert.HEADS, wide, 0.0, "gelu", bert.EPSILON, batch_first=True
        )
        parts = [f"{i}.{name}" for name in ("query", "key", "value")]
        state = {
            "self_attn.in_proj_weight": torch.cat([w[f"{part}.weight"].T for part in parts]),
            "self_attn.in_proj_bias": torch.cat([w[f"{part}.bias"] for part in parts]),
        }
        for theirs, (part, kind) in names.items():
            state[f"{theirs}.weight"] = w[f"{i}.{part}.{kind}"].t()
            state[f"{theirs}.bias"] = w[f"{i}.{part}.bias"]
        layer.load_state_dict(state)
        x = layer(x, src_key_padding_mask=torch.from_numpy(mask == 0))
    return x


def test_bert():
    weights = draw(bert.shapes(layers=2, width=48, wide=96, vocabulary=50))
    ids, mask = bert.inputs(2, length=16, vocabulary=50)
    ours = cnp.evaluate(bert.composit_model(cnp.asarray(ids), cnp.asarray(mask), weights))
    assert_close(ours, bert_of_torch(ids, mask, weights))


def test_resnet():
    stages = ((2, 8, 1), (1, 16, 2))
    weights, images = draw(resnet.shapes(stages)), normal(2, 3, 32, 32)
    ours = cnp.evaluate(resnet.composit_model(cnp.asarray(images), weights, stages))
    assert_close(ours, resnet.torch_model(weights, stages)(torch.from_numpy(images)))


@pytest.mark.parametrize(
    ("model", "shapes"),
    [(convnet, convnet.shapes((4, 6, 8))), (vit, vit.shapes(layers=2, width=32, wide=48))],
    ids=["convnet", "vit"],
)
def test_training_steps(model, shapes):
    weights, (images, labels) = draw(shapes), training.batch_of(3)
    peer = training.TorchTraining(model.torch_model, images, labels, weights)
    leaves = {name: cnp.asarray(value) for name, value in weights.items()}
    loss = nn.cross_entropy(model.composit_model(cnp.asarray(images), leaves), labels)
    gradients = nn.chain_rule({loss: loss}, list(leaves.values()))
    ours, *gradients = cnp.evaluate(loss, *gradients)
    assert_close(ours, peer.step())
    largest = max(np.abs(gradient).max() for gradient in gradients)
    for name, gradient in zip(weights, gradients):
        expected = peer.weights[name].grad.numpy()
        np.testing.assert_allclose(
            gradient, expected, 0, TOLERANCE * np.abs(expected).max() + 1e-6 * largest, name
        )


def test_steps_with_adam():
    weights, (images, labels) = draw(convnet.shapes((2, 3, 5))), training.batch_of(2)
    peer = training.TorchTraining(convnet.torch_model, images, labels, weights)
    step = training.composit_step(convnet.composit_model)
    state = training.composit_state(weights)
    for _ in range(3):
        leaves = {name: cnp.asarray(value) for name, value in weights.items()}
        loss, updated, state = step(cnp.asarray(images), labels, leaves, state)
        loss, *found = cnp.evaluate(loss, *updated.values(), *state)
        assert_close(loss, peer.step())
        weights, state = dict(zip(weights, found)), found[len(weights) :]
