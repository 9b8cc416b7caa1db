"""What making a node costs, from Python and from C++."""

import json
import statistics
import subprocess
from pathlib import Path

from group import main
from measure import Probe, seconds

NODES, ROUNDS = 1000, 25


def from_python(threads):
    """Chains that are made and freed; one of sums, which also look for types and shapes."""
    import numpy as np

    import composit.numpy as cnp

    x, other = cnp.asarray(np.ones(4, np.float32)), cnp.asarray(np.ones((3, 1), np.float32))

    def chain(step):
        def call():
            y = x
            for _ in range(NODES):
                y = step(y)

        call()
        return 1e6 / NODES * statistics.median(seconds(call, 1) for _ in range(ROUNDS))

    add = chain(lambda y: y + other)
    return chain(cnp.sin), {"x + y, us": add}


def from_cpp(threads):
    """make_nodes of benchmarks/cpp/core.cpp, from the build that Python imports composit from."""
    import composit

    build = Path(composit.__file__).parents[2]
    program = build / "benchmarks/bench_core"
    if not program.exists():
        raise FileNotFoundError(f"{program}: configure with -DCOMPOSIT_BENCHMARKS=ON")
    command = [program, "--benchmark_format=json", "--benchmark_min_time=0.2"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = json.loads(printed[printed.index("{") :])["benchmarks"]
    times = {
        case["name"]: case["real_time"] / {"ns": 1e3, "us": 1, "ms": 1e-3}[case["time_unit"]]
        for case in found
    }
    beside = {f"{name}, us": time for name, time in times.items() if "make_nodes" not in name}
    return times[f"make_nodes/{NODES}"] / NODES, beside


def cases():
    yield Probe("making a node from Python", 1, None, "us", from_python, threads=(1,))
    yield Probe("making a node from C++", 0.2, None, "us", from_cpp, threads=(1,))


if __name__ == "__main__":
    notes = (
        f"Chains of {NODES} nodes of `sin`, made and freed. Beside the second row: the other cases "
        f"of benchmarks/cpp/core.cpp."
    )
    main("Making nodes", notes, cases)
