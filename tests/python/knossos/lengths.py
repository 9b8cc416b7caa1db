"""How long the text of derivatives is: lines of C++ per line of Python.

`python tests/python/knossos/lengths.py [NAME]` prints them, or the text of one derivative.
"""

import ast
import inspect
import statistics
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import written

from composit import knossos

EXAMPLES = Path(__file__).parents[3] / "examples/kernels"
sys.path.insert(0, str(EXAMPLES))


def of_python(function: Callable) -> int:
    """Without documentation, comments and decorators."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    if ast.get_docstring(definition):
        del definition.body[0]
    return len(ast.unparse(tree).splitlines())


def with_helpers(function: Callable) -> list[Callable]:
    """The function and those of its file that it calls, which become part of it."""
    found = [function]
    for each in found:
        names = {node.id for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(each))))
                 if isinstance(node, ast.Name)}  # fmt: skip
        for name in sorted(names):
            called = each.__globals__.get(name)
            if isinstance(called, knossos.Kernel):
                called = called.__wrapped__
            if inspect.isfunction(called) and called.__module__ == function.__module__:
                found += [called] if called not in found else []
    return found


def of_text(source: str) -> int:
    lines = [line.strip() for line in source.splitlines()]
    return sum(bool(line) and not line.startswith("//") for line in lines)


def kernels() -> Iterator[knossos.Kernel]:
    import bundle_adjustment
    import gaussian_mixture
    import hand_tracking
    import kmeans
    import least_squares
    import logsumexp
    import lstm
    import lstm_layer

    of_integers = (
        written.inside, written.life, written.components, written.steps_from, written.vowels,
        written.edit_distance, written.rolling_hash, written.count_primes,
    )  # fmt: skip
    for function in dict.fromkeys(function for function, _ in written.calls()):
        if function not in of_integers:
            yield knossos.register(function)
    yield from (
        bundle_adjustment.residuals, gaussian_mixture.gaussian_mixture, hand_tracking.poses,
        hand_tracking.skin, hand_tracking.rotations, kmeans.cost, least_squares.polynomial,
        least_squares.linear, logsumexp.logsumexp, lstm.lstm, lstm_layer.lstm_layer,
    )  # fmt: skip


def measured() -> Iterator[tuple[str, int, int]]:
    """(name, lines of Python, lines of the derivative's C++)"""
    for kernel in kernels():
        python = sum(map(of_python, with_helpers(kernel.__wrapped__)))
        yield kernel.__name__, python, of_text(kernel.vjp.procedure().source)


def main() -> None:
    if len(sys.argv) > 1:
        chosen = next(kernel for kernel in kernels() if kernel.__name__ == sys.argv[1])
        print(chosen.vjp.procedure().source)
        return
    found = sorted(measured(), key=lambda row: row[2] / row[1])
    for name, python, text in found:
        print(f"{name:22}{python:4}{text:5}{text / python:6.1f}")
    ratios = [text / python for _, python, text in found]
    print(f"{len(found)} derivatives: median {statistics.median(ratios):.2f}, "
          f"most {max(ratios):.1f}, above 4: {sum(ratio > 4 for ratio in ratios)}")  # fmt: skip


if __name__ == "__main__":
    main()
