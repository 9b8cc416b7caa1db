"""Programs, not calls: what is written, looked at and looped over is as in NumPy."""

import imperative_programs as programs
import numpy as np
import pytest

import composit.numpy as cnp

PARTS, OF_A_PART = 8, 250


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part):
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        text = programs.Writer(seed).program()
        expected, found = programs.run(text, np), programs.run(text, cnp)
        assert programs.same(expected, found), f"seed {seed}:\n{text}\n{expected}\n{found}"


def test_random_programs_have_every_construct():
    counts = {}
    for seed in range(200):
        programs.Writer(seed, counts).program()
    assert len(counts) == 18 and min(counts.values()) > 50
