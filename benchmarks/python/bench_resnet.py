"""ResNet-50, inference."""

from group import main
from measure import Case, Sides, check
from models import resnet
from models.weights import draw, normal
from peers import exported, onnx_engines, onnx_session_of_file, quantized, tensors


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


def cases():
    yield Case("ResNet-50, batch 1", 0.9, 1.1, prepare)
    yield Case("ResNet-50 of int8 (QDQ), batch 1", 0.9, 1.1, prepare_quantized)


def prepare_quantized(threads):
    """The same network with weights and activations of eight bits."""
    import composit.onnx

    weights, image = draw(resnet.shapes()), normal(1, 3, 224, 224)
    file = exported(resnet.torch_model(weights), tuple(tensors(image)), "resnet")
    file = quantized(file, "resnet", [normal(1, 3, 224, 224), image])
    session = onnx_session_of_file(file, threads)
    name = session.get_inputs()[0].name
    ours = composit.onnx.load(file).compile(threads=threads)

    def theirs():
        return session.run(None, {name: image})[0]

    # Both round to eight bits in each layer, after sums that they scale in another order.
    check("ResNet, int8: ONNX Runtime", ours(image), theirs(), 0.1)
    moved = sum(value.nbytes // 4 for value in weights.values())
    return Sides(lambda: ours(image), {"ONNX Runtime": theirs}, resnet.flops(), moved)


if __name__ == "__main__":
    notes = (
        "Weights are constants of composit's program, as of ONNX Runtime's session. "
        "Bytes are those of the weights. Results agree to 1e-4 of the largest."
    )
    main("ResNet-50", notes, cases)
