"""Losses traced from torch: gradients are autograd's, and steps are torch.optim's."""

import numpy as np
import pytest
import torch

import composit
import flashlight_models as models
from composit import flashlight
from composit.nn import adamw, chain_rule


def image_classifier():
    model = models.CASES["ConvNet"].model().train()
    model[8].p = 0.0  # torch draws other elements than composit
    images, labels = torch.rand(6, 1, 16, 16), torch.tensor([1, 4, 9, 0, 2, 2])
    return model, lambda: torch.nn.functional.nll_loss(model(images), labels)


def language_model():
    model = models.CASES["LSTM language model"].model().train()
    ids = torch.randint(0, 100, (3, 9))
    return model, lambda: torch.nn.functional.cross_entropy(
        model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()
    )


def transformer():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_embd=16, n_layer=2, n_head=2, vocab_size=50, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
        eos_token_id=1, bos_token_id=1,
    )  # fmt: skip
    model = GPT2LMHeadModel(config).train()
    ids = torch.randint(2, 50, (2, 7))
    return model, lambda: model(ids, labels=ids).loss


def question_answering():
    from transformers import BertConfig, BertForQuestionAnswering

    config = BertConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        vocab_size=50, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertForQuestionAnswering(config).train()
    ids = torch.randint(2, 50, (2, 7))
    starts, ends = torch.tensor([1, 3]), torch.tensor([2, 6])
    return model, lambda: model(ids, start_positions=starts, end_positions=ends).loss


CASES = [image_classifier, language_model, transformer, question_answering]


def leaves_of(tracer, model):
    """The model's parameters that the trace used, with their leaves."""
    leaves = {id(tensor): leaf for _, tensor, leaf in tracer.memory.leaves()}
    return [(weight, leaves[id(weight)]) for weight in model.parameters() if id(weight) in leaves]


@pytest.mark.parametrize("make", CASES)
def test_gradients_of_every_parameter(make):
    torch.manual_seed(0)
    model, loss_of = make()
    with flashlight.tracer.trace() as tracer:
        loss = loss_of()
    pairs = leaves_of(tracer, model)
    gradients = chain_rule({loss: loss}, [leaf for _, leaf in pairs])
    value, *gradients = composit.evaluate(loss, *gradients)

    expected = loss_of()
    expected.backward()
    np.testing.assert_allclose(value, expected.item(), rtol=1e-5)
    used = [weight for weight in model.parameters() if weight.grad is not None]
    assert len(pairs) == len(used) >= 8
    for (weight, _), gradient in zip(pairs, gradients):
        right = weight.grad.numpy()
        size = np.abs(right).max()
        assert np.abs(gradient - right).max() <= 1e-4 * size + 1e-6


@pytest.mark.parametrize("make", [image_classifier, transformer])
def test_steps_of_adamw(make):
    torch.manual_seed(0)
    model, loss_of = make()
    with flashlight.tracer.trace() as tracer:
        loss = loss_of()
    pairs = leaves_of(tracer, model)
    leaves = [leaf for _, leaf in pairs]
    gradients = chain_rule({loss: loss}, leaves)
    optimizer = adamw(learning_rate=0.01, weight_decay=0.01)
    state = optimizer.initial_state(leaves)
    stepped, state = optimizer.step(leaves, gradients, state)
    values = composit.evaluate(*stepped, always_return_tuple=True)

    theirs = torch.optim.AdamW([weight for weight, _ in pairs], lr=0.01, weight_decay=0.01)
    loss_of().backward()
    kept = [weight.grad.abs().numpy() for weight, _ in pairs]
    theirs.step()
    for value, (weight, _), gradient in zip(values, pairs, kept):
        # Where a gradient is as small as rounding, its sign is too, and Adam steps by the sign.
        counts = gradient > 1e-6
        difference = np.abs(value - weight.detach().numpy())
        assert difference[counts].max(initial=0) < 1e-4
        assert difference.max(initial=0) < 0.03


def test_no_gradient_flows_through_no_grad_and_detach():
    weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))

    def loss_of():
        with torch.no_grad():
            scale = (weight * weight).sum()
        return (weight * scale).sum() + (weight.detach() ** 2 * weight).sum()

    with flashlight.tracer.trace() as tracer:
        loss = loss_of()
    (gradient,) = chain_rule({loss: loss}, [tracer.read(weight)])
    loss_of().backward()
    np.testing.assert_allclose(composit.evaluate(gradient), weight.grad.numpy(), rtol=1e-6)
    assert list(tracer.parameters) == ["tensor_0"]


def test_a_loop_of_training():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x, y = torch.rand(16, 4), torch.rand(16, 1)
    loss_of = flashlight.trace(lambda x, y: torch.nn.functional.mse_loss(model(x), y), x, y)
    names = sorted(loss_of.parameters)

    def loss(parameters, x, y):
        return loss_of.apply(dict(zip(names, parameters)), x, y)

    @composit.compile
    def step(parameters, x, y):
        value, gradients = composit.value_and_grad(loss)(parameters, x, y)
        return value, [w - 0.1 * g for w, g in zip(parameters, gradients)]

    parameters = [composit.evaluate(loss_of.parameters[name]) for name in names]
    theirs = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        value, parameters = step(parameters, x.numpy(), y.numpy())
        theirs.zero_grad()
        right = torch.nn.functional.mse_loss(model(x), y)
        right.backward()
        theirs.step()
        np.testing.assert_allclose(value, right.item(), rtol=1e-5)
