"""The largest error of functions of one operand over all 2^32 float32: `make sweep`.

python tests/accuracy/sweep.py [FUNCTION…]; takes a minute or two a function.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from references import BOUNDS, UNARY, References

from composit import numpy as cnp

CHUNK = 2**22


def worst_of(name: str, references: References) -> tuple[float, np.float32]:
    """The largest error in ulp, and where."""
    function = getattr(cnp, name)
    worst, where = -1.0, np.float32(0)
    for start in range(0, 2**32, CHUNK):
        x = np.arange(start, start + CHUNK, dtype=np.uint64).astype(np.uint32).view(np.float32)
        errors = references.errors(name, [x], cnp.evaluate(function(x)))
        at = int(np.argmax(errors))
        if errors[at] > worst:
            worst, where = float(errors[at]), x[at]
    return worst, where


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - set(UNARY))
    if unknown:
        print(f"sweep: {unknown[0]} is not one of {', '.join(UNARY)}.", file=sys.stderr)
        return 2
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        references = References(Path(folder))
        for name in names or UNARY:
            worst, where = worst_of(name, references)
            failed |= worst > BOUNDS["float32"]
            print(f"{name:10} {worst:.4f} ulp at {where!r}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
