"""ResNet-50, inference."""

from group import main
from measure import Case, Sides, check
from models import resnet
from models.weights import draw, normal
from peers import onnx_engines, tensors


def prepare(threads):
    import torch

    import composit

    weights, image = draw(resnet.shapes()), normal(1, 3, 224, 224)

    def model(image):  # the weights are constants of the program, as in a session
        return resnet.composit_model(image, weights)

    ours = composit.compile(model, image, threads=threads)
    module, inputs = resnet.torch_model(weights), tuple(tensors(image))

    def eager():
        with torch.inference_mode():
            return module(*inputs)

    peers = {**onnx_engines(module, inputs, "resnet", threads), "torch": eager}
    result = ours(image)
    for name, call in peers.items():
        check(f"ResNet: {name}", result, call(), 1e-4)
    moved = sum(value.nbytes for value in weights.values())
    return Sides(lambda: ours(image), peers, resnet.flops(), moved)


if __name__ == "__main__":
    notes = (
        "Weights are constants of composit's program, as of ONNX Runtime's session. "
        "Bytes are those of the weights. Results agree to 1e-4 of the largest."
    )
    main("ResNet-50", notes, lambda: [Case("ResNet-50, batch 1", 0.9, 1.1, prepare)])
