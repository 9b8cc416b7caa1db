"""BERT-base, inference."""

from group import main
from measure import Case, Sides, check
from models import bert
from models.weights import draw
from peers import jitted, onnx_session, tensors


def inference(batch: int, must: float, aim: float, rounds: tuple[int, int]) -> Case:
    def prepare(threads):
        import torch

        import composit

        weights, (ids, mask) = draw(bert.shapes()), bert.inputs(batch)

        def model(ids, mask):  # the weights are constants of the program, as in a session
            return bert.composit_model(ids, mask, weights)

        ours = composit.compile(model, ids, mask, threads=threads)
        module, inputs = bert.torch_model(weights), tuple(tensors(ids, mask))

        def eager():
            with torch.inference_mode():
                return module(*inputs)

        peers = {
            "ONNX Runtime": onnx_session(module, inputs, f"bert-{batch}", threads),
            "JAX": jitted(bert.jax_model, ids, mask, weights),
            "torch": eager,
        }
        result = ours(ids, mask)
        for name, call in peers.items():
            check(f"BERT: {name}", result, call(), 1e-4)
        tables = ("words", "positions", "types")
        moved = sum(value.nbytes for name, value in weights.items() if name not in tables)
        return Sides(lambda: ours(ids, mask), peers, bert.flops(batch), moved)

    return Case(f"BERT-base, 128 tokens, batch {batch}", must, aim, prepare, rounds=rounds)


def cases():
    yield inference(1, 1.1, 1.3, (5, 9))
    yield inference(8, 1.05, 1.25, (3, 3))


if __name__ == "__main__":
    notes = (
        "By hand in composit.nn and jax.numpy; transformers' BertModel in torch, exported for ONNX "
        "Runtime. Weights are constants of composit's program and ONNX Runtime's session, "
        "arguments of JAX's function. Bytes are those of the weights. Results agree to 1e-4 of "
        "the largest."
    )
    main("BERT-base", notes, cases)
