"""Models that ask for values of their masks, lengths and codes: with run_torch=True the graph is
what they compute for these inputs; without it they are traced or refused where they ask."""

import itertools

import numpy as np
import pytest
import torch

import composit
from composit import flashlight
from composit.errors import NotSupported
from composit.nn import chain_rule

transformers = pytest.importorskip("transformers")
IDS = torch.arange(16).reshape(1, 16) * 5 % 89 + 3
SOUND = torch.sin(torch.arange(640.0) / 7).reshape(1, 1, 640) / 10


def longformer():
    config = transformers.LongformerConfig(
        vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=37, attention_window=4, max_position_embeddings=64,
    )  # fmt: skip
    return transformers.LongformerModel(config), {"input_ids": IDS}


def longformer_with_a_mask():
    mask = torch.ones_like(IDS)
    mask[:, 12:] = 0
    mask[:, 0] = 2  # looks at everything
    return longformer()[0], {"input_ids": IDS, "attention_mask": mask}


def vits():
    config = transformers.VitsConfig(
        vocab_size=99, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, ffn_dim=16,
        flow_size=16, spectrogram_bins=8, upsample_initial_channel=16,
        duration_predictor_filter_channels=8, prior_encoder_num_flows=1,
        prior_encoder_num_wavenet_layers=1, depth_separable_num_layers=1,
        duration_predictor_num_flows=2, duration_predictor_flow_bins=4,
        posterior_encoder_num_wavenet_layers=1, upsample_rates=[2], upsample_kernel_sizes=[4],
        resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1]],
    )  # fmt: skip
    model = transformers.VitsModel(config)
    model.noise_scale = model.noise_scale_duration = 0.0
    return model, {"input_ids": IDS}


def encodec():
    config = transformers.EncodecConfig(
        num_filters=4, num_residual_layers=1, codebook_size=16, codebook_dim=16, hidden_size=16,
        upsampling_ratios=[4, 2], target_bandwidths=[6.0], sampling_rate=4000,
    )  # fmt: skip
    return transformers.EncodecModel(config), {"input_values": SOUND}


def mimi():
    config = transformers.MimiConfig(
        num_filters=4, num_residual_layers=1, codebook_size=16, codebook_dim=16, hidden_size=16,
        vector_quantization_hidden_dimension=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, intermediate_size=16, upsampling_ratios=[4, 2], num_quantizers=2,
        num_semantic_quantizers=1, head_dim=8, upsample_groups=16,
    )  # fmt: skip
    return transformers.MimiModel(config), {"input_values": SOUND}


def jamba():
    config = transformers.JambaConfig(
        vocab_size=99, hidden_size=32, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, intermediate_size=64, attn_layer_period=2, attn_layer_offset=1,
        expert_layer_period=2, expert_layer_offset=1, num_experts=2, num_experts_per_tok=1,
        mamba_d_state=8, mamba_d_conv=4, mamba_dt_rank=4,
    )  # fmt: skip
    return transformers.JambaModel(config), {"input_ids": IDS}


def speech(**more):
    config = transformers.Wav2Vec2Config(
        vocab_size=32, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=20, conv_dim=(32, 32), conv_kernel=(8, 8), conv_stride=(4, 4),
        num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2, num_feat_extract_layers=2,
        feat_extract_norm="layer", do_stable_layer_norm=True,
    )  # fmt: skip
    given = torch.sin(torch.arange(2048.0) / 3).reshape(2, 1024)
    return transformers.Wav2Vec2ForCTC(config), {"input_values": given, **more}


def speech_with_labels():
    labels = torch.tensor([[1, 5, 7, 2, 9], [4, 3, 3, -100, -100]])
    return speech(labels=labels)


# Whether it is traced without values, too.
MODELS = {
    longformer: True, longformer_with_a_mask: False, vits: False, encodec: False, mimi: False,
    jamba: True, speech: True, speech_with_labels: False,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_models(make):
    torch.manual_seed(0)
    model, given = make()
    model.eval()
    with torch.no_grad():
        expected = model(**given)
        if not MODELS[make]:
            with pytest.raises(NotSupported, match="values"), flashlight.tracer.trace():
                model(**given)
        with flashlight.tracer.trace(run_torch=not MODELS[make]):
            found = model(**given)
    compared = 0
    for name, theirs in expected.items():
        if isinstance(theirs, torch.Tensor):
            mine = composit.evaluate(found[name])
            scale = abs(theirs).max().item() or 1.0
            np.testing.assert_allclose(mine, theirs.numpy(), rtol=0, atol=2e-4 * scale)
            compared += 1
    assert compared


@pytest.mark.parametrize(
    ("reduction", "is_padded", "in_tensors"),
    itertools.product(["mean", "sum", "none"], [True, False], [True, False]),
)
def test_alignments(reduction, is_padded, in_tensors):
    torch.manual_seed(1)
    leaf = torch.randn(12, 3, 5, requires_grad=True)
    padded = torch.tensor([[1, 2, 2, 3], [4, 1, 0, 0], [3, 3, 1, 0]])
    inputs, lengths = [12, 10, 2], [4, 2, 3]  # the last one has no alignment
    targets = padded if is_padded else torch.cat([t[:n] for t, n in zip(padded, lengths)])
    if in_tensors:
        inputs, lengths = torch.tensor(inputs), torch.tensor(lengths)

    def loss(x, zero_infinity):
        return torch.nn.functional.ctc_loss(
            x.log_softmax(-1), targets, inputs, lengths, reduction=reduction,
            zero_infinity=zero_infinity,
        )  # fmt: skip

    for zero_infinity in (False, True):
        with flashlight.tracer.trace() as tracer:
            made = loss(leaf, zero_infinity)
            total = made.sum()
        expected = loss(leaf, zero_infinity).detach().numpy()
        np.testing.assert_allclose(composit.evaluate(made), expected, rtol=1e-5)
    loss(leaf, True).sum().backward()
    (traced,) = (x for x in tracer.parameters.values() if x.dtype == "float32")
    (gradient,) = chain_rule({total: total}, [traced])
    np.testing.assert_allclose(composit.evaluate(gradient), leaf.grad, atol=1e-5)
