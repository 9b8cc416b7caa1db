"""The example that shares BERT's layers out among devices."""

from composit.examples import several_devices


def test_bert_has_the_same_bits_wherever_its_layers_run(apart, capsys, tmp_path):
    picture = tmp_path / "timeline.svg"
    options = ["--layers", "3", "--width", "64", "--tokens", "8", "--calls", "3"]
    devices = ["--devices", "cpu", "opencl:0", apart]
    several_devices.main([*options, *devices, "--picture", str(picture)])
    printed = capsys.readouterr().out
    assert printed.count("the same bits") == 4 and "OTHER BITS" not in printed
    for device in ("cpu", "opencl:0", apart):
        assert f"all on {device} " in printed and f"{device}  " in printed
    assert picture.read_text().startswith("<svg")
