"""A token of GPT-2 small with weights in 16, eight and four bits beside float32's."""

import numpy as np
from group import main
from measure import Case, Sides
from models import gpt2_step

TEXT, CAPACITY = 128, 256


def token(**way):
    """What follows 128 tokens, of which keys and values are known."""

    def sides(threads):
        import composit
        from composit import nn
        from composit.model_zoo import gpt2
        from composit.model_zoo.parameters import as_tensors

        parameters = as_tensors(gpt2.create_parameters())
        ids = np.random.default_rng(1).integers(0, 50257, (1, TEXT + 1))

        def model(ids, cache, position):
            return gpt2.gpt2(ids, parameters, num_heads=12, cache=cache, position=position)

        def decoder(function):
            compiled = composit.compile(function, threads=threads, donate=1)
            _, cache = compiled(ids[:, :TEXT], gpt2_step.empty_cache(CAPACITY), np.int64(0))
            held = [cache]

            def step():
                logits, held[0] = compiled(ids[:, TEXT:], held[0], np.int64(TEXT))
                return logits

            return step

        quantized = nn.quantize(model, **way)
        ours, float32 = decoder(quantized), decoder(model)
        exact, close = np.asarray(float32()), np.asarray(ours())
        error = np.sqrt(np.square(close - exact).mean() / np.square(exact).mean())
        assert error < (0.5 if way.get("bits") == 4 else 0.04), error
        moved = sum(row.bytes_after for row in quantized.weights)
        products = 2 * sum(row.depth * row.columns for row in quantized.weights)
        return Sides(ours, {"float32": float32}, products, moved)

    return sides


def cases():
    name = "GPT-2 small, one token after 128"
    yield Case(f"{name}, bfloat16", 1.6, None, token(dtype="bfloat16"))
    yield Case(f"{name}, float16", 1.6, None, token(dtype="float16"))
    yield Case(f"{name}, 8 bits", 2.5, None, token(bits=8))
    yield Case(f"{name}, 8 bits, groups of 128", 2.5, None, token(bits=8, group=128))
    yield Case(f"{name}, 4 bits, groups of 128", 3.5, None, token(bits=4, group=128))
    yield Case(f"{name}, 4 bits, groups of 32", 3.5, None, token(bits=4, group=32))


if __name__ == "__main__":
    notes = (
        "`nn.quantize` of the zoo's GPT-2 with random weights, as in the zoo's row; the peer is "
        "composit with float32 weights. Bytes are those of the stored weights and scales. Logits "
        "differ by at most 4 % (8 and 16 bits) and 50 % (4 bits, of random weights) in root mean "
        "square."
    )
    main("Weights in few bits", notes, cases)
