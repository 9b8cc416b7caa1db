"""BERT on several devices: python -m composit.examples.several_devices --devices cpu opencl:0

The layers of the encoder are shared out among the devices in order. What that gains or loses is
printed; the bits are those of one device. PoCL, OpenCL on the CPU, shows two devices where the
environment has POCL_DEVICES="pthread pthread".
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import composit
from composit.model_zoo import bert

HEAD = 64


def shared_out(layers: int, devices: Sequence[str]) -> composit.Placement:
    """As many layers for each device, in order."""
    placement = composit.Placement()
    for layer in range(layers):
        placement.put(f"encoder.layer.{layer}", devices[layer * len(devices) // layers])
    return placement


def model_of(layers: int, width: int) -> Callable[[Any], Any]:
    """A function of ids of words, with random parameters."""
    arrays = bert.create_parameters(layers, width, 1000)
    parameters = {name: composit.asarray(array, name=name) for name, array in arrays.items()}

    def model(ids: Any) -> Any:
        return bert.bert(ids, None, None, parameters, num_encoders=layers, head_size=HEAD)

    return model


def median_ms(call: Callable[[], Any], runs: int) -> float:
    """The median time of a call in milliseconds."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def main(arguments: Sequence[str] | None = None) -> None:
    """Compiles for each device and for all of them, compares the bits, prints times."""
    parser = argparse.ArgumentParser(description="BERT on several devices")
    parser.add_argument("--devices", nargs="+", default=["cpu", "opencl:0"])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--calls", type=int, default=8, help="of the stream")
    parser.add_argument("--picture", help="an SVG file for the timeline")
    chosen = parser.parse_args(arguments)

    np.random.seed(0)
    model = model_of(chosen.layers, chosen.width)
    ids = bert.create_random_long((1, chosen.tokens), 0, 1000)
    wanted = composit.compile(model, ids)(ids)

    def report(name: str, place: Any) -> Any:
        compiled = composit.compile(model, ids, place=place)
        same = compiled(ids).tobytes() == wanted.tobytes()
        taken = median_ms(lambda: compiled(ids), 5)
        print(f"{name:32}{taken:9.2f} ms   {'the same bits' if same else 'OTHER BITS'}", flush=True)
        return compiled

    for device in chosen.devices:
        report(f"all on {device}", {"*": device})
    placed = report("layers shared out", shared_out(chosen.layers, chosen.devices))
    calls = [ids] * chosen.calls
    stream = median_ms(lambda: placed.stream(calls), 3) / len(calls)
    print(f"{'the same, a call of a stream':32}{stream:9.2f} ms")
    timeline = placed.timeline(ids)
    print(timeline, end="")
    if chosen.picture:
        with open(chosen.picture, "w") as file:
            file.write(timeline.picture)


if __name__ == "__main__":
    main()
