"""Arrays of 1, 10 and 100 elements: what nodes, evaluations and compiled calls cost above NumPy."""

import statistics

from group import main
from measure import Probe, check, in_turns

SIZES = (1, 10, 100)


def operands(size):
    import numpy as np

    x = np.linspace(0, 1, size, dtype=np.float32)
    return x, x + 1


def formula(exp, x, y):
    return exp(x) * y + x


def compared(ours, theirs):
    """Microseconds of composit's call above NumPy's, and both."""
    times = in_turns([ours, theirs], (9, 25))
    above = statistics.median(a - b for a, b in times)
    both = [1e6 * statistics.median(side) for side in zip(*times)]
    return 1e6 * above, {"composit, us": both[0], "NumPy, us": both[1]}


def node(size):
    """One sum: the node that is made, and NumPy's sum."""

    def measured(threads):
        import numpy as np

        import composit.numpy as cnp

        x, y = operands(size)
        a, b = cnp.asarray(x), cnp.asarray(y)
        return compared(lambda: cnp.add(a, b), lambda: np.add(x, y))

    return measured


def planned(size):
    """evaluate of a graph of three functions that is there, whose plan is, too."""

    def measured(threads):
        import numpy as np

        import composit.numpy as cnp

        x, y = operands(size)
        graph = formula(cnp.exp, cnp.asarray(x), cnp.asarray(y))

        def evaluate():
            return cnp.evaluate(graph, threads=1)

        check("small arrays", evaluate(), formula(np.exp, x, y), 1e-6)
        return compared(evaluate, lambda: formula(np.exp, x, y))

    return measured


def built(size):
    """The graph is made anew for each evaluation, as a loop does."""

    def measured(threads):
        import numpy as np

        import composit.numpy as cnp

        x, y = operands(size)
        a, b = cnp.asarray(x), cnp.asarray(y)

        def evaluate():
            return cnp.evaluate(formula(cnp.exp, a, b), threads=1)

        return compared(evaluate, lambda: formula(np.exp, x, y))

    return measured


def compiled(size):
    """A call of the compiled function with ndarrays."""

    def measured(threads):
        import numpy as np

        import composit
        import composit.numpy as cnp

        x, y = operands(size)
        call = composit.compile(lambda x, y: formula(cnp.exp, x, y), x, y, threads=1)
        check("small arrays", call(x, y), formula(np.exp, x, y), 1e-6)
        return compared(lambda: call(x, y), lambda: formula(np.exp, x, y))

    return measured


def cases():
    for size in SIZES:
        of = f"{size} element{'s' if size > 1 else ''}"
        yield Probe(f"evaluate, planned, {of}", 3, 1, "us", planned(size), threads=(1,))
        yield Probe(f"make and evaluate, {of}", 6, 3, "us", built(size), threads=(1,))
        yield Probe(f"a compiled call, {of}", 1, 0, "us", compiled(size), threads=(1,))
        yield Probe(f"making a node, {of}", 0.5, 0, "us", node(size), threads=(1,))


if __name__ == "__main__":
    notes = (
        "Microseconds above NumPy's for the same: `exp(x) * y + x` of float32, and one `add` for a "
        "node. Negative: composit is faster."
    )
    main("Small arrays", notes, cases)
