"""torch.export as a second opinion: what it makes of a model is traced to the model's own bits."""

import dataclasses

import pytest
import torch

import composit
import flashlight_models as models
from composit import flashlight

FAMILIES = [
    "ConvNet", "nn.Transformer", "BERT", "GPT-2", "Llama", "T5", "ViT", "Swin", "ConvNeXt",
    "ResNet-50's blocks", "CLIP", "wav2vec 2.0", "Whisper", "Stable Diffusion's U-Net",
    "Stable Diffusion's VAE",
]  # fmt: skip


def traced_values(case, model):
    with flashlight.tracer.trace():
        outputs = list(models.tensors(case.call(model)))
    return composit.evaluate(*outputs, always_return_tuple=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FAMILIES)
def test_the_exported_program_is_the_traced_model(name):
    """Two ways through a model: its Python under the trace, and torch.export's flat graph of it."""
    case = models.CASES[name]
    model = case.model()
    if getattr(getattr(model, "config", None), "use_cache", False):
        # torch.export knows no classes of caches.
        case = dataclasses.replace(case, kwargs={**case.kwargs, "use_cache": False})
    with torch.no_grad():
        exported = torch.export.export(model, case.args, case.kwargs, strict=False).module()
    direct, other = traced_values(case, model), traced_values(case, exported)
    assert len(direct) == len(other) > 0
    for a, b in zip(direct, other):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
