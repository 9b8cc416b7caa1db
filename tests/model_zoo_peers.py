"""Small models of PyTorch's libraries, with random parameters of a size that shows mistakes."""

import numpy as np
import torch
import transformers
from diffusers import AutoencoderKL, UNet2DConditionModel

transformers.logging.set_verbosity_error()

TOLERANCE = 1e-5


def randomised(model, seed=0):
    """In inference; signals keep their size from layer to layer, and no parameter is 0 or 1."""
    random = torch.Generator().manual_seed(seed)

    def normal(tensor):
        return torch.randn(tensor.shape, generator=random)

    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if not tensor.is_floating_point():
                continue
            if name.endswith("running_var"):
                tensor.copy_(0.5 + torch.rand(tensor.shape, generator=random))
            elif tensor.ndim == 1:
                tensor.add_(0.1 * normal(tensor))
            else:
                tensor.copy_(normal(tensor) / np.sqrt(np.prod(tensor.shape[1:])))
    return model.eval()


def integers(bound, *shape, seed=1):
    return np.random.default_rng(seed).integers(0, bound, shape)


def normal(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def assert_close(ours, theirs):
    theirs = theirs.detach().numpy()
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, 0, TOLERANCE * np.abs(theirs).max())


def gpt2(**options):
    config = {"n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 40, "n_positions": 32}
    ids = {"bos_token_id": 0, "eos_token_id": 0}
    return randomised(
        transformers.GPT2LMHeadModel(transformers.GPT2Config(**config | ids | options))
    )


def llama(**options):
    config = {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 48, "vocab_size": 40,
    }  # fmt: skip
    return randomised(transformers.LlamaForCausalLM(transformers.LlamaConfig(**config | options)))


def vit(**options):
    config = {
        "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 64, "image_size": 32, "patch_size": 8, "num_labels": 5,
    }  # fmt: skip
    config = transformers.ViTConfig(**config | options)
    return randomised(transformers.ViTForImageClassification(config))


def resnet(layer_type, depths):
    sizes = (8, 16, 32, 64) if layer_type == "basic" else (32, 64, 128, 256)
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=sizes, depths=depths, layer_type=layer_type, num_labels=7
    )
    return randomised(transformers.ResNetForImageClassification(config))


def autoencoder():
    return randomised(
        AutoencoderKL(
            block_out_channels=(8, 16),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            norm_num_groups=4,
            layers_per_block=1,
        )
    )


def unet(**options):
    config = {
        "block_out_channels": (8, 16),
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
        "norm_num_groups": 4,
        "layers_per_block": 1,
        "cross_attention_dim": 12,
        "attention_head_dim": 2,
    }
    return randomised(UNet2DConditionModel(**config | options))
