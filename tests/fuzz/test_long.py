"""The long run, for COMPOSIT_FUZZ_MINUTES from COMPOSIT_FUZZ_SEED on: `make fuzz MINUTES=20`."""

import os
import time

from fuzz.batches import (
    Report,
    draw_graphs,
    instruction_sets,
    run_batch,
    run_interpreted,
    run_on_devices,
)  # fmt: skip
from fuzz.shrink import reproduction, shrunk

import composit

# Nodes and graphs of a batch. The compiler takes most of the time, so these are few.
NODES, INTERPRETED, ALL_WAYS, ON_DEVICE = 200, 100, 6, 10


def test_random_graphs(tmp_path, capsys):
    seconds = 60 * float(os.environ.get("COMPOSIT_FUZZ_MINUTES", "5"))
    number = int(os.environ.get("COMPOSIT_FUZZ_SEED", time.time_ns() % 10**9))
    sets = instruction_sets()
    start, last = time.monotonic(), 0.0
    interpreted, everywhere = Report(), Report()

    def say(text):
        with capsys.disabled():
            print(text, flush=True)

    say(f"\nfuzz: COMPOSIT_FUZZ_SEED={number}, instruction sets {', '.join(sets)}")
    if "avx512" not in sets:
        say("fuzz: *** THIS CPU HAS NO AVX-512: ITS KERNELS WERE NOT RUN ***")
    # The first batch always runs; another one only if there is time for one as long.
    while not everywhere.graphs or time.monotonic() - start + last < seconds:
        began = time.monotonic()
        folder = tmp_path / str(number)
        folder.mkdir()
        interpreted.add(run_interpreted(draw_graphs(INTERPRETED, NODES, number), folder))
        everywhere.add(run_batch(draw_graphs(ALL_WAYS, NODES, number), folder))
        say(f"fuzz: {number}: interpreted {interpreted}")
        say(f"fuzz: {number}: everywhere {everywhere}")
        if interpreted.differences or everywhere.differences:
            break
        number += 1
        last = time.monotonic() - began
    for kind, report in (("interpreter alone", interpreted), ("every way", everywhere)):
        say(f"fuzz: {kind}: {report}")
    for i, found in enumerate((interpreted.differences + everywhere.differences)[:3]):
        say(f"fuzz: {found.runner}: {found.bits} bits of {found.output} differ\n"
            + reproduction(_small(found, tmp_path / f"shrink-{i}")))  # fmt: skip
    assert interpreted.differing_bits == everywhere.differing_bits == 0


def _small(found, folder):
    """The graph cut down; on the interpreter alone if it differs there."""
    attempts = iter(range(10**6))

    def differs(graph, run):
        place = folder / str(next(attempts))
        place.mkdir(parents=True)
        return run([graph], place).differing_bits > 0

    run = run_interpreted if found.runner.startswith("interpreter") else run_batch
    return shrunk(found.graph, found.output, lambda graph: differs(graph, run))


def test_random_graphs_on_a_device(request, tmp_path, capsys):
    """A batch of COMPOSIT_FUZZ_NODES nodes on OpenCL, or what --device names. A few graphs a
    program, since drivers take a tenth of a second to build a node's kernels: with the graph whole
    there, and with each kernel either there or on the interpreter."""
    device = composit.devices.full_name(request.config.getoption("--device") or "opencl")
    nodes = int(os.environ.get("COMPOSIT_FUZZ_NODES", "20000"))
    number = int(os.environ.get("COMPOSIT_FUZZ_SEED", time.time_ns() % 10**9))
    report = Report()
    while report.nodes < nodes:
        folder = tmp_path / str(number)
        folder.mkdir()
        report.add(run_on_devices(draw_graphs(ON_DEVICE, NODES, number), folder, device))
        with capsys.disabled():
            print(f"\nfuzz: {number}: {report}", flush=True)
        assert not report.differences, [
            (d.output, d.runner, d.graph.source) for d in report.differences[:2]
        ]
        number += 1
