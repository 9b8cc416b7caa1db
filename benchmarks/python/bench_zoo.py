"""Models of the zoo: a token of GPT-2, an image by ViT, a step of Stable Diffusion's U-Net."""

import numpy as np
from group import main
from measure import Case, Sides, check
from models import gpt2_step
from models.weights import normal
from peers import onnx_engines, tensors

TEXT, CAPACITY = 128, 256
UNET_WIDTHS, TEXT_WIDTH = (128, 256, 512, 512), 512


def bytes_of(parameters) -> int:
    return sum(tensor.nbytes for tensor in parameters.values())


def is_dense(*_) -> bool:
    return True


def token(threads):
    """What follows 128 tokens, of which keys and values are known."""
    import torch

    import composit
    from composit.model_zoo import gpt2
    from composit.model_zoo.parameters import as_tensors

    arrays = gpt2.create_parameters()
    parameters = as_tensors(arrays)
    ids = np.random.default_rng(1).integers(0, 50257, (1, TEXT + 1))

    def model(ids, cache, position):
        return gpt2.gpt2(ids, parameters, num_heads=12, cache=cache, position=position)

    # As in the zoo's own decoder: each call takes the caches and gives them back with its row
    # written, here always the same row.
    compiled = composit.compile(model, threads=threads, donate=1)
    empty = gpt2_step.empty_cache(CAPACITY)
    _, cache = compiled(ids[:, :TEXT], empty, np.int64(0))
    known = [part[:, :, :TEXT].copy() for layer in cache for part in layer]
    last, place = ids[:, TEXT:], np.int64(TEXT)
    theirs = [tuple(part.copy() for part in layer) for layer in cache]

    def ours():
        nonlocal cache
        logits, cache = compiled(last, cache, place)
        return logits

    module = gpt2_step.torch_model(arrays)
    inputs = tuple(tensors(last, *known))
    transformers = gpt2_step.transformers_call(arrays, ids[:, :TEXT], last)

    def eager():
        with torch.inference_mode():
            return module(*inputs)[0]

    peers = {
        **onnx_engines(module, inputs, "gpt2-token", threads),
        "JAX": gpt2_step.jax_call(last, place, theirs, arrays),
        "torch": eager,
        "transformers": transformers,
    }
    result = ours()
    for name, call in peers.items():
        check(f"GPT-2: {name}", result, call(), 1e-4)
    moved = bytes_of(parameters) - arrays["transformer.wpe.weight"].nbytes
    # Of each weight one multiplication and one addition.
    return Sides(ours, peers, moved / 2, moved)


def logits_of(network):
    """A classifier of transformers as a module that returns a tensor."""
    import torch

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, x):
            return self.network(x).logits

    return Logits().eval()


def peers_of_classifier(name, module, inputs, threads, result):
    """Engines and eager PyTorch, whose results are those of composit."""
    import torch

    def eager():
        with torch.inference_mode():
            return module(*inputs)

    peers = {**onnx_engines(module, inputs, name.lower(), threads), "torch": eager}
    for peer, call in peers.items():
        check(f"{name}: {peer}", result, call(), 1e-4)
    return peers


def image(threads):
    from transformers import ViTConfig, ViTForImageClassification

    import composit
    from composit.model_zoo import vit
    from composit.model_zoo.commands.running import torch_state
    from composit.model_zoo.parameters import as_tensors

    parameters, pixels = as_tensors(vit.create_parameters()), normal(1, 3, 224, 224)
    ours = composit.compile(lambda x: vit.vit(x, parameters, num_heads=12), threads=threads)
    transformer = ViTForImageClassification(ViTConfig(num_labels=1000)).eval()
    transformer.load_state_dict(torch_state(parameters, is_dense))
    module, inputs = logits_of(transformer), tuple(tensors(pixels))
    peers = peers_of_classifier("ViT", module, inputs, threads, ours(pixels))
    tokens, width = 197, 768
    dense = 2 * tokens * 12 * width * width + 4 * tokens * tokens * width
    flops = 12 * dense + 2 * 196 * 768 * width
    return Sides(lambda: ours(pixels), peers, flops, bytes_of(parameters))


def noise(threads):
    import torch
    from diffusers import UNet2DConditionModel

    import composit
    from composit.model_zoo.commands.running import torch_state
    from composit.model_zoo.parameters import as_tensors, draw
    from composit.model_zoo.stable_diffusion import shapes, unet

    drawn = draw(shapes.unet_shapes(UNET_WIDTHS, text_width=TEXT_WIDTH), 0)
    parameters = as_tensors(drawn)
    latents, text = normal(1, 4, 64, 64), normal(1, 77, TEXT_WIDTH)
    time = np.int64(500)
    ours = composit.compile(
        lambda x, time, text: unet.unet(x, time, text, parameters), threads=threads
    )
    crossed = len(UNET_WIDTHS) - 1
    module = UNet2DConditionModel(
        block_out_channels=UNET_WIDTHS,
        down_block_types=("CrossAttnDownBlock2D",) * crossed + ("DownBlock2D",),
        up_block_types=("UpBlock2D",) + ("CrossAttnUpBlock2D",) * crossed,
        cross_attention_dim=TEXT_WIDTH,
        attention_head_dim=8,
    ).eval()
    module.load_state_dict(torch_state(parameters, is_dense))
    x, words = tensors(latents, text)

    def eager():
        with torch.inference_mode():
            return module(x, 500, words).sample

    check("U-Net: torch", ours(latents, time, text), eager(), 1e-4)
    return Sides(lambda: ours(latents, time, text), {"torch": eager}, 0, bytes_of(parameters))


def mobilenet(threads):
    """transformers' own module, traced; its weights are drawn by PyTorch."""
    import torch
    from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

    import composit
    from composit import flashlight

    torch.manual_seed(0)
    network = MobileNetV2ForImageClassification(MobileNetV2Config(num_labels=1000)).eval()
    for layer in network.modules():  # no activation vanishes in depth
        if isinstance(layer, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(layer.weight, mode="fan_out")

    pixels = normal(1, 3, 224, 224)
    module, inputs = logits_of(network), tuple(tensors(pixels))
    ours = composit.compile(flashlight.trace(module, *inputs), pixels, threads=threads)
    peers = peers_of_classifier("MobileNetV2", module, inputs, threads, ours(pixels))
    flops = 2 * 300.8e6  # multiply-adds of 224 x 224, width 1, by the paper
    moved = sum(each.nbytes for each in module.parameters())
    return Sides(lambda: ours(pixels), peers, flops, moved)


def cases():
    yield Case("GPT-2 small, one token after 128", 1.1, 1.3, token)
    yield Case("ViT-B/16, batch 1", 1.05, 1.3, image)
    yield Case("MobileNetV2, batch 1", 1.1, 1.3, mobilenet)
    few = (3, 5)
    yield Case("U-Net of Stable Diffusion, one step", 1.0, 1.3, noise, rounds=few)


if __name__ == "__main__":
    notes = (
        "`composit.model_zoo`, with random weights as constants of the program. GPT-2 keeps keys "
        "and values in arrays of 256 tokens, which calls take from their caller (`donate`) and "
        "give back; JAX is given the same, by hand; in torch and ONNX Runtime a hand-written "
        "module reads the 128 that are known and leaves the new ones with its caller; "
        "`transformers` is its own GPT2LMHeadModel and cache. The U-Net has "
        "widths of 128, 256, 512 and 512 (320, 640, 1280 and 1280 in Stable Diffusion), latents "
        "of 64 x 64 and 77 words. Bytes are those of the weights that are read. Results agree to "
        "1e-4 of the largest."
    )
    main("The model zoo", notes, cases)
