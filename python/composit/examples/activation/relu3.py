"""relu3, an activation function of its own, and the network that is trained with it."""

from collections import OrderedDict
from typing import Any

from composit import knossos


@knossos.register
def relu3(x: float) -> float:
    """
    Like ReLu, but smoother
    Like GeLu, but cheaper
    """
    if x < 0.0:
        return 0.0
    elif x < 1.0:
        return 1 / 3 * x**3
    else:
        return x - 2 / 3


vrelu3 = knossos.vmap(relu3)  # Turn float->float into Tensor->Tensor


def network(torch: Any, pixels: int, activation: Any = vrelu3) -> Any:
    """From images as rows of `pixels` numbers to the logarithms of ten probabilities: a module of
    `torch`, which is PyTorch or composit.torch."""
    nn = torch.nn
    return nn.Sequential(
        OrderedDict(
            [
                ("fc1", nn.Linear(pixels, 256)),
                ("activation1", activation.nnModule),
                ("fc2", nn.Linear(256, 128)),
                ("bn2", nn.BatchNorm1d(num_features=128)),
                ("activation2", activation.nnModule),
                ("dropout", nn.Dropout(0.3)),
                ("fc3", nn.Linear(128, 64)),
                ("bn3", nn.BatchNorm1d(num_features=64)),
                ("activation3", activation.nnModule),
                ("logits", nn.Linear(64, 10)),
                ("logsoftmax", nn.LogSoftmax(dim=1)),
            ]
        )
    )
