"""The interpreter, which `evaluate` uses unless told otherwise, beside compiled code."""

import statistics

from group import main
from measure import Probe, check, in_turns
from models import bert
from models.weights import draw


def interpreted(threads):
    import composit
    import composit.numpy as cnp

    weights, inputs = draw(bert.shapes()), bert.inputs(1)
    leaves = {name: cnp.asarray(value) for name, value in weights.items()}

    def model(ids, mask):
        return bert.composit_model(ids, mask, leaves)

    compiled = composit.compile(model, *inputs, threads=threads)

    def evaluate():
        return cnp.evaluate(model(*map(cnp.asarray, inputs)), threads=threads)

    def call():
        return compiled(*inputs)

    check("BERT: interpreter", call(), evaluate(), 0)
    times = in_turns([call, evaluate], (3, 5))
    ratio = statistics.median(other / own for own, other in times)
    medians = [1e3 * statistics.median(side) for side in zip(*times)]
    return ratio, {"evaluate, ms": medians[1], "compiled, ms": medians[0]}


def cases():
    yield Probe("evaluate, BERT-base, batch 1", 1.5, 1.1, "of compiled", interpreted)


if __name__ == "__main__":
    notes = (
        "The time of `evaluate`, with making the graph, divided by that of the compiled call; "
        "smaller is better. Both give the same bits."
    )
    main("Interpreter", notes, cases)
