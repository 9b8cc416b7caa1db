"""Models of many families give, traced, what torch gives."""

import pytest
import torch

import composit
import flashlight_models as models
from composit import flashlight


@pytest.mark.parametrize("name", models.CASES)
def test_a_model_is_equal_or_refused(name):
    try:
        difference, nodes = models.difference(models.CASES[name])
    except NotImplementedError as refusal:
        assert name in REFUSED, refusal
        assert REFUSED[name] in str(refusal)
        return
    assert name not in REFUSED
    assert difference < 1e-4
    assert nodes > 10


REFUSED: dict[str, str] = {}


NARROW = [
    "LSTM language model", "ConvNet", "BERT", "DeBERTa-v2", "GPT-2", "Llama", "Mixtral", "Mamba",
    "T5", "ViT", "Swin", "ConvNeXt", "CLIP", "wav2vec 2.0", "Whisper", "Stable Diffusion's VAE",
]  # fmt: skip


@pytest.mark.parametrize("name", NARROW)
def test_a_model_in_bfloat16_is_as_near_as_torch(name):
    ours, theirs = models.narrow_differences(models.CASES[name], torch.bfloat16)
    assert ours <= 2 * theirs + 4 * torch.finfo(torch.bfloat16).eps


@pytest.mark.parametrize("name", ["BERT", "ConvNet", "GPT-2"])
def test_two_traces_have_one_structure(name):
    case = models.CASES[name]
    model = case.model()
    hashes = set()
    for _ in range(2):
        with flashlight.tracer.trace():
            outputs = list(models.tensors(case.call(model)))
        hashes.add(composit.graph.structural_hash(outputs[0].lazy_tensor))
    assert len(hashes) == 1


def test_the_page_has_the_table():
    with open(models.PAGE, encoding="utf-8") as page:
        rows = [line for line in page if line.startswith("| ")]
    for name in models.CASES:
        assert sum(line.startswith(f"| {name} |") for line in rows) == 1
    for name in ("BERT", "ConvNet", "Mixtral", "CLIP"):
        row = models.row(name).rpartition("| ")[0]
        assert any(line.startswith(row) for line in rows), row
