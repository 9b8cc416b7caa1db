"""Which of NumPy's functions composit.numpy lacks: prints their names, one per line.

All public callables of numpy, numpy.linalg and numpy.fft count, but for types and what has no
meaning for tensors: printing, files, dates, error states, buffer sizes, and NumPy's own machinery.
`--write` puts the list into tools/numpy_missing.txt, which may only shrink (a test compares).
"""

import argparse
import re
from pathlib import Path

import numpy as np

LIST = Path(__file__).with_name("numpy_missing.txt")
MODULES = ("", "linalg", "fft")
NOT_MEANT = re.compile(
    r"""
      (get|set)?_?printoptions | array2string | array_(repr|str) | info | set_string_function
    | show_(config|runtime) | get_include                                    # of this installation
    | (save|load)\w* | (gen)?fromtxt | fromfile | fromregex | frombuffer | fromstring | savetxt
    | busday_\w+ | is_busday | isnat | datetime_\w+                           # dates
    | (get|set)(err|errcall|bufsize)                                         # error states, buffers
    | test | asmatrix | bmat | nested_iters | frompyfunc                     # matrices, iterators
    """,
    re.VERBOSE,
)


def public(module: str) -> list[str]:
    """NumPy's functions that are meant to exist, as "linalg.norm"."""
    source = getattr(np, module) if module else np
    prefix = f"{module}." if module else ""
    return [
        prefix + name
        for name in sorted(dir(source))
        if callable(getattr(source, name))
        and not isinstance(getattr(source, name), type)
        and not name.startswith("_")
        and not NOT_MEANT.fullmatch(name)
    ]


def missing() -> list[str]:
    """Those of them that composit.numpy does not have."""
    from composit import numpy as cnp

    def is_there(name: str) -> bool:
        module, _, function = name.rpartition(".")
        holder = getattr(cnp, module, None) if module else cnp
        return callable(getattr(holder, function, None))

    return [name for module in MODULES for name in public(module) if not is_there(name)]


def listed() -> list[str]:
    """The names in tools/numpy_missing.txt."""
    lines = LIST.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {LIST.name}")
    names = missing()
    if parser.parse_args().write:
        head = (
            "# NumPy's functions that composit.numpy lacks (tools/numpy_names.py). Only shrinks.\n"
        )
        LIST.write_text(head + "".join(f"{name}\n" for name in names))
        return
    print(*names, sep="\n")


if __name__ == "__main__":
    main()
