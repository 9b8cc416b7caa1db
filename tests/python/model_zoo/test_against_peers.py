"""The zoo's models equal PyTorch's of the same parameters."""

import numpy as np
import pytest
import torch
import transformers
from model_zoo_peers import (
    assert_close,
    autoencoder,
    gpt2,
    integers,
    llama,
    normal,
    randomised,
    resnet,
    unet,
    vit,
)

import composit
import composit.numpy as cnp
from composit import model_zoo
from composit.model_zoo.caching import empty_cache
from composit.model_zoo.stable_diffusion import autoencoder_kl, denoising
from composit.model_zoo.stable_diffusion import unet as our_unet


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def moved(images, channels_last):
    return np.moveaxis(images, 1, -1) if channels_last else images


def moved_back(images, channels_last):
    return np.moveaxis(images, -1, 1) if channels_last else images


@pytest.mark.parametrize("has_mask", [False, True])
def test_bert(has_mask):
    config = model_zoo.bert.create_bert_config(2, 4, 8, 50)
    peer = randomised(transformers.BertForQuestionAnswering(config))
    ids, kinds = integers(50, 2, 16), integers(2, 2, 16)
    mask = (np.arange(16) < np.array([[16], [11]])).astype(np.int64) if has_mask else None
    theirs = peer(
        tensor(ids),
        token_type_ids=tensor(kinds),
        attention_mask=None if mask is None else tensor(mask),
    )
    parameters = model_zoo.bert.convert_parameters_to_numpy(peer)
    answer = model_zoo.bert.bert_for_question_answering(
        ids, kinds, mask, parameters, num_encoders=2, head_size=8
    )
    ours = cnp.evaluate(answer)
    for i, logits in enumerate((theirs.start_logits, theirs.end_logits)):
        assert_close(ours[..., i], logits)


def test_bert_without_kinds_of_tokens_takes_the_first():
    peer = randomised(transformers.BertModel(model_zoo.bert.create_bert_config(1, 2, 8, 50)))
    ids = integers(50, 1, 8)
    ours = model_zoo.bert.bert(
        ids,
        None,
        None,
        model_zoo.bert.convert_parameters_to_numpy(peer),
        num_encoders=1,
        head_size=8,
    )
    assert_close(cnp.evaluate(ours), peer(tensor(ids)).last_hidden_state)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(
    "layer_type, depths", [("basic", (2, 1, 2, 1)), ("bottleneck", (1, 2, 1, 1))]
)
def test_resnet(layer_type, depths, channels_last):
    peer, images = resnet(layer_type, depths), normal(2, 3, 64, 64)
    parameters = model_zoo.resnet.convert_parameters_to_numpy(peer, channels_last)
    images_of_ours = moved(images, channels_last)
    ours = model_zoo.resnet.resnet(images_of_ours, parameters, channels_last=channels_last)
    assert_close(cnp.evaluate(ours), peer(tensor(images)).logits)


def test_vit():
    peer, images = vit(), normal(2, 3, 32, 32)
    parameters = model_zoo.vit.convert_parameters_to_numpy(peer)
    ours = model_zoo.vit.vit(images, parameters, num_heads=2)
    assert_close(cnp.evaluate(ours), peer(tensor(images)).logits)


class PyTorchsExample(torch.nn.Module):
    """The ConvNet for MNIST, without its dropout."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = torch.nn.Conv2d(1, 32, 3), torch.nn.Conv2d(32, 64, 3)
        self.fc1, self.fc2 = torch.nn.Linear(9216, 128), torch.nn.Linear(128, 10)

    def forward(self, x):
        x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        x = torch.nn.functional.max_pool2d(x, 2)
        return self.fc2(torch.relu(self.fc1(torch.flatten(x, 1))))


def test_convnet():
    peer, images = randomised(PyTorchsExample()), normal(2, 1, 28, 28)
    parameters = model_zoo.convnet.convert_parameters_to_numpy(peer)
    assert_close(cnp.evaluate(model_zoo.convnet.convnet(images, parameters)), peer(tensor(images)))


DECODERS = {
    "gpt2": (gpt2(), model_zoo.gpt2, {"num_heads": 2}, 8),
    "gpt2 with a head of its own": (
        gpt2(tie_word_embeddings=False), model_zoo.gpt2, {"num_heads": 2}, 8,
    ),
    "llama": (llama(), model_zoo.llama, {"num_heads": 4}, 8),
    "llama whose head is its embeddings": (
        llama(tie_word_embeddings=True), model_zoo.llama, {"num_heads": 4}, 8,
    ),
}  # fmt: skip


def function_of(module):
    return getattr(module, module.__name__.rpartition(".")[2])


@pytest.mark.parametrize("name", DECODERS)
def test_decoders_at_once_and_with_a_cache(name):
    peer, module, options, head_size = DECODERS[name]
    ids, model = integers(40, 2, 10), function_of(module)
    parameters, theirs = module.convert_parameters_to_numpy(peer), peer(tensor(ids)).logits
    assert_close(cnp.evaluate(model(ids, parameters, **options)), theirs)

    @composit.compile
    def step(ids, cache, position):
        return model(ids, parameters, cache=cache, position=position, **options)

    cache, position = empty_cache(2, 2, head_size, capacity=12, batch=2), 0
    parts = []
    for length in (4, 1, 1, 3, 1):
        part = ids[:, position : position + length]
        logits, cache = step(part, cache, np.int64(position))
        parts.append(logits)
        position += length
    assert_close(np.concatenate(parts, axis=1), theirs)


@pytest.mark.parametrize("channels_last", [False, True])
def test_autoencoder(channels_last):
    peer = autoencoder()
    parameters = autoencoder_kl.convert_parameters_to_numpy(peer, channels_last)
    latents, images = normal(2, 4, 8, 6), normal(2, 3, 16, 12)
    options = {"channels_last": channels_last, "num_groups": 4}
    ours = autoencoder_kl.decoder(moved(latents, channels_last), parameters, **options)
    decoded = peer.decode(tensor(latents)).sample
    assert_close(moved_back(cnp.evaluate(ours), channels_last), decoded)
    ours = autoencoder_kl.encoder(moved(images, channels_last), parameters, **options)
    encoded = peer.encode(tensor(images)).latent_dist.parameters
    assert_close(moved_back(cnp.evaluate(ours), channels_last), encoded)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("options", [{}, {"use_linear_projection": True}], ids=["1.5", "2.1"])
def test_unet(channels_last, options):
    peer, latents, text = unet(**options), normal(2, 4, 8, 6), normal(2, 5, 12)
    parameters = our_unet.convert_parameters_to_numpy(peer, channels_last)
    ours = our_unet.unet(
        moved(latents, channels_last), 500, text, parameters,
        num_heads=2, num_groups=4, channels_last=channels_last,
    )  # fmt: skip
    theirs = peer(tensor(latents), 500, tensor(text)).sample
    assert_close(moved_back(cnp.evaluate(ours), channels_last), theirs)


@pytest.mark.parametrize("guidance", [1.0, 5.0])
def test_denoising(guidance):
    from diffusers import DDIMScheduler

    peer, latents = unet(), normal(1, 4, 8, 8)
    text, no_text = normal(1, 5, 12, seed=2), normal(1, 5, 12, seed=3)
    parameters = our_unet.convert_parameters_to_numpy(peer, False)

    def noise_of(latents, time, text):
        return our_unet.unet(latents, time, text, parameters, num_heads=2, num_groups=4)

    ours = denoising.denoise(noise_of, latents, text, steps=10, guidance=guidance, no_text=no_text)
    scheduler = DDIMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        clip_sample=False,
        set_alpha_to_one=False,
        steps_offset=1,
    )
    scheduler.set_timesteps(10)
    theirs = tensor(latents)
    with torch.no_grad():
        for time in scheduler.timesteps:
            noise, without = (peer(theirs, time, tensor(t)).sample for t in (text, no_text))
            noise = without + guidance * (noise - without)
            theirs = scheduler.step(noise, time, theirs).prev_sample
    assert_close(ours, theirs)


def test_gradients_of_bert_are_torchs():
    """The seed's test: of every parameter of three encoders."""
    peer = randomised(
        transformers.BertForQuestionAnswering(model_zoo.bert.create_bert_config(3, 2, 8, 50))
    )
    ids, kinds = integers(50, 2, 12), integers(2, 2, 12)
    theirs = peer(tensor(ids), token_type_ids=tensor(kinds))
    ((theirs.start_logits * 2).sum() + theirs.end_logits.square().sum()).backward()
    parameters = {
        name: cnp.asarray(value, name=name)
        for name, value in model_zoo.bert.convert_parameters_to_numpy(peer).items()
    }
    ours = model_zoo.bert.bert_for_question_answering(
        ids, kinds, None, parameters, num_encoders=3, head_size=8
    )
    loss = (ours[..., 0] * 2).sum() + cnp.square(ours[..., 1]).sum()
    gradients = composit.chain_rule({loss: loss}, list(parameters.values()))
    for (name, value), ours in zip(peer.named_parameters(), cnp.evaluate(*gradients)):
        is_dense = value.ndim == 2 and "embeddings" not in name
        theirs = value.grad.T if is_dense else value.grad
        scale = max(float(theirs.abs().max()), 1e-2)  # keys' biases change nothing but roundings
        np.testing.assert_allclose(ours, theirs.numpy(), 0, 1e-4 * scale, err_msg=name)
