"""Small models of many families, built without downloads, that flashlight is measured with; and the
table of them in docs/flashlight.md.

    python tools/flashlight_models.py            # prints a row for each model
    python tools/flashlight_models.py --write    # writes the table into the page
    python tools/flashlight_models.py bert vit   # those whose names contain a word
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
PAGE = os.path.join(os.path.dirname(__file__), "../docs/flashlight.md")
BEGIN, END = "<!-- the table of models: tools/flashlight_models.py --write -->", "<!-- its end -->"


@dataclass
class Case:
    """A model to build, and what it is called with."""

    build: Callable[[], Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    library: str = "transformers"

    def model(self) -> Any:
        """The model for inference, its weights drawn wide enough for outputs that are not zero."""
        import torch

        torch.manual_seed(0)
        model = self.build().eval()
        with torch.no_grad():
            for weight in model.parameters():
                if weight.ndim > 1:
                    fan = weight.numel() // weight.shape[0]
                    weight.normal_(std=min(1.0, (1.0 / fan) ** 0.5))
        return model

    def call(self, model: Any) -> Any:
        """The model's output."""
        return model(*self.args, **self.kwargs)


CASES: dict[str, Case] = {}


def _transformers(name: str, model: str, *args: Any, config: dict[str, Any], **kwargs: Any) -> None:
    def build() -> Any:
        import transformers

        made = getattr(transformers, f"{model}Config")(**config)
        for suffix in ("Model", "ForSemanticSegmentation"):
            if hasattr(transformers, model + suffix):
                return getattr(transformers, model + suffix)(made)
        raise AssertionError(model)

    CASES[name] = Case(build, args, kwargs)


_SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}
_TEXT = dict(_SIZES, vocab_size=100, max_position_embeddings=64)
_GROUPED = dict(_TEXT, num_key_value_heads=1, pad_token_id=0)
_TWO = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "vocab_size": 100,
    "pad_token_id": 0,
}
_IMAGE = dict(_SIZES, image_size=32, patch_size=8)
_STAGES = {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2}
_RESNET = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [2, 1]}
_FOUR = {
    "hidden_sizes": [8, 8, 16, 16],
    "depths": [1, 1, 1, 1],
    "num_attention_heads": [1, 1, 2, 2],
}
_AUDIO = dict(
    _SIZES,
    conv_dim=[16, 16],
    conv_stride=[5, 2],
    conv_kernel=[10, 3],
    num_feat_extract_layers=2,
    num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=2,
    vocab_size=32,
)


def _text() -> None:
    import torch

    torch.manual_seed(1)
    ids = torch.randint(3, 99, (2, 7))
    mask = torch.ones(2, 7, dtype=torch.long)
    mask[1, 5:] = 0
    encoders = {
        "BERT": "Bert",
        "RoBERTa": "Roberta",
        "XLM-RoBERTa": "XLMRoberta",
        "CamemBERT": "Camembert",
        "ERNIE": "Ernie",
        "MPNet": "MPNet",
        "Megatron-BERT": "MegatronBert",
        "BigBird": "BigBird",
        "Nyströmformer": "Nystromformer",
        "LayoutLM": "LayoutLM",
        "DeBERTa": "Deberta",
        "DeBERTa-v2": "DebertaV2",
    }
    for name, model in encoders.items():
        _transformers(name, model, ids, config=_TEXT, attention_mask=mask)
    embedded = dict(_TEXT, embedding_size=16)
    for model in ("Albert", "Electra", "RoFormer", "ConvBert"):
        name = {"Albert": "ALBERT", "Electra": "ELECTRA", "ConvBert": "ConvBERT"}.get(model, model)
        _transformers(name, model, ids, config=embedded, attention_mask=mask)
    distil = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64, "vocab_size": 100}
    _transformers("DistilBERT", "DistilBert", ids, config=distil, attention_mask=mask)
    _transformers("FNet", "FNet", ids, config=_TEXT)
    gpt2 = {
        "n_embd": 32,
        "n_layer": 2,
        "n_head": 2,
        "vocab_size": 100,
        "eos_token_id": 1,
        "bos_token_id": 1,
    }
    _transformers("GPT-2", "GPT2", ids, config=gpt2, attention_mask=mask)
    _transformers("GPT-J", "GPTJ", ids, config=dict(gpt2, rotary_dim=8))
    _transformers(
        "BLOOM",
        "Bloom",
        ids,
        config={"hidden_size": 32, "n_layer": 2, "n_head": 2, "vocab_size": 100},
    )
    neo = {
        "hidden_size": 32,
        "num_layers": 2,
        "num_heads": 2,
        "vocab_size": 100,
        "eos_token_id": 1,
        "bos_token_id": 1,
        "attention_types": [[["global", "local"], 1]],
    }
    _transformers("GPT-Neo", "GPTNeo", ids, config=neo)
    _transformers("GPT-NeoX", "GPTNeoX", ids, config=_TEXT)
    opt = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "ffn_dim": 64,
        "vocab_size": 100,
        "word_embed_proj_dim": 32,
    }
    _transformers("OPT", "OPT", ids, config=opt, attention_mask=mask)
    for name in (
        "Llama",
        "Mistral",
        "Qwen2",
        "Qwen3",
        "Phi3",
        "StableLm",
        "Starcoder2",
        "Cohere",
        "Olmo2",
        "Granite",
        "Mixtral",
    ):
        _transformers(name, name, ids, config=_GROUPED, attention_mask=mask)
    for name in ("Gemma", "Gemma2"):
        _transformers(name, name, ids, config=dict(_GROUPED, head_dim=16), attention_mask=mask)
    _transformers("Phi", "Phi", ids, config=_TEXT)
    falcon = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "vocab_size": 100,
    }
    _transformers("Falcon", "Falcon", ids, config=falcon)
    mamba = {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 100, "state_size": 4}
    _transformers("Mamba", "Mamba", ids, config=mamba)
    xlnet = {"d_model": 32, "n_layer": 2, "n_head": 2, "d_inner": 64, "vocab_size": 100}
    _transformers("XLNet", "XLNet", ids, config=xlnet)
    t5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2, "vocab_size": 100}
    _transformers("T5", "T5", ids, config=t5, decoder_input_ids=ids)
    _transformers("BART", "Bart", ids, config=_TWO, attention_mask=mask)
    for name in ("Pegasus", "Marian"):
        _transformers(name, name, ids, config=_TWO, decoder_input_ids=ids)


def _pictures() -> None:
    import torch

    torch.manual_seed(2)
    small, large = torch.rand(1, 3, 32, 32), torch.rand(1, 3, 64, 64)
    for name, model in {"ViT": "ViT", "DeiT": "DeiT", "BEiT": "Beit", "DINOv2": "Dinov2"}.items():
        _transformers(name, model, small, config=_IMAGE)
    swin = {
        "image_size": 32,
        "patch_size": 2,
        "embed_dim": 8,
        "depths": [2, 2],
        "num_heads": [2, 2],
        "window_size": 4,
    }
    _transformers("Swin", "Swin", small, config=swin)
    _transformers("Swin v2", "Swinv2", small, config=swin)
    _transformers("ConvNeXt", "ConvNext", small, config=_STAGES)
    _transformers("ConvNeXt v2", "ConvNextV2", small, config=_STAGES)
    basic, bottleneck = dict(_RESNET, layer_type="basic"), dict(_RESNET, layer_type="bottleneck")
    _transformers("ResNet-18's blocks", "ResNet", small, config=basic)
    _transformers("ResNet-50's blocks", "ResNet", small, config=bottleneck)
    _transformers("RegNet", "RegNet", small, config=dict(_RESNET, groups_width=4))
    for name in ("MobileNetV1", "MobileNetV2"):
        _transformers(name, name, small, config={"depth_multiplier": 0.25, "image_size": 32})
    mobile = {
        "image_size": 32,
        "hidden_sizes": [16, 20, 24],
        "neck_hidden_sizes": [8, 8, 16, 16, 20, 24, 32],
    }
    _transformers("MobileViT", "MobileViT", small, config=mobile)
    segformer = dict(_FOUR, decoder_hidden_size=16)
    _transformers("SegFormer", "Segformer", large, config=segformer)
    pool = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1]}
    _transformers("PoolFormer", "PoolFormer", large, config=pool)
    levit = {
        "image_size": 64,
        "hidden_sizes": [16, 32, 48],
        "num_attention_heads": [1, 2, 3],
        "depths": [1, 1, 1],
        "key_dim": [8, 8, 8],
    }
    _transformers("LeViT", "Levit", large, config=levit)
    _transformers("PVT", "Pvt", large, config=dict(_FOUR, image_size=64))
    ids = torch.randint(3, 99, (2, 7))
    clip = {
        "text_config": dict(_TEXT, projection_dim=16),
        "projection_dim": 16,
        "vision_config": dict(_IMAGE, projection_dim=16),
    }
    _transformers("CLIP", "CLIP", config=clip, input_ids=ids, pixel_values=small)
    siglip = {"text_config": _TEXT, "vision_config": _IMAGE}
    _transformers("SigLIP", "Siglip", config=siglip, input_ids=ids, pixel_values=small)


def _sounds() -> None:
    import torch

    torch.manual_seed(3)
    sound = torch.rand(1, 1600)
    names = {
        "wav2vec 2.0": "Wav2Vec2",
        "HuBERT": "Hubert",
        "WavLM": "WavLM",
        "UniSpeech": "UniSpeech",
        "data2vec audio": "Data2VecAudio",
    }
    for name, model in names.items():
        _transformers(name, model, sound, config=_AUDIO)
    ast = dict(_SIZES, num_mel_bins=16, max_length=24)
    _transformers("AST", "AST", torch.rand(1, 24, 16), config=ast)
    whisper = dict(_TWO, max_source_positions=20, num_mel_bins=8)
    ids = torch.randint(3, 99, (1, 7))
    _transformers("Whisper", "Whisper", torch.rand(1, 8, 40), config=whisper, decoder_input_ids=ids)


def _diffusers() -> None:
    import torch

    torch.manual_seed(4)

    def add(name: str, model: str, *args: Any, **config: Any) -> None:
        def build() -> Any:
            import diffusers

            return getattr(diffusers, model)(norm_num_groups=4, layers_per_block=1, **config)

        CASES[name] = Case(build, args, library="diffusers")

    add(
        "Stable Diffusion's U-Net",
        "UNet2DConditionModel",
        torch.rand(1, 4, 8, 8),
        5,
        torch.rand(1, 3, 16),
        sample_size=8,
        block_out_channels=(16, 32),
        cross_attention_dim=16,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        attention_head_dim=4,
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )
    add(
        "U-Net of images",
        "UNet2DModel",
        torch.rand(1, 3, 8, 8),
        5,
        sample_size=8,
        in_channels=3,
        out_channels=3,
        block_out_channels=(16, 32),
        attention_head_dim=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    add(
        "Stable Diffusion's VAE",
        "AutoencoderKL",
        torch.rand(1, 3, 16, 16),
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
    )


def _plain() -> None:
    import torch
    from torch import nn

    torch.manual_seed(5)

    class LanguageModel(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(100, 16)
            self.lstm = nn.LSTM(16, 24, 2, batch_first=True)
            self.head = nn.Linear(24, 100)

        def forward(self, ids: Any) -> Any:
            return self.head(self.lstm(self.embedding(ids))[0])

    def convnet() -> Any:
        return nn.Sequential(
            nn.Conv2d(1, 8, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(3),
            nn.Flatten(),
            nn.Dropout(0.5),
            nn.Linear(144, 10),
            nn.LogSoftmax(-1),
        )

    ids = torch.randint(0, 100, (2, 7))
    CASES["LSTM language model"] = Case(LanguageModel, (ids,), library="torch")
    CASES["ConvNet"] = Case(convnet, (torch.rand(2, 1, 16, 16),), library="torch")
    points, others = torch.rand(2, 5, 16), torch.rand(2, 4, 16)
    CASES["nn.Transformer"] = Case(
        lambda: nn.Transformer(16, 2, 1, 1, 32, batch_first=True),
        (points, others),
        library="torch",
    )


for _add in (_plain, _text, _pictures, _sounds, _diffusers):
    _add()


def tensors(value: Any) -> Iterator[Any]:
    """The tensors of an output, in order."""
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def difference(case: Case) -> tuple[float, int]:
    """The largest difference from torch of any output, relative to its largest element; and the
    number of nodes. NotImplementedError where the trace is refused."""
    import numpy as np
    import torch

    import composit
    from composit import flashlight

    model = case.model()
    with torch.no_grad():
        expected = list(tensors(case.call(model)))
    with flashlight.tracer.trace():
        outputs = list(tensors(case.call(model)))
    assert len(outputs) == len(expected)
    values = composit.evaluate(*outputs, always_return_tuple=True)
    worst = 0.0
    for value, right in zip(values, expected):
        right = right.detach().numpy()
        assert value.shape == right.shape and value.dtype == right.dtype
        if right.size:
            size = float(np.max(np.abs(right))) or 1.0
            worst = max(worst, float(np.max(np.abs(value - right))) / size)
    return worst, len(composit.graph.GraphView(tuple(x.lazy_tensor for x in outputs)))


def narrow_differences(case: Case, dtype: Any) -> tuple[float, float]:
    """The largest differences of composit's and of torch's outputs in 16-bit floats from those in
    float32, relative to the largest element."""
    import numpy as np
    import torch

    import composit
    from composit import flashlight

    def floats(outputs: Any) -> list[Any]:
        return [x for x in tensors(outputs) if x.is_floating_point()]

    def cast(value: Any) -> Any:
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        return value.to(dtype) if is_float else value

    model = case.model()
    with torch.no_grad():
        wide = [x.numpy() for x in floats(case.call(model))]
        model = model.to(dtype)
        kwargs = {name: cast(value) for name, value in case.kwargs.items()}
        narrow = Case(case.build, tuple(map(cast, case.args)), kwargs)
        theirs = [x.float().numpy() for x in floats(narrow.call(model))]
    with flashlight.tracer.trace():
        outputs = floats(narrow.call(model))
    ours = composit.evaluate(*outputs, always_return_tuple=True)

    def worst(found: Any) -> float:
        return max(
            float(np.max(np.abs(np.asarray(x).astype("f") - y)) / (np.max(np.abs(y)) or 1))
            for x, y in zip(found, wide)
        )

    return worst(ours), worst(theirs)


def row(name: str) -> str:
    """The model's row of the table."""
    case = CASES[name]
    try:
        worst, nodes = difference(case)
    except NotImplementedError as refusal:
        return f"| {name} | {case.library} | refused: {str(refusal).partition('. ')[0]} | | |"
    return f"| {name} | {case.library} | traced | {nodes} | {worst:.0e} |"


def main() -> None:
    """Prints or writes the table."""
    words = [word.lower() for word in sys.argv[1:] if not word.startswith("-")]
    names = [name for name in CASES if not words or any(w in name.lower() for w in words)]
    head = "| model | of | | nodes | largest relative difference |\n|---|---|---|---|---|"
    rows = []
    for name in names:
        rows.append(row(name))
        print(rows[-1], flush=True)
    if "--write" in sys.argv:
        with open(PAGE, encoding="utf-8") as page:
            text = page.read()
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
        table = "\n".join([BEGIN, head, *rows, END])
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(before + table + after)


if __name__ == "__main__":
    main()
