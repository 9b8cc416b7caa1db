"""`python -m composit.model_zoo`: every command at its small size, real files, and bad input."""

import json
import re

import numpy as np
import pytest
import torch
from model_zoo_peers import gpt2, integers, resnet, unet, vit

import composit.numpy as cnp
from composit.model_zoo.__main__ import COMMANDS, main
from composit.model_zoo.commands import answers
from composit.model_zoo.commands.files import read_weights
from composit.model_zoo.stable_diffusion import denoising, shapes


@pytest.mark.parametrize("name", COMMANDS)
def test_tiny_models_run_beside_pytorch(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--steps", "2"] if name == "stable_diffusion" else []
    main([name, "--tiny", "--threads", "1", *options])
    assert re.search(r"ms per \w+; PyTorch .* times as long\n$", capsys.readouterr().out)
    if name == "stable_diffusion":
        image = np.load("image.npy")
        assert image.shape == (3, 64, 64) and np.isfinite(image).all()


@pytest.mark.parametrize("name", ["convnet", "bert", "gpt2", "lstm"])
def test_a_device_says_what_the_cpu_says(name, apart, capsys):
    said = []
    for device in ("cpu", apart):
        main([name, "--tiny", "--no-torch", "--seed", "3", "--device", device])
        *lines, time = capsys.readouterr().out.splitlines()
        assert " ms per " in time
        said.append(lines)
    assert said[0] == said[1] and said[0]
    with pytest.raises(SystemExit, match=r"device: there is no 'tpu'\. Available: cpu, apart:0"):
        main([name, "--tiny", "--device", "tpu"])


def test_a_saved_model_writes_what_transformers_writes(tmp_path, capsys):
    model = gpt2()
    model.save_pretrained(tmp_path)
    words = ["gpt2", "--weights", str(tmp_path), "--prompt", "\x01\x02\x07", "--temperature", "0"]
    main([*words, "--tokens", "6", "--threads", "1"])
    written = capsys.readouterr().out.splitlines()[0].rpartition("'")[2].split()
    prompt = torch.tensor([[1, 2, 7]])
    theirs = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=6, min_new_tokens=6,
        do_sample=False, eos_token_id=None,
    )  # fmt: skip
    assert [int(token) for token in written] == theirs[0, 3:].tolist()


def test_a_saved_vit_says_what_transformers_says(tmp_path, capsys):
    model, file = vit(), tmp_path / "image.npy"
    image = np.random.default_rng(3).standard_normal((3, 32, 32), np.float32)
    model.save_pretrained(tmp_path)
    np.save(file, image)
    main(["vit", "--weights", str(tmp_path), "--image", str(file), "--no-torch", "--top", "2"])
    likely = torch.softmax(model(torch.from_numpy(image)[None]).logits[0], 0)
    expected = [f"class {i}: {likely[i]:.4f}" for i in likely.argsort(descending=True)[:2]]
    assert capsys.readouterr().out.splitlines()[:2] == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_16_bits_are_computed_with_32(dtype, tmp_path):
    model = gpt2().to(dtype)
    model.save_pretrained(tmp_path)
    found = read_weights(tmp_path)
    for name, theirs in model.state_dict().items():
        if name in found:
            np.testing.assert_array_equal(found[name], theirs.float().numpy())
    assert {value.dtype for value in found.values()} == {np.dtype("float32")}


def test_all_parameters_that_do_not_fit_are_listed(tmp_path, capsys):
    model = gpt2()
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"n_positions": 20, "n_layer": 1}))
    with pytest.raises(SystemExit) as raised:
        main(["gpt2", "--weights", str(tmp_path), "--tokens", "1"])
    text = str(raised.value)
    assert "13 of the weights do not fit:\n" in text
    assert "'transformer.wpe.weight' is float32(32, 16) in place of float32(20, 16)" in text
    assert "'transformer.h.1.attn.c_attn.bias' is left over" in text


@pytest.mark.parametrize(
    "words, message",
    [
        (["gpt2", "--tiny", "--prompt", ""], "--prompt is empty. At least one token is required."),
        (
            ["gpt2", "--tiny", "--tokens", "300"],
            "the cache is for 316 tokens. It must be at least 316 and at most 256, which the model "
            "knows.",
        ),
        (["bert", "--tiny", "--ids", "5", "999"], "--ids are from 5 to 999; the model knows 256."),
        (
            ["stable_diffusion", "--tiny", "--size", "65"],
            "--size is 65. A multiple of 4 is required.",
        ),
        (["vit", "--tiny", "--threads", "0"], "set_threads: 0 threads. A positive integer"),
    ],
)
def test_bad_input(words, message):
    with pytest.raises(SystemExit) as raised:
        main(words)
    assert str(raised.value).startswith(f"python -m composit.model_zoo: {message}")


@pytest.mark.parametrize("folder", ["nothing", "no config", "no weights", "not JSON"])
def test_folders_without_a_model(folder, tmp_path):
    path = tmp_path / "model"
    if folder != "nothing":
        path.mkdir()
    if folder == "no weights":
        (path / "config.json").write_text("{}")
    if folder == "not JSON":
        (path / "config.json").write_text("{")
    with pytest.raises(SystemExit) as raised:
        main(["gpt2", "--weights", str(path)])
    assert str(path) in str(raised.value)


def test_the_answer_begins_before_it_ends():
    logits = np.array([[-9, 9], [1, 2], [5, 1], [0, 3]], np.float32)
    assert answers.answer(logits) == (2, 3)


def test_shapes_of_stable_diffusion_are_those_of_diffusers():
    theirs = unet().state_dict()
    ours = shapes.unet_shapes((8, 16), text_width=12, layers=1)
    assert {n for n in ours if "down" in n} >= {n for n in theirs if n.startswith("down_blocks.0")}
    with torch.device("meta"):
        from diffusers import AutoencoderKL, UNet2DConditionModel

        crossed = ("CrossAttnDownBlock2D",) * 3 + ("DownBlock2D",)
        whole = UNet2DConditionModel(cross_attention_dim=768, down_block_types=crossed)
        image = AutoencoderKL(
            block_out_channels=(128, 256, 512, 512),
            down_block_types=("DownEncoderBlock2D",) * 4,
            up_block_types=("UpDecoderBlock2D",) * 4,
            layers_per_block=2,
        )
    for model, ours in ((whole, shapes.unet_shapes()), (image, shapes.autoencoder_shapes())):
        theirs = {name: tuple(value.shape) for name, value in model.state_dict().items()}
        is_dense = {name: len(shape) == 2 for name, shape in theirs.items()}
        turned = {name: shape[::-1] if is_dense[name] else shape for name, shape in theirs.items()}
        assert ours == turned


@pytest.mark.parametrize("depth, layers", [(18, 21), (50, 54)])
def test_parameters_of_resnets_are_as_many_as_published(depth, layers):
    from composit.model_zoo import resnet as ours

    drawn = ours.parameter_shapes(depth)
    assert sum(len(shape) in (2, 4) for shape in drawn.values()) == layers
    published = {18: 11689512, 50: 25557032}
    trained = {n: s for n, s in drawn.items() if "running" not in n}
    assert sum(int(np.prod(shape)) for shape in trained.values()) == published[depth]


def test_names_of_transformers_resnet_are_torchvisions():
    from composit.model_zoo import resnet as ours

    names = set(ours.convert_parameters_to_numpy(resnet("bottleneck", (1, 2, 1, 1)), False))
    expected = {
        "conv1.weight", "bn1.running_var", "layer1.0.conv3.weight", "layer2.0.downsample.0.weight",
        "layer2.1.bn2.bias", "fc.weight",
    }  # fmt: skip
    assert expected <= names


def test_times_of_denoising():
    assert denoising.times(4).tolist() == [751, 501, 251, 1]
    with pytest.raises(ValueError) as raised:
        denoising.times(0)
    assert str(raised.value) == "times: steps is 0. It must be from 1 to 1000."


def test_create_parameters_run():
    from composit.model_zoo import gpt2 as ours

    parameters = ours.create_parameters(num_layers=1, width=8, vocab_size=9, max_length=4)
    logits = cnp.evaluate(ours.gpt2(integers(9, 1, 4), parameters, num_heads=2))
    assert logits.shape == (1, 4, 9) and np.isfinite(logits).all()
