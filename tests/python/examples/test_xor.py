"""XOR, on a device too."""

import composit.torch as torch
from composit.examples import xor


def test_a_device_says_what_the_cpu_says(apart, capsys):
    said = []
    for device in ("cpu", apart):
        torch.manual_seed(3)
        xor.main(["--steps", "400", "--device", device])
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] and "prediction: [1 0 0 1]" in said[0]
