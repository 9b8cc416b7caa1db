"""What graphs take: a node at most 200 bytes, a chain of a million and its derivative 2 GiB."""

import sys

import pytest
from processes import run

CHAIN = """
import resource
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
x = cnp.ones((3,), "float32")
before = resident()
y = x
for _ in range(1_000_000):
    y = cnp.sin(y)
print((resident() - before) / 1_000_000)
(gradient,) = composit.chain_rule({y: cnp.ones((3,), "float32")}, [x])
print(peak() / (1 << 30))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
def test_a_chain_of_a_million_nodes():
    status, out, err = run(CHAIN)
    assert status == 0, err
    bytes_per_node, most = map(float, out.split())
    assert bytes_per_node < 200
    assert most < 2  # GiB
